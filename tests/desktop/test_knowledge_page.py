"""The knowledge page through real widgets and stores: search as one types, sources, collections, terms."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QWidget
from pytestqt.qtbot import QtBot

from core.errors import Cancelled, UserError
from core.retrieval.sources.catalogue import NAMES
from core.settings import Settings
from desktop.app import Session
from desktop.assembly import Workbench
from desktop.cli import arguments
from desktop.state import library_jobs
from desktop.state.knowledge_model import NO_VOCABULARY
from desktop.state.knowledge_reader import KnowledgeReader
from desktop.views import ask
from desktop.views.collection_dialogs import AddDialog, HistoryDialog
from desktop.views.full_page import FullPage
from desktop.views.knowledge_page import COLLECTIONS, SEARCH, TERMS, KnowledgePage
from desktop.views.look import look
from desktop.views.terms_dialog import Question
from desktop.views.window import Window
from tests.desktop.test_window_access import clipped, controls, outside

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]
PATIENCE = 20_000
GUIDE = """---
title: House rules for the ward
edition: 2026
licence: own
date: 2026-01-15
---
# Fever
Two blood cultures are taken before the first dose. Die Körpertemperatur wird gemessen.

## العربية
الحمى هي ارتفاع درجة حرارة الجسم.

## 中文
肺炎是肺部感染。
"""
OBO = """format-version: 1.2
ontology: ours

[Term]
id: HP:0001945
name: Fever
def: "Body temperature above normal." [X:1]
synonym: "Pyrexia" EXACT []
synonym: "Febris" EXACT []
is_a: HP:0000118 ! Phenotypic abnormality

[Term]
id: HP:0000118
name: Phenotypic abnormality
"""


@pytest.fixture
def page(qtbot: QtBot, open_window: Opener) -> KnowledgePage:
    """The page of an open window, opened by its key, its collections read."""
    window = open_window().window
    QTest.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    shown = window.room.currentWidget()
    assert isinstance(shown, KnowledgePage)
    qtbot.waitUntil(lambda: shown.collections.packs.rowCount() == 1, timeout=PATIENCE)
    return shown


def search(page: KnowledgePage, qtbot: QtBot, text: str) -> list[str]:
    """Type it; the titles of what was found."""
    page.search.field.clear()
    QTest.keyClicks(page.search.field, text) if text.isascii() else page.search.field.setText(text)

    def answered() -> bool:
        return page.search.answer is not None and page.search.answer.wanted.text == text

    qtbot.waitUntil(answered, timeout=PATIENCE)
    return [hit.passage.title for hit in page.search.results.rows]


def open_dialog(page: QWidget, kind: type[QDialog], qtbot: QtBot) -> QDialog:
    def found() -> list[QDialog]:
        return [dialog for dialog in page.findChildren(kind) if dialog.isVisible()]

    qtbot.waitUntil(lambda: bool(found()), timeout=PATIENCE)
    return found()[-1]


def drop(page: FullPage, *places: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(place)) for place in places])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    page.dropEvent(QDropEvent(QPointF(40, 40), copy, data, left, none))


def add(page: KnowledgePage, qtbot: QtBot, *places: Path, form: str = "", licence: str = "own") -> str:
    """Drop files, answer the form, wait for the end; what the page says then."""
    drop(page, *places)
    dialog = open_dialog(page, AddDialog, qtbot)
    assert isinstance(dialog, AddDialog)
    dialog.licence.setCurrentIndex(dialog.licence.findData(licence))
    dialog.form.setCurrentIndex(dialog.form.findData(form))
    before = page.collections.task.words.text()
    dialog.go.click()
    qtbot.waitUntil(
        lambda: not page.collections.task.busy and page.collections.task.words.text() != before, timeout=PATIENCE
    )
    return page.collections.task.words.text()


def choose(page: KnowledgePage, qtbot: QtBot, pack: str, state: str = "") -> None:
    """Wait until the pack is listed (in a state), and choose it."""

    def listed() -> bool:
        return any(row.id == pack and state in ("", row.state) for row in page.collections.packs.rows)

    qtbot.waitUntil(listed, timeout=PATIENCE)
    page.collections.list.setCurrentIndex(page.collections.packs.find(pack))


def test_search_as_one_types_and_read_the_source_by_keys_alone(qtbot: QtBot, page: KnowledgePage) -> None:
    assert page.search.field.hasFocus()
    assert "Hyperkalaemia" in search(page, qtbot, "hyperkal")
    QTest.keyClick(page.search.field, Qt.Key.Key_Return)
    assert page.search.list.hasFocus()
    QTest.keyClick(page.search.list, Qt.Key.Key_Down)
    hit = page.search.results.rows[1]
    qtbot.waitUntil(
        lambda: page.search.source.page is not None and page.search.source.page.hit == hit, timeout=PATIENCE
    )
    source = page.search.source
    assert source.view.marked == hit.passage.text and hit.passage.section in source.path.text()
    assert "Wardround starter guidelines" in source.about.text() and "CC-BY-4.0" in source.about.text()
    assert source.review.accessibleName() == "not reviewed by a clinician"
    source.parts.buttons[2].click()
    assert "rank 2" in source.why.text() and "hyperkalaemia" in source.why.text()
    source.parts.buttons[1].click()
    facts = [label.text() for label in source.stack.widget(1).findChildren(QLabel)]
    assert any("potassium" in words and "mmol/L" in words for words in facts)
    assert any("unreviewed" in words for words in facts)
    page.search.classes.setCurrentIndex(page.search.classes.findData("treatment"))
    qtbot.waitUntil(lambda: page.search.answer.wanted.classes == ("treatment",), timeout=PATIENCE)
    assert {hit.passage.section_class for hit in page.search.results.rows} == {"treatment"}
    page.search.classes.setCurrentIndex(0)
    assert search(page, qtbot, "pack:starter") == [] and "names a field" in page.search.said.text()
    assert search(page, qtbot, "xyzzyplugh") == [] and "No passage holds this" in page.search.said.text()
    assert page.search.source.page is None
    window = page.window()
    assert isinstance(window, Window)
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.room.currentWidget() is not page


def test_vectors_are_made_beside_everything_and_join_the_search_once_the_typing_rests(
    qtbot: QtBot, open_window: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARDROUND_TEST_EMBEDDER", "hashed")
    window = open_window().window
    work = window.library.vectors(window.desk)  # begun a second after the start of the window
    qtbot.waitUntil(lambda: work.moved and work.operation is None, timeout=PATIENCE)
    window.show_knowledge()
    page = window.room.currentWidget()
    assert isinstance(page, KnowledgePage)
    page.search.field.setText("sodium")
    qtbot.waitUntil(lambda: "Searched by words and by meaning." in page.search.said.text(), timeout=PATIENCE)
    page.search.rest.setInterval(3_600_000)
    search(page, qtbot, "potassium")
    assert "Searched by words." in page.search.said.text()
    page.search.list.setCurrentIndex(page.search.results.index(3))
    read = page.search.results.rows[3]
    page.search.search_meaning()
    qtbot.waitUntil(lambda: "Searched by words and by meaning." in page.search.said.text(), timeout=PATIENCE)
    assert page.search.results.rows[page.search.list.currentIndex().row()].passage == read.passage  # it stays open
    assert any("dense" in hit.ranks for hit in page.search.results.rows)
    search(page, qtbot, '"potassium"')
    page.search.search_meaning()
    qtbot.waitUntil(lambda: page.search.answer.wanted.vectors, timeout=PATIENCE)
    assert "Searched by words." in page.search.said.text()  # signs are for words
    guide = tmp_path / "guide.md"
    guide.write_text(GUIDE, encoding="utf-8")
    add(page, qtbot, guide)
    choose(page, qtbot, "house-rules-for-the-ward-2026", "draft")
    page.turn_to(COLLECTIONS)
    page.collections.approve.click()
    question = open_dialog(page, Question, qtbot)
    assert isinstance(question, Question)
    question.act.click()
    qtbot.waitUntil(lambda: "3 passages more can be found by meaning." in page.collections.making.words.text())


def test_complaint_D1_in_the_search(qtbot: QtBot, page: KnowledgePage) -> None:
    """open-webui/open-webui#10979, #11204 and D2, #1251: 100 of 100 passages show the words found in their section."""
    opened: set[str] = set()
    for words in ("blood pressure", "fever cough", "lactate", "pain", "creatinine", "oedema", "glucose", "headache"):
        search(page, qtbot, words)
        for line, hit in enumerate(page.search.results.rows):
            if len(opened) == 100 or hit.passage.key in opened:
                continue
            page.search.list.setCurrentIndex(page.search.results.index(line))
            qtbot.waitUntil(
                lambda wanted=hit: (
                    page.search.source.page is not None and page.search.source.page.hit.passage == wanted.passage
                ),
                timeout=PATIENCE,
            )
            shown = page.search.source
            assert shown.page is not None and shown.view.marked == hit.passage.text
            assert all(shown.page.text[a:b] == hit.passage.text[c:d] for (a, b), (c, d) in zip(
                shown.view.words, hit.spans, strict=True
            ))  # fmt: skip
            assert shown.path.text().startswith(hit.passage.title) and shown.page.collection.id == hit.passage.pack
            opened.add(hit.passage.key)
    assert len(opened) == 100


def test_collection_from_drop_to_retirement(
    qtbot: QtBot, page: KnowledgePage, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draft, approval, search, changes, damage, retirement; Chinese, Arabic, umlauts (D4: nomic-ai/gpt4all#1240)."""
    guide = tmp_path / "guide.md"
    guide.write_text(GUIDE, encoding="utf-8")
    said = add(page, qtbot, guide)
    assert "It is a draft: approve it before it is searched." in said
    pack = "house-rules-for-the-ward-2026"
    choose(page, qtbot, pack, "draft")
    texts = ("blood cultures before", "Körpertemperatur", "الحمى", "肺炎")
    for text in texts:
        assert "House rules for the ward" not in search(page, qtbot, text)
    page.turn_to(COLLECTIONS)
    page.collections.approve.click()
    question = open_dialog(page, Question, qtbot)
    assert isinstance(question, Question)
    question.act.click()
    choose(page, qtbot, pack, "active")
    assert not page.collections.approve.isVisible()
    for text in texts:
        assert search(page, qtbot, text)[0] == "House rules for the ward", text
        hit = page.search.results.rows[0]
        assert "".join(hit.passage.text[a:b] for a, b in hit.spans), text
    page.turn_to(COLLECTIONS)
    page.collections.changes.click()
    history = open_dialog(page, HistoryDialog, qtbot)
    assert isinstance(history, HistoryDialog)
    assert [line.split("  ")[2] for line in history.acts.text().splitlines()] == ["import", "approve"]
    history.accept()
    page.collections.verify.click()
    qtbot.waitUntil(lambda: "is intact" in page.collections.task.words.text(), timeout=PATIENCE)
    choose(page, qtbot, pack)
    target = tmp_path / "out.wrpack"
    monkeypatch.setattr(ask, "save", lambda parent, title, name, form: target)
    page.collections.export.click()
    qtbot.waitUntil(lambda: page.collections.task.words.text() == f"Written: {target}", timeout=PATIENCE)
    drop(page, target)  # the same content again changes nothing
    qtbot.waitUntil(lambda: "nothing was changed" in page.collections.task.words.text(), timeout=PATIENCE)
    choose(page, qtbot, pack)
    page.collections.retire.click()
    question = open_dialog(page, Question, qtbot)
    assert isinstance(question, Question) and not question.act.isEnabled()
    question.reason.setText("replaced by the new house rules")
    question.act.click()
    choose(page, qtbot, pack, "withdrawn")
    assert "House rules for the ward" not in search(page, qtbot, "blood cultures before")
    with sqlite3.connect(place / "knowledge.db") as database:
        database.execute("UPDATE knowledge_section SET text = replace(text, 'Two', 'Ten') WHERE text LIKE 'Two blood%'")
    database.close()
    page.collections.verify.click()
    choose(page, qtbot, pack, "quarantined")
    assert "is damaged and set aside" in page.collections.task.words.text()
    assert "was changed on disk" in page.collections.task.lines.toPlainText()


def test_vocabulary_by_drop_then_terms(qtbot: QtBot, page: KnowledgePage, tmp_path: Path) -> None:
    page.turn_to(TERMS)
    qtbot.waitUntil(lambda: page.lookup.said.text() == NO_VOCABULARY, timeout=PATIENCE)
    obo = tmp_path / "ours.obo"
    obo.write_text(OBO)
    assert "2 concepts (obo)" in add(page, qtbot, obo)
    qtbot.waitUntil(lambda: "vocabulary" in [row.kind for row in page.collections.packs.rows], timeout=PATIENCE)
    page.turn_to(TERMS)
    for text, shown in (
        ("pyrexia", "Fever"),
        ("febriss", "Fever"),
        ("fevr", "Fever"),
        ("zzzzz", "No vocabulary holds"),
    ):
        page.lookup.field.setText(text)
        qtbot.waitUntil(lambda wanted=shown: wanted in told(page), timeout=PATIENCE)
    page.lookup.field.setText("Fever")
    qtbot.waitUntil(lambda: "Body temperature above normal. (HP)" in told(page), timeout=PATIENCE)
    assert "is a: Phenotypic abnormality" in told(page) and "Pyrexia, Febris" in told(page)
    rows = [json.dumps({"id": f"n{n}", "title": f"Topic {n}", "content": f"Text {n} on gout."}) for n in range(9)]
    jsonl, odd = tmp_path / "notes.jsonl", tmp_path / "odd.bin"
    jsonl.write_text("\n".join([*rows, "{broken"]))
    odd.write_bytes(b"\x00\x01\x02")
    assert "1 records were left out" in add(page, qtbot, jsonl, form="medrag")
    assert page.collections.task.lines.isVisible() and "notes.jsonl" in page.collections.task.lines.toPlainText()
    assert "choose it under “Form”" in add(page, qtbot, odd)


def told(page: KnowledgePage) -> str:
    return "\n".join(label.text() for label in page.lookup.findChildren(QLabel) if label.isVisible())


def test_forms_are_those_there_are() -> None:
    assert set(library_jobs.FORMS) == set(arguments.FORMS) == set(NAMES)


def every_part(window: Window, qtbot: QtBot) -> Iterator[str]:
    window.show_knowledge()
    knowledge = window.room.currentWidget()
    assert isinstance(knowledge, KnowledgePage)
    qtbot.waitUntil(lambda: knowledge.collections.packs.rowCount() > 0, timeout=PATIENCE)
    knowledge.turn_to(SEARCH)
    search(knowledge, qtbot, "septic shock")
    qtbot.waitUntil(lambda: knowledge.search.source.page is not None, timeout=PATIENCE)
    for part in range(3):
        knowledge.search.source.parts.choose(part)
        yield f"search {part}"
    for tab in (COLLECTIONS, TERMS):
        knowledge.turn_to(tab)
        yield f"tab {tab}"
    knowledge.turn_to(SEARCH)
    window.show_models()
    models = window.room.currentWidget()
    qtbot.waitUntil(lambda: models.packs.rowCount() > 0, timeout=PATIENCE)  # type: ignore[attr-defined]
    yield "models"


def test_every_part_is_named_reachable_and_unclipped(qtbot: QtBot, open_window: Opener) -> None:
    window = open_window().window
    for width, height, zoom in ((960, 540, 1.0), (1600, 1000, 2.0)):
        look().set_zoom(zoom)
        window.resize(width, height)
        for part in every_part(window, qtbot):
            settle(window)
            assert (window.width(), window.height()) == (width, height), part
            assert clipped(window) + outside(window) == [], (part, width, zoom)
            shown = window.room.currentWidget()
            assert [type(child).__name__ for child in controls(shown) if not child.accessibleName()] == []
            wanted = {c for c in controls(shown) if c.isEnabled() and c.focusPolicy() & Qt.FocusPolicy.TabFocus}
            assert wanted <= tab_chain(shown), part


def settle(window: Window) -> None:
    """Many cards are laid out from the outside inwards: a few turns of the loop, fewer where all is in place."""
    for _ in range(20):
        QApplication.processEvents()
        if not clipped(window):
            return


def tab_chain(start: QWidget) -> set[QWidget]:
    seen: set[QWidget] = set()
    reached = start.nextInFocusChain()
    while reached not in seen:
        seen.add(reached)
        reached = reached.nextInFocusChain()
    return seen


def test_replaced_passages_are_not_shown_and_a_stopped_import_changes_nothing(place: Path, tmp_path: Path) -> None:
    guide, stop = tmp_path / "guide.md", threading.Event()
    guide.write_text(GUIDE, encoding="utf-8")
    bench = Workbench(place, Settings(), "t")
    stop.set()
    with pytest.raises(Cancelled):
        library_jobs.add(bench, [guide], library_jobs.Told(licence="own"))(lambda *_: None, stop)
    with closing(KnowledgeReader(bench)) as reader:
        assert [pack.id for pack in reader.collections()] == ["starter"]
        hit = reader.search("lactate").hits[0]
        gone = msgspec.structs.replace(hit, passage=msgspec.structs.replace(hit.passage, sha256="0" * 64))
        assert reader.source(hit).text[reader.source(hit).start :].startswith(hit.passage.text)
        with pytest.raises(UserError, match="Search again"):
            reader.source(gone)
