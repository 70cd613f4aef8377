"""A case as findings: concepts, values, drugs, allergies, derived findings, pictures (direct.md section 1).

Pure: the same case, in whatever order its documents, rows and sentences stand, gives the same findings with the same
ids. Only what is present, current and of the patient counts as "has".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from core.domain.case import Case, ImageRef, Note, SeriesRef
from core.domain.evidence import Finding, Provenance
from core.domain.ports import Knowledge
from core.runtime.ledger import Patient
from core.runtime.perception import analytes as tables
from core.runtime.perception import background
from core.runtime.perception import instructions as addressed
from core.runtime.perception.analytes import Analytes
from core.runtime.perception.board import gravity, usable
from core.runtime.perception.derived import derived
from core.runtime.perception.drafts import IMAGE, Draft, folded, numbered
from core.runtime.perception.eye_measures import eye_measures
from core.runtime.perception.fluids import fluids
from core.runtime.perception.gestation import gestation
from core.runtime.perception.instructions import instructions
from core.runtime.perception.laboratory import Result, interpret, of_table
from core.runtime.perception.mentions import mentioned
from core.runtime.perception.results import written_results
from core.runtime.perception.vitals import vital_signs

__all__ = ["instructions", "patient", "perceive", "quantities"]

NOT_ANALYSED = "present, not analysed"


def perceive(case: Case, knowledge: Knowledge, analytes: Analytes | None = None) -> tuple[Finding, ...]:
    """The findings of a case in canonical order, "f1", "f2", ...

    `analytes` are the laboratory tables; the shipped ones unless given.
    """
    lists = analytes if analytes is not None else tables.packaged()
    drafts: list[Draft] = []
    results: list[Result] = [result for table in case.tables for result in of_table(table, lists)]
    for note in map(addressed.without, case.notes):
        found, written = _of_note(note, knowledge, lists)
        drafts += found
        results += written
    drafts += background.background(case, knowledge)
    person = background.person(draft.finding for draft in drafts)
    drafts = folded([*drafts, *interpret(results, person, lists, knowledge)])
    drafts += derived(drafts, knowledge, person)
    drafts += _pictures(case)
    return numbered(drafts)


def _of_note(note: Note, knowledge: Knowledge, analytes: Analytes) -> tuple[list[Draft], list[Result]]:
    """Measurements first; a concept inside a measurement ("93% RA") is not read twice."""
    measures = [*vital_signs(note, analytes), *eye_measures(note, analytes)]
    results = list(written_results(note, analytes))
    sources = [draft.finding.provenance for draft in measures] + [result.provenance for result in results]
    claimed = [(source.start or 0, source.end or 0) for source in sources]
    described = [*fluids(note, knowledge), *gestation(note, knowledge)]
    return [*measures, *described, *mentioned(note, knowledge, claimed)], results


def _pictures(case: Case) -> Iterator[Draft]:
    """Modality, view, side and date of every picture; nobody has measured it."""
    for picture in case.pictures:
        described = ", ".join(part for part in _described(picture) if part)
        yield Draft(
            finding=Finding(
                id="",
                concept="IMAGE",
                name=picture.title,
                provenance=Provenance(kind="image", reference=picture.id, sha256=picture.sha256, label=picture.title),
                extractor=IMAGE,
                text=described,
                collected_at=picture.acquired_on or None,
                note=NOT_ANALYSED,
            )
        )


def _described(picture: ImageRef | SeriesRef) -> Sequence[str]:
    body = picture.body_part if isinstance(picture, SeriesRef) else ""
    return picture.modality, body, picture.view, picture.laterality, picture.acquired_on


def patient(findings: Iterable[Finding]) -> Patient:
    """Age, sex and pregnancy as the findings say."""
    return background.person(findings)


def quantities(findings: Iterable[Finding]) -> Mapping[str, Finding]:
    """The value of each named quantity that counts: current, plausible, the patient's; the latest, else the gravest."""
    groups: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        if usable(finding):
            groups[finding.quantity].append(finding)
    return {quantity: max(group, key=gravity) for quantity, group in sorted(groups.items())}
