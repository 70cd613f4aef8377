"""The window's report says what the value says, line by line, and hostile text stays text."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import msgspec
import pytest

from core.domain.report import Line
from core.runtime import report
from desktop.views.palette import DARK, LIGHT, Palette
from desktop.views.report_markup import Markup
from tests.helpers import workup
from tests.helpers.workup import work_up

EVIL = "<script>alert('x')</script> & <b>bold</b>"


def words(markup: str) -> str:
    """The visible text of rich text, without anything but letters and digits, so that layout does not matter."""
    return _bare(unescape(re.sub(r"<[^>]*>", " ", markup)))


def _bare(text: str) -> str:
    return re.sub(r"[^\w]+", "", text)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_every_line_of_the_report_stands_in_the_window(palette: Palette, tmp_path: Path) -> None:
    case = workup.example("b")
    worked = work_up(tmp_path, case)
    made = worked.report(case)
    shown = words(Markup(palette, 1.0).report(made, worked.done.differential))
    for line in report.all_lines(made):
        assert _bare(line.text) in shown, line.text
    assert all(_bare(text) in shown for text in made.footer)


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    case = workup.example("b")
    made = work_up(tmp_path, case).report(case)
    block = msgspec.structs.replace(made.blocks[0], title=EVIL, lines=(Line(text=EVIL, struck=True, reason=EVIL),))
    markup = Markup(LIGHT, 1.0).report(msgspec.structs.replace(made, blocks=(block,)))
    assert "<script" not in markup and "<b>bold" not in markup and words(markup).count(_bare(EVIL)) == 3
