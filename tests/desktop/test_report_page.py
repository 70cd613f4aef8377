"""What the report page, the evidence panel, the question card and the picture card show of values made by hand."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from core.domain.case import Case, LabRow, LabTable, Note, SeriesRef
from core.domain.evidence import Answer, Evidence, Finding, Gap, Provenance, Question
from core.domain.hypothesis import Differential, Hypothesis
from core.domain.memory import WorkingMemory
from core.domain.passage import Passage
from core.domain.report import Block, Line, Report, Table
from desktop.state.source import resolve
from desktop.views.evidence_panel import EvidencePanel
from desktop.views.palette import DARK, LIGHT
from desktop.views.question_card import QuestionCard
from desktop.views.report_markup import Markup
from desktop.views.report_page import ReportPage
from desktop.views.viewers import NoteView, PictureCard

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)


def evidence(identifier: str, kind: str, **place: Any) -> Evidence:
    provenance = Provenance(kind=kind, sha256="0", label=f"place of {identifier}", **place)  # type: ignore[arg-type]
    return Evidence(id=identifier, text=f"statement {identifier}", provenance=provenance)


ITEMS = tuple(evidence(f"e{n}", "document", reference="n1", start=0, end=4) for n in range(1, 8))


def report(*blocks: Block) -> Report:
    return Report(
        title="A <b>case</b>",
        patient="Doe, Jane",
        run_id="r1",
        created_at="",
        banner=("AI-generated, unverified", "Inputs not available: none"),
        blocks=blocks,
        evidence=ITEMS,
        footer=("Not CE-marked.",),
    )


def said(widget: QWidget) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_of_documents_never_becomes_mark_up(palette: Any) -> None:
    line = Line(text="<img src='file:///x'> & <script>", evidence=("e1",))
    html = Markup(palette, 1.0).report(report(Block(id="b", title="<i>T</i>", lines=(line,))))
    assert "&lt;img src=&#x27;file:///x&#x27;&gt; &amp; &lt;script&gt;" in html
    assert "<img" not in html
    assert "<i>T" not in html
    assert "href='evidence:e1'" in html
    assert "title='statement e1'" in html


def test_struck_sentence_stays_with_its_reason(qtbot: QtBot) -> None:
    page = ReportPage()
    qtbot.addWidget(page)
    line = Line(text="Potassium is 9.", struck=True, reason="No evidence found for this statement")
    page.show_report(report(Block(id="b", title="Summary", lines=(line,))), None)
    assert "Potassium is 9." in page.body.toPlainText()
    assert "Struck: No evidence found for this statement" in page.body.toPlainText()
    assert "line-through" in page.body.toHtml()


def test_safety_lines_say_their_severity_in_a_word(qtbot: QtBot) -> None:
    tones = ("critical", "serious", "caution")
    lines = tuple(Line(text=f"Flag {tone}.", tone=tone) for tone in tones)  # type: ignore[arg-type]
    page = ReportPage()
    qtbot.addWidget(page)
    page.show_report(report(Block(id="flags", title="Safety flags", lines=lines)), None)
    for tone in tones:
        assert f"{tone.capitalize()}. Flag {tone}." in page.body.toPlainText()


def test_many_sources_are_three_links_and_one_to_all_of_them(qtbot: QtBot) -> None:
    names = tuple(item.id for item in ITEMS)
    html = Markup(LIGHT, 1.0).report(report(Block(id="b", title="T", lines=(Line(text="x", evidence=names),))))
    assert html.count("href='evidence:e1'") == 1
    assert "href='evidence:e4'" not in html
    assert f"href='evidence:{','.join(names)}'" in html
    assert ">+4</a>" in html


def test_table_and_ranking_are_all_there(qtbot: QtBot) -> None:
    row = (
        (Line(text="Heart failure: leading"),),
        (Line(text="Orthopnoea", evidence=("e2",)),),
        (),
        (Line(text="BNP"),),
    )
    table = Table(title="", columns=("Condition", "For", "Against", "Missing"), rows=(row,))
    hypotheses = tuple(
        Hypothesis(slug=band, title=f"Condition {band}", concept="c", band=band, structural=1.0, share=0.3)  # type: ignore[arg-type]
        for band in ("leading", "unlikely", "excluded")
    )
    page = ReportPage()
    qtbot.addWidget(page)
    blocks = (
        Block(id="conclusion", title="Conclusion", lines=(Line(text="First."),)),
        Block(id="c", title="Why", tables=(table,)),
    )
    page.show_report(report(*blocks), Differential(hypotheses=hypotheses, sufficient=True))
    shown = page.body.toPlainText()
    for words in ("Heart failure: leading", "For", "Orthopnoea", "Against", "—", "Missing", "BNP", "Condition leading"):
        assert words in shown
    assert "Condition excluded" not in shown
    assert page.banner.accessibleName() == "AI-generated, unverified. Inputs not available: none"


# ------------------------------------------------------------------------------------------------- sources

NOTE = Note(id="n1", title="letter.txt", text="Old 🫀 man with dyspnoea.\nSleeps upright.", sha256="0")
LABS = LabTable(id="t1", title="labs.csv", rows=(LabRow(row=7, test="CRP", value="80"),), sha256="0")
CASE = Case(id="c1", title="T", revision=1, created_at="", items=(NOTE, LABS))


def panel(qtbot: QtBot) -> EvidencePanel:
    made = EvidencePanel(lambda sha256, done, failed: None)
    qtbot.addWidget(made)
    return made


def test_span_is_marked_by_characters_beyond_the_basic_plane(qtbot: QtBot) -> None:
    start = NOTE.text.index("dyspnoea")
    item = evidence("e1", "document", reference="n1", start=start, end=start + len("dyspnoea"))
    shown = panel(qtbot)
    shown.show_source(resolve(item, CASE, WorkingMemory()))
    assert isinstance(shown.view, NoteView)
    assert shown.view.marked == "dyspnoea"
    assert shown.view.extraSelections()[0].cursor.selectedText() == "dyspnoea"
    assert "statement e1" in said(shown)


def test_passage_is_shown_with_edition_licence_and_review(qtbot: QtBot) -> None:
    passage = Passage(
        cid=1, key="k1", pack="p", pack_title="Starter set", edition="2026-11-30", licence="CC-BY-4.0", doc="d",
        title="Asthma", section="Next steps", section_class="treatment", start=0, end=9, text="Give air.", sha256="0",
    )  # fmt: skip
    shown = panel(qtbot)
    shown.show_source(resolve(evidence("e1", "passage", reference="k1"), CASE, WorkingMemory(passages=(passage,))))
    for words in ("Asthma", "Starter set", "2026-11-30", "CC-BY-4.0", "not reviewed by a clinician"):
        assert words in said(shown)


def test_computed_statement_leads_to_its_inputs(qtbot: QtBot) -> None:
    place = Provenance(kind="derived", reference="egfr", sha256="0", label="computed")
    finding = Finding(
        id="f2",
        concept="c",
        name="eGFR",
        provenance=place,
        extractor="derived-1",
        inputs=("f1",),
        formula="CKD-EPI 2021",
    )
    derived = Evidence(id="e2", text="eGFR 40", provenance=place, finding="f2")
    source = Evidence(id="e1", text="Creatinine 140", provenance=ITEMS[0].provenance, finding="f1")
    memory = WorkingMemory(findings=(finding,), evidence=(source, derived))
    shown = panel(qtbot)
    wanted: list[str] = []
    shown.wanted.connect(wanted.append)
    shown.show_source(resolve(derived, CASE, memory))
    assert "CKD-EPI 2021" in said(shown)
    next(b for b in shown.findChildren(QPushButton) if b.text() == "e1").click()
    assert wanted == ["e1"]


def test_answer_of_a_person_says_so(qtbot: QtBot) -> None:
    shown = panel(qtbot)
    shown.show_source(resolve(evidence("e1", "clinician", reference="dr"), CASE, WorkingMemory()))
    assert "Given by a person" in said(shown)


def test_picture_that_could_not_be_drawn_is_a_card_with_the_reason(qtbot: QtBot) -> None:
    reason = "Image could not be decoded: truncated pixel data; not analysed"
    series = SeriesRef(
        id="s1", title="Chest", study_uid="1", series_uid="2", modality="CR", instances=1, sha256="0",
        preview_sha256="", warnings=(reason,),
    )  # fmt: skip
    card = PictureCard(series)
    qtbot.addWidget(card)
    assert reason in said(card)
    assert "Chest" in said(card)
    assert not card.view.isVisible()


# ------------------------------------------------------------------------------------------------ question


def gap(concept: str, **more: Any) -> Gap:
    return Gap(concept=concept, name=concept.title(), obtain="history", why="it matters", **more)


def test_answers_go_together_and_nothing_is_chosen_beforehand(qtbot: QtBot) -> None:
    card = QuestionCard()
    qtbot.addWidget(card)
    question = Question(gaps=(gap("fever"), gap("travel", critical=True)), wording=("Fever?", "Travel?"))
    card.show_question(question)
    answers: list[tuple[Answer, ...]] = []
    card.answered.connect(answers.append)
    assert [row.answer for row in card.rows] == [None, None]
    assert not card.send.isEnabled()
    card.send_answers()
    assert answers == []
    card.rows[0].choice.choose(0)
    card.rows[0].words.setText(" 38.9 °C since Monday ")
    card.show_question(question)
    assert card.rows[0].words.text() == " 38.9 °C since Monday "
    card.none.click()
    card.send.click()
    assert answers == [
        (
            Answer(concept="fever", state="present", text="38.9 °C since Monday"),
            Answer(concept="travel", state="not obtainable"),
        )
    ]
    assert "needed for a sound work-up" in said(card)
    card.show_question(None)
    assert card.rows == []


def test_a_question_on_the_model_is_answered_by_yes_or_no(qtbot: QtBot) -> None:
    card = QuestionCard()
    qtbot.addWidget(card)
    card.show_question(Question(gaps=(gap("rung:cpu", kind="rung"),), wording=("Shall it run on the processor?",)))
    answers: list[tuple[Answer, ...]] = []
    card.answered.connect(answers.append)
    [row] = card.rows
    assert [made.text() for made in row.choice.buttons] == ["Go on", "Do not start"]
    assert row.words.isHidden() and card.none.isHidden()
    for choice in (0, 1):
        row.choice.choose(choice)
        card.send.click()
        card.send.setEnabled(True)
    assert [given.state for (given,) in answers] == ["present", "absent"]
    card.show_question(Question(gaps=(gap("fever"),), wording=("Fever?",)))
    assert not card.none.isHidden()
