"""A report as PDF: pages of A4, each with the patient, the case, the notices and "Page n of m". Knows no widget.

Works in any thread, also without a window (platform "offscreen"), as long as a Qt application object exists.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QTextBlock,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrame,
    QTextOption,
    QTextTable,
)

from core.errors import UserError
from desktop.i18n import tr
from desktop.state.report_files import Paper
from desktop.views.look import FAMILIES
from desktop.views.palette import LIGHT
from desktop.views.report_print import TITLE, Printed

DPI = 300
SCALE = DPI / 96  # a pixel of the type scale is 1/96 inch on paper
MARGINS_MM = QMarginsF(18, 14, 16, 12)
GAP = round(10 * SCALE)  # between head, text and foot
EDGE = round(2 * SCALE)  # above the letters of a page's first line, below those of its last one
MOST_TURNS = 400  # page breaks moved at most: a report has far fewer places
TALL = 0.6  # of a page: what is taller is broken rather than moved,
ROOM = 0.25  # of a page: unless so little of it would stand before the break


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of every page, in device pixels."""

    width: float
    height: float  # of the text between head and foot
    top: float
    head: float


def draw(paper: Paper) -> bytes:
    """The bytes of the PDF.

    Raises:
        UserError: there is no room for text between head and foot, or the file could not be drawn.
    """
    store = QBuffer()
    store.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(store)
    writer.setResolution(DPI)
    writer.setPageLayout(
        QPageLayout(
            QPageSize(QPageSize.PageSizeId.A4),
            QPageLayout.Orientation.Portrait,
            MARGINS_MM,
            QPageLayout.Unit.Millimeter,
        )
    )
    writer.setTitle(f"{paper.report.title} – {paper.report.patient} – Wardround")
    writer.setCreator("Wardround")
    _paint(writer, paper)
    return bytes(store.data().data())


def _paint(writer: QPdfWriter, paper: Paper) -> None:
    markup = Printed(SCALE)
    width = float(writer.width())
    head, foot = (_document(writer, html, width) for html in (markup.head(paper.report), markup.foot(paper.report)))
    top = head.size().height() + GAP
    sheet = Sheet(width=width, height=writer.height() - top - foot.size().height() - GAP, top=top, head=top - GAP / 2)
    if sheet.height < writer.height() / 4:
        raise UserError(tr("The notices of this report leave no room for its text on a page."), code="no room")
    body = _document(writer, markup.body(paper), width)
    body.setPageSize(QSizeF(width, sheet.height))
    keep_together(body, sheet.height)
    part_at_pages(body, sheet.height)
    painter = QPainter()
    if not painter.begin(writer):
        raise UserError(tr("The PDF could not be drawn."), code="export")
    try:
        for page in range(body.pageCount()):
            if page:
                writer.newPage()
            _page(painter, sheet, (head, body, foot), page)
    finally:
        painter.end()


def _document(writer: QPdfWriter, html: str, width: float) -> QTextDocument:
    document = QTextDocument()
    document.documentLayout().setPaintDevice(writer)
    document.setUseDesignMetrics(True)
    document.setDocumentMargin(0)
    document.setDefaultFont(_font())
    option = document.defaultTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    document.setHtml(html)
    document.setTextWidth(width)
    return document


def _font() -> QFont:
    known = set(QFontDatabase.families())
    font = QFont(next((family for family in FAMILIES if family in known), QFont().family()))
    font.setPixelSize(round(13 * SCALE))
    return font


def _page(
    painter: QPainter, sheet: Sheet, parts: tuple[QTextDocument, QTextDocument, QTextDocument], page: int
) -> None:
    head, body, foot = parts
    head.drawContents(painter)
    painter.setPen(QPen(QColor(LIGHT.edge), SCALE))
    painter.drawLine(QPointF(0, sheet.head), QPointF(sheet.width, sheet.head))
    painter.save()
    painter.translate(0, sheet.top - page * sheet.height)
    # Without its edges: there Qt draws the upper line of a table that begins on the next page.
    body.drawContents(painter, QRectF(0, page * sheet.height + EDGE, sheet.width, sheet.height - 2 * EDGE))
    painter.restore()
    painter.save()
    below = sheet.top + sheet.height + GAP
    painter.translate(0, below)
    foot.drawContents(painter)
    painter.restore()
    painter.setFont(_small())
    painter.setPen(QColor(LIGHT.quiet))
    words = tr("Page {n} of {m}", n=page + 1, m=body.pageCount())
    place = QRectF(0, below, sheet.width, foot.size().height())
    painter.drawText(place, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop), words)


def _small() -> QFont:
    font = _font()
    font.setPixelSize(round(11 * SCALE))
    return font


# ---------------------------------------------------------------------------------------------- where pages break


def keep_together(document: QTextDocument, height: float) -> None:
    """Move what a page's end would cut to the next page: a row of a table whole, a heading with what it heads.

    Each move changes what follows, so the document is walked from the top again after every one.
    """
    for _ in range(MOST_TURNS):
        found = next(_cut(document, height), None)
        if found is None:
            return
        _break_before(found)
        _lay_out(document)


def _cut(document: QTextDocument, height: float) -> Iterator[QTextBlock | QTextTable]:
    """What stands badly, from the top; what has a break before it already stands as well as it can."""
    layout = document.documentLayout()
    title: QTextBlock | None = None
    for part in _parts(document.rootFrame()):
        table = isinstance(part, QTextTable)
        box = layout.frameBoundingRect(part) if isinstance(part, QTextTable) else layout.blockBoundingRect(part)
        first, last = box.top() // height, (box.bottom() - 1) // height
        small = box.height() < TALL * height or (first + 1) * height - box.top() < ROOM * height
        cut = table and first != last and small
        if title is not None and (cut or layout.blockBoundingRect(title).top() // height != first):
            yield from () if _is_broken(title) else (title,)
        elif cut and not _is_broken(part):
            yield part
        title = part if isinstance(part, QTextBlock) and _is_title(part) else None


def part_at_pages(document: QTextDocument, height: float) -> None:
    """Make two paragraphs of each one that goes over the end of a page.

    Of a paragraph that began before, Qt draws the last line above the page too: hidden, but in the text of the file.
    """
    block = document.begin()
    while block.isValid():
        place = _first_on_next(block, document.documentLayout().blockBoundingRect(block).top(), height)
        if place:
            cursor = QTextCursor(block)
            cursor.setPosition(block.position() + place)
            below, above = block.blockFormat(), block.blockFormat()
            below.setTopMargin(0)
            above.setBottomMargin(0)
            cursor.setBlockFormat(above)
            cursor.insertBlock(below)
            _lay_out(document)
        block = block.next()


def _lay_out(document: QTextDocument) -> None:
    """All of it anew: laid out from the middle, Qt puts a line across the end of a page."""
    document.markContentsDirty(0, document.characterCount())


def _first_on_next(block: QTextBlock, top: float, height: float) -> int:
    """Where in a paragraph the first line of its second page begins; 0 where it has only one."""
    layout = block.layout()
    lines = [layout.lineAt(number) for number in range(layout.lineCount())]
    pages = [(top + line.y() + EDGE) // height for line in lines]
    return next((line.textStart() for line, page in zip(lines, pages, strict=True) if page != pages[0]), 0)


def _parts(frame: QTextFrame) -> Iterator[QTextBlock | QTextTable]:
    """Paragraphs and tables of the text, in order; what lies inside a table belongs to it."""
    place = frame.begin()
    while not place.atEnd():
        inner, block = place.currentFrame(), place.currentBlock()
        if isinstance(inner, QTextTable):
            yield inner
        elif block.isValid():
            yield block
        place += 1


def _is_title(block: QTextBlock) -> bool:
    return TITLE in block.begin().fragment().charFormat().anchorNames() if block.text().strip() else False


def _is_broken(part: QTextBlock | QTextTable) -> bool:
    form = part.format() if isinstance(part, QTextTable) else part.blockFormat()
    return bool(form.pageBreakPolicy() & QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)


def _break_before(part: QTextBlock | QTextTable) -> None:
    if isinstance(part, QTextTable):
        table = part.format().toTableFormat()
        table.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
        part.setFormat(table)
        return
    paragraph = part.blockFormat()
    paragraph.setPageBreakPolicy(QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore)
    QTextCursor(part).setBlockFormat(paragraph)
