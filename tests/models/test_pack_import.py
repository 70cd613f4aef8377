"""Packs on their way in: each chunk and the whole checked, written once, taken up again (runtime.md 9)."""

from __future__ import annotations

import os
import random
import shutil
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from core import codec
from core.domain.pack import Licence, PackFile, PackManifest
from core.errors import Cancelled, SecurityError, UserError
from models.importing import Receipt, import_pack, open_source
from models.packs import MANIFEST, MemoryLedger, list_packs, open_verified

CHUNK = 1 << 20
SIZE = 5 * CHUNK + 333


def yes(_manifest: PackManifest, _text: bytes) -> bool:
    return True


def manifest_of(content: bytes, **changes: object) -> PackManifest:
    pieces = [content[start : start + CHUNK] for start in range(0, len(content), CHUNK)]
    file = PackFile(
        path="weights.bin",
        size=len(content),
        sha256=codec.sha256(content),
        chunk=CHUNK,
        chunks=tuple(map(codec.sha256, pieces)),
    )
    plain = PackManifest(
        id="fake",
        version="1",
        role="segment",
        family="unet",
        template="",
        params_b=0.1,
        quant="f32",
        files=(file,),
        licence=Licence(spdx="MIT", file="LICENSE"),
    )
    return msgspec.structs.replace(plain, **changes)


@pytest.fixture(scope="module")
def content() -> bytes:
    return random.Random(1).randbytes(SIZE)


@pytest.fixture
def kit(tmp_path: Path, content: bytes) -> Path:
    """A pack folder as it lies on a stick, read-only."""
    folder = tmp_path / "stick" / "fake pack"
    folder.mkdir(parents=True)
    (folder / "weights.bin").write_bytes(content)
    (folder / "LICENSE").write_text("Be kind.")
    (folder / MANIFEST).write_bytes(codec.encode(manifest_of(content)))
    return folder


class Bench:
    """An import with everything it may be given."""

    def __init__(self, packs: Path) -> None:
        self.packs, self.ledger, self.stop = packs, MemoryLedger(), threading.Event()
        self.heard: list[tuple[int, int]] = []
        self.on_bytes: Callable[[int, int], None] = lambda done, total: self.heard.append((done, total))
        self.free: Callable[[Path], int] = lambda folder: 1 << 40

    def bring(self, path: Path, accept: Callable[[PackManifest, bytes], bool] = yes) -> Receipt:
        with open_source(path) as source:
            return import_pack(
                source, self.packs, ledger=self.ledger, accept=accept, on_bytes=self.on_bytes, stop=self.stop,
                free=self.free,
            )  # fmt: skip

    def left(self) -> list[str]:
        """Every file below the folder of all packs."""
        return sorted(str(path.relative_to(self.packs)) for path in self.packs.rglob("*") if path.is_file())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "packs")


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


WHOLE = ["fake/1/LICENSE", "fake/1/manifest.json", "fake/1/weights.bin"]


def test_complaint_A4(bench: Bench, kit: Path) -> None:
    """wasserth/TotalSegmentator#437, #226, #353, #462, #516, #196; bowang-lab/MedSAMSlicer#9;
    UMEssen/Body-and-Organ-Analysis#23; Project-MONAI/MONAILabel#1712; simonw/llm#188 (weights: where, again and again):
    one import installs the pack where it is found; a second one copies 0 bytes."""
    first = bench.bring(kit)
    inode = (first.pack.folder / "weights.bin").stat().st_ino
    second = bench.bring(kit)
    assert (first.copied, second.copied) == (SIZE, 0)
    assert (second.pack.folder / "weights.bin").stat().st_ino == inode
    assert [(pack.id, pack.state) for pack in list_packs(bench.packs, bench.ledger)] == [("fake", "ready")]
    with open_verified(second.pack, verify="fast", ledger=bench.ledger) as opened:
        assert opened.verify == "fast", "the import was a full check already"


def test_complaint_A7(bench: Bench, kit: Path, content: bytes) -> None:
    """ollama/ollama#8105, #9430, #9846, #13775; Mintplex-Labs/anything-llm#6127 (digest loops; disk doubled).

    The same right file 3 times gives 1 result; a failing hash names both values; never more than 1.05 times the size.
    """
    largest = 0

    def watch(_done: int, _total: int) -> None:
        nonlocal largest
        largest = max(largest, sum(path.stat().st_size for path in bench.packs.rglob("*") if path.is_file()))

    bench.on_bytes = watch
    for _ in range(3):
        assert bench.bring(kit).pack.manifest.id == "fake"
    assert bench.left() == WHOLE
    assert 0 < largest <= 1.05 * SIZE
    shutil.rmtree(bench.packs)
    flip(kit / "weights.bin", 2 * CHUNK + 7)
    damaged = (kit / "weights.bin").read_bytes()
    with pytest.raises(UserError) as caught:
        bench.bring(kit)
    expected, found = (codec.sha256(whole[2 * CHUNK : 3 * CHUNK]) for whole in (content, damaged))
    assert caught.value.text == (
        "Model file is damaged (hash differs). Not loaded. "
        f"weights.bin: bytes 2097152 to 3145727: expected {expected}, found {found}"
    )


def test_complaint_A5(bench: Bench, kit: Path) -> None:
    """ggml-org/llama.cpp#5904, #1735 (gibberish = damaged file), #15250 (hash at load): flipped byte, N16, no output.

    At import and at load; the pack is quarantined, the file is left as it is.
    """
    pack = bench.bring(kit).pack
    flip(pack.folder / "weights.bin", 5)
    before = (pack.folder / "weights.bin").read_bytes()
    with pytest.raises(UserError, match="^Model file is damaged"), open_verified(pack, ledger=bench.ledger):
        pytest.fail("a damaged pack was opened")
    assert bench.ledger.quarantined("fake", "1")
    assert (pack.folder / "weights.bin").read_bytes() == before
    other = Bench(bench.packs.parent / "others")
    flip(kit / "weights.bin", SIZE - 1)
    with pytest.raises(UserError, match="^Model file is damaged"):
        other.bring(kit)
    assert other.ledger.quarantined("fake", "1").startswith("weights.bin: bytes 5242880 to 5243212: expected ")
    assert other.left() == []


def test_right_pack_repairs_the_damaged_one(bench: Bench, kit: Path) -> None:
    pack = bench.bring(kit).pack
    flip(pack.folder / "weights.bin", 5)
    assert bench.bring(kit).copied == SIZE
    assert bench.ledger.quarantined("fake", "1") == ""
    assert bench.left() == WHOLE


@pytest.mark.parametrize("prefix", ["", "fake pack/"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_pack_comes_out_of_a_zip_as_it_went_in(
    bench: Bench, kit: Path, content: bytes, prefix: str, method: int
) -> None:
    archive = kit.parent / "kit.zip"
    with zipfile.ZipFile(archive, "w", method, compresslevel=1) as writer:
        for path in kit.iterdir():
            writer.write(path, prefix + path.name)
    receipt = bench.bring(archive)
    assert (receipt.pack.folder / "weights.bin").read_bytes() == content
    assert bench.left() == WHOLE
    assert bench.heard[-1] == (SIZE, SIZE)
    assert receipt.signature == "unsigned"


@pytest.mark.parametrize("zipped", [False, True])
def test_stopped_import_goes_on_where_it_stopped(bench: Bench, kit: Path, content: bytes, zipped: bool) -> None:
    """Stop after 3 MiB, in the fourth block: whole chunks are kept, hashed again, and not copied a second time."""
    path = Path(shutil.make_archive(str(kit.parent / "kit"), "zip", kit)) if zipped else kit
    asked: list[float] = []

    def stop_soon(done: int, _total: int) -> None:
        if done > 2.5 * CHUNK:
            asked.append(time.monotonic())
            bench.stop.set()

    bench.on_bytes = stop_soon
    with pytest.raises(Cancelled):
        bench.bring(path)
    assert time.monotonic() - asked[0] <= 0.3, "acceptance: Stop within 300 ms"
    assert list_packs(bench.packs, bench.ledger) == ()
    bench.stop.clear()
    bench.on_bytes = lambda done, total: None
    receipt = bench.bring(path)
    assert receipt.copied == SIZE - 4 * CHUNK
    assert (receipt.pack.folder / "weights.bin").read_bytes() == content
    assert bench.left() == WHOLE


def test_what_an_earlier_try_left_is_not_believed(bench: Bench, kit: Path, content: bytes) -> None:
    """A part whose second chunk is wrong: the first is kept, the rest comes anew."""
    place = bench.packs / "fake" / ".1.part"
    place.mkdir(parents=True)
    (place / "weights.bin.part").write_bytes(content[:CHUNK] + bytes(CHUNK) + content[2 * CHUNK : 3 * CHUNK])
    receipt = bench.bring(kit)
    assert receipt.copied == SIZE - CHUNK
    assert (receipt.pack.folder / "weights.bin").read_bytes() == content


def test_too_little_space_is_said_before_anything_is_written(bench: Bench, kit: Path) -> None:
    bench.free = lambda folder: int(SIZE * 1.05) - 1
    with pytest.raises(UserError, match="MB free; the model needs 6 MB") as caught:
        bench.bring(kit)
    assert caught.value.code == "disk full"
    assert bench.left() == []
    bench.free = lambda folder: int(SIZE * 1.05)
    assert bench.bring(kit).copied == SIZE


def test_licence_that_must_be_accepted_is_a_gate(bench: Bench, kit: Path, content: bytes) -> None:
    gated = manifest_of(content, licence=Licence(spdx="LicenseRef-X", file="LICENSE", accept=True))
    (kit / MANIFEST).write_bytes(codec.encode(gated))
    shown: list[bytes] = []
    with pytest.raises(UserError, match="LicenseRef-X. was not accepted"):
        bench.bring(kit, lambda manifest, text: bool(shown.append(text)))
    assert shown == [b"Be kind."]
    assert bench.left() == []
    assert bench.bring(kit, yes).copied == SIZE


def test_another_pack_of_the_same_name_is_refused(bench: Bench, kit: Path) -> None:
    bench.bring(kit)
    other = random.Random(2).randbytes(100)
    (kit / "weights.bin").write_bytes(other)
    (kit / MANIFEST).write_bytes(codec.encode(manifest_of(other)))
    with pytest.raises(UserError, match="Another pack of the name fake 1 is installed. Remove it first"):
        bench.bring(kit)
    assert len((bench.packs / "fake" / "1" / "weights.bin").read_bytes()) == SIZE


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/b", "CON", "nul.bin", "x.", "manifest.json", "", "." * 3, "ä"])
def test_names_that_leave_the_folder_or_are_taken_by_none(bench: Bench, kit: Path, content: bytes, name: str) -> None:
    whole = manifest_of(content)
    file = msgspec.structs.replace(whole.files[0], path=name)
    (kit / MANIFEST).write_bytes(codec.encode(msgspec.structs.replace(whole, files=(file,))))
    with pytest.raises(SecurityError):
        bench.bring(kit)
    assert bench.left() == []


@pytest.mark.parametrize("field", ["id", "version"])
def test_identity_that_leaves_the_folder(bench: Bench, kit: Path, content: bytes, field: str) -> None:
    (kit / MANIFEST).write_bytes(codec.encode(manifest_of(content, **{field: "../../evil"})))
    with pytest.raises(SecurityError):
        bench.bring(kit)


def test_case_collision_and_sums_that_do_not_add_up(bench: Bench, kit: Path, content: bytes) -> None:
    whole = manifest_of(content)
    file = whole.files[0]
    twice = (file, msgspec.structs.replace(file, path="WEIGHTS.bin"))
    (kit / MANIFEST).write_bytes(codec.encode(msgspec.structs.replace(whole, files=twice)))
    with pytest.raises(SecurityError, match="twice"):
        bench.bring(kit)
    for change in ({"chunks": file.chunks[:-1]}, {"size": -1}, {"chunk": 0}, {"sha256": "xyz"}, {"chunk": 1 << 40}):
        short = msgspec.structs.replace(file, **change)  # type: ignore[arg-type]
        (kit / MANIFEST).write_bytes(codec.encode(msgspec.structs.replace(whole, files=(short,))))
        with pytest.raises(UserError, match="does not add up"):
            bench.bring(kit)


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
def test_link_in_place_of_a_file_is_refused(bench: Bench, kit: Path, tmp_path: Path) -> None:
    shutil.move(kit / "weights.bin", tmp_path / "elsewhere")
    (kit / "weights.bin").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link, not a file"):
        bench.bring(kit)
    assert bench.left() == []


@pytest.mark.parametrize("change", [b"", b"more"])
def test_file_of_another_length_is_refused(bench: Bench, kit: Path, content: bytes, change: bytes) -> None:
    (kit / "weights.bin").write_bytes(content + change if change else content[:-1])
    with pytest.raises(UserError, match="longer than" if change else "shorter than"):
        bench.bring(kit)
    assert bench.left() == []


def test_what_is_no_pack_says_what_it_is(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "page.zip").write_bytes(b"<!DOCTYPE html>")
    (tmp_path / "model.gguf").write_bytes(b"GGUF" + bytes(100))
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a/b/manifest.json", "{}")
    for name, why in {
        "folder": "has no manifest.json",
        "absent": "There is no",
        "page.zip": "this is a web page, not a model",
        "model.gguf": "neither a pack folder nor a ZIP of one. For a model file: wardround models seal",
        "other.zip": "has no manifest.json",
    }.items():
        with pytest.raises(UserError, match=why):
            bench.bring(tmp_path / name)
