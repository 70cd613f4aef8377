"""Hostile knowledge files beside harmless ones through one import job: each refused with its sentence, nothing written.

The controls take the defence away: a plain parser expands the entities, a plain reader inflates the bomb, a plain join
leaves the folder.
"""

from __future__ import annotations

import gzip
import io
import random
import resource
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, cast
from xml.etree import ElementTree

import pytest

from core.errors import UserError
from core.retrieval.importing import ImportReport, import_knowledge
from core.retrieval.sources import medlineplus
from core.retrieval.sources.files import File, Files
from core.retrieval.sources.material import Options
from core.store.knowledge import KnowledgeStore
from tests.helpers.papers import read_paper
from tests.helpers.shelf import open_store

MOST_SECONDS, MOST_MEGABYTES = 10, 300
OBO = b"format-version: 1.2\nontology: x\n\n[Term]\nid: X:1\nname: ringing bones\n"
TOPIC = (
    '<health-topics date-generated="01/02/2026"><health-topic title="Bones" id="1" language="English">'
    "<full-summary>{}</full-summary></health-topic></health-topics>"
)
PAGE = b"BT /F1 24 Tf 72 700 Td (Bones ring when they are struck.) Tj ET"
PICTURE = b"q 100 0 0 100 72 600 cm BI /W 2 /H 2 /CS /G /BPC 8 ID \x00\xff\xff\x00 EI Q"


def topic(text: str = "Bones ring.", *, head: str = "") -> bytes:
    return f'<?xml version="1.0"?>{head}{TOPIC.format(text)}'.encode()


def laughs(levels: int, each: int = 10) -> bytes:
    """Entities that stand for ten of the one before."""
    lines = ['<!ENTITY l0 "ha">']
    lines += [f'<!ENTITY l{n} "{f"&l{n - 1};" * each}">' for n in range(1, levels)]
    return topic(f"&l{levels - 1};", head=f"<!DOCTYPE health-topics [{''.join(lines)}]>")


def pdf(stream: bytes) -> bytes:
    """One page with this content."""
    parts = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for n, part in enumerate(parts, 1):
        offsets.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (n, part)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return bytes(out + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start)


def zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in members.items():
            made.writestr(name, data)
    return stream.getvalue()


def tarred(name: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as made:
        member = tarfile.TarInfo(name)
        member.size = len(data)
        made.addfile(member, io.BytesIO(data))
    return stream.getvalue()


def word() -> bytes:
    import docx

    made = docx.Document()
    made.add_heading("Ringing bones", 1)
    made.add_paragraph("They ring.")
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()


def noise(size: int) -> bytes:
    """An ontology's comment that does not pack."""
    return b"! " + random.Random(1).randbytes(size).hex().encode() + b"\n"


BOMB = OBO + b"! " + b"a" * 30_000_000 + b"\n"
# name, bytes, part of the sentence
HOSTILE: list[tuple[str, Callable[[], bytes], str]] = [
    ("laughs.xml", lambda: laughs(20), "declares an entity"),
    (
        "outside.xml",
        lambda: topic("&x;", head='<!DOCTYPE health-topics SYSTEM "x.dtd" [<!ENTITY x SYSTEM "file:///etc/passwd">]>'),
        "declares an entity",
    ),
    (
        "dtd.xml",
        lambda: topic(head='<!DOCTYPE health-topics [<!ENTITY % d SYSTEM "http://example.org/x.dtd"> %d;]>'),
        "declares an entity",
    ),
    ("bomb.obo.gz", lambda: gzip.compress(BOMB), "more than 100 times its size"),
    ("bomb.zip", lambda: zipped(**{"bomb.obo": BOMB}), "more than 100 times its size"),
    ("up.zip", lambda: zipped(**{"../up.obo": OBO}), "leads out of the archive"),
    ("up.tar.gz", lambda: tarred("../../up.obo", OBO), "leads out of the archive"),
    ("absolute.zip", lambda: zipped(**{"/etc/up.obo": OBO}), "absolute path"),
    ("nested.zip", lambda: zipped(**{"inner.zip": zipped(**{"a.obo": OBO})}), "archive inside an archive"),
    ("short.obo.gz", lambda: gzip.compress(OBO + noise(400_000))[:300_000], "damaged"),
    ("scan.pdf", lambda: pdf(PICTURE), "scan"),
    ("deep.xml", lambda: topic("<a>" * 300 + "</a>" * 300), "deeper than 200 levels"),
    ("cut.xml", lambda: topic()[:-40], "damaged"),
    ("latin.obo", lambda: OBO + b"def: \"Caf\xe9\" []\n", "not UTF-8"),
    ("line.obo", lambda: OBO + b"! " + b"a" * 9_000_000, "longer than 8,000,000"),
]  # fmt: skip
BENIGN: list[tuple[str, Callable[[], bytes], tuple[int, int]]] = [
    ("plain.obo", lambda: OBO, (0, 1)),
    ("packed.obo.gz", lambda: gzip.compress(OBO + noise(400_000)), (0, 1)),
    ("packed.zip", lambda: zipped(**{"a/x.obo": OBO, "readme.txt": b"x"}), (0, 1)),
    ("packed.tar.gz", lambda: tarred("a/x.obo", OBO), (0, 1)),
    ("marked.obo", lambda: b"\xef\xbb\xbf" + OBO, (0, 1)),
    ("topics.xml", lambda: topic("Bones &lt;p&gt; &#246; &amp; ring."), (1, 1)),
    ("doctype.xml", lambda: topic(head='<!DOCTYPE health-topics SYSTEM "http://example.org/x.dtd">'), (1, 1)),
    ("nbsp.xml", lambda: topic("A&nbsp;bone.", head='<!DOCTYPE health-topics SYSTEM "x.dtd">'), (1, 1)),
    ("page.pdf", lambda: pdf(PAGE), (1, 0)),
    ("text.docx", word, (1, 0)),
    ("text.html", lambda: b"<h1>Bones</h1><p>They ring.</p>", (1, 0)),
    ("text.md", lambda: b"# Bones\nThey ring.\n", (1, 0)),
]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path / "profile")
    yield opened
    opened.close()


def bring(store: KnowledgeStore, path: Path) -> ImportReport:
    return import_knowledge(store, None, [path], Options(licence="own"), actor="me", read_document=read_paper)


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "profile" not in path.parts}


@pytest.mark.parametrize(("name", "make", "sentence"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_hostile(store: KnowledgeStore, tmp_path: Path, name: str, make: Callable[[], bytes], sentence: str) -> None:
    path = tmp_path / name
    path.write_bytes(make())
    before, began = files_of(tmp_path), time.monotonic()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match=sentence) as caught:
        bring(store, path)
    assert time.monotonic() - began < MOST_SECONDS
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < MOST_MEGABYTES * 1024
    assert "Traceback" not in caught.value.text and "\n" not in caught.value.text
    assert files_of(tmp_path) == before
    assert store.packs() == ()


@pytest.mark.parametrize(("name", "make", "expected"), BENIGN, ids=[row[0] for row in BENIGN])
def test_benign(
    store: KnowledgeStore, tmp_path: Path, name: str, make: Callable[[], bytes], expected: tuple[int, int]
) -> None:
    (tmp_path / name).write_bytes(make())
    report = bring(store, tmp_path / name)
    assert (report.docs, report.concepts) == expected
    assert report.skipped == ()


def test_one_bad_member_costs_itself_alone(store: KnowledgeStore, tmp_path: Path) -> None:
    terms = b"".join(b"\n[Term]\nid: X:%d\nname: bone %d\n" % (n, n) for n in range(2, 9))
    (tmp_path / "mixed.zip").write_bytes(zipped(**{"good.obo": OBO + terms, "../up.obo": OBO}))
    report = bring(store, tmp_path / "mixed.zip")
    assert report.concepts == 8
    assert [skipped.why for skipped in report.skipped] == ["Its name leads out of the archive (..)."]


class Endless(io.RawIOBase):
    """A topic whose summary is a text of one gigabyte, made while it is read."""

    def __init__(self) -> None:
        self.given = 0
        self._head = topic("@").split(b"@")[0]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._head or b"a" * len(buffer)
        self._head = b""
        size = min(len(data), len(buffer), 1_000_000_000 - self.given)
        buffer[:size] = data[:size]
        self.given += size
        return size


class Generated(Files):
    """One file that lies on no disk."""

    def __init__(self, stream: Endless) -> None:
        self.refusals = []
        self._stream = stream

    def walk(self, *, newest_first: bool = False) -> Iterator[File]:
        yield File("endless.xml", cast(BinaryIO, io.BufferedReader(self._stream)))


def test_a_text_of_a_gigabyte_is_left_after_eight_megabytes() -> None:
    stream = Endless()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match="longer than 8,000,000 characters"):
        list(medlineplus.read(Generated(stream), Options()).records)
    assert 8_000_000 < stream.given < 9_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < MOST_MEGABYTES * 1024


def test_control_without_the_defence_the_attacks_work(tmp_path: Path) -> None:
    small = laughs(4)
    text = ElementTree.fromstring(small).findtext("health-topic/full-summary") or ""  # noqa: S314 (the attack)
    assert len(text) == 2 * 10**3 > len(small)
    bomb = gzip.compress(BOMB)
    assert len(gzip.decompress(bomb)) > 100 * len(bomb)
    (name,) = zipfile.ZipFile(io.BytesIO(zipped(**{"../up.obo": OBO}))).namelist()
    assert not (tmp_path / "in" / name).resolve().is_relative_to(tmp_path / "in")
