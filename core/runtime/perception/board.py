"""The values and concepts that hold, for the rules that derive further findings. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, cast

from core.domain import units
from core.domain.analyte_factors import MEASURED
from core.domain.evidence import Finding, Quantity
from core.domain.ports import Knowledge
from core.runtime.ledger import Patient
from core.runtime.perception.analytes import canonical
from core.runtime.perception.drafts import ALLERGY, DERIVED, Draft, derived_source
from core.runtime.perception.numbers import IMPLAUSIBLE

# A healthy value and a step, to tell which of several values of one moment is the more abnormal.
_HEALTHY: Mapping[str, tuple[float, float]] = {
    "systolic_bp": (120, 20),
    "diastolic_bp": (75, 15),
    "heart_rate": (75, 20),
    "respiratory_rate": (15, 4),
    "spo2": (98, 3),
    "temperature": (37, 0.7),
    "gcs": (15, 1),
    "oxygen_flow": (0, 2),
    "lvef": (60, 10),
    "fev1_fvc": (0.8, 0.1),
    "cardiothoracic_ratio": (0.45, 0.05),
    "pef_percent": (100, 20),
    "urine_output": (1.0, 0.5),
}


def in_canonical_unit(finding: Finding) -> float | None:
    """The value in its quantity's canonical unit; None where there is none."""
    unit = None if finding.value is None else units.find_unit(finding.value.unit)
    if finding.value is None or unit is None:
        return None
    if finding.quantity not in MEASURED:  # computed here, in one unit only
        return finding.value.value
    return canonical(finding.quantity, finding.value.value, unit)


def usable(finding: Finding) -> bool:
    """Whether a finding is a current, undisputed value of the patient that rules may read."""
    is_value = bool(finding.quantity) and finding.value is not None
    current = finding.time == "current" and finding.who == "patient"
    return is_value and current and finding.polarity != "possible" and not finding.note.startswith(IMPLAUSIBLE)


def gravity(finding: Finding) -> tuple[object, ...]:
    """Order of the values of one quantity: the latest dated, then the most abnormal one counts."""
    value = in_canonical_unit(finding)
    middle, step = _HEALTHY.get(finding.quantity, (0.0, 1.0))
    distance = 0.0 if value is None else abs(value - middle) / step
    return finding.collected_at or "", distance, finding.text, finding.note


class Board:
    """Drafts by quantity and concept. Immutable but for `add`, which takes in what was derived."""

    def __init__(self, drafts: Iterable[Draft], knowledge: Knowledge, patient: Patient) -> None:
        self.knowledge = knowledge
        self.patient = patient
        self.drafts: list[Draft] = []
        self._values: dict[str, list[Draft]] = defaultdict(list)
        self._holding: dict[str, list[Draft]] = defaultdict(list)
        self.add(drafts)

    def add(self, drafts: Iterable[Draft]) -> None:
        """Take in further findings."""
        for draft in drafts:
            self.drafts.append(draft)
            if usable(draft.finding):
                self._values[draft.finding.quantity].append(draft)
            if draft.finding.holds and draft.finding.extractor != ALLERGY:
                for concept in self.knowledge.ancestors(draft.finding.concept):
                    self._holding[concept].append(draft)

    def latest(self, quantity: str) -> Draft | None:
        """The value of a quantity that counts."""
        return max(self._values.get(quantity, ()), key=lambda draft: gravity(draft.finding), default=None)

    def value(self, quantity: str) -> float | None:
        """Its number in the canonical unit."""
        draft = self.latest(quantity)
        return None if draft is None else in_canonical_unit(draft.finding)

    def earlier(self, quantity: str) -> list[Draft]:
        """Past values of a quantity."""
        return [
            draft
            for draft in self.drafts
            if draft.finding.quantity == quantity
            and draft.finding.time == "past"
            and draft.finding.who == "patient"
            and not draft.finding.note.startswith(IMPLAUSIBLE)
        ]

    def holding(self, concept: str) -> Sequence[Draft]:
        """Findings by which a concept holds."""
        return self._holding.get(concept, ())

    def inputs(self, *quantities: str) -> tuple[Draft, ...]:
        """The drafts behind quantities that are known."""
        return tuple(draft for draft in map(self.latest, quantities) if draft is not None)

    def known(self, *quantities: str) -> tuple[float, ...] | None:
        """All values, or None if one is missing."""
        values = [self.value(quantity) for quantity in quantities]
        return None if None in values else cast("tuple[float, ...]", tuple(values))


def derive_value(
    quantity: str,
    name: str,
    value: float,
    *,
    formula: str,
    inputs: Sequence[Draft],
    note: str = "",
    concept: str = "",
    unit: str = "",
) -> Draft:
    """A computed quantity, in its canonical unit unless another is given."""
    return Draft(
        finding=Finding(
            id="",
            concept=concept or f"DV:{quantity}",
            name=name,
            provenance=derived_source(formula, inputs),
            extractor=DERIVED,
            quantity=quantity,
            value=Quantity(value, unit or str(units.canonical(quantity))),
            collected_at=max((draft.finding.collected_at or "" for draft in inputs), default="") or None,
            formula=formula,
            note=note,
        ),
        inputs=tuple(inputs),
    )


def derive_concept(
    concept: str,
    polarity: Literal["present", "absent"],
    *,
    formula: str,
    inputs: Sequence[Draft],
    knowledge: Knowledge,
    note: str = "",
) -> Draft:
    """A concept that follows from other findings."""
    entry = knowledge.concept(concept)
    return Draft(
        finding=Finding(
            id="",
            concept=concept,
            name=entry.name if entry else concept,
            provenance=derived_source(formula, inputs),
            extractor=DERIVED,
            polarity=polarity,
            collected_at=max((draft.finding.collected_at or "" for draft in inputs), default="") or None,
            formula=formula,
            note=note,
        ),
        inputs=tuple(inputs),
    )
