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


def target(parent: QWidget, who: str, case_title: str) -> Path | None:
    """Where the report of this patient goes."""
    stem = "".join(c if c.isalnum() else "-" for c in case_title).strip("-").lower() or "report"
    title = tr("Export the report of {who}, {case}", who=who, case=case_title)
    name, _ = QFileDialog.getSaveFileName(parent, title, f"{stem}.html", tr("HTML file (*.html)"))
    return Path(name) if name else None


def save(parent: QWidget, title: str, name: str, form: str) -> Path | None:
    """Where a file goes; `form` as "Knowledge pack (*.wrpack)". None when the dialog was left."""
    chosen, _ = QFileDialog.getSaveFileName(parent, title, name, form)
    return Path(chosen) if chosen else None
