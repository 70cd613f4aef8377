"""Header facts of a DICOM object as values: who, what, where, when, and what to be wary of. Never decodes pixels."""

from __future__ import annotations

from collections.abc import Iterator

from pydicom.dataset import Dataset
from pydicom.tag import BaseTag

from core.domain.case import Patient
from core.imaging import soundness, syntaxes
from core.imaging.elements import decimals, whole, word, words
from core.imaging.facts import Instance, Place

# Modalities whose pixels often carry text (imaging.md section 12).
TEXT_ON_PIXELS = {"US", "SC", "XA", "RF", "ES", "OT", "XC", "OP", "DOC"}
SCREENS = {"SECONDARY", "SCREEN SAVE"}
POSITION_INDICES = {0x00209057, 0x00200032, 0x00209113}  # InStackPositionNumber, ImagePositionPatient, its sequence
NOT_VERIFIABLE = "Pixel integrity: not verifiable (first import of compressed data)"


def instance(dataset: Dataset) -> Instance:
    """The facts of an image that passed `soundness.check`."""
    syntax = str(dataset.file_meta.TransferSyntaxUID)
    shared = _groups(dataset, "SharedFunctionalGroupsSequence")[:1]
    scale = _within(shared, "PixelValueTransformationSequence") or dataset
    slope, intercept = decimals(scale, "RescaleSlope"), decimals(scale, "RescaleIntercept")
    return Instance(
        study_uid=word(dataset, "StudyInstanceUID"),
        series_uid=word(dataset, "SeriesInstanceUID"),
        sop_uid=word(dataset, "SOPInstanceUID"),
        sop_class=word(dataset, "SOPClassUID"),
        modality=word(dataset, "Modality"),
        rows=whole(dataset, "Rows") or 0,
        columns=whole(dataset, "Columns") or 0,
        frames=soundness.frames(dataset),
        patient=patient(dataset),
        issuer=word(dataset, "IssuerOfPatientID"),
        number=whole(dataset, "InstanceNumber"),
        position=tuple(decimals(dataset, "ImagePositionPatient")),
        orientation=tuple(decimals(dataset, "ImageOrientationPatient")),
        spacing=tuple(decimals(dataset, "PixelSpacing")),
        places=tuple(_places(dataset, shared)),
        frame_of_reference=word(dataset, "FrameOfReferenceUID"),
        image_type=words(dataset, "ImageType")[:3],
        acquisition=word(dataset, "AcquisitionNumber"),
        echo=word(dataset, "EchoNumbers"),
        phase=word(dataset, "TemporalPositionIdentifier"),
        samples=whole(dataset, "SamplesPerPixel") or 1,
        photometric=word(dataset, "PhotometricInterpretation"),
        slope=slope[0] if slope else None,
        intercept=intercept[0] if intercept else None,
        syntax=syntax,
        decoder=syntaxes.decoder(syntax),
        lossy=_lossy(dataset, syntax),
        burned_in=burned_in(dataset),
        announced=whole(dataset, "NumberOfSlices"),
        description=word(dataset, "SeriesDescription"),
        body_part=word(dataset, "BodyPartExamined"),
        view=word(dataset, "ViewPosition"),
        laterality=word(dataset, "ImageLaterality") or word(dataset, "Laterality"),
        acquired_on=acquired(dataset),
        window=_window(dataset),
        remarks=tuple(_remarks(dataset, syntax)),
    )


def patient(dataset: Dataset) -> Patient:
    """Whose object it says it is."""
    born = _iso_date(word(dataset, "PatientBirthDate"))
    name = ", ".join(part for part in word(dataset, "PatientName").split("=")[0].split("^") if part)
    sex = word(dataset, "PatientSex").upper()
    return Patient(name=name, patient_id=word(dataset, "PatientID"), birth_date=born, sex=sex if sex in "MFO" else "")


def _iso_date(text: str) -> str:
    digits = text.replace(".", "")
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}" if len(digits) == 8 and digits.isdecimal() else ""


def acquired(dataset: Dataset) -> str:
    """Date and, where known, time of the content, ISO 8601."""
    moment = word(dataset, "AcquisitionDateTime")
    day = moment[:8] or word(dataset, "AcquisitionDate") or word(dataset, "ContentDate") or word(dataset, "StudyDate")
    clock = (
        moment[8:14] or word(dataset, "AcquisitionTime") or word(dataset, "ContentTime") or word(dataset, "StudyTime")
    )
    found = _iso_date(day)
    return f"{found}T{clock[:2]}:{clock[2:4]}" if found and clock[:4].isdecimal() and len(clock) >= 4 else found


def _window(dataset: Dataset) -> str:
    centre, width = decimals(dataset, "WindowCenter"), decimals(dataset, "WindowWidth")
    return f"C {centre[0]:g} W {width[0]:g}" if centre and width else ""


# ------------------------------------------------------------------------------------------------ what to be wary of


def _lossy(dataset: Dataset, syntax: str) -> str:
    """The ratio of a compression that lost something (N10); also where only the syntax tells."""
    if word(dataset, "LossyImageCompression") != "01" and syntax not in syntaxes.LOSSY:
        return ""
    ratio = decimals(dataset, "LossyImageCompressionRatio")
    return f"{ratio[0]:g} : 1" if ratio else "ratio unknown"


def burned_in(dataset: Dataset) -> str:
    """Why text, and with it a name, may be part of the pixels (imaging.md section 12); "" where nothing hints at it."""
    if word(dataset, "BurnedInAnnotation").upper() == "YES":
        return "the file says so"
    modality = word(dataset, "Modality")
    if modality in TEXT_ON_PIXELS:
        return f"usual in images of kind {modality}"
    if "ConversionType" in dataset or SCREENS & {part.upper() for part in words(dataset, "ImageType")}:
        return "a secondary or converted image"
    return "overlays are drawn on it" if _has_overlay(dataset) else ""


def _has_overlay(dataset: Dataset) -> bool:
    """An overlay plane: its rows in one of the groups 6000 to 601E (PS3.3 C.9.2)."""
    return any((group << 16) + 0x0010 in dataset for group in range(0x6000, 0x6020, 2))


def _remarks(dataset: Dataset, syntax: str) -> Iterator[str]:
    if syntax not in syntaxes.NATIVE:
        yield NOT_VERIFIABLE
    if (
        "RedPaletteColorLookupTableDescriptor" in dataset
        and word(dataset, "PhotometricInterpretation") != soundness.PALETTE
    ):
        yield "Colour table not applied"
    if "ICCProfile" in dataset:
        yield "Colour profile not applied"


# ------------------------------------------------------------------------------------------------ enhanced objects


def _groups(dataset: Dataset, name: str) -> list[Dataset]:
    return list(dataset.get(name) or [])


def _within(groups: list[Dataset], name: str) -> Dataset | None:
    """The item of a functional group: of the first of these that has it."""
    for group in groups:
        items = group.get(name)
        if items:
            found: Dataset = items[0]
            return found
    return None


def functional_group(dataset: Dataset, index: int, name: str) -> Dataset | None:
    """The item of a functional group for a frame: its own, else the shared one (PS3.3 C.7.6.16)."""
    own = _groups(dataset, "PerFrameFunctionalGroupsSequence")[index : index + 1]
    return _within([*own, *_groups(dataset, "SharedFunctionalGroupsSequence")[:1]], name)


def _places(dataset: Dataset, shared: list[Dataset]) -> Iterator[Place]:
    """Where each frame of an enhanced multi-frame object lies."""
    free = _free_indices(dataset)
    for own in _groups(dataset, "PerFrameFunctionalGroupsSequence")[: soundness.frames(dataset)]:
        groups = [own, *shared]
        content = _within(groups, "FrameContentSequence") or Dataset()
        yield Place(
            position=_numbers(groups, "PlanePositionSequence", "ImagePositionPatient"),
            orientation=_numbers(groups, "PlaneOrientationSequence", "ImageOrientationPatient"),
            spacing=_numbers(groups, "PixelMeasuresSequence", "PixelSpacing"),
            stack=_stack(content, free),
            rank=whole(content, "InStackPositionNumber"),
        )


def _numbers(groups: list[Dataset], sequence: str, name: str) -> tuple[float, ...]:
    found = _within(groups, sequence)
    return tuple(decimals(found, name)) if found is not None else ()


def _free_indices(dataset: Dataset) -> list[int]:
    """Which of the dimension indices do not tell the position (PS3.3 C.7.6.17)."""
    pointers = [item.get("DimensionIndexPointer") for item in _groups(dataset, "DimensionIndexSequence")]
    return [n for n, tag in enumerate(pointers) if tag is None or int(BaseTag(tag)) not in POSITION_INDICES]


def _stack(content: Dataset, free: list[int]) -> tuple[str, ...]:
    """What tells the frame's stack from others: its free dimension indices, else stack and time."""
    values = words(content, "DimensionIndexValues")
    if values and free:
        return tuple(values[n] for n in free if n < len(values))
    return (word(content, "StackID"), word(content, "TemporalPositionIndex"))
