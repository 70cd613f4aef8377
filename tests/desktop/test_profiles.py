"""Text support shows and reads no image and says why; Research imaging shows everything under its banner (N6)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from core import settings
from core.domain.case import Case, ImageRef, Note
from core.domain.notices import TEXTS
from core.runtime.items import IMAGES_OFF as NOT_READ
from core.settings import Settings
from desktop.app import Session
from desktop.state.case_items import ENTRY
from desktop.views.empty_page import FORMS, FORMS_OF_TEXT
from desktop.views.viewers import IMAGES_OFF, PictureCard, PictureView
from tests.helpers.sitting import AT, PATIENCE, finish_run, open_case, put_cases

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]
OFF = "off in the Text support profile"
CASE = Case(
    id="c1",
    title="A case with a picture",
    revision=1,
    created_at=AT,
    items=(
        Note(id="n1", title="note.txt", text="Fever and cough for two days.", sha256="0" * 64),
        ImageRef(id="i1", title="hand.png", sha256="1" * 64, preview_sha256="", width=8, height=8),
    ),
)


def said(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]


def every_page(session: Session) -> list[QWidget]:
    """The pages that are in the room when the window is asked for each of them."""
    window, seen = session.window, []
    for turn in (window.page_case, window.page_run, window.page_report, window.page_runs):
        turn()
        seen.append(window.pages.currentWidget())
        assert bool(window.research.isVisible()) == session.space.research
    for show in (window.show_knowledge, window.show_models):
        show()
        seen.append(window.room.currentWidget())
        assert bool(window.research.isVisible()) == session.space.research
    return seen


def test_text_support_has_no_image_and_says_why(qtbot: QtBot, open_window: Opener, example: Path, place: Path) -> None:
    """A case from the other profile keeps its picture; it is named, and not shown."""
    settings.save(place, Settings())
    session = open_window()
    window, page = session.window, session.window.case_page
    assert window.empty.words.text() == FORMS_OF_TEXT
    assert not window.research.isVisible()
    put_cases(session, CASE)
    open_case(qtbot, session, CASE.id)
    assert OFF in said(page)
    page.open_item("i1")
    assert page.list.currentIndex().data(ENTRY).detail == OFF
    assert IMAGES_OFF in said(page)
    assert window.findChildren(PictureView) == []
    finish_run(qtbot, session)
    picture = next(item for item in session.space.live.memory.evidence if item.provenance.kind == "image")
    window.show_evidence(picture.id)
    assert IMAGES_OFF in said(window.panel)
    qtbot.waitUntil(lambda: window.desk.shown is not None, timeout=PATIENCE)
    assert TEXTS["N6"] not in window.report_page.banner.accessibleName()
    assert len(set(every_page(session))) == 6
    with qtbot.waitSignal(window.desk.import_over, timeout=PATIENCE) as over:
        window.arrivals.take([example / "chest-film.dcm", example / "01-gp-letter.txt"], into=CASE.id)
    case = over.args[0]
    assert [(entry.name, entry.reason) for entry in case.unread] == [("chest-film.dcm", NOT_READ)]
    assert NOT_READ in window.pane.card._failures.text()


def test_research_imaging_has_everything_under_its_banner(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    window, page = session.window, session.window.case_page
    assert window.empty.words.text() == FORMS
    assert window.research.isVisible()
    assert window.research.text() == TEXTS["N6"]
    put_cases(session, CASE)
    open_case(qtbot, session, CASE.id)
    page.open_item("i1")
    assert isinstance(page.shown, PictureCard)
    assert len(set(every_page(session))) == 4
