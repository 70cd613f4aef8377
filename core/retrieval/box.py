"""What a person types into the search box: words, or the search language with its signs (knowledge.md section 3).

Words alone are searched like every query, with other names for what they name. Quotes, AND, OR, NOT, + and - are read
by Tantivy's lenient parser, here and nowhere else: no case text ever comes here. Vectors join in where they are asked
for: not at every key. Knows no window.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec
import tantivy

from core.domain.passage import Passage
from core.domain.ports import Query
from core.retrieval import editions
from core.retrieval.analysis import Terms, exact_analyzer, for_stem, normalised, stem_analyzer, terms
from core.retrieval.editions import Calendar
from core.retrieval.guidelines import OLD
from core.retrieval.hybrid import WORDS as WORDS_ALONE
from core.retrieval.hybrid import Asked, HybridSearch
from core.retrieval.index import BRANCH, PassageIndex
from core.retrieval.query import Branch, Filters, fuse
from core.retrieval.schema import PASSAGES, schema_fields
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Pack

DEFAULT_FIELDS = ["title", "body"]
NEAREST = 0.3  # least cosine of a passage found by vectors alone; what has nothing to do with the text is below .25
SHORTEST_PREFIX = 3  # letters of a word still being typed
MOST_DOCS = 3  # documents whose title or other names fit best
WORDS, TITLES, TYPED, PREFIX = "words", "title of the document", "as typed", "beginning of a word"
EVERYTHING = "Say a word to look for: everything alone, or only what to leave out, finds no passage in particular."
FIELD = "“{name}:” names a field of the index. The search box has none: leave the colon out, or put it in quotes."
_PHRASE = re.compile(r'(?:(?P<minus>(?<!\S)-|\bNOT\s+)|\+)?"(?P<words>[^"]*)"')
_FIELD = re.compile(r"(?<![\w.])([A-Za-z_]\w*):(?=\S)")
_SIGNS = re.compile(r'"|\b(?:AND|OR|NOT)\b|(?:^|\s)[+\-](?=\w|")|(?:^|\s)\*(?:\s|$)')
_LAST = re.compile(r"([^\W_]+)$")
_WORD = re.compile(r"[^\W_]+(?:[.\-/'][^\W_]+)*|[^\W_]")


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for, and where to look; empty = everywhere. `old`: superseded and expired editions too.

    `vectors`: by meaning too, where vectors are made.
    """

    text: str
    classes: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    old: bool = False
    vectors: bool = False
    k: int = 40


class BoxHit(msgspec.Struct, frozen=True, kw_only=True):
    """A passage with the ranks that each way of searching gave it.

    `spans`: half-open ranges of characters of its text that were looked for; `remark`: what to say of its edition.
    """

    passage: Passage
    score: float
    ranks: dict[str, int]
    spans: tuple[tuple[int, int], ...]
    state: str
    remark: str = ""


class BoxAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What was found, best first; `refused` says why nothing was looked for; `names` are other names also searched.

    `how`: by words alone, by words and vectors, or with vectors of a part of the collections.
    """

    wanted: Wanted
    hits: tuple[BoxHit, ...] = ()
    refused: str = ""
    names: tuple[str, ...] = ()
    how: str = WORDS_ALONE


class _Typed(NamedTuple):
    """The text in the parser's language; phrases that a passage must hold word by word, and such as it must not."""

    text: str
    phrases: tuple[tuple[str, ...], ...]
    unwanted: tuple[tuple[str, ...], ...]


PLAIN = _Typed("", (), ())


class SearchBox:
    """The search of one open store and index; use it in their thread. `documents`: ids that fit a text, best first."""

    def __init__(
        self,
        store: KnowledgeStore,
        index: PassageIndex,
        *,
        documents: Callable[[str], tuple[str, ...]],
        hybrid: HybridSearch,
        calendar: Calendar | None = None,
    ) -> None:
        self._store, self._index, self._calendar = store, index, calendar
        self._documents, self._hybrid = documents, hybrid

    def search(self, wanted: Wanted) -> BoxAnswer:
        """Passages for what was typed. Any text is answered, if only by a sentence why nothing is looked for.

        Raises:
            StoreError: the database or the index cannot be used.
        """
        if not wanted.text.strip():
            return BoxAnswer(wanted=wanted)
        if named := _named_field(wanted.text):
            return BoxAnswer(wanted=wanted, refused=FIELD.format(name=named))
        self._index.refresh()
        packs = {pack.id: pack for pack in self._store.packs()}
        filters = Filters(packs=self._scope(wanted, packs.values()), classes=wanted.classes)
        if not filters.packs:
            return BoxAnswer(wanted=wanted)
        if not _SIGNS.search(wanted.text):
            return self._by_words(wanted, self._hybrid.ask(Query(text=wanted.text)), filters, packs)
        return self._by_signs(wanted, terms(wanted.text), filters, packs)

    def _scope(self, wanted: Wanted, packs: Iterable[Pack]) -> tuple[str, ...]:
        """The packs to look in."""
        found = [
            pack.id
            for pack in packs
            if editions.is_searched(pack, self._calendar) or (wanted.old and pack.state in OLD)
        ]
        return tuple(pack for pack in found if not wanted.packs or pack in wanted.packs)

    def _by_words(self, wanted: Wanted, asked: Asked, filters: Filters, packs: dict[str, Pack]) -> BoxAnswer:
        expanded, how = asked.expanded, WORDS_ALONE
        branches = [Branch(WORDS, 1.0, self._index.branches(expanded, filters)[0].ranked)]
        if docs := self._documents(wanted.text)[:MOST_DOCS]:
            titled = msgspec.structs.replace(filters, docs=docs)
            branches.append(Branch(TITLES, 1.0, self._index.branches(expanded, titled)[0].ranked))
        start = _started(wanted.text)
        if start:
            ranked = self._index.typed(lambda index: _prefix(index, start), filters, k=BRANCH)
            branches += [Branch(PREFIX, 1.0, ranked)] if ranked else []
        if wanted.vectors:
            near, how = self._hybrid.by_vectors(asked, filters, least=NEAREST)
            branches += near
        hits = self._resolve(branches, wanted, _Marks(expanded, start), packs)
        return BoxAnswer(wanted=wanted, hits=hits, names=asked.names, how=how)

    def _by_signs(self, wanted: Wanted, asked: Terms, filters: Filters, packs: dict[str, Pack]) -> BoxAnswer:
        typed = _without_phrases(wanted.text)
        refused: list[str] = []

        def read(index: tantivy.Index) -> tantivy.Query | None:
            query, _faults = index.parse_query_lenient(for_stem(typed.text), DEFAULT_FIELDS)
            shown = repr(query)
            if "AllQuery" in shown:
                refused.append(EVERYTHING)
            return None if refused or shown == "Query(EmptyQuery)" else query

        ranked = self._index.typed(read, filters, k=BRANCH)
        if refused:
            return BoxAnswer(wanted=wanted, refused=refused[0])
        branches = [Branch(TYPED, 1.0, ranked)]
        if not ranked and not typed.phrases:  # signs that mean nothing to the parser: the words alone
            branches = [Branch(WORDS, 1.0, self._index.branches(asked, filters)[0].ranked)]
        marks = _Marks(terms(_without_excluded(wanted.text)), "")
        return BoxAnswer(wanted=wanted, hits=self._resolve(branches, wanted, marks, packs, typed))

    def _resolve(
        self,
        branches: Sequence[Branch],
        wanted: Wanted,
        marks: _Marks,
        packs: dict[str, Pack],
        typed: _Typed = PLAIN,
    ) -> tuple[BoxHit, ...]:
        """The best with their texts; a passage whose text is not what was imported is left out."""
        found = {hit.cid: hit for hit in fuse(branches)}
        order = list(found)[: BRANCH if typed.phrases or typed.unwanted else wanted.k]
        sound, _damaged = self._store.sound_passages(order)
        kept = [passage for passage in sound if _fits(passage, typed)][: wanted.k]
        return tuple(
            BoxHit(
                passage=passage,
                score=found[passage.cid].score,
                ranks=found[passage.cid].ranks,
                spans=marks.spans(passage.text),
                state=packs[passage.pack].state,
                remark=editions.remark(packs[passage.pack], tuple(packs.values()), self._calendar),
            )
            for passage in kept
            if passage.pack in packs
        )


# --------------------------------------------------------------------------------------------- reading what was typed


def _named_field(text: str) -> str:
    """A field of the index that is named outside quotes, other than the two that are searched; "" for none."""
    fields = schema_fields(PASSAGES)
    outside = _PHRASE.sub(" ", text)
    return next((name for name in _FIELD.findall(outside) if name in fields and name not in DEFAULT_FIELDS), "")


def _without_phrases(text: str) -> _Typed:
    """Quoted words each as one that must occur: the index keeps no positions, phrases are looked for in the texts.

    A phrase to leave out is only looked for there.
    """
    phrases: list[tuple[str, ...]] = []
    unwanted: list[tuple[str, ...]] = []

    def as_words(match: re.Match[str]) -> str:
        words = _plain_words(match["words"])
        (unwanted if match["minus"] else phrases).append(words)
        return f" ({' AND '.join(words)}) " if words and not match["minus"] else " "

    plain = _PHRASE.sub(as_words, text).replace('"', " ")
    return _Typed(plain, tuple(filter(None, phrases)), tuple(filter(None, unwanted)))


def _without_excluded(text: str) -> str:
    """The text without what is to be left out: that is never marked."""
    return re.sub(r'(?:\bNOT\s+|(?<!\S)-)(?:"[^"]*"|\S+)', " ", text)


def _plain_words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in re.findall(r"[^\W_]+", normalised(text)))


def _fits(passage: Passage, typed: _Typed) -> bool:
    """Whether title, heading and text hold each phrase word by word, and none that is not wanted."""
    if not typed.phrases and not typed.unwanted:
        return True
    words = f" {' '.join(_plain_words(f'{passage.title} | {passage.section} | {passage.text}'))} "
    held = [f" {' '.join(phrase)} " in words for phrase in typed.phrases]
    return all(held) and not any(f" {' '.join(phrase)} " in words for phrase in typed.unwanted)


def _started(text: str) -> str:
    """The word still being typed: the last one, as the index would begin it; "" after a blank or for a short one."""
    match = _LAST.search(text)
    folded = unicodedata.normalize("NFKD", for_stem(match[1])) if match else ""
    plain = "".join(letter for letter in folded if not unicodedata.combining(letter)).lower()
    return plain if len(plain) >= SHORTEST_PREFIX and plain.isalnum() else ""


def _prefix(index: tantivy.Index, start: str) -> tantivy.Query | None:
    """Words that begin so, where no whole word of the index is meant."""
    searcher = index.searcher()
    stems = stem_analyzer().analyze(start)
    if any(searcher.doc_freq(field, stem) for field in DEFAULT_FIELDS for stem in stems):
        return None
    parts = [tantivy.Query.regex_query(index.schema, field, f"{start}.*") for field in DEFAULT_FIELDS]
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, part) for part in parts])


class _Marks:
    """Which words of a text were looked for."""

    def __init__(self, wanted: Terms, start: str) -> None:
        self._exact = {term for term, _ in wanted.exact}
        parts = {stem for term in self._exact for stem in stem_analyzer().analyze(term) if stem.isdigit()}
        self._stems = {term for term, _ in wanted.stem} - parts | set(wanted.synonyms)  # of "e87.5" no single 5
        self._start = start
        self._known: dict[str, bool] = {}

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Half-open ranges of characters, in order, neighbours not joined."""
        return tuple(span for match in _WORD.finditer(text) for span in self._in_word(match))

    def _in_word(self, match: re.Match[str]) -> Iterable[tuple[int, int]]:
        """A word as a whole where it was looked for as written ("il-6"), else its parts."""
        whole = match.group()
        if self._is_exact(whole):
            return ((match.start(), match.end()),)
        parts = re.finditer(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\W_]+", whole)
        return (
            (match.start() + part.start(), match.start() + part.end()) for part in parts if self._is_meant(part.group())
        )

    def _is_exact(self, word: str) -> bool:
        found = exact_analyzer().analyze(normalised(word))
        return len(word) > 1 and len(found) == 1 and found[0] in self._exact

    def _is_meant(self, word: str) -> bool:
        if word not in self._known:
            stems = stem_analyzer().analyze(for_stem(word))
            begun = bool(self._start) and any(stem.startswith(self._start) for stem in stems)
            exact = exact_analyzer().analyze(normalised(word))
            self._known[word] = begun or not self._stems.isdisjoint(stems) or not self._exact.isdisjoint(exact)
        return self._known[word]
