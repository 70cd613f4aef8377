"""A finding on a film does not outrank the disease that explains it, and stands first where the film is all there is.

Notes of our own, model off; must not know the figures of a score.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers import workup

PNEUMONIA = (
    "67-year-old man, three days of fever, productive cough with green sputum and breathlessness. T 38.9, HR 108, "
    "RR 24, SpO2 92% on air. Coarse crackles at the right base. CRP 180. CXR: right lower lobe consolidation with air "
    "bronchograms."
)
FAILURE = (
    "75-year-old woman, orthopnoea, ankle swelling, raised JVP and bibasal crackles. NT-proBNP 4200 ng/L. CXR: "
    "cardiomegaly, Kerley B lines, upper lobe diversion, small bilateral effusions. Echo: LVEF 30%, dilated left "
    "ventricle."
)
OPACITY = (
    "Film of a man who feels well after a choking episode: opacity in the right upper lobe, bounded by the horizontal "
    "fissure, with air bronchograms, obscuring the vessels. No volume loss. Afebrile, mild cough."
)
WIDE_HEART = (
    "Routine check, no complaints. Erect PA chest film: cardiothoracic ratio 0.58, lungs clear. Apex beat displaced. "
    "Long-standing hypertension."
)


def first(profile: Path, text: str) -> str:
    worked = workup.work_up(profile, workup.case_of(workup.note(text)))
    return next(h.slug for h in worked.done.differential.hypotheses if h.band != "excluded" and h.concept)


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        (PNEUMONIA, "community-acquired-pneumonia"),
        (FAILURE, "heart-failure"),
        (OPACITY, "consolidation"),
        (WIDE_HEART, "cardiomegaly"),
    ],
)
def test_the_disease_leads_its_film_finding(tmp_path: Path, text: str, slug: str) -> None:
    assert first(tmp_path, text) == slug
