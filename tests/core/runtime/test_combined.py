"""Findings of several numbers against hand calculations: repeated pressures, pregnancy, enzymes against their limit."""

from __future__ import annotations

import pytest

from core.domain.case import Case, LabRow, LabTable, Note
from core.domain.evidence import Finding
from core.retrieval.knowledge import packaged
from core.runtime import findings as reading
from core.runtime.ledger import Ledger

KNOWLEDGE = packaged()
REPEATED = "WR:repeated-raised-readings"


def note(text: str, identifier: str = "n", written: str = "") -> Note:
    return Note(id=identifier, title=identifier, text=text, sha256=(identifier * 64)[:64], written_on=written)


def perceive(*items: Note | LabTable) -> tuple[Finding, ...]:
    return reading.perceive(
        Case(id="c", title="c", revision=1, created_at="2026-11-30T08:00:00", items=items), KNOWLEDGE
    )


def state(found: tuple[Finding, ...], concept: str) -> bool | None:
    standing = Ledger(found, KNOWLEDGE, reading.patient(found)).standing(concept).state
    return {"present": True, "absent": False}.get(standing)


def enzymes(test: str, value: float, high: float | None, range_text: str = "") -> LabTable:
    row = LabRow(row=1, test=test, value=f"{value:g}", number=value, unit="U/L", high=high, range_text=range_text)
    return LabTable(id="t", title="Bloods", rows=(row,), sha256="1" * 64)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("BP 152/94, repeat 148/92.", True),
        ("BP 150/95 in March, 148/96 in May and 151/92 today.", True),
        ("Clinic BP 138/92. After two weeks 136/94.", True),  # diastolic alone
        ("BP clinic 152/94, 148/92.", True),
        ("BP 152/94, 120/70.", None),
        ("BP 152/94.", None),
        ("BP 152/94. Later BP 152/94.", None),  # perhaps the same reading twice
        ("BP 152/94, repeat 128/78.", None),
        ("BP 128/76, then 130/80.", None),
        ("BP 152/94 and visual acuity 20/20.", None),
        ("BP 152/94. Target 140/90.", None),
    ],
)
def test_repeated_pressures_of_one_note(text: str, expected: bool | None) -> None:
    assert state(perceive(note(text)), REPEATED) is expected


def test_the_same_figures_count_again_on_another_date() -> None:
    first, second = note("BP 152/94.", "a", "2026-05-01"), note("BP 152/94.", "b", "2026-06-01")
    found = perceive(first, second)
    assert state(found, REPEATED) is True
    derived = next(finding for finding in found if finding.concept == REPEATED)
    assert derived.formula.startswith("2 readings") and len(derived.inputs) == 2
    assert state(perceive(first, note("BP 152/94.", "b", "2026-05-01")), REPEATED) is None


def test_raised_pressure_late_in_pregnancy_is_gestational() -> None:
    found = perceive(note("Primigravida at 34 weeks. BP 164/108."))
    assert state(found, "WR:gestational-hypertension") is True
    assert state(found, "WR:severe-gestational-hypertension") is True
    mild = perceive(note("Primigravida at 34 weeks. BP 148/92."))
    assert state(mild, "WR:gestational-hypertension") is True
    assert state(mild, "WR:severe-gestational-hypertension") is None
    for text in ("Pregnant, 12 weeks. BP 164/108.", "BP 164/108.", "Primigravida at 34 weeks. BP 122/70."):
        assert state(perceive(note(text)), "WR:gestational-hypertension") is None, text


@pytest.mark.parametrize(
    ("results", "concept", "expected"),
    [
        ("platelets 96 10*9/L", "WR:thrombocytopenia", True),
        ("platelets 132 10*9/L", "WR:thrombocytopenia", None),  # no adult interval is compared in pregnancy
        ("ALT 88 U/L", "WR:raised-transaminases", True),
        ("ALT 66 U/L", "WR:raised-transaminases", None),
        ("creatinine 98 umol/L", "WR:raised-creatinine", True),
        ("creatinine 80 umol/L", "WR:raised-creatinine", None),
    ],
)
def test_results_against_limits_of_pregnancy(results: str, concept: str, expected: bool | None) -> None:
    assert state(perceive(note(f"Woman of 30, pregnant, 33 weeks. Bloods: {results}.")), concept) is expected


@pytest.mark.parametrize(
    ("test", "value", "high", "range_text", "expected"),
    [
        ("Lipase", 180, 60, "13-60", True),  # 3.0 times
        ("Lipase", 179, 60, "13-60", False),
        ("Lipase", 350, 120, "<120", False),  # 2.9 times the printed limit
        ("Amylase", 330, 110, "up to 110", True),
        ("Lipase", 181, None, "", True),  # against the program's own limit of 60 U/L
    ],
)
def test_pancreatic_enzymes(test: str, value: float, high: float | None, range_text: str, expected: bool) -> None:
    found = perceive(note("A 50-year-old man."), enzymes(test, value, high, range_text))
    assert state(found, "WR:pancreatic-enzymes-high") is expected


def test_thyroid_results_are_named_by_how_far_they_lie_out() -> None:
    slow = perceive(note("A 50-year-old woman. TSH 42 mIU/L, free T4 5 pmol/L."))
    assert state(slow, "WR:abnormal-tsh") is True and state(slow, "WR:markedly-raised-tsh") is True
    assert state(slow, "WR:abnormal-free-t4") is True
    mild = perceive(note("A 50-year-old woman. TSH 7 mIU/L."))
    assert state(mild, "WR:abnormal-tsh") is True and state(mild, "WR:markedly-raised-tsh") is None
    fast = perceive(note("A 50-year-old woman. TSH 0.02 mIU/L."))
    assert state(fast, "WR:fully-suppressed-tsh") is True
    assert state(perceive(note("A 50-year-old woman. TSH 2.1 mIU/L.")), "WR:abnormal-tsh") is False
