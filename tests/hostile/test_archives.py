"""Archives that attack: by names, links, sizes, nesting, lying headers. Each is refused for its own reason.

Every archive of BENIGN and HOSTILE is read by the same call with the same limits. In a hostile one the harmless file
beside the attack is still read, unless the whole archive must end. The controls read the same bytes naively.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable

import pytest

from core.errors import UserError
from core.readers import archive
from core.readers.archive import Content, Limits, Refusal
from tests.helpers.packed import gzipped, lying, renamed, tar_entry, tarred, zip_link, zipped

LIMITS = Limits(member_bytes=2_000_000, total_bytes=6_000_000, entries=50)
SAFE = ("note.txt", b"harmless")
Maker = Callable[[], bytes]
TOO_MUCH = "It unpacks to more than 100 times its size; the archive was left there."


def noise(size: int) -> bytes:
    """Bytes that do not shrink."""
    state, out = 1, bytearray()
    while len(out) < size:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        out += state.to_bytes(8, "little")
    return bytes(out[:size])


NOISE = noise(60_000)
ZEROS = b"\0" * 20_000_000


def beside(name: str, data: bytes = b"evil", **options: int) -> Maker:
    return lambda: zipped([SAFE, (name, data)], **options)


def overlapping() -> bytes:
    """Two entries of the directory that name the same packed bytes (as in the bombs of D. Fifield, 2019)."""
    whole = bytearray(zipped([("a.bin", NOISE), ("b.bin", NOISE)]))
    second = whole.rfind(b"PK\x01\x02")
    whole[second + 42 : second + 46] = struct.pack("<I", 0)
    return bytes(whole)


def crowded() -> bytes:
    return zipped([(f"{n}.txt", b"") for n in range(51)])


def very_crowded() -> bytes:
    return zipped([(f"{n}.txt", b"") for n in range(201)])


def false_checksum() -> bytes:
    """A stored file with one byte flipped."""
    whole = bytearray(zipped([SAFE, ("torn.txt", b"abcdefgh")], method=zipfile.ZIP_STORED))
    whole[whole.find(b"abcdefgh")] ^= 1
    return bytes(whole)


def zero_in_name() -> bytes:
    return renamed(zipped([SAFE, ("a-b.txt", b"evil")]), b"a-b", b"a\0b")


def huge_pax() -> bytes:
    """A pax header that says it has 8 GiB."""
    header = tarfile.TarInfo("pax")
    header.type, header.size = tarfile.XHDTYPE, 8 << 30
    return tarred([SAFE])[:1024] + header.tobuf(tarfile.GNU_FORMAT)


def sparse() -> bytes:
    entry = tarfile.TarInfo("sparse")
    entry.type = tarfile.GNUTYPE_SPARSE
    return tarred([SAFE])[:1024] + entry.tobuf(tarfile.GNU_FORMAT) + b"\0" * 1024


def after(entry: bytes) -> Maker:
    """A tar file with a harmless file before this entry."""
    return lambda: tarred([SAFE])[:1024] + entry


# An archive, the name under which the refusal stands, its code and sentence; and whether the harmless file is read.
HOSTILE: list[tuple[str, Maker, str, str, str, bool]] = [
    ("parent.zip", beside("../evil.txt"), "../evil.txt", "outside", "Its name leads out of the archive (..).", True),
    ("deep-parent.zip", beside("a/b/../../../evil"), "a/b/../../../evil", "outside",
     "Its name leads out of the archive (..).", True),
    ("absolute.zip", beside("/etc/passwd"), "etc/passwd", "absolute", "Its name is an absolute path.", True),
    ("drive.zip", beside("C:evil.txt"), "C:evil.txt", "drive", "Its name begins with a drive letter.", True),
    ("backslash.zip", beside("..\\..\\evil"), "..\\..\\evil", "backslash",
     "Its name holds a backslash, which can lead out of the archive.", True),
    ("share.zip", beside("\\\\server\\share\\x"), "\\\\server\\share\\x", "backslash",
     "Its name holds a backslash, which can lead out of the archive.", True),
    ("zero-name.zip", zero_in_name, "a\ufffdb.txt", "name", "Its name holds a zero byte.", True),
    ("long-name.zip", beside("n" * 1001), "n" * 1000, "name", "Its name is longer than 1,000 characters.", True),
    ("dot.zip", beside("./."), "", "name", "Its name is empty.", True),
    ("link.zip", lambda: zip_link("link.txt", b"/etc/passwd"), "link.txt", "link", "It is a link, not a file.", False),
    ("pipe.zip", lambda: zipped([("pipe", b"")], mode=stat.S_IFIFO | 0o644), "pipe", "device",
     "It is a device or pipe, not a file.", False),
    ("password.zip", lambda: zipped([("secret.txt", b"x" * 40)], flags=1), "secret.txt", "encrypted",
     "It is protected by a password.", False),
    ("strong.zip", lambda: zipped([("secret.txt", b"x" * 40)], flags=0x40), "secret.txt", "encrypted",
     "It is protected by a password.", False),
    ("bzip2.zip", lambda: zipped([("a.txt", b"x" * 99)], method=zipfile.ZIP_BZIP2), "a.txt", "method",
     "It is packed by a method that is not read (bzip2).", False),
    ("lzma.zip", lambda: zipped([("a.txt", b"x" * 99)], method=zipfile.ZIP_LZMA), "a.txt", "method",
     "It is packed by a method that is not read (LZMA).", False),
    ("twice.zip", lambda: zipped([SAFE, SAFE]), "note.txt", "twice",
     "Its name stands twice in the archive; the first one was taken.", True),
    ("twice-composed.zip", lambda: zipped([SAFE, ("\u00fc.txt", b"1"), ("u\u0308.txt", b"2")]), "\u00fc.txt", "twice",
     "Its name stands twice in the archive; the first one was taken.", True),
    ("zip-in-zip.zip", beside("inner.zip", zipped([SAFE])), "inner.zip", "nested",
     "It is an archive inside an archive; unpack it and import it by itself.", True),
    ("hidden-zip.zip", beside("inner.txt", zipped([SAFE])), "inner.txt", "nested",
     "It is an archive inside an archive; unpack it and import it by itself.", True),
    ("gzip-in-zip.zip", beside("a.csv", gzipped(b"a,b")), "a.csv", "nested",
     "It is an archive inside an archive; unpack it and import it by itself.", True),
    ("tar-in-zip.zip", beside("a.bin", tarred([SAFE])), "a.bin", "nested",
     "It is an archive inside an archive; unpack it and import it by itself.", True),
    ("bzip2-in-tar.tar", lambda: tarred([SAFE, ("a", bz2.compress(b"x"))]), "a", "nested",
     "It is an archive inside an archive; unpack it and import it by itself.", True),
    ("xz-in-tar.tar", lambda: tarred([SAFE, ("a", lzma.compress(b"x"))]), "a", "nested",
     "It is an archive inside an archive; unpack it and import it by itself.", True),
    ("zip-in-gzip.gz", lambda: gzipped(zipped([SAFE])), "zip-in-gzip", "nested",
     "It is an archive inside an archive; unpack it and import it by itself.", False),
    ("bomb.zip", beside("bomb.txt", ZEROS), "bomb.txt", "ratio", TOO_MUCH, True),
    ("lying-bomb.zip", lambda: lying(zipped([("bomb.txt", ZEROS)]), 1_500_000), "bomb.txt", "damaged",
     "It is damaged inside the archive and could not be unpacked.", False),  # cut where it claims to end
    ("bomb.gz", lambda: gzipped(ZEROS), "bomb", "ratio", TOO_MUCH, False),
    ("bomb.tar.gz", lambda: gzipped(tarred([SAFE, ("bomb.txt", b"\0" * 1_900_000)])), "bomb.txt", "ratio", TOO_MUCH,
     True),
    ("many-small.zip", lambda: zipped([(f"{n}.raw", b"\0" * 900_000) for n in range(40)]), "4.raw", "ratio", TOO_MUCH,
     False),
    ("too-large.zip", lambda: zipped([SAFE, ("big.bin", NOISE * 40)], method=zipfile.ZIP_STORED), "big.bin", "size",
     "The file is too large: it unpacks to more than 2 MB.", True),
    ("too-large.tar", lambda: tarred([SAFE, ("big.bin", NOISE * 40)]), "big.bin", "size",
     "The file is too large: it unpacks to more than 2 MB.", True),
    ("too-large.gz", lambda: gzipped(NOISE * 40), "too-large", "size",
     "The file is too large: it unpacks to more than 2 MB.", False),
    ("total.zip", lambda: zipped([SAFE, *((f"{n}", NOISE * 30) for n in range(5))], method=zipfile.ZIP_STORED), "3",
     "total", "The archive unpacks to more than 0.00559 GiB; it was left there.", True),
    ("overlap.zip", overlapping, "b.bin", "damaged", "It is damaged inside the archive and could not be unpacked.",
     False),
    ("checksum.zip", false_checksum, "torn.txt", "damaged",
     "It is damaged inside the archive and could not be unpacked.", True),
    ("crowded.zip", crowded, "crowded.zip", "entries", "The archive has more than 50 entries.", False),
    ("parent.tar", lambda: tarred([SAFE, ("../evil", b"x")]), "../evil", "outside",
     "Its name leads out of the archive (..).", True),
    ("symlink.tar", after(tar_entry("l", tarfile.SYMTYPE, "/etc/passwd")), "l", "link", "It is a link, not a file.",
     True),
    ("hardlink.tar", after(tar_entry("l", tarfile.LNKTYPE, "note.txt")), "l", "link", "It is a link, not a file.",
     True),
    ("device.tar", after(tar_entry("d", tarfile.BLKTYPE)), "d", "device", "It is a device or pipe, not a file.", True),
    ("pipe.tar", after(tar_entry("p", tarfile.FIFOTYPE)), "p", "device", "It is a device or pipe, not a file.", True),
    ("sparse.tar", sparse, "sparse", "device", "It is a sparse file, which is not read.", True),
    ("huge-pax.tar", huge_pax, "huge-pax.tar", "damaged", "The tar archive has a header that is too large to be read.",
     True),
]  # fmt: skip

# Archives that cannot be read at all: an error instead of a refusal.
WHOLE: list[tuple[str, Maker, str, str]] = [
    ("text.zip", lambda: b"no archive at all", "kind",
     "This is not an archive that can be read (ZIP, tar, tar.gz or gzip)."),
    ("cut.zip", lambda: zipped([SAFE, ("a", NOISE)])[:30_000], "damaged",
     "The ZIP archive is damaged or cut short: its directory cannot be read."),
    ("very-crowded.zip", very_crowded, "entries", "The archive has more than 50 entries."),
    ("torn.gz", lambda: b"\x1f\x8b\x08\0rubbish after a gzip header", "damaged",
     "The gzip archive is damaged or cut short."),
    ("cut.gz", lambda: gzipped(NOISE)[:-9000], "damaged", "The gzip archive is damaged or cut short."),
]  # fmt: skip

BENIGN: list[tuple[str, Maker, list[tuple[str, bytes]]]] = [
    ("plain.zip", lambda: zipped([SAFE]), [SAFE]),
    ("stored.zip", lambda: zipped([SAFE], method=zipfile.ZIP_STORED), [SAFE]),
    ("empty.zip", lambda: zipped([]), []),
    ("folders.zip", lambda: zipped([("a/", b""), ("a/b/note.txt", b"x")]), [("a/b/note.txt", b"x")]),
    ("dots.zip", lambda: zipped([("a..b/..c/d..", b"x")]), [("a..b/..c/d..", b"x")]),
    ("unix.zip", lambda: zipped([SAFE], mode=stat.S_IFREG | 0o600), [SAFE]),
    ("blank-image.zip", lambda: zipped([("blank.raw", b"\0" * 1_000_000)]), [("blank.raw", b"\0" * 1_000_000)]),
    ("two-mb.zip", lambda: zipped([("noise", NOISE * 33)]), [("noise", NOISE * 33)]),
    ("office.zip", lambda: zipped([("a.docx", zipped([("[Content_Types].xml", b"<x/>")]))]),
     [("a.docx", zipped([("[Content_Types].xml", b"<x/>")]))]),
    ("plain.tar", lambda: tarred([SAFE, ("b", b"")]), [SAFE, ("b", b"")]),
    ("plain.tar.gz", lambda: gzipped(tarred([SAFE])), [SAFE]),
    ("two-parts.gz", lambda: gzipped(b"one ") + gzipped(b"two"), [("two-parts", b"one two")]),
    ("fifty.zip", lambda: zipped([(f"{n}", b"x") for n in range(50)]), [(f"{n}", b"x") for n in range(50)]),
]  # fmt: skip


@pytest.fixture
def read() -> Callable[[str, bytes], list[Content | Refusal]]:
    """The one reader of all rows."""
    return lambda name, data: list(archive.contents(io.BytesIO(data), name=name, limits=LIMITS))


Reader = Callable[[str, bytes], list[Content | Refusal]]


@pytest.mark.parametrize(("name", "make", "files"), BENIGN, ids=[row[0] for row in BENIGN])
def test_harmless_archives_are_read(read: Reader, name: str, make: Maker, files: list[tuple[str, bytes]]) -> None:
    assert read(name, make()) == [Content(*file) for file in files]


@pytest.mark.parametrize(
    ("name", "make", "refused", "code", "reason", "goes_on"), HOSTILE, ids=[row[0] for row in HOSTILE]
)
def test_each_attack_has_its_own_reason(
    read: Reader, name: str, make: Maker, refused: str, code: str, reason: str, goes_on: bool
) -> None:
    found = read(name, make())
    assert [entry for entry in found if isinstance(entry, Refusal)] == [Refusal(refused, code, reason)]
    assert (Content(*SAFE) in found) == goes_on


@pytest.mark.parametrize(("name", "make", "code", "sentence"), WHOLE, ids=[row[0] for row in WHOLE])
def test_what_is_no_archive_is_refused_as_a_whole(
    read: Reader, name: str, make: Maker, code: str, sentence: str
) -> None:
    with pytest.raises(UserError) as refused:
        read(name, make())
    assert (refused.value.code, refused.value.text) == (code, sentence)


def test_nothing_follows_a_bomb(read: Reader) -> None:
    found = read("bomb.zip", zipped([("bomb", ZEROS), SAFE]))
    assert [entry.name for entry in found] == ["bomb"]


def test_a_bomb_is_found_while_it_is_passed_over(read: Reader) -> None:
    """Too large to be read, and too large to be unpacked only to get past it."""
    found = read("case.tar.gz", gzipped(tarred([SAFE, ("big", ZEROS), ("after", b"x")])))
    assert found == [
        Content(*SAFE),
        Refusal("big", "size", "The file is too large: it unpacks to more than 2 MB."),
        Refusal("case.tar.gz", "ratio", TOO_MUCH),
    ]


def test_a_tar_file_that_is_cut_short_gives_what_it_has(read: Reader) -> None:
    cut = "The tar archive is damaged or cut short."
    found = read("case.tar", tarred([SAFE, ("a", NOISE), ("b", b"x")])[:5000])
    assert found == [Content(*SAFE), Refusal("a", "damaged", cut), Refusal("case.tar", "damaged", cut)]


# ------------------------------------------------------------------------------------------------ controls


def test_control_the_names_would_lead_out() -> None:
    with zipfile.ZipFile(io.BytesIO(beside("../evil.txt")())) as naive:
        assert "../evil.txt" in naive.namelist()
    with tarfile.open(fileobj=io.BytesIO(tarred([("../evil", b"x")]))) as tar:
        assert tar.getnames() == ["../evil"]


def test_control_the_bombs_really_unpack() -> None:
    with zipfile.ZipFile(io.BytesIO(zipped([("bomb.txt", ZEROS)]))) as naive:
        assert len(naive.read("bomb.txt")) == len(ZEROS)
    assert len(gzip.decompress(gzipped(ZEROS))) == len(ZEROS)
    packed = zipped([("bomb.txt", ZEROS)])
    assert len(packed) < len(ZEROS) / 900
    claimed = lying(packed, 1_500_000)
    start = claimed.find(b"bomb.txt") + len("bomb.txt")
    assert len(zlib.decompressobj(-15).decompress(claimed[start:])) == len(ZEROS)  # whatever its header says


def test_control_without_limits_every_byte_comes_out() -> None:
    free = Limits(member_bytes=1 << 30, total_bytes=1 << 30, entries=1000, ratio=10_000)
    found = list(archive.contents(io.BytesIO(beside("bomb.txt", ZEROS)()), name="bomb.zip", limits=free))
    assert found == [Content(*SAFE), Content("bomb.txt", ZEROS)]
