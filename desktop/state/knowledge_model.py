"""Passages found and collections as item models, and how they are put into words. Knows no widget and no store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from desktop.i18n import tr
from desktop.state.knowledge_reader import Collection

if TYPE_CHECKING:  # the search itself is loaded beside the window's thread
    from core.domain.terminology import ConceptFound, DrugFound
    from core.retrieval.box import BoxAnswer, BoxHit

Index = QModelIndex | QPersistentModelIndex
HIT = int(Qt.ItemDataRole.UserRole) + 1
COLLECTION = int(Qt.ItemDataRole.UserRole) + 2
WORDS, PARTLY = "words alone", "words, vectors in part"  # of core.retrieval.hybrid, which is loaded elsewhere
SNIPPET = 150  # characters
CLASSES = (
    "overview", "symptoms", "causes", "tests", "criteria", "severity", "treatment", "prevention", "complications",
    "followup", "other",
)  # fmt: skip
STATES = {  # state -> icon, tone, words
    "draft": ("note", "serious", "draft: not searched before it is approved"),
    "active": ("check", "good", "in use"),
    "superseded": ("clock", "critical", "superseded"),
    "expired": ("clock", "serious", "expired"),
    "withdrawn": ("stop", "muted", "retired"),
    "quarantined": ("warning", "critical", "damaged, set aside"),
}
KINDS = {
    "guideline": "Guidelines",
    "literature": "Literature",
    "vocabulary": "Vocabulary",
    "drug": "Drugs",
    "local": "Local guideline",
}
NO_VOCABULARY = (
    "No vocabulary is installed. Add one under Collections: ICD-10-CM, MeSH, HPO, Disease Ontology (.obo), a table of "
    "your own (.csv), or drug labels."
)
_ROOT = QModelIndex()
T = TypeVar("T")


class Snippet(msgspec.Struct, frozen=True):
    """A short part of a passage with the ranges that are marked in it."""

    text: str
    spans: tuple[tuple[int, int], ...]


class _Rows(QAbstractListModel, Generic[T]):
    """Values in a list; `spoken` is what a screen reader says of one."""

    def __init__(self, role: int, spoken: Callable[[T], str], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._role, self._spoken = role, spoken
        self.rows: tuple[T, ...] = ()

    def show(self, rows: tuple[T, ...]) -> None:
        """Replace what is listed."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> Any:
        row = self.rows[index.row()]
        if role == self._role:
            return row
        texts = (int(Qt.ItemDataRole.DisplayRole), int(Qt.ItemDataRole.AccessibleTextRole))
        return self._spoken(row) if role in texts else None


class ResultList(_Rows["BoxHit"]):
    """One row a passage, best first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(HIT, hit_words, parent)


class CollectionList(_Rows[Collection]):
    """One row a pack."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLLECTION, lambda pack: f"{pack.title}, {collection_line(pack)}", parent)

    def find(self, pack_id: str) -> QModelIndex:
        """The row of a pack; an invalid one where it is not listed."""
        return self.index(next((n for n, pack in enumerate(self.rows) if pack.id == pack_id), -1))


# ---------------------------------------------------------------------------------------------------------- passages


def snippet(hit: BoxHit, length: int = SNIPPET) -> Snippet:
    """The part of a passage that holds most of what was looked for, in one line."""
    text = hit.passage.text
    start = _best_start(hit.spans, length)
    start = max(0, min(start, len(text) - length))
    if start:
        start = text.find(" ", start, start + 20) + 1 or start
    part = text[start : start + length].replace("\n", " ")
    before, after = "… " if start else "", " …" if start + length < len(text) else ""
    shift = len(before) - start
    inside = (span for span in hit.spans if span[0] >= start and span[1] <= start + len(part))
    return Snippet(f"{before}{part}{after}", tuple((a + shift, b + shift) for a, b in inside))


def _best_start(spans: tuple[tuple[int, int], ...], length: int) -> int:
    """Where the window with most marks begins, a little before its first mark."""
    if not spans:
        return 0
    count = {a: sum(1 for b, end in spans if a <= b and end <= a + length) for a, _ in spans}
    return max(0, max(count, key=lambda a: (count[a], -a)) - 20)


def hit_words(hit: BoxHit) -> str:
    """What a screen reader says of a passage."""
    return ". ".join((hit.passage.title, hit.passage.section, snippet(hit).text, origin(hit)))


def origin(hit: BoxHit) -> str:
    """Review state, pack, edition, licence in one line."""
    passage = hit.passage
    parts = (tr(passage.review_status).capitalize(), passage.pack_title, passage.edition, passage.licence)
    return " · ".join(part for part in parts if part)


def why(answer: BoxAnswer, hit: BoxHit) -> tuple[str, ...]:
    """Why this passage was found: its rank by each way of searching, the words, other names."""
    ranks = [tr("{way}: rank {n}", way=tr(name.capitalize()), n=rank) for name, rank in hit.ranks.items()]
    words = dict.fromkeys(hit.passage.text[a:b].casefold() for a, b in hit.spans)
    lines = ["; ".join(ranks)]
    lines.append(
        tr("Words found in it: {words}", words=", ".join(words)) if words else tr("The words stand in its title.")
    )
    if answer.names:
        lines.append(tr("Other names that were looked for too: {names}", names=", ".join(answer.names)))
    lines.append(how_words(answer))
    return tuple(lines)


def how_words(answer: BoxAnswer) -> str:
    """By what was searched, in one sentence."""
    if answer.how == WORDS:
        return tr("Searched by words.")
    if answer.how == PARTLY:
        return tr("Searched by words, and by meaning in the collections whose vectors are made.")
    return tr("Searched by words and by meaning.")


def found_words(answer: BoxAnswer) -> str:
    """What the search came to, in one sentence."""
    if answer.refused:
        return answer.refused
    if not answer.wanted.text.strip():
        return tr("Type words, or “a phrase”; AND, OR, NOT and a minus before a word narrow the search.")
    if not answer.hits:
        where = tr(" with these filters") if answer.wanted.classes or answer.wanted.packs else ""
        return tr("No passage holds this{where}. Try fewer or other words.", where=where)
    many = len(answer.hits) >= answer.wanted.k
    count = len(answer.hits)
    found = (
        tr("The {n} best passages", n=count) if many else tr("{n} passages", n=count) if count > 1 else tr("1 passage")
    )
    return f"{found} · {how_words(answer)}"


# ------------------------------------------------------------------------------------------------------- collections


def state_words(state: str) -> tuple[str, str, str]:
    """Icon, tone, words of a pack's state."""
    icon, tone, words = STATES.get(state, ("dot", "muted", state))
    return icon, tone, tr(words)


def counts(pack: Collection) -> str:
    """How much a pack holds."""
    named = ((pack.docs, "document"), (pack.passages, "passage"), (pack.concepts, "concept"))
    return ", ".join(f"{n:,} {word if n == 1 else word + 's'}" for n, word in named if n) or tr("empty")


def collection_line(pack: Collection) -> str:
    """State, edition and size in one line."""
    return " · ".join(part for part in (state_words(pack.state)[2], pack.edition, counts(pack)) if part)


def collection_facts(pack: Collection) -> tuple[str, ...]:
    """All that is known of a pack, a line each."""
    named = (
        ("Kind", tr(KINDS.get(pack.kind, pack.kind))),
        ("Edition", pack.edition),
        ("Publisher", pack.publisher),
        ("Where it holds", pack.jurisdiction),
        ("Language", pack.lang),
        ("Issued", pack.issued_on),
        ("Holds until", pack.expires_on),
        ("Licence", pack.licence),
        ("Added", _by(pack.added_by, pack.added_at)),
        ("Approved", _by(pack.approved_by, pack.approved_at)),
        ("Replaces", pack.replaces),
        ("Source", pack.source_url),
    )
    lines = [f"{tr(name)}: {value}" for name, value in named if value]
    return (*lines, counts(pack))


def _by(who: str, at: str) -> str:
    return tr("{day} by {who}", day=at[:10], who=who) if who else ""


# ------------------------------------------------------------------------------------------------------------- terms


def concept_lines(found: ConceptFound) -> tuple[tuple[str, str], ...]:
    """What is told of a concept: heading and text."""
    relations = "\n".join(f"{related.rel.replace('_', ' ')}: {related.name}" for related in found.relations)
    source = " ".join(part for part in (found.source, found.version) if part)
    named = (
        (
            "Definition",
            f"{found.definition} ({found.def_source})" if found.definition else tr("none in this vocabulary"),
        ),
        ("Other names", ", ".join(found.synonyms)),
        ("Related", relations),
        ("The same in other vocabularies", ", ".join(found.others)),
        ("Source", source),
    )
    return tuple((tr(name), value) for name, value in named if value)


def drug_lines(found: DrugFound) -> tuple[tuple[str, str], ...]:
    """What is told of a drug: heading and text."""
    drug = found.drug
    named = (
        ("Description", drug.description),
        ("Indication", drug.indication),
        ("Dosage", "\n".join(drug.dosage)),
        ("Contraindication", drug.contraindication),
        ("Interaction", drug.interaction),
        ("Other names", ", ".join(found.synonyms)),
        ("Source", " ".join(part for part in (found.source, found.version) if part)),
    )
    return tuple((tr(name), value) for name, value in named if value)
