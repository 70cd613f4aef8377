"""`wardround models` as a person types it: add, seal, verify, list, remove, each with sentence and exit code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import packs
import pytest

from core import settings as options
from core.settings import Models, Settings
from desktop import assembly
from desktop.cli import arguments, boundary, commands
from desktop.cli.models import NOT_REMEMBERED
from tests.helpers.ggufs import model

N16 = "Model file is damaged (hash differs). Not loaded."
SEAL = ["--family", "llama3", "--template", "chatml", "--licence", "MIT"]


def cli(*given: object) -> int:
    return boundary.guard(lambda: commands.execute(arguments.parse(list(map(str, given)))))


def values(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def shelf(profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of packs and a profile whose model none of them is."""
    folder = tmp_path / "shelf"
    monkeypatch.setenv("WARDROUND_MODELS", str(folder))
    assembly.Stores(profile).close()
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "ours.gguf"
    path.write_bytes(model())
    return path


def test_complaint_A8_by_command(shelf: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """nomic-ai/gpt4all#3513 (how to add a local file): a file, a folder and a ZIP, each by one command."""
    assert cli("models", "seal", file, *SEAL, "--accept-licence") == 0
    assert "ours 1 is installed" in capsys.readouterr().out
    kit = shutil.copytree(shelf / "ours" / "1", tmp_path / "kit")
    for source in (kit, Path(shutil.make_archive(str(tmp_path / "kit"), "zip", kit))):
        shutil.rmtree(shelf / "ours")
        assert cli("--json", "models", "add", source) == 0
        added = values(capsys)
        assert (added["pack"], added["copied"], added["unlisted"]) == ("ours", len(model()), True)
        assert (shelf / "ours" / "1" / "model.gguf").read_bytes() == model()


def test_unlisted_pack_is_said_to_be_so_and_its_terms_are_accepted_once(
    shelf: Path, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    terms = file.with_name("TERMS.html")
    terms.write_text("<html><head><title>x</title></head><body><p>Be <b>kind</b>.</p></body></html>")
    given = ["models", "seal", file, *SEAL, "--licence-file", terms]
    assert cli(*given) == 1
    refused = capsys.readouterr()
    assert "Be kind." in refused.err and "was not accepted: nothing was installed" in refused.err
    assert not shelf.exists() or not list(shelf.rglob("*.gguf"))
    assert cli(*given, "--accept-licence") == 0
    assert "every result made with it says “unlisted model”" in capsys.readouterr().out
    assert cli("models", "list") == 0
    shown = capsys.readouterr().out
    assert "ours  1  text  ready  0 MB  MIT  fits: 2.3 GiB" in shown and "unlisted model" in shown
    assert cli("models", "remove", "ours", "--yes") == 0
    assert cli(*given) == 0, "the same person has accepted the same terms"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"<!doctype html><html>", "this is a web page, not a model"),
        (b"", "is empty"),
        (model()[:-9], "is cut off"),
        (b"GGUF\x01" + bytes(40), "is of GGUF version 1"),
        (b"PK\x03\x04" + bytes(40), "does not begin with GGUF"),
    ],
    ids=["complaint_A6", "empty", "cut", "version", "magic"],
)
def test_file_that_is_no_model(
    shelf: Path, file: Path, content: bytes, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """ggml-org/llama.cpp#3358 (HTML saved as .gguf) and the other rows of runtime.md section 6: each its sentence."""
    file.write_bytes(content)
    assert cli("models", "seal", file, *SEAL, "--accept-licence") == 1
    told = capsys.readouterr().err
    assert why in told and "ours.gguf" in told and told.count("\n") == 1


def test_complaint_A6(shelf: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """ggml-org/llama.cpp#3358 (HTML saved as .gguf): by either command the sentence says what it is."""
    file.write_bytes(b"<html>Sign in</html>")
    for command in (["seal", file, *SEAL], ["add", file]):
        assert cli("models", *command) == 1
        assert "this is a web page, not a model" in capsys.readouterr().err


def test_damaged_pack_is_quarantined_at_import_and_by_verify(
    shelf: Path, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli("models", "seal", file, *SEAL, "--accept-licence")
    kit = shutil.copytree(shelf / "ours" / "1", tmp_path / "kit")
    for place in (kit, shelf / "ours" / "1"):
        data = bytearray((place / "model.gguf").read_bytes())
        data[-1] ^= 1
        (place / "model.gguf").write_bytes(bytes(data))
    capsys.readouterr()
    assert cli("models", "verify", "ours") == 1
    verified = capsys.readouterr()
    assert N16 in verified.out and NOT_REMEMBERED not in verified.err
    assert cli("--json", "models", "list") == 0
    assert [row["state"] for row in values(capsys)] == ["quarantined"]
    assert cli("models", "add", kit, "--accept-licence") == 1
    assert N16 in capsys.readouterr().err


def test_verify_without_a_profile_says_that_it_is_not_remembered(
    shelf: Path, file: Path, profile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli("models", "seal", file, *SEAL, "--accept-licence")
    (shelf / "ours" / "1" / "model.gguf").write_bytes(b"x" + model()[1:])
    shutil.rmtree(profile)
    capsys.readouterr()
    assert cli("models", "verify") == 1
    assert NOT_REMEMBERED in capsys.readouterr().err
    assert not profile.exists()


def test_pack_in_use_stays(shelf: Path, file: Path, profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli("models", "seal", file, *SEAL, "--accept-licence")
    options.save(profile, Settings(models=Models(backbone="ours")))
    assert cli("models", "remove", "ours", "--yes") == 1
    assert "ours is in use: the settings of this profile name it." in capsys.readouterr().err
    options.save(profile, Settings(models=Models(backbone="")))
    assert cli("models", "remove", "ours") == 1
    assert "Add --yes to remove ours." in capsys.readouterr().err
    assert cli("--json", "models", "remove", "ours", "--yes") == 0
    assert values(capsys)["freed"] > len(model())
    assert list(shelf.iterdir()) == []
    assert cli("models", "remove", "ours", "--yes") == 1
    assert "is not installed" in capsys.readouterr().err


@pytest.mark.weights
def test_known_file_needs_no_options(
    shelf: Path, smollm2: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The default model under any name is found by its hash: listed, its licence and its numbers known."""
    file = tmp_path / "some download.gguf"
    file.symlink_to(smollm2 / "model.gguf")
    assert cli("--json", "models", "seal", file) == 0
    assert values(capsys)["unlisted"] is False
    made, ours = (
        json.loads((folder / "manifest.json").read_text()) for folder in (shelf / packs.SMOLLM2.folder, smollm2)
    )
    for key in ("id", "version", "role", "family", "template", "quant", "files", "params_b"):
        assert made[key] == pytest.approx(ours[key], rel=0.01) if key == "params_b" else made[key] == ours[key]
    assert {key: made["arch"][key] for key in ours["arch"]} == ours["arch"]
