"""Model packs on disk: manifests, the list, and the check before every load (runtime.md section 9).

Knows files and hashes, no native library and no database: what must be remembered goes through `PackLedger`.
Never downloads.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from core import codec
from core.domain.notices import notice
from core.domain.pack import PackFile, PackManifest, PackState
from core.errors import Cancelled, SecurityError, UserError

MANIFEST, SIGNATURE = "manifest.json", "manifest.sig"
BLOCK = ENDS = 1 << 20
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?", re.IGNORECASE)  # device names of Windows
SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_MANIFEST = 4 << 20  # bytes
MOST_FILES = 64
MOST_CHUNK = 256 << 20
Verify = Literal["full", "fast"]
OnBytes = Callable[[int, int], None]


class FastMark(msgspec.Struct, frozen=True, kw_only=True):
    """What a file looked like when its full hash last agreed: the fast check compares this."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    ends_sha256: str


class PackLedger(Protocol):
    """Remembers fast marks and quarantined packs between starts."""

    def marks(self, pack: str, version: str) -> tuple[FastMark, ...]: ...

    def remember(self, pack: str, version: str, marks: tuple[FastMark, ...]) -> None:
        """Store the marks of a pack that passed; it is no longer quarantined."""
        ...

    def quarantine(self, pack: str, version: str, detail: str) -> None: ...

    def quarantined(self, pack: str, version: str) -> str:
        """The detail, or "" for a pack that is not quarantined."""
        ...


class MemoryLedger:
    """A ledger for one process."""

    def __init__(self) -> None:
        self._marks: dict[tuple[str, str], tuple[FastMark, ...]] = {}
        self._details: dict[tuple[str, str], str] = {}

    def marks(self, pack: str, version: str) -> tuple[FastMark, ...]:
        return self._marks.get((pack, version), ())

    def remember(self, pack: str, version: str, marks: tuple[FastMark, ...]) -> None:
        self._marks[pack, version] = marks
        self._details.pop((pack, version), None)

    def quarantine(self, pack: str, version: str, detail: str) -> None:
        self._details[pack, version] = detail

    def quarantined(self, pack: str, version: str) -> str:
        return self._details.get((pack, version), "")


class InstalledPack(msgspec.Struct, frozen=True, kw_only=True):
    """A pack folder with its manifest."""

    manifest: PackManifest
    folder: Path

    @property
    def contents_sha256(self) -> str:
        """The hash of its one file, else the hash over the names and hashes of all."""
        files = self.manifest.files
        if len(files) == 1:
            return files[0].sha256
        return codec.digest(sorted((file.path, file.sha256) for file in files))

    @property
    def size(self) -> int:
        return sum(file.size for file in self.manifest.files)


class OpenPack(msgspec.Struct, frozen=True, kw_only=True):
    """A checked pack whose files are held open: load from `paths`, which name the descriptors that were read."""

    pack: InstalledPack
    paths: dict[str, str]
    verify: Verify
    signature: str


def check_signature(_manifest: bytes, _signature: bytes | None, _trusted_keys: tuple[bytes, ...]) -> str:
    """How far a manifest is vouched for. Until keys exist (trust.md) every pack is "unsigned", and passes."""
    return "unsigned"


# ---------------------------------------------------------------------------------------------- finding and listing


def read_manifest(folder: Path) -> PackManifest:
    """The manifest of a pack folder.

    Raises:
        UserError: it is not there or not a manifest.
        SecurityError: a file name that would leave the folder.
    """
    try:
        data = (folder / MANIFEST).read_bytes()
    except OSError as error:
        raise UserError(f"The model pack in {folder} has no readable manifest.", code="pack_manifest") from error
    return parse_manifest(data, str(folder))


def parse_manifest(data: bytes, place: str) -> PackManifest:
    """A manifest from its bytes; `place` is named where it is none. Errors as for `read_manifest`."""
    try:
        if len(data) > MOST_MANIFEST:
            raise msgspec.DecodeError("too long")
        manifest: PackManifest = codec.decode(data, PackManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UserError(f"The model pack in {place} has no readable manifest.", code="pack_manifest") from error
    _check_names(manifest)
    for file in manifest.files:
        _check_file(manifest, file)
    return manifest


def _check_names(manifest: PackManifest) -> None:
    """Names that would leave the pack's folder, or that another system reads in another way."""
    beside = [manifest.licence.file] if manifest.licence.file else []
    names = [file.path for file in manifest.files]
    for name in (*names, *beside, manifest.id, manifest.version):
        if not PLAIN_NAME.fullmatch(name) or RESERVED.fullmatch(name) or name.endswith("."):
            text = f"The model pack {manifest.id!r} names a file outside its folder, or one that no system takes."
            raise SecurityError(text, code="pack_path")
    if len({name.lower() for name in names}) < len(names) or {MANIFEST, SIGNATURE} & {n.lower() for n in names}:
        raise SecurityError(f"The model pack {manifest.id} names one file twice.", code="pack_path")


def _check_file(manifest: PackManifest, file: PackFile) -> None:
    whole = -(-file.size // file.chunk) if 0 < file.chunk <= MOST_CHUNK else -1
    sound = file.size >= 0 and whole >= 0 and len(file.chunks) in (0, whole) and len(manifest.files) <= MOST_FILES
    if not sound or not all(SHA256.fullmatch(digest) for digest in (file.sha256, *file.chunks)):
        text = f"The manifest of the model pack {manifest.id} does not add up at {file.path}."
        raise UserError(text, code="pack_manifest")


def find_pack(packs: Path, pack_id: str) -> InstalledPack:
    """The newest installed version of a pack.

    Raises:
        UserError: it is not installed.
    """
    place = packs / pack_id
    if not PLAIN_NAME.fullmatch(pack_id) or not place.is_dir():
        raise UserError(f"The model pack {pack_id} is not installed.", code="pack_missing")
    versions = sorted(
        (entry for entry in place.iterdir() if entry.name[0] != "." and (entry / MANIFEST).is_file()),
        key=_version_order,
    )
    if not versions:
        raise UserError(f"The model pack {pack_id} is not installed.", code="pack_missing")
    return InstalledPack(manifest=read_manifest(versions[-1]), folder=versions[-1])


def _version_order(folder: Path) -> tuple[tuple[int, str], ...]:
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in folder.name.split("."))


def list_packs(packs: Path, ledger: PackLedger) -> tuple[PackState, ...]:
    """Every pack folder with its state, by a look at names and sizes only."""
    return tuple(_state(path.parent, ledger) for path in sorted(packs.glob(f"*/[!.]*/{MANIFEST}")))


def _state(folder: Path, ledger: PackLedger) -> PackState:
    try:
        pack = InstalledPack(manifest=read_manifest(folder), folder=folder)
    except (UserError, SecurityError) as error:
        name, version = folder.parent.name, folder.name
        return PackState(id=name, version=version, role="", state="missing", size=0, licence="", detail=error.text)
    manifest = pack.manifest
    missing = [file.path for file in manifest.files if not _has_size(folder / file.path, file.size)]
    quarantined = ledger.quarantined(manifest.id, manifest.version)
    return PackState(
        id=manifest.id,
        version=manifest.version,
        role=manifest.role,
        state="missing" if missing else "quarantined" if quarantined else "ready",
        size=pack.size,
        licence=manifest.licence.spdx,
        contents_sha256=pack.contents_sha256,
        detail=f"missing or of another size: {', '.join(missing)}" if missing else quarantined,
        unlisted=manifest.unlisted,
    )


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size


# ------------------------------------------------------------------------------------------- the check before a load


@contextmanager
def open_verified(
    pack: InstalledPack,
    *,
    verify: Verify = "full",
    ledger: PackLedger,
    on_bytes: OnBytes | None = None,
    stop: threading.Event | None = None,
) -> Iterator[OpenPack]:
    """Check a pack's files and hold them open while they are loaded.

    Each file is read through one descriptor that is then loaded, so that nothing can be put in its place between.
    `fast` is honoured only where a full check is remembered and the pack is not quarantined. `on_bytes` hears bytes
    done and bytes in all.

    Raises:
        UserError: a file is missing or its hash differs; the pack is quarantined, the file left as it is.
        Cancelled: `stop` was set.
    """
    manifest = pack.manifest
    with ExitStack() as held:
        opened = {file.path: held.enter_context(_opened(pack, file)) for file in manifest.files}
        done = "fast" if verify == "fast" and _is_unchanged(pack, opened, ledger) else "full"
        if done == "full":
            _check_all(pack, opened, ledger, Progress(pack.size, on_bytes, stop))
        yield OpenPack(
            pack=pack,
            paths={name: _loadable(descriptor, pack.folder / name) for name, descriptor in opened.items()},
            verify="fast" if done == "fast" else "full",
            signature=check_signature((pack.folder / MANIFEST).read_bytes(), None, ()),
        )


@contextmanager
def _opened(pack: InstalledPack, file: PackFile) -> Iterator[int]:
    try:
        descriptor = os.open(pack.folder / file.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise UserError(f"The model pack {pack.manifest.id} lacks its file {file.path}.", code="pack_file") from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UserError(f"The model pack {pack.manifest.id}: {file.path} is not a file.", code="pack_file")
        yield descriptor
    finally:
        os.close(descriptor)


def _loadable(descriptor: int, path: Path) -> str:
    """The name under which a native loader opens the very file that was checked."""
    name = f"/proc/self/fd/{descriptor}"
    return name if os.path.exists(name) else str(path)


def damaged(manifest: PackManifest, ledger: PackLedger, detail: str) -> UserError:
    """Remember a pack as quarantined; gives the error that says so (N16)."""
    ledger.quarantine(manifest.id, manifest.version, detail)
    return UserError(f"{notice('N16')} {detail}", code="pack_damaged")


class Progress:
    """Counts bytes, tells the listener, and ends the reading when asked to."""

    def __init__(self, total: int, listener: OnBytes | None, stop: threading.Event | None) -> None:
        self._total, self._listener, self._stop, self._done = total, listener, stop, 0

    def add(self, count: int) -> None:
        if self._stop is not None and self._stop.is_set():
            raise Cancelled("verify")
        self._done += count
        if self._listener is not None:
            self._listener(self._done, self._total)


def _check_all(pack: InstalledPack, opened: dict[str, int], ledger: PackLedger, progress: Progress) -> None:
    manifest = pack.manifest
    for file in manifest.files:
        found = _hash(opened[file.path], progress)
        if found != file.sha256:
            raise damaged(manifest, ledger, f"{file.path}: expected {file.sha256}, found {found}")
    _remember(manifest, opened, ledger)


def remember(pack: InstalledPack, ledger: PackLedger) -> None:
    """A pack whose bytes were all checked while they were written: its fast marks are kept."""
    with ExitStack() as held:
        opened = {file.path: held.enter_context(_opened(pack, file)) for file in pack.manifest.files}
        _remember(pack.manifest, opened, ledger)


def _remember(manifest: PackManifest, opened: dict[str, int], ledger: PackLedger) -> None:
    marks = tuple(_mark(name, descriptor) for name, descriptor in opened.items())
    ledger.remember(manifest.id, manifest.version, marks)


def _hash(descriptor: int, progress: Progress) -> str:
    state = hashlib.sha256()
    offset = 0
    while block := _read_at(descriptor, BLOCK, offset):
        state.update(block)
        offset += len(block)
        progress.add(len(block))
    return state.hexdigest()


def _read_at(descriptor: int, count: int, offset: int) -> bytes:
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, count)


def _mark(name: str, descriptor: int) -> FastMark:
    """Size, time, inode, and the hash of the first and the last MiB."""
    found = os.fstat(descriptor)
    ends = _read_at(descriptor, ENDS, 0) + _read_at(descriptor, ENDS, max(0, found.st_size - ENDS))
    return FastMark(
        path=name, size=found.st_size, mtime_ns=found.st_mtime_ns, inode=found.st_ino, ends_sha256=codec.sha256(ends)
    )


def _is_unchanged(pack: InstalledPack, opened: dict[str, int], ledger: PackLedger) -> bool:
    name, version = pack.manifest.id, pack.manifest.version
    known = ledger.marks(name, version)
    if not known or ledger.quarantined(name, version):
        return False
    return set(known) == {_mark(file, descriptor) for file, descriptor in opened.items()}
