"""Bringing a pack into the folder of all packs: from a folder, a ZIP, or files just sealed (trust.md section 7).

Order: signature, manifest, licence gate, free space, then each file in chunks into `*.part`, every chunk and the whole
checked, forced to the disk, renamed. The bytes are read where they are and written once. An interrupted import goes on
where it stopped, after hashing again what is already there. Never downloads; knows no database.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NoReturn, Protocol

import msgspec

from core.domain.pack import PackFile, PackManifest
from core.errors import SecurityError, UserError
from models.gguf import read_gguf, refuse_mistakes
from models.packs import (
    BLOCK,
    MANIFEST,
    MOST_MANIFEST,
    PLAIN_NAME,
    SIGNATURE,
    InstalledPack,
    OnBytes,
    PackLedger,
    Progress,
    check_signature,
    damaged,
    open_verified,
    parse_manifest,
    read_manifest,
    remember,
)

SPARE = 1.05  # free space asked for, as a multiple of what will be written
MOST_LICENCE = 4 << 20  # bytes
PART = ".part"
BESIDE = re.compile(r"(licen[cs]e|notice|readme|copying).*", re.IGNORECASE)  # small texts that go with a pack
AcceptLicence = Callable[[PackManifest, bytes], bool]
FreeBytes = Callable[[Path], int]


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What an import came to. `copied`: bytes written; 0 where the pack was there already."""

    pack: InstalledPack
    copied: int
    signature: str


class PackSource(Protocol):
    """Where a pack comes from."""

    @property
    def manifest(self) -> bytes: ...

    def names(self) -> tuple[str, ...]: ...

    def open(self, name: str) -> IO[bytes]:
        """One file, from its beginning; UserError where it is not there."""
        ...


class FolderSource:
    """A pack folder, or files from anywhere under the names they shall have, with a manifest made for them."""

    def __init__(self, files: Mapping[str, Path], manifest: bytes) -> None:
        self._files, self.manifest = dict(files), manifest

    def names(self) -> tuple[str, ...]:
        return tuple(self._files)

    def open(self, name: str) -> IO[bytes]:
        path = self._files.get(name)
        if path is None:
            raise UserError(f"The pack lacks its file {name}.", code="pack_file")
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0))
        except OSError as error:
            why = "is a link, not a file" if path.is_symlink() else "cannot be read"
            raise UserError(f"The pack's file {name} {why}.", code="pack_file") from error
        stream = os.fdopen(descriptor, "rb")
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            stream.close()
            raise UserError(f"The pack's file {name} is not a file.", code="pack_file")
        return stream


class ZipSource:
    """A pack in a ZIP, at its top or in its one folder."""

    def __init__(self, archive: zipfile.ZipFile, prefix: str, manifest: bytes) -> None:
        self._archive, self._prefix, self.manifest = archive, prefix, manifest

    def names(self) -> tuple[str, ...]:
        inside = (name.removeprefix(self._prefix) for name in self._archive.NameToInfo if name.startswith(self._prefix))
        return tuple(name for name in inside if name and "/" not in name)

    def open(self, name: str) -> IO[bytes]:
        try:
            return self._archive.open(self._prefix + name)
        except (KeyError, RuntimeError, zipfile.BadZipFile) as error:
            why = "lacks" if isinstance(error, KeyError) else "does not let one read"
            raise UserError(f"The ZIP {why} its file {name}.", code="pack_file") from error


@contextmanager
def open_source(path: Path) -> Iterator[PackSource]:
    """A pack at a path.

    Raises:
        UserError: it is neither a pack folder nor a ZIP of one.
    """
    if path.is_dir():
        inside = {entry.name: entry for entry in sorted(path.iterdir()) if entry.is_file() or entry.is_symlink()}
        if MANIFEST not in inside:
            text = f"{path} is no model pack: it has no {MANIFEST}. A model file is made one by: wardround models seal"
            raise UserError(text, code="pack_manifest")
        yield FolderSource(inside, _small(FolderSource(inside, b""), MANIFEST, MOST_MANIFEST))
        return
    if not path.is_file():
        raise UserError(f"There is no {path}.", code="pack_source")
    with path.open("rb") as stream:
        refuse_mistakes(stream.read(512), path.name)
    if not zipfile.is_zipfile(path):
        text = f"{path.name} is neither a pack folder nor a ZIP of one. For a model file: wardround models seal"
        raise UserError(text, code="pack_source")
    try:
        with zipfile.ZipFile(path) as archive:
            yield _zipped(archive, path.name)
    except zipfile.BadZipFile as error:
        raise UserError(f"{path.name} is damaged: {error}.", code="pack_source") from error


def _zipped(archive: zipfile.ZipFile, name: str) -> ZipSource:
    places = [entry for entry in archive.namelist() if entry == MANIFEST or entry.endswith(f"/{MANIFEST}")]
    places = [entry for entry in places if entry.count("/") <= 1]
    if len(places) != 1:
        raise UserError(f"{name} is no model pack: it has no {MANIFEST}, or more than one.", code="pack_manifest")
    prefix = places[0].removesuffix(MANIFEST)
    return ZipSource(archive, prefix, _small(ZipSource(archive, prefix, b""), MANIFEST, MOST_MANIFEST))


def _small(source: PackSource, name: str, most: int) -> bytes:
    with source.open(name) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise UserError(f"The pack's file {name} is too large.", code="pack_file")
    return data


# ------------------------------------------------------------------------------------------------------ the import


def free_bytes(folder: Path) -> int:
    """Free space where a folder lies."""
    return shutil.disk_usage(folder).free


def import_pack(
    source: PackSource,
    packs: Path,
    *,
    ledger: PackLedger,
    accept: AcceptLicence,
    on_bytes: OnBytes | None = None,
    stop: threading.Event | None = None,
    free: FreeBytes = free_bytes,
) -> Receipt:
    """Bring a pack into `packs`, or find that it is there already; then nothing is copied.

    `accept` hears a manifest whose licence must be accepted, and the licence's bytes. `on_bytes` hears bytes done and
    bytes in all. `free` answers the free bytes at a folder.

    Raises:
        UserError: no pack, licence not accepted, too little space, a damaged or missing file (both hashes named).
        SecurityError: a name that leaves the pack's folder.
        Cancelled: `stop` was set; what was copied is kept, and the next import goes on from there.
    """
    signed = _small(source, SIGNATURE, MOST_MANIFEST) if SIGNATURE in source.names() else None
    signature = check_signature(source.manifest, signed, ())
    manifest = parse_manifest(source.manifest, "the source")
    place = packs / manifest.id / manifest.version
    pack = InstalledPack(manifest=manifest, folder=place)
    progress = Progress(pack.size, on_bytes, stop)
    if (place / MANIFEST).is_file():
        _refuse_another(place, manifest)
        if _is_sound(pack, ledger, on_bytes, stop):
            return Receipt(pack=pack, copied=0, signature=signature)
        work = place
    else:
        work = place.with_name(f".{place.name}{PART}")
    _ask_licence(source, manifest, accept)
    packs.mkdir(parents=True, exist_ok=True)
    work.mkdir(parents=True, exist_ok=True)
    lacking = [file for file in manifest.files if not _is_whole(work / file.path, file, progress)]
    _need_space(work, sum(file.size - _size(work / (file.path + PART)) for file in lacking), free)
    with _cleaned_after_refusal(work, staging=work != place):
        copied = sum(_Copy(source, manifest, file, work, ledger, progress).run() for file in lacking)
        _finish(source, pack, work, ledger)
    return Receipt(pack=pack, copied=copied, signature=signature)


@contextmanager
def _cleaned_after_refusal(work: Path, *, staging: bool) -> Iterator[None]:
    """What was copied of a refused pack goes; what was copied before a Stop or a full disk stays for the next try."""
    try:
        yield
    except (UserError, SecurityError):
        for left in [work] if staging else list(work.glob(f"*{PART}")):
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        raise


def _refuse_another(place: Path, manifest: PackManifest) -> None:
    if read_manifest(place).files != manifest.files:
        name = f"{manifest.id} {manifest.version}"
        text = f"Another pack of the name {name} is installed. Remove it first: wardround models remove {manifest.id}"
        raise UserError(text, code="pack_exists")


def _is_sound(pack: InstalledPack, ledger: PackLedger, on_bytes: OnBytes | None, stop: threading.Event | None) -> bool:
    """Does every byte of the installed pack agree with its manifest?"""
    try:
        with open_verified(pack, ledger=ledger, on_bytes=on_bytes, stop=stop):
            return True
    except UserError:
        return False


def _ask_licence(source: PackSource, manifest: PackManifest, accept: AcceptLicence) -> None:
    licence = manifest.licence
    if not licence.accept:
        return
    text = _small(source, licence.file, MOST_LICENCE) if licence.file in source.names() else b""
    if not accept(manifest, text):
        raise UserError(
            f"The licence of {manifest.id} ({licence.spdx}) was not accepted: nothing was installed. "
            "If you accept it, add --accept-licence.",
            code="licence",
        )


def _need_space(folder: Path, size: int, free: FreeBytes) -> None:
    found, need = free(folder), int(max(size, 0) * SPARE)
    if found < need:
        raise UserError(
            f"{folder.parent} has {found / 1e6:.0f} MB free; the model needs {need / 1e6:.0f} MB.", code="disk full"
        )


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _is_whole(path: Path, file: PackFile, progress: Progress) -> bool:
    """Is this file there already with the right hash?"""
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    state = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            state.update(block)
            progress.add(0)
    if state.hexdigest() != file.sha256:
        return False
    progress.add(file.size)
    return True


class _Copy:
    """One file on its way: into `*.part`, chunk by chunk, each forced to the disk, so that the end is no long wait."""

    def __init__(
        self,
        source: PackSource,
        manifest: PackManifest,
        file: PackFile,
        work: Path,
        ledger: PackLedger,
        progress: Progress,
    ) -> None:
        self._source, self._manifest, self._file, self._ledger = source, manifest, file, ledger
        self._target, self._part = work / file.path, work / (file.path + PART)
        self._progress = progress
        self._whole = hashlib.sha256()

    def run(self) -> int:
        """Bytes that were written."""
        with self._source.open(self._file.path) as stream, self._part.open("ab+") as part:
            done = self._take_up(part)
            self._pass_over(stream, done)
            for number in range(-(-done // self._file.chunk), -(-self._file.size // self._file.chunk)):
                self._chunk(stream, part, number)
            if stream.read(1):
                self._refuse("it is longer than its manifest says")
        found = self._whole.hexdigest()
        if found != self._file.sha256:
            self._refuse(f"expected {self._file.sha256}, found {found}")
        os.replace(self._part, self._target)
        return self._file.size - done

    def _take_up(self, part: IO[bytes]) -> int:
        """Bytes of an earlier try that are right, in whole chunks; what follows them is cut off."""
        done = 0
        part.seek(0)
        for expected in self._file.chunks:
            data = part.read(self._file.chunk)
            if hashlib.sha256(data).hexdigest() != expected:
                break
            self._whole.update(data)
            done += len(data)
            self._progress.add(len(data))
        part.truncate(done)
        part.seek(done)
        return done

    def _pass_over(self, stream: IO[bytes], count: int) -> None:
        """To the place where the copy goes on; in a ZIP the bytes before it must be unpacked again."""
        if stream.seekable() and not isinstance(stream, zipfile.ZipExtFile):
            stream.seek(count)
            return
        while count > 0:
            count -= len(stream.read(min(BLOCK, count))) or count
            self._progress.add(0)

    def _chunk(self, stream: IO[bytes], part: IO[bytes], number: int) -> None:
        chunk, state = self._file.chunk, hashlib.sha256()
        left = min(chunk, self._file.size - number * chunk)
        while left:
            block = self._read(stream, min(BLOCK, left))
            state.update(block)
            self._whole.update(block)
            part.write(block)
            left -= len(block)
            self._progress.add(len(block))
        found = state.hexdigest()
        if self._file.chunks and found != self._file.chunks[number]:
            first, last = number * chunk, min((number + 1) * chunk, self._file.size) - 1
            self._refuse(f"bytes {first} to {last}: expected {self._file.chunks[number]}, found {found}")
        part.flush()
        os.fsync(part.fileno())

    def _read(self, stream: IO[bytes], count: int) -> bytes:
        try:
            block = stream.read(count)
        except (zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
            raise UserError(f"{self._file.path} cannot be read to its end ({error}).", code="pack_file") from error
        if not block:
            self._refuse("it is shorter than its manifest says")
        return block

    def _refuse(self, why: str) -> NoReturn:
        """The copy is thrown away by the caller, the source left as it is."""
        raise damaged(self._manifest, self._ledger, f"{self._file.path}: {why}")


def _finish(source: PackSource, pack: InstalledPack, work: Path, ledger: PackLedger) -> None:
    """Look whether model files are such, lay the small texts beside them, and let the pack be seen."""
    for file in pack.manifest.files:
        if file.path.endswith(".gguf"):
            read_gguf(work / file.path)
    for name in source.names():
        if (
            name == pack.manifest.licence.file
            or name == SIGNATURE
            or (BESIDE.fullmatch(name) and PLAIN_NAME.fullmatch(name))
        ):
            (work / name).write_bytes(_small(source, name, MOST_LICENCE))
    part = work / (MANIFEST + PART)
    part.write_bytes(source.manifest)
    os.replace(part, work / MANIFEST)
    if work != pack.folder:
        _settle(work, pack.folder)
    remember(pack, ledger)


def _settle(work: Path, place: Path) -> None:
    try:
        work.rename(place)
    except OSError as error:
        raise SecurityError(f"{place} is taken by something that is no pack.", code="pack_path") from error
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
