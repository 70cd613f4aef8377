"""The power fails between two moments of the disk: sectors old, new, empty or missing, as a drive leaves them.

What was synced when an event was acknowledged is the least that a later start must find; what was under way may be
there or not, but never in half (trust.md section 5). That each acknowledgement waits for the disk is shown by a disk
that refuses: a kernel filter on the writing thread answers every sync with an error.
"""

from __future__ import annotations

import platform
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from core import codec
from core.domain import event as ev
from core.errors import StoreError
from core.runtime import protocol
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.database import open_database
from core.store.journal import Journal
from tests.helpers import no_internet
from tests.helpers.desk import Bench, Desk
from tests.helpers.no_internet import ALLOW, EQUALS, LOAD, NUMBER, RETURN
from tests.helpers.runs import ACTOR, TOY_REPLIES, Shelf

SECTOR, STEPS, CUTS = 512, 12, 2
CHECKPOINT = 6  # pages of the log after which they go into the database: several times in these steps
SYS_FSYNC, SYS_FDATASYNC, REFUSE_5 = 74, 75, 0x00050005
NO_SYNC = (
    (LOAD, 0, 0, NUMBER),
    (EQUALS, 1, 0, SYS_FSYNC),
    (EQUALS, 0, 1, SYS_FDATASYNC),
    (RETURN, 0, 0, REFUSE_5),
    (RETURN, 0, 0, ALLOW),
)
REFUSED = "The disk refused to write workbench.db. Check its space and health; nothing was lost."
X86_LINUX = sys.platform.startswith("linux") and platform.machine() == "x86_64"


class Moment(msgspec.Struct):
    """What the files held when event `acked` was acknowledged."""

    acked: int
    database: bytes
    log: bytes


def torn(old: bytes, new: bytes, chance: random.Random) -> bytes:
    """A file on its way from old to new when the power failed: each sector either of the two, or empty; maybe short."""
    size = max(len(old), len(new))
    sectors = []
    for at in range(0, size, SECTOR):
        before, after = old[at : at + SECTOR], new[at : at + SECTOR]
        width = max(len(before), len(after))
        choices = [before.ljust(width, b"\0"), after.ljust(width, b"\0"), bytes(width)]
        sectors.append(before if before == after else chance.choice(choices))
    return b"".join(sectors)[: chance.choice((size, chance.randint(len(old), size) if len(old) < size else size))]


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> list[Moment]:
    """The files of a profile after each event of a run, the log emptied into the database now and then."""
    folder = tmp_path_factory.mktemp("running")
    shelf = Shelf(folder)
    shelf.queue()
    shelf.database._connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT}")
    found = []
    for n in range(STEPS + 1):
        if n:
            event = ev.EvidenceAdded(stage=f"{n} " + "x" * 40 * n)
            shelf.journal.append("r1", event, branch="", key=f"{n}.note", actor=ACTOR)
        database, log = ((folder / name).read_bytes() for name in ("workbench.db", "workbench.db-wal"))
        found.append(Moment(n, database, log))
    shelf.database.close()
    return found


def cuts(moments: list[Moment]) -> Iterator[Moment]:
    """The power fails while the log is written, or, the log being synced, while the database is."""
    chance = random.Random(12)
    for one, next_one in zip(moments, moments[1:], strict=False):
        yield Moment(one.acked, one.database, one.log + bytes(len(next_one.log)))  # all of it empty
        yield Moment(one.acked, one.database, next_one.log)  # all of it there, and nobody told
        for _ in range(CUTS):
            yield Moment(one.acked, one.database, torn(one.log, next_one.log, chance))
        if next_one.database != one.database:
            for _ in range(CUTS):
                yield Moment(next_one.acked, torn(one.database, next_one.database, chance), next_one.log)


def test_complaint_C2_a_power_cut_loses_no_acknowledged_event(moments: list[Moment], tmp_path: Path) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#2343: after a power loss the chats were files full of NULs."""
    found, checkpoints = [], set()
    for cut in cuts(moments):
        for suffix, data in (("", cut.database), ("-wal", cut.log)):
            (tmp_path / f"workbench.db{suffix}").write_bytes(data)
        (tmp_path / "workbench.db-shm").unlink(missing_ok=True)
        with closing(open_database(tmp_path / "workbench.db", migrations.workbench)) as database:
            journal = Journal(database)
            keys = [row.key for row in journal.events("r1")]
            check = database.one("PRAGMA integrity_check")
            assert check is not None
            assert (check[0], journal.verify("r1")) == ("ok", ())
            assert keys == [f"{n}.note" for n in range(1, len(keys) + 1)]
            assert cut.acked <= len(keys) <= cut.acked + 1
            found.append(len(keys) - cut.acked)
            checkpoints.add(cut.database)
    assert len(found) > 4 * STEPS
    assert 0 < sum(found) < len(found), "the next event is sometimes whole, sometimes gone"
    assert len(checkpoints) > CUTS, "no cut fell into the writing of the database"


def test_control_a_history_that_is_written_anew_as_one_file_is_lost(moments: list[Moment]) -> None:
    """The peers' way under the same cuts."""
    chance = random.Random(12)
    files = [codec.encode([f"{n} " + "x" * 40 * n for n in range(one.acked)]) for one in moments]
    lost = 0
    for old, new in zip(files[4:], files[5:], strict=False):
        try:
            codec.decode(torn(old, new, chance), list[str])
        except msgspec.DecodeError:
            lost += 1
    assert lost >= STEPS / 4


# ------------------------------------------------------------------------------------------------ the disk refuses


def under_filter(work: list[str], folder: Path, *, synchronous: str) -> None:
    """In a thread of its own, which the filter dies with: what becomes of an event and of a file."""
    with closing(open_database(folder / "workbench.db", migrations.workbench)) as database:
        database._connection.execute(f"PRAGMA synchronous={synchronous}")
        journal, artifacts = Journal(database), Artifacts(database, folder)
        journal.append("r1", ev.EvidenceAdded(), branch="", key="1.note", actor=ACTOR)
        no_internet.install(NO_SYNC)
        for act in (
            lambda: journal.append("r1", ev.EvidenceAdded(), branch="", key="2.note", actor=ACTOR),
            lambda: artifacts.put(b"a film", "image/png", ACTOR),
        ):
            try:
                act()
                work.append("acknowledged")
            except StoreError as error:
                work.append(error.text)


@pytest.mark.skipif(not X86_LINUX, reason="the kernel filter of this test is for Linux on x86-64")
@pytest.mark.parametrize(
    ("synchronous", "event"), [("FULL", REFUSED), ("NORMAL", "acknowledged")], ids=["ours", "control"]
)
def test_complaint_C2_nothing_is_acknowledged_that_the_disk_did_not_confirm(
    tmp_path: Path, synchronous: str, event: str
) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#2343. NORMAL is the control: there the log is not synced with each event."""
    shelf = Shelf(tmp_path)
    shelf.queue()
    shelf.database.close()
    told: list[str] = []
    writer = threading.Thread(target=under_filter, args=(told, tmp_path), kwargs={"synchronous": synchronous})
    writer.start()
    writer.join()
    assert told == [event, "The file could not be kept: Input/output error."]


# ------------------------------------------------------------------------------------------------ while a model writes


class Watching(Desk):
    """Looks at all files of the profile whenever the model has written a piece of text."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        self._folder = folder
        self.seen: list[tuple[tuple[str, int, int], ...]] = []
        super().__init__(bench)

    def _hear(self, notice: protocol.Notice) -> None:
        if isinstance(notice, protocol.Delta):
            stats = ((path.name, path.stat()) for path in sorted(self._folder.rglob("*")) if path.is_file())
            self.seen.append(tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats))
        super()._hear(notice)


def test_complaint_C2_no_byte_is_written_for_a_piece_of_text(profile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """lmstudio-ai/lmstudio-bug-tracker#1621: the whole file was written anew for each token."""
    monkeypatch.setitem(TOY_REPLIES, "final", "another line\n" * 300)
    shelf = Shelf(profile)
    desk = Watching(Bench(shelf), profile)
    shelf.queue()
    desk.service.execute("r1")
    text = [notice for notice in desk.told(protocol.Delta) if notice.text == "another line\n"]  # type: ignore[attr-defined]
    assert len(text) == 300
    assert len(set(desk.seen[-300:])) == 1
    assert len(set(desk.seen)) > 1, "between two calls events are written"
    assert shelf.journal.run("r1").status == "finished"
    shelf.database.close()
