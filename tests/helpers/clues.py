"""Small conditions, findings and a concept table of our own, for tests of weighing by hand calculation."""

from __future__ import annotations

import msgspec

from core.domain.condition import Clue, Condition, Rule
from core.domain.evidence import Finding, Provenance
from core.domain.passage import Concept, Mention, Source
from core.domain.ports import Annotated
from core.runtime.ledger import Ledger, Patient
from core.settings import Weighing

WEIGHTS = Weighing()
PLACE = Provenance(kind="document", reference="n1", sha256="0" * 64, label="note", start=0, end=1)


class SmallKnowledge:
    """A concept table of our own: parents by id, laboratory rows by id; a text names the ids in it, as present."""

    def __init__(
        self,
        parents: dict[str, tuple[str, ...]] | None = None,
        labs: dict[str, str] | None = None,
        conditions: tuple[Condition, ...] = (),
    ) -> None:
        self.parents = parents or {}
        self.labs = labs or {}
        self.conditions = conditions
        self.rules: tuple[Rule, ...] = ()

    def source(self, key: str) -> Source | None:
        return None

    def concept(self, identifier: str) -> Concept | None:
        name = identifier.removeprefix("WR:").replace("-", " ").capitalize()
        return Concept(id=identifier, name=name, kind="finding", lab=self.labs.get(identifier, ""))

    def ancestors(self, identifier: str) -> frozenset[str]:
        found = {identifier}
        for parent in self.parents.get(identifier, ()):
            found |= self.ancestors(parent)
        return frozenset(found)

    def annotate(self, text: str) -> tuple[Annotated, ...]:
        places = [(text.find(word), word) for word in text.split() if word.startswith("WR:")]
        return tuple(
            Annotated(
                mention=Mention(word, start, start + len(word)),
                polarity="present",
                time="current",
                who="patient",
                sentence=(0, len(text)),
            )
            for start, word in places
        )

    def lab_concepts(self, analyte: str, flag: str) -> tuple[str, ...]:
        return ()


KNOWLEDGE = SmallKnowledge({"WR:left-leg-swelling": ("WR:leg-swelling",)})


def finding(concept: str, polarity: str = "present", **more: object) -> Finding:
    made = Finding(id=f"f-{concept}-{polarity}", concept=concept, name=concept, provenance=PLACE, extractor="test")
    return msgspec.structs.replace(made, polarity=polarity, **more)


def clue(concept: str, strength: str, **more: object) -> Clue:
    made = Clue(concept=concept, strength=strength, obtain="history", citation="x")  # type: ignore[arg-type]
    return msgspec.structs.replace(made, **more)


def condition(slug: str, *clues: Clue, **more: object) -> Condition:
    made = Condition(slug=slug, title=slug.title(), concept=f"WR:{slug}", clues=clues)
    return msgspec.structs.replace(made, **more)


def ledger(*findings: Finding, patient: Patient | None = None) -> Ledger:
    return Ledger(findings, KNOWLEDGE, patient or Patient())
