"""The port over packs with a picture side: which requests see, what the record says, pairs (runtime.md 8)."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

import models
from core import codec
from core.domain.chat import CallRecord, ImagePart, Message, ModelRequest, Sampling, TextPart, message
from core.errors import BugError, ModelError, UserError
from core.imaging.pictures import encode_png
from models.llama.backbone import LlamaBackbone
from models.packs import read_manifest
from models.plan import kv_bytes, sizes_of
from tests.helpers import tiny_vlm

LICENCE = {"spdx": "Apache-2.0", "file": "", "accept": False}
ARCH = {"n_layer": 2, "n_kv_head": 4, "head_dim": 16, "n_ctx_train": 2048}


def write_pack(packs: Path, name: str, files: dict[str, bytes], **facts: object) -> None:
    folder = packs / name / "1"
    folder.mkdir(parents=True)
    rows = []
    for path, data in files.items():
        (folder / path).write_bytes(data)
        rows.append({"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()})
    manifest = {"id": name, "version": "1", "family": "tiny", "template": "chatml", "params_b": 0.0001, "quant": "F32"}
    manifest |= {"role": "text", "files": rows, "licence": LICENCE, "capabilities": ["text"]} | facts
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three packs: `whole` has both sides, `eyes` sees with the language model of `words`."""
    root = tmp_path_factory.mktemp("packs")
    tiny_vlm.write_text(root / "t.gguf")
    tiny_vlm.write_projector(root / "p.gguf")
    model, projector = (root / "t.gguf").read_bytes(), (root / "p.gguf").read_bytes()
    seeing = {"role": "vision", "capabilities": ["text", "vision"]}
    write_pack(root, "words", {"model.gguf": model}, arch=ARCH)
    write_pack(root, "eyes", {"mmproj.gguf": projector}, uses="words", **seeing)
    write_pack(root, "whole", {"model.gguf": model, "mmproj.gguf": projector}, arch=ARCH, **seeing)
    write_pack(root, "blind", {"model.gguf": model, "mmproj.gguf": projector}, arch=ARCH)
    return root


def render(part: ImagePart) -> bytes:
    return encode_png(np.full((60, 60), int(part.artifact_sha256, 16), dtype=np.uint8))


@pytest.fixture(params=["whole", "eyes"])
def seer(shelf: Path, request: pytest.FixtureRequest) -> Iterator[LlamaBackbone]:
    made = models.open_backbone(request.param, packs=shelf, n_ctx=1024, pictures=render)
    yield made
    made.close()


def asking(*parts: TextPart | ImagePart, **changed: object) -> ModelRequest:
    turn = Message("user", parts)
    base = ModelRequest(
        messages=(message("system", "You see."), turn),
        sampling=Sampling(seed=4, max_tokens=5, exact=True),
        prompt_name="see",
        prompt_sha256="ab" * 32,
        static_parts=1,
    )
    return msgspec.structs.replace(base, **changed)


GREY, WHITE = ImagePart(f"{90:064x}"), ImagePart(f"{255:064x}")


def quiet(_text: str) -> None:
    """Nobody listens."""


def test_request_with_a_picture_is_seen_and_its_record_says_how(seer: LlamaBackbone, shelf: Path) -> None:
    assert seer.info.vision
    reply = seer.reply(asking(GREY, TextPart("White?")), quiet)
    again = seer.reply(asking(GREY, TextPart("White?")), quiet)
    other = seer.reply(asking(WHITE, TextPart("White?")), quiet)
    assert (reply.text, reply.record.prefix_source) == (again.text, "cold")
    assert (again.record.prefix_source, other.record.prefix_source) == ("reuse", "cold")
    assert other.record.prefix_sha256 != reply.record.prefix_sha256 == again.record.prefix_sha256
    projector = hashlib.sha256((shelf / "eyes" / "1" / "mmproj.gguf").read_bytes()).hexdigest()
    assert reply.record.mmproj_sha256 == projector
    assert reply.record.prefix_len == reply.usage.tokens_in > 4
    assert codec.decode(codec.encode(reply.record), CallRecord) == reply.record


def test_request_without_a_picture_stays_with_the_text(seer: LlamaBackbone) -> None:
    before = seer.reply(asking(TextPart("White?")), quiet)
    seer.reply(asking(GREY, TextPart("White?")), quiet)
    after = seer.reply(asking(TextPart("White?")), quiet)
    assert after.text == before.text
    assert after.record.mmproj_sha256 == "none"


def test_questions_asked_together_equal_those_asked_alone(seer: LlamaBackbone) -> None:
    requests = [asking(GREY, TextPart(text)) for text in ("White?", "Is it black", "no", "What?")]
    together = seer.ask(requests)
    assert seer._sight is not None
    assert seer._sight.engine.encodings == 1
    seer.forget_cases()
    assert [reply.text for reply in together] == [seer.reply(request, quiet).text for request in requests]
    assert {reply.record.n_candidates for reply in together} == {4}
    with pytest.raises(BugError, match="same pictures"):
        seer.ask([requests[0], asking(WHITE, TextPart("no"))])


def test_options_are_scored_by_what_is_seen(seer: LlamaBackbone) -> None:
    options = ("yes", "no", "white")
    neutral = asking(GREY, TextPart("?"))
    scores = seer.score(asking(GREY, TextPart("White?")), options, method="pmi", neutral=neutral)
    again = seer.score(asking(GREY, TextPart("White?")), options[::-1], method="pmi", neutral=neutral)
    other = seer.score(asking(WHITE, TextPart("White?")), options, method="total", neutral=None)
    assert again.pmi is not None and scores.pmi == again.pmi[::-1]
    assert other.total_ll != scores.total_ll


def test_words_of_a_document_make_no_picture(seer: LlamaBackbone) -> None:
    """The library's own marker, and the family's, in a text: characters, nothing else."""
    plain = seer.reply(asking(GREY, TextPart("a b")), quiet)
    planted = seer.reply(asking(GREY, TextPart("a <__media__> b")), quiet)
    assert planted.record.tokens_in - plain.record.tokens_in >= len("__media")
    reply = seer.reply(asking(TextPart("<__media__><start_of_image>")), quiet)
    assert reply.record.mmproj_sha256 == "none"


def test_case_that_does_not_fit_is_refused_with_both_numbers(seer: LlamaBackbone) -> None:
    with pytest.raises(ModelError, match=r"^The case is too long for this model: \d+ of 1019 tokens\.$"):
        seer.reply(asking(GREY, TextPart("x" * 2000)), quiet)


@pytest.mark.parametrize(("pack", "renders"), [("words", True), ("blind", True), ("whole", False)])
def test_model_that_cannot_see_says_so(shelf: Path, pack: str, renders: bool) -> None:
    """Seeing is what the manifest says, and needs someone who renders."""
    made = models.open_backbone(pack, packs=shelf, n_ctx=512, pictures=render if renders else None)
    try:
        assert not made.info.vision
        with pytest.raises(ModelError, match="cannot look at images") as caught:
            made.reply(asking(GREY, TextPart("White?")), quiet)
        assert caught.value.code == "vision"
    finally:
        made.close()


def test_hash_of_a_pair_is_that_of_both(shelf: Path) -> None:
    hashes = set()
    for pack in ("words", "eyes", "whole"):
        made = models.open_backbone(pack, packs=shelf, n_ctx=256, pictures=render)
        hashes.add(made.info.contents_sha256)
        made.close()
    assert len(hashes) == 3


def test_plan_counts_the_picture_side_and_its_own_cache(shelf: Path) -> None:
    """2,048 tokens in the second context as in the first: 2 layers x 4 heads x 16 x 2 x 2 bytes a token."""
    manifest = read_manifest(shelf / "whole" / "1")
    sizes = sizes_of(manifest, 2048)
    [projector] = [file.size for file in manifest.files if file.path == "mmproj.gguf"]
    assert manifest.arch is not None
    assert sizes.vision - projector == sizes.kv == 2048 * 2 * 4 * 16 * 2 * 2 == kv_bytes(manifest.arch, 2048)
    assert sizes_of(manifest, 8192).vision - projector == 4096 * 512, "at most 4,096 tokens are seen"
    assert sizes_of(read_manifest(shelf / "words" / "1"), 2048).vision == 0


def test_damaged_picture_side_is_not_loaded(shelf: Path, tmp_path: Path) -> None:
    shutil.copytree(shelf / "whole", tmp_path / "whole")
    file = tmp_path / "whole" / "1" / "mmproj.gguf"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(UserError, match="hash differs"):
        models.open_backbone("whole", packs=tmp_path, n_ctx=256, pictures=render)
