"""Import under strain: thousands of files, a stop, dying children amid an archive, a full disk, odd names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from core.domain.case import Unread
from core.errors import Cancelled
from core.runtime import folder
from core.runtime.folder import Found, Listing
from core.runtime.foreign import Decoder, Room
from core.runtime.intake import import_paths
from core.runtime.unpacking import Opened, Sources
from core.settings import Settings
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.database import Database, now, open_database
from tests.helpers.packed import zipped

FILES = 3000


@pytest.fixture
def store(profile: Path) -> Iterator[Database]:
    with closing(open_database(profile / "workbench.db", migrations.workbench)) as database:
        yield database


class Watch:
    """When files were told of, and a stop that can be set at one of them."""

    def __init__(self, stop_at: int = -1) -> None:
        self.stop = threading.Event()
        self.told: list[tuple[float, str, str]] = []
        self.stopped = 0.0
        self._stop_at = stop_at
        self._begun = time.monotonic()

    def on_file(self, name: str, reason: str) -> None:
        self.told.append((time.monotonic() - self._begun, name, reason))
        if len(self.told) == self._stop_at:
            self.stopped = time.monotonic()
            self.stop.set()


def take(store: Database, place: Path, watch: Watch) -> object:
    return import_paths(
        [place],
        case_id=None,
        title=None,
        settings=Settings(profile="research_imaging"),
        cases=Cases(store),
        artifacts=Artifacts(store, store.path.parent),
        actor="tester",
        clock=now,
        on_progress=lambda done, total, name: None,
        stop=watch.stop,
        on_file=watch.on_file,
    )


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """3,000 small notes, every hundredth of them empty."""
    root = tmp_path_factory.mktemp("crowd") / "crowd"
    root.mkdir()
    for number in range(FILES):
        text = f"Note {number}.\n" if number % 100 else ""
        (root / f"n{number:04}.txt").write_text(text, encoding="utf-8")
    return root


def test_rows_come_while_the_import_goes_on_and_a_stop_is_heard(store: Database, crowd: Path, profile: Path) -> None:
    watch = Watch(stop_at=600)
    with pytest.raises(Cancelled):
        take(store, crowd, watch)
    assert time.monotonic() - watch.stopped < 0.3 * 2  # a busy machine may be slower
    assert [name for _, name, _ in watch.told] == [f"n{number:04}.txt" for number in range(600)]
    assert [reason for _, _, reason in watch.told[:2]] == ["The file is empty (0 bytes).", ""]
    assert store.query('SELECT * FROM "case"') == []
    assert list((profile / "artifacts").rglob("*.part")) == []


@pytest.mark.perf
def test_the_first_rows_of_three_thousand_files(store: Database, crowd: Path) -> None:
    """Within 1 s (twice that on a busy machine), of which most is the start of the child."""
    watch = Watch(stop_at=20)
    with pytest.raises(Cancelled):
        take(store, crowd, watch)
    assert watch.told[0][0] < 2


# ------------------------------------------------------------------------------------------------ children that die

DYING = """
import os, sys
from core import codec, isolate
from core.runtime.foreign import Question, Ready, Unpack
from desktop import decode
out = sys.stdout.buffer
start = codec.decode(isolate.read_frame(sys.stdin.buffer)[0], Question)
isolate.write_frame(out, Ready())
given = 0
def write(stream, header, blob=b""):
    global given
    given += isinstance(header, decode.Member)
    if given == 3:
        os.abort()
    isolate.write_frame(stream, header, blob)
decode.write_frame = write
while frame := isolate.read_frame(sys.stdin.buffer):
    question = codec.decode(frame[0], Question)
    if isinstance(question, Unpack):
        decode.take_apart(question, start, sys.stdin.buffer, out)
"""


def listing(*paths: Path) -> Listing:
    return Listing("x", tuple(Found(path.name, str(path), path.stat().st_size) for path in paths), ())


def test_a_child_that_dies_in_an_archive_costs_the_rest_of_that_archive(tmp_path: Path) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    first.write_bytes(zipped([(f"{n}.txt", b"x") for n in range(5)]))
    second.write_bytes(zipped([("y.txt", b"y")]))
    stop = threading.Event()
    room = Room(Settings(), stop, [sys.executable, "-c", DYING])
    with Sources(Settings(), stop, room) as sources:
        found = list(sources.files(listing(first, second), lambda done, total, name: None))
    assert [one.name for one in found if isinstance(one, Opened)] == ["a.zip/0.txt", "a.zip/1.txt", "b.zip/y.txt"]
    assert [one for one in found if isinstance(one, Unread)] == [
        Unread("a.zip", "The process that read it stopped unexpectedly.")
    ]


ONE_DIES = """
import os, sys
from core import codec, isolate
from core.runtime.foreign import Question, Ready
from desktop.decode import answer
out = sys.stdout.buffer
start = codec.decode(isolate.read_frame(sys.stdin.buffer)[0], Question)
isolate.write_frame(out, Ready())
while frame := isolate.read_frame(sys.stdin.buffer):
    if frame[1] == b"abort":
        os.abort()
    isolate.write_frame(out, *answer(codec.decode(frame[0], Question), frame[1], start))
"""


def test_what_was_asked_ahead_is_asked_again_of_the_next_child() -> None:
    with Decoder(Settings(), threading.Event(), [sys.executable, "-c", ONE_DIES]) as decoder:
        for data in (b"one", b"abort", b"two", b"abort", b"three"):
            decoder.begin("a.txt", data)
        assert decoder.waiting == (3, 5, 3, 5, 5)
        answers = [decoder.finish()[0] for _ in range(5)]
    assert [getattr(answer, "text", getattr(answer, "code", "")) for answer in answers] == [
        "one", "D12", "two", "D12", "three",
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------ disk and folders

FULL = """
import sys, threading
from pathlib import Path
from core.errors import StoreError
from core.runtime.intake import import_paths
from core.settings import Settings
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.database import now, open_database
profile, source = Path(sys.argv[1]), Path(sys.argv[2])
store = open_database(profile / "workbench.db", migrations.workbench)
cases, artifacts = Cases(store), Artifacts(store, profile)
def take(place):
    return import_paths([place], case_id=None, title=None, settings=Settings(), cases=cases, artifacts=artifacts,
        actor="t", clock=now, on_progress=lambda *_: None, stop=threading.Event())
first = take(source / "small")
try:
    take(source / "large")
except StoreError as error:
    print(error.code, "|", error.text)
print([summary.id for summary in cases.list()], len(artifacts.read(first.notes[0].sha256)))
print(len(list(profile.rglob("*.part"))), store.one("PRAGMA integrity_check")[0])
print(take(source / "small2").id)
"""


def test_a_full_disk_costs_the_import_in_hand_only(tmp_path: Path) -> None:
    """On a real file system of 3 MB, in a name space of its own."""
    place = tmp_path / "disk"
    place.mkdir()
    for name, size in (("small", 100), ("large", 4_000_000), ("small2", 101)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "n.txt").write_text("word " * (size // 5), encoding="utf-8")
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0:
        pytest.skip("no name spaces on this machine")
    command = f'mount -t tmpfs -o size=3m none {place} && exec {sys.executable} -c "$0" {place} {tmp_path}'
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", command, FULL],
        capture_output=True, text=True, check=False, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "disk full | The file could not be kept: No space left on device.",
        "['small'] 100",
        "0 ok",
        "small2",
    ], done.stderr[-500:]


def test_what_may_not_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The superuser may read all, so the system's refusal is put in place of it."""
    (tmp_path / "a.txt").write_text("a", encoding="utf-8")
    (tmp_path / "b.txt").write_text("b", encoding="utf-8")
    real = Path.open

    def refused(self: Path, *given: object, **named: object) -> object:
        if self.name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return real(self, *given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refused)
    with Sources(Settings(), threading.Event()) as sources:
        found = list(sources.files(listing(tmp_path / "a.txt", tmp_path / "b.txt"), lambda *_: None))
    assert found[0] == Unread("a.txt", "The file could not be opened: Permission denied.")
    assert isinstance(found[1], Opened)


def test_links_that_go_round_end(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "note.txt").touch()
    os.symlink("..", tmp_path / "a" / "up")
    os.symlink("round", tmp_path / "round")
    found = folder.scan([tmp_path], threading.Event())
    assert [file.name for file in found.files] == ["a/note.txt"]
    assert [(one.name, one.reason) for one in found.unread if one.name != "home"] == [
        ("a/up", folder.LINK_INSIDE), ("round", folder.LINK_NOWHERE),
    ]  # fmt: skip


def test_complaint_G1_an_archive_under_a_name_of_many_scripts(store: Database, tmp_path: Path) -> None:
    """ggml-org/llama.cpp#18571, commontk/CTK#404: study, profile and names under `Ж ü 你 é space`."""
    place = tmp_path / "Ж ü 你 é space"
    place.mkdir()
    (place / "Ж ü 你 é.zip").write_bytes(zipped([("Ж ü 你 é space/n.txt", "Grüße".encode())]))
    with closing(open_database(place / "workbench.db", migrations.workbench)) as own:
        watch = Watch()
        case = take(own, place / "Ж ü 你 é.zip", watch)
    assert [(item.title, item.text) for item in case.notes] == [  # type: ignore[attr-defined]
        ("Ж ü 你 é.zip/Ж ü 你 é space/n.txt", "Grüße")
    ]
    assert watch.told[0][1:] == ("Ж ü 你 é.zip/Ж ü 你 é space/n.txt", "")
