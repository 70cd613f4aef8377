"""Spinal fluid, ascites, the protein ratio of urine and weeks of pregnancy as notes write them, checked by hand."""

from __future__ import annotations

import pytest

from core.domain.case import Case, Note
from core.domain.evidence import Finding
from core.retrieval.knowledge import packaged
from core.runtime import findings as reading
from core.runtime.ledger import Ledger

KNOWLEDGE = packaged()


def perceive(text: str) -> tuple[Finding, ...]:
    note = Note(id="n", title="Note", text=text, sha256="0" * 64)
    return reading.perceive(
        Case(id="c", title="c", revision=1, created_at="2026-11-30T08:00:00", items=(note,)), KNOWLEDGE
    )


def state(text: str, concept: str) -> bool | None:
    found = perceive(text)
    standing = Ledger(found, KNOWLEDGE, reading.patient(found)).standing(f"WR:{concept}")
    return {"present": True, "absent": False}.get(standing.state)


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("CSF: white cells 3,400/mm3, protein 2.8 g/L.", "purulent-csf", True),
        ("CSF: white cells 3,400/mm3, protein 2.8 g/L.", "csf-pleocytosis", True),
        ("CSF white cells 120, protein 0.9 g/L.", "csf-pleocytosis", True),
        ("CSF white cells 120, protein 0.9 g/L.", "purulent-csf", None),
        ("CSF white cells 2, protein 0.3 g/L.", "csf-pleocytosis", False),
        ("CSF white cells 2, protein 0.3 g/L.", "raised-csf-protein", False),
        ("Lumbar puncture: WCC 1.2 x 10^9/L.", "purulent-csf", True),  # 1,200 /mm3
        ("CSF protein 280 mg/dL.", "raised-csf-protein", True),
        ("CSF: 240 white cells, 90% neutrophils.", "purulent-csf", True),
        ("CSF: 240 white cells, 95 % lymphocytes.", "lymphocytic-csf", True),
        ("CSF: 240 white cells, 60% neutrophils.", "purulent-csf", None),
        ("CSF glucose 1.1 mmol/L, blood glucose 6.4.", "low-csf-glucose", True),  # 0.17
        ("CSF glucose 3.2 mmol/L, blood glucose 5.8.", "low-csf-glucose", False),  # 0.55
        ("CSF glucose 3.0 mmol/L (plasma glucose 12 mmol/L).", "low-csf-glucose", True),  # 0.25, though not low itself
        ("CSF glucose 30 mg/dL.", "low-csf-glucose", True),  # 1.7 mmol/L
        ("CSF glucose 3.4 mmol/L.", "low-csf-glucose", None),
        ("CSF glucose 2.5 mmol/L, ratio 0.3.", "low-csf-glucose", True),
        ("No lumbar puncture. FBC: white cells 16.", "csf-pleocytosis", None),  # blood, not the fluid
        ("Lumbar puncture is planned. CRP 120, protein 70 g/L.", "raised-csf-protein", None),
        ("White cells 3400/mm3.", "csf-pleocytosis", None),
        ("CSF: white cells 300, predominantly neutrophils.", "purulent-csf", True),
        ("CSF: white cells 300, lymphocyte predominance.", "lymphocytic-csf", True),
        ("Lumbar puncture: Gram stain shows gram-positive diplococci.", "bacteria-in-csf", True),
        ("Lumbar puncture: no organisms seen.", "bacteria-in-csf", False),
        ("Sputum: gram-positive diplococci, predominantly neutrophils.", "bacteria-in-csf", None),
        ("LP: 1850 white cells, 92% neutrophils.", "purulent-csf", True),
        ("White cells 1850 with 92% neutrophils in the CSF.", "purulent-csf", True),
        ("White cells 1850 on LP. Bloods: white cells 16.", "csf-pleocytosis", True),
        ("CRP 90, white cells 16. Nothing grown in the CSF.", "csf-pleocytosis", None),
        ("Sputum: gram-positive diplococci, predominantly neutrophils.", "purulent-csf", None),
    ],
)
def test_spinal_fluid(text: str, concept: str, expected: bool | None) -> None:
    assert state(text, concept) is expected


@pytest.mark.parametrize(
    ("text", "concept", "expected"),
    [
        ("Ascitic fluid: neutrophils 640/mm3.", "raised-ascitic-neutrophils", True),
        ("Ascitic tap: polymorphs 250 cells/mm3.", "raised-ascitic-neutrophils", True),
        ("Ascitic fluid neutrophils 249/mm3.", "raised-ascitic-neutrophils", False),
        ("Ascitic neutrophils 0.6 x 10^9/L.", "raised-ascitic-neutrophils", True),
        ("Tense ascites. Neutrophils 12.4 in blood count.", "raised-ascitic-neutrophils", False),
        ("Polymorphs 450 in the ascitic fluid.", "raised-ascitic-neutrophils", True),
        ("SAAG 18 g/L.", "raised-saag", True),
        ("SAAG 1.1 g/dL.", "raised-saag", True),  # 11 g/L
        ("SAAG 0.8.", "raised-saag", False),  # 8 g/L
        ("Neutrophils 640.", "raised-ascitic-neutrophils", None),
    ],
)
def test_ascites(text: str, concept: str, expected: bool | None) -> None:
    assert state(text, concept) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Protein:creatinine ratio 62 mg/mmol.", True),
        ("Protein creatinine ratio of 12 mg/mmol.", False),
        ("Urine protein/creatinine ratio 0.5.", True),  # mg/mg, as no ratio in mg/mmol is that small
        ("Protein to creatinine ratio 0.2 mg/mg.", False),
        ("Albumin creatinine ratio 62 mg/mmol.", None),
    ],
)
def test_protein_ratio(text: str, expected: bool | None) -> None:
    assert state(text, "protein-creatinine-raised") is expected


@pytest.mark.parametrize(
    ("text", "late", "early"),
    [
        ("Primigravida at 34+3 weeks.", True, None),
        ("Pregnant, 37 weeks, feels well.", True, None),
        ("Second pregnancy, 32/40.", True, None),
        ("Pregnant, 12 weeks.", None, True),
        ("She is pregnant and has coughed for 6 weeks.", None, None),
        ("Born at 32 weeks. Her mother had a normal pregnancy.", None, None),
        ("Pregnancy test negative. A 28-week-old rash.", False, False),
        ("Cough for 30 weeks.", None, None),
    ],
)
def test_weeks_of_pregnancy(text: str, late: bool | None, early: bool | None) -> None:
    assert (state(text, "late-pregnancy"), state(text, "early-pregnancy")) == (late, early)


def test_weeks_say_that_somebody_is_pregnant_and_where_it_stands() -> None:
    found = perceive("Woman of 31, G2P1 at 33 weeks. BP 132/84.")
    assert reading.patient(found).pregnant is True
    weeks = next(finding for finding in found if finding.concept == "WR:late-pregnancy")
    assert (weeks.text, weeks.provenance.start) == ("33 weeks", 21)
