"""Counts what calls of Qt for Python do to the reference counts of None, True and False.

Run as a program it prints one number a call as JSON: the child of tests/desktop/test_refcounts.py, which a bad build
aborts. Knows nothing of the application.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

ROUNDS, WARM_UP = 10_000, 200
OBJECTS = (None, True, False)


def operations() -> dict[str, Callable[[], object]]:
    """The calls in which bad builds were seen to lose references."""
    from PySide6.QtCore import QCoreApplication, QObject, Signal
    from PySide6.QtGui import QImage, QPixmap
    from PySide6.QtWidgets import QApplication, QGraphicsPixmapItem, QLabel, QWidget

    class Sender(QObject):
        void = Signal()
        number = Signal(int)
        flag = Signal(bool)

    app = QApplication([])
    sender, widget, label, item = Sender(), QWidget(), QLabel(), QGraphicsPixmapItem()
    pixmap, image = QPixmap(8, 8), QImage(8, 8, QImage.Format.Format_Indexed8)
    keep = (app, sender, widget, label, item)
    return {
        "emit()": lambda: sender.void.emit(),  # noqa: PLW0108 (the signal is looked up each time, as in real code)
        "emit(1)": lambda: sender.number.emit(1),
        "emit(True)": lambda: sender.flag.emit(True),
        "update": widget.update,
        "setText": lambda: label.setText("a"),
        "setPixmap": lambda: item.setPixmap(pixmap),
        "setColorTable": lambda: image.setColorTable([0, 1]),
        "processEvents": QCoreApplication.processEvents,
        "keep": lambda: keep,  # holds the objects alive, and is the control that changes nothing
    }


def count() -> list[int]:
    return [sys.getrefcount(value) for value in OBJECTS]


def drift(call: Callable[[], object]) -> int:
    """The largest change of a reference count over all rounds of one call."""
    for _ in range(WARM_UP):
        call()
    before = count()
    for _ in range(ROUNDS):
        call()
    return max(abs(now - then) for now, then in zip(count(), before, strict=True))


if __name__ == "__main__":
    print(json.dumps({name: drift(call) for name, call in operations().items()}))
