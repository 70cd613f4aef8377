"""The system's own dialogs for files and folders; each names what it is for, the export names the patient again."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from desktop.i18n import tr


def files(parent: QWidget, title: str) -> list[Path]:
    """Files to read; none when the dialog was left."""
    names, _ = QFileDialog.getOpenFileNames(parent, title)
    return [Path(name) for name in names]


def folder(parent: QWidget, title: str) -> list[Path]:
    """A folder to read, as a list of one; none when the dialog was left."""
    name = QFileDialog.getExistingDirectory(parent, title)
    return [Path(name)] if name else []


REPORT_FORMS = ((".pdf", "PDF file (*.pdf)"), (".html", "HTML file (*.html)"))


def target(parent: QWidget, who: str, case_title: str) -> tuple[Path, bool] | None:
    """Where the report of this patient goes, as PDF or HTML; and whether the dialog asked about a file of that name.

    A name without an ending gets the one that was chosen; then nobody was asked about the file which that names.
    """
    stem = "".join(c if c.isalnum() else "-" for c in case_title).strip("-").lower() or "report"
    title = tr("Export the report of {who}, {case}", who=who, case=case_title)
    forms = {tr(words): ending for ending, words in REPORT_FORMS}
    name, form = QFileDialog.getSaveFileName(parent, title, f"{stem}.pdf", ";;".join(forms))
    if not name:
        return None
    if Path(name).suffix.lower() in (".pdf", ".html", ".htm"):
        return Path(name), True
    return Path(name + forms.get(form, ".pdf")), False


def save(parent: QWidget, title: str, name: str, form: str) -> Path | None:
    """Where a file goes; `form` as "Knowledge pack (*.wrpack)". None when the dialog was left."""
    chosen, _ = QFileDialog.getSaveFileName(parent, title, name, form)
    return Path(chosen) if chosen else None
