"""The demo as a newcomer starts it: what it prints, what it leaves, and that it needs and tries no network."""

from __future__ import annotations

import platform
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from core import codec
from core.domain import event as ev
from core.domain.report import Report
from core.runtime.report import all_lines
from tests.helpers import no_internet
from tests.helpers.program import environment, journal, wardround

FILTER = (sys.executable, str(Path(no_internet.__file__)))
SUPPORTED = sys.platform == "linux" and platform.machine() == "x86_64"
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class Outcome(msgspec.Struct):
    """What `wardround --json demo` prints."""

    run: str
    status: str
    html: str
    report: Report


def demo(home: Path, *arguments: str, scripted: float | None = 0.0, prefix: tuple[str, ...] = ()) -> Outcome:
    done = wardround(home, "--json", "demo", *arguments, scripted=scripted, prefix=prefix)
    assert done.returncode == 0, done.stderr[-2000:]
    return codec.decode(done.stdout, Outcome)


def test_complaint_G6_it_prints_where_the_page_lies_and_leaves_nothing_in_the_temporary_folder(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """bowang-lab/MedRAX, its openly published agent interface: uploads were kept for ever."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    done = wardround(home, "demo", "--backbone", "none")
    assert (done.returncode, done.stderr) == (0, "")
    assert "CONCLUSION" in done.stdout
    assert "ulmonary embolism" in done.stdout
    assert "No language model was used." in done.stdout
    [page] = re.findall(r"HTML report: (\S+\.html)", done.stdout)
    assert Path(page).is_relative_to(home / "demo")
    text = Path(page).read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert re.findall(r"(?:src|href)\s*=\s*['\"](?!#|data:)", text) == []  # nothing outside the file is asked for
    assert "<script" not in text
    assert list((tmp_path / "temporary").iterdir()) == []


def test_every_sentence_resolves_and_the_page_has_every_link_target(home: Path) -> None:
    found = demo(home)
    lines = list(all_lines(found.report))
    cited = {identifier for line in lines for identifier in line.evidence}
    assert len(cited) > 20
    assert [identifier for identifier in sorted(cited) if found.report.find(identifier) is None] == []
    page = Path(found.html).read_text(encoding="utf-8")
    links = set(re.findall(r"href='#(e\d+)'", page))
    assert links >= cited
    assert links - set(re.findall(r"id='(e\d+)'", page)) == set()


def test_a_second_demo_uses_the_case_again(home: Path) -> None:
    first, second = demo(home), demo(home)
    assert first.run != second.run
    kept = journal(home)
    assert {kept.run(run).revision for run in (first.run, second.run)} == {1}
    assert kept.verify(second.run) == ()


def test_the_demo_profile_is_a_research_profile_of_its_own(home: Path) -> None:
    found = demo(home)
    row = journal(home).run(found.run)
    assert row.settings.profile == "research_imaging"
    assert (home / "demo" / "settings.json").is_file()
    assert not (home / "profile" / "workbench.db").exists()


# ------------------------------------------------------------------------------------------------ no network


def crashes(home: Path, run: str) -> int:
    kept = journal(home)
    return kept.run(run).resumes + sum(isinstance(row.event, ev.RunFailed) for row in kept.events(run))


@pytest.mark.skipif(not SUPPORTED, reason="the kernel filter of this test is for Linux on x86-64")
def test_no_process_of_the_demo_asks_for_an_internet_socket(home: Path) -> None:
    """A process that asks is killed by the kernel: the run would then show a restart, or fail."""
    found = demo(home, prefix=FILTER)
    assert found.status == "finished"
    assert crashes(home, found.run) == 0
    assert not any("could not be" in line.text for line in all_lines(found.report))


ASK = "import ctypes, socket; {}"
CONTROLS = {
    "python": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "python, IPv6": "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
    "native": "ctypes.CDLL(None).socket(2, 1, 0)",
}


@pytest.mark.skipif(not SUPPORTED, reason="the kernel filter of this test is for Linux on x86-64")
@pytest.mark.parametrize("name", sorted(CONTROLS))
def test_control_the_filter_kills_who_asks(name: str) -> None:
    done = subprocess.run([*FILTER, sys.executable, "-c", ASK.format(CONTROLS[name])], capture_output=True, check=False)
    assert done.returncode == -signal.SIGSYS


@pytest.mark.skipif(not SUPPORTED, reason="the kernel filter of this test is for Linux on x86-64")
def test_control_other_sockets_are_let_through() -> None:
    harmless = "a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1)); a.close(); b.close()"
    done = subprocess.run([*FILTER, sys.executable, "-c", ASK.format(harmless)], capture_output=True, check=False)
    assert done.stdout == b"b'x'\n"


def test_it_works_without_any_network(home: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rn", "true"], check=False).returncode != 0:
        pytest.skip("no network name spaces")
    assert demo(home, prefix=("unshare", "-rn")).status == "finished"


# ------------------------------------------------------------------------------------------------ the real model


@pytest.mark.weights
def test_the_real_model_ranks_and_its_hash_is_in_the_journal(home: Path) -> None:
    prefix = FILTER if SUPPORTED else ()
    found = demo(home, scripted=None, prefix=prefix)
    assert crashes(home, found.run) == 0
    rows = journal(home).events(found.run)
    replies = [row.event for row in rows if isinstance(row.event, ev.ModelReplied)]
    assert replies
    records = [reply.scores.record for reply in replies if reply.scores is not None]
    assert {record.contents_sha256 for record in records} == {SMOLLM2}
    assert {record.verify for record in records} == {"full"}
    empty = [name for name in records[0].__struct_fields__ if getattr(records[0], name) in ("", None)]
    assert empty == []


def test_the_environment_of_these_tests_is_the_persons_own() -> None:
    assert environment(Path("/h"), scripted=None).get("WARDROUND_TEST_BACKBONE") is None
