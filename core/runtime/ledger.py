"""What is known of each concept: present, absent, contradicted or unknown, and by which findings.

Pure. A finding of a specific concept also says its general ones are present (left calf swelling is leg swelling); an
absent general concept also says its specific ones are absent (no leg swelling: no left calf swelling).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
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
        self._said: dict[str, Standing] = {}
        self._assumed: dict[str, State] = {}
        for finding in self.findings:
            self._enter(finding)

    def _enter(self, finding: Finding) -> None:
        if finding.extractor == ALLERGY or finding.time != "current" or finding.who != "patient":
            return
        if finding.extractor == CLINICIAN and finding.polarity in ("present", "absent"):
            self._said[finding.concept] = Standing(finding.polarity, (finding.id,))
        if finding.polarity == "present":
            for concept in sorted(self._knowledge.ancestors(finding.concept)):
                self._present[concept].append(finding.id)
        elif finding.polarity == "absent":
            self._absent[finding.concept].append(finding.id)

    def assume(self, concept: str, state: State) -> Ledger:
        """The same ledger with one concept settled."""
        copy = object.__new__(Ledger)
        copy.__dict__.update(self.__dict__)
        copy._assumed = {**self._assumed, concept: state}
        return copy

    def standing(self, concept: str) -> Standing:
        """What is known of a concept."""
        assumed = self._assumed.get(concept)
        if assumed is not None:
            return Standing(assumed)
        if concept in self._said:
            return self._said[concept]
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

    def by_id(self) -> Mapping[str, Finding]:
        """Findings by id."""
        return {finding.id: finding for finding in self.findings}
