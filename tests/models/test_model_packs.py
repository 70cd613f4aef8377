"""Packs on disk: manifests, states, and that a changed byte is refused at load (runtime.md section 9)."""

from __future__ import annotations

import os
import random
import shutil
import threading
from pathlib import Path

import pytest

import models
from core import codec
from core.domain.pack import Licence, PackFile, PackManifest
from core.errors import Cancelled, SecurityError, UserError
from models.catalogue import catalogue, identify
from models.packs import InstalledPack, MemoryLedger, check_signature, find_pack, list_packs, open_verified

MIB = 1 << 20
PACK = "smollm2-135m-instruct-q4_1"


def _write_pack(packs: Path, *, version: str = "1", name: str = "model.gguf", size: int = 3 * MIB) -> InstalledPack:
    folder = packs / "fake" / version
    folder.mkdir(parents=True)
    content = random.Random(1).randbytes(size)
    (folder / name).write_bytes(content)
    manifest = PackManifest(
        id="fake",
        version=version,
        role="text",
        family="smollm2",
        template="chatml",
        params_b=0.1,
        quant="Q4",
        files=(PackFile(path=name, size=size, sha256=codec.sha256(content)),),
        licence=Licence(spdx="MIT"),
    )
    (folder / "manifest.json").write_bytes(codec.encode(manifest))
    return InstalledPack(manifest=manifest, folder=folder)


def _flip(path: Path, offset: int) -> None:
    """Change one bit in place, the file's times included."""
    with path.open("r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 1]))


def _refusal(pack: InstalledPack, ledger: MemoryLedger) -> str:
    with pytest.raises(UserError) as caught, open_verified(pack, ledger=ledger):
        pytest.fail("a damaged pack was opened")
    return caught.value.text


def test_flipped_byte_is_refused_with_both_hashes(tmp_path: Path) -> None:
    """Acceptance 10: 95 random offsets of a small pack, 95 of 95 refused; the file is left as it is."""
    pack = _write_pack(tmp_path)
    path, expected = pack.folder / "model.gguf", pack.manifest.files[0].sha256
    rng = random.Random(10)
    for _ in range(95):
        ledger, offset = MemoryLedger(), rng.randrange(3 * MIB)
        _flip(path, offset)
        text = _refusal(pack, ledger)
        found = codec.sha256(path.read_bytes())
        assert text.startswith("Model file is damaged (hash differs). Not loaded.")
        assert expected in text
        assert found in text
        assert [state.state for state in list_packs(tmp_path, ledger)] == ["quarantined"]
        _flip(path, offset)
    with open_verified(pack, ledger=MemoryLedger()) as opened:
        assert opened.verify == "full"


@pytest.mark.weights
def test_flipped_byte_of_the_default_pack_never_loads(smollm2: Path, tmp_path: Path) -> None:
    """Acceptance 10: 5 random offsets of the real file."""
    folder = tmp_path / PACK / "1"
    shutil.copytree(smollm2, folder)
    rng = random.Random(11)
    for _ in range(5):
        offset = rng.randrange((folder / "model.gguf").stat().st_size)
        _flip(folder / "model.gguf", offset)
        with pytest.raises(UserError, match="hash differs"):
            models.open_backbone(PACK, packs=tmp_path)
        _flip(folder / "model.gguf", offset)
    shutil.rmtree(tmp_path / PACK)


def test_fast_check_needs_a_remembered_full_one(tmp_path: Path) -> None:
    """First open: full whatever was asked. Then fast, until size, time, inode or an end of the file differs."""
    pack, ledger = _write_pack(tmp_path), MemoryLedger()
    path = pack.folder / "model.gguf"
    for expected in ("full", "fast"):
        with open_verified(pack, verify="fast", ledger=ledger) as opened:
            assert opened.verify == expected
    before = path.stat()
    _flip(path, 2 * MIB + 5)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(UserError), open_verified(pack, verify="fast", ledger=ledger):
        pytest.fail("a change in the last MiB was not seen")
    _flip(path, 2 * MIB + 5)
    with open_verified(pack, verify="fast", ledger=ledger) as opened:
        assert opened.verify == "full", "a quarantined pack is checked in full"
    assert ledger.quarantined("fake", "1") == "", "and is free again when it passes"


def test_fast_check_hashes_both_ends_only(tmp_path: Path) -> None:
    """What the setting gives up: a change in the middle that keeps the times is not seen; `full` sees it."""
    pack, ledger = _write_pack(tmp_path), MemoryLedger()
    path = pack.folder / "model.gguf"
    with open_verified(pack, ledger=ledger):
        pass
    before = path.stat()
    _flip(path, MIB + MIB // 2)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with open_verified(pack, verify="fast", ledger=ledger) as opened:
        assert opened.verify == "fast"
    assert "damaged" in _refusal(pack, ledger)


def test_what_was_checked_is_what_is_loaded(tmp_path: Path) -> None:
    """A file put in the place of the checked one is not the one behind the path that is handed to the loader."""
    pack = _write_pack(tmp_path)
    with open_verified(pack, ledger=MemoryLedger()) as opened:
        other = tmp_path / "other"
        other.write_bytes(b"evil")
        other.replace(pack.folder / "model.gguf")
        assert codec.sha256(Path(opened.paths["model.gguf"]).read_bytes()) == pack.manifest.files[0].sha256


def test_progress_and_cancel(tmp_path: Path) -> None:
    pack, stop = _write_pack(tmp_path), threading.Event()
    heard: list[tuple[int, int]] = []

    def listen(done: int, total: int) -> None:
        heard.append((done, total))
        if done == 2 * MIB:
            stop.set()

    with pytest.raises(Cancelled), open_verified(pack, ledger=MemoryLedger(), on_bytes=listen, stop=stop):
        pytest.fail("the check went on")
    assert heard == [(MIB, 3 * MIB), (2 * MIB, 3 * MIB)]


def test_missing_and_foreign_packs(tmp_path: Path) -> None:
    for name in ("absent", "../etc", "", "a/b"):
        with pytest.raises(UserError, match="not installed"):
            find_pack(tmp_path, name)
    pack = _write_pack(tmp_path)
    (pack.folder / "model.gguf").unlink()
    assert [state.state for state in list_packs(tmp_path, MemoryLedger())] == ["missing"]
    with pytest.raises(UserError, match="lacks its file"), open_verified(pack, ledger=MemoryLedger()):
        pytest.fail("opened without its file")


@pytest.mark.parametrize("name", ["../model.gguf", "/etc/passwd", "a/b", ".hidden", ""])
def test_manifest_cannot_leave_its_folder(tmp_path: Path, name: str) -> None:
    pack = _write_pack(tmp_path)
    data = (pack.folder / "manifest.json").read_text(encoding="utf-8").replace('"model.gguf"', f'"{name}"')
    (pack.folder / "manifest.json").write_text(data, encoding="utf-8")
    with pytest.raises(SecurityError):
        find_pack(tmp_path, "fake")


def test_unreadable_manifest_is_listed_with_its_reason(tmp_path: Path) -> None:
    pack = _write_pack(tmp_path)
    (pack.folder / "manifest.json").write_text("{", encoding="utf-8")
    [state] = list_packs(tmp_path, MemoryLedger())
    assert (state.id, state.version, state.state) == ("fake", "1", "missing")
    assert "no readable manifest" in state.detail


def test_newest_version_is_found_by_number(tmp_path: Path) -> None:
    for version in ("2", "10", "9"):
        _write_pack(tmp_path, version=version, size=10)
    assert find_pack(tmp_path, "fake").manifest.version == "10"


def test_signature_is_reported_not_demanded(tmp_path: Path) -> None:
    assert check_signature(b"{}", None, ()) == "unsigned"
    with open_verified(_write_pack(tmp_path), ledger=MemoryLedger()) as opened:
        assert opened.signature == "unsigned"


def test_catalogue_knows_the_default_pack_by_its_hash() -> None:
    row = identify("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53")
    assert row is not None
    assert (row.id, row.licence.spdx, row.vision) == (PACK, "Apache-2.0", False)
    assert identify("0" * 64) is None
    assert len({row.id for row in catalogue()}) == len(catalogue())
