"""The import against archives, documents, records and databases that are broken or attack, harmless ones among them.

One folder, one import, one decode child for all files and one that takes archives apart: whatever a row does, it must
not hurt the next. Limits are lowered so that small files reach them. The controls show that the attacks are real.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import tarfile
import threading
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import openpyxl
import pydicom
import pypdfium2
import pytest
from PIL import Image

from core.domain.case import Case, EhrDatabase, ImageRef, LabTable, Note, SeriesRef
from core.imaging import film
from core.runtime.intake import import_paths
from core.settings import Limits, Settings
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.database import now, open_database
from tests.helpers.dicom_files import changed, saved
from tests.helpers.office import document, paragraph, word
from tests.helpers.packed import gzipped, lying, renamed, tar_entry, tarred, zip_link, zipped
from tests.helpers.paper import page_of, written

WHO = film.Identity(name="Example^Nora", patient_id="E-1", birth_date="19600101", sex="F")
OURS = {"PatientName": WHO.name, "PatientID": WHO.patient_id, "PatientBirthDate": WHO.birth_date}
PACKAGED = Path(pydicom.__file__).parent / "data" / "test_files"
N5 = "Image could not be decoded: {}; not analysed"
SAFE = b"Harmless, number %d."
LABS = b"test,value,unit\nPotassium,6.1,mmol/L\n"
OUT = "Its name leads out of the archive (..)."
TOO_MUCH = "It unpacks to more than 100 times its size; the archive was left there."
Maker = Callable[[], bytes]


# ------------------------------------------------------------------------------------------------ makers of files


def chest(n: int) -> bytes:
    return film.write_chest_film(np.full((8, 6), n, np.uint8), WHO)


def database(*statements: str) -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        return connection.serialize()


WARD = database(
    "CREATE TABLE patients (subject_id INTEGER, gender TEXT)",
    "INSERT INTO patients VALUES (1, 'F'), (2, 'M')",
    "CREATE TABLE labevents (itemid INTEGER, valuenum REAL)",
)


def damaged_ward() -> bytes:
    """The second page says of itself that it is no page of a tree."""
    return WARD[:4096] + b"\xff" * 64 + WARD[4160:]


def page(text: str) -> bytes:
    return written([page_of(text)])


def letter(text: str) -> bytes:
    return word(paragraph(text))


def sheet(*rows: tuple[object, ...]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def fhir(*resources: object) -> bytes:
    return json.dumps({"resourceType": "Bundle", "entry": [{"resource": one} for one in resources]}).encode()


ORDER = {"resourceType": "MedicationRequest", "id": "m"}
GOUT = {"resourceType": "Condition", "id": "c", "code": {"text": "Gout"}}


def picture(kind: str, shade: int) -> bytes:
    stream = io.BytesIO()
    Image.fromarray(np.full((20, 30), shade, np.uint8)).save(stream, format=kind)
    return stream.getvalue()


def directory() -> bytes:
    """The packaged DICOMDIR, one of whose paths leads out of its folder."""
    dataset = pydicom.dcmread(PACKAGED / "dicomdirtests" / "DICOMDIR")
    record = next(r for r in dataset.DirectoryRecordSequence if "ReferencedFileID" in r)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no valid path is meant
        record.ReferencedFileID = ["..", "outside"]
    return saved(dataset)


def crc() -> bytes:
    whole = zipped([("a.txt", b"x" * 500)], method=zipfile.ZIP_STORED)
    return whole.replace(b"x" * 500, b"y" * 500, 1)


# ------------------------------------------------------------------------------------------------ the tables

# File, its bytes, whose name the sentence stands under (the file's own unless given), the sentence.
Row = tuple[str, Maker, str, str]
ARCHIVES: list[Row] = [
    ("up.zip", lambda: zipped([("../evil.txt", b"x"), ("ok.txt", SAFE % 1)]), "/../evil.txt", OUT),
    ("root.zip", lambda: zipped([("/etc/evil.txt", b"x")]), "/etc/evil.txt", "Its name is an absolute path."),
    ("drive.zip", lambda: zipped([("C:/evil.txt", b"x")]), "/C:/evil.txt", "Its name begins with a drive letter."),
    ("back.zip", lambda: renamed(zipped([("a+evil.txt", b"x")]), b"a+evil", b"a\\evil"), "/a\\evil.txt",
     "Its name holds a backslash, which can lead out of the archive."),
    ("link.zip", lambda: zip_link("passwd.txt", b"/etc/passwd"), "/passwd.txt", "It is a link, not a file."),
    ("bomb.zip", lambda: zipped([("zeros.txt", b"\0" * 20_000_000)]), "/zeros.txt", TOO_MUCH),
    ("lying.zip", lambda: lying(zipped([("small.txt", b"\0" * 20_000_000)]), 10), "/small.txt",
     "It is damaged inside the archive and could not be unpacked."),
    ("nested.zip", lambda: zipped([("inner.zip", zipped([("a.txt", b"x")]))]), "/inner.zip",
     "It is an archive inside an archive; unpack it and import it by itself."),
    ("locked.zip", lambda: zipped([("a.txt", b"x")], flags=1), "/a.txt", "It is protected by a password."),
    ("crc.zip", crc, "/a.txt", "It is damaged inside the archive and could not be unpacked."),
    ("twice.zip", lambda: zipped([("a.txt", SAFE % 2), ("a.txt", b"x")]), "/a.txt",
     "Its name stands twice in the archive; the first one was taken."),
    ("cut.zip", lambda: zipped([("a.txt", b"x" * 900)])[:-40], "",
     "The ZIP archive is damaged or cut short: its directory cannot be read."),
    ("big.zip", lambda: zipped([("big.txt", os.urandom(600_000).hex().encode())]), "/big.txt",
     "The file is too large: the limit is 1 MB."),
    ("link.tar", lambda: tar_entry("a.txt", tarfile.SYMTYPE, "/etc/passwd"), "/a.txt", "It is a link, not a file."),
    ("hard.tar", lambda: tar_entry("a.txt", tarfile.LNKTYPE, "/etc/passwd"), "/a.txt", "It is a link, not a file."),
    ("device.tar", lambda: tar_entry("a.txt", tarfile.CHRTYPE), "/a.txt", "It is a device or pipe, not a file."),
    ("up.tar", lambda: tarred([("../evil.txt", b"x")]), "/../evil.txt", OUT),
    ("cut.tar.gz", lambda: gzipped(tarred([("a.txt", os.urandom(9000))]))[:5000], "",
     "The gzip archive is damaged or cut short."),
    ("bomb.txt.gz", lambda: gzipped(b"\0" * 20_000_000), "/bomb.txt", TOO_MUCH),
    ("old.7z", lambda: b"7z\xbc\xaf\x27\x1c" + b"\0" * 40, "",
     "This version does not read a 7z archive."),
]  # fmt: skip
DOCUMENTS: list[Row] = [
    ("locked.pdf", lambda: written([page_of("x")], password="secret"), "", "This PDF is protected by a password."),
    ("broken.pdf", lambda: page("x")[:200], "", "The PDF is damaged and could not be opened."),
    ("scan.pdf", lambda: written([["0 0 595 842 re f"]]), "", "This is a scan without text."),
    ("long.pdf", lambda: written([page_of("x")] * 5), "", "The PDF has 5 pages, the limit is 3."),
    ("liar.pdf", lambda: b"Just text.", "",
     "Its name says PDF document (.pdf), its content is text; it was not read."),
    ("empty.docx", lambda: b"", "", "The file is empty (0 bytes)."),
    ("hollow.docx", lambda: letter("x")[:300], "",
     "The ZIP archive is damaged or cut short: its directory cannot be read."),
    ("entity.docx", lambda: word("", parts={"word/document.xml": '<!DOCTYPE x [<!ENTITY e "boom">]>' + document("")}),
     "", "The office document declares an entity or DOCTYPE (word/document.xml)."),
    ("blank.docx", lambda: word(paragraph(" ")), "", "The document holds no text."),
    ("no-labs.xlsx", lambda: sheet(("name", "street"), ("A", "B")), "", "No sheet is a laboratory table (Sheet)."),
    ("letter.odt", lambda: zipped([("mimetype", b"application/vnd.oasis.opendocument.text")], method=0), "",
     "This version does not read an OpenDocument file."),
    ("blank.html", lambda: b"<html><body><script>x</script></body></html>", "",
     "The file holds no text, only blanks."),
    ("old.doc", lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "",
     "This version does not read an old office document."),
    ("sparse.txt", lambda: b"", "", "The file is too large: the limit is 1 MB."),
    ("weights.txt", lambda: b"GGUF\x03\0\0\0" + b"\xff" * 64, "",
     "Its name says text (.txt), its content is a model file; it was not read."),
    ("cut.tif", lambda: picture("TIFF", 3)[:300], "", N5.format("the picture is cut short")),
    ("hollow.gif", lambda: b"GIF89a\x10\0\x10\0\0\0\0", "",
     N5.format("the picture is damaged: its header cannot be read")),
]  # fmt: skip
RECORDS: list[Row] = [
    ("other.json", lambda: b'{"name": "x"}', "", "This JSON file is no FHIR resource: it names no resourceType."),
    ("cut.json", lambda: fhir(GOUT)[:-9], "", "The JSON is damaged: input data was truncated."),
    ("deep.json", lambda: b'{"resourceType": "Bundle", "x": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", "",
     "The JSON is nested too deep to be read."),
    ("nobody.json", lambda: fhir({"resourceType": "Immunization", "id": "i"}), "",
     "The FHIR file holds nothing for a case. "
     "Immunization i is of a kind that this version does not read; it was not read."),
    ("types.json", lambda: fhir(GOUT | {"note": [{"text": "a"}]}, GOUT | {"id": "bad", "code": 7}), "",
     "Condition bad is not built as FHIR R4 says (code); it was not read."),
    ("lost.json",
     lambda: fhir(GOUT | {"note": [{"text": "b"}]},
                  ORDER | {"medicationReference": {"reference": "Medication/9"}}),
     "", "MedicationRequest m refers to Medication/9, which is not in the file; it was not read."),
    ("stranger.json",
     lambda: fhir({"resourceType": "Patient", "name": [{"family": "Else", "given": ["Anna"]}]}, GOUT), "",
     "It names another patient than the rest of this case (other name); it was not added."),
    ("locked.db", lambda: bytes(range(7, 256)) * 20, "", "This is not an SQLite database, or it is encrypted."),
    ("cut.db", lambda: WARD[:6000], "", "The database is cut short: 6,000 of 12,288 bytes are there."),
    ("damaged.db", damaged_ward, "", "The database is damaged: SQLite's check of its pages failed."),
    ("bare.db", lambda: database("CREATE TABLE t (x)", "DROP TABLE t"), "", "The database has no table."),
    ("liar.db", lambda: b"SELECT 1;", "",
     "Its name says SQLite database (.db), its content is text; it was not read."),
    ("DICOMDIR", directory, "", "It lists a file outside its folder (../outside), which was not opened."),
    ("cd/DICOMDIR", (PACKAGED / "dicomdirtests" / "DICOMDIR").read_bytes, "",
     "It lists 31 files that are not among the files imported (77654033/CR1/6154, 77654033/CR2/6247, "
     "77654033/CR3/6278, …)."),
    ("no-pdf.dcm", lambda: changed("CT_small.dcm", SOPClassUID="1.2.840.10008.5.1.4.1.1.104.1", PixelData=None,
                                   MIMETypeOfEncapsulatedDocument="text/html", **OURS),
     "", "The DICOM file holds a document of another type (text/html)."),
]  # fmt: skip
HOSTILE = [*ARCHIVES, *DOCUMENTS, *RECORDS]


def note(case: Case, name: str) -> str:
    return next(item.text for item in case.items if isinstance(item, Note) and item.title == name)


def cells(case: Case, name: str) -> list[tuple[str, float | None]]:
    table = next(item for item in case.items if isinstance(item, LabTable) and item.title == name)
    return [(row.test, row.number) for row in table.rows]


def size(case: Case, name: str) -> tuple[int, int]:
    found = next(item for item in case.items if isinstance(item, ImageRef) and item.title == name)
    return found.width, found.height


def films(case: Case, name: str) -> int:
    return sum(item.instances for item in case.pictures if isinstance(item, SeriesRef) and item.modality == name)


def tables(case: Case, name: str) -> list[tuple[str, int]]:
    found = next(item for item in case.items if isinstance(item, EhrDatabase) and item.title == name)
    return [(table.name, table.rows) for table in found.tables]


Seen = Callable[[Case, str], object]
BENIGN: list[tuple[str, Maker, Seen, str, object]] = [
    ("good.zip", lambda: zipped([("a/b.txt", SAFE % 3), ("a/labs.csv", LABS)]), note, "good.zip/a/b.txt", SAFE % 3),
    ("study.zip", lambda: zipped([(f"DICOM/IM{n}", chest(n)) for n in range(3)]), films, "DX", 3),
    ("Ä.zip", lambda: zipped([("Übersicht Ж 你.txt", SAFE % 4)]), note, "Ä.zip/Übersicht Ж 你.txt", SAFE % 4),
    ("good.tar", lambda: tarred([("n.txt", SAFE % 5)]), note, "good.tar/n.txt", SAFE % 5),
    ("good.tar.gz", lambda: gzipped(tarred([("n.txt", SAFE % 6)])), note, "good.tar.gz/n.txt", SAFE % 6),
    ("n.txt.gz", lambda: gzipped(SAFE % 7), note, "n.txt.gz/n.txt", SAFE % 7),
    ("Ж ü 你 é space/n.txt", lambda: SAFE % 8, note, "Ж ü 你 é space/n.txt", SAFE % 8),
    ("l/" * 40 + "deep.txt", lambda: SAFE % 9, note, "l/" * 40 + "deep.txt", SAFE % 9),
    ("n" * 200 + ".txt", lambda: SAFE % 10, note, "n" * 200 + ".txt", SAFE % 10),
    ("letter.pdf", lambda: page("A sound letter."), note, "letter.pdf", b"A sound letter.\n\n"),
    ("letter.docx", lambda: letter("A sound note."), note, "letter.docx", b"A sound note."),
    ("page.html", lambda: b"<html><p>A sound page.</p></html>", note, "page.html", b"A sound page."),
    ("labs.xlsx", lambda: sheet(("Test", "Value", "Unit"), ("Sodium", 139, "mmol/L")), cells, "labs.xlsx",
     [("Sodium", 139.0)]),
    ("record.json", lambda: fhir(GOUT), note, "record.json: Record", b"Problem list:\n- Gout.\n"),
    ("lines.ndjson", lambda: json.dumps(GOUT | {"code": {"text": "Rickets"}}).encode() + b"\n", note,
     "lines.ndjson: Record", b"Problem list:\n- Rickets.\n"),
    ("ward.db", lambda: WARD, tables, "ward.db", [("labevents", 0), ("patients", 2)]),
    ("eye.tif", lambda: picture("TIFF", 1), size, "eye.tif", (30, 20)),
    ("eye.gif", lambda: picture("GIF", 2), size, "eye.gif", (30, 20)),
    ("eye.bmp", lambda: picture("BMP", 4), size, "eye.bmp", (30, 20)),
    ("eye.webp", lambda: picture("WEBP", 5), size, "eye.webp", (30, 20)),
]  # fmt: skip
BESIDE = {"up.zip/ok.txt": 1, "twice.zip/a.txt": 2}  # harmless files in hostile archives


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of the tables, side by side."""
    root = tmp_path_factory.mktemp("foreign") / "case"
    for name, make in [(n, m) for n, m, *_ in HOSTILE] + [(n, m) for n, m, *_ in BENIGN]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(make())
    os.truncate(root / "sparse.txt", 500_000_000)
    return root


Children = list[int]


@pytest.fixture(scope="module")
def imported(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Case, Path, Children]]:
    """The folder, imported once; where its profile lies; how many children it took."""
    profile = tmp_path_factory.mktemp("profile")
    store = open_database(profile / "workbench.db", migrations.workbench)
    seen: set[int] = set()

    def watch(done: int, total: int, name: str) -> None:
        tasks = Path("/proc/self/task").glob("*/children")
        seen.update(int(pid) for task in tasks for pid in task.read_text().split())

    try:
        case = import_paths(
            [folder],
            case_id=None,
            title=None,
            settings=Settings(profile="research_imaging", limits=Limits(file_mb=1, pdf_pages=3)),
            cases=Cases(store),
            artifacts=Artifacts(store, profile),
            actor="tester",
            clock=now,
            on_progress=watch,
            stop=threading.Event(),
        )
    finally:
        store.close()
    yield case, profile, sorted(seen)


@pytest.fixture
def case(imported: tuple[Case, Path, Children]) -> Case:
    return imported[0]


@pytest.mark.parametrize(("seen", "name", "expected"), [row[2:] for row in BENIGN], ids=[row[0][:30] for row in BENIGN])
def test_harmless_files_are_imported_whole(case: Case, seen: Seen, name: str, expected: object) -> None:
    found = seen(case, name)
    assert found == (expected.decode() if isinstance(expected, bytes) else expected)


@pytest.mark.parametrize(
    ("name", "inner", "sentence"), [(n, i, s) for n, _, i, s in HOSTILE], ids=[row[0] for row in HOSTILE]
)
def test_each_hostile_file_has_its_own_sentence(case: Case, name: str, inner: str, sentence: str) -> None:
    assert sentence in [entry.reason for entry in case.unread if entry.name == name + inner]


def test_nothing_else_is_in_the_case_and_nothing_else_is_said(case: Case) -> None:
    for name, number in BESIDE.items():
        assert note(case, name) == (SAFE % number).decode()
    told = {entry.name.split("/")[0] for entry in case.unread}
    assert told == {name.split("/")[0] for name, *_ in HOSTILE}
    remarked = {"types.json", "lost.json"}  # read, but for a part
    hostile = {name for name, *_ in HOSTILE} - remarked
    assert not [
        item.title for item in case.items if item.title.split("/")[0].split(":")[0] in hostile - {"up.zip", "twice.zip"}
    ]
    assert case.patient.name == "Example, Nora"


def test_two_children_served_all(imported: tuple[Case, Path, Children]) -> None:
    """One reads, one takes archives apart: none of the rows cost a child its life."""
    assert len(imported[2]) == 2


def test_originals_are_kept_byte_for_byte(imported: tuple[Case, Path, Children], folder: Path) -> None:
    case, profile, _ = imported
    store = open_database(profile / "workbench.db", migrations.workbench)
    with closing(store):
        artifacts = Artifacts(store, profile)
        for name in ("letter.pdf", "ward.db", "labs.xlsx", "eye.tif"):
            item = next(item for item in case.items if item.title == name)
            assert artifacts.read(item.sha256) == (folder / name).read_bytes()
    assert not list((profile / "artifacts").glob("incoming-*"))


# ------------------------------------------------------------------------------------------------ controls


def test_control_a_naive_unpacker_writes_outside(folder: Path, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    with zipfile.ZipFile(folder / "up.zip") as archive:
        for name in archive.namelist():
            (inside / name).write_bytes(archive.read(name))
    assert (tmp_path / "evil.txt").read_bytes() == b"x"


def test_control_the_bombs_really_unpack(folder: Path) -> None:
    assert (folder / "bomb.zip").stat().st_size < 100_000
    with zipfile.ZipFile(folder / "bomb.zip") as archive:
        assert len(archive.read("zeros.txt")) == 20_000_000
    assert len(zlib.decompress((folder / "bomb.txt.gz").read_bytes(), 31)) == 20_000_000


def test_control_the_locked_files_open_with_their_key(folder: Path) -> None:
    with closing(pypdfium2.PdfDocument(folder / "locked.pdf", password="secret")) as document:
        assert len(document) == 1


def test_control_the_damaged_database_opens_without_a_check(folder: Path) -> None:
    with closing(sqlite3.connect(f"file:{folder / 'damaged.db'}?mode=ro", uri=True)) as connection:
        assert connection.execute("SELECT name FROM sqlite_schema").fetchall() == [("patients",), ("labevents",)]
