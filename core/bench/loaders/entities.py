"""Names of diseases marked in sentences: the NCBI disease corpus, a token and its tag a line.

Dogan et al., NCBI disease corpus (2014), in the form of Crichton et al. (2017); data.md 4.6. It must not know a
matcher.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.bench.loaders import upstream

NCBI_DISEASE = "bench/ncbi_disease/devel.tsv"
OUTSIDE, FIRST, INSIDE = "O", "B-Disease", "I-Disease"


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """From `start` up to and without `end`, in characters of the sentence's text."""

    start: int
    end: int


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence: its number in the file (from 1), tokens with their tags, the tokens joined by blanks, the names."""

    id: str
    tokens: tuple[str, ...]
    tags: tuple[str, ...]
    text: str
    spans: tuple[Span, ...]


def load_ncbi_disease(folder: Path) -> tuple[Sentence, ...]:
    """Every sentence, in the order of the file.

    Raises:
        UserError: the file is missing or not of its form.
    """
    try:
        text = upstream.read(folder, NCBI_DISEASE).decode("utf-8")
    except UnicodeDecodeError as error:
        raise upstream.broken(NCBI_DISEASE, "it is not UTF-8") from error
    blocks = [block for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return tuple(_sentence(str(number), block.strip("\n")) for number, block in enumerate(blocks, start=1))


def _sentence(number: str, block: str) -> Sentence:
    pairs = [tuple(line.split("\t")) for line in block.split("\n")]
    before = OUTSIDE
    for pair in pairs:
        if len(pair) != 2 or pair[1] not in (OUTSIDE, FIRST, INSIDE) or (pair[1] == INSIDE and before == OUTSIDE):
            raise upstream.broken(NCBI_DISEASE, f"sentence {number} has a line that is no token with its tag")
        before = pair[1]
    tokens, tags = zip(*pairs, strict=True)
    return Sentence(id=number, tokens=tokens, tags=tags, text=" ".join(tokens), spans=_spans(tokens, tags))


def _spans(tokens: Sequence[str], tags: Sequence[str]) -> tuple[Span, ...]:
    found: list[Span] = []
    place = 0
    for token, tag in zip(tokens, tags, strict=True):
        end = place + len(token)
        if tag == FIRST:
            found.append(Span(start=place, end=end))
        elif tag == INSIDE:
            found[-1] = Span(start=found[-1].start, end=end)
        place = end + 1
    return tuple(found)
