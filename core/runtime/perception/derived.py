"""Findings that follow from others by rule: computed values, thresholds, scores, implications (direct.md section 1.5).

Pure. Each names its formula and its inputs. A derived "absent" gives way to a text that says "present": a fever at home
is not refuted by a normal temperature now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from core.domain.ports import Knowledge
from core.runtime.ledger import Patient
from core.runtime.perception import combined, early_warning, implied, kidney, thresholds
from core.runtime.perception.board import Board, derive_concept, derive_value, in_canonical_unit
from core.runtime.perception.drafts import NOTES, Draft, canonical_key

CHANGE = 20.0  # per cent; Thygesen 2018 (fourth universal definition), of a raised troponin


def derived(drafts: Sequence[Draft], knowledge: Knowledge, patient: Patient) -> tuple[Draft, ...]:
    """All derived findings of a case."""
    board = Board(sorted(drafts, key=canonical_key), knowledge, patient)
    found: list[Draft] = []
    for step in _STEPS:
        fresh = list(step(board))
        board.add(fresh)
        found += fresh
    fresh = list(implied.implied(board, implied.packaged()))
    return tuple(_without_refuted([*found, *fresh], drafts, knowledge))


def _bedside(board: Board) -> Iterator[Draft]:
    yield from _pressures(board)
    yield from _body(board)
    for measure, name in (("iop", "Intraocular pressure"), ("cup_disc", "Cup-disc ratio")):
        yield from _eyes(board, measure, name)


def _pressures(board: Board) -> Iterator[Draft]:
    """Mean arterial pressure (systolic + 2 diastolic) / 3; shock index heart rate / systolic."""
    systolic = board.latest("systolic_bp")
    pair = [
        draft
        for draft in board.drafts
        if systolic is not None
        and draft.finding.quantity == "diastolic_bp"
        and draft.finding.provenance == systolic.finding.provenance
    ]
    upper = board.value("systolic_bp")
    lower = in_canonical_unit(pair[0].finding) if pair else None
    if systolic is not None and upper and lower is not None:
        mean = round((upper + 2 * lower) / 3, 1)
        name = "Mean arterial pressure"
        formula = "(systolic + 2 x diastolic) / 3"
        yield derive_value("mean_arterial_pressure", name, mean, formula=formula, inputs=[systolic, pair[0]])
    both = board.known("heart_rate", "systolic_bp")
    if both is not None and both[1]:
        inputs = board.inputs("heart_rate", "systolic_bp")
        index = round(both[0] / both[1], 2)
        yield derive_value("shock_index", "Shock index", index, formula="heart rate / systolic pressure", inputs=inputs)


def _body(board: Board) -> Iterator[Draft]:
    """Body mass index kg/m2 (Keys 1972)."""
    both = board.known("weight", "height")
    if both is not None and both[1]:
        index = round(both[0] / (both[1] / 100) ** 2, 1)
        inputs = board.inputs("weight", "height")
        name = "Body mass index"
        yield derive_value("body_mass_index", name, index, formula="weight / height^2", inputs=inputs, unit="kg/m2")


def _eyes(board: Board, measure: str, name: str) -> Iterator[Draft]:
    """The higher and the lower of both eyes, and an asymmetry of the discs."""
    inputs = board.inputs(f"{measure}_right", f"{measure}_left")
    values = [value for draft in inputs if (value := in_canonical_unit(draft.finding)) is not None]
    if not values:
        return
    unit = inputs[0].finding.value.unit if inputs[0].finding.value else ""
    for end, which, value in (("max", "higher", max(values)), ("min", "lower", min(values))):
        quantity, formula = f"{measure}_{end}", f"{which} of both eyes"
        yield derive_value(quantity, f"{name}, {which} eye", value, formula=formula, inputs=inputs, unit=unit)
    if measure == "cup_disc" and len(values) == 2:
        gap = round(abs(values[0] - values[1]), 2)
        yield derive_concept(
            "WR:cup-disc-asymmetry",
            "present" if gap >= 0.2 else "absent",
            formula=f"difference of cup-disc ratios {gap:g}, threshold >= 0.2 (Foster 2002, ISGEO)",
            inputs=inputs,
            knowledge=board.knowledge,
        )


def _blood(board: Board) -> Iterator[Draft]:
    """Anion gap, corrected calcium, urea from urea nitrogen, urea to creatinine."""
    salts = board.known("sodium", "chloride", "bicarbonate")
    if salts is not None and board.latest("anion_gap") is None:
        gap = round(salts[0] - salts[1] - salts[2], 1)
        inputs = board.inputs("sodium", "chloride", "bicarbonate")
        formula = "sodium - chloride - bicarbonate (Emmett 1977)"
        yield derive_value("anion_gap", "Anion gap", gap, formula=formula, inputs=inputs)
    lime = board.known("calcium", "albumin")
    if lime is not None and board.latest("corrected_calcium") is None:
        corrected = round(lime[0] + 0.02 * (40 - lime[1]), 2)
        formula = "calcium + 0.02 x (40 - albumin in g/L) (Payne 1973)"
        inputs = board.inputs("calcium", "albumin")
        yield derive_value("corrected_calcium", "Corrected calcium", corrected, formula=formula, inputs=inputs)
    yield from _urea(board)


def _urea(board: Board) -> Iterator[Draft]:
    urea = board.value("urea")
    nitrogen = board.value("urea_nitrogen")
    source = "urea" if urea is not None else "urea_nitrogen"
    value = urea if urea is not None else nitrogen
    if value is None:
        return
    if urea is None:
        formula = "urea nitrogen in mmol/L of urea"
        yield derive_value("urea", "Urea", round(value, 1), formula=formula, inputs=board.inputs("urea_nitrogen"))
    creatinine = board.value("creatinine")
    if creatinine:
        ratio = round(value * 2.801 / (creatinine / kidney.UMOL_PER_MG_DL), 1)
        yield derive_value(
            "urea_creatinine_ratio",
            "Urea nitrogen to creatinine ratio",
            ratio,
            formula="urea nitrogen / creatinine, both in mg/dL",
            inputs=board.inputs(source, "creatinine"),
            unit="{ratio}",
        )


def _changes(board: Board) -> Iterator[Draft]:
    """Latest minus the one before, for the analytes whose change rules read."""
    for analyte in ("potassium", "haemoglobin"):
        draft, now = board.latest(analyte), board.value(analyte)
        if draft is None or draft.finding.change is None or not now or draft.finding.value is None:
            continue
        factor = now / draft.finding.value.value  # the change is in the printed unit
        yield derive_value(
            f"{analyte}_change",
            f"{draft.finding.name} change",
            round(draft.finding.change * factor, 2),
            formula="latest value - the one before",
            inputs=[draft],
        )


def _shock(board: Board) -> Iterator[Draft]:
    """Low mean pressure with raised lactate (Singer 2016, without the part on vasopressors)."""
    known = board.known("mean_arterial_pressure", "lactate")
    if known is not None and known[0] < 65 and known[1] > 2:
        yield derive_concept(
            "WR:shock",
            "present",
            formula=f"mean arterial pressure {known[0]:g} mmHg < 65, lactate {known[1]:.1f} mmol/L > 2 (Singer 2016)",
            inputs=board.inputs("mean_arterial_pressure", "lactate"),
            knowledge=board.knowledge,
        )


def _troponin(board: Board) -> Iterator[Draft]:
    """A rise or fall of more than a fifth between two values (Thygesen 2018)."""
    for analyte in ("troponin_t", "troponin_i"):
        latest, now = board.latest(analyte), board.value(analyte)
        before = [(draft, value) for draft in board.earlier(analyte) if (value := in_canonical_unit(draft.finding))]
        if latest is None or now is None or not before:
            continue
        reference = max(before, key=lambda pair: (abs(now - pair[1]) / pair[1], pair[1]))
        percent = 100 * (now - reference[1]) / reference[1]
        raised = latest.finding.abnormal in ("high", "critical") or any(
            draft.finding.abnormal in ("high", "critical") for draft, _ in before
        )
        if raised:
            yield derive_concept(
                "WR:troponin-rise-or-fall",
                "present" if abs(percent) > CHANGE else "absent",
                formula=f"{reference[1]:g} to {now:g} ng/L, {percent:+.0f} %, threshold {CHANGE:g} % (Thygesen 2018)",
                inputs=[latest, reference[0]],
                knowledge=board.knowledge,
            )


def _without_refuted(found: Iterable[Draft], drafts: Sequence[Draft], knowledge: Knowledge) -> Iterator[Draft]:
    """Derived findings without the absences that a note contradicts."""
    told: set[str] = set()
    for draft in drafts:
        if draft.finding.extractor == NOTES and draft.finding.holds:
            told |= knowledge.ancestors(draft.finding.concept)
    for draft in found:
        if draft.finding.polarity != "absent" or draft.finding.concept not in told:
            yield draft


_STEPS: tuple[Callable[[Board], Iterator[Draft]], ...] = (
    _bedside,
    _blood,
    _changes,
    kidney.kidney,
    early_warning.early_warning,
    thresholds.crossed,
    combined.combined,
    _shock,
    _troponin,
)
