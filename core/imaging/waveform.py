"""Electrocardiograms: samples as physical values, and a picture of them as on paper. No interpretation, no interval.

Foreign bytes: decode child only. Paper speed 25 mm/s, gain 10 mm/mV, 8 px a mm: 1 s is 200 px, 1 mV is 80 px.
"""

from __future__ import annotations

import msgspec
import numpy as np
import numpy.typing as npt
from pydicom.dataset import Dataset

from core.errors import UserError
from core.imaging import elements, header
from core.imaging.facts import Instance

PX_MM = 8
PX_S = 25 * PX_MM
PX_MV = 10 * PX_MM
COLUMN_S, STRIP_S = 2.5, 10.0
ROW = 34 * PX_MM
LEFT, TOP, BOTTOM = 5 * PX_MM, 5 * PX_MM, 5 * PX_MM
WIDTH = LEFT + int(STRIP_S * PX_S) + LEFT
STANDARD = (("I", "aVR", "V1", "V4"), ("II", "aVL", "V2", "V5"), ("III", "aVF", "V3", "V6"))
MOST_STRIPS = 16
MILLIVOLTS = {"mV": 1.0, "uV": 1e-3, "V": 1e3}
CELLS = {"SB": "i1", "UB": "u1", "SS": "i2", "US": "u2", "SL": "i4", "UL": "u4"}
PAPER, FINE, BOLD, INK, NAMES = (255, 255, 255), (255, 228, 228), (250, 185, 185), (0, 0, 0), (0, 0, 120)
SCALE = "25 mm/s   10 mm/mV   drawn from the samples, not interpreted"
Values = npt.NDArray[np.float64]
Picture = npt.NDArray[np.uint8]


class Lead(msgspec.Struct, frozen=True):
    """Name as coded, unit as coded, value of every sample (nan where nothing was recorded)."""

    name: str
    unit: str
    values: Values

    @property
    def millivolts(self) -> Values:
        return self.values * MILLIVOLTS.get(self.unit, 1.0)


class Recording(msgspec.Struct, frozen=True):
    """One multiplex group: label, samples a second, leads."""

    label: str
    rate: float
    leads: tuple[Lead, ...]

    @property
    def is_standard(self) -> bool:
        """Does it hold the twelve leads?"""
        names = {lead.name for lead in self.leads}
        return all(name in names for row in STANDARD for name in row)


# ------------------------------------------------------------------------------------------------ samples


def instance(dataset: Dataset) -> Instance:
    """The facts of an electrocardiogram; rows and columns are those of its picture.

    Raises:
        UserError: as `read`.
    """
    recording = read(dataset)
    return Instance(
        study_uid=elements.word(dataset, "StudyInstanceUID"),
        series_uid=elements.word(dataset, "SeriesInstanceUID"),
        sop_uid=elements.word(dataset, "SOPInstanceUID"),
        sop_class=elements.word(dataset, "SOPClassUID"),
        modality=elements.word(dataset, "Modality") or "ECG",
        rows=_height(recording),
        columns=WIDTH,
        patient=header.patient(dataset),
        issuer=elements.word(dataset, "IssuerOfPatientID"),
        number=elements.whole(dataset, "InstanceNumber"),
        description=elements.word(dataset, "SeriesDescription") or elements.word(dataset, "StudyDescription"),
        acquired_on=header.acquired(dataset),
        remarks=(f"Electrocardiogram of {len(recording.leads)} leads at {recording.rate:g} samples a second",),
    )


def read(dataset: Dataset) -> Recording:
    """The longest of the multiplex groups (PS3.3 C.10.9), the rhythm before a median beat.

    Raises:
        UserError: D03 fewer samples than declared, D04 a description that cannot be used.
    """
    groups = recordings(dataset)
    if not groups:
        raise _contradictory("WaveformSequence")
    return max(groups, key=lambda group: len(group.leads[0].values) / group.rate)


def recordings(dataset: Dataset) -> tuple[Recording, ...]:
    """All multiplex groups in the order of the file. Raises as `read`."""
    return tuple(_recording(item, dataset) for item in dataset.get("WaveformSequence") or ())


def _recording(item: Dataset, dataset: Dataset) -> Recording:
    channels = list(item.get("ChannelDefinitionSequence") or ())
    samples = elements.whole(item, "NumberOfWaveformSamples") or 0
    rate = (elements.decimals(item, "SamplingFrequency") or [0.0])[0]
    kind = CELLS.get(elements.word(item, "WaveformSampleInterpretation"))
    if kind is None or not channels or samples < 1 or rate <= 0:
        raise _contradictory("WaveformSequence")
    order = "<" if dataset.original_encoding[1] is not False else ">"
    raw, wanted = item.get("WaveformData") or b"", len(channels) * samples * int(kind[1])
    if len(raw) < wanted:
        raise UserError(f"The DICOM file is cut short: {len(raw):,} of {wanted:,} bytes of samples.", code="D03")
    cells = np.frombuffer(raw, f"{order}{kind}", count=len(channels) * samples).reshape(samples, len(channels))
    padding = _padding(item, f"{order}{kind}")
    leads = tuple(_lead(channel, cells[:, n], padding) for n, channel in enumerate(channels))
    return Recording(elements.word(item, "MultiplexGroupLabel"), rate, leads)


def _padding(item: Dataset, cell: str) -> int | None:
    """The value that stands for "nothing recorded"."""
    raw = item.get("WaveformPaddingValue")
    width = np.dtype(cell).itemsize
    return int(np.frombuffer(raw[:width], cell)[0]) if isinstance(raw, bytes) and len(raw) >= width else None


def _lead(channel: Dataset, cells: npt.NDArray[np.generic], padding: int | None) -> Lead:
    """Value = sample x sensitivity x correction + baseline, in the unit of the sensitivity."""
    sensitivity = (elements.decimals(channel, "ChannelSensitivity") or [1.0])[0]
    correction = (elements.decimals(channel, "ChannelSensitivityCorrectionFactor") or [1.0])[0]
    baseline = (elements.decimals(channel, "ChannelBaseline") or [0.0])[0]
    values = cells.astype(np.float64) * (sensitivity * correction) + baseline
    if padding is not None:
        values[np.asarray(cells == padding)] = np.nan
    source, unit = channel.get("ChannelSourceSequence"), channel.get("ChannelSensitivityUnitsSequence")
    name = elements.word(channel, "ChannelLabel") or (elements.word(source[0], "CodeMeaning") if source else "")
    return Lead(_plain(name), elements.word(unit[0], "CodeValue") if unit else "", values)


def _plain(name: str) -> str:
    """The lead's usual name: "Lead II (Einthoven)" is II."""
    word = name.removeprefix("Lead ").split(" (")[0].strip()
    return next((lead for row in STANDARD for lead in row if lead.casefold() == word.casefold()), word)


# ------------------------------------------------------------------------------------------------ the picture


def _height(recording: Recording) -> int:
    rows = len(STANDARD) + 1 if recording.is_standard else min(len(recording.leads), MOST_STRIPS)
    return TOP + rows * ROW + BOTTOM


def draw(recording: Recording) -> Picture:
    """As on paper: 3 x 4 leads of 2.5 s and a strip of lead II; without the twelve leads a strip of 10 s for each.

    Returns height x 2080 x 3, uint8.
    """
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (WIDTH, _height(recording)), PAPER)
    pen = ImageDraw.Draw(image)
    for spacing, colour in ((PX_MM, FINE), (5 * PX_MM, BOLD)):
        for x in range(0, image.width, spacing):
            pen.line((x, 0, x, image.height), fill=colour)
        for y in range(0, image.height, spacing):
            pen.line((0, y, image.width, y), fill=colour)
    font = ImageFont.load_default(22)
    for lead, row, start, seconds in _layout(recording):
        x, middle = LEFT + round(start * PX_S), TOP + row * ROW + ROW // 2
        pen.text((x + 6, middle - ROW // 2 + 6), lead.name, fill=NAMES, font=font)
        for points in _runs(lead, recording.rate, start, seconds):
            pen.line([(LEFT + px, middle - py) for px, py in points], fill=INK, width=2)
    pen.text((LEFT, image.height - BOTTOM + 6), SCALE, fill=NAMES, font=font)
    return np.asarray(image)


def _layout(recording: Recording) -> list[tuple[Lead, int, float, float]]:
    """Lead, row, second at which it begins, seconds shown."""
    if not recording.is_standard:
        return [(lead, row, 0.0, STRIP_S) for row, lead in enumerate(recording.leads[:MOST_STRIPS])]
    leads = {lead.name: lead for lead in recording.leads}
    grid = [
        (leads[name], row, column * COLUMN_S, COLUMN_S)
        for row, names in enumerate(STANDARD)
        for column, name in enumerate(names)
    ]
    return [*grid, (leads["II"], len(STANDARD), 0.0, STRIP_S)]


def _runs(lead: Lead, rate: float, start: float, seconds: float) -> list[list[tuple[float, float]]]:
    """The trace as (px from the first sample, px above the line) in runs without gaps."""
    first, last = round(start * rate), round((start + seconds) * rate)
    heights = np.clip(lead.millivolts[first:last] * PX_MV, -ROW / 2, ROW / 2)
    across = (np.arange(first, first + len(heights)) / rate) * PX_S
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(across.tolist(), heights.tolist(), strict=True):
        if y == y:
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if len(run) > 1]


def _contradictory(attribute: str) -> UserError:
    return UserError(f"The image description is incomplete or contradictory: {attribute}.", code="D04")
