"""Files of the site's own made into packs: found in the catalogue by hash, else unlisted and said to be so."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from core import codec
from core.domain.pack import EmbedSpec, PackManifest
from core.errors import Cancelled, UserError
from models.catalogue import catalogue, identify, resembling
from models.gguf import read_gguf
from models.importing import import_pack
from models.packs import MemoryLedger, parse_manifest
from models.sealing import SealChoice, completed, inspect, lacking, seal
from tests.helpers.ggufs import head, model, tensor

GEMMA_SHA = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
SAID = SealChoice(family="llama3", template="chatml", licence="MIT")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "My Model (v2).gguf"
    path.write_bytes(model())
    return path


def sealed(path: Path, choice: SealChoice) -> PackManifest:
    found = inspect([path])
    return parse_manifest(seal(completed(choice, found), found).manifest, "here")


def test_file_of_nobody_is_unlisted_and_gated(file: Path) -> None:
    made = sealed(file, SAID)
    assert (made.id, made.role, made.unlisted) == ("my-model-v2", "text", True)
    assert made.licence.accept, "what nobody has looked at is accepted by the person"
    assert made.arch is not None and (made.arch.n_layer, made.arch.n_kv_head) == (2, 2)
    [entry] = made.files
    assert (entry.path, entry.sha256) == ("model.gguf", codec.sha256(file.read_bytes()))


def test_known_hash_gives_everything(file: Path) -> None:
    row = msgspec.structs.replace(catalogue()[0], sha256=(codec.sha256(file.read_bytes()),))
    found = inspect([file], rows=(row,))
    made = parse_manifest(seal(completed(SealChoice(), found), found).manifest, "here")
    assert (made.id, made.family, made.template, made.unlisted) == (row.id, "smollm2", "chatml", False)
    assert (made.licence.spdx, made.licence.accept) == ("Apache-2.0", False)


def test_what_is_not_known_must_be_said(file: Path) -> None:
    found = inspect([file])
    assert lacking(completed(SealChoice(), found)) == ("licence", "family", "template")
    with pytest.raises(UserError, match="--licence, --family, --template"):
        seal(completed(SealChoice(), found), found)


def test_resembling_row_gives_family_and_template_never_the_licence(tmp_path: Path) -> None:
    """8.19 billion numbers of qwen3: the file is as large as it says (a sparse one)."""
    path = tmp_path / "other.gguf"
    pairs = {"general.architecture": "qwen3", "qwen3.block_count": 36, "qwen3.embedding_length": 4096,
             "qwen3.attention.head_count": 32, "qwen3.attention.head_count_kv": 8, "qwen3.context_length": 40960,
             "qwen3.attention.key_length": 128}  # fmt: skip
    path.write_bytes(head(pairs, tensors=(tensor("t", (1_000_000, 8190), kind=24),)))
    with path.open("r+b") as stream:
        stream.truncate(8_190_000_000 + 1024)
    facts = read_gguf(path)
    assert facts.params == 8_190_000_000
    row = resembling(facts.architecture, facts.params / 1e9)
    assert row is not None and row.family == "qwen3"
    assert resembling("qwen3", 4.0) is None


def test_template_that_this_version_lacks_is_said(file: Path) -> None:
    with pytest.raises(UserError, match="no prompt template mistral. It has: chatml"):
        sealed(file, msgspec.structs.replace(SAID, template="mistral"))


def test_projector_is_named_and_makes_a_vision_pack(file: Path, tmp_path: Path) -> None:
    projector = tmp_path / "clip.gguf"
    projector.write_bytes(head({"general.architecture": "clip"}, tensors=(tensor("v", (4,)),), data=16))
    found = inspect([projector, file])
    made = parse_manifest(seal(completed(SAID, found), found).manifest, "here")
    assert {entry.path for entry in made.files} == {"model.gguf", "mmproj.gguf"}
    assert (made.role, made.capabilities) == ("vision", ("text", "vision"))
    with pytest.raises(UserError, match="picture side of a vision model"):
        sealed(projector, SAID)
    assert sealed(projector, msgspec.structs.replace(SAID, uses="smollm2-135m-instruct-q4_1", id="p")).uses
    with pytest.raises(UserError, match="two of this kind"):
        inspect([file, file])


def test_embedder_says_its_numbers(tmp_path: Path) -> None:
    graph, words = tmp_path / "model.onnx", tmp_path / "vocab.txt"
    graph.write_bytes(b"\x08\x09graph")
    words.write_text("[PAD]\n")
    found = inspect([graph, words])
    choice = completed(SealChoice(role="embed", licence="Apache-2.0"), found)
    assert lacking(choice) == ("dim", "max-tokens")
    whole = msgspec.structs.replace(choice, embed=EmbedSpec(dim=384, max_tokens=128))
    made = parse_manifest(seal(whole, found).manifest, "here")
    assert made.embed == EmbedSpec(dim=384, max_tokens=128)
    assert made.capabilities == ("embed",)
    graph.write_bytes(b"<html>")
    with pytest.raises(UserError, match="this is a web page"):
        inspect([graph])


def test_manifest_is_canonical_and_the_pack_is_imported(file: Path, tmp_path: Path) -> None:
    """Sorted keys, one line end (trust.md section 7); the files stay where they were."""
    found = inspect([file])
    terms = tmp_path / "TERMS.txt"
    terms.write_text("Be kind.")
    source = seal(completed(msgspec.structs.replace(SAID, licence_file=terms), found), found)
    plain = msgspec.json.decode(source.manifest)
    assert source.manifest == msgspec.json.encode(plain, order="sorted") + b"\n"
    receipt = import_pack(source, tmp_path / "packs", ledger=MemoryLedger(), accept=lambda manifest, text: True)
    assert {path.name for path in receipt.pack.folder.iterdir()} == {"model.gguf", "manifest.json", "TERMS.txt"}
    assert file.is_file()


def test_hashing_can_be_watched_and_stopped(file: Path) -> None:
    heard: list[tuple[int, int]] = []
    inspect([file], on_bytes=lambda done, total: heard.append((done, total)))
    assert heard == [(file.stat().st_size,) * 2]
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        inspect([file], stop=stop)


def test_catalogue_is_the_table_and_says_what_was_not_checked() -> None:
    """Section 9 of runtime.md: every model of the table; hashes of the two that are public packages."""
    names = {row.name for row in catalogue()}
    assert {"SmolLM2-135M-Instruct", "Gemma 3 270M base", "MedGemma 1.5 4B", "MedGemma 27B", "II-Medical-8B-1706",
            "HuatuoGPT-o1 7B", "HuatuoGPT-o1 8B", "Qwen3-VL-8B-Instruct", "Lingshu-7B", "Lingshu-32B", "Lingshu-I-8B",
            "Qwen3-32B", "Qwen3-30B-A3B", "Gemma 4 12B", "Gemma 4 26B-A4B"} <= names  # fmt: skip
    gemma = identify(GEMMA_SHA)
    assert gemma is not None and gemma.licence.accept and not gemma.vision
    gated = {row.name for row in catalogue() if row.licence.accept}
    assert {"MedGemma 1.5 4B", "MedGemma 27B", "Gemma 3 270M base"} <= gated
    assert {row.family for row in catalogue() if row.vision} == {"gemma3", "qwen3", "qwen2"}
    assert all((row.status == "reviewed") == bool(row.sha256) for row in catalogue())
