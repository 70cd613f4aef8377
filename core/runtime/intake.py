"""Import: files in, a case out. Joins what the decode child says with the store; opens no foreign bytes itself.

Files are streamed: while the child reads one, this process keeps it aside and reads the next. Nothing is in the profile
until the end: originals and previews become durable together, then the case is written in one transaction. Stopped
before that, the import leaves nothing.
"""

from __future__ import annotations

import re
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from core import codec
from core.domain.case import Case, Item, Patient, SeriesRef, Unread
from core.errors import UserError
from core.imaging.facts import Directory, Instance, Paper, Picture, Rendered
from core.imaging.series import Group, Member, grouped
from core.runtime import folder, identity, items
from core.runtime.foreign import Decoder, FileAnswer, Parted, Refused
from core.runtime.identity import Claim
from core.runtime.items import Source
from core.runtime.unpacking import Opened, Sources
from core.settings import Settings
from core.store.artifacts import Artifacts, Batch
from core.store.cases import Cases

Progress = Callable[[int, int, str], None]
Told = Callable[[str, str], None]
AHEAD_FILES, AHEAD_BYTES = 128, 64 << 20  # read and not yet answered for
TRIES = 3  # images of a series that are tried for its preview
ABSENT = "It lists {count} that are not among the files imported ({names})."
OUTSIDE = "It lists a file outside its folder ({path}), which was not opened."


class _Found(msgspec.Struct):
    """What an import has found so far. `items` are (name of the file, item without id)."""

    items: list[tuple[str, Item]] = []
    members: list[Member] = []
    claims: list[Claim] = []
    directories: list[tuple[str, Directory]] = []
    cards: Counter[str] = msgspec.field(default_factory=Counter)
    unread: list[Unread] = []
    names: set[str] = set()
    files: dict[str, str] = {}  # sha256 by name


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
    on_file: Told = lambda name, reason: None,
) -> Case:
    """Read files, folders and archives into a new case, or into the next revision of an existing one.

    `on_progress(done, total, name)` is called before each file and once at the end; `on_file(name, reason)` as soon as
    a file was read (reason "") or was not, so that a list of them can grow meanwhile. Nothing new: the case as it is.
    Where the settings' profile works without images, an image is refused like any other file, with that reason.

    Raises:
        UserError: no such path or case, or nothing could be read.
        StoreError: the disk is full or cannot be written; no case was written.
        Cancelled: `stop` was set; no case was written.
    """
    old = cases.load(case_id) if case_id else None
    with Decoder(settings, stop) as decoder, Sources(settings, stop) as sources, artifacts.batch(actor) as batch:
        listing = folder.scan(paths, stop)
        job = _Job(
            decoder=decoder,
            sources=sources,
            batch=batch,
            artifacts=artifacts,
            old=old,
            on_file=on_file,
            images=settings.images,
        )
        found, patient = job.run(listing, on_progress)
        fresh = old or Case(id="", title=title or listing.title, revision=0, created_at=clock())
        case = _merged(fresh, found, patient)
        if not case.items:
            raise _nothing_read(case.unread)
        if old is not None and (case.items, case.unread, case.patient) == (old.items, old.unread, old.patient):
            return old
        case = replace(case, id=case.id or _free_id(case.title, cases), revision=case.revision + 1)
        batch.keep(stop)
    cases.save(case, actor, clock())
    on_progress(len(listing.files), len(listing.files), "")
    return case


class _Job:
    """One import: reads every file through the decoder, then draws a picture of every series."""

    def __init__(
        self,
        *,
        decoder: Decoder,
        sources: Sources,
        batch: Batch,
        artifacts: Artifacts,
        old: Case | None,
        on_file: Told,
        images: bool,
    ) -> None:
        self._decoder = decoder
        self._sources = sources
        self._batch = batch
        self._artifacts = artifacts
        self._old = old
        self._on_file = on_file
        self._images = images
        self._found = _Found()
        self._seen: dict[str, str] = {}

    def run(self, listing: folder.Listing, on_progress: Progress) -> tuple[_Found, Patient]:
        """Everything found, items without ids, and the patient."""
        for unread in listing.unread:
            self._refuse(unread.name, unread.reason)
        self._read(self._sources.files(listing, on_progress))
        patient = self._settle_identity()
        self._check_directories()
        self._series(lambda name: on_progress(len(listing.files), len(listing.files), name))
        return self._found, patient

    # ------------------------------------------------------------------------------------------ files

    def _read(self, files: Iterator[Opened | Unread]) -> None:
        """Ask about each file and keep it aside; the child answers meanwhile, at most some files behind."""
        known = items.hashes(self._old)
        asked: deque[Opened] = deque()
        for file in files:
            if isinstance(file, Unread):
                self._refuse(file.name, file.reason)
                continue
            if file.sha256 in known:
                continue
            while asked and (self._is_far_ahead(file) or any(one.sha256 == file.sha256 for one in asked)):
                self._finish(asked.popleft())
            if (first := self._seen.get(file.sha256)) is not None:
                self._refuse(file.name, f"{items.TWIN} {first}; read once.")
                continue
            self._decoder.begin(file.name, file.data)
            self._batch.add(file.data, "", sha256=file.sha256)
            asked.append(msgspec.structs.replace(file, data=b""))
        while asked:
            self._finish(asked.popleft())

    def _is_far_ahead(self, file: Opened) -> bool:
        waiting = self._decoder.waiting
        return len(waiting) >= AHEAD_FILES or sum(waiting) + len(file.data) > AHEAD_BYTES

    def _finish(self, file: Opened) -> None:
        """Take the answer on a file that was asked about."""
        answer, blob = self._decoder.finish()
        if isinstance(answer, Refused):
            self._batch.drop(file.sha256)
            self._found.cards[answer.series_uid] += 1
            self._refuse(file.name, items.refusal(answer))
            return
        if isinstance(answer, Instance | Picture) and not self._images:
            self._batch.drop(file.sha256)
            self._refuse(file.name, items.IMAGES_OFF)
            return
        self._batch.describe(file.sha256, items.media_type(answer))
        self._found.names.add(file.name)
        self._found.files[file.name] = file.sha256
        self._seen[file.sha256] = file.name
        self._take(file, answer, blob)
        self._on_file(file.name, "")

    def _take(self, file: Opened, answer: FileAnswer, blob: bytes) -> None:
        if isinstance(answer, Instance | Paper | Parted):
            self._found.claims.append(Claim(file.name, answer.patient))
        if isinstance(answer, Instance):
            self._found.members.append(Member(file.name, file.sha256, answer))
        elif isinstance(answer, Directory):
            self._found.directories.append((file.name, answer))
        else:
            source = Source(file.name, file.sha256, self._keep_preview(blob))
            self._found.items.extend((file.name, item) for item in items.items_of(source, answer))
            self._found.unread.extend(Unread(file.name, remark) for remark in items.remarks_of(answer))

    def _refuse(self, name: str, reason: str) -> None:
        self._found.names.add(name)
        self._found.unread.append(Unread(name, reason))
        self._on_file(name, reason)

    def _keep_preview(self, png: bytes) -> str:
        return self._batch.add(png, "image/png") if png else ""

    # ------------------------------------------------------------------------------------------ whose, and where

    def _settle_identity(self) -> Patient:
        """The patient of all; what names another one is taken out again, and said."""
        known = self._old.patient if self._old else Patient()
        patient, refused = identity.settle(known, self._found.claims)
        strangers = {unread.name for unread in refused}
        self._found.unread = [entry for entry in self._found.unread if entry.name not in strangers]
        for unread in refused:
            self._batch.drop(self._found.files[unread.name])
            self._refuse(unread.name, unread.reason)
        self._found.items = [pair for pair in self._found.items if pair[0] not in strangers]
        self._found.members = [member for member in self._found.members if member.name not in strangers]
        return patient

    def _check_directories(self) -> None:
        """What a DICOMDIR lists and is not there, and what it must not list. It is a hint; files decide."""
        here = {name.casefold() for name in self._found.names}
        for name, directory in self._found.directories:
            place = f"{name.rpartition('/')[0]}/".lstrip("/").casefold()
            absent = [entry.path for entry in directory.entries if place + entry.path.casefold() not in here]
            if absent:
                count = f"{len(absent)} files" if len(absent) > 1 else "1 file"
                named = ", ".join(absent[:3]) + (", …" if len(absent) > 3 else "")
                self._refuse(name, ABSENT.format(count=count, names=named))
            for path in directory.refused:
                self._refuse(name, OUTSIDE.format(path=path))

    # ------------------------------------------------------------------------------------------ series

    def _series(self, on_series: Callable[[str], None]) -> None:
        """Group the new instances with those that the case has of the same series, and draw one image of each."""
        members = self._found.members
        touched = {member.instance.series_uid for member in members}
        listed = Counter(entry.series_uid for _, found in self._found.directories for entry in found.entries)
        known = members + list(self._members_of_old(touched))
        for group in grouped(known, announced=listed, cards=self._found.cards):
            on_series(group.name)
            self._found.items.append((group.name, self._series_ref(group)))

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
        group = group.without(len(failed))
        files = tuple(member.sha256 for member in group.members)
        first = group.middle.instance
        return SeriesRef(
            id="",
            title=items.series_title(group),
            study_uid=first.study_uid,
            series_uid=group.series_uid,
            modality=first.modality,
            instances=len(files),
            sha256=self._batch.add(codec.encode(files), "application/json"),
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
            checks=group.checks,
        )

    def _drawn(self, group: Group) -> tuple[str, str, list[str]]:
        """Preview's sha256, window, and why images could not be drawn: the middle one, else its neighbours."""
        centre = group.members.index(group.middle)
        order = sorted(range(len(group.members)), key=lambda n: abs(n - centre))
        failed: list[str] = []
        for index in order[:TRIES]:
            member = group.members[index]
            answer, png = self._decoder.render(
                self._bytes(member.sha256), pixels=member.instance.rows * member.instance.columns
            )
            if isinstance(answer, Rendered):
                return self._keep_preview(png), answer.window, failed
            reason = items.n5(answer)
            failed.append(reason)
            self._found.unread.append(Unread(member.name, reason))
        return "", "", failed

    def _bytes(self, sha256: str) -> bytes:
        return self._batch.read(sha256) if sha256 in self._batch else self._artifacts.read(sha256)


# ------------------------------------------------------------------------------------------------ the case


def _merged(old: Case, found: _Found, patient: Patient) -> Case:
    """The old items with their ids, series replaced where they grew, new items numbered in the order of their names."""
    merged = {item.id: item for item in old.items}
    by_series = {item.series_uid: item.id for item in old.items if isinstance(item, SeriesRef)}
    for _, item in sorted(found.items, key=lambda pair: (pair[0].casefold(), pair[0])):
        known = by_series.get(item.series_uid) if isinstance(item, SeriesRef) else None
        identifier = known or _next_id(items.PREFIXES[type(item)], merged)
        merged[identifier] = replace(item, id=identifier)
    unread = [entry for entry in old.unread if entry.name not in found.names]
    unread = list(dict.fromkeys([*unread, *found.unread]))
    ordered = sorted(unread, key=lambda entry: (entry.name.casefold(), entry.reason))
    return replace(old, items=tuple(merged.values()), unread=tuple(ordered), patient=patient)


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
