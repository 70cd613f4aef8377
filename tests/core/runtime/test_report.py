"""The report as one value: order of its parts, fixed texts in their places, and the same words in every form."""

from __future__ import annotations

import msgspec
import pytest

from core import codec
from core.domain import event as ev
from core.domain import memory as fold
from core.domain.case import Case, ImageRef, Patient, Unread
from core.domain.notices import TEXTS
from core.domain.report import Report
from core.errors import UserError
from core.runtime import report
from core.settings import Settings
from models.scripted import ScriptedBackbone
from tests.helpers import workup
from tests.helpers.workup import Worked, work_up

ORDER = (
    "flags", "question", "conclusion", "summary", "columns", "criteria", "contradictions", "excluded", "tests",
    "treatment", "answers", "quality", "injections", "model",
)  # fmt: skip
NOTE = """\
74-year-old man. Vomiting and diarrhoea for five days. Passing very little urine. Takes ramipril 10 mg, furosemide
40 mg, ibuprofen 400 mg and metformin 1 g. Allergic to penicillin. No wheeze. BP 96/58, HR 102.
"""
LABS = """\
test,value,unit,reference_low,reference_high,flag,collected_at
Creatinine,88,umol/L,59,104,,2026-11-21T09:10
Creatinine,240,umol/L,59,104,H,2026-11-23T14:50
Potassium,6.6,mmol/L,3.5,5.3,H,2026-11-23T14:50
Strangeness,12,flagons,,,,2026-11-23T14:50
"""
PICTURE = ImageRef(id="p1", title="film.png", sha256="1" * 64, preview_sha256="2" * 64, width=4, height=4)


@pytest.fixture(scope="module")
def case() -> Case:
    made = workup.case_of(
        workup.note(NOTE), workup.note("Later: wheeze on both sides.", identifier="n2"), workup.table(LABS)
    )
    return msgspec.structs.replace(
        made, items=(*made.items, PICTURE), unread=(Unread("scan.xyz", "not a kind of file that is read"),)
    )


@pytest.fixture(scope="module")
def worked(case: Case, tmp_path_factory: pytest.TempPathFactory) -> Worked:
    return work_up(tmp_path_factory.mktemp("profile"), case, backbone=ScriptedBackbone())


@pytest.fixture(scope="module")
def made(case: Case, worked: Worked) -> Report:
    return worked.report(case)


def block(made: Report, identifier: str) -> list[str]:
    return [line.text for one in made.blocks if one.id == identifier for line in one.lines]


def test_the_parts_stand_in_the_fixed_order(made: Report) -> None:
    places = [ORDER.index(one.id) for one in made.blocks]
    assert places == sorted(places) and len(set(places)) == len(places)
    assert {"flags", "conclusion", "columns", "criteria", "tests", "treatment", "quality", "model"} <= {
        one.id for one in made.blocks
    }


def test_the_fixed_texts_stand_in_their_places(made: Report) -> None:
    assert made.banner[0] == TEXTS["N1"]
    assert made.banner[1] == TEXTS["N2"]
    assert TEXTS["N7"] in made.banner
    assert [text for text in made.banner if text.startswith(TEXTS["N3"].split("{")[0])]
    assert TEXTS["N6"] not in made.banner
    assert made.footer[0] == TEXTS["N8"]


def test_the_profile_for_imaging_research_says_so(case: Case, worked: Worked) -> None:
    row = msgspec.structs.replace(worked.row, settings=Settings(profile="research_imaging"))
    memory = msgspec.structs.replace(worked.memory, assessment=worked.assessment)
    assert TEXTS["N6"] in report.build(case, row, memory).banner


def test_a_signed_report_is_no_longer_unverified(case: Case, worked: Worked) -> None:
    memory = msgspec.structs.replace(worked.memory, assessment=worked.assessment, signed_by="Dr Example")
    assert TEXTS["N2"] not in report.build(case, worked.row, memory).banner


def test_flags_come_gravest_first_with_what_a_clinician_would_do_and_a_source(made: Report) -> None:
    tones = [line.tone for one in made.blocks if one.id == "flags" for line in one.lines]
    assert tones == sorted(tones, key=("critical", "serious", "caution").index) and len(tones) >= 3
    for text in block(made, "flags"):
        assert "A clinician would" in text and text.endswith(")")


def test_every_line_that_states_something_resolves(made: Report) -> None:
    """Muted lines tell of the program (model record, input quality); all others rest on evidence."""
    known = {item.id for item in made.evidence}
    stating = [line for line in report.all_lines(made) if line.tone != "muted"]
    assert len(stating) > 30
    for line in stating:
        assert line.evidence and set(line.evidence) <= known and not line.struck, line.text


def test_a_flag_a_test_and_a_cell_that_rest_on_nothing_are_struck(case: Case, worked: Worked) -> None:
    done = worked.done
    first, *others = done.differential.hypotheses
    bare = msgspec.structs.replace(first, for_=(msgspec.structs.replace(first.for_[0], evidence=("e9999",)),))
    assessment = msgspec.structs.replace(
        done,
        flags=(msgspec.structs.replace(done.flags[0], evidence=()),),
        next_tests=(msgspec.structs.replace(done.next_tests[0], evidence=()),),
        differential=msgspec.structs.replace(done.differential, hypotheses=(bare, *others)),
    )
    shown = report.build(case, worked.row, msgspec.structs.replace(worked.memory, assessment=assessment))
    struck = [line for line in report.all_lines(shown) if line.struck]
    assert len(struck) == 4 and all(line.reason for line in struck)  # flag, test, the cell and the line of its row


def test_the_table_shows_both_scores_and_says_how_much_more_is_missing(made: Report) -> None:
    (table,) = next(one.tables for one in made.blocks if one.id == "columns")
    assert table.columns == ("Condition", "For", "Against", "Missing")
    assert 1 <= len(table.rows) <= 5
    first = table.rows[0][0][0].text
    assert first.startswith("Acute kidney injury: leading (clues ") and ", model " in first
    for row in table.rows:
        assert len(row[3]) <= report.MOST_MISSING + 1
        assert all(line.text.endswith(")") for cell in row[1:3] for line in cell)
    assert any(row[3] and row[3][-1].text.startswith("and ") for row in table.rows)


def test_what_could_not_be_used_is_said_with_its_reason(made: Report) -> None:
    said = block(made, "quality")
    assert "scan.xyz: not a kind of file that is read" in said
    assert "film.png: present, not analysed" in said
    assert any("Strangeness" in text for text in said)


def test_a_contradiction_stands_in_the_report(made: Report) -> None:
    assert any(
        text.startswith("Wheeze: stated in one place and denied in another") for text in block(made, "contradictions")
    )


def test_the_model_record_names_pack_and_prompt(made: Report, worked: Worked) -> None:
    said = " ".join(block(made, "model"))
    assert "scripted" in said and worked.of(ev.ModelCalled)[0].prompt_sha256 in said and "direct_rank" in said


@pytest.mark.parametrize(
    ("patient", "line"),
    [
        (Patient(), "Name, birth date and id not stated, 74 years, male"),
        (
            Patient(name="Muster, Edwin", birth_date="1952-05-02", patient_id="X1"),
            "Muster, Edwin, born 1952-05-02, X1, 74 years, male",
        ),
        (Patient(name="Muster, Edwin"), "Muster, Edwin, birth date and id not stated, 74 years, male"),
    ],
)
def test_who_it_is(patient: Patient, line: str, case: Case, worked: Worked) -> None:
    named = msgspec.structs.replace(case, patient=patient)
    assert worked.report(named).patient == line


def test_a_stopped_run_gives_a_partial_report(case: Case, worked: Worked) -> None:
    recorded = [ev.RunStarted(
        workflow="direct", version="1", mode="adaptive", seed=1, settings_sha256="", profile="", backbone=""
    ), *worked.of(ev.EvidenceAdded)[:1], *worked.of(ev.Retrieved)[:1], worked.of(ev.ModelCalled)[0]]  # fmt: skip
    rows = [
        ev.Recorded(run_id="r1", seq=n, n=n, branch="", key=str(n), at=workup.AT, event=event)
        for n, event in enumerate(recorded, start=1)
    ]
    partial = report.build(case, worked.row, fold.fold(rows))
    # A search that is done and a model call under way; the start and what was noted are no steps of work.
    assert partial.partial and partial.banner[0] == "Partial result: 1 of 2 steps finished"
    assert partial.evidence and TEXTS["N8"] in partial.footer
    assert not any(text.startswith("Inputs not available") for text in partial.banner)  # nobody has looked yet
    assert "EVIDENCE" not in report.text(partial)


def test_a_journal_that_does_not_fit_is_said_above_everything(case: Case, worked: Worked) -> None:
    faults = tuple(f"event {n} of run r1 does not fit the chain" for n in range(1, 6))
    memory = msgspec.structs.replace(worked.memory, assessment=worked.assessment)
    said = "The journal of this run does not fit its hash chain: event 1 of run r1 does not fit the chain"
    for one in (memory, msgspec.structs.replace(memory, assessment=None)):
        assert report.build(case, worked.row, one, faults=faults[:1]).banner[0] == f"{said}."
        long = report.build(case, worked.row, one, faults=faults).banner[0]
        assert long.startswith(said) and long.endswith("; and 2 more.")
        assert "hash chain" not in " ".join(report.build(case, worked.row, one).banner)


def test_a_run_that_did_nothing_has_no_report(case: Case, worked: Worked) -> None:
    with pytest.raises(UserError, match="not produced anything"):
        report.build(case, worked.row, fold.WorkingMemory())


def test_the_terminal_shows_every_line_every_cell_and_all_cited_evidence(made: Report) -> None:
    text = report.text(made, full=True)
    for line in report.all_lines(made):
        assert line.text in text
        assert all(f"{identifier}" in text for identifier in line.evidence)
    for item in report.cited(made):
        assert f"[{item.id}] {' '.join(item.text.split())}" in text
    assert all(words in text for words in (*made.banner, *made.footer, made.title, made.patient))


def test_without_full_the_terminal_lists_the_case_and_counts_what_was_published(made: Report) -> None:
    text = report.text(made)
    published = [item for item in report.cited(made) if item.provenance.kind == "passage"]
    case = [item for item in report.cited(made) if item.provenance.kind != "passage"]
    assert len(case) > 10 and len(published) > 10
    assert all(f"\n  [{item.id}] " in text for item in case)
    assert not any(f"\n  [{item.id}] " in text for item in published)
    assert f"and {len(published)} published sources, listed by `wardround report` with --full" in text


def test_the_headline_is_the_conclusions_first_line(made: Report, worked: Worked) -> None:
    assert report.headline(made) == worked.assessment.headline.text
    assert report.headline(msgspec.structs.replace(made, blocks=())) == ""


def test_computed_evidence_brings_what_it_was_computed_from(made: Report) -> None:
    shown = {item.id for item in report.cited(made)}
    computed = [item for item in report.cited(made) if report.inputs(item)]
    assert computed
    for item in computed:
        assert set(report.inputs(item)) <= shown


def test_the_report_survives_json(made: Report) -> None:
    assert codec.decode(codec.encode(made), Report) == made
