"""What the starter set knows, behind the port `Knowledge`: concepts, conditions, rules, and concepts found in a text.

Built from TOML texts; immutable. It must not know the store, a case or a run.
"""

from __future__ import annotations

import sys
import tomllib
from bisect import bisect_right
from collections import defaultdict
from importlib import resources

import msgspec

from core.domain.condition import Condition, Rule
from core.domain.passage import Concept, Mention, Source
from core.domain.ports import Annotated
from core.retrieval import cues
from core.retrieval.abbreviations import Ambiguous
from core.retrieval.concepts import Matcher
from core.retrieval.context import Annotator, Context
from core.retrieval.sentences import split
from core.retrieval.sources import starter
from core.retrieval.sources.starter import StarterSet
from core.retrieval.terms import norm

WORD_LISTS = ("context", "narration", "abbreviations")


class StarterKnowledge:
    """Implements `core.domain.ports.Knowledge`.

    `context`, `narration` and `abbreviations` are the texts of the word lists of those names (retrieval/resources).
    """

    def __init__(self, content: StarterSet, *, context: str, narration: str, abbreviations: str = "") -> None:
        self._content = content
        self._lists = {"context": context, "narration": narration, "abbreviations": abbreviations}
        self._concepts = {concept.id: concept for concept in content.concepts}
        self._above = closure(content.concepts)
        self._matcher = Matcher(content.concepts)
        self._ambiguous = Ambiguous(abbreviations, self.ancestors)
        self._annotator = Annotator(cues.table(context, narration))
        words = tomllib.loads(narration)
        self._lasting = frozenset(words.get("lasting", ()))
        self._lasting_triggers = frozenset(
            " ".join(norm(text)) for text in (*words.get("lasting_triggers", ()), "year")
        )
        self._labs: dict[tuple[str, str], list[str]] = defaultdict(list)
        for concept in content.concepts:
            for row in concept.lab.split():
                analyte, _, flag = row.partition(":")
                self._labs[analyte, flag].append(concept.id)
        self._sources: dict[str, Source] = {}
        for source in (*content.sources, *(s for condition in content.conditions for s in condition.sources)):
            self._sources.setdefault(source.key, source)

    def extended(self, conditions: tuple[Condition, ...], concepts: tuple[Concept, ...]) -> StarterKnowledge:
        """This knowledge and more of it; a name that both claim stays with this one."""
        return StarterKnowledge(
            msgspec.structs.replace(
                self._content,
                conditions=(*self._content.conditions, *conditions),
                concepts=(*self._content.concepts, *concepts),
            ),
            **self._lists,
        )

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self._content.conditions

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of no single condition, then those of the conditions."""
        return (*self._content.rules, *(rule for condition in self.conditions for rule in condition.rules))

    def source(self, key: str) -> Source | None:
        """The source of that key, from whichever file names it."""
        return self._sources.get(key)

    def concept(self, identifier: str) -> Concept | None:
        """The concept of that id."""
        return self._concepts.get(identifier)

    def ancestors(self, identifier: str) -> frozenset[str]:
        """The concept itself and everything above it."""
        return self._above.get(identifier, frozenset({identifier}))

    def lab_concepts(self, analyte: str, flag: str) -> tuple[str, ...]:
        """Concepts that a row of that analyte stands for when its flag is "low", "high" or "normal"."""
        return tuple(self._labs.get((analyte, flag), ()))

    def annotate(self, text: str) -> tuple[Annotated, ...]:
        """Concepts of a text with polarity, time and who, in order of position."""
        sentences = split(text)
        mentions = [mention for mention in self._matcher.find(text) if _inside(mention, sentences)]
        mentions = self._ambiguous.settle(text, self._ambiguous.explain(text, mentions))
        spans = [(mention.start, mention.end) for mention in mentions]
        contexts = self._annotator.annotate(text, sentences, spans)
        return tuple(
            Annotated(
                mention=mention,
                polarity=context.polarity,
                time="current" if self._lasts(mention.concept, context) else context.time,
                who=context.who,
                sentence=context.sentence,
            )
            for mention, context in zip(mentions, contexts, strict=True)
        )

    def context(self, text: str, spans: tuple[tuple[int, int], ...]) -> tuple[Context, ...]:
        """Polarity, time and who of given spans (half-open, in order of position, each inside one sentence)."""
        return self._annotator.annotate(text, split(text), spans)

    def _lasts(self, concept: str, context: Context) -> bool:
        """A chronic disease told as history is still there: "history of asthma", "diabetes 2012"."""
        if context.time != "past" or context.trigger not in self._lasting_triggers:
            return False
        return not self._lasting.isdisjoint(self.ancestors(concept))


def packaged() -> StarterKnowledge:
    """The knowledge that ships with the program."""
    folder = resources.files("core.retrieval").joinpath("resources")
    lists = {name: folder.joinpath(f"{name}.toml").read_text("utf-8") for name in WORD_LISTS}
    return StarterKnowledge(starter.packaged(), **lists)


def _inside(mention: Mention, sentences: tuple[tuple[int, int], ...]) -> bool:
    """Whether a mention lies in one sentence (they are in order)."""
    index = bisect_right(sentences, (mention.start, sys.maxsize)) - 1
    return index >= 0 and mention.end <= sentences[index][1]


def closure(concepts: tuple[Concept, ...]) -> dict[str, frozenset[str]]:
    """Concept id -> itself and all above; a circle of parents ends where it closes."""
    parents = {concept.id: concept.parents for concept in concepts}
    above: dict[str, frozenset[str]] = {}
    for concept in concepts:
        seen: set[str] = set()
        waiting = [concept.id]
        while waiting:
            current = waiting.pop()
            if current not in seen:
                seen.add(current)
                waiting += parents.get(current, ())
        above[concept.id] = frozenset(seen)
    return above
