"""The dictionary of all installed vocabularies: what a text names, with the concepts that bear the name.

For lookup, synonyms and the entity tools (knowledge.md section 9); `direct` perceives findings by the starter's
concepts alone (`core.retrieval.concepts`). Hashes of whole norms, longest first. It must not know context, cases or a
store.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import msgspec

from core.domain.passage import Concept, ConceptKind, Mention
from core.domain.terminology import Entity
from core.retrieval.abbreviations import Ambiguous
from core.retrieval.terms import Word, is_abbreviation, norm, singular, words
from core.store.knowledge_values import Named, SurfaceType

RANKS = {vocab: rank for rank, vocab in enumerate(("MSH", "ICD10CM", "DOID", "HP", "UMLS", "WR"))}
MATCHED: tuple[SurfaceType, ...] = ("exact", "narrow")
UNMATCHED: tuple[ConceptKind, ...] = ("other",)
# What may lie between two words of a name; commas, brackets and full stops end it.
_GAP = re.compile(r"[\s\-\u2010-\u2015\u2212'\u2019/]*")
_JOINTS = frozenset(["and", "or"])
_SHORT = re.compile(r"\s?\(\s?([A-Z][A-Za-z0-9]*(?: ?- ?[A-Z0-9][A-Za-z0-9]*)?)\s?[);,]")
_LONGEST_SHORT = 8  # characters
# Words before a disease that make it a form of itself: the name runs from there.
FORMS = frozenset(
    [
        "hereditary",
        "inherited",
        "familial",
        "sporadic",
        "congenital",
        "classical",
        "recurrent",
        "metastatic",
        "advanced",
    ]
    + ["juvenile", "infantile", "neonatal"]
)


class _Entry(NamedTuple):
    concept: str
    kind: ConceptKind
    concepts: tuple[str, ...]


class _Span(NamedTuple):
    first: int  # word indices, half-open
    last: int
    entry: _Entry


class WordLists(msgspec.Struct, frozen=True):
    """TOML texts of the resource files: everyday words that are never a name, and the abbreviations that count."""

    stopwords: str
    abbreviations: str


class Dictionary:
    """Immutable after construction. `links` are pairs of concept ids that are one (xrefs to UMLS and MeSH).

    `starter` are our own concepts beside the vocabularies; `ancestors` gives one of them and all above it.
    """

    def __init__(
        self,
        names: Iterable[Named],
        lists: WordLists,
        *,
        links: Iterable[tuple[str, str]] = (),
        starter: Iterable[Concept] = (),
        ancestors: Callable[[str], frozenset[str]] = lambda concept: frozenset({concept}),
    ) -> None:
        stop = {" ".join(norm(text)) for text in tomllib.loads(lists.stopwords)["surfaces"]}
        self._listed = {row["text"]: row for row in tomllib.loads(lists.abbreviations)["abbreviation"]}
        built = _Building(links)
        built.add((name for name in names if name.norm not in stop), self._listed)
        built.add((name for name in _starter_names(starter) if name.norm not in stop), self._listed)
        self._entries, self._short = built.entries()
        self._lengths = _lengths(self._entries)
        self._add_expansions()
        self._ambiguous = Ambiguous(lists.abbreviations, ancestors)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, text: str) -> tuple[Entity, ...]:
        """The names in order of position; none overlap: the one of more words wins, then the leftmost.

        "breast and ovarian cancer" is one name that stands for both; an abbreviation that the text explains in brackets
        behind a name is that name wherever it stands in the text.
        """
        tokens = words(text)
        chosen = _apart(self._spans(text, tokens))
        found = [_entity(tokens, span) for span in self._widened(text, tokens, chosen)]
        found += _explained(text, found)
        found.sort(key=lambda entity: (entity.start, entity.start - entity.end))
        return self._settled(text, [entity for entity, before in _with_before(found) if entity.start >= before])

    def entry(self, name: str) -> tuple[str, ...]:
        """All concepts that bear exactly this name, the canonical one first; none if there is none."""
        entry = self._entries.get(" ".join(norm(name)))
        return entry.concepts if entry else ()

    # ------------------------------------------------------------------------------------------------- inside

    def _spans(self, text: str, tokens: Sequence[Word]) -> Iterator[_Span]:
        norms = [word.norm for word in tokens]
        for first, word in enumerate(tokens):
            if word.raw in self._short:
                yield _Span(first, first + 1, self._short[word.raw])
            whole = singular(word.norm)
            for start in (word.norm,) if whole == word.norm else (word.norm, whole):
                for length in self._lengths.get(start, ()):
                    entry = self._at(start, norms[first + 1 : first + length], length)
                    if entry is not None and _one_piece(text, tokens[first : first + length]):
                        yield _Span(first, first + length, entry)
                        break

    def _at(self, start: str, rest: Sequence[str], length: int) -> _Entry | None:
        """The entry of exactly these words, the last one perhaps in the plural."""
        if not rest:
            return self._entries.get(start) if length == 1 else None
        if len(rest) + 1 < length:
            return None
        entry = self._entries.get(" ".join((start, *rest)))
        if entry is None and rest[-1].endswith("s"):
            entry = self._entries.get(" ".join((start, *rest[:-1], singular(rest[-1]))))
        return entry

    def _widened(self, text: str, tokens: Sequence[Word], spans: Sequence[_Span]) -> Iterator[_Span]:
        """Names with what belongs to them on their left: the other half of a pair, a word for the form of a disease."""
        edge = 0
        for span in spans:
            wider = self._paired(text, tokens, span, edge)
            first = wider.first
            if wider.entry.kind == "disease" and first > edge and tokens[first - 1].norm in FORMS:
                wider = wider._replace(first=first - 1) if _one_piece(text, tokens[first - 1 : first + 1]) else wider
            yield wider
            edge = wider.last

    def _paired(self, text: str, tokens: Sequence[Word], span: _Span, edge: int) -> _Span:
        """ "breast and ovarian cancer": the word before the joint, with the last word of the name, is a name too."""
        joint = span.first - 1
        while joint > edge and tokens[joint].norm in _JOINTS:
            joint -= 1
        has_joint = joint < span.first - 1 or (
            joint >= edge and "/" in text[tokens[joint].end : tokens[joint + 1].start]
        )
        if span.last - span.first < 2 or joint < edge or not has_joint:
            return span
        head = singular(tokens[span.last - 1].norm)
        other = self._entries.get(f"{tokens[joint].norm} {head}")
        if other is None or not _one_piece(text, tokens[joint : span.last]):
            return span
        concepts = tuple(dict.fromkeys((*span.entry.concepts, *other.concepts)))
        return _Span(joint, span.last, span.entry._replace(concepts=concepts))

    def _settled(self, text: str, found: Sequence[Entity]) -> tuple[Entity, ...]:
        """Without ambiguous abbreviations that no concept of their field near by speaks for."""
        own = [next((c for c in entity.concepts if c.startswith("WR:")), entity.concept) for entity in found]
        marks = [Mention(c, entity.start, entity.end) for c, entity in zip(own, found, strict=True)]
        kept = {(mention.start, mention.end) for mention in self._ambiguous.settle(text, marks)}
        return tuple(entity for entity in found if (entity.start, entity.end) in kept)

    def _add_expansions(self) -> None:
        """Listed abbreviations that no vocabulary writes stand for what they are short for."""
        for short, row in self._listed.items():
            entry = self._entries.get(" ".join(norm(row["expansion"])))
            if entry is not None:
                self._short.setdefault(short, entry)


class _Building:
    """Collects the bearers of every norm; concepts that are linked to one number are one."""

    def __init__(self, links: Iterable[tuple[str, str]]) -> None:
        self._group: dict[str, str] = {}
        for concept, number in links:
            self._group.setdefault(concept, self._group.get(number, number))
            self._group.setdefault(number, number)
        self._members: dict[str, list[str]] = {}
        for concept, number in self._group.items():
            self._members.setdefault(number, []).append(concept)
        self._kinds: dict[str, ConceptKind] = {}
        self._norms: dict[str, list[str]] = {}
        self._shorts: dict[str, list[str]] = {}

    def add(self, names: Iterable[Named], listed: Mapping[str, object]) -> None:
        for name in names:
            if name.kind in UNMATCHED:
                continue
            self._kinds.setdefault(name.concept, name.kind)
            if name.type == "abbreviation" or is_abbreviation(name.text):
                if name.text in listed:
                    self._shorts.setdefault(name.text, []).append(name.concept)
            elif name.type in MATCHED:
                self._norms.setdefault(name.norm, []).append(name.concept)

    def entries(self) -> tuple[dict[str, _Entry], dict[str, _Entry]]:
        made: dict[tuple[str, ...], _Entry] = {}
        return (
            {key: self._entry(tuple(bearers), made) for key, bearers in self._norms.items()},
            {key: self._entry(tuple(bearers), made) for key, bearers in self._shorts.items()},
        )

    def _entry(self, bearers: tuple[str, ...], made: dict[tuple[str, ...], _Entry]) -> _Entry:
        if bearers not in made:
            linked = (other for bearer in bearers for other in self._members.get(self._group.get(bearer, ""), ()))
            known = dict.fromkeys((*bearers, *(other for other in linked if other in self._kinds)))
            ranked = tuple(sorted(known, key=_rank))
            made[bearers] = _Entry(ranked[0], self._kinds[ranked[0]], ranked)
        return made[bearers]


def _rank(concept: str) -> int:
    return RANKS.get(concept.partition(":")[0], len(RANKS))


def _starter_names(concepts: Iterable[Concept]) -> Iterator[Named]:
    for concept in concepts:
        for text in (concept.name, *concept.surfaces):
            yield Named(
                concept=concept.id, vocab="WR", kind=concept.kind, text=text, norm=" ".join(norm(text)), type="exact"
            )


def _lengths(entries: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """First word -> numbers of words of the names that begin with it, longest first."""
    found: dict[str, set[int]] = {}
    for key in entries:
        first, _, rest = key.partition(" ")
        found.setdefault(first, set()).add(rest.count(" ") + 2 if rest else 1)
    shared: dict[tuple[int, ...], tuple[int, ...]] = {}
    ordered = ((first, tuple(sorted(lengths, reverse=True))) for first, lengths in found.items())
    return {first: shared.setdefault(lengths, lengths) for first, lengths in ordered}


def _one_piece(text: str, tokens: Sequence[Word]) -> bool:
    return all(
        text[a.end : b.start] == " " or _GAP.fullmatch(text, a.end, b.start) is not None for a, b in pairwise(tokens)
    )


def _apart(spans: Iterable[_Span]) -> list[_Span]:
    """Spans that do not overlap, in order: more words first, then the leftmost."""
    taken: set[int] = set()
    chosen: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.first - span.last, span.first)):
        places = range(span.first, span.last)
        if taken.isdisjoint(places):
            taken.update(places)
            chosen.append(span)
    return sorted(chosen)


def _entity(tokens: Sequence[Word], span: _Span) -> Entity:
    start, end = tokens[span.first].start, tokens[span.last - 1].end
    return Entity(start, end, span.entry.concept, span.entry.kind, span.entry.concepts)


def _explained(text: str, found: Sequence[Entity]) -> list[Entity]:
    """Abbreviations in brackets behind a name whose letters they take in order, wherever they stand."""
    made: list[Entity] = []
    for entity in found:
        match = _SHORT.match(text, entity.end)
        if match is None or len(match.group(1)) > _LONGEST_SHORT or not _shortens(match.group(1), text, entity):
            continue
        pattern = re.compile(rf"(?<!\w){re.escape(match.group(1))}(?!\w)")
        made += [
            Entity(place.start(), place.end(), entity.concept, entity.kind, entity.concepts)
            for place in pattern.finditer(text)
        ]
    return made


def _shortens(short: str, text: str, entity: Entity) -> bool:
    letters = [letter.lower() for letter in short if letter.isalpha()]
    name = text[entity.start : entity.end].lower()
    rest = iter(name)
    return len(letters) >= 2 and name.startswith(letters[0]) and all(letter in rest for letter in letters)


def _with_before(found: Sequence[Entity]) -> Iterator[tuple[Entity, int]]:
    """Each name with the end of the last one before it that was let through."""
    edge = 0
    for entity in found:
        yield entity, edge
        edge = max(edge, entity.end) if entity.start >= edge else edge
