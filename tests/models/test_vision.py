"""Pictures on the tiny random pair: one encoding, forks, the same bits again, and no way to a file (runtime.md 8)."""

from __future__ import annotations

import base64
import random
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from core.domain.chat import ImagePart, Sampling
from core.errors import BugError, Cancelled, ModelError
from core.imaging.pictures import encode_png
from models.llama.decoding import sample
from models.llama.engine import Engine, EngineSetting
from models.llama.guards import check_picture
from models.llama.prompt import Picture, Tokens
from models.llama.scoring import log_likelihoods
from models.llama.vision import VisionEngine
from tests.helpers import tiny_vlm

SETTING = EngineSetting(n_ctx=512, n_batch=256, forks=6, chunk=16)
QUESTIONS = ("Is it white?", "Is it black? Say yes or no.", "What is in the image", "a")
PNG = encode_png(np.zeros((10, 12), dtype=np.uint8))
Make = Callable[[], VisionEngine]


def picture(grey: int, **rendered: object) -> Picture:
    values = np.full((100, 120), grey, dtype=np.uint8)
    return Picture(ImagePart(f"{grey:064x}", **rendered), encode_png(values))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tiny")
    tiny_vlm.write_text(made / "model.gguf")
    tiny_vlm.write_projector(made / "gemma3.gguf")
    tiny_vlm.write_projector(made / "mlp.gguf", "mlp")
    tiny_vlm.write_projector(made / "wide.gguf", width=96)
    return made


@pytest.fixture(scope="module")
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture(scope="module")
def text(folder: Path, stop: threading.Event) -> Iterator[Engine]:
    made = Engine(str(folder / "model.gguf"), SETTING, stop)
    yield made
    made.close()


@pytest.fixture(params=["gemma3", "mlp"])
def make(folder: Path, text: Engine, stop: threading.Event, request: pytest.FixtureRequest) -> Iterator[Make]:
    """New engines for pictures, with either projector."""
    made: list[VisionEngine] = []

    def engine() -> VisionEngine:
        file = str(folder / f"{request.param}.gguf")
        made.append(VisionEngine(text, file, SETTING, stop, mmproj_sha256=request.param))
        return made[-1]

    yield engine
    for each in made:
        each.close()


def begin(text: Engine) -> Tokens:
    return text.begin() + text.tokenize("<|im_start|>user\n", markup=True)


def asked(text: Engine) -> list[Tokens]:
    return [text.tokenize(question) for question in QUESTIONS]


# ------------------------------------------------------------------------------------------------- acceptance 11


def test_four_questions_about_one_picture_encode_it_once(text: Engine, make: Make) -> None:
    """Four answers, equal to those of four separate engines under `exact`."""
    seen, sampling = (begin(text), picture(80)), Sampling(seed=3, max_tokens=6, exact=True)
    engine = make()
    together = [draft.tokens for draft in engine.ask(seen, asked(text), sampling)]
    assert engine.encodings == 1
    alone = []
    for question in asked(text):
        fresh = make()
        fresh.look((*seen, question))
        alone.append(sample(fresh, sampling, 1)[0].tokens)
    assert together == alone
    assert len(set(map(tuple, together))) == 4, "the questions must matter"


def test_forked_questions_are_one_native_call_a_step(text: Engine, make: Make) -> None:
    seen, engine = (begin(text), picture(80)), make()
    engine.look((*seen, asked(text)[0]))
    before = engine.decodes
    drafts = engine.ask(seen, asked(text), Sampling(seed=3, max_tokens=6))
    longest = max(len(draft.tokens) for draft in drafts)
    assert engine.decodes - before == 1 + longest - 1, "all questions at once, then one call for a token of each"
    assert engine.encodings == 1
    assert len({tuple(draft.tokens) for draft in drafts}) == 4


def test_black_and_white_differ_and_the_same_picture_repeats_to_the_bit(text: Engine, make: Make) -> None:
    engine, question = make(), asked(text)[0]
    looks = []
    for grey in (0, 255, 0):
        engine.look((begin(text), picture(grey), question))
        looks.append(engine.prefix_logits.copy())
    assert np.abs(looks[0] - looks[1]).max() > 0.01
    assert np.abs(looks[0] - looks[2]).max() == 0
    assert engine.encodings == 2, "the third look found its picture in memory"
    engine.forget()
    engine.look((begin(text), picture(0), question))
    assert np.abs(looks[0] - engine.prefix_logits).max() == 0
    assert engine.encodings == 3


URIS = ("file:///etc/hosts", "http://example.org/a.png", "//host/a.png", "pictures/a.png")


@pytest.mark.parametrize("uri", URIS)
def test_no_address_is_ever_opened(text: Engine, make: Make, uri: str) -> None:
    engine = make()
    opened: list[str] = []
    watching = True
    sys.addaudithook(
        lambda event, _what: opened.append(event) if watching and event in ("open", "socket.connect") else None
    )
    with pytest.raises(BugError) as caught:
        engine.look((begin(text), Picture(ImagePart("0" * 64), uri), asked(text)[0]))  # type: ignore[arg-type]
    watching = False
    assert (caught.value.code, opened) == ("picture_uri", [])
    assert engine.encodings == 0


def test_our_own_text_form_gives_the_same_picture() -> None:
    """The control of the refusals above."""
    assert check_picture("data:image/png;base64," + base64.b64encode(PNG).decode()) == check_picture(PNG) == PNG


BROKEN = {
    "empty": b"",
    "not a picture": b"GIF89a" + bytes(40),
    "cut inside its head": PNG[:20],
    "too wide": encode_png(np.zeros((1, 1345), dtype=np.uint8)),
    "16 bits": PNG[:24] + b"\x10" + PNG[25:],
    "a palette": PNG[:25] + b"\x03" + PNG[26:],
    "no width": PNG[:16] + bytes(4) + PNG[20:],
    "not base64": "data:image/png;base64,%%%",
    "another kind": "data:image/svg+xml;base64,AAAA",
}


@pytest.mark.parametrize("name", BROKEN)
def test_picture_that_is_none_of_ours_is_a_bug(name: str) -> None:
    with pytest.raises(BugError):
        check_picture(BROKEN[name])  # type: ignore[arg-type]


def test_picture_of_the_longest_side_passes(text: Engine, make: Make) -> None:
    engine = make()
    wide = Picture(ImagePart("1" * 64), encode_png(np.zeros((2, 1344), dtype=np.uint8)))
    engine.look((begin(text), wide, asked(text)[0]))
    assert engine.encodings == 1


def test_picture_with_a_sound_head_and_a_broken_body_is_a_model_error(text: Engine, make: Make) -> None:
    engine = make()
    with pytest.raises(ModelError, match="cannot be decoded"):
        engine.look((begin(text), Picture(ImagePart("2" * 64), PNG[:40]), asked(text)[0]))
    engine.look((begin(text), picture(9), asked(text)[0]))


# ------------------------------------------------------------------------------------------- memory and positions


def test_four_pictures_are_kept_and_a_fifth_is_refused_in_one_question(text: Engine, make: Make) -> None:
    engine, question = make(), asked(text)[3]
    many = [picture(grey) for grey in (10, 60, 110, 160, 210)]
    with pytest.raises(ModelError, match="4 pictures at most"):
        engine.look((*many, question))
    engine.look((*many[:4], question))
    assert (engine.encodings, len(engine._images)) == (4, 4)
    engine.look((many[4], question))
    engine.look((many[3], question))
    assert (engine.encodings, len(engine._images)) == (5, 4)
    engine.look((many[0], question))
    assert engine.encodings == 6, "the least recently seen one was dropped"


def test_another_rendering_of_an_artifact_is_another_picture(text: Engine, make: Make) -> None:
    engine, question = make(), asked(text)[3]
    for rendered in ({}, {"window": (40.0, 400.0)}, {"crop": (0, 0, 9, 9)}, {"side": 448}, {}):
        engine.look((picture(10, **rendered), question))
    assert engine.encodings == 4


def test_places_and_positions_are_what_the_library_says(text: Engine, make: Make) -> None:
    engine = make()
    pieces = (begin(text), picture(10), asked(text)[0])
    engine.look(pieces)
    own = len(pieces[0]) + len(pieces[2])
    tokens = 4 + 2 if engine.mmproj_sha256 == "gemma3" else 64  # with the marks before and after it
    assert engine.used == engine.prefix_length == engine.count(pieces) == own + tokens


def test_question_without_picture_or_text_and_a_plain_prefix_are_bugs(text: Engine, make: Make) -> None:
    engine = make()
    for pieces in ((asked(text)[0],), (begin(text), picture(1))):
        with pytest.raises(BugError):
            engine.look(pieces)
    for breach in (lambda: engine.set_prefix([1, 2]), lambda: engine.advance([1, 2], 1), engine.save):
        with pytest.raises(BugError) as caught:
            breach()
        assert caught.value.code == "engine_vision"


def test_question_longer_than_the_context_is_refused(text: Engine, make: Make) -> None:
    engine = make()
    with pytest.raises(BugError, match="context"):
        engine.look((picture(1), text.tokenize("a b " * 400)))
    assert engine.encodings == 0


# ------------------------------------------------------------------------------------------------ scores and stops


def test_options_after_a_picture_are_scored_the_same_in_any_order(text: Engine, make: Make) -> None:
    engine = make()
    engine.look((begin(text), picture(200), asked(text)[0]))
    options = [text.tokenize(f" {word}") for word in ("yes", "no", "white", "black", "the image")]
    expected = dict(zip(options, log_likelihoods(engine, options), strict=True))
    rng = random.Random(1)
    for _ in range(10):
        order = rng.sample(options, len(options))
        assert dict(zip(order, log_likelihoods(engine, order), strict=True)) == expected
    engine.look((begin(text), picture(0), asked(text)[0]))
    assert dict(zip(options, log_likelihoods(engine, options), strict=True)) != expected


class _After(threading.Event):
    """Set once it has been looked at so many times: a stop at a known place."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._looks = looks

    def is_set(self) -> bool:
        self._looks -= 1
        return self._looks < 0


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 4, 5])
def test_stop_at_any_step_leaves_nothing_half_seen(folder: Path, text: Engine, looks: int) -> None:
    """Before the text, in it, before the encoder, before the picture is read, in the question."""
    engine = VisionEngine(text, str(folder / "gemma3.gguf"), SETTING, threading.Event(), mmproj_sha256="g")
    try:
        pieces = (begin(text), picture(30), asked(text)[0])
        engine.look(pieces)
        fresh = engine.prefix_logits.copy()
        engine.forget()
        engine._stop = _After(looks)
        with pytest.raises(Cancelled):
            engine.look(pieces)
        assert engine.used == 0
        engine._stop = threading.Event()
        engine.look(pieces)
        assert np.abs(engine.prefix_logits - fresh).max() == 0
    finally:
        engine.close()


@pytest.mark.parametrize("name", ["wide.gguf", "model.gguf", "absent.gguf"])
def test_picture_side_of_another_model_is_a_model_error(folder: Path, text: Engine, name: str) -> None:
    with pytest.raises(ModelError) as caught:
        VisionEngine(text, str(folder / name), SETTING, threading.Event(), mmproj_sha256="x")
    assert caught.value.code == "bad_model"
    assert text.tokenize("still there")


@pytest.mark.weights
def test_four_forks_on_a_real_language_model(gemma: Path, tmp_path: Path) -> None:
    """Gemma with a random projector of its width: one encoding, four answers that depend on the picture and repeat."""
    tiny_vlm.write_projector(tmp_path / "mmproj.gguf", width=640)
    stop, setting = threading.Event(), EngineSetting(n_ctx=256, forks=4)
    text = Engine(str(gemma / "model.gguf"), setting, stop)
    engine = VisionEngine(text, str(tmp_path / "mmproj.gguf"), setting, stop, mmproj_sha256="random")
    try:
        sampling = Sampling(seed=5, max_tokens=4)
        told = []
        for grey in (0, 255, 0):
            drafts = engine.ask((text.begin(), picture(grey)), asked(text), sampling)
            told.append([draft.tokens for draft in drafts])
        assert engine.encodings == 2
        assert told[0] == told[2]
        assert told[0] != told[1]
    finally:
        engine.close()
        text.close()
