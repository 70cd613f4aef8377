"""No run of twelve words of the public data sets stands in this repository (data.md acceptance 7, knowledge.md 14).

The other way round would need much memory: the runs of our own files are kept, the data files are read one by one.
Rows are read as what they say: the strings of JSON, the cells of a table below its header, the tokens of a sentence.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
RUN = 12
OURS = ("core", "models", "tools", "desktop", "packaging", "tests")
TEXTS = {".py", ".toml", ".md", ".json", ".jsonl", ".txt", ".csv", ".html", ".obo", ".xml"}
LOCKS = {"lock.txt", "lock-build.txt", "lock-dev.txt"}
DATA = ("bench/**/*", "knowledge/medquad.zip", "knowledge/pubmed/*", "knowledge/*.xml")
BREAK = b"|"  # between two texts: no word of ours
_WORD = re.compile(rb"[a-z0-9]+")
_DECLARED = re.compile(rb"<[?!][^>]*>")


def words_of(text: bytes) -> list[bytes]:
    """In small letters; declarations of XML are no prose."""
    return _WORD.findall(_DECLARED.sub(b" ", text).lower())


def runs(words: list[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Every run of twelve words, of at least six different ones."""
    for found in zip(*(words[start:] for start in range(RUN)), strict=False):
        if len(set(found)) >= RUN // 2:
            yield found


class Own:
    """The runs of words of our own files, and the pairs of words in them, by which most texts are passed over."""

    def __init__(self, texts: Iterable[tuple[str, bytes]]) -> None:
        self.runs: dict[tuple[bytes, ...], str] = {}
        self.numbers: dict[bytes, int] = {}
        pairs: set[tuple[int, int]] = set()
        for name, text in texts:
            words = words_of(text)
            numbers = [self.numbers.setdefault(word, len(self.numbers)) for word in words]
            pairs.update(zip(numbers, numbers[1:], strict=False))
            self.runs.update((run, name) for run in runs(words))
        self._pairs = np.array(sorted(self._code(*pair) for pair in pairs), dtype=np.int64)

    @staticmethod
    def _code(first: int, second: int) -> int:
        return (first << 32) | second

    def copied(self, words: list[bytes]) -> set[tuple[str, bytes]]:
        """(our file, run) of every run that also stands with us: a run does only where all its pairs do."""
        numbers = np.array([self.numbers.get(word, -1) for word in words], dtype=np.int64)
        codes = np.where((numbers[:-1] >= 0) & (numbers[1:] >= 0), (numbers[:-1] << 32) | numbers[1:], -1)
        known = self._pairs[np.searchsorted(self._pairs, codes).clip(max=len(self._pairs) - 1)] == codes
        before = np.concatenate(([0], np.cumsum(known)))
        starts = np.flatnonzero(before[RUN - 1 :] - before[: -RUN + 1] == RUN - 1)
        found = (tuple(words[start : start + RUN]) for start in starts)
        return {(self.runs[run], b" ".join(run)) for run in found if run in self.runs}


@pytest.fixture(scope="module")
def own() -> Own:
    places = [path for folder in OURS for path in (ROOT / folder).rglob("*")] + [ROOT / "README.md"]
    found = Own(
        (str(path.relative_to(ROOT)), path.read_bytes())
        for path in places
        if path.suffix in TEXTS and path.name not in LOCKS and path.is_file() and "__pycache__" not in path.parts
    )
    assert len(found.runs) > 200_000
    return found


def strings(value: object) -> Iterator[str]:
    """Every text within a value of JSON, without the names of fields."""
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from strings(item)
        case dict():
            yield from strings(list(value.values()))


def texts_of(name: str, data: bytes) -> Iterator[bytes]:
    """What a data file says, whatever it is packed in."""
    if name.endswith(".gz"):
        yield from texts_of(name.removesuffix(".gz"), gzip.decompress(data))
    elif name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            yield from (archive.read(member) for member in archive.namelist())
    elif name.endswith(".json"):
        yield from (text.encode() for text in strings(json.loads(data)))
    elif name.endswith(".csv"):
        rows = list(csv.reader(io.StringIO(data.decode(), newline="")))
        yield from (cell.encode() for row in rows[1:] for cell in row)
    elif name.endswith(".tsv"):
        yield b" ".join(line.split(b"\t")[0] for line in data.splitlines())
    else:
        yield data


def joined(texts: Iterable[bytes]) -> list[bytes]:
    """The words of all texts; no run goes from one into the next."""
    return [word for text in texts for word in (*words_of(text), BREAK)]


@pytest.mark.data
def test_no_run_of_words_comes_from_the_data_sets(data: Path, own: Own) -> None:
    copied: set[tuple[str, str, bytes]] = set()
    read = 0
    for path in sorted({path for pattern in DATA for path in data.glob(pattern) if path.is_file()}):
        words = joined(texts_of(path.name, path.read_bytes()))
        read += len(words)
        copied |= {(place, path.name, run) for place, run in own.copied(words)}
    assert read > 2_000_000
    assert sorted(copied) == []


def test_control_a_copied_sentence_is_found(own: Own) -> None:
    sentence = (ROOT / "README.md").read_bytes()[:2000]
    found = own.copied(joined([b"Something else before it.", sentence, b"and after it"]))
    assert {place for place, _ in found} == {"README.md"}
    assert {run for _, run in found} == {b" ".join(run) for run in runs(words_of(sentence))}


def test_control_rows_are_read_as_what_they_say() -> None:
    """A sentence is found in each form that the sets have, and the header of a table is none of its rows."""
    line = b"one two three"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.xml", line)
    forms = {
        "a.json": b'[{"a b c": "one\\ntwo\\u0020three"}]',
        "a.json.gz": gzip.compress(b'{"x": ["one two three"]}'),
        "a.csv": b'a,b\r\n"one\r\ntwo three",""\r\n',
        "a.tsv": b"one\tO\ntwo\tB-Disease\nthree\tO\n",
        "a.zip": packed.getvalue(),
        "a.sql": line,
    }
    for name, data in forms.items():
        assert [word for word in joined(texts_of(name, data)) if word != BREAK] == line.split(), name
