"""Takes pictures of every page of the real window: example (a) imported, a real run, answers given, evidence opened.

Run as a program by packaging/picture.py (one picture, for the README) and by hand (every page, to look at). Uses the
profile that the environment names; knows the window by its public parts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication, QDialog

from core import paths, settings
from desktop.app import Session
from desktop.state.jobs import Interrupted
from desktop.views.crash_notice import CLOSED_BADLY, Crash
from desktop.views.knowledge_page import COLLECTIONS, TERMS
from desktop.views.look import look
from desktop.views.window import CASE, REPORT, RUN

PATIENCE_S = 120.0
ANSWERS = (1, 1, 1)  # absent


class Sitter:
    """Drives one window and writes what it shows."""

    def __init__(self, out: Path, *, mode: str, size: tuple[int, int]) -> None:
        application = QApplication.instance() or QApplication(["wardround"])
        assert isinstance(application, QApplication)
        application.setStyle("Fusion")
        self.application = application
        self.out = out
        profile = paths.profile_folder()
        settings.save(profile, msgspec.structs.replace(settings.load(profile), profile="research_imaging"))
        self.session = Session(application, profile)
        self.window = self.session.window
        look().set_mode("dark" if mode == "dark" else "light")
        self.window.resize(*size)
        self.window.show()
        self.count = 0

    def wait(self, ready: Callable[[], object], patience: float = PATIENCE_S) -> None:
        end = time.monotonic() + patience
        while not ready():
            if time.monotonic() > end:
                raise TimeoutError("the window did not get there")
            self.application.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
            time.sleep(0.005)

    def rest(self, seconds: float = 0.3) -> None:
        end = time.monotonic() + seconds
        self.wait(lambda: time.monotonic() > end)

    def take(self, name: str) -> Path:
        """A picture of the window as it is now."""
        self.rest()
        self.count += 1
        path = self.out / f"{self.count:02}-{name}.png"
        self.window.grab().save(str(path))
        return path

    def open_example(self, *letters: str) -> None:
        """Consent where it is asked for, then examples one after the other, (a) alone unless said otherwise."""
        self.wait(lambda: self.window.desk is not None)
        if self.window.consent_page is not None:
            self.window.consent_page.read.click()
        desk = self.window.desk
        assert desk is not None
        for letter in letters or ("a",):
            before = desk.case
            desk.import_example(letter)
            self.wait(lambda known=before: desk.case is not None and desk.case is not known)  # type: ignore[misc]

    def run_to_rest(self) -> None:
        """Start the work-up and wait for its question or its end."""
        self.window.turn_to(CASE)
        self.window.case_page.composer.start.click()
        live = self.session.space.live
        self.wait(lambda: live.row is not None and live.status in ("waiting", "finished", "failed", "stopped"))

    def answer(self) -> None:
        """Answer what is asked until the run has ended."""
        live = self.session.space.live
        while live.status == "waiting":
            for row, choice in zip(self.window.run_page.question.rows, ANSWERS, strict=False):
                row.choice.choose(choice)
            self.window.run_page.question.send.click()
            self.wait(lambda: live.status in ("waiting", "finished", "failed") and not live.active)

    def show_report(self, kind: str = "") -> None:
        """The report, with a piece of evidence of one kind open beside it."""
        desk = self.window.desk
        self.window.turn_to(REPORT)
        assert desk is not None
        self.wait(lambda: desk.shown is not None)
        if kind and desk.shown is not None:
            found = [i for i in desk.shown.report.evidence if i.provenance.kind == kind and place_of(i)]
            assessment = desk.shown.memory.assessment
            cited = set(assessment.headline.evidence) if assessment else set()
            for item in sorted(found, key=lambda i: i.id not in cited)[:1]:
                self.window.show_evidence(item.id)
                self.rest(0.5)


def place_of(item: object) -> bool:
    """Does this evidence have a place of its own to be shown?"""
    place = item.provenance  # type: ignore[attr-defined]
    return place.kind not in ("document", "passage") or place.start is not None


def take_every_page(sitter: Sitter) -> None:
    window = sitter.window
    sitter.wait(lambda: window.desk is not None)
    sitter.rest()
    sitter.take("start")
    sitter.open_example()
    for line in range(window.case_page.contents.rowCount()):
        window.case_page.list.setCurrentIndex(window.case_page.contents.index(line))
        sitter.take(f"case-{line}")
    window.case_page.composer.start.click()
    live = sitter.session.space.live
    sitter.wait(lambda: live.active)
    sitter.take("run-under-way")
    sitter.wait(lambda: live.status in ("waiting", "finished", "failed"))
    sitter.take("run-at-rest")
    sitter.answer()
    sitter.show_report()
    sitter.take("report")
    for kind in ("document", "cell", "image", "passage", "derived", "clinician"):
        sitter.show_report(kind)
        sitter.take(f"evidence-{kind}")
    bar = window.report_page.body.verticalScrollBar()
    for part in (3, 2, 1):
        bar.setValue(bar.maximum() // part)
        sitter.take(f"report-{part}")
    window.turn_to(RUN)
    sitter.take("run-finished")
    take_library(sitter)
    for act in (window.show_keys, window.show_about):
        act()
        dialogs = [dialog for dialog in window.findChildren(QDialog) if dialog.isVisible()]
        sitter.rest()
        sitter.count += 1
        dialogs[-1].grab().save(str(sitter.out / f"{sitter.count:02}-{act.__name__}.png"))
        dialogs[-1].close()


def take_library(sitter: Sitter) -> None:
    """The pages of the whole profile: knowledge with a search, its collections, the models."""
    window = sitter.window
    window.show_knowledge()
    knowledge = window.room.currentWidget()
    sitter.wait(lambda: knowledge.collections.packs.rowCount() > 0)
    knowledge.search.field.setText("high potassium")
    sitter.wait(lambda: knowledge.search.source.page is not None)
    for part, name in enumerate(("text", "facts", "why")):
        knowledge.search.source.parts.choose(part)
        sitter.take(f"knowledge-{name}")
    for tab, name in ((COLLECTIONS, "collections"), (TERMS, "terms")):
        knowledge.turn_to(tab)
        sitter.take(f"knowledge-{name}")
    window.show_models()
    models = window.room.currentWidget()
    sitter.wait(lambda: models.packs.rowCount() > 0)
    sitter.take("models")
    window.close_full()


def take_frame(sitter: Sitter) -> None:
    """Start, an import under way, resources, a crash notice with its report, the keys, a picture in Text support."""
    window = sitter.window
    sitter.wait(lambda: window.desk is not None)
    if window.consent_page is not None:
        window.consent_page.read.click()
    sitter.take("start")
    with TemporaryDirectory() as folder:
        for number in range(3000):
            (Path(folder) / f"note-{number:04}.txt").write_text(f"Note {number}." if number % 40 else "", "utf-8")
        window.arrivals.take([Path(folder)])
        sitter.wait(lambda: window.desk.incoming.rowCount() > 60)
        sitter.take("import-under-way")
        window.desk.cancel_import()
        sitter.wait(lambda: not window.desk.importing)
        sitter.take("import-stopped")
    sitter.open_example()
    window.resources.click()
    sitter.rest(1.2)
    left = Interrupted(run_id="r1", case_id=window.desk.case.id, title=window.desk.case.title, steps=7)
    window.crash.show_crash(Crash(happened=CLOSED_BADLY, left=left))
    sitter.take("crash-and-resources")
    window.report_problem()
    for act, kind in ((lambda: None, "report"), (window.show_keys, "keys")):
        act()
        sitter.rest(0.5)
        dialog = next(dialog for dialog in window.findChildren(QDialog) if dialog.isVisible())
        sitter.count += 1
        dialog.grab().save(str(sitter.out / f"{sitter.count:02}-{kind}.png"))
        dialog.accept()
    window.crash.hide()
    window.resources.click()
    window.case_page.images = False
    window.case_page.show_case(window.desk.case, {})
    window.case_page.open_item(window.desk.case.pictures[0].id)
    sitter.take("picture-off")


def take_one(sitter: Sitter, name: str) -> None:
    """The report of example (a) with a note's span open beside it: the picture of the README."""
    sitter.open_example("c", "b", "a")
    sitter.run_to_rest()
    sitter.answer()
    sitter.show_report("document")
    sitter.take(name)


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--mode", default="light", choices=("light", "dark"))
    parser.add_argument("--size", default="1360x860")
    parser.add_argument("--one", default="", metavar="NAME")
    parser.add_argument("--library", action="store_true", help="only the pages of the whole profile")
    parser.add_argument("--frame", action="store_true", help="only what stands around the pages")
    parser.add_argument("--zoom", type=float, default=1.0)
    chosen = parser.parse_args(given)
    chosen.out.mkdir(parents=True, exist_ok=True)
    width, height = (int(part) for part in chosen.size.split("x"))
    sitter = Sitter(chosen.out, mode=chosen.mode, size=(width, height))
    look().set_zoom(chosen.zoom)
    try:
        if chosen.library:
            sitter.open_example()
            take_library(sitter)
        elif chosen.frame:
            take_frame(sitter)
        else:
            take_one(sitter, chosen.one) if chosen.one else take_every_page(sitter)
    finally:
        sitter.session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
