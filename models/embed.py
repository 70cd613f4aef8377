"""Texts to vectors: our own WordPiece and a BERT encoder in ONNX Runtime (knowledge.md section 5, runtime.md 11).

One unpadded text a call: the int8 graph takes its scale from the whole batch, so only then does a vector depend on its
own text alone. Counting pieces needs the vocabulary, no session. Must not know passages, indexes or cases.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from core import paths
from core.domain.pack import EmbedderInfo, EmbedSpec
from core.domain.ports import Embedder
from core.errors import ModelError, UserError
from models import device as machine
from models.onnx import OnnxSession, ProviderPlan, open_session
from models.packs import InstalledPack, MemoryLedger, OnBytes, PackLedger, Verify, find_pack, open_verified

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

VOCABULARY = "vocab.txt"
MARKS = 2  # [CLS] and [SEP]
STRIDE = 110  # pieces from one window to the next
MOST_CHARACTERS = 100  # of a word; a longer one is unknown
_CACHED_WORDS = 100_000
_CJK = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    """BERT's uncased tokenisation: cleaned, accents stripped, lower case, punctuation apart, greedy longest match.

    Text that spells a mark ("[SEP]") is text here, never the mark.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        missing = [mark for mark in ("[UNK]", "[CLS]", "[SEP]") if mark not in self._ids]
        if missing:
            raise UserError(f"The vocabulary lacks {', '.join(missing)}.", code="pack_vocabulary")
        self.unknown, self.first, self.last = (self._ids[mark] for mark in ("[UNK]", "[CLS]", "[SEP]"))
        self._known: dict[str, tuple[int, ...]] = {}

    def pieces(self, text: str) -> list[int]:
        """The numbers of a text's pieces, without marks."""
        found: list[int] = []
        for word in _words(text):
            numbers = self._known.get(word)
            if numbers is None:
                numbers = self._split(word)
                if len(self._known) < _CACHED_WORDS:
                    self._known[word] = numbers
            found += numbers
        return found

    def count(self, text: str) -> int:
        """How many pieces a text has, without marks."""
        return len(self.pieces(text))

    def _split(self, word: str) -> tuple[int, ...]:
        if len(word) > MOST_CHARACTERS:
            return (self.unknown,)
        numbers: list[int] = []
        start = 0
        while start < len(word):
            number, start = self._longest(word, start)
            if number is None:
                return (self.unknown,)
            numbers.append(number)
        return tuple(numbers)

    def _longest(self, word: str, start: int) -> tuple[int | None, int]:
        """The longest piece that begins at `start`, and where it ends."""
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = self._ids.get(prefix + word[start:end])
            if number is not None:
                return number, end
        return None, len(word)


def _words(text: str) -> Iterator[str]:
    """Runs of letters, single marks and single CJK characters of the normalised text."""
    if text.isascii():
        plain = "".join(map(_ASCII.__getitem__, map(ord, text)))
    else:
        cleaned = "".join(map(_clean, text))
        stripped = "".join(c for c in unicodedata.normalize("NFD", cleaned) if unicodedata.category(c) != "Mn")
        # By the character: a capital sigma at a word's end must not become a final sigma.
        plain = "".join(map(_apart, (low for c in stripped for low in c.lower())))
    return iter(plain.split())


def _clean(character: str) -> str:
    """Blanks as " ", controls and what is no character away, CJK characters apart."""
    if character in "\t\n\r":
        return " "
    if character == "\ufffd" or unicodedata.category(character).startswith("C"):
        return ""
    if character.isspace():
        return " "
    if any(first <= ord(character) <= last for first, last in _CJK):
        return f" {character} "
    return character


def _apart(character: str) -> str:
    """A mark of punctuation between blanks."""
    marks = not character.isalnum() and (
        "!" <= character <= "/" or ":" <= character <= "@" or "[" <= character <= "`" or "{" <= character <= "~"
        or unicodedata.category(character).startswith("P")
    )  # fmt: skip
    return f" {character} " if marks else character


_ASCII = [_apart(low) if (low := _clean(chr(code)).lower()) else "" for code in range(128)]


class OnnxEmbedder(Embedder):
    """Implements the port `Embedder` over a pack of role "embed". Use it in one thread."""

    def __init__(self, session: OnnxSession, tokens: WordPiece, info: EmbedderInfo, spec: EmbedSpec) -> None:
        self._session = session
        self._tokens = tokens
        self._info = info
        self._spec = spec

    @property
    def info(self) -> EmbedderInfo:
        return self._info

    def count(self, text: str) -> int:
        """Pieces of a text, without marks."""
        return self._tokens.count(text)

    def embed(self, text: str) -> NDArray[np.float32]:
        """The vector of a text's first window: float32[dim], unit length."""
        return self.embed_windows(text, most=1)[0]

    def embed_windows(self, text: str, *, most: int = 0) -> tuple[NDArray[np.float32], ...]:
        """A vector for each window of `max_tokens` - 2 pieces, 110 apart; at most `most` of them (0 = all)."""
        pieces = self._tokens.pieces(text)
        return tuple(self._vector(window) for window in windows(pieces, self._spec.max_tokens - MARKS, most=most))

    def close(self) -> None:
        self._session.close()

    def _vector(self, pieces: Sequence[int]) -> NDArray[np.float32]:
        import numpy as np

        numbers = np.array([[self._tokens.first, *pieces, self._tokens.last]], dtype=np.int64)
        given = {"input_ids": numbers, "attention_mask": np.ones_like(numbers), "token_type_ids": numbers * 0}
        (found,) = self._session.run({name: given[name] for name in self._spec.inputs}, (self._spec.output,))
        vector: NDArray[np.float32] = found[0].astype(np.float32)
        if vector.shape != (self._spec.dim,) or not np.isfinite(vector).all():
            raise ModelError(f"The embedder {self._info.pack_id} gave no usable vector.", code="embed_vector")
        return vector if self._spec.normalised else vector / max(float(np.linalg.norm(vector)), 1e-12)


def windows(pieces: Sequence[int], size: int, *, most: int = 0) -> Iterator[Sequence[int]]:
    """Windows of `size` pieces, each beginning STRIDE after the one before, the last reaching the end."""
    start = count = 0
    while True:
        yield pieces[start : start + size]
        count += 1
        if start + size >= len(pieces) or count == most:
            return
        start += min(STRIDE, size)


def open_embedder(
    pack_id: str,
    *,
    stop: threading.Event | None = None,
    on_progress: OnBytes | None = None,
    verify: Verify = "full",
    ledger: PackLedger | None = None,
    packs: Path | None = None,
) -> OnnxEmbedder:
    """Check and load an embedder; arguments as of `models.open_backbone`.

    Raises:
        UserError: not installed, damaged, or not an embedder.
        ModelError: the graph cannot be loaded.
        Cancelled: `stop` was set during the check.
    """
    pack = find_pack(packs or paths.packs_folder(), pack_id)
    spec, graph = _spec(pack)
    plan = ProviderPlan(threads=machine.probe_device().threads)
    with open_verified(pack, verify=verify, ledger=ledger or MemoryLedger(), on_bytes=on_progress, stop=stop) as opened:
        tokens = WordPiece(_lines(Path(opened.paths[VOCABULARY])))
        session = open_session(opened, graph, plan)
    lacking = {*spec.inputs} - {*session.inputs} | {spec.output} - {*session.outputs}
    if lacking or not {*spec.inputs} <= {"input_ids", "attention_mask", "token_type_ids"}:
        names = ", ".join(sorted(lacking or spec.inputs))
        raise UserError(f"The model pack {pack_id}: its graph and its manifest disagree on {names}.", code="pack_graph")
    return OnnxEmbedder(session, tokens, _info(pack, spec, graph), spec)


def installed_embedder(pack_id: str, *, packs: Path | None = None) -> EmbedderInfo:
    """What an embedder's manifest says of it; nothing is checked or loaded.

    Raises:
        UserError: not installed, or not an embedder.
    """
    pack = find_pack(packs or paths.packs_folder(), pack_id)
    return _info(pack, *_spec(pack))


def _spec(pack: InstalledPack) -> tuple[EmbedSpec, str]:
    """What the manifest says of the embedder, and the name of its graph."""
    manifest = pack.manifest
    names = {file.path for file in manifest.files}
    graphs = sorted(name for name in names if name.endswith(".onnx"))
    if manifest.role != "embed" or manifest.embed is None or len(graphs) != 1 or VOCABULARY not in names:
        raise UserError(f"The model pack {manifest.id} is not an embedder.", code="pack_role")
    return manifest.embed, graphs[0]


def _info(pack: InstalledPack, spec: EmbedSpec, graph: str) -> EmbedderInfo:
    sha256 = next(file.sha256 for file in pack.manifest.files if file.path == graph)
    return EmbedderInfo(pack_id=pack.manifest.id, model_sha256=sha256, dim=spec.dim, max_tokens=spec.max_tokens)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("The embedder's vocabulary cannot be read.", code="pack_vocabulary") from error
