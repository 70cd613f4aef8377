"""Numbers and reference ranges as laboratories print them. What is ambiguous is no number. Knows no units.

A mark with exactly three digits after it ("2,450", "1.234") can be a decimal or a thousands mark. A file's other cells
settle it (`decimal_mark`); where they contradict each other, the cell keeps its text and has no number.
"""

from __future__ import annotations

import re
from typing import Literal

LONGEST = 80  # characters of a cell that can be a number or a range
Mark = Literal["point", "comma", "mixed", "unknown"]
_SPACES = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2212": "-", "\u2013": "-", "\u2014": "-"})
_BODY = r"\d[\d.,]*(?: \d{3})*(?:[.,]\d+)?(?:[eE][+-]?\d+)?"
NUMBER = re.compile(rf"[+-]?{_BODY}")
VALUE = re.compile(rf"(?P<number>[+-]?{_BODY})(?: ?(?P<rest>[^\d\s:/^-].*))?")  # no titre, ratio, date
BETWEEN = re.compile(rf"(?P<low>[+-]?{_BODY}) ?(?:-|to|bis) ?(?P<high>[+-]?{_BODY})(?: ?[^\d\s].*)?")
BELOW = re.compile(rf"(?:<|<=|\u2264|up to|bis) ?(?P<high>[+-]?{_BODY})(?: ?[^\d\s].*)?", re.IGNORECASE)
ABOVE = re.compile(rf"(?:>|>=|\u2265|from|ab) ?(?P<low>[+-]?{_BODY})(?: ?[^\d\s].*)?", re.IGNORECASE)
THOUSANDS_COMMA = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3}){2,}(?:\.\d+)?|[+-]?[1-9]\d{0,2}(?:,\d{3})+\.\d+")
THOUSANDS_POINT = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?|[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d+")
UNCLEAR = re.compile(r"[+-]?[1-9]\d{0,2}(?P<mark>[.,])\d{3}")
PLAIN = re.compile(r"[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?")


def tidy(text: str) -> str:
    """One kind of blank, one kind of dash; no blanks at the ends."""
    return " ".join(text.translate(_SPACES).split())


def decimal_mark(cells: list[str], *, semicolons: bool) -> Mark:
    """Which decimal mark a file uses, by its clear cells; without any, a file parted by semicolons uses the comma."""
    points = commas = 0
    for cell in cells:
        for text in NUMBER.findall(tidy(cell)[:LONGEST]):
            plain = PLAIN.fullmatch(text) is not None and UNCLEAR.fullmatch(text) is None
            points += THOUSANDS_COMMA.fullmatch(text) is not None or (plain and "." in text)
            commas += THOUSANDS_POINT.fullmatch(text) is not None or (plain and "," in text)
    if points and commas:
        return "mixed"
    if points or commas:
        return "point" if points else "comma"
    return "comma" if semicolons else "unknown"


def number(text: str, mark: Mark) -> float | None:
    """The number of a text that is nothing else; None where it is none or ambiguous."""
    text = tidy(text)
    if len(text) > LONGEST:
        return None
    if re.fullmatch(r"[+-]?\d{1,3}(?: \d{3})+(?:[.,]\d+)?", text):
        text = text.replace(" ", "")
    if THOUSANDS_COMMA.fullmatch(text):
        return float(text.replace(",", ""))
    if THOUSANDS_POINT.fullmatch(text):
        return float(text.replace(".", "").replace(",", "."))
    if unclear := UNCLEAR.fullmatch(text):
        return _settled(text, unclear["mark"], mark)
    return float(text.replace(",", ".")) if PLAIN.fullmatch(text) else None


def _settled(text: str, found: str, mark: Mark) -> float | None:
    """ "2,450" or "1.234" by the mark that the file uses; a point counts as thousands mark for nobody without proof."""
    if found == ".":
        return float(text) if mark in ("point", "unknown") else None
    if mark == "mixed":
        return None
    return float(text.replace(",", "." if mark == "comma" else ""))


def value(text: str, mark: Mark) -> tuple[float | None, str]:
    """A result cell as (number, what follows it): "6.1 H" is (6.1, "H"); "<5" and "positive" are (None, "")."""
    text = tidy(text)
    match = VALUE.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return None, ""
    return number(match["number"], mark), (match["rest"] or "").strip()


def interval(text: str, mark: Mark) -> tuple[float | None, float | None]:
    """A printed reference range as (low, high): "3.5-5.1", "<0.5", ">= 60"; (None, None) if it is none."""
    text = tidy(text).strip("()[] ")
    if len(text) > LONGEST:
        return None, None
    if match := BETWEEN.fullmatch(text):
        low, high = number(match["low"], mark), number(match["high"], mark)
        ordered = low is not None and high is not None and low <= high
        return (low, high) if ordered else (None, None)
    if match := BELOW.fullmatch(text):
        return None, number(match["high"], mark)
    if match := ABOVE.fullmatch(text):
        return number(match["low"], mark), None
    return None, None
