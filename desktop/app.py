"""The window as a program: paint first, then open the profile, then work until the window is closed.

The order keeps the start short: Qt and an empty shell before any store, model or picture library is imported. A mistake
of ours becomes a crash file and a sentence; the window lives on.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QCoreApplication, QObject, QSettings, QTimer, Signal
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QWidget

from core import codec, log, paths
from core.errors import EXIT_ACT, EXIT_BUG, EXIT_DONE, WardroundError
from core.store.database import ProfileLock
from desktop import crash
from desktop.i18n import tr
from desktop.state.workspace import Workspace
from desktop.views.look import Look, set_look
from desktop.views.window import Window

DEMO = "demo"
WINDOW_STATE = "window.ini"
PAINT_ONLY = "--paint-only"  # prints how the first paint went, and ends: for measurements
HEAVY = ("llama_cpp", "onnxruntime", "scipy", "numpy", "pydicom", "PIL", "torch")
DAMAGED_QT = "This build of Qt for Python damages the interpreter. Reinstall Wardround."
NO_SCREEN = "There is no screen here for a window. `wardround --help` lists what works without one."
ROUNDS, DRIFT = 100, 20
POLL_MS = 250  # Ctrl+C in a terminal is heard at the next turn of Python
CALL = "window.raise"  # in the profile: left by a second start, taken away by the window that comes to the front
CALLED = "Wardround is already open with this profile; its window was brought to the front."
CALL_S = 3.0


def run_window(argv: Sequence[str]) -> int:
    """Open the window of a profile and return its exit code when it is closed."""
    if not has_screen(os.environ, sys.platform):
        sys.stderr.write(tr(NO_SCREEN) + "\n")
        return EXIT_ACT
    application = QApplication.instance() or QApplication(list(argv[:1]))
    if not isinstance(application, QApplication):
        return EXIT_BUG
    application.setApplicationName("Wardround")
    application.setStyle("Fusion")
    if not counts_are_stable():
        return refuse(tr(DAMAGED_QT), EXIT_BUG)
    profile = profile_of(argv)
    lock = ProfileLock(profile)
    try:
        lock.acquire()
    except WardroundError as error:
        if error.code == "second process" and call_first(profile, CALL_S):
            sys.stderr.write(tr(CALLED) + "\n")
            return EXIT_DONE
        return refuse(error.text, EXIT_ACT)
    try:
        with crash.native_faults():
            return Session(application, profile, paint_only=PAINT_ONLY in argv).run()
    finally:
        lock.release()


def has_screen(environment: Mapping[str, str], platform: str) -> bool:
    """Is there anything to draw on? Without it Qt would end the process itself, with a text for programmers."""
    named = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return not platform.startswith("linux") or any(environment.get(name) for name in named)


def profile_of(argv: Sequence[str]) -> Path:
    """The folder after `--profile`: a path or "demo"; else the person's own profile."""
    words = [part for word in argv for part in (word.split("=", 1) if word.startswith("--profile=") else [word])]
    named = words[words.index("--profile") + 1] if "--profile" in words else ""
    if named in ("", DEMO):
        return paths.profile_folder(DEMO) if named else paths.profile_folder()
    return Path(named)


def call_first(profile: Path, patience_s: float) -> bool:
    """Ask the window that has the profile to come to the front. False: none answers, a command has it."""
    call, end = profile / CALL, time.monotonic() + patience_s
    try:
        call.touch()
        while call.exists():
            if time.monotonic() > end:
                call.unlink(missing_ok=True)
                return False
            time.sleep(0.05)
    except OSError:
        return False
    return True


def refuse(sentence: str, code: int) -> int:
    """Say why the window does not open: in a box, and for scripts on the error output."""
    sys.stderr.write(sentence + "\n")
    if QApplication.platformName() not in ("offscreen", "minimal"):
        QMessageBox.critical(None, "Wardround", sentence)
    return code


class _Sender(QObject):
    sent = Signal()


def counts_are_stable() -> bool:
    """Do signals and repaints leave the reference counts of None, True and False alone? (imaging.md section 3)"""
    sender, widget = _Sender(), QLabel()
    watched = (None, True, False)
    before = [sys.getrefcount(value) for value in watched]
    for _ in range(ROUNDS):
        sender.sent.emit()
        QWidget.update(widget)
    after = [sys.getrefcount(value) for value in watched]
    return all(abs(now - then) <= DRIFT for now, then in zip(after, before, strict=True))


class Session:
    """One window at work in one profile. `fault` is for tests: how its worker fails (`desktop/worker.py`)."""

    def __init__(self, application: QApplication, profile: Path, *, paint_only: bool = False, fault: str = "") -> None:
        self._application = application
        self._profile = profile
        self._paint_only = paint_only
        self._fault = fault
        self.space: Workspace | None = None
        self._code = EXIT_DONE
        settings = QSettings(str(profile / WINDOW_STATE), QSettings.Format.IniFormat)
        look = Look(settings)
        set_look(look)
        look.apply()
        self.window = Window(settings)
        self.window.painted.connect(self._on_painted)
        self.window.declined.connect(self.window.close)
        self._poll = QTimer(self.window, interval=POLL_MS)
        self._poll.timeout.connect(self._look_around)
        self._poll.start()

    def run(self) -> int:
        """Show the window and work until it is closed."""
        before = sys.excepthook
        sys.excepthook = self._on_mistake
        try:
            self.window.show()
            self._application.exec()
        finally:
            self.close()
            sys.excepthook = before
        return self._code

    def close(self) -> None:
        """End the worker, let go of the profile."""
        self._poll.stop()
        self.window.close()
        if self.space is not None:
            self.space.close()
            self.space = None
            crash.note_closed(self._profile)

    def _look_around(self) -> None:
        """Did a second start ask for this window?"""
        call = self._profile / CALL
        if self.space is not None and call.exists():
            call.unlink(missing_ok=True)
            self.window.come_forward()

    def _on_painted(self) -> None:
        if self._paint_only:
            sys.stdout.write(codec.encode(first_paint()).decode() + "\n")
            sys.stdout.flush()
            self._application.quit()
            return
        try:
            self._open()
        except WardroundError as error:
            self._code = refuse(error.text, EXIT_ACT)
            self._application.quit()

    def _open(self) -> None:
        """Open the profile and hand it to the window; only now are the stores imported."""
        from core import settings
        from core.store.database import actor
        from desktop.assembly import Workbench
        from desktop.engine import Engine

        log.to_file(paths.log_folder() / crash.LOG)
        bench = Workbench(self._profile, settings.load(self._profile), actor())
        stores = bench.open_stores()
        engine = Engine(bench.worker_command(self._fault), journal=stores.journal, actor=bench.actor)
        self.space = Workspace(bench, stores, engine, abrupt=crash.note_open(self._profile))
        self.window.attach(self.space, explain)

    def _on_mistake(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """A mistake in the window's own thread: a crash file, a sentence, and the window goes on."""
        if issubclass(kind, KeyboardInterrupt):
            QCoreApplication.quit()
            return
        self.window.tell("critical", explain(error.with_traceback(trace)))


def explain(error: BaseException) -> str:
    """The sentence for a mistake of ours, with the name of its crash file."""
    return crash.sentence(crash.write(error))


def first_paint() -> dict[str, object]:
    """Seconds from the start of the process to now, processor seconds, resident bytes, heavy modules loaded."""
    from desktop.state.processes import look_at

    here = look_at(os.getpid())
    return {
        "seconds": round(since_start(), 3),
        "cpu": round(time.process_time(), 3),
        "resident": here.resident if here is not None else 0,
        "heavy": [name for name in HEAVY if name in sys.modules],
    }


def since_start() -> float:
    """Seconds since this process began (Linux; elsewhere processor seconds so far)."""
    try:
        ticks = float(Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19])
        up = float(Path("/proc/uptime").read_text().split()[0])
    except (OSError, IndexError, ValueError):
        return time.process_time()
    return up - ticks / os.sysconf("SC_CLK_TCK")
