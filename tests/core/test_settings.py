"""Settings: the defaults of design section 7 and direct.md, round trips, and sentences for a bad file."""

from __future__ import annotations

from pathlib import Path
from typing import get_type_hints

import msgspec
import pytest

from core import settings
from core.errors import UserError
from core.settings import Models, Settings, Weighing


def test_defaults_of_the_design() -> None:
    plain = Settings()
    assert (plain.profile, plain.mode, plain.fallback) == ("text_support", "adaptive", "announce")
    assert (plain.verify_on_load, plain.on_question, plain.summary) == ("full", "unavailable", "auto")
    assert plain.models.backbone == "smollm2-135m-instruct-q4_1"
    assert (plain.limits.file_mb, plain.limits.image_gib) == (50, 2.0)


def test_weights_of_the_direct_workflow() -> None:
    weights = Weighing()
    assert (weights.hallmark, weights.typical, weights.occasional) == (3, 2, 1)
    assert (weights.against, weights.excludes) == (-2, -6)
    assert (weights.absent_hallmark, weights.absent_typical) == (-1.5, -0.75)
    assert (weights.tau, weights.beta_small, weights.beta_large) == (0.8, 0.03, 1.0)
    assert (weights.retrieval, weights.least_score, weights.least_findings, weights.candidates) == (0.25, 0.6, 3, 12)


def test_a_profile_without_a_file_has_the_defaults(profile: Path) -> None:
    assert settings.load(profile) == Settings()


def test_what_is_saved_is_loaded(profile: Path) -> None:
    wanted = Settings(mode="paper", models=Models(backbone=""), weighing=Weighing(tau=1.5))
    settings.save(profile, wanted)
    assert settings.load(profile) == wanted
    assert [path.name for path in profile.iterdir()] == ["settings.json"]


def test_keys_that_are_absent_keep_their_defaults(profile: Path) -> None:
    (profile / "settings.json").write_text('{"mode": "paper", "limits": {"file_mb": 10}}')
    loaded = settings.load(profile)
    assert (loaded.mode, loaded.limits.file_mb, loaded.limits.image_gib) == ("paper", 10, 2.0)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "settings.json"),
        ('{"colour": "red"}', "colour"),
        ('{"mode": "fast"}', "mode"),
        ('{"limits": {"file_mb": "many"}}', "file_mb"),
    ],
)
def test_a_bad_file_is_named_with_its_key(profile: Path, content: str, named: str) -> None:
    (profile / "settings.json").write_text(content)
    with pytest.raises(UserError, match=named) as refused:
        settings.load(profile)
    assert refused.value.code == "settings"


def undocumented(kind: type[msgspec.Struct]) -> list[str]:
    """Keys without a description, groups looked into."""
    missing: list[str] = []
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
            missing += [f"{name}.{inner}" for inner in undocumented(hint)]
        elif not any(isinstance(meta, msgspec.Meta) and meta.description for meta in getattr(hint, "__metadata__", ())):
            missing.append(name)
    return missing


def test_every_key_is_documented() -> None:
    assert undocumented(Settings) == []

    class Careless(msgspec.Struct):
        secret: int = 0

    assert undocumented(Careless) == ["secret"]
