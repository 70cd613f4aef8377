"""What is known of each concept: present, absent, contradicted or unknown, and by which findings.

Pure. A finding of a specific concept also says its general ones are present (left calf swelling is leg swelling); an
absent general concept also says its specific ones are absent (no leg swelling: no left calf swelling).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

import msgspec

from core.domain.evidence import Finding
from core.domain.ports import Knowledge

State = Literal["present", "absent", "contradicted", "unknown"]
ALLERGY = "allergy"
CLINICIAN = "clinician"  # what the clinician answers settles a contradiction between documents


class Standing(msgspec.Struct, frozen=True):
    """The state of a concept and the ids of the findings behind it."""

    state: State
    findings: tuple[str, ...] = ()


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
        counting = [finding for finding in self.findings if _counts(finding)]
        self._said = {finding.concept: finding for finding in counting if finding.extractor == CLINICIAN}
        for finding in counting:
            self._enter(finding)

    def _enter(self, finding: Finding) -> None:
        said = self._said.get(finding.concept)
        if said is not None and said.polarity != finding.polarity:
            return  # the clinician has settled it
        if finding.polarity == "present":
            for concept in sorted(self._knowledge.ancestors(finding.concept)):
                self._present[concept].append(finding.id)
        else:
            self._absent[finding.concept].append(finding.id)

    def assume(self, concept: str, state: State) -> Ledger:
        """The same ledger with one concept settled, and with it what follows for general and specific ones."""
        copy = object.__new__(Ledger)
        copy.__dict__.update(self.__dict__)
        copy._assumed = concept, state
        return copy

    def bears_on(self, concept: str, other: str) -> bool:
        """Does settling one concept say anything about the other: are they the same, or one a kind of the other?"""
        return other in self._knowledge.ancestors(concept) or concept in self._knowledge.ancestors(other)

    def standing(self, concept: str) -> Standing:
        """What is known of a concept."""
        assumed = self._assumption(concept)
        if assumed is not None:
            return Standing(assumed)
        if concept not in self._known:
            self._known[concept] = self._weighed(concept)
        return self._known[concept]

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
