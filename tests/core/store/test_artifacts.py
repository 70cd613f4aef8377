"""Bulk bytes by sha256: kept once, whole, checked at every read; a failed write leaves nothing behind."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest

from core.errors import Cancelled, StoreError
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.database import Database, open_database
from core.store.packs import Packs
from tests.helpers.dicom_files import packaged
from tests.helpers.runs import ACTOR

DATA = b"pixels" * 1000


@pytest.fixture
def database(profile: Path) -> Database:
    return open_database(profile / "workbench.db", migrations.workbench)


@pytest.fixture
def artifacts(database: Database, profile: Path) -> Artifacts:
    return Artifacts(database, profile)


def files(profile: Path) -> list[Path]:
    return [path for path in (profile / "artifacts").rglob("*") if path.is_file()]


def counted(profile: Path) -> int:
    """Rows, by a connection of its own: files are made durable in several threads."""
    with closing(sqlite3.connect(profile / "workbench.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM artifact").fetchone()[0])


def test_bytes_come_back_under_their_hash(artifacts: Artifacts, database: Database, profile: Path) -> None:
    name = artifacts.put(DATA, "image/png", ACTOR)
    assert name == hashlib.sha256(DATA).hexdigest()
    assert artifacts.read(name) == DATA
    assert [path.name for path in files(profile)] == [name]
    row = database.one("SELECT bytes, media_type FROM artifact WHERE sha256 = ?", name)
    assert row is not None
    assert tuple(row) == (6000, "image/png")


def test_the_same_bytes_are_kept_once(artifacts: Artifacts, database: Database, profile: Path) -> None:
    for _ in range(3):
        artifacts.put(DATA, "image/png", ACTOR)
    artifacts.put(b"", "text/plain", ACTOR)
    assert len(files(profile)) == 2
    assert len(database.query("SELECT * FROM artifact")) == 2


def test_a_changed_byte_is_noticed(artifacts: Artifacts, profile: Path) -> None:
    name = artifacts.put(DATA, "image/png", ACTOR)
    path = files(profile)[0]
    path.write_bytes(b"X" + DATA[1:])
    with pytest.raises(StoreError, match="damaged on disk") as damaged:
        artifacts.read(name)
    assert damaged.value.code == "artifact damaged"
    path.unlink()
    with pytest.raises(StoreError, match="missing from the profile") as missing:
        artifacts.read(name)
    assert missing.value.code == "artifact missing"


def test_complaint_F11_sixteen_bytes_changed_in_a_kept_image_are_found(artifacts: Artifacts, profile: Path) -> None:
    """Damaged J2K decodes without error in 40 of 40 (product.md 7.6): after the import the hash finds all 40."""
    whole = packaged("MR_small_jp2klossless.dcm")
    name = artifacts.put(whole, "application/dicom", ACTOR)
    (path,) = files(profile)
    start = len(whole) // 2
    for at in range(start, start + 40 * 32, 32):
        path.write_bytes(whole[:at] + bytes(255 - byte for byte in whole[at : at + 16]) + whole[at + 16 :])
        with pytest.raises(StoreError, match="damaged on disk"):
            artifacts.read(name)
    path.write_bytes(whole)
    assert artifacts.read(name) == whole


def test_a_name_that_is_no_hash_reaches_no_file(artifacts: Artifacts, profile: Path) -> None:
    (profile / "settings.json").write_text("{}")
    for name in ("../settings.json", "..", "/etc/passwd", "", "A" * 64):
        with pytest.raises(StoreError) as refused:
            artifacts.read(name)
        assert refused.value.code == "artifact missing"


def test_a_file_where_a_folder_should_be(artifacts: Artifacts, profile: Path, database: Database) -> None:
    (profile / "artifacts").write_text("in the way")
    with pytest.raises(StoreError, match="could not be kept"):
        artifacts.put(DATA, "image/png", ACTOR)
    assert database.query("SELECT * FROM artifact") == []


def test_a_batch_is_kept_whole_and_in_one_transaction(artifacts: Artifacts, database: Database, profile: Path) -> None:
    with artifacts.batch(ACTOR) as batch:
        names = [batch.add(bytes([n]) * 10, "t") for n in (1, 2, 2, 3)]
        batch.drop(names[3])
        assert batch.read(names[0]) == b"\x01" * 10
        assert database.query("SELECT * FROM artifact") == []
        batch.keep(threading.Event())
        assert batch.read(names[1]) == b"\x02" * 10
    assert sorted(path.name for path in files(profile)) == sorted(set(names) - {names[3]})
    assert len(database.query("SELECT * FROM artifact")) == 2
    assert [artifacts.read(name) for name in names[:2]] == [b"\x01" * 10, b"\x02" * 10]


def test_a_batch_that_is_left_or_stopped_leaves_nothing(
    artifacts: Artifacts, database: Database, profile: Path
) -> None:
    stop = threading.Event()
    with pytest.raises(ValueError, match="left"), artifacts.batch(ACTOR) as batch:
        batch.add(DATA, "t")
        raise ValueError("left")
    with pytest.raises(Cancelled), artifacts.batch(ACTOR) as batch:
        batch.add(DATA, "t")
        stop.set()
        batch.keep(stop)
    assert files(profile) == []
    assert database.query("SELECT * FROM artifact") == []


def test_files_are_on_the_disk_before_they_get_their_names_and_rows(
    artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch, profile: Path
) -> None:
    """What fsync was asked for, in order: every file while it still lies aside, then each folder, then the rows."""
    seen: list[str] = []
    rows: list[int] = []
    real = os.fsync

    def watched(descriptor: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{descriptor}"))
        seen.append("folder" if path.is_dir() else path.suffix)
        rows.append(counted(profile))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    with artifacts.batch(ACTOR) as batch:
        for n in range(3):
            batch.add(bytes([n]), "t")
        batch.keep(threading.Event())
    assert (set(rows), counted(profile)) == ({0}, 3)
    assert seen[:3] == [".part"] * 3
    assert set(seen[3:]) == {"folder"}
    assert len(seen[3:]) == len({path.parent for path in files(profile)}) + 1


def test_what_a_killed_import_left_is_removed_a_day_later(artifacts: Artifacts, profile: Path) -> None:
    for name, hours in (("incoming-1-1", 25), ("incoming-2-2", 1)):
        place = profile / "artifacts" / name
        place.mkdir(parents=True)
        (place / "x.part").touch()
        os.utime(place, (time.time() - 3600 * hours,) * 2)
    artifacts.put(DATA, "t", ACTOR)
    assert [path.name for path in (profile / "artifacts").glob("incoming-*")] == ["incoming-2-2"]


def test_pack_states_replace_each_other(database: Database) -> None:
    packs = Packs(database)
    assert packs.detail("p", "1", state="ready") == ""
    packs.set_state("p", "1", state="ready", detail="marks", actor=ACTOR)
    packs.set_state("p", "2", state="quarantined", detail="why", actor=ACTOR)
    assert packs.detail("p", "1", state="ready") == "marks"
    assert packs.detail("p", "1", state="quarantined") == ""
    packs.set_state("p", "1", state="quarantined", detail="hash differs", actor=ACTOR)
    assert (packs.detail("p", "1", state="ready"), packs.detail("p", "1", state="quarantined")) == ("", "hash differs")
