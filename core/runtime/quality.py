"""The input-quality card: what was not read, is old, could not be interpreted or was not analysed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.domain.assessment import QualityItem
from core.domain.case import Case, SeriesRef
from core.domain.evidence import Finding
from core.domain.notices import notice
from core.runtime import wording
from core.runtime.perception import analytes
from core.runtime.perception.drafts import LABORATORY, without_count

_LABORATORY = frozenset(analytes.packaged().by_id)


def card(case: Case, findings: Sequence[Finding]) -> tuple[QualityItem, ...]:
    """All quality items of a case, in fixed order of kinds."""
    return (*_unread(case), *_pictures(case), *_uninterpreted(findings))


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


def _unread(case: Case) -> Iterable[QualityItem]:
    for unread in case.unread:
        yield QualityItem(kind="not read", text=f"{unread.name}: {unread.reason}")


def _pictures(case: Case) -> Iterable[QualityItem]:
    for picture in case.pictures:
        yield QualityItem(kind="picture", text=f"{picture.title}: present, not analysed")
        if isinstance(picture, SeriesRef):
            for warning in picture.warnings:
                yield QualityItem(kind="series", text=f"{picture.title}: {warning}")
            if not picture.preview_sha256:
                yield QualityItem(kind="picture", text=notice("N5", reason=f"{picture.title}, no readable slice"))


def _uninterpreted(findings: Sequence[Finding]) -> Iterable[QualityItem]:
    noted = ((f, without_count(f.note)) for f in findings if f.value is not None)
    for remark in dict.fromkeys(f"{f.name} {wording.value_of(f)}: {note}" for f, note in noted if note):
        yield QualityItem(kind="value", text=remark)
