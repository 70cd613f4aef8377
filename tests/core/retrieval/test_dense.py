"""Vectors beside the store: built once, resumed, mended, searched exactly; and what is not theirs is not believed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled, StoreError
from core.retrieval.dense import VectorIndex, text_of
from core.retrieval.index import PassageIndex
from core.retrieval.query import ANY, Ranked
from core.retrieval.vectors import Rows, VectorFile
from core.store.database import ProfileLock
from core.store.knowledge import KnowledgeStore
from models.scripted import HashEmbedder
from tests.helpers.shelf import doc, open_store, pack, random_docs


class Place:
    """A store with its index and its vectors in one folder."""

    def __init__(self, folder: Path) -> None:
        self.store: KnowledgeStore = open_store(folder)
        self.index = PassageIndex(folder / "index", self.store)
        self.folder = folder / "vectors"
        self.embedder = HashEmbedder()

    def vectors(self, embedder: HashEmbedder | None = None, windows: str = "all") -> VectorIndex:
        model = (embedder or self.embedder).info
        return VectorIndex(self.folder, self.store, self.index, model=model, windows=windows)  # type: ignore[arg-type]

    def build(self) -> int:
        return self.vectors().build(self.embedder)

    def found(self, text: str, k: int = 5) -> list[str]:
        ranked = self.vectors().search(self.embedder.embed(text), ("lib",), k=k)
        return [passage.key for passage in self.store.passages([entry.number for entry in ranked])]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    opened = Place(tmp_path)
    yield opened
    opened.store.close()


TEXTS = ("Fever and cough.", "Swollen painful calf.", "Red eye with haloes.")


def fill(place: Place, texts: tuple[str, ...] = TEXTS) -> None:
    place.store.put_pack(pack(), [doc(f"d{n}", text) for n, text in enumerate(texts)], actor="me")


def test_vectors_are_made_once_and_found(place: Place) -> None:
    fill(place)
    assert [(gap.pack, gap.missing, gap.total) for gap in place.vectors().gaps()] == [("lib", 3, 3)]
    assert place.vectors().covered(("lib",)) == ()
    assert place.build() == 3
    assert place.vectors().gaps() == ()
    assert place.vectors().covered(("lib",)) == ("lib",)
    assert place.found("swollen calf")[0] == "lib:d1#1"
    assert place.build() == 0
    assert sorted(path.name for path in place.folder.glob("vectors*")) == [
        "vectors-lib.f16", "vectors-lib.ids", "vectors-lib.json",
    ]  # fmt: skip


def test_the_search_is_exact_and_ties_go_by_number(place: Place) -> None:
    """Against a plain float32 product over all passages."""
    place.store.put_pack(pack(), [*random_docs(1, 60), doc("same", "Fever.", title="t")], actor="me")
    place.store.put_pack(pack("twin"), [doc("same", "Fever.", title="t")], actor="me")
    place.build()
    passages = place.store.passages(place.index.numbers(ANY).tolist())
    rows = [np.max([v @ place.embedder.embed("fever potassium") for v in _windows(place, p)]) for p in passages]
    expected = sorted(zip(np.round(rows, 3), [p.cid for p in passages], strict=True), key=lambda e: (-e[0], e[1]))
    found = place.vectors().search(place.embedder.embed("fever potassium"), ("lib", "twin"), k=500)
    assert len(found) == len(passages)
    assert [round(entry.score, 2) for entry in found[:20]] == pytest.approx([s for s, _ in expected[:20]], abs=0.01)
    assert [(-entry.score, entry.number) for entry in found] == sorted((-e.score, e.number) for e in found)
    twins = {passage.cid for passage in passages if passage.text == "Fever."}
    assert len({entry.score for entry in found if entry.number in twins}) == 1
    assert len(twins) == 2


def _windows(place: Place, passage: object) -> list[np.ndarray]:
    return [v.astype(np.float16).astype(np.float32) for v in place.embedder.embed_windows(text_of(passage))]  # type: ignore[arg-type]


def test_a_passage_counts_by_its_best_window() -> None:
    ids = np.array([4, 4, 9], np.uint32)
    rows = Rows(ids, np.array([[1, 0], [0, 1], [0.6, 0.8]], np.float16))
    assert rows.cids.tolist() == [4, 9]
    assert rows.scores(np.array([0, 1], np.float32), 2) == pytest.approx([1.0, 0.8], abs=1e-3)


def test_half_floats_are_widened_exactly() -> None:
    """Every finite float16 against NumPy's own conversion."""
    halves = np.arange(1 << 16, dtype=np.uint16)
    halves = halves[np.isfinite(halves.view(np.float16))]
    padded = np.zeros((len(halves), 2), np.uint16)
    padded[:, 0] = halves
    rows = Rows(np.arange(len(halves), dtype=np.uint32), padded.view(np.float16))
    found = rows.scores(np.array([1, 0], np.float32), 1000)
    assert np.array_equal(found, halves.view(np.float16).astype(np.float32))
    for _ in range(2):
        assert np.array_equal(rows.scores(np.array([1, 0], np.float32), 1000, keep=True), found)


def test_a_long_passage_has_a_vector_for_each_window(place: Place) -> None:
    place.embedder = HashEmbedder(window=5)
    fill(place, ("One two three four five. Calf calf calf calf calf.",))
    place.build()
    header = VectorFile(place.folder, "lib").header()
    assert header is not None and header.n == 3  # "d0. Part 0. One" .. : twelve words by five
    first = place.vectors(windows="first")
    assert first.covered(("lib",)) == ()  # made in another way
    assert first.build(place.embedder) == 1
    header = VectorFile(place.folder, "lib").header()
    assert header is not None and header.n == 1


def test_a_changed_document_costs_only_itself(place: Place) -> None:
    fill(place)
    place.build()
    fill(place, ("Fever and cough.", "Swollen painful arm.", "Red eye with haloes.", "Rash."))
    assert [gap.missing for gap in place.vectors().gaps()] == [2]
    place.embedder.calls = 0
    assert place.build() == 2
    assert place.embedder.calls == 2
    assert place.found("swollen arm")[0] == "lib:d1#1"
    header = VectorFile(place.folder, "lib").header()
    assert header is not None and header.n == 4  # the row of the passage that is gone went with it


def test_a_stop_keeps_what_was_made(place: Place) -> None:
    fill(place, tuple(f"Fever number {n}." for n in range(1100)))
    stop = threading.Event()
    heard: list[tuple[int, int]] = []

    def told(done: int, total: int) -> None:
        heard.append((done, total))
        if done >= 700:
            stop.set()

    with pytest.raises(Cancelled):
        place.vectors().build(place.embedder, on_texts=told, stop=stop)
    assert heard == [(done, 1100) for done in range(1, 701)]
    assert [gap.missing for gap in place.vectors().gaps()] == [400]
    assert place.vectors().covered(("lib",)) == ()  # a part would favour its own passages
    assert place.build() == 400
    assert place.vectors().covered(("lib",)) == ("lib",)


def test_another_model_makes_its_own(place: Place) -> None:
    fill(place)
    place.build()
    other = HashEmbedder("other")
    assert place.vectors(other).covered(("lib",)) == ()
    assert place.vectors(other).build(other) == 3
    assert place.vectors().covered(("lib",)) == ()


DAMAGES = {
    "vectors cut": lambda folder: _cut(folder / "vectors-lib.f16"),
    "numbers cut": lambda folder: _cut(folder / "vectors-lib.ids"),
    "a bit of a vector": lambda folder: _flip(folder / "vectors-lib.f16"),
    "a bit of a number": lambda folder: _flip(folder / "vectors-lib.ids"),
    "header cut": lambda folder: _cut(folder / "vectors-lib.json"),
    "header of nonsense": lambda folder: (folder / "vectors-lib.json").write_bytes(b"\xff{"),
    "vectors gone": lambda folder: (folder / "vectors-lib.f16").unlink(),
    "numbers gone": lambda folder: (folder / "vectors-lib.ids").unlink(),
    "all empty": lambda folder: [path.write_bytes(b"") for path in folder.glob("vectors*")],
    "all gone": lambda folder: [path.unlink() for path in folder.glob("vectors*")],
}


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_damage_is_noticed_and_mended(place: Place, damage: str) -> None:
    fill(place)
    place.build()
    before = place.found("red eye")
    DAMAGES[damage](place.folder)
    assert place.vectors().covered(("lib",)) == ()
    assert place.build() == 3
    assert place.found("red eye") == before


def test_damage_costs_only_what_lies_behind_it(place: Place) -> None:
    fill(place, tuple(f"Fever number {n}." for n in range(600)))
    place.build()
    _cut(place.folder / "vectors-lib.f16")
    assert [gap.missing for gap in place.vectors().gaps()] == [100]


def test_vectors_of_another_database_are_not_believed(place: Place, tmp_path: Path) -> None:
    fill(place)
    place.build()
    (tmp_path / "b").mkdir()
    other = Place(tmp_path / "b")
    fill(other, ("Rash.", "Gout.", "Itch."))
    other.folder = place.folder  # the same numbers, other texts
    assert other.vectors().covered(("lib",)) == ()
    assert other.build() == 3
    other.store.close()


def test_only_one_program_writes(place: Place) -> None:
    fill(place)
    lock = ProfileLock(place.folder)
    place.folder.mkdir()
    lock.acquire()
    with pytest.raises(StoreError):
        place.build()
    lock.release()
    assert place.build() == 3


def test_a_reader_sees_what_another_made(place: Place) -> None:
    fill(place)
    reader = place.vectors()
    assert reader.covered(("lib",)) == ()
    place.build()
    assert reader.covered(("lib",)) == ("lib",)


def test_a_strange_pack_name_is_no_path(place: Place) -> None:
    file = VectorFile(place.folder, "../../etc")
    assert file.mark() == ""
    assert all(path.parent == place.folder for path in (file._json, file._f16, file._ids))


def test_only_active_packs_and_given_numbers(place: Place) -> None:
    fill(place)
    place.store.put_pack(pack("old", state="withdrawn"), [doc("x", "Fever.")], actor="me")
    assert place.build() == 3
    vectors = place.vectors()
    among = place.index.numbers(ANY)[1:2]
    found = vectors.search(place.embedder.embed("fever"), ("lib",), k=5, among=among)
    assert [entry.number for entry in found] == among.tolist()
    assert vectors.search(place.embedder.embed("fever"), (), k=5) == ()
    assert vectors.search(place.embedder.embed("fever"), ("lib",), k=0) == ()
    assert isinstance(found[0], Ranked)
