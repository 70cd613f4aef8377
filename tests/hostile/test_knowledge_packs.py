"""Hostile `.wrpack` files beside harmless ones through one import: each refused with its reason, nothing written.

The control takes the defence away: a plain reader takes the changed bytes for good.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core import codec
from core.errors import UserError
from core.retrieval.packfile import MEMBERS, export_pack
from core.retrieval.packfile_reader import import_pack
from core.store.knowledge import KnowledgeStore
from tests.core.store.test_lifecycle import ITEMS
from tests.helpers.shelf import open_store, pack

Parts = dict[str, bytes]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """The members of a sound pack."""
    folder = tmp_path_factory.mktemp("sound")
    store = open_store(folder)
    store.put_pack(pack(), ITEMS, actor="me")
    export_pack(store, "lib", folder / "a.wrpack", actor="me")
    store.close()
    with zipfile.ZipFile(folder / "a.wrpack") as archive:
        return {name: archive.read(name) for name in MEMBERS}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def packed(parts: Parts, *, method: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return stream.getvalue()


def with_manifest(parts: Parts, **fields: Any) -> Parts:
    """Changed fields; None takes one away."""
    held = json.loads(parts["manifest.json"]) | fields
    return parts | {"manifest.json": json.dumps({k: v for k, v in held.items() if v is not None}).encode()}


def with_member(parts: Parts, name: str, data: bytes, **fields: Any) -> Parts:
    """Another member, with a manifest that fits it."""
    files = [
        file | ({"size": len(data), "sha256": codec.sha256(data)} if file["path"] == name else {})
        for file in json.loads(parts["manifest.json"])["files"]
    ]
    return with_manifest(parts | {name: data}, files=files, **fields)


def with_doc(parts: Parts, change: Callable[[dict[str, Any]], object]) -> Parts:
    first, *rest = parts["docs.jsonl"].splitlines(keepends=True)
    doc = json.loads(first)
    change(doc)
    return with_member(parts, "docs.jsonl", b"".join((json.dumps(doc).encode() + b"\n", *rest)))


def flipped(parts: Parts, name: str) -> Parts:
    data = bytearray(parts[name])
    data[len(data) // 2] ^= 1
    return parts | {name: bytes(data)}


def moved(doc: dict[str, Any]) -> None:
    doc["sections"][0]["spans"][0]["end"] = 9999


def classed(doc: dict[str, Any]) -> None:
    doc["sections"][0]["section_class"] = "z"


def first_of(lines: bytes) -> bytes:
    return lines.split(b"\n")[0] + b"\n"


HOSTILE: list[tuple[str, Callable[[Parts], bytes], str]] = [
    ("no ZIP", lambda p: b"nothing of the kind" * 9, "no knowledge pack, or it is damaged"),
    ("0 bytes", lambda p: b"", "no knowledge pack, or it is damaged"),
    ("cut short", lambda p: packed(p)[:-300], "no knowledge pack, or it is damaged"),
    ("a part too few", lambda p: packed({n: d for n, d in p.items() if n != "facts.jsonl"}), "must hold manifest.json"),
    ("a part too many", lambda p: packed(p | {"run.py": b"x"}), "and no more"),
    ("another order", lambda p: packed(dict(reversed(p.items()))), "must hold manifest.json"),
    ("a path that leads out", lambda p: packed(p | {"../x": b"x"}), "and no more"),
    ("packed parts", lambda p: packed(p, method=zipfile.ZIP_DEFLATED), "parts are packed or protected"),
    ("a manifest that is none", lambda p: packed(p | {"manifest.json": b"{"}), "manifest of x.wrpack does not have"),
    ("a list for a manifest", lambda p: packed(p | {"manifest.json": b"[]"}), "manifest of x.wrpack does not have"),
    ("depth", lambda p: packed(p | {"manifest.json": b"[" * 100_000}), "manifest of x.wrpack does not have"),
    ("an unknown key", lambda p: packed(with_manifest(p, run="rm")), "unknown field `run`"),
    ("a missing key", lambda p: packed(with_manifest(p, title=None)), "missing required field `title`"),
    ("another role", lambda p: packed(with_manifest(p, role="text")), "a pack of role text, not of knowledge"),
    ("a later form", lambda p: packed(with_manifest(p, format=2)), "Install a newer one"),
    ("an id that is a path", lambda p: packed(with_manifest(p, id="../../lib")), "is no name for a pack"),
    ("an id of ours", lambda p: packed(with_manifest(p, id="starter")), "is the program's own"),
    ("an endless id", lambda p: packed(with_manifest(p, id="a" * 300)), "is no name for a pack"),
    ("another licence", lambda p: packed(with_manifest(p, licence={"spdx": "CC0"})), "its LICENSE another one"),
    (
        "an unknown licence",
        lambda p: packed(with_member(p, "LICENSE", b"MIT\n", licence={"spdx": "MIT"})),
        "The licence 'MIT' of Library is not one",
    ),
    ("files that are not there", lambda p: packed(with_manifest(p, files=[])), "lists other files than it holds"),
    ("a flipped bit in the documents", lambda p: packed(flipped(p, "docs.jsonl")), "docs.jsonl of x.wrpack"),
    ("a flipped bit in the facts", lambda p: packed(flipped(p, "facts.jsonl")), "facts.jsonl of x.wrpack"),
    ("a flipped bit in the concepts", lambda p: packed(flipped(p, "concepts.jsonl")), "concepts.jsonl of x.wrpack"),
    ("a flipped bit in the licence", lambda p: packed(flipped(p, "LICENSE")), "LICENSE of x.wrpack is damaged"),
    ("a longer part", lambda p: packed(p | {"docs.jsonl": p["docs.jsonl"] * 2}), "longer than it may be"),
    ("a key in a document", lambda p: packed(with_doc(p, lambda d: d.update(macro="x"))), "holds 'macro', which this"),
    (
        "a key deep in a document",
        lambda p: packed(with_doc(p, lambda d: d["sections"][0].update(script="x"))),
        "holds 'script', which this",
    ),
    ("a class that is none", lambda p: packed(with_doc(p, classed)), "Invalid enum value 'z'"),
    ("a passage outside", lambda p: packed(with_doc(p, moved)), "lies outside its section"),
    ("a document less", lambda p: packed(with_member(p, "docs.jsonl", first_of(p["docs.jsonl"]))), "hold as much"),
    ("no text", lambda p: packed(with_member(p, "docs.jsonl", b"\xff\xfe\n")), "does not have the expected form"),
]  # fmt: skip
BENIGN: list[tuple[str, Callable[[Parts], bytes]]] = [
    ("as it was written", packed),
    ("a manifest laid out otherwise", lambda p: packed(with_manifest(p))),
    ("without a field that has a default", lambda p: packed(with_doc(p, lambda d: d.pop("url")))),
    ("texts of many scripts", lambda p: packed(with_doc(p, lambda d: d.update(title="痛風 – подагра")))),
    ("another title", lambda p: packed(with_doc(p, lambda d: d.update(title="Gout, revised")))),
    ("a summary", lambda p: packed(with_doc(p, lambda d: d.update(summary="What gout is.")))),
    ("other names", lambda p: packed(with_doc(p, lambda d: d.update(aliases=["urate arthritis"])))),
    ("a date", lambda p: packed(with_doc(p, lambda d: d.update(published_on="2020-01-31")))),
    ("an address, as text", lambda p: packed(with_doc(p, lambda d: d.update(url="https://example.org/gout")))),
]


@pytest.mark.parametrize(("name", "make", "sentence"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_what_is_hostile_is_refused(
    name: str, make: Callable[[Parts], bytes], sentence: str, sound: Parts, store: KnowledgeStore, tmp_path: Path
) -> None:
    store.put_pack(pack("before"), ITEMS, actor="me")
    (tmp_path / "x.wrpack").write_bytes(make(sound))
    before = store.head()
    with pytest.raises(UserError) as refused:
        import_pack(store, None, tmp_path / "x.wrpack", actor="me")
    assert sentence in refused.value.text
    assert (store.head(), [held.id for held in store.packs()]) == (before, ["before"])
    assert {file.name.split("-")[0] for file in tmp_path.iterdir()} <= {"home", "knowledge.db", "x.wrpack"}


@pytest.mark.parametrize(("name", "make"), BENIGN, ids=[row[0] for row in BENIGN])
def test_what_is_harmless_is_imported_whole(
    name: str, make: Callable[[Parts], bytes], sound: Parts, store: KnowledgeStore, tmp_path: Path
) -> None:
    (tmp_path / "x.wrpack").write_bytes(make(sound))
    report = import_pack(store, None, tmp_path / "x.wrpack", actor="me")
    assert (report.docs, report.chunks, report.concepts) == (2, 3, 1)
    assert store.verify() == ()


def test_control_without_the_defence_the_changed_bytes_would_be_taken(sound: Parts) -> None:
    """A flipped letter is still JSON, and still a document."""
    data = sound["docs.jsonl"].replace(b"5 mg", b"7 mg")
    stream = io.BytesIO(packed(sound | {"docs.jsonl": data}))
    with zipfile.ZipFile(stream) as archive:
        assert b"7 mg" in json.loads(archive.read("docs.jsonl").splitlines()[0])["sections"][0]["text"].encode()
