"""What a file is: content against name, and the sentence for a file that lies."""

import pytest

from core.errors import UserError
from core.readers import kinds
from tests.helpers import packed

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 20
DICOM = b"\x00" * 128 + b"DICM" + b"\x02\x00"
WORD = b"PK\x03\x04" + b"\x00" * 26 + b"[Content_Types].xml" + b"word/document.xml"
WORKBOOK = b"PK\x03\x04" + b"\x00" * 26 + b"[Content_Types].xml" + b"xl/workbook.xml"
ELF = b"\x7fELF\x02\x01\x01" + b"\x00" * 20
GGUF = b"GGUF\x03\x00\x00\x00" + b"\x00" * 20
ONNX = b"\x08\x09\x12\x07pytorch\x1a\x00\x00"
TENSORS = b"\x10\x00\x00\x00\x00\x00\x00\x00{}" + b" " * 14
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 20
BARE = b"\x08\x00\x05\x00CS\x0a\x00ISO_IR 100"


def office(content_type: str) -> bytes:
    """The least that an office document of this main content type has."""
    return packed.zipped([("[Content_Types].xml", f"<Types>application/vnd.{content_type}</Types>".encode())])


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("note.txt", b"text", "text"),
        ("note.MD", b"text", "text"),
        ("README", b"text", "text"),
        ("labs.csv", b"a,b", "table"),
        ("labs.tsv", b"\xff\xfea\x00", "table"),
        ("a.png", PNG, "picture"),
        ("a.png", JPEG, "picture"),  # both are pictures; the decoder goes by the content
        ("photo", JPEG, "picture"),
        ("IM0001", DICOM, "DICOM file"),
        ("a.dcm", DICOM, "DICOM file"),
        ("slice.ima", DICOM, "DICOM file"),
        ("bare", BARE, "DICOM file"),
        ("bare with its meta", b"\x02\x00\x00\x00UL\x04\x00\xba\x00\x00\x00", "DICOM file"),
        ("a.pdf", b"%PDF-1.7", "PDF"),
        ("scan", b"%PDF-1.7", "PDF"),
        ("letter.docx", WORD, "Word document"),
        ("letter.docx", b"PK\x03\x04", "Word document"),  # damaged: its reader says how
        ("labs.xlsx", WORKBOOK, "workbook"),
        ("ward.sqlite", b"SQLite format 3\x00", "database"),
        ("ward.db", b"\x00\x01\x02", "database"),  # perhaps encrypted: its reader says so
        ("page.html", b"<p>text", "HTML page"),
        ("page", b"<!DOCTYPE html><p>text", "HTML page"),
        ("bundle.json", b"{}", "FHIR"),
        ("bundle", b'{"id": "1", "resourceType": "Bundle"}', "FHIR"),
        ("a.tif", b"II*\x00", "picture"),
        ("a.gif", b"GIF89a", "picture"),
        ("a.webp", b"RIFF\x00\x00\x00\x00WEBP", "picture"),
        ("letter.txt", b"BMW parked in bay 4", "text"),
        ("letter.txt", b"MZ-twins, 31 weeks", "text"),
        ("plain.txt", "Atem kurz".encode("utf-16-le"), "text"),
        ("saved", b"\xef\xbb\xbf<!-- saved --><!DOCTYPE html><html>", "HTML page"),
        ("a.zip", packed.zipped([("a.txt", b"a")]), "archive"),
        ("a.tar", packed.tarred([("a.txt", b"a")]), "archive"),
        ("a.csv.gz", packed.gzipped(b"a"), "archive"),
        ("a.docx", office("wordprocessingml.document.main+xml"), "Word document"),
        ("a.docm", office("vnd.ms-word.document.macroEnabled.main+xml"), "Word document"),
        ("a.xlsx", office("spreadsheetml.sheet.main+xml"), "workbook"),
        ("cut.docx", office("wordprocessingml.document.main+xml")[:60], "Word document"),
    ],
)
def test_chosen(name: str, data: bytes, kind: str) -> None:
    assert kinds.choose(name, data) == kind


@pytest.mark.parametrize(
    ("name", "data", "code", "sentence"),
    [
        ("a.txt", b"", "D02", "The file is empty (0 bytes)."),
        ("a.png", b"text", "lies", "Its name says PNG picture (.png), its content is text; it was not read."),
        ("a.md", b"\x00\x01\x02", "lies",
         "Its name says text (.md), its content is unknown binary data; it was not read."),
        ("a.dcm", b"text", "D01", "This is not a DICOM file: its name ends in .dcm, its content is text."),
        ("a.pdf", b"text", "lies", "Its name says PDF document (.pdf), its content is text; it was not read."),
        ("a.docx", b"text", "lies", "Its name says Word document (.docx), its content is text; it was not read."),
        ("a.db", b"text", "lies", "Its name says SQLite database (.db), its content is text; it was not read."),
        ("a.dcm", PNG, "D01", "This is not a DICOM file: its name ends in .dcm, its content is PNG picture."),
        ("a.csv", ELF, "lies", "Its name says table (.csv), its content is a program; it was not read."),
        ("tool", ELF, "kind", "This is a program; it is neither read nor run."),
        ("model", GGUF, "kind", "This is a model file, not a document; models are imported on the model page."),
        ("model.onnx", ONNX, "kind", "This is a model file, not a document; models are imported on the model page."),
        ("weights", TENSORS, "kind", "This is a model file, not a document; models are imported on the model page."),
        ("a.docx", OLE + "EncryptedPackage".encode("utf-16-le"), "password",
         "This office document is protected by a password."),
        ("a.doc", OLE, "kind", "This version does not read an old office document."),
        ("a.pptx", office("presentationml.presentation.main+xml"), "kind",
         "This version does not read an office document of another kind."),
        ("a.odt", b"PK\x03\x04" + b"\x00" * 26 + b"mimetypeapplication/vnd.oasis", "kind",
         "This version does not read an OpenDocument file."),
        ("a.7z", b"7z\xbc\xaf\x27\x1c", "kind", "This version does not read a 7z archive."),
        ("a.rtf", b"{\\rtf1", "kind", "This version does not read an RTF document."),
        ("a.py", b"print()", "kind", "This version does not read .py files."),
        ("blob", b"\x00\x01\x02\x03", "kind", "This version does not read unknown binary data."),
    ],
)  # fmt: skip
def test_refused(name: str, data: bytes, code: str, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        kinds.choose(name, data)
    assert (refused.value.code, refused.value.text) == (code, sentence)


@pytest.mark.parametrize(
    ("name", "data", "kind", "sentence"),
    [
        ("a.txt", PNG, "picture", "Named .txt, but it is a PNG picture; it was read as that."),
        ("a.csv", b"%PDF-1.7\n", "PDF", "Named .csv, but it is a PDF document; it was read as that."),
        ("scan.pdf", PNG, "picture", "Named .pdf, but it is a PNG picture; it was read as that."),
        ("a.jpg", DICOM, "DICOM file", "Named .jpg, but it is a DICOM file; it was read as that."),
        ("a.txt", b"<html><body>x", "HTML page", "Named .txt, but it is an HTML page; it was read as that."),
        ("a.zip", packed.gzipped(b"a"), "archive", ""),
        ("a.png", JPEG, "picture", ""),
        ("a.pdf", b"%PDF-1.7\n", "PDF", ""),
        ("a.bak", b"%PDF-1.7\n", "PDF", ""),
        ("a.md", b"text", "text", ""),
    ],
)
def test_a_file_that_lies_is_read_as_what_it_is(name: str, data: bytes, kind: str, sentence: str) -> None:
    assert kinds.choose(name, data) == kind
    assert kinds.remark(name, data) == sentence
