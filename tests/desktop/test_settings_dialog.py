"""The settings dialog: every setting of the struct is in it, what is saved is what was changed, bad input is said."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit, QSpinBox
from pytestqt.qtbot import QtBot

from core import settings
from core.errors import UserError
from core.settings import Settings
from desktop.app import Session
from desktop.state import settings_form
from desktop.views.settings_dialog import SettingsDialog

pytestmark = pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
Opener = Callable[..., Session]


def dialog(qtbot: QtBot, now: Settings) -> SettingsDialog:
    made = SettingsDialog(None, settings_form.lines(now))  # type: ignore[arg-type]
    qtbot.addWidget(made)
    return made


def test_every_setting_is_a_line_with_its_meaning() -> None:
    lines = {line.key: line for line in settings_form.lines(Settings())}
    assert {"profile", "models.backbone", "weighing.tau", "limits.zip_ratio"} <= set(lines)
    assert all(line.meaning.endswith(".") for line in lines.values())
    assert lines["fallback"].choices == ("announce", "ask", "forbid")
    assert (lines["limits.file_mb"].kind, lines["limits.file_mb"].value) == ("whole", 50)
    assert (lines["weighing.tau"].kind, lines["weighing.tau"].group) == ("number", "Weighing")


def test_only_what_was_changed_is_handed_on(qtbot: QtBot) -> None:
    made = dialog(qtbot, Settings())
    assert not made.save.isEnabled()
    pages, fallback = made.fields["limits.pdf_pages"].control, made.fields["fallback"].control
    backbone, tau = made.fields["models.backbone"].control, made.fields["weighing.tau"].control
    assert isinstance(pages, QSpinBox) and isinstance(fallback, QComboBox)
    assert isinstance(backbone, QLineEdit) and isinstance(tau, QDoubleSpinBox)
    pages.setValue(120)
    fallback.setCurrentIndex(fallback.findData("forbid"))
    backbone.setText(" gemma3-270m ")
    tau.setValue(1.25)
    with qtbot.waitSignal(made.saved) as said:
        made.save.click()
    wanted = {"limits.pdf_pages": 120, "fallback": "forbid", "models.backbone": "gemma3-270m", "weighing.tau": 1.25}
    assert said.args == [wanted]
    kept = settings_form.changed(Settings(), wanted)
    assert (kept.limits.pdf_pages, kept.fallback, kept.weighing.tau) == (120, "forbid", 1.25)
    assert kept.limits.file_mb == 50


def test_defaults_come_back(qtbot: QtBot) -> None:
    made = dialog(qtbot, settings_form.changed(Settings(), {"mode": "paper", "weighing.candidates": 5}))
    made._reset()
    assert made.answers() == {"mode": "adaptive", "weighing.candidates": 12}


def test_a_search_leaves_what_fits(qtbot: QtBot) -> None:
    made = dialog(qtbot, Settings())
    made.search.setText("archive unpack GiB")
    assert [key for key, field in made.fields.items() if not field.isHidden()] == ["limits.zip_gib"]
    made.search.setText("zzz")
    assert not made.none.isHidden()


@pytest.mark.parametrize(
    ("answers", "why"),
    [({"fallback": "sometimes"}, "Invalid enum value 'sometimes'"), ({"no.such": 1}, "There is no setting no.such.")],
)
def test_what_cannot_be_is_said_and_changes_nothing(answers: dict[str, str | int], why: str) -> None:
    with pytest.raises(UserError) as said:
        settings_form.changed(Settings(), answers)
    assert why in said.value.text


def changed_by_hand(session: Session) -> SettingsDialog:
    """The dialog over the window, with the language model taken out."""
    session.window.show_settings()
    made = session.window.findChild(SettingsDialog)
    assert isinstance(made, SettingsDialog)
    control = made.fields["models.backbone"].control
    assert isinstance(control, QLineEdit)
    control.setText("")
    made.save.click()
    return made


def test_saved_in_the_window_and_read_at_the_next_start(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    made = changed_by_hand(session)
    qtbot.waitUntil(lambda: not made.isVisible())
    assert session.space is not None and session.space.model == ""
    assert settings.load(session.space.bench.profile).models.backbone == ""


def test_a_disk_that_refuses_keeps_the_dialog_open(qtbot: QtBot, open_window: Opener) -> None:
    session = open_window()
    assert session.space is not None
    (session.space.bench.profile / "settings.part").mkdir()  # the file that is written first cannot be
    made = changed_by_hand(session)
    qtbot.waitUntil(lambda: not made.complaint.isHidden())
    assert "could not be written" in made.complaint.text()
    assert session.space.model == Settings().models.backbone
