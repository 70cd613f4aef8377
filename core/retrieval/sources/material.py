"""What all importers share: the form of what they read, what they say of it, and how a text becomes sections.

An importer is a module with `NAME`, `VERSION`, `SUFFIXES` (of members that count), `fits(name, head)` and
`read(files, options) -> Reading`; it streams and knows no store. `read` looks at the head of the files at once and
yields records as they are asked for.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import NamedTuple

import msgspec

from core.retrieval.chunk import cut
from core.retrieval.sentences import split
from core.retrieval.terms import is_abbreviation, norm
from core.store.knowledge_values import Item, PackKind, Section, SectionClass, Surface, SurfaceType

SUMMARY_LENGTH = 300
SHORTEST_SURFACE = 3  # characters
LONGEST_SURFACE = 12  # words
MOST_TEXT = 8_000_000  # characters of one record; more is no record
_BLANKS = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r" ?\n[\s]*")
_NUMBER = re.compile(r"^(?:\d+(?:\.\d+)*|[ivx]+|[a-h])[.)]?\s+", re.IGNORECASE)


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the person said about the files; empty = as the files say. Dates are ISO 8601."""

    title: str = ""
    edition: str = ""
    publisher: str = ""
    licence: str = ""
    licence_text: str = ""
    jurisdiction: str = ""
    lang: str = "en"
    issued_on: str = ""
    effective_from: str = ""
    review_by: str = ""
    expires_on: str = ""
    replaces: str = ""
    mapping: str = ""  # TOML text of a `--map` file, for tables
    publication_types: tuple[str, ...] = ()  # PubMed: only these


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What the files say of themselves. `slug` names the body of knowledge without its edition."""

    slug: str
    title: str
    kind: PackKind
    edition: str = ""
    publisher: str = ""
    licence: str = "unknown"
    licence_text: str = ""
    source_url: str = ""
    issued_on: str = ""


class Skipped(msgspec.Struct, frozen=True):
    """A record that was not taken over. `failed`: it is broken; else it was left out on purpose."""

    where: str
    why: str
    failed: bool = True


class Reading(NamedTuple):
    """One import under way: what it is, and its records, each read when it is asked for."""

    about: About
    records: Iterator[Item | Skipped]


# ------------------------------------------------------------------------------------------------------------ texts


def collapse(text: str) -> str:
    """Runs of blanks as one, blank lines out, no blanks at the ends; line breaks stay."""
    return _BREAKS.sub("\n", _BLANKS.sub(" ", text)).strip()


def flowing(text: str) -> str:
    """All on one line."""
    return " ".join(text.split())


def summary(text: str) -> str:
    """The first sentence, at most 300 characters."""
    start, end = next(iter(split(text[: 4 * SUMMARY_LENGTH])), (0, 0))
    return text[start : min(end, start + SUMMARY_LENGTH)]


def section(
    path: str, text: str, section_class: SectionClass | None = None, *, pages: tuple[int, int] | None = None
) -> Section:
    """A section with its passages; its class is read off the heading unless it is given."""
    return Section(
        path=path,
        section_class=section_class or class_of(path),
        text=text,
        spans=cut(text),
        page_from=pages[0] if pages else None,
        page_to=pages[1] if pages else None,
    )


@cache
def _headings() -> tuple[dict[tuple[str, ...], SectionClass], int]:
    """Normed heading -> class, and the most words of one."""
    file = resources.files("core.retrieval").joinpath("resources", "headings.toml")
    rows = tomllib.loads(file.read_text("utf-8"))["guideline"]
    found = {norm(heading): row["class"] for row in rows for heading in row["headings"]}
    return found, max(map(len, found))


def class_of(path: str) -> SectionClass:
    """Class of a heading path ("Diagnosis > Tests"): of the innermost heading that is a known one, or holds one."""
    for heading in reversed(path.split(" > ")):
        words = norm(_NUMBER.sub("", heading.strip()))
        found, longest = _headings()
        if words in found:
            return found[words]
        for length in range(min(longest, len(words)), 0, -1):
            for first in range(len(words) - length + 1):
                if (known := found.get(words[first : first + length])) is not None and known != "other":
                    return known
    return "other"


# --------------------------------------------------------------------------------------------------------- surfaces


def surface(text: str, type: SurfaceType = "exact", *, lang: str = "en") -> Surface | None:
    """A name as it is looked for; None for one too short, of digits alone, or of more than 12 words."""
    shown = flowing(text)
    words = norm(shown)
    joined = " ".join(words)
    if len(joined) < SHORTEST_SURFACE or joined.replace(" ", "").isdigit() or len(words) > LONGEST_SURFACE:
        return None
    return Surface(shown, joined, "abbreviation" if is_abbreviation(shown) else type, lang)


def surfaces(names: Iterable[tuple[str, SurfaceType]], *, lang: str = "en") -> tuple[Surface, ...]:
    """Surfaces of several names, each norm once (an abbreviation beside a word of the same letters stays)."""
    found: dict[tuple[str, bool], Surface] = {}
    for text, type in names:
        made = surface(text, type, lang=lang)
        if made is not None:
            found.setdefault((made.norm, made.type == "abbreviation"), made)
    return tuple(found.values())


def slug(text: str) -> str:
    """Lower case letters and digits joined by hyphens."""
    return "-".join(norm(text))
