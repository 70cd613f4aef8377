"""Single elements of a DICOM header as text and numbers; absent, empty or unreadable ones as nothing. Knows no object.

Most elements are plain ASCII text, which is taken from the raw bytes: a series of thousands of files is listed in half
the time that pydicom's conversion of every value takes.
"""

from __future__ import annotations

from functools import cache

from pydicom.datadict import dictionary_VR, tag_for_keyword
from pydicom.dataelem import RawDataElement
from pydicom.dataset import Dataset
from pydicom.multival import MultiValue
from pydicom.tag import BaseTag, Tag

TEXT = frozenset(("AE", "AS", "CS", "DA", "DS", "DT", "IS", "LO", "PN", "SH", "TM", "UI"))
SHORT = "US"  # one unsigned number of two bytes
ESCAPE = b"\x1b"  # announces another character set


@cache
def _known(name: str) -> tuple[BaseTag, str]:
    """The tag of a keyword, and its kind of value by the dictionary."""
    tag = Tag(tag_for_keyword(name) or 0)
    return tag, dictionary_VR(tag)


def words(dataset: Dataset, name: str) -> tuple[str, ...]:
    """An element's values, each as one line of text; () if absent or empty."""
    tag, kind = _known(name)
    element = dataset._dict.get(tag)
    if element is None:
        return ()
    if isinstance(element, RawDataElement) and element.VR in (kind, None):
        raw = element.value or b""
        if kind in TEXT and raw.isascii() and ESCAPE not in raw:
            return _lines(raw.decode("ascii").split("\\")) if raw else ()
        if kind == SHORT and len(raw) == 2:
            return (str(int.from_bytes(raw, "little" if element.is_little_endian else "big")),)
    value = dataset[tag].value
    values = list(value) if isinstance(value, MultiValue | list) else [] if value is None else [value]
    return _lines([str(item) for item in values])


def _lines(values: list[str]) -> tuple[str, ...]:
    return tuple(" ".join(value.replace("\x00", "").split()) for value in values)


def word(dataset: Dataset, name: str) -> str:
    """An element's first value as one line of text; "" if absent."""
    found = words(dataset, name)
    return found[0] if found else ""


def decimals(dataset: Dataset, name: str) -> list[float]:
    """An element's values as numbers; [] if absent or no numbers."""
    try:
        return [float(item) for item in words(dataset, name)]
    except ValueError:
        return []


def whole(dataset: Dataset, name: str) -> int | None:
    """An element's first value as a whole number; None if absent or none."""
    found = words(dataset, name)
    try:
        return int(found[0]) if found else None
    except ValueError:
        return None
