"""Import: files in, a case out. Joins what the decode child says with the store; opens no foreign bytes itself.

Everything is read first and nothing is written until the end: originals and previews, then the case in one transaction.
Stopped before that, the import has left no trace but, at worst, bytes that no case names.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core import codec
from core.domain.case import Case, ImageRef, Item, LabTable, Note, Patient, SeriesRef, Unread
from core.domain.notices import notice
from core.errors import Cancelled, UserError
from core.imaging.facts import Instance, Picture, Rendered
from core.imaging.series import Group, Member, grouped
from core.isolate import GIB
from core.readers.table import TableDocument
from core.readers.text import TextDocument
from core.runtime import folder, identity
from core.runtime.foreign import MEGABYTE, Decoder, FileAnswer, Refused
from core.settings import Settings
from core.store.artifacts import Artifacts
from core.store.cases import Cases

Progress = Callable[[int, int, str], None]
Load = Callable[[], bytes]
BLOCK = 4 << 20
TRIES = 3  # images of a series that are tried for its preview
DECODE_CODES = {f"D{n:02}" for n in (*range(3, 10), 13, 18)}
PREFIXES: dict[type, str] = {Note: "n", LabTable: "t", ImageRef: "i", SeriesRef: "s"}
SIDES = {"right": "R", "left": "L", "od": "R", "os": "L", "re": "R", "le": "L"}
LOOKS = {"fundus": "fundus photograph", "retina": "fundus photograph", "ecg": "ECG", "cxr": "chest film"}


class _Kept(msgspec.Struct, frozen=True):
    """Bytes to be kept under their sha256, loaded again when the time has come."""

    load: Load
    media_type: str


class _Gathered(msgspec.Struct):
    """What an import has found so far."""

    items: list[tuple[str, Item]] = []
    members: list[Member] = []
    unread: list[Unread] = []
    kept: dict[str, _Kept] = {}
    names: set[str] = set()


def import_paths(
    paths: Sequence[Path],
    *,
    case_id: str | None,
    title: str | None,
    settings: Settings,
    cases: Cases,
    artifacts: Artifacts,
    actor: str,
    clock: Callable[[], str],
    on_progress: Progress,
    stop: threading.Event,
) -> Case:
    """Read files or folders into a new case, or into the next revision of an existing one.

    `on_progress(done, total, name)` is called before each file and once at the end. Nothing new: the case as it is.

    Raises:
        UserError: no such path or case, or nothing could be read.
        Cancelled: `stop` was set; no case was written.
    """
    old = cases.load(case_id) if case_id else None
    listing = folder.scan(paths, stop)
    with Decoder(settings, stop) as decoder:
        job = _Job(settings=settings, decoder=decoder, artifacts=artifacts, stop=stop, old=old)
        found, patient = job.run(listing, on_progress)
    fresh = old or Case(id="", title=title or listing.title, revision=0, created_at=clock())
    case = _merged(fresh, found, patient)
    if not case.items:
        raise _nothing_read(case.unread)
    if old is not None and (case.items, case.unread, case.patient) == (old.items, old.unread, old.patient):
        return old
    case = replace(case, id=case.id or _free_id(case.title, cases), revision=case.revision + 1)
    for kept in found.kept.values():
        if stop.is_set():
            raise Cancelled("import")
        artifacts.put(kept.load(), kept.media_type, actor)
    cases.save(case, actor, clock())
    on_progress(len(listing.files), len(listing.files), "")
    return case


class _Job:
    """One import: reads every file through the decoder, then draws a picture of every series."""

    def __init__(
        self, *, settings: Settings, decoder: Decoder, artifacts: Artifacts, stop: threading.Event, old: Case | None
    ) -> None:
        self._settings = settings
        self._decoder = decoder
        self._artifacts = artifacts
        self._stop = stop
        self._old = old
        self._found = _Gathered()
        self._seen: dict[str, str] = {}

    def run(self, listing: folder.Listing, on_progress: Progress) -> tuple[_Gathered, Patient]:
        """Everything found, items without ids, and the patient."""
        self._found.unread.extend(listing.unread)
        known = _hashes(self._old)
        for done, file in enumerate(listing.files):
            on_progress(done, len(listing.files), file.name)
            self._file(file, known)
        patient = self._series()
        return self._found, patient

    def _file(self, file: folder.Found, known: set[str]) -> None:
        try:
            data = _read(Path(file.path), self._limit(file), self._stop)
        except UserError as error:
            self._refuse(file.name, error.text)
            return
        sha256 = codec.sha256(data)
        if sha256 in known:
            return
        if (first := self._seen.get(sha256)) is not None:
            self._refuse(file.name, f"Same content as {first}; read once.")
            return
        answer, blob = self._decoder.read(file.name, data)
        self._take(file, sha256, answer, blob)

    def _limit(self, file: folder.Found) -> int:
        """Bytes of the largest file of its kind: images of a scanner may be larger than text."""
        try:
            with Path(file.path).open("rb") as stream:
                is_dicom = stream.read(132)[128:] == b"DICM"
        except OSError as error:
            raise UserError(f"The file could not be opened: {error.strerror}.", code="open") from error
        return int(self._settings.limits.image_gib * GIB) if is_dicom else self._settings.limits.file_mb * MEGABYTE

    def _take(self, file: folder.Found, sha256: str, answer: FileAnswer, blob: bytes) -> None:
        if isinstance(answer, Refused):
            self._refuse(file.name, _n5(answer) if answer.code in DECODE_CODES else answer.reason)
            return
        self._found.names.add(file.name)
        self._seen[sha256] = file.name
        path = Path(file.path)
        self._found.kept[sha256] = _Kept(lambda: _again(path, file.name, sha256, self._stop), _media_type(answer))
        if isinstance(answer, Instance):
            self._found.members.append(Member(file.name, sha256, answer))
            return
        item, remarks = _item(file.name, sha256, answer, self._keep_preview(blob))
        self._found.items.append((file.name, item))
        self._found.unread.extend(Unread(file.name, remark) for remark in remarks)

    def _refuse(self, name: str, reason: str) -> None:
        self._found.names.add(name)
        self._found.unread.append(Unread(name, reason))

    def _keep_preview(self, png: bytes) -> str:
        if not png:
            return ""
        sha256 = codec.sha256(png)
        self._found.kept[sha256] = _Kept(lambda: png, "image/png")
        return sha256

    # -------------------------------------------------------------------------------------------- series

    def _series(self) -> Patient:
        """Group the new instances with those that the case has of the same series; the patient of all."""
        known = self._old.patient if self._old else Patient()
        patient, members, refused = identity.settle(known, self._found.members)
        self._found.unread.extend(refused)
        for lost in {member.sha256 for member in self._found.members} - {member.sha256 for member in members}:
            self._found.kept.pop(lost)
        touched = {member.instance.series_uid for member in members}
        for group in grouped(members + list(self._members_of_old(touched))):
            self._found.items.append((group.name, self._series_ref(group)))
        return patient

    def _members_of_old(self, series_uids: set[str]) -> Iterator[Member]:
        """Instances that the case already has of series that grow now, read again from the store."""
        for item in self._old.pictures if self._old else ():
            if isinstance(item, SeriesRef) and item.series_uid in series_uids:
                for number, sha256 in enumerate(item.files):
                    answer, _ = self._decoder.read("", self._artifacts.read(sha256))
                    if isinstance(answer, Instance):
                        yield Member(f"{item.title} {number:05}", sha256, answer)

    def _series_ref(self, group: Group) -> SeriesRef:
        preview, window, failed = self._drawn(group)
        files = tuple(member.sha256 for member in group.members)
        listed = codec.encode(files)
        self._found.kept[codec.sha256(listed)] = _Kept(lambda: listed, "application/json")
        first = group.middle.instance
        return SeriesRef(
            id="",
            title=_series_title(group),
            study_uid=first.study_uid,
            series_uid=group.series_uid,
            modality=first.modality,
            instances=len(files),
            sha256=codec.sha256(listed),
            preview_sha256=preview,
            rows=first.rows,
            columns=first.columns,
            frames=max(member.instance.frames for member in group.members),
            body_part=first.body_part,
            view=first.view,
            laterality=first.laterality,
            acquired_on=first.acquired_on,
            window=window,
            warnings=(*group.warnings, *failed),
            files=files,
        )

    def _drawn(self, group: Group) -> tuple[str, str, list[str]]:
        """Preview's sha256, window, and why images could not be drawn: the middle one, else its neighbours."""
        centre = len(group.members) // 2
        order = sorted(range(len(group.members)), key=lambda n: abs(n - centre))
        failed: list[str] = []
        for index in order[:TRIES]:
            member = group.members[index]
            answer, png = self._decoder.render(
                self._bytes(member.sha256), pixels=member.instance.rows * member.instance.columns
            )
            if isinstance(answer, Rendered):
                return self._keep_preview(png), answer.window, failed
            reason = _n5(answer)
            failed.append(reason)
            self._found.unread.append(Unread(member.name, reason))
        return "", "", failed

    def _bytes(self, sha256: str) -> bytes:
        kept = self._found.kept.get(sha256)
        return kept.load() if kept else self._artifacts.read(sha256)


# ------------------------------------------------------------------------------------------------ bytes


def _read(path: Path, limit: int, stop: threading.Event) -> bytes:
    """A file's bytes, in blocks so that a stop is heard.

    Raises:
        UserError: larger than the limit, or not readable.
    """
    blocks = bytearray()
    try:
        with path.open("rb") as stream:
            while block := stream.read(BLOCK):
                blocks += block
                if stop.is_set():
                    raise Cancelled("import")
                if len(blocks) > limit:
                    raise UserError(f"The file is too large: the limit is {limit / 1e6:.0f} MB.", code="size")
    except OSError as error:
        raise UserError(f"The file could not be opened: {error.strerror}.", code="open") from error
    return bytes(blocks)


def _again(path: Path, name: str, sha256: str, stop: threading.Event) -> bytes:
    """The same bytes as were read before, for keeping."""
    data = _read(path, 1 << 62, stop)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise UserError(f"{name} changed while it was being imported. Import it again.", code="changed")
    return data


def _hashes(case: Case | None) -> set[str]:
    """Of every file that the case already has."""
    found: set[str] = set()
    for item in case.items if case else ():
        found.update(item.files if isinstance(item, SeriesRef) else (item.sha256,))
    return found


# ------------------------------------------------------------------------------------------------ items


def _item(
    name: str, sha256: str, answer: TextDocument | TableDocument | Picture, preview: str
) -> tuple[Item, tuple[str, ...]]:
    """An item without id, and what is to be said about it."""
    if isinstance(answer, TextDocument):
        note = Note(
            id="", title=name, text=answer.text, sha256=sha256, encoding=answer.encoding, written_on=answer.written_on
        )
        return note, answer.remarks
    if isinstance(answer, TableDocument):
        return LabTable(id="", title=name, rows=answer.rows, sha256=sha256), answer.remarks
    words = re.findall(r"[a-z]+", name.rsplit("/", 1)[-1].lower())
    return ImageRef(
        id="",
        title=name,
        sha256=sha256,
        preview_sha256=preview,
        width=answer.width,
        height=answer.height,
        modality=next((LOOKS[word] for word in words if word in LOOKS), ""),
        laterality=next((SIDES[word] for word in words if word in SIDES), ""),
        acquired_on=answer.acquired_on,
    ), answer.remarks


def _media_type(answer: FileAnswer) -> str:
    if isinstance(answer, Instance):
        return "application/dicom"
    if isinstance(answer, TableDocument):
        return "text/csv"
    return "image/*" if isinstance(answer, Picture) else "text/plain"


def _series_title(group: Group) -> str:
    instance = group.middle.instance
    named = " ".join(part for part in (instance.modality, instance.body_part, instance.view) if part)
    return instance.description or named or group.name


def _n5(refused: Refused) -> str:
    reason = refused.reason.rstrip(".")
    return notice("N5", reason=reason[:1].lower() + reason[1:])


# ------------------------------------------------------------------------------------------------ the case


def _merged(old: Case, found: _Gathered, patient: Patient) -> Case:
    """The old items with their ids, series replaced where they grew, new items numbered in the order of their names."""
    items = {item.id: item for item in old.items}
    by_series = {item.series_uid: item.id for item in old.items if isinstance(item, SeriesRef)}
    for _, item in sorted(found.items, key=lambda pair: (pair[0].casefold(), pair[0])):
        known = by_series.get(item.series_uid) if isinstance(item, SeriesRef) else None
        identifier = known or _next_id(PREFIXES[type(item)], items)
        items[identifier] = replace(item, id=identifier)
    unread = [entry for entry in old.unread if entry.name not in found.names]
    unread += [entry for entry in found.unread if entry not in unread]
    ordered = sorted(unread, key=lambda entry: (entry.name.casefold(), entry.reason))
    return replace(old, items=tuple(items.values()), unread=tuple(ordered), patient=patient)


def _next_id(prefix: str, taken: dict[str, Item]) -> str:
    numbers = [int(identifier[1:]) for identifier in taken if identifier[0] == prefix]
    return f"{prefix}{max(numbers, default=0) + 1}"


def _free_id(title: str, cases: Cases) -> str:
    """The title as an identifier, with a number where it is taken."""
    stem = re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")[:60] or "case"
    taken = {summary.id for summary in cases.list()}
    number = 1
    while (name := stem if number == 1 else f"{stem}-{number}") in taken:
        number += 1
    return name


def _nothing_read(unread: tuple[Unread, ...]) -> UserError:
    listed = " ".join(f"{entry.name}: {entry.reason}" for entry in unread[:5])
    more = f" And {len(unread) - 5} more." if len(unread) > 5 else ""
    return UserError(f"Nothing could be read. {listed}{more}".strip(), code="nothing read")
