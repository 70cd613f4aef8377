"""What a drag from outside brings. Knows no page."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QDropEvent


def dropped_paths(event: QDropEvent) -> list[Path]:
    """The local files and folders of a drag; anything else is not ours."""
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
