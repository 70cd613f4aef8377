"""WordPiece against the reference's numbers; the real embedder: known cosines, vectors of their text alone."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import packs
import pytest

from core import codec
from core.errors import Cancelled, UserError
from models.embed import STRIDE, OnnxEmbedder, WordPiece, open_embedder, windows
from models.packs import read_manifest

ROOT = Path(__file__).resolve().parents[2]
PACK = "all-MiniLM-L6-v2-int8"
# Sentences of our own with the numbers that the library `tokenizers` 0.22 gave for this vocabulary (it also agreed on
# 1,100 others, most from public texts).
GOLDEN = ROOT / "tests" / "data" / "wordpiece" / "sentences.json"


@pytest.fixture(scope="session")
def minilm(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packs that holds the embedder, laid out from the data folder."""
    folder = tmp_path_factory.mktemp("packs")
    packs.install(packs.MINILM, folder, given=[data / "embedder" / packs.MINILM.archives[0].path])
    return folder


@pytest.fixture(scope="module")
def embedder(minilm: Path) -> Iterator[OnnxEmbedder]:
    opened = open_embedder(PACK, packs=minilm)
    yield opened
    opened.close()


# ------------------------------------------------------------------------------------------------------- WordPiece

SMALL = ["[UNK]", "[CLS]", "[SEP]", "fe", "##ver", "##v", "##er", "fever", "-", "a", "##a", "\u9ad8", "o"]


def spelt(text: str) -> list[str]:
    return [SMALL[number] for number in WordPiece(SMALL).pieces(text)]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Fever", ["fever"]),
        ("fever-fevera", ["fever", "-", "fever", "##a"]),
        ("fevver", ["fe", "##v", "##ver"]),  # longest first: "##v" + "##ver", not "##v" + "##v"
        ("f\u00e9ver \u00d6", ["fever", "o"]),
        ("a\u9ad8a", ["a", "\u9ad8", "a"]),
        ("xfever a", ["[UNK]", "a"]),  # one unknown letter makes the whole word unknown
        ("a" * 101, ["[UNK]"]),
        ("a" * 100, ["a"] + ["##a"] * 99),
        (" \t\n\u200b", []),
        ("[SEP]", ["[UNK]"] * 3),  # a mark that a text spells is text
    ],
)
def test_pieces_by_hand(text: str, pieces: list[str]) -> None:
    assert spelt(text) == pieces
    assert WordPiece(SMALL).count(text) == len(pieces)


def test_a_vocabulary_without_marks_is_refused() -> None:
    with pytest.raises(UserError, match="lacks"):
        WordPiece(["a", "b", "[UNK]"])


@pytest.mark.data
def test_our_pieces_are_those_of_the_reference(minilm: Path) -> None:
    vocabulary = (minilm / packs.MINILM.folder / "vocab.txt").read_text("utf-8").split("\n")
    tokens = WordPiece(vocabulary)
    golden = json.loads(GOLDEN.read_text("utf-8"))
    assert len(golden) >= 50
    wrong = [text for text, numbers in golden if tokens.pieces(text) != numbers]
    assert wrong == []


def test_windows_overlap_and_reach_the_end() -> None:
    pieces = list(range(300))
    found = list(windows(pieces, 126))
    assert [window[0] for window in found] == [0, STRIDE, 2 * STRIDE]
    assert found[0] == pieces[:126] and found[-1][-1] == 299
    assert list(windows(pieces[:126], 126)) == [pieces[:126]]
    assert len(list(windows(pieces[:127], 126))) == 2
    assert list(windows([], 126)) == [[]]
    assert list(windows(pieces, 126, most=1)) == [pieces[:126]]


# ------------------------------------------------------------------------------------------------- the real model


@pytest.mark.data
def test_cosines_are_those_of_the_specification(embedder: OnnxEmbedder) -> None:
    first, second, third = (
        embedder.embed(text)
        for text in ("That is a happy person", "That is a very happy person", "Today is a sunny day")
    )
    assert float(first @ second) == pytest.approx(0.950, abs=0.01)
    assert float(first @ third) == pytest.approx(0.256, abs=0.01)
    assert (first.shape, first.dtype) == ((384,), np.float32)
    assert np.linalg.norm(first) == pytest.approx(1.0, abs=1e-5)
    assert embedder.info.model_sha256 == packs.MINILM.files[0].sha256


WORDS = ["fever", "chest", "pain", "potassium", "6.8", "mmol/L", "no", "rash", "oedema", "\u9ad8", "left", "retina"]


def texts(count: int) -> list[str]:
    rng = random.Random(11)
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, 25))) for _ in range(count)]


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, "packaging")
from models.embed import open_embedder
from tests.models.test_embed import PACK, texts
embedder = open_embedder(PACK, packs=Path(sys.argv[1]))
for text in reversed(texts(100)):
    print(embedder.embed(text).tobytes().hex())
"""


@pytest.mark.data
def test_a_vector_depends_on_its_text_alone(embedder: OnnxEmbedder, minilm: Path) -> None:
    """Alone, in another order, and after a restart: bit for bit. (500 of 500 were checked so; here 100.)"""
    wanted = texts(100)
    first = {text: embedder.embed(text).tobytes() for text in wanted}
    embedder.embed(" ".join(WORDS) * 40)
    shuffled = random.Random(3).sample(wanted, len(wanted))
    assert all(embedder.embed(text).tobytes() == first[text] for text in shuffled)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(minilm)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == [first[text].hex() for text in reversed(wanted)]


@pytest.mark.data
def test_a_long_text_has_windows_of_its_own(embedder: OnnxEmbedder) -> None:
    long = " ".join(f"fever {n}" for n in range(150))
    assert embedder.count(long) == 300
    vectors = embedder.embed_windows(long)
    assert len(vectors) == 3
    assert np.array_equal(vectors[0], embedder.embed(long))
    assert not np.array_equal(vectors[0], vectors[1])
    assert len(embedder.embed_windows(long, most=1)) == 1


@pytest.mark.data
@pytest.mark.parametrize("text", ["", "\x00", "\ud800", "\u202e", "\U0001f9ec" * 50, "a" * 100_000])
def test_any_string_has_a_vector(embedder: OnnxEmbedder, text: str) -> None:
    assert np.linalg.norm(embedder.embed(text)) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.data
def test_a_damaged_pack_is_refused(minilm: Path, tmp_path: Path) -> None:
    place = tmp_path / packs.MINILM.folder
    place.mkdir(parents=True)
    for file in (minilm / packs.MINILM.folder).iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    data = bytearray((place / "model_int8.onnx").read_bytes())
    data[len(data) // 2] ^= 1
    (place / "model_int8.onnx").write_bytes(data)
    with pytest.raises(UserError, match="damaged"):
        open_embedder(PACK, packs=tmp_path)


@pytest.mark.data
def test_opening_can_be_stopped(minilm: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        open_embedder(PACK, packs=minilm, stop=stop)


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not installed"):
        open_embedder(PACK, packs=tmp_path)


@pytest.mark.data
def test_a_pack_of_another_role_is_no_embedder(minilm: Path, tmp_path: Path) -> None:
    place = tmp_path / PACK / "1"
    place.mkdir(parents=True)
    manifest = msgspec.structs.replace(read_manifest(minilm / packs.MINILM.folder), role="segment")
    (place / "manifest.json").write_bytes(codec.encode(manifest))
    with pytest.raises(UserError, match="not an embedder"):
        open_embedder(PACK, packs=tmp_path)
