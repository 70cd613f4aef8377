"""Says a patient's name to real models in every way, in a process of its own; the caller looks where it turns up.

whisper.py NAME FOLDER PACKS PACK    FOLDER: for the tiny pair; prints how many log lines the libraries wrote
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import msgspec
import numpy as np

import models
from core.domain.chat import ImagePart, Message, ModelRequest, Sampling, TextPart, message
from core.errors import BugError, ModelError
from core.imaging.pictures import encode_png
from desktop import crash
from models.llama.engine import Engine, EngineSetting
from models.llama.library import LOG
from models.llama.prompt import Picture
from models.llama.vision import VisionEngine
from tests.helpers import tiny_vlm


class Sign(msgspec.Struct):
    name: str
    certain: bool


def main(name: str, folder: Path, packs: Path, pack: str) -> None:
    text(name, packs, pack)
    for timings in (False, True):
        seen(name, folder, timings)
    print(sum(LOG.lines.values()))


def text(name: str, packs: Path, pack: str) -> None:
    """Plain, held to a grammar, too long, and with a grammar that is refused; a static part long enough to be kept."""
    backbone = models.open_backbone(pack, packs=packs, n_ctx=1024)
    schema = msgspec.json.encode(msgspec.json.schema(Sign)).decode()
    system = message("system", "You help physicians to read cases. " * 30)
    for ask, form in ((f"{name} has a fever.", None), (f"Who is {name}? As JSON.", schema), (f"{name} " * 1200, None)):
        request = ModelRequest(
            messages=(system, message("user", ask)),
            sampling=Sampling(seed=1, max_tokens=24),
            prompt_name="whisper",
            prompt_sha256="0" * 64,
            schema=form,
            static_parts=1,
        )
        try:
            backbone.reply(request, lambda _text: None)
        except ModelError as error:
            crash.write(error)
    backbone.score(request_of(system, name), ("flu", "gout"), method="total", neutral=None)
    try:
        backbone._engine.sampler(Sampling(seed=1), 1, "root ::= undefined")
    except BugError as error:
        crash.write(error)
    backbone.close()


def request_of(system: Message, name: str) -> ModelRequest:
    turn = Message("user", (TextPart(f"{name} coughs."),))
    return ModelRequest(messages=(system, turn), sampling=Sampling(seed=1), prompt_name="w", prompt_sha256="0" * 64)


def seen(name: str, folder: Path, timings: bool) -> None:
    setting, stop = EngineSetting(n_ctx=512, forks=2), threading.Event()
    engine = Engine(str(folder / "model.gguf"), setting, stop)
    eyes = VisionEngine(engine, str(folder / "mmproj.gguf"), setting, stop, mmproj_sha256="p", timings=timings)
    picture = Picture(ImagePart("1" * 64), encode_png(np.zeros((30, 30), dtype=np.uint8)))
    eyes.look((engine.tokenize(f"{name}: "), picture, engine.tokenize(f"What has {name}?")))
    eyes.ask((picture,), [engine.tokenize(f"{name} again")], Sampling(seed=1, max_tokens=3))
    eyes.close()
    engine.close()


if __name__ == "__main__":
    made = Path(sys.argv[2])
    tiny_vlm.write_text(made / "model.gguf")
    tiny_vlm.write_projector(made / "mmproj.gguf")
    main(sys.argv[1], made, Path(sys.argv[3]), sys.argv[4])
