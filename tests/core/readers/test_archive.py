"""Archives read in place: every form gives the same files, one at a time, with clean names; streams stay small."""

import io
import tarfile
import tracemalloc
import zipfile

import pytest

from core.errors import UserError
from core.readers import archive
from core.readers.archive import Bomb, Content, Limits, Member, Refusal
from tests.helpers import packed

LIMITS = Limits(member_bytes=10_000_000)
FILES = [("letter.txt", b"Dear colleague"), ("labs/March.csv", b"test,value\nCRP,5\n"), ("empty.txt", b"")]


def read(data: bytes, name: str = "case.zip", limits: Limits = LIMITS) -> list[Content | Refusal]:
    return list(archive.contents(io.BytesIO(data), name=name, limits=limits))


@pytest.mark.parametrize(
    "data",
    [
        packed.zipped(FILES),
        packed.zipped(FILES, method=zipfile.ZIP_STORED),
        packed.tarred(FILES),
        packed.tarred(FILES, form=tarfile.GNU_FORMAT),
        packed.tarred(FILES, form=tarfile.USTAR_FORMAT),
        packed.gzipped(packed.tarred(FILES)),
    ],
    ids=["deflated", "stored", "pax", "gnu", "ustar", "tar.gz"],
)
def test_every_form_gives_the_same_files(data: bytes) -> None:
    assert read(data) == [Content(*file) for file in FILES]


def test_what_only_ends_like_an_archive_is_none() -> None:
    with pytest.raises(UserError) as refused:
        read(b"#!/bin/sh\n" + packed.zipped(FILES))
    assert refused.value.code == "kind"


def test_a_gzip_file_is_named_by_its_archive() -> None:
    assert read(packed.gzipped(b"plain"), "notes/a.txt.gz") == [Content("a.txt", b"plain")]
    assert read(packed.gzipped(b"plain"), "odd") == [Content("odd", b"plain")]


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_long_and_foreign_names_in_tar(form: int) -> None:
    name = "\u00fc" * 90 + "/" + "n" * 150 + ".txt"
    assert read(packed.tarred([(name, b"x"), ("b", b"y")], form=form)) == [Content(name, b"x"), Content("b", b"y")]


def test_names_are_composed_tidied_and_decoded_by_evidence() -> None:
    plain = packed.zipped([("./a//u\u0308.txt", b"1"), ("\u4e2d\u6587.txt", b"2"), ("M\x1bller.txt", b"3")])
    assert [found.name for found in read(plain)] == ["a/\u00fc.txt", "\u4e2d\u6587.txt", "M\ufffdller.txt"]
    # The same two bytes: UTF-8 without its flag, and DOS code page 437.
    ascii_name = packed.zipped([("M--ller.txt", b"4")])
    assert read(packed.renamed(ascii_name, b"M--l", "M\u00fcl".encode()))[0].name == "M\u00fcller.txt"
    assert read(packed.renamed(ascii_name, b"M-", b"M\x81"))[0].name == "M\u00fc-ller.txt"


def test_only_what_is_wanted_is_unpacked() -> None:
    found = archive.contents(
        io.BytesIO(packed.zipped(FILES)), name="a.zip", limits=LIMITS, wanted=lambda name: name.endswith(".csv")
    )
    assert [content.name for content in found] == ["labs/March.csv"]


def test_a_member_is_a_stream_and_never_held_whole() -> None:
    lines = b"".join(b"%07d,value\n" % n for n in range(800_000))
    for data in (packed.zipped([("a.csv", lines)]), packed.gzipped(packed.tarred([("a.csv", lines)]))):
        tracemalloc.start()
        found = archive.members(io.BytesIO(data), name="a", limits=Limits(member_bytes=20_000_000))
        member = next(found)
        assert isinstance(member, Member)
        total = 0
        while block := member.stream.read(1 << 16):
            total += len(block)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert total > 10_000_000
        assert peak < 1_500_000


def test_one_bad_member_does_not_end_the_archive() -> None:
    data = packed.tarred([("a.txt", b"1"), ("../b.txt", b"2"), ("big.bin", b"x" * 2000), ("c.txt", b"3")])
    assert read(data, limits=Limits(member_bytes=1000)) == [
        Content("a.txt", b"1"),
        Refusal("../b.txt", "outside", "Its name leads out of the archive (..)."),
        Refusal("big.bin", "size", "The file is too large: it unpacks to more than 0 MB."),
        Content("c.txt", b"3"),
    ]


def test_a_bomb_ends_the_archive_for_a_reader_of_streams_too() -> None:
    data = packed.zipped([("a.txt", b"1"), ("bomb", b"\0" * 5_000_000), ("c.txt", b"3")])
    found = archive.members(io.BytesIO(data), name="a.zip", limits=LIMITS)
    names = []
    for member in found:
        assert isinstance(member, Member)
        names.append(member.name)
        if member.name == "bomb":
            with pytest.raises(Bomb):
                member.read()
    assert names == ["a.txt", "bomb"]


def test_a_small_member_may_pack_a_thousandfold() -> None:
    blank = b"\0" * 500_000
    assert len(packed.zipped([("blank.raw", blank)])) < 1000
    assert read(packed.zipped([("blank.raw", blank)])) == [Content("blank.raw", blank)]
