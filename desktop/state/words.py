"""Sentences and short words that several pages share: ages, states, laboratory flags, sources. Pure; knows no Qt."""

from __future__ import annotations

from datetime import UTC, date, datetime

from core.domain.case import EhrDatabase, ImageRef, Item, LabRow, LabTable, Note, Patient, SeriesRef
from core.domain.evidence import Provenance
from desktop.i18n import tr

UNKNOWN = "—"
_STEPS = ((60, 1, "s"), (3600, 60, "min"), (86400, 3600, "h"), (86400 * 90, 86400, "d"))
STATES = {
    "new data": ("new", "accent", "new data"),
    "queued": ("clock", "muted", "in the queue"),
    "running": ("run", "accent", "running"),
    "waiting for your answer": ("question", "serious", "waiting for your answer"),
    "ready to read": ("ready", "good", "ready to read"),
    "stopped": ("stop", "muted", "stopped"),
    "failed": ("warning", "critical", "failed"),
}
RUN_STATES = {"waiting": "waiting for your answer", "finished": "ready to read"}
_HIGH = ("H", "HH", "HIGH", "+", "++", ">", "A+")
_LOW = ("L", "LL", "LOW", "-", "--", "<")
_CRITICAL = ("HH", "LL", "++", "--", "C", "CRITICAL", "PANIC")


def state_words(state: str) -> tuple[str, str, str]:
    """Icon, tone and words of a case's or run's state."""
    return STATES.get(RUN_STATES.get(state, state), ("dot", "muted", state))


def age(at: str, now: datetime | None = None) -> str:
    """How long ago an ISO time is, in one short word; empty where it is not a time."""
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return ""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    seconds = max(0.0, ((now or datetime.now(UTC)) - moment).total_seconds())
    for limit, unit, word in _STEPS:
        if seconds < limit:
            return tr("now") if unit == 1 else f"{int(seconds // unit)} {word}"
    return moment.date().isoformat()


def years(birth_date: str, today: date | None = None) -> int | None:
    """Completed years of age; None where the date is not complete."""
    try:
        born = date.fromisoformat(birth_date[:10])
    except ValueError:
        return None
    day = today or datetime.now(UTC).date()
    return day.year - born.year - ((day.month, day.day) < (born.month, born.day))


def identity(patient: Patient) -> tuple[str, str]:
    """Name, and the line under it: born, sex, number. What the files do not state is said, never left blank."""
    name = patient.name or tr("Name not stated in the files")
    born = patient.birth_date or tr("not stated")
    old = years(patient.birth_date)
    shown = tr("born {born}", born=born) + (f" ({old} y)" if old is not None else "")
    number = tr("ID {id}", id=patient.patient_id or UNKNOWN)
    return name, "   ".join((shown, patient.sex or tr("sex not stated"), number))


def direction(row: LabRow) -> str:
    """'high', 'low', 'critical high', 'critical low' or '' from the printed flag, else from number and range."""
    flag = row.flag.strip().upper()
    side = "high" if flag in _HIGH else "low" if flag in _LOW else _by_range(row)
    if side and flag in _CRITICAL:
        return f"critical {side}"
    return side or ("critical" if flag in _CRITICAL else "")


def _by_range(row: LabRow) -> str:
    if row.number is None:
        return ""
    if row.high is not None and row.number > row.high:
        return "high"
    return "low" if row.low is not None and row.number < row.low else ""


def printed_range(row: LabRow) -> str:
    """The reference range as printed, else composed of its ends."""
    if row.range_text:
        return row.range_text
    if row.low is not None and row.high is not None:
        return f"{row.low:g} – {row.high:g}"
    if row.high is not None:
        return f"≤ {row.high:g}"
    return f"≥ {row.low:g}" if row.low is not None else UNKNOWN


def moment(at: str) -> str:
    """A printed time for people: date and minute as written, nothing converted."""
    return at.replace("T", "  ")[:17] if at else UNKNOWN


def item_words(item: Item) -> tuple[str, str]:
    """Icon and the line under an item's title."""
    match item:
        case Note():
            return "note", " · ".join(filter(None, (tr("Note"), item.written_on)))
        case LabTable():
            abnormal = sum(1 for row in item.rows if direction(row))
            return "labs", tr("{n}, {k} outside range", n=counted(len(item.rows), "result"), k=abnormal)
        case ImageRef():
            return "image", " · ".join(filter(None, (item.modality or tr("Picture"), item.view, item.laterality)))
        case SeriesRef():
            parts = (item.modality, item.body_part, item.view, counted(item.instances, "image"))
            return "image", " · ".join(filter(None, parts))
        case EhrDatabase():
            rows = sum(table.rows for table in item.tables)
            return "database", tr(
                "EHR extract · {n}, {k}", n=counted(len(item.tables), "table"), k=counted(rows, "row")
            )


def source_words(source: Provenance) -> tuple[str, str]:
    """Icon and word for the kind of a source."""
    return {
        "document": ("note", tr("Document")),
        "cell": ("labs", tr("Laboratory")),
        "image": ("image", tr("Picture")),
        "passage": ("book", tr("Guideline")),
        "clinician": ("person", tr("Clinician")),
        "derived": ("derived", tr("Computed")),
    }[source.kind]


def counted(number: int, thing: str) -> str:
    """ "1 file", "3 files"."""
    return f"{number} {tr(thing if number == 1 else thing + 's')}"


def since(at: str) -> str:
    """An age in a sentence: "just now", "3 h ago"."""
    old = age(at)
    return tr("just now") if old == tr("now") else tr("{age} ago", age=old) if old and "-" not in old else old


def size(count: float) -> str:
    """Bytes for people."""
    for limit, unit in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count:.0f} B"
