"""Entry of the print child (`--print`): a report in, the bytes of its PDF out. No profile, no store, no screen.

The command line may not load Qt; so it starts this child for the moment in which pages are drawn.
"""

from __future__ import annotations

import os
import sys
from typing import BinaryIO

from core import codec
from core.errors import EXIT_BUG, EXIT_DONE, UserError
from core.isolate import read_frame, write_frame
from desktop.state.report_files import Drawn, Paper


def main() -> int:
    """Draw what is asked for until the input ends. Returns the exit code."""
    out = _take_protocol()
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    try:
        from PySide6.QtGui import QGuiApplication
    except ImportError:  # a system without the libraries that Qt needs: the caller says so
        return EXIT_BUG
    application = QGuiApplication(["wardround"])
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        _answer(out, codec.decode(frame[0], Paper))
    del application
    return EXIT_DONE


def _answer(out: BinaryIO, paper: Paper) -> None:
    from desktop.views.report_pdf import draw

    try:
        write_frame(out, Drawn(), draw(paper))
    except UserError as error:
        write_frame(out, Drawn(refused=error.text))


def _take_protocol() -> BinaryIO:
    """Keep fd 1 for the answers and point fd 1 at fd 2, so that native code cannot write into them."""
    duplicate = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(duplicate, "wb")
