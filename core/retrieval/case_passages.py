"""Passages of the documents of one case: cut, indexed and searched as those of the knowledge, in memory only.

Nothing of a case is ever written to an index on disk (knowledge.md section 1). The index is made at the first search
and lives as long as the object. It must not know a store or other cases.
"""

from __future__ import annotations

from collections.abc import Sequence

import tantivy

from core.domain.case import Note
from core.domain.passage import CasePassage
from core.retrieval import schema
from core.retrieval.analysis import register, terms
from core.retrieval.chunk import cut
from core.retrieval.index import best
from core.retrieval.query import PASSAGE_BOOSTS, Filters, boolean, clauses
from core.retrieval.schema import PASSAGES
from core.retrieval.synonyms import LONGEST, Synonyms, expand
from core.store.knowledge_values import ChunkEntry

HEAP = 15_000_000  # bytes, one thread: the least that Tantivy takes


class CasePassages:
    """Implements `core.domain.ports.CaseSearch` over the notes of a case."""

    def __init__(self, notes: Sequence[Note], *, synonyms: Synonyms | None = None) -> None:
        self._notes = tuple(notes)
        self._synonyms = synonyms
        self._places: list[tuple[Note, int, int]] = []  # by number of the passage
        self._index: tantivy.Index | None = None

    def search(self, text: str, documents: tuple[str, ...], k: int) -> tuple[CasePassage, ...]:
        """The best k passages by BM25, ties by place; none where no word of the text occurs. `documents` () = all."""
        index = self._index = self._index or self._build()
        searcher = index.searcher()
        wanted = terms(text)
        if self._synonyms and wanted.distinct <= LONGEST:
            wanted = expand(wanted, self._synonyms.names(text))
        known = clauses(wanted, searcher.doc_freq, searcher.num_docs, fields=PASSAGE_BOOSTS)
        if not known or k < 1:
            return ()
        query = boolean(index.schema, known, Filters(docs=documents))
        return tuple(self._passage(number, score) for number, score in best(searcher, query, k))

    def _passage(self, number: int, score: float) -> CasePassage:
        note, start, end = self._places[number]
        return CasePassage(document=note.id, start=start, end=end, text=note.text[start:end], score=score)

    def _build(self) -> tantivy.Index:
        index = tantivy.Index(schema.schema(PASSAGES))
        index.config_reader("manual")
        register(index)
        writer = index.writer(HEAP, 1)
        for note in self._notes:
            for span in cut(note.text):
                writer.add_document(schema.chunk_document(_entry(note, len(self._places), span.start, span.end)))
                self._places.append((note, span.start, span.end))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return index


def _entry(note: Note, number: int, start: int, end: int) -> ChunkEntry:
    return ChunkEntry(
        cid=number,
        key=f"{note.id}#{number}",
        doc=note.id,
        pack="case",
        source=note.source,
        lang="en",
        section_class="other",
        concepts=(),
        year=0,
        title=note.title,
        text=note.text[start:end],
    )
