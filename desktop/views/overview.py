"""The first look at a case: abnormal results, documents, pictures, what was not read; each a click from its source."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLayout, QWidget

from core.domain.case import Case, ImageRef, LabRow, LabTable, SeriesRef
from desktop.i18n import tr
from desktop.state import words
from desktop.views import pieces
from desktop.views.flow import Flow
from desktop.views.pieces import Chip, Picture, text

MOST_ABNORMAL = 12
MOST_CARDS = 30  # a card is several widgets: a case of thousands of documents would stop the window for seconds
EXCERPT = 220
_MARKUP = re.compile(r"[#*|`_>]+|-{2,}")


class Overview(QWidget):
    """A case on one page. `wanted` names the item to open and the row in it (-1: none)."""

    wanted = Signal(str, int)
    unread_wanted = Signal()

    def __init__(self, case: Case, *, images: bool = True) -> None:
        super().__init__()
        self._images = images
        title = text(case.title, "title")
        made = tr("Revision {r}, imported {age}", r=case.revision, age=words.since(case.created_at))
        parts: list[QWidget | QLayout | None] = [title, text(made, "small")]
        parts += self._abnormal(case)
        parts += self._items(case)
        if case.unread:
            parts.append(self._unread(case.unread_files))
        pieces.column(self, *parts, None, margins=(24, 20, 24, 20), gap=8)

    def _abnormal(self, case: Case) -> list[QWidget | QLayout | None]:
        found = latest_abnormal(case)
        if not case.tables:
            return []
        head = text(tr("Outside their range, latest values"), "section")
        if not found:
            return [head, text(tr("No printed result lies outside its range."), "muted")]
        box = QWidget()
        flow = Flow(box)
        for table, row in found[:MOST_ABNORMAL]:
            flow.addWidget(self._value(table, row))
        more = len(found) - MOST_ABNORMAL
        tail: list[QWidget | QLayout | None] = (
            [text(tr("and {n} more in the tables", n=more), "small")] if more > 0 else []
        )
        return [head, box, *tail]

    def _value(self, table: LabTable, row: LabRow) -> QWidget:
        side = words.direction(row)
        arrow = "↑" if "high" in side else "↓" if "low" in side else "!"
        words_ = f"{row.test}  {row.value} {row.unit}  {arrow} {tr(side)}".replace("  ", "  ")
        made = pieces.button(words_, lambda: self.wanted.emit(table.id, row.row), kind="value")
        made.setProperty("tone", "critical" if "critical" in side else "serious")
        made.setToolTip(f"{words.printed_range(row)}   {words.moment(row.collected_at)}")
        return made

    def _items(self, case: Case) -> list[QWidget | QLayout | None]:
        parts: list[QWidget | QLayout | None] = []
        if case.notes:
            parts.append(text(tr("Documents"), "section"))
            parts += [self._card(n.id, "note", n.title, excerpt(n.text)) for n in case.notes[:MOST_CARDS]]
            parts += _more(len(case.notes))
        if case.tables:
            parts.append(text(tr("Laboratory"), "section"))
            parts += [self._card(t.id, "labs", t.title, words.item_words(t)[1]) for t in case.tables[:MOST_CARDS]]
            parts += _more(len(case.tables))
        if case.pictures:
            parts.append(text(tr("Pictures"), "section"))
            parts += [self._card(p.id, "image", p.title, self._pictured(p)) for p in case.pictures[:MOST_CARDS]]
            parts += _more(len(case.pictures))
        return parts

    def _pictured(self, picture: ImageRef | SeriesRef) -> str:
        return words.item_words(picture)[1] if self._images else tr("off in the Text support profile")

    def _card(self, item_id: str, icon: str, title: str, detail: str) -> QFrame:
        card = pieces.panel("card")
        go = pieces.button(title, lambda: self.wanted.emit(item_id, -1), kind="link")
        go.setAccessibleName(tr("Open {title}", title=title))
        said = pieces.column(None, pieces.row(None, go, None), text(detail, "muted"), gap=2)
        picture = Picture(icon, "muted", 20)
        line = pieces.row(card, picture, said, margins=(12, 8, 12, 10), gap=10)
        line.setStretch(1, 1)
        line.setAlignment(picture, Qt.AlignmentFlag.AlignTop)
        return card

    def _unread(self, count: int) -> QWidget:
        box = QWidget()
        chip = Chip(tr("{n} not read", n=words.counted(count, "file")), "serious", "unread")
        show = pieces.button(tr("Show which, and why"), self.unread_wanted.emit, kind="link")
        pieces.row(box, chip, show, None)
        return box


def _more(count: int) -> list[QWidget]:
    """Where the rest is, when a section has more cards than are shown."""
    rest = count - MOST_CARDS
    return [text(tr("and {n} more in the contents at the left", n=rest), "small")] if rest > 0 else []


def excerpt(words_: str) -> str:
    """The beginning of a document without its mark-up, in one paragraph."""
    plain = " ".join(_MARKUP.sub(" ", words_[: 4 * EXCERPT]).split())
    return plain if len(plain) <= EXCERPT else plain[:EXCERPT].rsplit(" ", 1)[0] + " …"


def latest_abnormal(case: Case) -> list[tuple[LabTable, LabRow]]:
    """The latest result of each test where that one is abnormal; critical ones first, then in the printed order."""
    latest: dict[str, tuple[LabTable, LabRow]] = {}
    for table in case.tables:
        for row in table.rows:
            known = latest.get(row.test.casefold())
            if known is None or row.collected_at >= known[1].collected_at:
                latest[row.test.casefold()] = (table, row)
    found = [(table, row) for table, row in latest.values() if words.direction(row)]
    return sorted(found, key=lambda pair: "critical" not in words.direction(pair[1]))
