"""A site's own guideline takes part: imported as text, approved, its findings as derived clues, cited, superseded."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest

from core.domain import event as ev
from core.domain.report import Report
from core.retrieval.catalogue import open_knowledge
from core.retrieval.derived import SiteKnowledge
from core.retrieval.editions import Calendar
from core.retrieval.guidelines import GuidelineRetriever
from core.retrieval.importing import import_knowledge
from core.retrieval.index import PassageIndex
from core.retrieval.sources.material import Options
from core.runtime import report
from core.runtime.report_html import html
from core.runtime.usage import remarks, uses
from core.store import migrations
from core.store.database import open_database
from core.store.journal import Journal
from core.store.knowledge import KnowledgeStore
from desktop.state.source import resolve
from tests.helpers import workup
from tests.helpers.papers import read_paper
from tests.helpers.shelf import open_store
from tests.helpers.workup import Worked, work_up

GUIDELINE = """\
---
title: Giant cell arteritis
licence: own
publisher: Our hospital
edition: {edition}
---
# Overview
Giant cell arteritis is an inflammation of large arteries. Palpitations have nothing to do with it.

# Symptoms
Patients have a new temporal headache, fatigue, weight loss and night sweats. They may have blurred vision.
There is no rash.

# Tests
Look for a raised ESR. A raised CRP is usual. Thrombocytosis is common.

# Treatment
Give prednisolone {dose} mg a day and tell the eye clinic.
"""
NOTE = "Woman of 72. New temporal headache for two weeks, with fatigue, weight loss and night sweats. Blurred vision."
OWN = "giant-cell-arteritis"
FIRST, SECOND = f"{OWN}-2025", f"{OWN}-2026"
CASE = workup.case_of(workup.note(NOTE))


class Site(NamedTuple):
    store: KnowledgeStore
    index: PassageIndex
    retriever: GuidelineRetriever
    knowledge: SiteKnowledge
    folder: Path

    def add(self, edition: str, dose: str, *, replaces: str = "") -> None:
        path = self.folder / f"gca-{edition}.md"
        path.write_text(GUIDELINE.format(edition=edition, dose=dose))
        options = Options(replaces=replaces)
        import_knowledge(self.store, self.index, [path], options, actor="admin", read_document=read_paper)

    def work_up(self, run_id: str) -> Worked:
        return work_up(self.folder, CASE, library=(self.retriever, self.knowledge.at("9999")), run_id=run_id)


@contextmanager
def opened(folder: Path) -> Iterator[Site]:
    store, index, retriever, _ = open_knowledge(folder / "profile", folder / "cache", "me")
    yield Site(store, index, retriever, SiteKnowledge(workup.known(), store), folder)
    store.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with opened(tmp_path_factory.mktemp("site")) as site:
        yield site


@pytest.fixture(scope="module")
def before(site: Site) -> Worked:
    """A draft takes no part."""
    site.add("2025", "60")
    return site.work_up("r0")


@pytest.fixture(scope="module")
def worked(site: Site, before: Worked) -> Worked:
    site.store.lifecycle.approve(FIRST, actor="dr")
    return site.work_up("r1")


@pytest.fixture(scope="module")
def plain(site: Site, worked: Worked) -> Report:
    """The report while the edition that it cites is the current one."""
    return made(worked, site)


@pytest.fixture(scope="module")
def later(site: Site, plain: Report) -> Worked:
    """A run after the next edition has replaced the first."""
    site.add("2026", "40", replaces=FIRST)
    site.store.lifecycle.approve(SECOND, actor="dr")
    return site.work_up("r2")


def test_a_draft_takes_no_part(site: Site, before: Worked) -> None:
    assert "Giant cell arteritis" not in {h.title for h in before.done.differential.hypotheses}
    assert site.knowledge.at("2000-01-01") is workup.known()


def test_an_approved_guideline_is_weighed_by_clues_marked_as_derived(worked: Worked) -> None:
    (found,) = [h for h in worked.done.differential.hypotheses if h.title == "Giant cell arteritis"]
    assert found.band == "leading"
    reasons = {reason.text: reason for reason in (*found.for_, *found.missing)}
    assert {"Temporal headache", "Fatigue", "Weight loss", "Night sweats", "Blurred vision"} <= {
        reason.text for reason in found.for_
    }
    assert {"Raised ESR", "Raised CRP", "Thrombocytosis"} <= {reason.text for reason in found.missing}
    assert not {"Rash", "Palpitations"} & set(reasons)  # denied; in a section of another class
    assert {(reason.strength, reason.derived) for reason in reasons.values()} == {("typical", True)}
    assert not any(r.derived for h in worked.done.differential.hypotheses if h is not found for r in h.for_)


def test_derived_clues_lead_to_the_passages_that_name_them(site: Site, worked: Worked) -> None:
    (found,) = [h for h in worked.done.differential.hypotheses if h.title == "Giant cell arteritis"]
    for reason in (*found.for_, *found.missing):
        item = worked.done.find(reason.evidence[-1])
        assert item is not None and item.provenance.kind == "passage"
        passage = site.store.passage(item.provenance.reference)
        assert passage is not None
        assert (passage.pack, passage.sha256) == (FIRST, item.provenance.sha256)
        quote = item.text.split("“")[1].rstrip("”")
        assert quote in " ".join(passage.text.split())
        assert "edition 2025" in item.provenance.label
    assert any("prednisolone 60 mg" in s.text for section in worked.done.sections for s in section.sentences)


def made(worked: Worked, site: Site, today: str = "2026-01-01") -> Report:
    calendar = Calendar(lambda: date.fromisoformat(today))
    said = remarks(worked.done.evidence, site.store.packs(), calendar)
    memory = msgspec.structs.replace(worked.memory, assessment=worked.done)
    return report.build(CASE, worked.row, memory, remarks=said)


def test_what_is_said_of_a_report_when_the_edition_is_superseded(
    site: Site, worked: Worked, plain: Report, later: Worked
) -> None:
    """N14, where it is cited and above; the assessment itself is what it was. Runs of the new edition are not named."""
    assert plain.remarks == ()
    assert "(typical, derived)" in report.text(plain)
    assert "<small>typical, derived</small>" in html(plain, CASE, {})
    sentence = "This guideline edition (2025) is superseded by 2026"
    old, new = made(worked, site), made(later, site)
    assert f"Giant cell arteritis: {sentence}" in old.banner
    assert new.remarks == () and sentence not in report.text(new)
    assert msgspec.structs.replace(old, remarks=(), banner=plain.banner) == plain
    assert report.text(old, full=True).count(sentence) == len(old.remarks) + 1
    assert html(old, CASE, {}).count(sentence) == sum(1 for item in report.cited(old) if old.remark(item.id)) + 1
    cited = next(item for item in old.evidence if old.remark(item.id))
    assert resolve(cited, CASE, worked.memory, remark=old.remark(cited.id)).about[0] == sentence


def test_the_assessments_that_cite_an_edition_are_exactly_those(site: Site, worked: Worked, later: Worked) -> None:
    """Three signed ones of the first edition, one unsigned of the second (product.md section 5, row 13)."""
    assessments = [worked.done, worked.done, worked.done, later.done]
    database = open_database(site.folder / "r1" / "workbench.db", migrations.workbench)
    try:
        journal = Journal(database)
        for n, assessment in enumerate(assessments):
            name = f"done{n}"
            journal.queue(msgspec.structs.replace(worked.row, id=name, status="queued"))
            journal.append(name, ev.RunFinished(assessment=assessment), branch="", key="finish", actor="dr")
            if n < 3:
                signed = ev.AssessmentSigned(actor=f"dr {n}", report_sha256="0" * 64)
                journal.append(name, signed, branch="", key="sign", actor="dr")
        first = uses(journal, dict(site.store.passage_hashes(FIRST)))
        assert {(use.run, use.status, use.signed_by) for use in first} == {
            (f"done{n}", "signed", f"dr {n}") for n in range(3)
        }
        assert all(key.startswith(f"{FIRST}:") for use in first for key in use.passages)
        second = uses(journal, dict(site.store.passage_hashes(SECOND)))
        assert [(use.run, use.status) for use in second] == [("done3", "finished")]
    finally:
        database.close()


@pytest.mark.usefixtures("later")
def test_a_run_knows_what_was_approved_when_it_was_queued(site: Site) -> None:
    """One that waits for an answer while an edition is replaced goes on with the one that it began with."""
    approvals = [c.at for c in site.store.lifecycle.changes(FIRST) if c.what == "approve"]

    def editions(moment: str) -> list[str]:
        conditions = site.knowledge.at(moment).conditions
        return [condition.edition for condition in conditions if condition.title == "Giant cell arteritis"]

    assert editions("2020-01-01") == []
    assert editions(approvals[0]) == ["2025"]
    assert editions("9999") == ["2026"]


def test_nothing_is_derived_from_a_text_that_was_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path) as harmed:
        harmed.add("2025", "60")
        harmed.store.lifecycle.approve(FIRST, actor="dr")
        assert [c.title for c in harmed.knowledge.at("9999").conditions if c.derivations] == ["Giant cell arteritis"]
        with sqlite3.connect(tmp_path / "profile" / "knowledge.db") as connection:
            connection.execute("UPDATE knowledge_section SET text = replace(text, 'fatigue', 'fatigus')")
        connection.close()
        fresh = SiteKnowledge(workup.known(), harmed.store)
        assert [c.title for c in fresh.at("9999").conditions if c.derivations] == []
        assert "nothing derived from a damaged document" in caplog.text


@pytest.mark.parametrize(
    ("title", "body", "derived"),
    [
        ("Pulmonary embolism", "# Symptoms\nFever, cough and headache are present.", False),  # the starter set has it
        ("Local guideline on the management of deep vein thrombosis", "# Symptoms\nFever and headache.", False),
        ("Hand hygiene", "# Symptoms\nFever is a reason.", False),  # one finding makes no condition
        ("Hand hygiene", "# Treatment\nFever, cough and headache are treated.", False),
        ("Marsh disease", "# Symptoms\nFever, cough and headache are present.", True),
        ("Marsh disease", "# Criteria\nFever and cough. Mother had headache. Without rash.", True),
    ],
)
def test_what_becomes_a_condition(title: str, body: str, derived: bool, tmp_path: Path) -> None:
    store = open_store(tmp_path)
    index = PassageIndex(tmp_path / "index", store)
    (tmp_path / "g.md").write_text(f"---\ntitle: {title}\nlicence: own\n---\n{body}\n")
    name = import_knowledge(store, index, [tmp_path / "g.md"], Options(), actor="a", read_document=read_paper).pack
    store.lifecycle.approve(name, actor="dr")
    found = [c for c in SiteKnowledge(workup.known(), store).at("9999").conditions if c.derivations]
    assert [c.title for c in found] == ([title] if derived else [])
    for condition in found:
        known = {clue.concept for clue in condition.clues}
        assert len(known) == (2 if "Mother" in body else 3)
        assert condition.concept.startswith("marsh-disease:")
    store.close()
