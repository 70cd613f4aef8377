"""What is no plain image: reports, PDFs, electrocardiograms, directories, listed objects; and all packaged files."""

import io
import re
import struct
from pathlib import Path

import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.fileset import FileSet
from pydicom.sequence import Sequence
from pydicom.waveforms import multiplex_array

from core.errors import UserError
from core.imaging import objects, pixels, waveform
from core.imaging.facts import Directory, Instance, Number, Paper
from core.isolate import Limits
from core.runtime.foreign import Answer, Read, Refused, Render, Start
from desktop import decode
from tests.helpers.dicom_files import (
    CT,
    FILES,
    LIMIT,
    PDF,
    REPORT,
    changed,
    code,
    electrocardiogram,
    item,
    packaged,
    saved,
    thing,
)

START = Start(limits=Limits(), file_bytes=LIMIT, image_bytes=LIMIT)
CARDS = {
    "MR_truncated.dcm": "D03",
    "nested_priv_SQ.dcm": "D04",
    "JPEG-lossy.dcm": "D07",
    "JPGExtended.dcm": "D07",
    "JPEG2000-embedded-sequence-delimiter.dcm": "D09",
    "badVR.dcm": "D15",
    "meta_missing_tsyntax.dcm": "D19",
}
# A byte too much before the first element: nothing in it is DICOM, so nothing says that it would be an image.
NO_DICOM = "no_meta.dcm"


def read(data: bytes) -> tuple[Instance | Paper | Directory, bytes]:
    return objects.read(data, limit_bytes=LIMIT)


# ------------------------------------------------------------------------------------------------ every packaged file


def outcome(path: Path) -> tuple[str, str]:
    """How the decode child would answer, its functions called here: the kind of answer, and the code of a refusal."""
    data = path.read_bytes()
    answer: Answer = decode.answer(Read(path.name), data, START)[0]
    if isinstance(answer, Instance):
        answer = decode.answer(Render(answer.rows * answer.columns), data, START)[0]
    return type(answer).__name__, answer.code if isinstance(answer, Refused) else ""


def test_every_packaged_file_is_an_image_a_document_listed_or_a_card() -> None:
    files = [path for path in FILES.rglob("*") if path.is_file() and b"DICM" in path.read_bytes()[128:132]]
    files += [FILES / name for name in ("ExplVR_BigEndNoMeta.dcm", "ExplVR_LitEndNoMeta.dcm", NO_DICOM)]
    found = {str(path.relative_to(FILES)): outcome(path) for path in files}
    refused = {name: code for name, (kind, code) in found.items() if kind == "Refused" and code != "listed"}
    assert refused == {**CARDS, NO_DICOM: "D01"}
    counts = {kind: sum(k == kind for k, _ in found.values()) for kind in ("Rendered", "Paper", "Directory")}
    assert counts == {"Rendered": 81, "Paper": 3, "Directory": 8}
    assert sum(code == "listed" for _, code in found.values()) == len(files) - 92 - 8


# ------------------------------------------------------------------------------------------------ listed


def test_listed_objects_say_their_class_and_what_they_refer_to() -> None:
    evidence = [item(ReferencedSOPClassUID=CT, ReferencedSOPInstanceUID=f"1.2.{n}") for n in (1, 2, 2)]
    notes = thing("1.2.840.10008.5.1.4.1.1.88.59", Modality="KO")
    series = item(SeriesInstanceUID="1.2.3.1", ReferencedSOPSequence=Sequence(evidence))
    notes.CurrentRequestedProcedureEvidenceSequence = Sequence([item(ReferencedSeriesSequence=Sequence([series]))])
    for data, words in (
        (saved(notes), "Key Object Selection Document Storage: listed, not shown in this release; it refers to 2"),
        (packaged("rtdose.dcm"), "RT Dose Storage: listed, not shown"),
        (packaged("liver_1frame.dcm"), "Segmentation Storage: listed, not shown"),
        (saved(thing("1.2.3.4.5", Modality="OT")), "1.2.3.4.5: listed, not shown"),
    ):
        with pytest.raises(UserError, match=re.escape(words)) as refused:
            read(data)
        assert refused.value.code == "listed"


# ------------------------------------------------------------------------------------------------ DICOMDIR


def test_a_directory_lists_what_pydicom_lists() -> None:
    """31 instances in the packaged sample, in the series that pydicom's own file set finds."""

    root = FILES / "dicomdirtests"
    second = FileSet(root / "DICOMDIR")
    wanted = {(Path(one.path).relative_to(root).as_posix(), one.SeriesInstanceUID) for one in second}
    second._stage["t"].cleanup()
    for name in ("DICOMDIR", "DICOMDIR-reordered", "DICOMDIR-bigEnd", "DICOMDIR-nooffset"):
        found, _ = read(packaged(f"dicomdirtests/{name}"))
        assert isinstance(found, Directory)
        assert (len(found.entries), found.refused) == (31, ())
        assert {(entry.path, entry.series_uid) for entry in found.entries} == wanted


@pytest.mark.parametrize("parts", [["..", "x"], ["..\\x"], ["a/../../x"], ["/etc/passwd"], ["C:\\x"], ["A", ".", "B"]])
def test_a_directory_cannot_lead_out_of_its_folder(parts: list[str]) -> None:
    dataset = pydicom.dcmread(FILES / "dicomdirtests" / "DICOMDIR")
    first = next(r for r in dataset.DirectoryRecordSequence if "ReferencedFileID" in r)
    first.ReferencedFileID = parts
    found, _ = read(saved(dataset))
    assert isinstance(found, Directory)
    assert len(found.entries) == 30
    assert found.refused == ("/".join(parts).replace("\\", "/"),)


# ------------------------------------------------------------------------------------------------ PDF


def pdf_object(**elements: object) -> bytes:
    body = b"%PDF-1.4\nA small paper.\n%%EOF"
    known: dict[str, object] = {
        "Modality": "DOC",
        "DocumentTitle": "Letter",
        "MIMETypeOfEncapsulatedDocument": "application/pdf",
        "EncapsulatedDocument": body + b"\0",
        "EncapsulatedDocumentLength": len(body),
    }
    return saved(thing(PDF, **{**known, **elements}))


def test_a_pdf_comes_out_as_it_went_in() -> None:
    body = b"%PDF-1.4\nA small paper.\n%%EOF"
    for data in (pdf_object(), pdf_object(EncapsulatedDocumentLength=None)):
        found, blob = read(data)
        assert blob == body
        assert isinstance(found, Paper)
        assert (found.kind, found.title, found.written_on) == ("pdf", "Letter", "2026-11-18T11:45")
        assert (found.patient.name, found.patient.patient_id) == ("Example, Nora", "E-1")


@pytest.mark.parametrize(
    ("elements", "code", "words"),
    [
        ({"MIMETypeOfEncapsulatedDocument": "text/xml"}, "kind", "another type (text/xml)"),
        ({"EncapsulatedDocument": b"<html></html>"}, "D03", "14 of 29 bytes"),
        ({"EncapsulatedDocument": b"<html>" + b" " * 30}, "D09", "but it is none"),
    ],
)
def test_what_is_no_pdf(elements: dict[str, object], code: str, words: str) -> None:
    with pytest.raises(UserError, match=re.escape(words)) as refused:
        read(pdf_object(**elements))
    assert refused.value.code == code


# ------------------------------------------------------------------------------------------------ reports


def node(kind: str, name: str, relation: str = "CONTAINS", **content: object) -> pydicom.Dataset:
    heading = {"ConceptNameCodeSequence": code(name[:4], "TEST", name)} if name else {}
    return item(ValueType=kind, RelationshipType=relation, **heading, **content)


def report() -> bytes:
    """Twenty nodes, every type of value."""
    millimetre = code("mm", "UCUM", "millimetre")
    measured = [item(NumericValue="12.50", MeasurementUnitsCodeSequence=millimetre)]
    seen = [item(ReferencedSOPClassUID=CT, ReferencedSOPInstanceUID="1.2.3.4", ReferencedFrameNumber=[2, 3])]
    region = node("SCOORD", "", "INFERRED FROM", GraphicType="POLYLINE", GraphicData=[1.0, 2.0, 3.0, 4.0])
    region.ContentSequence = Sequence([node("IMAGE", "", "SELECTED FROM", ReferencedSOPSequence=seen)])
    nodule = node("NUM", "Long axis", MeasuredValueSequence=measured)
    method = node("CODE", "Method", "HAS CONCEPT MOD", ConceptCodeSequence=code("C1", "TEST", "Caliper"))
    nodule.ContentSequence = Sequence([region, method])
    none = code("Q", "DCM", "Not a number")
    unmeasured = node("NUM", "Short axis", MeasuredValueSequence=[], NumericValueQualifierCodeSequence=none)
    three = [item(NumericValue="3", MeasurementUnitsCodeSequence=code("1", "UCUM", "no units"))]
    count = node("NUM", "Count", MeasuredValueSequence=three)
    findings = node("CONTAINER", "Findings", ContentSequence=[
        node("TEXT", "Impression", TextValue="A nodule in the right lower lobe.\r\nFollow up."),
        nodule, unmeasured, count,
        node("CODE", "Side", ConceptCodeSequence=code("R", "TEST", "Right")),
        node("SCOORD3D", "Volume", GraphicType="ELLIPSOID"), node("TCOORD", "Beat", TemporalRangeType="SEGMENT"),
        node("WAVEFORM", "Trace", ReferencedSOPSequence=seen),
        node("COMPOSITE", "Letter", ReferencedSOPSequence=seen),
    ])  # fmt: skip
    context = [
        node("PNAME", "Observer", "HAS OBS CONTEXT", PersonName="Reader^Rita"),
        node("UIDREF", "Study", "HAS OBS CONTEXT", UID="1.2.3"),
        node("DATE", "Day", Date="20261118"), node("TIME", "Hour", Time="114500"),
        node("DATETIME", "Moment", DateTime="20261118114500"), node("TEXT", "", TextValue="Unnamed."),
    ]  # fmt: skip
    return saved(thing(
        REPORT, Modality="SR", ValueType="CONTAINER",
        ConceptNameCodeSequence=code("126000", "DCM", "Imaging Measurement Report"),
        CompletionFlag="COMPLETE", VerificationFlag="VERIFIED", ContentSequence=[*context, findings],
        VerifyingObserverSequence=[item(VerifyingObserverName="Signer^Sam")],
    ))  # fmt: skip


EXPECTED = """\
Structured report: complete, verified by Signer, Sam.
Imaging Measurement Report
  (has obs context) Observer: Reader, Rita
  (has obs context) Study: 1.2.3
  Day: 2026-11-18
  Hour: 11:45
  Moment: 2026-11-18T11:45
  Unnamed.
  Findings
    Impression: A nodule in the right lower lobe.
Follow up.
    Long axis: 12.50 mm
      (inferred from) Scoord: region on image (polyline)
        (selected from) Image: see 1.2.3.4, frames 2, 3
      (has concept mod) Method: Caliper
    Short axis: Not a number
    Count: 3
    Side: Right
    Volume: region on image (ellipsoid)
    Beat: time range (segment)
    Trace: see 1.2.3.4, frames 2, 3
    Letter: see 1.2.3.4, frames 2, 3
"""


def test_a_report_as_text_with_the_place_of_every_node() -> None:
    found, blob = read(report())
    assert isinstance(found, Paper)
    assert (found.text, blob, found.title) == (EXPECTED, b"", "Imaging Measurement Report")
    assert len(found.nodes) == 20
    shown = {node.path: found.text[node.start : node.end] for node in found.nodes}
    assert shown["1"] == "Imaging Measurement Report"
    assert shown["1.7.1"] == "Impression: A nodule in the right lower lobe.\nFollow up."
    assert shown["1.7.2.1.1"] == "(selected from) Image: see 1.2.3.4, frames 2, 3"
    assert found.numbers == (
        Number(path="1.7.2", name="Long axis", value=12.5, unit="mm", code="Long", scheme="TEST"),
        Number(path="1.7.4", name="Count", value=3.0, unit="", code="Coun", scheme="TEST"),
    )


def test_reports_without_end_are_refused() -> None:

    child = struct.pack("<HHI", 0xFFFE, 0xE000, 12) + b"\x40\0\x40\xa0CS\x04\0TEXT"  # an item of one element: ValueType
    head = b"\x40\0\x30\xa7SQ\0\0" + struct.pack("<I", 20_001 * len(child))
    data = saved(thing(REPORT, Modality="SR", ValueType="CONTAINER")) + head + child * 20_001
    with pytest.raises(UserError, match="more than 20,000 nodes") as refused:
        read(data)

    assert refused.value.code == "nodes"


# ------------------------------------------------------------------------------------------------ electrocardiograms

TWELVE = [name for row in waveform.STANDARD for name in row]


def steps(rate: int) -> dict[str, np.ndarray]:
    """Lead II steps from 0 to 1 mV after a second of the strip, and back after two; the others are flat."""
    leads = {name: np.zeros(10 * rate) for name in TWELVE}
    leads["II"][rate : 2 * rate] = 1000
    return leads


def ink(picture: np.ndarray, row: int) -> np.ndarray:
    """Where the trace of a row runs: the pixels that are nearly black."""
    top = waveform.TOP + row * waveform.ROW
    return np.argwhere(picture[top : top + waveform.ROW].max(axis=-1) < 60) + [top, 0]


def test_the_picture_has_the_scale_of_paper() -> None:
    data = electrocardiogram(steps(500), rate=500)
    found, _ = read(data)
    assert isinstance(found, Instance)
    _, png = pixels.render(data, limit_bytes=LIMIT)
    picture = np.asarray(Image.open(io.BytesIO(png)).convert("RGB"))
    assert picture.shape[:2] == (found.rows, found.columns)
    trace = ink(picture, 3)  # the strip of lead II
    assert abs(trace[:, 0].max() - trace[:, 0].min() - 80 - 1) <= 1  # 1 mV, between lines that are 2 px wide
    high = trace[trace[:, 0] < trace[:, 0].min() + 2][:, 1]
    assert abs(high.max() - high.min() - 200) <= 3  # 1 s
    assert np.ptp(ink(picture, 0)[:, 0]) <= 2  # flat leads stay flat
    assert trace[:, 1].max() - trace[:, 1].min() == pytest.approx(10 * 200, abs=3)


def test_samples_of_the_packaged_recording_are_those_of_pydicom() -> None:
    dataset = pydicom.dcmread(FILES / "waveform_ecg.dcm")
    rhythm, beat = waveform.recordings(dataset)
    assert (rhythm.label, rhythm.rate, len(rhythm.leads), rhythm.is_standard) == ("RHYTHM", 1000.0, 12, True)
    assert [lead.name for lead in rhythm.leads][:4] == ["I", "II", "III", "aVR"]
    for n, recording in enumerate((rhythm, beat)):
        values = np.stack([lead.values for lead in recording.leads], axis=1)
        assert np.allclose(values, multiplex_array(dataset, n, as_raw=False))
    assert waveform.read(dataset).label == "RHYTHM"
    assert {lead.unit for lead in rhythm.leads} == {"uV"}


def test_values_by_sensitivity_correction_and_baseline_and_in_millivolts() -> None:
    leads = {"II": np.array([0, 100, -200] * 20)}
    data = electrocardiogram(
        leads, rate=50, unit="mV", ChannelSensitivity="0.5", ChannelSensitivityCorrectionFactor="2", ChannelBaseline="3"
    )
    recording = waveform.read(pydicom.dcmread(io.BytesIO(data)))
    assert recording.leads[0].values[:3].tolist() == [3, 103, -197]
    assert recording.leads[0].millivolts[:3].tolist() == [3, 103, -197]
    assert not recording.is_standard
    assert waveform.draw(recording).shape == (waveform.TOP + waveform.ROW + waveform.BOTTOM, 2080, 3)


@pytest.mark.parametrize(
    ("elements", "code"),
    [
        ({"NumberOfWaveformSamples": 99_999_999}, "D03"),
        ({"SamplingFrequency": 0}, "D04"),
        ({"WaveformSampleInterpretation": "MB"}, "D04"),
        ({"ChannelDefinitionSequence": []}, "D04"),
    ],
)
def test_recordings_that_cannot_be_drawn(elements: dict[str, object], code: str) -> None:
    dataset = pydicom.dcmread(io.BytesIO(electrocardiogram(steps(100), rate=100)))
    for name, value in elements.items():
        setattr(dataset.WaveformSequence[0], name, value)
    with pytest.raises(UserError) as refused:
        read(saved(dataset))
    assert refused.value.code == code


def test_who_issued_the_number_is_kept() -> None:
    found, _ = read(changed("CT_small.dcm", IssuerOfPatientID="Ward 7", SpecificCharacterSet="ISO_IR 100"))
    assert isinstance(found, Instance)
    assert (found.issuer, found.decoder, found.syntax) == ("Ward 7", "pydicom 3.0.2", "1.2.840.10008.1.2.1")
    greek, _ = read(changed("CT_small.dcm", SpecificCharacterSet="ISO_IR 126", PatientName="Διονυσιος"))
    assert isinstance(greek, Instance)
    assert greek.patient.name == "Διονυσιος"
