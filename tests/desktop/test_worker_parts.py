"""What the worker is given reaches what it is for: the model's loader hears of the stall that the window is told."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import models
from core.settings import Settings
from desktop.assembly import worker_parts
from models.scripted import ScriptedBackbone


def test_a_model_brought_to_a_halt_is_heard_of(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def open_backbone(pack: str, **options: Any) -> ScriptedBackbone:
        given.update(options)
        return ScriptedBackbone()

    monkeypatch.setattr(models, "open_backbone", open_backbone)
    heard: list[str] = []
    with worker_parts(
        place,
        effect=lambda key: None,
        crash_file=lambda error: "",
        on_texts=lambda done, total: None,
        on_stall=lambda: heard.append("stalled"),
    ) as parts:
        monkeypatch.delenv("WARDROUND_TEST_BACKBONE")
        parts.backbone("any", Settings(), on_verify=lambda done, total: None, stop=threading.Event())
    given["on_stall"]()
    assert heard == ["stalled"]
