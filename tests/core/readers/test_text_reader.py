"""Plain text: encodings told apart by their bytes, line ends, dates in the head, and what is refused."""

import pytest

from core.errors import UserError
from core.readers import text

LIMIT = 1_000_000
SENTENCE = "Fièvre 38,5 °C – naïve café"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (SENTENCE.encode(), "utf-8"),
        (b"\xef\xbb\xbf" + SENTENCE.encode(), "utf-8"),
        (b"\xff\xfe" + SENTENCE.encode("utf-16-le"), "utf-16-le"),
        (b"\xfe\xff" + SENTENCE.encode("utf-16-be"), "utf-16-be"),
        (SENTENCE.encode("cp1252"), "windows-1252 (assumed)"),
    ],
)
def test_every_encoding_gives_the_same_text(data: bytes, encoding: str) -> None:
    read = text.read(data, limit_bytes=LIMIT)
    assert (read.text, read.encoding) == (SENTENCE, encoding)
    assert bool(read.remarks) == ("assumed" in encoding)


def test_latin_1_is_the_last_resort() -> None:
    read = text.read(b"Temp 38\xb0 \x81", limit_bytes=LIMIT)  # 0x81 means nothing in Windows-1252
    assert (read.text, read.encoding) == ("Temp 38\u00b0 \u0081", "latin-1 (assumed)")
    assert "Latin-1" in read.remarks[0]


def test_the_assumption_is_said() -> None:
    (remark,) = text.read("Müller".encode("cp1252"), limit_bytes=LIMIT).remarks
    assert remark.startswith("It is not UTF-8; it was read as Windows-1252")


def test_a_half_character_of_utf_16_is_counted() -> None:
    read = text.read(b"\xff\xfe" + "ab".encode("utf-16-le") + b"\x41", limit_bytes=LIMIT)
    assert read.text == "ab\ufffd"
    assert read.remarks == ("Characters that could not be read and stand as \ufffd: 1.",)


def test_line_ends_become_one_kind() -> None:
    assert text.read(b"a\r\nb\rc\nd", limit_bytes=LIMIT).text == "a\nb\nc\nd"


@pytest.mark.parametrize(
    ("head", "written_on"),
    [
        ("Seen on 2026-11-18 at 11:20", "2026-11-18"),
        ("Willow Lane\n18 November 2026\n\nDear colleague", "2026-11-18"),
        ("printed 23/11/2026", "2026-11-23"),
        ("printed 03/11/2026", ""),  # day and month could be exchanged
        ("Datum: 03.11.2026", "2026-11-03"),
        ("no date", ""),
        ("on 31/02/2026 and 2026-02-28", "2026-02-28"),
    ],
)
def test_the_date_in_the_head(head: str, written_on: str) -> None:
    assert text.read(head.encode(), limit_bytes=LIMIT).written_on == written_on


@pytest.mark.parametrize(
    ("data", "code"),
    [(b"x" * 11, "size"), (b" \n\t\n", "blank"), (b"ab\x00cd", "binary")],
)
def test_what_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(UserError) as refused:
        text.read(data, limit_bytes=10)
    assert refused.value.code == code
