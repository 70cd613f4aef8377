"""A `.wrpack` file into the store, read with distrust: of what it says nothing is believed that can be checked.

Every member must have the length and hash of the manifest, every value only the keys that this version knows, every
passage its place; else nothing is changed (knowledge.md section 11). Nothing is unpacked to a disk.
"""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import msgspec

from core import codec
from core.domain.passage import Fact
from core.errors import Cancelled, UserError
from core.retrieval.importing import ACTIVE_KINDS, ImportReport, Progress, admitted, reported
from core.retrieval.index import PassageIndex
from core.retrieval.packfile import (
    CARRIED,
    CONCEPTS,
    DOCS,
    FACTS,
    FORMAT,
    LICENCE_FILE,
    MANIFEST,
    MEMBERS,
    ROLE,
    SUFFIX,
    FactLine,
    Manifest,
    WordLine,
)
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc, Item, Pack

T = TypeVar("T")
LONGEST_LINE = 64 << 20  # bytes
MOST_MANIFEST = 16 << 20
EVERY = 200  # lines between two reports of progress


def is_packfile(path: Path) -> bool:
    """By its name."""
    return path.name.lower().endswith(SUFFIX)


def import_pack(
    store: KnowledgeStore,
    index: PassageIndex | None,
    path: Path,
    *,
    actor: str,
    replaces: str = "",
    on_progress: Callable[[Progress], None] = lambda progress: None,
    stop: threading.Event | None = None,
) -> ImportReport:
    """Bring in a pack from a file: a draft unless it is a vocabulary. `replaces`: the edition that it supersedes.

    Raises:
        UserError: no knowledge pack, of a later form, damaged, or not what its manifest says; nothing is changed then.
        Cancelled: `stop` was set; nothing is changed.
    """
    try:
        with path.open("rb") as stream:
            return _import(store, index, stream, path.name, actor, replaces, _Told(on_progress, stop, _size(path)))
    except OSError as error:
        raise UserError(f"{path.name} cannot be read: {error.strerror or 'it is damaged'}.", code="no file") from error


def _size(path: Path) -> int:
    return path.stat().st_size


class _Told:
    """Progress and stop of one import."""

    def __init__(self, on_progress: Callable[[Progress], None], stop: threading.Event | None, total: int) -> None:
        self._on_progress, self._stop, self._total = on_progress, stop, total
        self._records = self._bytes = 0

    def line(self, size: int) -> None:
        """One line was read."""
        self._records += 1
        self._bytes = min(self._bytes + size, self._total)
        if self._stop is not None and self._stop.is_set():
            raise Cancelled("import")
        if self._records % EVERY == 0:
            self._on_progress(Progress(self._records, self._bytes, self._total))


def _import(
    store: KnowledgeStore,
    index: PassageIndex | None,
    stream: IO[bytes],
    name: str,
    actor: str,
    replaces: str,
    told: _Told,
) -> ImportReport:
    archive = _opened(stream, name)
    with archive:
        manifest = _read_manifest(archive, name)
        text = _read_licence(archive, manifest, name)
        pack = admitted(store, _pack(manifest, text, replaces))
        put = store.put_pack(pack, _items(archive, manifest, name, told), actor=actor, reason=f"from {name}")
    if index is not None:
        index.reconcile()
    return reported(pack, put)


def _opened(stream: IO[bytes], name: str) -> zipfile.ZipFile:
    """The archive, if it has exactly the members that it must have, stored as they are."""
    try:
        archive = zipfile.ZipFile(stream)
        members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, RuntimeError) as error:
        raise UserError(f"{name} is no knowledge pack, or it is damaged.", code="packfile") from error
    if tuple(member.filename for member in members) != MEMBERS:
        raise UserError(f"{name} is no knowledge pack: it must hold {', '.join(MEMBERS)}, and no more.", code="members")
    if any(member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1 for member in members):
        raise UserError(f"{name} is no knowledge pack: its parts are packed or protected.", code="members")
    return archive


def _read_manifest(archive: zipfile.ZipFile, name: str) -> Manifest:
    data = b"".join(_raw(archive, MANIFEST, name, most=MOST_MANIFEST))
    manifest = _value(data, Manifest, f"The manifest of {name}")
    if manifest.role != ROLE:
        raise UserError(f"{name} is a pack of role {manifest.role}, not of knowledge.", code="role")
    if manifest.format != FORMAT:
        raise UserError(
            f"{name} has form {manifest.format}; this version reads form {FORMAT}. Install a newer one.", code="newer"
        )
    if tuple(file.path for file in manifest.files) != MEMBERS[1:]:
        raise UserError(f"The manifest of {name} lists other files than it holds.", code="members")
    return manifest


def _read_licence(archive: zipfile.ZipFile, manifest: Manifest, name: str) -> str:
    text = b"".join(_checked(archive, manifest, LICENCE_FILE, name)).decode("utf-8", "replace")
    first, _, rest = text.partition("\n")
    if first.strip() != manifest.licence.spdx:
        raise UserError(f"{name} names the licence {manifest.licence.spdx}, its LICENSE another one.", code="licence")
    return rest.strip()


def _pack(manifest: Manifest, licence_text: str, replaces: str) -> Pack:
    return Pack(
        id=manifest.id,
        licence_id=manifest.licence.spdx,
        licence_text=licence_text,
        files=manifest.sources,
        state="active" if manifest.kind in ACTIVE_KINDS else "draft",
        replaces=replaces,
        **{name: getattr(manifest, name) for name in CARRIED},
    )


def _items(archive: zipfile.ZipFile, manifest: Manifest, name: str, told: _Told) -> Iterator[Item]:
    """All that it holds, each member checked at its end: a wrong one undoes the import."""
    facts: dict[str, list[Fact]] = {}
    done = dict.fromkeys(("facts", "docs", "concepts", "drugs"), 0)
    for line in _values(archive, manifest, FACTS, FactLine, name, told):
        facts.setdefault(line.doc, []).append(line.fact)
        done["facts"] += 1
    for doc in _values(archive, manifest, DOCS, Doc, name, told):
        done["docs"] += 1
        yield msgspec.structs.replace(doc, facts=tuple(facts.pop(doc.source_key, ())))
    for word in _values(archive, manifest, CONCEPTS, WordLine, name, told):
        for kind, item in (("concepts", word.concept), ("drugs", word.drug)):
            if item is not None:
                done[kind] += 1
                yield item
    if facts or any(done[kind] != getattr(manifest, kind) for kind in done):
        raise UserError(f"{name} does not hold as much as its manifest says.", code="counts")


def _values(
    archive: zipfile.ZipFile, manifest: Manifest, member: str, kind: type[T], name: str, told: _Told
) -> Iterator[T]:
    for number, line in enumerate(_checked(archive, manifest, member, name), start=1):
        told.line(len(line))
        value = _value(line, kind, f"{member} of {name}, line {number},")
        _check_spans(value, f"{member} of {name}, line {number},")
        yield value


def _check_spans(value: object, where: str) -> None:
    """A passage must lie in its section."""
    for section in value.sections if isinstance(value, Doc) else ():
        if any(not 0 <= span.start < span.end <= len(section.text) for span in section.spans):
            raise UserError(f"{where} names a passage that lies outside its section.", code="span")


def _checked(archive: zipfile.ZipFile, manifest: Manifest, member: str, name: str) -> Iterator[bytes]:
    """The lines of a member; at its end its length and hash must be the manifest's."""
    wanted = next(file for file in manifest.files if file.path == member)
    digest, size = hashlib.sha256(), 0
    for line in _raw(archive, member, name, most=wanted.size):
        digest.update(line)
        size += len(line)
        yield line
    if (size, digest.hexdigest()) != (wanted.size, wanted.sha256):
        raise UserError(f"{member} of {name} is damaged: its hash is not the one of the manifest.", code="hash")


def _raw(archive: zipfile.ZipFile, member: str, name: str, *, most: int) -> Iterator[bytes]:
    left = most
    try:
        with archive.open(member) as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                left -= len(line)
                if left < 0 or len(line) > LONGEST_LINE:
                    raise UserError(f"{member} of {name} is longer than it may be.", code="size")
                yield line
    except (zipfile.BadZipFile, EOFError, ValueError, OSError, RuntimeError) as error:
        raise UserError(f"{member} of {name} is damaged, or it cannot be read.", code="damaged") from error


def _value(data: bytes, kind: type[T], where: str) -> T:
    """A value of a struct, without a key that the struct does not have, however deep."""
    try:
        value: T = codec.decode(data, kind)
        extra = _unknown(msgspec.json.decode(data), msgspec.to_builtins(value))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"{where} does not have the expected form: {error}.", code="form") from error
    if extra:
        raise UserError(f"{where} holds {extra!r}, which this version does not know.", code="unknown key")
    return value


def _unknown(given: Any, known: Any) -> str:
    """The first key that was given and is not known; "" if there is none."""
    if isinstance(given, dict) and isinstance(known, dict):
        for key, value in given.items():
            if extra := key if key not in known else _unknown(value, known[key]):
                return str(extra)
    if isinstance(given, list) and isinstance(known, list | tuple):
        return next(filter(None, map(_unknown, given, known)), "")
    return ""
