"""The ports: what the workflows need of models, tools and retrieval, without knowing who provides it. Pure types."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

from core.domain.action import CallTool, ToolResult
from core.domain.chat import Method, ModelReply, ModelRequest, Scores
from core.domain.condition import Condition, Rule
from core.domain.pack import BackboneInfo, EmbedderInfo
from core.domain.passage import CasePassage, Concept, Hit, Mention, Passage, Source
from core.domain.terminology import ConceptFound, DrugFound, Entity, NotFound

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OnDelta = Callable[[str], None]


class Backbone(Protocol):
    """A language model. All calls come from one thread."""

    @property
    def info(self) -> BackboneInfo: ...

    def reply(self, request: ModelRequest, on_delta: OnDelta) -> ModelReply: ...

    def sample(self, request: ModelRequest, n: int, on_delta: OnDelta) -> tuple[ModelReply, ...]: ...

    def score(
        self, request: ModelRequest, options: tuple[str, ...], *, method: Method, neutral: ModelRequest | None
    ) -> Scores: ...

    def forget_cases(self) -> None:
        """Drop everything kept of patients' texts and pictures (case closed, screen locked)."""
        ...

    def close(self) -> None: ...


class Embedder(Protocol):
    """Turns texts into vectors of unit length; a vector depends on its own text alone. All calls from one thread."""

    @property
    def info(self) -> EmbedderInfo: ...

    def count(self, text: str) -> int:
        """Pieces of a text."""
        ...

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of a text, float32[dim]: of its first window, if it is longer than one."""
        ...

    def embed_windows(self, text: str, *, most: int = 0) -> tuple[NDArray[np.float32], ...]:
        """A vector for each window of a text, at most `most` (0 = all)."""
        ...

    def close(self) -> None: ...


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A search for passages: whole text, problem list (fused when the text is long), filters by class and document."""

    text: str
    problems: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    docs: tuple[str, ...] = ()
    k: int = 5
    purpose: str = "passages"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a query: hits best first, their passages in the same order, the path taken, what was searched."""

    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...]
    path: str
    fingerprint: str


class Retriever(Protocol):
    """Search over the knowledge store."""

    def search(self, query: Query) -> Found: ...


class Shelves(Protocol):
    """Search over the packs of some kinds (`guideline`, `local`, `drug`, `literature`) alone."""

    def holds(self, kinds: tuple[str, ...]) -> bool:
        """Is a pack of one of these kinds installed and searched?"""
        ...

    def search_kinds(self, query: Query, kinds: tuple[str, ...]) -> Found: ...

    def remark(self, pack: str) -> str:
        """What a reader must know of a pack's edition (expired, superseded); "" where there is nothing."""
        ...


class Terminology(Protocol):
    """The names that the installed vocabularies know."""

    def holds_concepts(self) -> bool: ...

    def holds_drugs(self) -> bool: ...

    def concept(self, name: str) -> ConceptFound | NotFound: ...

    def drug(self, name: str) -> DrugFound | NotFound: ...

    def entities(self, text: str) -> tuple[Entity, ...]:
        """The names in a text, in order of position."""
        ...


class CaseSearch(Protocol):
    """Search over the documents of the open case."""

    def search(self, text: str, documents: tuple[str, ...], k: int) -> tuple[CasePassage, ...]:
        """The best k passages of the documents of these ids (none = all), best first."""
        ...


class Annotated(msgspec.Struct, frozen=True, kw_only=True):
    """A mention with its context."""

    mention: Mention
    polarity: str
    time: str
    who: str
    sentence: tuple[int, int]


class Knowledge(Protocol):
    """What the workflows know besides the case: concept table, conditions, rules. Immutable during a run."""

    @property
    def conditions(self) -> tuple[Condition, ...]: ...

    @property
    def rules(self) -> tuple[Rule, ...]: ...

    def source(self, key: str) -> Source | None: ...

    def concept(self, identifier: str) -> Concept | None: ...

    def ancestors(self, identifier: str) -> frozenset[str]:
        """The concept itself and everything above it."""
        ...

    def annotate(self, text: str) -> tuple[Annotated, ...]:
        """Concepts of a text with polarity, time and who, in order of position."""
        ...

    def lab_concepts(self, analyte: str, flag: str) -> tuple[str, ...]:
        """Concepts that a laboratory row of that analyte and flag stands for."""
        ...


class Tool(Protocol):
    """One function, one argument struct, one docstring (convention 4)."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def call(self, call: CallTool) -> ToolResult: ...
