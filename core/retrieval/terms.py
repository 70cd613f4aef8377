"""Words of a text and the norm of a surface: what two spellings must share to be the same term.

Pure functions of text; knows no concept, trigger or unit.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_WORD = re.compile(r"[^\W_]+")
_DIGRAPH = re.compile("oe|ae")
_AMERICAN_FROM = 6  # letters; shorter words ("does", "aero") keep their spelling
_ABBREVIATION = 5  # letters at most


class Word(NamedTuple):
    """A run of letters and digits: `norm` is what is compared, `raw` as written, half-open offsets."""

    norm: str
    raw: str
    start: int
    end: int


def words(text: str) -> list[Word]:
    """The word runs of a text, in order."""
    return [Word(norm_word(m.group()), m.group(), m.start(), m.end()) for m in _WORD.finditer(text)]


def norm_word(raw: str) -> str:
    """NFKC, case-folded, "oe" and "ae" of longer words as "e", so that oedema and edema are one."""
    folded = raw.casefold() if raw.isascii() else unicodedata.normalize("NFKC", raw).casefold()
    if len(folded) >= _AMERICAN_FROM and ("oe" in folded or "ae" in folded):
        return _DIGRAPH.sub("e", folded)
    return folded


def norm(surface: str) -> tuple[str, ...]:
    """A surface as its normed words."""
    return tuple(map(norm_word, _WORD.findall(surface)))


def is_abbreviation(surface: str) -> bool:
    """All capitals, five letters at most: matched as written ("PE" is a finding, "pe" is not)."""
    letters = [character for character in surface if character.isalpha()]
    return 0 < len(letters) <= _ABBREVIATION and all(letter.isupper() for letter in letters)


def singular(word: str) -> str:
    """Without a regular plural s; the word itself where there is none."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
