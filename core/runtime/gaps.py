"""What is not known and would matter most: value of information, questions, next tests (direct.md section 4).

Pure. The value of a clue is the expected drop of the entropy of the combined distribution if it were known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import msgspec

from core.domain.assessment import NextTest
from core.domain.condition import Clue
from core.domain.evidence import Gap, Obtain, Question
from core.domain.hypothesis import Band
from core.domain.ports import Knowledge
from core.runtime import sources, weighing, wording
from core.runtime.ledger import Ledger, State
from core.runtime.perception import analytes
from core.runtime.weighing import Scored
from core.settings import Weighing

TOP = 5
MOST_QUESTIONS = 3
MOST_TESTS = 5
PRESENT = 0.5  # probability that an unknown clue is present when nothing better is known
EFFORT: dict[Obtain, float] = {
    "history": 1.0,
    "examination": 1.0,
    "laboratory": 0.8,
    "ecg": 0.8,
    "imaging": 0.6,
    "other": 0.6,
}
IN_QUESTION: tuple[Band, ...] = ("leading", "possible")
LEAD = {"present": "if present, ", "absent": "if absent, "}
ASKABLE = ("history", "examination")
_TESTS: dict[str, str] = {  # the test behind a finding whose name is none
    "WR:aki": "Creatinine",
    "WR:egfr-below-60": "Creatinine",
    "WR:troponin-rise-or-fall": "Troponin",
    "WR:airflow-obstruction": "Spirometry",
    "WR:bronchodilator-reversibility": "Spirometry",
    "WR:pef-variability": "Peak flow diary",
    "WR:respiratory-acidosis": "Blood gas",
    "WR:raised-pco2": "Blood gas",
    "WR:granular-casts": "Urine microscopy",
    "WR:reduced-ejection-fraction": "Echocardiogram",
    "WR:preserved-ejection-fraction": "Echocardiogram",
    "WR:regional-wall-motion-abnormality": "Echocardiogram",
    "WR:right-heart-strain": "Echocardiogram",
    "WR:absent-lung-sliding": "Lung ultrasound",
    "WR:lung-sliding-present": "Lung ultrasound",
    "WR:small-kidneys": "Kidney ultrasound",
    "WR:hydronephrosis": "Kidney ultrasound",
    "WR:coronary-stenosis": "Coronary angiography",
    "WR:cardiomegaly": "Chest film",
    "WR:widened-mediastinum": "Chest film",
    "WR:pericardial-effusion": "Echocardiogram",
    "WR:dilated-aortic-root": "Echocardiogram",
    "WR:left-atrial-enlargement": "Echocardiogram",
    "WR:aortic-flap": "CT of the aorta",
    "WR:cerebral-ischaemia-imaging": "CT of the head",
    "WR:intracranial-bleeding": "CT of the head",
    "WR:dvt-on-ultrasound": "Leg vein ultrasound",
    "WR:bakers-cyst": "Leg vein ultrasound",
    "WR:normal-renal-ultrasound": "Kidney ultrasound",
    "WR:creatinine-rise": "Creatinine",
    "WR:declining-egfr": "Creatinine",
    "WR:normal-egfr": "Creatinine",
    "WR:proteinuria": "Urinalysis",
    "WR:thrombotic-microangiopathy": "Blood film",
    "WR:pancytopenia": "Full blood count",
    "WR:severe-hyponatraemia": "Sodium",
    "WR:raised-urine-sodium": "Urine sodium",
    "WR:concentrated-urine-osmolality": "Urine osmolality",
    "WR:spurious-hyponatraemia": "Lipids and protein",
    "WR:diabetic-range-glucose": "Glucose",
    "WR:very-high-glucose": "Glucose",
    "WR:diabetic-range-hba1c": "Haemoglobin A1c",
    "WR:islet-autoimmunity": "Islet antibodies",
    "WR:high-ketones": "Blood ketones",
    "WR:high-anion-gap": "Anion gap",
    "WR:abnormal-tsh": "Thyroid stimulating hormone",
    "WR:abnormal-free-t4": "Free T4",
    "WR:pancreatic-enzymes-high": "Lipase",
    "WR:raised-ascitic-neutrophils": "Ascitic tap",
    "WR:raised-saag": "Ascitic tap",
    "WR:gallstones": "Abdominal ultrasound",
    "WR:oesophageal-varices": "Upper endoscopy",
    "WR:pyuria": "Urinalysis",
    "WR:nitrites-positive": "Urinalysis",
    "WR:bland-urine": "Urinalysis",
    "WR:helicobacter": "Test for helicobacter",
    "WR:glandular-fever": "Test for glandular fever",
    "WR:haemolytic-anaemia": "Haemolysis tests",
    "WR:angiogenic-ratio": "Ratio of sFlt-1 to PlGF",
    "WR:pleural-aspiration": "Pleural fluid analysis",
}
_COUNTED = ("white_cells", "neutrophils", "eosinophils", "platelets", "haemoglobin")
_RESULT = re.compile(r"^(raised|normal|low|reduced|positive|stable) ", re.I)
_THERE = re.compile(r" present$", re.I)  # "lung sliding present"
_BY = re.compile(r"^.* (?:on|by) ", re.I)  # "hyperinflation on chest film"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How the candidates stand, as it is or would be: combined share by slug, and what they are."""

    shares: Mapping[str, float]
    scored: tuple[Scored, ...]

    @property
    def entropy(self) -> float:
        return weighing.entropy(self.shares)

    def share(self, slug: str) -> float:
        """0 for an excluded condition."""
        return self.shares.get(slug, 0.0)

    def band(self, slug: str, weights: Weighing) -> Band:
        """The band in which the differential would show the condition."""
        scored = next(s for s in self.scored if s.condition.slug == slug)
        return weighing.band_of(scored, self.share(slug), weighing.best_share(self.scored, self.shares), weights)

    @property
    def is_blank(self) -> bool:
        """Does no finding bear on any candidate?"""
        return not any(weight.contribution for s in self.scored for weight in s.weights)


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers a what-if needs: candidates, ledger, weights, the model's z-scores and its weight."""

    scored: tuple[Scored, ...]
    ledger: Ledger
    weights: Weighing
    model: Mapping[str, float]
    beta: float

    def outcome(self, scored: Sequence[Scored] | None = None) -> Outcome:
        """How these candidates stand, or re-weighed ones."""
        rows = self.scored if scored is None else scored
        return Outcome(
            shares=weighing.shares(rows, self.model, tau=self.weights.tau, beta=self.beta),
            scored=tuple(rows),
        )

    def what_if(self, concept: str, state: State) -> Outcome:
        """How they would stand if one concept were settled; only conditions that it touches are weighed again."""
        assumed = self.ledger.assume(concept, state)
        return self.outcome(
            sources.settle([self._again(s, concept, assumed) for s in self.scored], assumed, self.weights)
        )

    def _again(self, scored: Scored, concept: str, assumed: Ledger) -> Scored:
        """The condition weighed with a concept settled, where that touches it or a condition that it arises from."""
        if not any(self._touches(concept, other) for other in self._linked(scored)):
            return scored
        return weighing.weigh(
            scored.condition, assumed, self.weights, retrieval=scored.retrieval, raised_by=scored.raised_by
        )

    def _linked(self, scored: Scored) -> Sequence[Scored]:
        """A candidate, and those that it arises from."""
        slugs = scored.condition.arises_from
        return (scored, *(other for other in self.scored if other.condition.slug in slugs))

    def _touches(self, concept: str, scored: Scored) -> bool:
        return any(self.ledger.bears_on(concept, weight.clue.concept) for weight in scored.weights)


def missing(frame: Frame, knowledge: Knowledge, *, closed: frozenset[str]) -> tuple[Gap, ...]:
    """Unknown clues of the top five, most valuable first; `closed` concepts were asked already."""
    before = frame.outcome()
    alive = [s for s in frame.scored if s.excluded is None]
    top = sorted(alive, key=lambda s: (-before.share(s.condition.slug), s.condition.slug))[:TOP]
    gaps = [
        _gap(clue, frame, knowledge, before=before, top=top)
        for concept, clue in sorted(_unknown(top).items())
        if concept not in closed
    ]
    return tuple(sorted(gaps, key=lambda gap: (-gap.value_bits, gap.concept)))


def _unknown(top: Sequence[Scored]) -> dict[str, Clue]:
    """One clue a concept, the critical one where conditions differ. That a condition is known is no clue to ask for."""
    found: dict[str, Clue] = {}
    own = {scored.condition.concept for scored in top}
    for scored in top:
        for weight in scored.weights:
            clue = weight.clue
            if weight.standing.state in ("unknown", "contradicted") and clue.concept not in own:
                known = found.get(clue.concept)
                if known is None or (clue.critical and not known.critical):
                    found[clue.concept] = clue
    return found


def _gap(clue: Clue, frame: Frame, knowledge: Knowledge, *, before: Outcome, top: Sequence[Scored]) -> Gap:
    present = frame.what_if(clue.concept, "present")
    absent = frame.what_if(clue.concept, "absent")
    expected = PRESENT * present.entropy + (1 - PRESENT) * absent.entropy
    drop = max(0.0, before.entropy - expected) * EFFORT[clue.obtain]
    concerned = [s for s in top if any(w.clue.concept == clue.concept for w in s.weights)]
    return Gap(
        concept=clue.concept,
        name=wording.clue_name(knowledge.concept(clue.concept), clue),
        obtain=clue.obtain,
        why=_why(concerned, before=before, present=present, absent=absent, weights=frame.weights),
        critical=_needed(clue.concept, top, before, frame.weights),
        value_bits=round(drop, 4),
        separates=tuple(s.condition.slug for s in concerned),
    )


def _needed(concept: str, top: Sequence[Scored], before: Outcome, weights: Weighing) -> bool:
    """Does a sound work-up of a condition that is in question need it? With nothing known, all are."""
    return any(
        w.clue.concept == concept and w.clue.critical
        for s in top
        if before.is_blank or before.band(s.condition.slug, weights) in IN_QUESTION
        for w in s.weights
    )


def _name(identifier: str, knowledge: Knowledge) -> str:
    concept = knowledge.concept(identifier)
    return concept.name if concept else identifier


def _why(concerned: Sequence[Scored], *, before: Outcome, present: Outcome, absent: Outcome, weights: Weighing) -> str:
    """In words: which of the conditions that it is a clue of changes its place most, and from which band to which.

    With nothing known, no band means anything, and none is named.
    """
    moves = [(_shift(s, before, after), s, state, after) for s in concerned for state, after in _both(present, absent)]
    _, moved, state, after = max(moves, key=lambda move: (move[0], move[1].condition.slug, move[2]))
    slug, title = moved.condition.slug, wording.lowered(moved.condition.title)
    was, becomes = before.band(slug, weights), after.band(slug, weights)
    if was != becomes and not before.is_blank:
        return f"{LEAD[state]}{title} would move from {was} to {becomes}"
    side = "for" if after.share(slug) > before.share(slug) else "against"
    return f"{LEAD[state]}that would speak {side} {title}"


def _both(present: Outcome, absent: Outcome) -> tuple[tuple[str, Outcome], ...]:
    return ("present", present), ("absent", absent)


def _shift(scored: Scored, before: Outcome, after: Outcome) -> float:
    return round(abs(after.share(scored.condition.slug) - before.share(scored.condition.slug)), 9)


def contradiction_gaps(contradictions: Sequence[str], knowledge: Knowledge) -> tuple[Gap, ...]:
    """Concepts that the case both states and denies, as gaps to be asked first."""
    return tuple(
        Gap(
            concept=identifier,
            name=_name(identifier, knowledge),
            obtain="history",
            why="the documents both state and deny it",
            critical=True,
            kind="contradiction",
        )
        for identifier in dict.fromkeys(contradictions)
    )


def question(contradicted: Sequence[Gap], gaps: Sequence[Gap], knowledge: Knowledge) -> Question | None:
    """At most three things to ask: contradictions, then critical, then by value; None when nothing can be asked.

    Of a finding and its kinds (leg swelling, left calf swelling) only the first in that order is asked.
    """
    askable = sorted(
        (gap for gap in gaps if gap.obtain in ASKABLE and (gap.critical or gap.value_bits > 0)),
        key=lambda gap: (not gap.critical, -gap.value_bits, gap.concept),
    )
    chosen: list[Gap] = []
    for gap in (*contradicted, *askable):
        if not any(_akin(gap.concept, other.concept, knowledge) for other in chosen):
            chosen.append(gap)
    chosen = chosen[:MOST_QUESTIONS]
    return Question(gaps=tuple(chosen), wording=tuple(_wording(gap) for gap in chosen)) if chosen else None


def _akin(one: str, other: str, knowledge: Knowledge) -> bool:
    return one in knowledge.ancestors(other) or other in knowledge.ancestors(one)


def _wording(gap: Gap) -> str:
    if gap.kind == "contradiction":
        return f"{gap.name}: is it present? {wording.sentence(gap.why)}"
    return f"{gap.name}: present or absent? {wording.sentence(gap.why)}"


def next_tests(
    gaps: Sequence[Gap], titles: Mapping[str, str], knowledge: Knowledge, *, worth: Collection[str] | None = None
) -> tuple[NextTest, ...]:
    """At most five tests, each naming the conditions it separates; critical ones first.

    What one test shows (D-dimer raised, D-dimer normal; all signs on an ECG) is one row. `worth` names the conditions
    in question: a test that bears on none of them is left out.
    """
    tests = sorted(
        (g for g in gaps if g.obtain not in ASKABLE and (worth is None or not set(worth).isdisjoint(g.separates))),
        key=lambda gap: (not gap.critical, -gap.value_bits, gap.concept),
    )
    grouped: dict[str, list[Gap]] = {}
    for gap in tests:
        grouped.setdefault(_test_name(gap, knowledge), []).append(gap)
    return tuple(_test(name, rows, titles) for name, rows in list(grouped.items())[:MOST_TESTS])


def _test_name(gap: Gap, knowledge: Knowledge) -> str:
    """The test that shows a finding: "D-dimer" for "Raised D-dimer", the analyte's name for a laboratory concept."""
    if gap.obtain == "ecg":
        return "12-lead ECG"
    if gap.concept in _TESTS:
        return _TESTS[gap.concept]
    concept = knowledge.concept(gap.concept)
    analyte = analytes.packaged().by_id.get(concept.lab.split(" ")[0].partition(":")[0]) if concept else None
    if analyte is not None:
        return "Full blood count" if analyte.id in _COUNTED else analyte.name
    named = _BY.sub("", gap.name) if _BY.search(gap.name) else _RESULT.sub("", gap.name)
    if named != gap.name:
        return named[:1].upper() + named[1:]
    sign = _THERE.sub("", gap.name)
    return f"Imaging for {wording.lowered(sign)}" if gap.obtain == "imaging" else sign


def _test(name: str, rows: Sequence[Gap], titles: Mapping[str, str]) -> NextTest:
    slugs = dict.fromkeys(slug for gap in rows for slug in gap.separates)
    best = rows[0]
    return NextTest(
        concepts=tuple(gap.concept for gap in rows),
        name=name,
        obtain=best.obtain,
        separates=tuple(titles.get(slug, slug) for slug in slugs),
        why=_shown(best, name),
        value_bits=best.value_bits,
    )


def _shown(gap: Gap, test: str) -> str:
    """Why, in terms of what the test shows: "if raised", "if it shows ST elevation", "if present"."""
    result = _RESULT.match(gap.name)
    if test.endswith(wording.lowered(_THERE.sub("", gap.name))) or test == gap.name:
        return gap.why
    if result is not None:
        there, gone = f"if {result[1].lower()}, ", f"if not {result[1].lower()}, "
    else:
        sign = wording.lowered(re.sub(f"(?i) (?:on|by) {re.escape(test)}$", "", gap.name))
        there, gone = f"if it shows {sign}, ", f"if it does not show {sign}, "
    return gap.why.replace(LEAD["present"], there).replace(LEAD["absent"], gone)
