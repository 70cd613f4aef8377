"""What a case says and denies: all of it is said, and what stays open may be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain import event as ev
from tests.helpers import workup


def said(profile: Path, *texts: str) -> tuple[list[str], list[str], workup.Worked]:
    """The sentences on contradictions and the concepts asked because of them."""
    notes = [workup.note(text, identifier=f"n{n}") for n, text in enumerate(texts)]
    worked = workup.work_up(profile, workup.case_of(*notes))
    lines = [s.text for section in worked.done.sections if section.id == "contradictions" for s in section.sentences]
    asked = [
        gap.concept
        for event in worked.of(ev.QuestionAsked)
        for gap in event.question.gaps
        if gap.kind == "contradiction"
    ]
    return lines, asked, worked


@pytest.mark.parametrize(
    ("texts", "concept", "line"),
    [
        (("No leg swelling.", "Left calf swelling."), "swelling", "swelling: stated in one place and denied"),
        (("No chest pain.", "Pleuritic chest pain."), "chest-pain", "hest pain: stated in one place and denied"),
        (("No haemoptysis.", "Haemoptysis twice."), "WR:haemoptysis", "Haemoptysis: stated in one place and denied"),
    ],
)
def test_a_special_finding_against_a_general_denial_is_said_and_asked(
    texts: tuple[str, ...], concept: str, line: str, profile: Path
) -> None:
    lines, asked, _ = said(profile, *texts)
    assert any(line in text for text in lines), lines
    assert len([one for one in asked if concept in one]) == 1


def test_a_measured_fever_holds_against_afebrile_and_the_contradiction_is_said(profile: Path) -> None:
    lines, asked, worked = said(profile, "Temp 39.5 C. Productive cough. Focal crackles.", "Afebrile.")
    assert lines == ["Fever: denied in words, but measured; the number counts."] and not asked
    pneumonia = next(h for h in worked.done.differential.hypotheses if h.slug == "community-acquired-pneumonia")
    assert [reason.weight > 0 for reason in pneumonia.for_ if reason.concept == "WR:fever"] == [True]


def test_two_persons_in_one_case_are_said(profile: Path) -> None:
    lines, asked, _ = said(profile, "30-year-old man. Cough.", "80-year-old woman. Cough.")
    assert lines == [
        "Age: stated as 30 years and 80 years; counted as unknown.",
        "Sex: stated as female and male; counted as unknown.",
    ]
    assert not asked
