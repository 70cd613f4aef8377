"""What is shown while no case is open: where files may be dropped, and the two ways to begin."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from desktop.i18n import tr
from desktop.views import pieces
from desktop.views.flow import Turning
from desktop.views.look import look
from desktop.views.pieces import Picture, text

FORMS = (
    "Notes and letters (text, PDF, Word), laboratory tables (CSV, Excel), FHIR bundles, DICOM studies, pictures, "
    "SQLite extracts, also in a ZIP. Nothing leaves this computer."
)
FORMS_OF_TEXT = (
    "Notes and letters (text, PDF, Word), laboratory tables (CSV, Excel), FHIR bundles, SQLite extracts, also in a "
    "ZIP. Images are not read: the Text support profile works with text and numbers alone. Nothing leaves this "
    "computer."
)


class EmptyPage(QWidget):
    """An invitation; silent until the profile is open."""

    wanted_folder = Signal()
    wanted_example = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "ground")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._frame = pieces.panel("drop")
        title = text(tr("Drop a folder or files here"), "title")
        title.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.words = words = text(tr(FORMS), "muted")
        words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.folder = pieces.button(tr("Import a folder…"), self.wanted_folder.emit, icon="folder")
        self.example = pieces.button(tr("Open the example case"), self.wanted_example.emit, kind="primary")
        acts = pieces.row(None, None, Turning(self.folder, self.example), None)
        acts.setStretch(1, 100)
        icon = pieces.row(None, None, Picture("import", "accent", 40), None)
        pieces.column(self._frame, None, icon, title, words, acts, None, margins=(40, 32, 40, 32), gap=14)
        self._frame.hide()
        middle = pieces.row(None, None, self._frame, None)
        middle.setStretchFactor(self._frame, 100)
        pieces.column(self, None, middle, None, margins=(24, 24, 24, 24))
        look().changed.connect(self._fit)
        self._fit()

    def ready(self, *, images: bool) -> None:
        """The profile is open: files may come; of images only where the profile works with them."""
        self.words.setText(tr(FORMS if images else FORMS_OF_TEXT))
        self._frame.show()

    def show_dropping(self, dropping: bool) -> None:
        """Say by the frame that a drop would be taken."""
        self._frame.setProperty("kind", "dropping" if dropping else "drop")
        pieces.restyle(self._frame)

    def _fit(self) -> None:
        self._frame.setMaximumWidth(look().px(560))
