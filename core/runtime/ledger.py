"""What is known of each concept: present, absent, contradicted or unknown, and by which findings.

Pure. A finding of a specific concept also says its general ones are present (left calf swelling is leg swelling); an
absent general concept also says its specific ones are absent (no leg swelling: no left calf swelling). A number
outweighs a word: with 39.5 °C there is fever, whatever a note says; that it says so is kept in `against`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from core.domain.evidence import Finding
from core.domain.ports import Knowledge
from core.runtime.perception.known import KNOWN
from core.runtime.perception.numbers import IMPLAUSIBLE

State = Literal["present", "absent", "contradicted", "unknown"]
ALLERGY = "allergy"
CLINICIAN = "clinician"  # what the clinician answers settles a contradiction between documents


class Standing(msgspec.Struct, frozen=True):
    """The state of a concept, the ids of the findings behind it, and of the words that a number outweighs."""

    state: State
    findings: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    @property
    def disputed(self) -> bool:
        """Does the case say both?"""
        return self.state == "contradicted" or bool(self.against)


UNKNOWN = Standing("unknown")


class Patient(msgspec.Struct, frozen=True, kw_only=True):
    """Whom clues may apply to; None or empty where the case does not say."""

    age: float | None = None
    sex: str = ""
    pregnant: bool | None = None


class Ledger:
    """Findings by concept. Immutable; `assume` makes a copy in which one concept is settled (what-if)."""

    def __init__(self, findings: Iterable[Finding], knowledge: Knowledge, patient: Patient) -> None:
        self.findings = tuple(findings)
        self.patient = patient
        self._knowledge = knowledge
        self._present: dict[str, list[str]] = defaultdict(list)
        self._absent: dict[str, list[str]] = defaultdict(list)
        self._assumed: tuple[str, State] | None = None
        self._known: dict[str, Standing] = {}
        self._bearing: dict[tuple[str, str], bool] = {}  # asked many thousand times in the search for gaps
        counting = [finding for finding in self.findings if _counts(finding)]
        self._measured = _measured(self.findings)
        self._concepts = {finding.id: finding.concept for finding in counting}
        self._told = frozenset(finding.id for finding in counting if finding.note == KNOWN)
        self._said = {finding.concept: finding for finding in counting if finding.extractor == CLINICIAN}
        for finding in counting:
            self._enter(finding)

    def _enter(self, finding: Finding) -> None:
        if self._is_settled(finding):
            return
        if finding.polarity == "present":
            for concept in sorted(self._knowledge.ancestors(finding.concept)):
                self._present[concept].append(finding.id)
        else:
            self._absent[finding.concept].append(finding.id)

    def _is_settled(self, finding: Finding) -> bool:
        """Has the clinician said otherwise, of the concept itself or of what it implies?"""
        said = self._said.get(finding.concept)
        if said is not None or finding.extractor == CLINICIAN:
            return said is not None and said.polarity != finding.polarity
        if finding.polarity == "present":
            above = self._knowledge.ancestors(finding.concept)
            return any(other.polarity == "absent" for concept, other in self._said.items() if concept in above)
        return any(
            other.polarity == "present" and finding.concept in self._knowledge.ancestors(concept)
            for concept, other in self._said.items()
        )

    def assume(self, concept: str, state: State) -> Ledger:
        """The same ledger with one concept settled, and with it what follows for general and specific ones."""
        copy = object.__new__(Ledger)
        copy.__dict__.update(self.__dict__)
        copy._assumed = concept, state
        return copy

    def bears_on(self, concept: str, other: str) -> bool:
        """Does settling one concept say anything about the other: are they the same, or one a kind of the other?"""
        bears = self._bearing.get((concept, other))
        if bears is None:
            bears = other in self._knowledge.ancestors(concept) or concept in self._knowledge.ancestors(other)
            self._bearing[concept, other] = bears
        return bears

    def standing(self, concept: str) -> Standing:
        """What is known of a concept."""
        if concept not in self._known:
            self._known[concept] = self._weighed(concept)
        known = self._known[concept]
        assumed = self._assumption(concept)
        if assumed is None:
            return known
        return Standing(assumed, known.findings if known.state == assumed else ())

    def concepts(self, findings: Iterable[str]) -> frozenset[str]:
        """What these findings are, without a concept that another one present is a kind of.

        "Cough" beside "productive cough" is not a second finding.
        """
        return frozenset(self._concepts[identifier] for identifier in findings) - self._general

    @cached_property
    def _general(self) -> frozenset[str]:
        """Concepts of which a kind is present as well."""
        present = {self._concepts[identifier] for found in self._present.values() for identifier in found}
        return frozenset(above for concept in present for above in self._knowledge.ancestors(concept) - {concept})

    def known_before(self, concept: str) -> tuple[str, ...]:
        """The findings that tell a disease, or a kind of it, as one that the patient had before today."""
        return tuple(identifier for identifier in self._present.get(concept, ()) if identifier in self._told)

    def is_kind_of(self, concept: str, other: str) -> bool:
        """Is a concept a special form of another?"""
        return concept != other and other in self._knowledge.ancestors(concept)

    def _assumption(self, concept: str) -> State | None:
        if self._assumed is None:
            return None
        settled, state = self._assumed
        if settled == concept:
            return state
        if state == "present" and concept in self._knowledge.ancestors(settled):
            return "present"
        return "absent" if state == "absent" and settled in self._knowledge.ancestors(concept) else None

    def _weighed(self, concept: str) -> Standing:
        said = self._said.get(concept)
        if said is not None:
            return Standing("present" if said.polarity == "present" else "absent", (said.id,))
        present = self._present.get(concept, [])
        absent = [
            finding for above in sorted(self._knowledge.ancestors(concept)) for finding in self._absent.get(above, ())
        ]
        if present and absent and not self._measured.isdisjoint(present):
            words = (identifier for identifier in absent if identifier not in self._measured)
            return Standing("present", tuple(present), tuple(words))
        if present and absent:
            return Standing("contradicted", (*present, *absent))
        if present:
            return Standing("present", tuple(present))
        return Standing("absent", tuple(absent)) if absent else UNKNOWN

    def has(self, concept: str) -> bool:
        """For rules: is it present (also when another place denies it)? Unknown counts as no."""
        return self.standing(concept).state in ("present", "contradicted")


def _counts(finding: Finding) -> bool:
    """Only what is said of the patient now, and surely, counts; an allergy is no drug taken."""
    return (
        finding.extractor != ALLERGY
        and (finding.time, finding.who) == ("current", "patient")
        and finding.polarity in ("present", "absent")
    )


def _measured(findings: Sequence[Finding]) -> frozenset[str]:
    """Ids of what a number shows: values of named quantities, and what was derived from them."""
    known = {
        finding.id
        for finding in findings
        if finding.quantity and finding.value is not None and not finding.note.startswith(IMPLAUSIBLE)
    }
    fresh = known
    while fresh:
        fresh = {finding.id for finding in findings if not known.isdisjoint(finding.inputs)} - known
        known |= fresh
    return frozenset(known)
