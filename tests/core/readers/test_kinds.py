"""What a file is: content against name, and the sentence for a file that lies."""

import pytest

from core.errors import UserError
from core.readers import kinds

PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\x00" * 20
DICOM = b"\x00" * 128 + b"DICM" + b"\x02\x00"
BARE = b"\x08\x00\x05\x00CS\x0a\x00ISO_IR 100"


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
        ("letter.txt", b"BMW parked in bay 4", "text"),
        ("letter.txt", b"MZ-twins, 31 weeks", "text"),
    ],
)
def test_chosen(name: str, data: bytes, kind: str) -> None:
    assert kinds.choose(name, data) == kind


@pytest.mark.parametrize(
    ("name", "data", "code", "sentence"),
    [
        ("a.txt", b"", "D02", "The file is empty (0 bytes)."),
        ("a.png", b"text", "lies", "Its name says PNG picture (.png), its content is text; it was not read."),
        ("a.txt", PNG, "lies", "Its name says text (.txt), its content is a PNG picture; it was not read."),
        ("a.csv", b"%PDF-1.7", "lies", "Its name says table (.csv), its content is a PDF document; it was not read."),
        ("a.jpg", DICOM, "lies", "Its name says JPEG picture (.jpg), its content is a DICOM file; it was not read."),
        ("a.md", b"\x00\x01", "lies", "Its name says text (.md), its content is unknown binary data; it was not read."),
        ("a.dcm", b"text", "D01", "This is not a DICOM file: its name ends in .dcm, its content is text."),
        ("a.pdf", b"%PDF-1.7", "kind", "This version does not read a PDF document."),
        ("a.docx", b"PK\x03\x04", "kind", "This version does not read a ZIP archive or office document."),
        ("a.rtf", b"{\\rtf1", "kind", "This version does not read an RTF document."),
        ("a.py", b"print()", "kind", "This version does not read .py files."),
        ("blob", b"\x00\x01\x02\x03", "kind", "This version does not read unknown binary data."),
    ],
)  # fmt: skip
def test_refused(name: str, data: bytes, code: str, sentence: str) -> None:
    with pytest.raises(UserError) as refused:
        kinds.choose(name, data)
    assert (refused.value.code, refused.value.text) == (code, sentence)
