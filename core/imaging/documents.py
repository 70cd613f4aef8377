"""Documents inside DICOM: structured reports as text with the place of every node, encapsulated PDF as its bytes.

Foreign bytes: decode child only. Knows no reader of PDF: whoever joins the two hands the bytes on. imaging.md 4.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace
from pydicom.dataset import Dataset

from core.errors import UserError
from core.imaging import dicom, elements, header
from core.imaging.facts import Node, Number, Paper

DEPTH, NODES = 64, 20_000
PDF = "application/pdf"


class _Line(msgspec.Struct, frozen=True):
    """A node as it is written: path, depth, text, and its number if it has one."""

    path: str
    depth: int
    text: str
    number: Number | None = None


def report(dataset: Dataset) -> Paper:
    """A structured report (all SR classes) as text: flags first, then the tree depth-first, a line a node.

    Raises:
        UserError: D16 nested deeper than 64 levels, "nodes" for more than 20,000 nodes.
    """
    lines = list(_lines(dataset, "1", 0))
    text = _flags(dataset) + "\n"
    nodes = []
    for line in lines:
        start = len(text) + 2 * line.depth
        text += "  " * line.depth + line.text + "\n"
        nodes.append(Node(path=line.path, start=start, end=len(text) - 1))
    numbers = tuple(line.number for line in lines if line.number is not None)
    found = _document(dataset, kind="report", title=_concept(dataset))
    return replace(found, text=text, nodes=tuple(nodes), numbers=numbers)


def pdf(dataset: Dataset) -> tuple[Paper, bytes]:
    """An encapsulated PDF: its facts and the bytes of the PDF.

    Raises:
        UserError: "kind" another type of document, D03 cut short, D09 not a PDF.
    """
    said = elements.word(dataset, "MIMETypeOfEncapsulatedDocument")
    if said != PDF:
        raise UserError(f"The DICOM file holds a document of another type ({said or 'not said'}).", code="kind")
    body = dataset.get("EncapsulatedDocument") or b""
    length = elements.whole(dataset, "EncapsulatedDocumentLength")
    if length is not None and len(body) < length:
        raise UserError(f"The document is cut short: {len(body):,} of {length:,} bytes are there.", code="D03")
    # Without a length the one byte that makes it even belongs to DICOM, not to the document.
    body = body[:length] if length is not None else body.removesuffix(b"\0")
    if not body.startswith(b"%PDF-"):
        raise UserError("The DICOM file says that it holds a PDF document, but it is none.", code="D09")
    return _document(dataset, kind="pdf", title=elements.word(dataset, "DocumentTitle")), body


def _document(dataset: Dataset, *, kind: str, title: str) -> Paper:
    """Who, when and which, without the content."""
    return Paper(
        kind=kind,
        title=title or elements.word(dataset, "SeriesDescription") or dicom.sop_class(dataset),
        patient=header.patient(dataset),
        issuer=elements.word(dataset, "IssuerOfPatientID"),
        study_uid=elements.word(dataset, "StudyInstanceUID"),
        series_uid=elements.word(dataset, "SeriesInstanceUID"),
        sop_uid=elements.word(dataset, "SOPInstanceUID"),
        sop_class=elements.word(dataset, "SOPClassUID"),
        written_on=header.acquired(dataset),
    )


def _flags(dataset: Dataset) -> str:
    """Is it finished, has anybody vouched for it? The first line of the text."""
    completion = elements.word(dataset, "CompletionFlag").lower() or "completion not said"
    verification = elements.word(dataset, "VerificationFlag").lower() or "verification not said"
    observers = [
        elements.word(item, "VerifyingObserverName") for item in dataset.get("VerifyingObserverSequence") or ()
    ]
    named = ", ".join(_person(name) for name in observers if name)
    return f"Structured report: {completion}, {verification}{f' by {named}' if named else ''}."


# ------------------------------------------------------------------------------------------------ the content tree


def _lines(root: Dataset, path: str, depth: int) -> Iterator[_Line]:
    """Depth-first with a stack of our own; the root is the document's title."""
    waiting = [(root, path, depth)]
    count = 0
    while waiting:
        node, path, depth = waiting.pop()
        count += 1
        if depth > DEPTH:
            raise UserError(f"The report is nested deeper than {DEPTH} levels.", code="D16")
        if count > NODES:
            raise UserError(f"The report has more than {NODES:,} nodes.", code="nodes")
        yield _line(node, path, depth)
        children = list(node.get("ContentSequence") or ())
        waiting += [(child, f"{path}.{n + 1}", depth + 1) for n, child in reversed(list(enumerate(children)))]


def _line(node: Dataset, path: str, depth: int) -> _Line:
    kind = elements.word(node, "ValueType")
    name = _concept(node)
    relation = elements.word(node, "RelationshipType")
    shown = f"({relation.lower()}) " if relation not in ("", "CONTAINS") else ""
    if kind == "NUM":
        text, number = _number(node, path, name)
        return _Line(path, depth, f"{shown}{name or 'Number'}: {text}", number)
    value = VALUES[kind](node) if kind in VALUES else _reference(node) or kind.lower()
    label = name or ("" if kind in ("TEXT", "CONTAINER") else kind.capitalize())
    return _Line(path, depth, shown + (f"{label}: {value}" if label and value else label or value or "(no heading)"))


def _concept(node: Dataset) -> str:
    return _coded(node, "ConceptNameCodeSequence")


def _coded(node: Dataset, name: str) -> str:
    """The meaning of a code, else the code itself."""
    items = node.get(name)
    if not items:
        return ""
    value = elements.word(items[0], "CodeValue") or elements.word(items[0], "LongCodeValue")
    return elements.word(items[0], "CodeMeaning") or value


def _number(node: Dataset, path: str, name: str) -> tuple[str, Number | None]:
    """Value and unit as text and as values; a measurement without a value says why it has none."""
    measured = node.get("MeasuredValueSequence")
    values = elements.decimals(measured[0], "NumericValue") if measured else []
    if not values:
        return _coded(node, "NumericValueQualifierCodeSequence") or "no value", None
    units = measured[0].get("MeasurementUnitsCodeSequence")
    unit = elements.word(units[0], "CodeValue") if units else ""
    concept = (node.get("ConceptNameCodeSequence") or [Dataset()])[0]
    number = Number(
        path=path,
        name=name,
        value=values[0],
        unit="" if unit == "1" else unit,
        code=elements.word(concept, "CodeValue"),
        scheme=elements.word(concept, "CodingSchemeDesignator"),
    )
    return f"{elements.word(measured[0], 'NumericValue')} {number.unit}".strip(), number


def _text(node: Dataset) -> str:
    """A text as it was written, on one line a paragraph, so that a node stays one stretch of characters."""
    value = str(node.get("TextValue") or "").replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")
    return value.strip()


def _person(name: str) -> str:
    return ", ".join(part for part in name.partition("=")[0].split("^") if part)


def _moment(text: str) -> str:
    """Date and time as in ISO 8601 where they are whole."""
    digits = text.partition(".")[0].partition("+")[0]
    if len(digits) < 8 or not digits.isdecimal():
        return text
    clock = f"T{digits[8:10]}:{digits[10:12]}" if len(digits) >= 12 else ""
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}{clock}"


def _clock(text: str) -> str:
    return f"{text[:2]}:{text[2:4]}" if len(text) >= 4 and text[:4].isdecimal() else text


def _reference(node: Dataset) -> str:
    """What the node points to: an object, and the frames of it."""
    items = node.get("ReferencedSOPSequence")
    if not items:
        return ""
    frames = ", ".join(elements.words(items[0], "ReferencedFrameNumber"))
    return f"see {elements.word(items[0], 'ReferencedSOPInstanceUID')}{f', frames {frames}' if frames else ''}"


def _region(node: Dataset) -> str:
    kind = elements.word(node, "GraphicType").lower()
    return f"region on image{f' ({kind})' if kind else ''}"


VALUES: dict[str, Callable[[Dataset], str]] = {
    "CONTAINER": lambda node: "",
    "TEXT": _text,
    "CODE": lambda node: _coded(node, "ConceptCodeSequence"),
    "PNAME": lambda node: _person(elements.word(node, "PersonName")),
    "DATE": lambda node: _moment(elements.word(node, "Date")),
    "TIME": lambda node: _clock(elements.word(node, "Time")),
    "DATETIME": lambda node: _moment(elements.word(node, "DateTime")),
    "UIDREF": lambda node: elements.word(node, "UID"),
    "SCOORD": _region,
    "SCOORD3D": _region,
    "TCOORD": lambda node: f"time range ({elements.word(node, 'TemporalRangeType').lower()})",
}
