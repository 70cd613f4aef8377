"""What a file is called is printed as it reads, on one line."""

from __future__ import annotations

from desktop.cli.terminal import one_line


def test_a_name_cannot_turn_the_line_round_or_break_it() -> None:
    assert one_line("report\u202egnp.exe\nx\u2066y\u2069") == "reportgnp.exe xy"
    assert one_line("  \u05d3\u05d5\u05d7  Befund ") == "\u05d3\u05d5\u05d7 Befund"
