"""How case reports tell their values and findings: sentences of our own, in the forms that published notes taught us.

Each was once misread. The sentences are invented; none is taken from a data set.
"""

from __future__ import annotations

import pytest

from core.domain.evidence import Finding
from core.runtime.findings import perceive, quantities
from tests.helpers import workup


def seen(text: str) -> tuple[Finding, ...]:
    return perceive(workup.case_of(workup.note(text)), workup.known())


def stands(text: str, concept: str) -> set[tuple[str, str]]:
    """Polarity and time of every finding of a concept."""
    return {(finding.polarity, finding.time) for finding in seen(text) if finding.concept == concept}


@pytest.mark.parametrize(
    "text",
    [
        "A 71-year-old woman (weight 63 kg) was admitted.",
        "A 71 year old woman with a weight of 63 kg was admitted.",
    ],
)
def test_the_years_of_a_person_make_no_value_old(text: str) -> None:
    assert quantities(seen(text))["weight"].time == "current"


@pytest.mark.parametrize(
    ("text", "now"),
    [
        ("Creatinine was 2.4 mg/dL (baseline was 0.9 mg/dL).", 2.4),
        ("Creatinine 2.4 mg/dL, up from a baseline of 0.9 mg/dL.", 2.4),
        ("His creatinine rose to 2.4 mg/dL from the usual 0.9 mg/dL.", 2.4),
    ],
)
def test_a_named_baseline_does_not_make_the_new_value_old(text: str, now: float) -> None:
    creatinine = quantities(seen(text))["creatinine"]
    assert creatinine.value is not None and creatinine.value.value == now
