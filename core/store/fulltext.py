"""SQLite's own full-text search over plain texts, in memory: what the search index is measured against.

It is no part of any run; SQLite lives in this package only, so the yardstick does too.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

_TABLE = "CREATE VIRTUAL TABLE passage USING fts5(text, tokenize='porter unicode61', content='', detail='full')"
_FIND = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT ?"


class FullText:
    """An FTS5 table; rows are numbered from 1 in the order given."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute(_TABLE)
        self._connection.executemany("INSERT INTO passage (text) VALUES (?)", ((text,) for text in texts))
        self._connection.execute("INSERT INTO passage (passage) VALUES ('optimize')")

    def search(self, words: Sequence[str], k: int) -> tuple[int, ...]:
        """The best `k` rows for any of the words, by FTS5's BM25."""
        wanted = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
        return tuple(row[0] for row in self._connection.execute(_FIND, (wanted, k))) if wanted else ()

    def close(self) -> None:
        self._connection.close()
