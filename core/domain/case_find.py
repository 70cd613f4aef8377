"""What a search over cases found, and where. Pure values."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["patient", "note", "labs", "item", "unread", "question", "report"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """Where a search led: characters [start, end) of the place's text, in its line number `line` (from 0).

    `line_words` is that line. `snippet` is the text around the hit in one line; the characters found begin at `mark` of
    it. `more` is the number of other places of the case, said by the last hit that is shown.
    """

    case_id: str
    kind: Kind
    title: str
    snippet: str
    mark: int
    start: int
    end: int
    line: int = 0
    line_words: str = ""
    words: str = ""
    item: str = ""
    run: str = ""
    more: int = 0


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A case that holds every word, and the best places of it; none where only the title fits."""

    case_id: str
    hits: tuple[Hit, ...]
