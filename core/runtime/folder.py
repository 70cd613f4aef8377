"""Which files an import means: folders walked without following links, system files left out, each with a clean name.

Opens no file. Links are never followed: what they point to inside the folder is read where it lies, and what lies
outside is none of this case's business.
"""

from __future__ import annotations

import os
import stat
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from core.domain.case import Unread
from core.errors import Cancelled, UserError

FILES = 50_000
SYSTEM = {"thumbs.db", "desktop.ini", "__macosx", "$recycle.bin", "system volume information"}
LINK_OUT = "A link that leads out of the folder; it was not followed."
LINK_INSIDE = "A link within the folder; what it points to is read where it lies."
LINK_NOWHERE = "A link that leads nowhere."


class Found(msgspec.Struct, frozen=True):
    """A file to read: its name for people (relative to the folder, "/" between parts) and where it lies."""

    name: str
    path: str
    size: int


class Listing(msgspec.Struct, frozen=True):
    """Files in the order of their names, what was passed over and why, and a name for the whole."""

    title: str
    files: tuple[Found, ...]
    unread: tuple[Unread, ...]


def scan(paths: Sequence[Path], stop: threading.Event) -> Listing:
    """List what is to be read.

    Raises:
        UserError: a path does not exist, or there are more than 50,000 files.
        Cancelled: `stop` was set.
    """
    found: list[Found] = []
    unread: list[Unread] = []
    for path in paths:
        if not path.exists():
            raise UserError(f"There is no file or folder {path}.", code="no such file")
        root = path.resolve()
        prefix = f"{clean(root.name)}/" if len(paths) > 1 and root.is_dir() else ""
        for item in _walk(root, stop) if root.is_dir() else _single(root):
            named = msgspec.structs.replace(item, name=prefix + item.name)
            if isinstance(named, Found):
                found.append(named)
            else:
                unread.append(named)
            if len(found) > FILES:
                raise UserError(f"More than {FILES:,} files; choose a smaller folder.", code="too many files")
    files = tuple(sorted(found, key=lambda f: (f.name.casefold(), f.name)))
    return Listing(_title(paths), files, tuple(sorted(unread, key=lambda u: u.name)))


def clean(name: str) -> str:
    """A file's name as text: undecodable bytes and control or direction characters become "\ufffd"."""
    text = os.fsencode(name).decode("utf-8", errors="replace")
    shown = (c if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else "\ufffd" for c in text)
    return unicodedata.normalize("NFC", "".join(shown))


def _title(paths: Sequence[Path]) -> str:
    """From the folder's name, or the file's: "acute-dyspnoea" is "Acute dyspnoea"."""
    first = paths[0].resolve()
    name = first.name if first.is_dir() else first.stem if len(paths) == 1 else first.parent.name
    words = " ".join(clean(name).replace("_", " ").replace("-", " ").split())
    return words[:1].upper() + words[1:] if words else "Case"


def _single(path: Path) -> Iterator[Found | Unread]:
    yield _file(clean(path.name), path)


def _walk(root: Path, stop: threading.Event) -> Iterator[Found | Unread]:
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        name = clean(folder.relative_to(root).as_posix())
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Unread(name, f"The folder could not be opened: {error.strerror}.")
            continue
        for entry in inside:
            if stop.is_set():
                raise Cancelled("import")
            if _is_system(entry):
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            else:
                yield _file(clean(Path(entry.path).relative_to(root).as_posix()), Path(entry.path), root)


def _is_system(entry: os.DirEntry[str]) -> bool:
    """Hidden, or left there by an operating system or an office program."""
    hidden = getattr(entry.stat(follow_symlinks=False), "st_file_attributes", 0) & 2
    return bool(hidden) or is_system(entry.name)


def is_system(name: str) -> bool:
    """Does a part of a path name what an operating system or an office program leaves behind?"""
    return any(part.startswith((".", "~$")) or part in SYSTEM for part in name.lower().split("/"))


def _file(name: str, path: Path, root: Path | None = None) -> Found | Unread:
    try:
        facts = path.lstat()
        if stat.S_ISLNK(facts.st_mode):
            return Unread(name, _link(path, root))
    except OSError as error:
        return Unread(name, f"The file could not be opened: {error.strerror}.")
    if not stat.S_ISREG(facts.st_mode):
        return Unread(name, "It is not an ordinary file.")
    return Found(name, str(path), facts.st_size)


def _link(path: Path, root: Path | None) -> str:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return LINK_NOWHERE
    return LINK_INSIDE if root is not None and target.is_relative_to(root) else LINK_OUT
