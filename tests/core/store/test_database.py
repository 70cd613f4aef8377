"""The database file: durable pragmas, all-or-nothing steps, migrations after a copy, and sentences for a bad disk."""

from __future__ import annotations

import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlite_utils import Migrations

from core.errors import StoreError
from core.store import migrations
from core.store.cases import Cases
from core.store.database import KEPT_COPIES, Database, ProfileLock, open_database
from tests.helpers.runs import ACTOR, CASE, Shelf


@pytest.fixture
def opened(profile: Path) -> Iterator[Database]:
    database = open_database(profile / "workbench.db", migrations.workbench)
    yield database
    database.close()


# ------------------------------------------------------------------------------------------------ pragmas and steps


@pytest.mark.parametrize(
    ("pragma", "value"), [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("trusted_schema", 0)]
)
def test_pragmas_of_durability(opened: Database, pragma: str, value: object) -> None:
    row = opened.one(f"PRAGMA {pragma}")
    assert row is not None
    assert row[0] == value


def put(database: Database, identifier: str) -> None:
    with database.transaction(ACTOR, "test", identifier) as connection:
        connection.execute("INSERT INTO artifact VALUES (?, 1, 't', 'at')", (identifier,))


def count(database: Database) -> int:
    return len(database.query("SELECT * FROM artifact"))


@pytest.mark.parametrize("error", [RuntimeError("own"), KeyboardInterrupt(), sqlite3.IntegrityError("bad")])
def test_a_step_that_fails_leaves_nothing(opened: Database, error: BaseException) -> None:
    put(opened, "kept")
    with pytest.raises((type(error), StoreError)), opened.transaction(ACTOR, "test", "x") as connection:
        connection.execute("INSERT INTO artifact VALUES ('half', 1, 't', 'at')")
        raise error
    assert count(opened) == 1
    put(opened, "after")  # and the connection works on
    assert count(opened) == 2


def test_nobody_may_act_namelessly(opened: Database) -> None:
    with pytest.raises(StoreError, match="may not") as refused, opened.transaction("", "write", "x"):
        raise AssertionError("the step began")
    assert refused.value.code == "not allowed"


def test_a_broken_statement_of_ours_is_a_bug_not_a_sentence(opened: Database) -> None:
    with pytest.raises(StoreError) as bug:
        opened.query("SELECT nothing FROM nowhere")
    assert not bug.value.known


def test_a_writer_waits_for_another(profile: Path, opened: Database) -> None:
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        other = open_database(profile / "workbench.db", migrations.workbench)
        with other.transaction(ACTOR, "hold", "x") as connection:
            connection.execute("INSERT INTO artifact VALUES ('other', 1, 't', 'at')")
            held.set()
            let_go.wait(5)
        other.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(5)
    threading.Timer(0.2, let_go.set).start()
    put(opened, "mine")
    thread.join()
    assert count(opened) == 2


# ------------------------------------------------------------------------------------------------ migrations


def changed(*names: str) -> Migrations:
    """The shipped migrations followed by some that add a table each."""
    made = Migrations("workbench")
    made._migrations.extend(migrations.workbench._migrations)
    for name in names:

        def add(db: object, name: str = name) -> None:
            db.execute(f"CREATE TABLE t{name} (x)")  # type: ignore[attr-defined]

        made(name=name)(add)
    return made


def test_a_newer_database_is_refused_with_a_sentence_and_not_touched(profile: Path) -> None:
    path = profile / "workbench.db"
    open_database(path, changed("9999")).close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="made by a newer version of Wardround") as refused:
        open_database(path, migrations.workbench)
    assert refused.value.code == "newer"
    assert path.read_bytes() == before


def test_a_copy_is_made_before_a_migration_and_three_are_kept(profile: Path) -> None:
    shelf = Shelf(profile)
    shelf.database.close()
    assert list(profile.glob("*.bak")) == []  # nothing to copy when the file was made
    names: list[str] = []
    for n in range(KEPT_COPIES + 2):
        names.append(f"{n:04}")
        open_database(profile / "workbench.db", changed(*names)).close()
    copies = sorted(profile.glob("workbench.db.*.bak"))
    assert len(copies) == KEPT_COPIES
    latest = sqlite3.connect(copies[-1])
    tables = {row[0] for row in latest.execute("SELECT name FROM sqlite_master")}
    assert (f"t{names[-2]}" in tables, f"t{names[-1]}" in tables) == (True, False)
    assert latest.execute('SELECT title FROM "case"').fetchall() == [(CASE.title,)]
    latest.close()


def test_an_interrupted_migration_leaves_the_old_file(profile: Path) -> None:
    Shelf(profile).database.close()
    broken = changed()

    @broken(name="0002_broken")
    def _broken(db: object) -> None:
        db.execute("CREATE TABLE half (x)")  # type: ignore[attr-defined]
        raise RuntimeError("power")

    with pytest.raises(RuntimeError, match="power"):
        open_database(profile / "workbench.db", broken)
    again = open_database(profile / "workbench.db", migrations.workbench)
    assert again.one("SELECT 1 FROM sqlite_master WHERE name = 'half'") is None
    assert Cases(again).load(CASE.id) == CASE
    again.close()


# ------------------------------------------------------------------------------------------------ bad disks


def test_a_damaged_file_is_named(profile: Path) -> None:
    path = profile / "workbench.db"
    path.write_bytes(b"this is no database, " * 400)
    with pytest.raises(StoreError, match="workbench.db is damaged") as damaged:
        open_database(path, migrations.workbench)
    assert damaged.value.code == "damaged"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="cannot be used") as refused:
        open_database(tmp_path / "file" / "profile" / "workbench.db", migrations.workbench)
    assert refused.value.code == "cannot open"
    with pytest.raises(StoreError, match="cannot be used"):
        ProfileLock(tmp_path / "file" / "profile").acquire()


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes: what a full disk looks like to a program, without filling one."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)


def test_where_nothing_more_can_be_written_nothing_is_lost_or_half(opened: Database) -> None:
    acked = 0
    with largest_file(500_000), pytest.raises(StoreError, match="nothing was lost") as full:
        while True:
            put(opened, f"{acked:064}")
            acked += 1
    assert (full.value.code, full.value.known) == ("disk", True)
    kept = count(opened)
    assert kept == acked > 5
    row = opened.one("PRAGMA integrity_check")
    assert row is not None
    assert row[0] == "ok"
    put(opened, "after freeing")
    assert count(opened) == kept + 1


FULL = """
import sys
from pathlib import Path
from core.errors import StoreError
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.database import open_database
folder = Path(sys.argv[1])
database = open_database(folder / "workbench.db", migrations.workbench)
acked = 0
def fill():
    global acked
    while True:
        with database.transaction("t", "fill", "x") as connection:
            connection.execute("INSERT INTO artifact VALUES (?, 1, ?, 'at')", (str(acked), "x" * 4000))
        acked += 1
try:
    fill()
except StoreError as error:
    print(error.code, "|", error.text)
kept = len(database.query("SELECT * FROM artifact"))
print("lost", acked - kept, "check", database.one("PRAGMA integrity_check")[0])
try:
    Artifacts(database, folder).put(b"y" * 2_000_000, "t", "t")
except StoreError as error:
    print(error.code, "|", error.text)
print("parts", len(list(folder.rglob("*.part"))))
(folder / "ballast").unlink()
with database.transaction("t", "again", "x") as connection:
    connection.execute("INSERT INTO artifact VALUES ('again', 1, 't', 'at')")
print("again", len(database.query("SELECT * FROM artifact")) - kept)
"""


def test_a_full_disk_is_a_sentence_and_works_again_after_freeing(tmp_path: Path) -> None:
    """On a real file system of 3 MB, in a name space of its own."""
    place = tmp_path / "small"
    place.mkdir()
    script = (
        f"mount -t tmpfs -o size=3m none {place} && head -c 300000 /dev/zero > {place}/ballast && "
        f'exec {sys.executable} -c "$0" {place}'
    )
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0:
        pytest.skip("no user name spaces: the full disk is tried with a size limit only")
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, FULL], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr[-1500:]
    assert lines[0] == "disk full | The disk is full. Free some space and try again; nothing was lost."
    assert lines[1] == "lost 0 check ok"
    assert lines[2].startswith("disk full | The file could not be kept")
    assert lines[3:] == ["parts 0", "again 1"]


READ_ONLY = """
import sys
from pathlib import Path
from core.errors import StoreError
from core.store import migrations
from core.store.database import ProfileLock, open_database
for act in (lambda: ProfileLock(Path(sys.argv[1])).acquire(),
            lambda: open_database(Path(sys.argv[1]) / "workbench.db", migrations.workbench)):
    try:
        act()
    except StoreError as error:
        print(error.code, error.known, error.text)
"""


def test_a_read_only_disk_is_a_sentence(tmp_path: Path) -> None:
    place = tmp_path / "fixed"
    place.mkdir()
    Shelf(place).database.close()
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode != 0:
        pytest.skip("no user name spaces")
    mount = f'mount --bind {place} {place} && mount -o remount,bind,ro {place} && exec {sys.executable} -c "$0" {place}'
    done = subprocess.run(["unshare", "-rm", "sh", "-c", mount, READ_ONLY], capture_output=True, text=True, check=False)
    lock, opening = done.stdout.splitlines()
    assert lock.startswith("cannot open True ")
    assert "Read-only file system" in lock
    assert opening.split(" ", 2)[:2] in (["read", "only"], ["cannot", "open"])
    assert "True" in opening


# ------------------------------------------------------------------------------------------------ the profile's lock


def test_the_lock_is_for_one(profile: Path) -> None:
    first, second = ProfileLock(profile), ProfileLock(profile)
    first.acquire()
    with pytest.raises(StoreError, match="already open with this profile") as refused:
        second.acquire()
    assert refused.value.code == "second process"
    first.release()
    second.acquire()
    second.release()


def test_the_lock_dies_with_its_process(profile: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from core.store.database import ProfileLock\n"
        "lock = ProfileLock(Path(sys.argv[1])); lock.acquire(); print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(profile)], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(StoreError):
        ProfileLock(profile).acquire()
    holder.kill()
    holder.wait()
    holder.stdout.close()
    lock = ProfileLock(profile)
    lock.acquire()
    lock.release()


def test_a_database_belongs_to_its_thread(opened: Database) -> None:
    seen: list[BaseException] = []

    def use() -> None:
        try:
            opened.query("SELECT 1")
        except Exception as error:
            seen.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert [type(error) for error in seen] == [StoreError]


def test_an_encrypted_profile_is_refused_until_it_can_be_opened(profile: Path) -> None:
    with pytest.raises(StoreError) as refused:
        open_database(profile / "workbench.db", migrations.workbench, key=b"k")
    assert refused.value.code == "encrypted"
