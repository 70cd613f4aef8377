"""No run of twelve words of the public data sets stands in this repository (data.md acceptance 7, knowledge.md 14).

The other way round would need much memory: the runs of our own files are kept, the data files are read as a stream.
"""

from __future__ import annotations

import gzip
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RUN = 12
OURS = ("core", "models", "tools", "desktop", "packaging", "tests")
TEXTS = {".py", ".toml", ".md", ".json", ".jsonl", ".txt", ".csv", ".html", ".obo", ".xml"}
LOCKS = {"lock.txt", "lock-build.txt", "lock-dev.txt"}
DATA = ("bench/**/*", "knowledge/medquad.zip", "knowledge/pubmed/*", "knowledge/*.xml")
_WORD = re.compile(rb"[a-z0-9]+")
_DECLARED = re.compile(rb"<[?!][^>]*>")


def runs(text: bytes) -> Iterator[bytes]:
    """Every run of twelve words, in small letters, of at least six different ones; declarations of XML are no prose."""
    words = _WORD.findall(_DECLARED.sub(b" ", text).lower())
    for start in range(len(words) - RUN + 1):
        found = words[start : start + RUN]
        if len(set(found)) >= RUN // 2:
            yield b" ".join(found)


@pytest.fixture(scope="module")
def ours() -> dict[int, str]:
    """Hash of a run of ours -> file."""
    found: dict[int, str] = {}
    places = [path for folder in OURS for path in (ROOT / folder).rglob("*")] + [ROOT / "README.md"]
    for path in places:
        if path.suffix in TEXTS and path.name not in LOCKS and path.is_file() and "__pycache__" not in path.parts:
            name = str(path.relative_to(ROOT))
            found.update((hash(run), name) for run in runs(path.read_bytes()))
    assert len(found) > 200_000
    return found


def contents(path: Path) -> Iterator[bytes]:
    """The text of a data file, whatever it is packed in."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield archive.read(name)
    elif path.suffix == ".gz":
        yield gzip.decompress(path.read_bytes())
    else:
        yield path.read_bytes()


@pytest.mark.data
def test_no_run_of_words_comes_from_the_data_sets(data: Path, ours: dict[int, str]) -> None:
    copied: set[tuple[str, str, bytes]] = set()
    read = 0
    for path in sorted({path for pattern in DATA for path in data.glob(pattern) if path.is_file()}):
        for content in contents(path):
            for run in runs(content):
                read += 1
                if (place := ours.get(hash(run))) is not None:
                    copied.add((place, path.name, run))
    assert read > 2_000_000
    assert sorted(copied) == []


def test_control_a_copied_sentence_is_found(ours: dict[int, str]) -> None:
    sentence = (ROOT / "README.md").read_bytes()[:2000]
    assert {ours.get(hash(run)) for run in runs(sentence)} == {"README.md"}
