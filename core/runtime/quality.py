"""The input-quality card: what was not read, is wrong with images, hidden, old, missing, or not interpreted. Pure.

Each item is one sentence; `kind` names the defect (product.md section 5). Nothing is said of inputs that are in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from core.domain.assessment import QualityItem
from core.domain.case import Case, Note, SeriesRef, Unread
from core.domain.evidence import Finding
from core.domain.notices import TEXTS, notice
from core.runtime import identity, items, wording
from core.runtime.perception import analytes
from core.runtime.perception.drafts import LABORATORY, without_count

STALE_DAYS = 30  # between the newest laboratory value and the newest document
MANDATORY = ("clinical notes", "age and sex")
NOT_DECODED, UNVERIFIABLE = TEXTS["N5"].partition("{")[0], TEXTS["N11"]
# Checks of a series (imaging.md 4.6) by the defect that they find.
CHECKS = {
    "S01": "missing slices",
    "S02": "irregular spacing",
    "S03": "irregular spacing",
    "S04": "mixed orientation",
    "S10": "lossy",
    "S11": "burned-in text",
    "S12": "identity",
    "S13": "missing slices",
    "S14": "decode failure",
}
_LABORATORY = frozenset(analytes.packaged().by_id)


def card(case: Case, findings: Sequence[Finding]) -> tuple[QualityItem, ...]:
    """All quality items of a case, in fixed order of kinds."""
    found = (
        *_unread(case),
        *_pictures(case),
        *_doubled(case),
        *_hidden(case),
        *_stale(case),
        *_missing(case, findings),
        *_uninterpreted(findings),
    )
    return tuple(dict.fromkeys(found))


def unavailable(case: Case, findings: Sequence[Finding]) -> tuple[str, ...]:
    """What a sound work-up would have and this case lacks (N3): kinds of input, by name."""
    measured = {finding.quantity for finding in findings if finding.quantity}
    lacking = []
    if not case.notes:
        lacking.append("clinical notes")
    if not any(finding.extractor == LABORATORY or finding.quantity in _LABORATORY for finding in findings):
        lacking.append("laboratory values")
    if not measured & {"systolic_bp", "heart_rate", "respiratory_rate", "spo2", "temperature"}:
        lacking.append("vital signs")
    if not any(finding.extractor.startswith("background") or finding.quantity == "age" for finding in findings):
        lacking.append("age and sex")
    return tuple(lacking)


# ------------------------------------------------------------------------------------------------ files


def _unread(case: Case) -> Iterable[QualityItem]:
    for unread in case.unread:
        yield QualityItem(kind=_kind_of(unread), text=f"{unread.name}: {unread.reason}")


def _kind_of(unread: Unread) -> str:
    """The defect that a reason names; files that were not read for another reason are just that."""
    beginnings = {
        NOT_DECODED: "decode failure",
        identity.STRANGER: "identity",
        items.TWIN: "duplicate",
    }
    return next((kind for start, kind in beginnings.items() if unread.reason.startswith(start)), "not read")


def _pictures(case: Case) -> Iterable[QualityItem]:
    for picture in case.pictures:
        yield QualityItem(kind="picture", text=f"{picture.title}: present, not analysed")
        if isinstance(picture, SeriesRef):
            yield from _series(picture)
            if not picture.preview_sha256:
                reason = f"{picture.title}, no readable slice"
                yield QualityItem(kind="decode failure", text=notice("N5", reason=reason))


def _series(series: SeriesRef) -> Iterator[QualityItem]:
    """Every warning once, under the defect of the check that found it."""
    kinds = {check.text: CHECKS.get(check.code, "series") for check in series.checks}
    for warning in series.warnings:
        kind = kinds.get(warning, "series")
        if warning.startswith(UNVERIFIABLE):
            kind = "unverifiable pixels"
        elif warning.startswith(NOT_DECODED):
            kind = "decode failure"
        yield QualityItem(kind=kind, text=f"{series.title}: {warning}")


def _doubled(case: Case) -> Iterator[QualityItem]:
    """Series that say of themselves the same, down to the minute: one study, imported or sent twice."""
    told = Counter(_likeness(picture) for picture in case.pictures if isinstance(picture, SeriesRef))
    for likeness, count in told.items():
        if count > 1 and likeness[-1]:
            yield QualityItem(
                kind="duplicate",
                text=f"{likeness[0]}: {count} series of the same kind, size and time; one may be a copy",
            )


def _likeness(series: SeriesRef) -> tuple[str, ...]:
    size = f"{series.instances} {series.rows} {series.columns} {series.frames}"
    where = f"{series.modality} {series.body_part} {series.view} {series.laterality}"
    return series.title, where, size, series.acquired_on if "T" in series.acquired_on else ""


# ------------------------------------------------------------------------------------------------ documents and values


def _hidden(case: Case) -> Iterator[QualityItem]:
    for note in case.notes:
        if note.hidden:
            yield QualityItem(kind="hidden text", text=f"{notice('N15', document=note.title)}: {_where(note)}")


def _where(note: Note) -> str:
    """ "white text (page 1)"."""
    told = []
    for span in note.hidden:
        page = note.page(span.start)
        told.append(f"{span.why} (page {page})" if page else span.why)
    return ", ".join(dict.fromkeys(told))


def _stale(case: Case) -> Iterator[QualityItem]:
    """Laboratory values that are older than the newest document by more than a month."""
    taken = [day for table in case.tables for row in table.rows if (day := _day(row.collected_at))]
    written = [day for note in case.notes if (day := _day(note.written_on))]
    if taken and written and (old := (max(written) - max(taken)).days) > STALE_DAYS:
        text = f"The newest laboratory value is of {max(taken)}, {old} days before the newest document"
        yield QualityItem(kind="old values", text=text)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _missing(case: Case, findings: Sequence[Finding]) -> Iterator[QualityItem]:
    lacking = [kind for kind in unavailable(case, findings) if kind in MANDATORY]
    if lacking:
        yield QualityItem(kind="missing", text=notice("N3", list=", ".join(lacking)))


def _uninterpreted(findings: Sequence[Finding]) -> Iterable[QualityItem]:
    noted = ((f, without_count(f.note)) for f in findings if f.value is not None)
    for remark in dict.fromkeys(f"{f.name} {wording.value_of(f)}: {note}" for f, note in noted if note):
        yield QualityItem(kind="value", text=remark)
