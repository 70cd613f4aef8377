"""The import job: files to a case, revisions, progress, cancel, faults of the decode child, and the three examples."""

from __future__ import annotations

import io
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np
import pydicom
import pytest

from core.domain.case import Case, LabTable, Note, SeriesRef, Unread
from core.errors import BugError, Cancelled, UserError
from core.imaging import film
from core.imaging.facts import Instance
from core.readers.text import TextDocument
from core.runtime import examples, folder, unpacking
from core.runtime.foreign import Decoder, Refused
from core.runtime.intake import import_paths
from core.runtime.items import IMAGES_OFF
from core.settings import Settings
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.database import Database, now, open_database

WHO = film.Identity(name="Example^Nora", patient_id="E-1", birth_date="19600101", sex="F")
PACKAGED = Path(pydicom.__file__).parent / "data" / "test_files"


class Desk:
    """A profile with what an import needs, and the progress of the last one."""

    def __init__(self, database: Database, profile: Path) -> None:
        self.database = database
        self.cases = Cases(database)
        self.artifacts = Artifacts(database, profile)
        self.progress: list[tuple[int, int, str]] = []
        self.stop = threading.Event()
        self.on_file: Callable[[int], None] = lambda done: None

    def take(
        self,
        *paths: Path,
        case_id: str | None = None,
        title: str | None = None,
        profile: Literal["text_support", "research_imaging"] = "research_imaging",
    ) -> Case:
        """Import the paths."""
        self.progress.clear()
        return import_paths(
            paths,
            case_id=case_id,
            title=title,
            settings=Settings(profile=profile),
            cases=self.cases,
            artifacts=self.artifacts,
            actor="tester",
            clock=now,
            on_progress=self._heard,
            stop=self.stop,
        )

    def _heard(self, done: int, total: int, name: str) -> None:
        self.progress.append((done, total, name))
        self.on_file(done)

    def rows(self, table: str) -> int:
        found = self.database.one(f'SELECT count(*) AS n FROM "{table}"')
        return int(found["n"]) if found else -1


@pytest.fixture
def desk(profile: Path) -> Iterator[Desk]:
    database = open_database(profile / "workbench.db", migrations.workbench)
    yield Desk(database, profile)
    database.close()


def notes_in(place: Path, **texts: str) -> Path:
    place.mkdir(exist_ok=True)
    for name, text in texts.items():
        (place / f"{name}.txt").write_text(text, encoding="utf-8")
    return place


def slices(place: Path, numbers: range, **elements: object) -> None:
    """Slices of one series, 5 mm apart, of this file's patient."""
    place.mkdir(exist_ok=True)
    for number in numbers:
        dataset = pydicom.dcmread(PACKAGED / "CT_small.dcm")
        fields = {"PatientName": WHO.name, "PatientID": WHO.patient_id, "InstanceNumber": number}
        fields |= {"SOPInstanceUID": f"1.2.3.{number}", "ImagePositionPatient": [0, 0, 5 * number], **elements}
        for keyword, value in fields.items():
            setattr(dataset, keyword, value)
        dataset.save_as(place / f"slice-{number:03}.dcm")


def identified(case: Case) -> list[tuple[str, str]]:
    return [(item.id, item.title) for item in case.items]


# ------------------------------------------------------------------------------------------------ a new case


def test_a_folder_becomes_a_case(desk: Desk, tmp_path: Path) -> None:
    place = notes_in(tmp_path / "chest_pain-2", b="second", a="first, 2026-11-18")
    (place / "labs.csv").write_text("test,value,unit\nPotassium,6.1,mmol/L\n", encoding="utf-8")
    (place / ".hidden.txt").write_text("x", encoding="utf-8")
    (place / "Thumbs.db").write_bytes(b"x")
    slices(place / "ct", range(1, 4))
    case = desk.take(place)
    assert (case.id, case.title, case.revision) == ("chest-pain-2", "Chest pain 2", 1)
    assert identified(case) == [("n1", "a.txt"), ("n2", "b.txt"), ("s1", "CT"), ("t1", "labs.csv")]
    assert case.unread == ()
    assert case.patient.name == "Example, Nora"
    assert case.notes[0].written_on == "2026-11-18"
    assert desk.cases.load("chest-pain-2") == case


def test_originals_and_previews_are_kept_byte_for_byte(desk: Desk, tmp_path: Path) -> None:
    place = notes_in(tmp_path / "x", a="first\r\n")
    slices(place, range(1, 4))
    case = desk.take(place)
    assert desk.artifacts.read(case.notes[0].sha256) == b"first\r\n"
    (series,) = case.pictures
    assert isinstance(series, SeriesRef)
    assert [desk.artifacts.read(sha) for sha in series.files] == [
        (place / f"slice-{n:03}.dcm").read_bytes() for n in (1, 2, 3)
    ]
    assert desk.artifacts.read(series.preview_sha256).startswith(b"\x89PNG")
    assert desk.artifacts.read(series.sha256) == b'["' + '","'.join(series.files).encode() + b'"]'
    assert (series.instances, series.rows, series.columns, series.modality) == (3, 128, 128, "CT")


def test_two_imports_of_a_folder_give_equal_items(desk: Desk, tmp_path: Path) -> None:
    first = desk.take(examples.write("b", tmp_path / "one"))
    second = desk.take(examples.write("b", tmp_path / "two" / "one"))
    assert (first.items, first.unread) == (second.items, second.unread)
    assert (first.id, second.id) == ("one", "one-2")


def test_a_single_file_and_several_paths(desk: Desk, tmp_path: Path) -> None:
    one, two = notes_in(tmp_path / "one", a="first"), notes_in(tmp_path / "two", a="second")
    assert identified(desk.take(one / "a.txt")) == [("n1", "a.txt")]
    assert identified(desk.take(two, one)) == [("n1", "one/a.txt"), ("n2", "two/a.txt")]


def test_progress_counts_every_file_once(desk: Desk, tmp_path: Path) -> None:
    desk.take(notes_in(tmp_path / "x", a="1", b="2", c="3"))
    assert desk.progress == [(0, 3, "a.txt"), (1, 3, "b.txt"), (2, 3, "c.txt"), (3, 3, "")]


def test_three_hundred_files_in_a_few_seconds(desk: Desk, tmp_path: Path) -> None:
    place = notes_in(tmp_path / "x", **{f"n{n:03}": f"note {n}" for n in range(300)})
    start = time.monotonic()
    assert len(desk.take(place).items) == 300
    assert time.monotonic() - start < 10  # about 1.3 s on an idle machine


@pytest.mark.parametrize(
    ("case_id", "code"), [(None, "no such file"), ("nobody", "no such case")], ids=["path", "case"]
)
def test_what_does_not_exist_is_said(desk: Desk, tmp_path: Path, case_id: str | None, code: str) -> None:
    with pytest.raises(UserError) as refused:
        desk.take(tmp_path / "absent", case_id=case_id)
    assert refused.value.code == code


def test_nothing_readable_makes_no_case(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    with pytest.raises(UserError, match=r"Nothing could be read. empty.txt: The file is empty \(0 bytes\)."):
        desk.take(tmp_path / "empty.txt")
    assert desk.cases.list() == ()


def test_names_are_made_readable() -> None:
    assert folder.clean("a\nb\u202egpj.txt") == "a\ufffdb\ufffdgpj.txt"
    assert folder.clean("M\u0075\u0308ller.txt") == "M\u00fcller.txt"
    if sys.platform != "win32":
        assert folder.clean(b"r\xe9sum\xe9.txt".decode("utf-8", "surrogateescape")) == "r\ufffdsum\ufffd.txt"


# ------------------------------------------------------------------------------------------------ the next revision


def test_new_files_make_the_next_revision_with_the_old_ids(desk: Desk, tmp_path: Path) -> None:
    place = notes_in(tmp_path / "x", m="first", z="second")
    case = desk.take(place)
    (place / "bad.txt").touch()
    notes_in(place, a="third", copy="first")
    grown = desk.take(place, case_id=case.id)
    assert grown.revision == 2
    assert identified(grown) == [("n1", "m.txt"), ("n2", "z.txt"), ("n3", "a.txt")]
    assert [entry.name for entry in grown.unread] == ["bad.txt"]
    assert desk.cases.load(case.id, 1) == case
    (place / "bad.txt").write_text("mended", encoding="utf-8")
    mended = desk.take(place, case_id=case.id)
    assert (mended.revision, mended.unread) == (3, ())
    assert identified(mended)[-1] == ("n4", "bad.txt")


def test_nothing_new_leaves_the_case_as_it_is(desk: Desk, tmp_path: Path) -> None:
    place = notes_in(tmp_path / "x", a="first", b="first")
    (place / "empty.txt").touch()
    case = desk.take(place)
    assert desk.take(place, case_id=case.id) == case
    assert desk.rows("case_item") == 1


def test_a_series_grows_in_place(desk: Desk, tmp_path: Path) -> None:
    slices(tmp_path / "x", range(1, 4))
    slices(tmp_path / "y", range(6, 9))
    case = desk.take(tmp_path / "x")
    grown = desk.take(tmp_path / "y", case_id=case.id)
    (series,) = grown.pictures
    assert isinstance(series, SeriesRef)
    assert (series.id, series.instances) == ("s1", 6)
    assert [check.code for check in series.checks] == ["S01", "S09"]
    assert series.warnings[0].startswith("About 2 slices are missing between those that are here")
    assert set(case.pictures[0].files) < set(series.files)  # type: ignore[union-attr]


def test_another_patients_images_stay_out(desk: Desk, tmp_path: Path) -> None:
    slices(tmp_path / "x", range(1, 3))
    case = desk.take(tmp_path / "x")
    slices(tmp_path / "y", range(1, 2), PatientName="Somebody^Else", SeriesInstanceUID="1.9")
    notes_in(tmp_path / "y", a="text")
    grown = desk.take(tmp_path / "y", case_id=case.id)
    assert identified(grown) == [("s1", "CT"), ("n1", "a.txt")]
    assert grown.patient == case.patient
    assert grown.unread[0].reason == (
        "It names another patient than the rest of this case (other name); it was not added."
    )
    stranger = pydicom.dcmread(tmp_path / "y" / "slice-001.dcm")
    assert stranger.pixel_array.shape == (128, 128)  # a sound image: only its name kept it out


def test_a_record_of_another_patient_says_only_that(desk: Desk, tmp_path: Path) -> None:
    slices(tmp_path / "x", range(1, 3))
    record = {
        "resourceType": "Bundle",
        "entry": [
            {"resource": {"resourceType": "Patient", "name": [{"family": "Else", "given": ["Anna"]}]}},
            {"resource": {"resourceType": "Condition", "code": {"text": "Gout"}}},
            {"resource": {"resourceType": "Immunization", "id": "i"}},
        ],
    }
    (tmp_path / "x" / "record.json").write_text(json.dumps(record), encoding="utf-8")
    case = desk.take(tmp_path / "x")
    assert identified(case) == [("s1", "CT")]
    assert [(entry.name, entry.reason) for entry in case.unread] == [
        ("record.json", "It names another patient than the rest of this case (other name); it was not added.")
    ]
    assert case.unread_files == 1


# ------------------------------------------------------------------------------------------------ stop and faults


def test_stop_leaves_nothing_behind_within_300_ms(desk: Desk, tmp_path: Path) -> None:
    place = notes_in(tmp_path / "x", **{f"n{n:03}": f"note {n}" for n in range(300)})
    stopped: list[float] = []

    def halt(done: int) -> None:
        if done == 50:
            desk.stop.set()
            stopped.append(time.monotonic())

    desk.on_file = halt
    with pytest.raises(Cancelled):
        desk.take(place)
    assert time.monotonic() - stopped[0] < 0.3
    assert (desk.rows("case"), desk.rows("artifact")) == (0, 0)
    desk.stop.clear()
    desk.on_file = lambda done: None
    assert len(desk.take(place).items) == 300  # and the import can be done again


def test_what_is_kept_is_what_was_read(desk: Desk, tmp_path: Path) -> None:
    """A file that changes after it was read: the case and the store hold the bytes of that moment, not of the end."""
    place = notes_in(tmp_path / "x", a="first", b="second")

    def change(done: int) -> None:
        if done == 1:
            (place / "a.txt").write_text("other", encoding="utf-8")

    desk.on_file = change
    case = desk.take(place)
    assert case.notes[0].text == "first"
    assert desk.artifacts.read(case.notes[0].sha256) == b"first"


def test_a_file_that_changes_while_it_is_read_is_said(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = notes_in(tmp_path / "x", a="first", b="second")
    real = unpacking.Sources._blocks

    def slow(self: unpacking.Sources, stream: BinaryIO, limit: int) -> tuple[bytes, str]:
        found = real(self, stream, limit)
        if found[0] == b"first":
            with (place / "a.txt").open("a", encoding="utf-8") as writer:
                writer.write(" and more")
        return found

    monkeypatch.setattr(unpacking.Sources, "_blocks", slow)
    case = desk.take(place)
    assert identified(case) == [("n1", "b.txt")]
    assert case.unread == (Unread("a.txt", "It changed while it was being read; import it again."),)


FAULTY = """
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
    if frame[1] == b"babble":
        os.write(1, b"x" * 100)
    elif frame[1] == b"off topic":
        isolate.write_frame(out, Ready())
    elif frame[1] == b"no struct":
        isolate.write_frame(out, [1, 2])
    else:
        isolate.write_frame(out, *answer(codec.decode(frame[0], Question), frame[1], start))
"""


def test_a_dead_or_mad_child_costs_one_file_only() -> None:
    with Decoder(Settings(), threading.Event(), [sys.executable, "-c", FAULTY]) as decoder:
        for data in (b"abort", b"babble", b"off topic", b"no struct"):
            answer, _ = decoder.read("a.txt", data)
            assert isinstance(answer, Refused)
            assert answer.code == "D12"
            after, _ = decoder.read("b.txt", b"sound")
            assert isinstance(after, TextDocument)
            assert after.text == "sound"


def test_a_child_that_does_not_start_is_our_own_fault() -> None:
    command = [sys.executable, "-c", "raise SystemExit(3)"]
    with Decoder(Settings(), threading.Event(), command) as decoder, pytest.raises(BugError):
        decoder.read("a.txt", b"text")


def test_the_real_child_has_its_limits_on_and_reads_dicom() -> None:
    data = film.write_chest_film(np.arange(64, dtype=np.uint8).reshape(8, 8), WHO)
    with Decoder(Settings(), threading.Event()) as decoder:
        header, _ = decoder.read("film", data)
        assert isinstance(header, Instance)
        drawn, png = decoder.render(data, pixels=64)
        assert not isinstance(drawn, Refused)
        limits = Path(f"/proc/{decoder._room._child._process.pid}/limits")  # type: ignore[union-attr]
        text = limits.read_text(encoding="utf-8") if limits.exists() else ""
    assert png.startswith(b"\x89PNG")
    if text:
        assert re.search(r"Max file size +0 +0 ", text)
        assert re.search(r"Max open files +64 +64 ", text)
        assert re.search(r"Max core file size +0 +0 ", text)
        assert not re.search(r"Max cpu time +unlimited", text)


# ------------------------------------------------------------------------------------------------ the examples


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("examples")
    return {letter: examples.write(letter, root / letter) for letter in examples.TITLES}


@pytest.mark.parametrize("letter", ["a", "b", "c"])
def test_examples_import_whole(desk: Desk, written: dict[str, Path], letter: str) -> None:
    case = desk.take(written[letter], title=examples.TITLES[letter])
    assert case.title == examples.TITLES[letter]
    assert case.unread == ()
    assert {item.title for item in case.items if isinstance(item, Note | LabTable)} <= {
        path.name for path in written[letter].iterdir()
    }
    assert len(case.items) == len(list(written[letter].iterdir()))
    for note in case.notes:
        assert 120 <= len(note.text.split()) <= 310
        assert note.written_on.startswith("2026-11")


def values(case: Case, test: str) -> list[tuple[float | None, str, str]]:
    found = [row for table in case.tables for row in table.rows if row.test == test]
    return [(row.number, row.unit, row.collected_at[:10]) for row in sorted(found, key=lambda r: r.collected_at)]


def test_example_a_points_to_an_embolism(desk: Desk, written: dict[str, Path]) -> None:
    case = desk.take(written["a"])
    assert values(case, "D-dimer") == [(2450.0, "ug/L FEU", "2026-11-18")]
    assert [number for number, *_ in values(case, "Troponin T (hs)")] == [22.0, 26.0]
    text = " ".join(note.text for note in case.notes)
    for words in ("HR 112", "SpO2 91% on air", "Left calf", "day 12 after left total knee replacement", "No fever"):
        assert words in text
    (picture,) = case.pictures
    assert (picture.modality, picture.view) == ("DX", "PA")
    assert (case.patient.name, case.patient.birth_date) == ("Example, Margaret", "1958-03-22")


def test_example_b_hides_its_trap_in_one_sentence(desk: Desk, written: dict[str, Path]) -> None:
    case = desk.take(written["b"])
    assert values(case, "Creatinine") == [(88.0, "umol/L", "2026-08-14"), (240.0, "umol/L", "2026-11-23")]
    assert values(case, "Potassium")[-1][0] == 6.1
    text = " ".join(note.text for note in case.notes)
    assert len(re.findall("ibuprofen", text, re.IGNORECASE)) == 1
    for drug in ("Ramipril", "Bendroflumethiazide", "Furosemide", "Metformin"):
        assert drug in text
    assert "Penicillin" in text


def test_example_c_has_pressures_a_fundus_and_a_contraindication(desk: Desk, written: dict[str, Path]) -> None:
    case = desk.take(written["c"])
    assert [n for n, _, day in values(case, "Intraocular pressure right") if day == "2026-11-25"] == [26.0]
    assert [n for n, _, day in values(case, "Intraocular pressure left") if day == "2026-11-25"] == [24.0]
    (picture,) = case.pictures
    assert (picture.modality, picture.laterality) == ("fundus photograph", "R")
    text = " ".join(note.text for note in case.notes)
    for words in ("Asthma since childhood", "timolol", "cup-disc ratio 0.8", "cup-disc ratio 0.6"):
        assert words in text


def test_text_support_reads_everything_but_images_and_says_why(desk: Desk, written: dict[str, Path]) -> None:
    picture = next(written["c"].glob("*.png"))
    paths = (written["a"] / "chest-film.dcm", picture, written["a"] / "01-gp-letter.txt")
    case = desk.take(*paths, profile="text_support")
    assert (len(case.notes), case.pictures) == (1, ())
    assert {(entry.name, entry.reason) for entry in case.unread} == {
        ("chest-film.dcm", IMAGES_OFF),
        (picture.name, IMAGES_OFF),
    }
    assert desk.rows("artifact") == 1
    more = desk.take(*paths, case_id=case.id)
    assert (len(more.pictures), more.unread) == (2, ())


def test_there_is_no_fourth_example(tmp_path: Path) -> None:
    with pytest.raises(KeyError):
        examples.write("d", tmp_path)


def test_a_film_survives_the_round_trip(written: dict[str, Path]) -> None:
    dataset = pydicom.dcmread(io.BytesIO((written["a"] / "chest-film.dcm").read_bytes()))
    assert dataset.pixel_array.shape == (1024, 1024)
