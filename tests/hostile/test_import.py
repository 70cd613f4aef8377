"""Broken and hostile files in one folder with harmless ones: each refused for its own reason, none harms another.

BENIGN and HOSTILE go through the same import of the same folder, with a real decode child. The controls show that the
attacks are real: naive readers follow the links, inflate the bomb and take the other patient's image.
"""

from __future__ import annotations

import io
import os
import struct
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.dataset import Dataset
from pydicom.sequence import Sequence
from pydicom.uid import DeflatedExplicitVRLittleEndian

from core.domain.case import Case, ImageRef, LabTable, Note, SeriesRef
from core.imaging import film
from core.runtime.intake import import_paths
from core.settings import Limits, Settings
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.database import now, open_database

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and named pipes of POSIX")

PACKAGED = Path(pydicom.__file__).parent / "data" / "test_files"
WHO = film.Identity(name="Example^Nora", patient_id="E-1", birth_date="19600101", sex="F")
N5 = "Image could not be decoded: {}; not analysed"
SECRET = b"test,value\nsecret,1\n"


# ------------------------------------------------------------------------------------------------ makers of files


def ours(name: str, **elements: object) -> bytes:
    """A packaged DICOM file in the name of this suite's patient, with elements set (None: deleted)."""
    dataset = pydicom.dcmread(PACKAGED / name)
    known = {"PatientName": WHO.name, "PatientID": WHO.patient_id, "PatientBirthDate": WHO.birth_date}
    for keyword, value in {**known, "StudyInstanceUID": f"1.2.{zlib.crc32(name.encode())}", **elements}.items():
        if value is None:
            delattr(dataset, keyword)
        else:
            setattr(dataset, keyword, value)
    return saved(dataset)


def saved(dataset: Dataset) -> bytes:
    stream = io.BytesIO()
    dataset.save_as(stream)
    return stream.getvalue()


def with_syntax(uid: str) -> bytes:
    dataset = pydicom.dcmread(PACKAGED / "MR_small_RLE.dcm")
    dataset.file_meta.TransferSyntaxUID = pydicom.uid.UID(uid)
    return saved(dataset)


def huge() -> bytes:
    """Some hundred bytes that declare 65,535 x 65,535 x 4 frames."""
    dataset = pydicom.dcmread(io.BytesIO(film.write_chest_film(np.zeros((2, 2), np.uint8), WHO)))
    dataset.Rows = dataset.Columns = 65535
    dataset.NumberOfFrames = 4
    return saved(dataset)


def deflated(body: bytes) -> bytes:
    """A file whose data set is said to be deflated, with this body in place of it."""
    dataset = pydicom.dcmread(io.BytesIO(film.write_chest_film(np.zeros((2, 2), np.uint8), WHO)))
    dataset.file_meta.TransferSyntaxUID = DeflatedExplicitVRLittleEndian
    whole = saved(dataset)
    meta_end = 144 + int.from_bytes(whole[140:144], "little")
    return whole[:meta_end] + body


def bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(b"\0" * (66 << 20)) + packer.flush()


def deflated_bomb() -> bytes:
    return deflated(bomb())


def nested(depth: int) -> bytes:
    """A sequence within a sequence within a sequence ..."""
    inner = Dataset()
    inner.PatientID = WHO.patient_id
    for _ in range(depth):
        outer = Dataset()
        outer.RequestAttributesSequence = Sequence([inner])
        inner = outer
    dataset = pydicom.dcmread(io.BytesIO(film.write_chest_film(np.zeros((4, 4), np.uint8), WHO)))
    dataset.RequestAttributesSequence = inner.RequestAttributesSequence
    return saved(dataset)


def png(width: int, height: int) -> bytes:
    """A PNG that declares a size and holds next to nothing."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 9)) + chunk(b"IEND", b"")
    )


def picture(kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    ramp = np.arange(30 * 20, dtype=np.uint16).reshape(20, 30) % 256
    Image.fromarray(ramp.astype(np.uint8)).save(stream, format=kind, **options)
    return stream.getvalue()


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return picture("JPEG", exif=exif)


def chest(n: int) -> bytes:
    return film.write_chest_film(np.full((8, 6), n, np.uint8), WHO)


# ------------------------------------------------------------------------------------------------ the tables

Maker = Callable[[], bytes]
HOSTILE: list[tuple[str, Maker, str]] = [
    ("empty.txt", lambda: b"", "The file is empty (0 bytes)."),
    ("blank.txt", lambda: b" \n\t \n", "The file holds no text, only blanks."),
    ("too-large.txt", lambda: b"word " * 250_000, "The file is too large: the limit is 1 MB."),
    ("noise.txt", lambda: bytes(range(256)),
     "Its name says text (.txt), its content is unknown binary data; it was not read."),
    ("database.md", lambda: b"SQLite format 3\0" + b"\0" * 99, "The database is damaged."),
    ("program.csv", lambda: b"\x7fELF\x02\x01\x01" + b"\0" * 64,
     "Its name says table (.csv), its content is a program; it was not read."),
    ("text.png", lambda: b"This is no picture.",
     "Its name says PNG picture (.png), its content is text; it was not read."),
    ("letter.pdf", lambda: b"%PDF-1.7\n", "The PDF is damaged and could not be opened."),
    ("archive.zip", lambda: b"PK\x03\x04" + b"\0" * 26,
     "The ZIP archive is damaged or cut short: its directory cannot be read."),
    ("script.sh", lambda: b"rm -rf /\n", "This version does not read .sh files."),
    ("address-list.csv", lambda: b"name,street\nA,B\n",
     "This is not a laboratory table: it has no column for the results."),
    ("open-quote.csv", lambda: b'test,value\n"' + b"a" * 200_000,
     "The table cannot be parted into cells: one is longer than 131,072 characters; is a quotation mark missing?"),
    ("text.dcm", lambda: b"no DICOM here", "This is not a DICOM file: its name ends in .dcm, its content is text."),
    ("cut-pixels.dcm", (PACKAGED / "MR_truncated.dcm").read_bytes,
     N5.format("the DICOM file is cut short: 8,130 of 8,192 bytes of pixels are there")),
    ("cut-header.dcm", lambda: ours("CT_small.dcm")[:300],
     N5.format("the DICOM file is cut short or damaged: no element of its header could be read")),
    ("huge.dcm", huge, N5.format("the image is too large: 65535 x 65535 x 4 (16.0 GiB), the limit is 2.0 GiB")),
    ("deflate-bomb.dcm", deflated_bomb, "The DICOM file unpacks to more than 64 MiB."),
    ("deflate-broken.dcm", lambda: deflated(b"\xff" * 40), "The compressed DICOM header is damaged."),
    ("nested.dcm", lambda: nested(200), "The DICOM header is nested deeper than 64 levels."),
    ("no-syntax.dcm", (PACKAGED / "meta_missing_tsyntax.dcm").read_bytes,
     "The DICOM file does not name its transfer syntax; a guess could show a wrong image."),
    ("jpeg-12-bit.dcm", (PACKAGED / "JPEG-lossy.dcm").read_bytes, N5.format("12-bit JPEG needs the codecs extra")),
    ("video.dcm", lambda: with_syntax("1.2.840.10008.1.2.4.102"),
     N5.format("video is not supported (MPEG-4 AVC/H.264 High Profile / Level 4.1)")),
    ("argb.dcm", lambda: ours("CT_small.dcm", PhotometricInterpretation="ARGB"),
     N5.format("colour model not supported: ARGB")),
    ("bits.dcm", lambda: ours("CT_small.dcm", BitsStored=17),
     N5.format("the image description is incomplete or contradictory: BitsStored")),
    ("report.dcm", (PACKAGED / "reportsi.dcm").read_bytes,
     "It names another patient than the rest of this case (other name); it was not added."),
    ("broken-j2k.dcm", lambda: ours("JPEG2000-embedded-sequence-delimiter.dcm"),
     N5.format("the decoder could not read the image")),
    ("other-patient.dcm", lambda: ours("MR_small.dcm", PatientName="Somebody^Else", PatientID="X-9"),
     "It names another patient than the rest of this case (other name and patient number); it was not added."),
    ("png-bomb.png", lambda: png(50_000, 50_000),
     N5.format("the image is too large: 50000 x 50000 (2.3 GiB), the limit is 2.0 GiB")),
    ("hollow.png", lambda: png(300, 300), N5.format("the picture is cut short")),
    ("cut.jpg", lambda: picture("JPEG")[:200], N5.format("the picture is cut short")),
    ("no-frame.jpg", lambda: b"\xff\xd8\xff\xe0" + b"\0" * 60,
     N5.format("the picture is damaged: its header cannot be read")),
    ("twin.txt", lambda: b"Benign note.\n", "Same content as a-note.txt; read once."),
    ("link-out.csv", lambda: b"", "A link that leads out of the folder; it was not followed."),
    ("loop", lambda: b"", "A link within the folder; what it points to is read where it lies."),
    ("dangling.txt", lambda: b"", "A link that leads nowhere."),
    ("pipe.txt", lambda: b"", "It is not an ordinary file."),
]  # fmt: skip


def note(case: Case, name: str) -> str:
    return next(item.text for item in case.items if isinstance(item, Note) and item.title == name)


def cells(case: Case, name: str) -> list[tuple[str, float | None]]:
    table = next(item for item in case.items if isinstance(item, LabTable) and item.title == name)
    return [(row.test, row.number) for row in table.rows]


def size(case: Case, name: str) -> tuple[int, int]:
    found = next(item for item in case.items if isinstance(item, ImageRef) and item.title == name)
    return found.width, found.height


def series(case: Case, modality: str) -> tuple[int, int, int]:
    found = next(item for item in case.items if isinstance(item, SeriesRef) and item.modality == modality)
    return found.instances, found.rows, found.columns


Seen = Callable[[Case, str], object]
BENIGN: list[tuple[str, Maker, Seen, object]] = [
    ("a-note.txt", lambda: b"Benign note.\n", note, "Benign note.\n"),
    ("utf16.txt", lambda: b"\xff\xfe" + "Fièvre 38,5 °C".encode("utf-16-le"), note, "Fièvre 38,5 °C"),
    ("latin.txt", lambda: "Müller, 37,2 °C".encode("cp1252"), note, "Müller, 37,2 °C"),
    ("twins.md", lambda: b"MZ-twins\r\nof 31 weeks", note, "MZ-twins\nof 31 weeks"),
    ("folder/README", lambda: b"In a folder.", note, "In a folder."),
    ("labs.csv", lambda: b"test,value,unit\nPotassium,6.1,mmol/L\n", cells, [("Potassium", 6.1)]),
    ("ragged.csv", lambda: b"test,value,unit\nSodium,139\nCRP,8,mg/L,x\n", cells, [("Sodium", 139.0), ("CRP", 8.0)]),
    ("german.csv", lambda: b"Analyse;Wert\nKalium;4,2\n", cells, [("Kalium", 4.2)]),
    ("utf16-no-bom.txt", lambda: "Atem kurz".encode("utf-16-le"), note, "Atem kurz"),
    ("picture.txt", lambda: picture("PNG"), size, (30, 20)),
    ("jpeg-ls.dcm", lambda: ours("MR_small_jpeg_ls_lossless.dcm"), series, (1, 64, 64)),
    ("turned.jpg", turned, size, (20, 30)),
    ("disguised.png", lambda: picture("JPEG", quality=40), size, (30, 20)),
    ("film-1", lambda: chest(1), series, (1, 8, 6)),
    ("slice.dcm", lambda: ours("CT_small.dcm"), series, (1, 128, 128)),
    ("deflated.dcm", lambda: ours("image_dfl.dcm"), series, (1, 512, 512)),
]  # fmt: skip
MODALITIES = {"film-1": "DX", "slice.dcm": "CT", "deflated.dcm": "OT", "jpeg-ls.dcm": "MR"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of both tables, side by side, and what the links point to outside."""
    root = tmp_path_factory.mktemp("import") / "case"
    (root / "folder").mkdir(parents=True)
    for name, make in [(n, m) for n, m, _ in HOSTILE] + [(n, m) for n, m, *_ in BENIGN]:
        (root / name).write_bytes(make())
    (root.parent / "outside.csv").write_bytes(SECRET)
    for name in ("link-out.csv", "loop", "dangling.txt", "pipe.txt"):
        (root / name).unlink()
    (root / "link-out.csv").symlink_to("../outside.csv")
    (root / "loop").symlink_to(".")
    (root / "dangling.txt").symlink_to("nowhere.txt")
    os.mkfifo(root / "pipe.txt")
    return root


@pytest.fixture(scope="module")
def case(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """The folder, imported once."""
    profile = tmp_path_factory.mktemp("profile")
    database = open_database(profile / "workbench.db", migrations.workbench)
    try:
        return import_paths(
            [folder],
            case_id=None,
            title=None,
            settings=Settings(profile="research_imaging", limits=Limits(file_mb=1)),
            cases=Cases(database),
            artifacts=Artifacts(database, profile),
            actor="tester",
            clock=now,
            on_progress=lambda done, total, name: None,
            stop=threading.Event(),
        )
    finally:
        database.close()


@pytest.mark.parametrize(("name", "seen", "expected"), [(n, s, e) for n, _, s, e in BENIGN], ids=[b[0] for b in BENIGN])
def test_harmless_files_are_read(case: Case, name: str, seen: Seen, expected: object) -> None:
    assert seen(case, MODALITIES.get(name, name)) == expected


@pytest.mark.parametrize(("name", "reason"), [(n, r) for n, _, r in HOSTILE], ids=[h[0] for h in HOSTILE])
def test_each_bad_file_has_its_own_sentence(case: Case, name: str, reason: str) -> None:
    assert [entry.reason for entry in case.unread if entry.name == name] == [reason]


def test_nothing_else_is_said_and_nothing_else_is_in_the_case(case: Case) -> None:
    remarked = {"latin.txt", "ragged.csv", "utf16-no-bom.txt", "picture.txt"}
    assert {entry.name for entry in case.unread} == {row[0] for row in HOSTILE} | remarked
    assert len(case.items) == len(BENIGN) + 1  # the JPEG 2000 file whose header is sound: shown as a card
    card = next(item for item in case.items if isinstance(item, SeriesRef) and not item.preview_sha256)
    assert N5.format("the decoder could not read the image") in card.warnings
    assert case.patient.name == "Example, Nora"
    assert "secret" not in repr(case)


DEFECTS = ("cut-pixels.dcm", "cut-header.dcm", "huge.dcm", "bits.dcm", "argb.dcm", "broken-j2k.dcm")


def test_complaint_F1_six_defects_are_six_cards_with_six_reasons(case: Case) -> None:
    """nroduit/Weasis#472: a corrupt file needs a message, not an empty viewer."""
    reasons = [entry.reason for name in DEFECTS for entry in case.unread if entry.name == name]
    assert len(set(reasons)) == len(DEFECTS) == 6
    assert all(reason.startswith(N5.partition("{")[0]) and reason.endswith("; not analysed") for reason in reasons)


def test_complaint_F5_originals_are_untouched_after_any_use(case: Case, folder: Path) -> None:
    """pydicom/pydicom#1799, #340: files were written anew, less in them than before. Pictures of both tables."""
    whole = [
        (name, make)
        for name, make, _ in HOSTILE
        if name.endswith((".dcm", ".png", ".jpg")) and make is not deflated_bomb
    ]
    for name, make in [*whole, *((name, make) for name, make, *_ in BENIGN)]:
        assert (folder / name).read_bytes() == make(), name
    assert len(whole) > 15
    assert case.items


# ------------------------------------------------------------------------------------------------ controls


def test_control_a_naive_reader_follows_the_links(folder: Path) -> None:
    assert (folder / "link-out.csv").read_bytes() == SECRET
    depths = [len(Path(where).relative_to(folder).parts) for where, _, _ in os.walk(folder, followlinks=True)]
    assert max(depths) >= 10


def test_control_the_deflated_file_really_unpacks(folder: Path) -> None:
    whole = (folder / "deflate-bomb.dcm").read_bytes()
    meta_end = 144 + int.from_bytes(whole[140:144], "little")
    assert len(whole) < 100_000
    assert len(zlib.decompress(whole[meta_end:], -zlib.MAX_WBITS)) == 66 << 20


def test_control_the_other_patient_is_a_sound_image(folder: Path) -> None:
    dataset = pydicom.dcmread(folder / "other-patient.dcm")
    assert dataset.pixel_array.shape == (64, 64)
    assert str(dataset.PatientName) == "Somebody^Else"
