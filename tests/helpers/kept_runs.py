"""Runs written into a journal by hand, as a worker would have left them: for what only reads runs."""

from __future__ import annotations

import msgspec

from core.domain import event as ev
from core.domain.assessment import Assessment, SafetyFlag, Section, Sentence
from core.domain.evidence import Evidence, Finding, Provenance
from core.domain.hypothesis import Differential, Hypothesis
from core.store.journal import Journal, RunRow
from tests.helpers.runs import QUESTION, a_row

ACTOR = "tester"
SPAN = Provenance(kind="document", reference="n1", start=0, end=10, sha256="0" * 64, label="letter, line 1")


def finding(name: str) -> Finding:
    return Finding(id=f"f-{name}", concept=name, name=name, provenance=SPAN, extractor="hand")


def assessment(leading: str, other: str, *, flags: tuple[str, ...] = ()) -> Assessment:
    """A ranking of two conditions, with a sentence on the first; every sentence rests on the letter's first word."""
    ranked = tuple(
        Hypothesis(slug=title, title=title, concept=title, band=band, structural=1.0, share=0.5)  # type: ignore[arg-type]
        for title, band in ((leading, "leading"), (other, "possible"))
    )
    said = Sentence(text=f"{leading} fits the findings.", evidence=("e1",))
    return Assessment(
        conclusion="ranked",
        headline=Sentence(text=f"Best supported by the findings: {leading}.", evidence=("e1",)),
        differential=Differential(hypotheses=ranked, sufficient=True),
        sections=(Section(id="summary", title="Summary", sentences=(said,)),),
        evidence=(Evidence(id="e1", text="Breathless", provenance=SPAN),),
        flags=tuple(
            SafetyFlag(rule=text, severity="critical", text=text, action="Look.", citation="hand", evidence=("e1",))
            for text in flags
        ),
    )


def keep(journal: Journal, row: RunRow, *events: ev.Event) -> RunRow:
    """Queue a run and write what happened in it, after its beginning."""
    begun = (
        ev.CaseOpened(case=row.case_id, revision=row.revision, items=("n1",), task=row.task),
        ev.RunStarted(
            workflow=row.workflow, version=row.version, mode=row.mode, seed=row.seed, settings_sha256="",
            profile=row.settings.profile, backbone=row.backbone,
        ),
    )  # fmt: skip
    journal.queue(row)
    for number, event in enumerate((*begun, *events)):
        journal.append(row.id, event, branch="", key=str(number), actor=ACTOR)
    return row


def keep_three(journal: Journal, case_id: str) -> tuple[str, str, str]:
    """Three runs of a case: finished without a flag, then finished with one, then one that waits; oldest first."""
    day = "2026-11-30T{hour}:15:00.000+00:00"
    made = msgspec.structs.replace(a_row(), case_id=case_id)
    rows = [
        msgspec.structs.replace(made, id=f"run-{n}", created_at=day.format(hour=f"{8 + n:02}"), backbone="none")
        for n in range(3)
    ]
    found = [ev.EvidenceAdded(stage="hand", findings=(finding(name),)) for name in ("Cough", "Wheeze")]
    keep(journal, rows[0], found[0], ev.RunFinished(assessment=assessment("Asthma", "Embolism")))
    flagged = assessment("Embolism", "Asthma", flags=("Potassium is 6.9.",))
    keep(journal, rows[1], found[1], ev.RunFinished(assessment=flagged))
    keep(journal, rows[2], ev.QuestionAsked(question=QUESTION))
    return rows[0].id, rows[1].id, rows[2].id
