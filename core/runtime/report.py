"""The report of a run as one value, and as text and JSON (HTML: `report_html`). The window shows the same value.

Order of direct.md section 5: banner and inputs not available; safety flags; conclusion; for / against / missing; next
tests; treatment as quoted; what was not used and why; model record. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec

from core.domain.assessment import Assessment, NextTest, SafetyFlag, Section, Sentence
from core.domain.case import Case
from core.domain.evidence import Evidence
from core.domain.hypothesis import Hypothesis, Reason
from core.domain.memory import WorkingMemory
from core.domain.notices import notice, rung_notices
from core.domain.report import Block, Line, Remark, Report, Table, Tone
from core.errors import UserError
from core.runtime import citation, inquiry, wording
from core.runtime.evidence_book import COMPUTED
from core.runtime.findings import patient
from core.runtime.gaps import ASKABLE, TOP
from core.runtime.ledger import CLINICIAN
from core.runtime.perception.background import AGE, DISPUTED
from core.runtime.weighing import SOMETHING_ELSE
from core.store.journal import RunRow

MOST_MISSING = 5
MOST_HELPFUL = 8
MOST_CITED = 3  # reasons behind the line of a condition; the cells cite all
MOST_FAULTS = 3
EFFECTS = ("model", "tool", "search", "question")  # kinds of steps that did something, not only noted it
PUBLISHED = "passage"  # the kind of provenance that is no part of the case
OBTAINED = {
    "history": "history",
    "examination": "examination",
    "laboratory": "laboratory",
    "ecg": "ECG",
    "imaging": "imaging",
    "other": "other test",
}


def build(
    case: Case,
    row: RunRow,
    memory: WorkingMemory,
    *,
    faults: Sequence[str] = (),
    remarks: tuple[Remark, ...] = (),
) -> Report:
    """The report of a run at this moment; of a stopped one what there is, marked partial (N18).

    `faults`: what `Journal.verify` says of the run; it stands above everything else. `remarks`: what is to be said of
    the editions that it cites.

    Raises:
        UserError: the run has produced nothing yet.
    """
    assessment = memory.assessment
    if assessment is None:
        return _partial(case, row, memory, faults)
    return Report(
        title=case.title,
        patient=_patient(case, memory),
        run_id=row.id,
        created_at=row.created_at,
        banner=(
            *_untrue(faults),
            *_banner(row, memory),
            *dict.fromkeys(f"{remark.title}: {remark.text}" for remark in remarks),
            _missing_inputs(assessment.unavailable),
            *_rung(memory),
        ),
        remarks=remarks,
        blocks=tuple(_checked(block, assessment) for block in _blocks(assessment, memory)),
        evidence=assessment.evidence,
        footer=(
            notice("N8"),
            f"Run {row.id} of {_moment(row.created_at)}, workflow {row.workflow} {row.version}, "
            f"case revision {row.revision}.",
        ),
    )


def _partial(case: Case, row: RunRow, memory: WorkingMemory, faults: Sequence[str]) -> Report:
    """What inputs lacked is said by the assessment, which is not there yet: the banner is silent about it."""
    if not memory.steps:
        raise UserError("This run has not produced anything yet.", code="no report")
    effects = [step for step in memory.steps if step.kind in EFFECTS]
    done = sum(1 for step in effects if step.done and not step.failed)
    partial = notice("N18", k=done, n=len(effects))
    lines = tuple(Line(text=step.text, tone="serious" if step.failed else "plain") for step in memory.steps)
    return Report(
        title=case.title,
        patient=_patient(case, memory),
        run_id=row.id,
        created_at=row.created_at,
        banner=(*_untrue(faults), partial, *_banner(row, memory), *_rung(memory)),
        blocks=(Block(id="steps", title="Steps so far", lines=lines),),
        evidence=memory.evidence,
        footer=(notice("N8"),),
        partial=True,
    )


def _moment(at: str) -> str:
    """A time as a person reads it: to the minute, its zone named."""
    return f"{at[:10]} {at[11:16]} UTC" if at.endswith("+00:00") else at


def _patient(case: Case, memory: WorkingMemory) -> str:
    """Who it is: what the files state of the identity, and age and sex as they were read."""
    known = case.patient
    stated = [known.name, f"born {known.birth_date}" if known.birth_date else "", known.patient_id]
    lacking = [what for what, value in zip(("name", "birth date", "id"), stated, strict=True) if not value]
    parts = [part for part in stated if part]
    if lacking:
        parts.append(f"{wording.joined(lacking)} not stated")
    person = patient(memory.findings)
    parts += [f"{person.age:g} years"] if person.age is not None else []
    parts += ["age stated differently"] if any(f.concept == AGE and f.note == DISPUTED for f in memory.findings) else []
    parts += [person.sex] if person.sex else []
    text = ", ".join(parts)
    return text[:1].upper() + text[1:]


def _untrue(faults: Sequence[str]) -> tuple[str, ...]:
    """What the journal was found to be: changed, cut or damaged since it was written."""
    if not faults:
        return ()
    more = len(faults) - MOST_FAULTS
    rest = f"; and {more} more" if more > 0 else ""
    return (f"The journal of this run does not fit its hash chain: {'; '.join(faults[:MOST_FAULTS])}{rest}.",)


def _missing_inputs(unavailable: Sequence[str]) -> str:
    return notice("N3", list=", ".join(unavailable) or "none")


def _rung(memory: WorkingMemory) -> tuple[str, ...]:
    """The badge of a result that was made on another rung than was wanted: why, and what time that takes."""
    return rung_notices(memory.rung, memory.rung_reason, memory.expected_s) if memory.rung_reason else ()


def _banner(row: RunRow, memory: WorkingMemory) -> tuple[str, ...]:
    signed = () if memory.signed_by else (notice("N2"),)
    research = (notice("N6"),) if row.settings.profile == "research_imaging" else ()
    return (notice("N1"), *signed, *research, notice("N7"))


def _blocks(assessment: Assessment, memory: WorkingMemory) -> Iterable[Block]:
    """All parts that have something to say, in order."""
    return (block for block in _all_blocks(assessment, memory) if block.lines or block.tables)


def _all_blocks(assessment: Assessment, memory: WorkingMemory) -> Iterable[Block]:
    sections = {section.id: section for section in assessment.sections}
    yield Block(id="flags", title="Safety flags", lines=tuple(_flag(flag) for flag in assessment.flags))
    yield from _section_blocks(sections, ("question",))
    yield _conclusion(assessment, sections.get("conclusion"))
    yield from _section_blocks(sections, ("summary",))
    yield _columns(assessment)
    yield from _section_blocks(sections, ("criteria", "contradictions", "excluded"))
    yield _tests(assessment)
    yield from _section_blocks(sections, ("treatment",))
    yield _answers(memory)
    yield Block(id="quality", title="Input quality", lines=_plain(item.text for item in assessment.quality))
    yield Block(
        id="injections",
        title="Instruction-like text found (quoted data, without effect)",
        lines=_plain(f"“{text}”" for text in assessment.injections),
    )
    yield _model(assessment, memory)


def _checked(block: Block, assessment: Assessment) -> Block:
    """The block with every statement struck that rests on nothing; what is muted tells of the program."""
    known = {item.id: item for item in assessment.evidence}

    def check(line: Line) -> Line:
        if line.struck or line.tone == "muted":
            return line
        resolved = citation.resolve(Sentence(text=line.text, evidence=line.evidence), known)
        return msgspec.structs.replace(line, struck=resolved.struck, reason=resolved.reason)

    tables = (
        msgspec.structs.replace(table, rows=tuple(tuple(tuple(map(check, cell)) for cell in row) for row in table.rows))
        for table in block.tables
    )
    return msgspec.structs.replace(block, lines=tuple(map(check, block.lines)), tables=tuple(tables))


def _flag(flag: SafetyFlag) -> Line:
    return Line(text=f"{flag.text} {flag.action} ({flag.citation})", evidence=flag.evidence, tone=flag.severity)


def _line(sentence: Sentence, tone: Tone = "plain") -> Line:
    return Line(
        text=sentence.text, evidence=sentence.evidence, tone=tone, struck=sentence.struck, reason=sentence.reason
    )


def _plain(texts: Iterable[str]) -> tuple[Line, ...]:
    return tuple(Line(text=text, tone="muted") for text in texts)


def _conclusion(assessment: Assessment, section: Section | None) -> Block:
    lines = [_line(assessment.headline)]
    lines += [_line(sentence) for sentence in section.sentences] if section else []
    if not assessment.differential.model_used:
        lines.append(Line(text="Model not used: the order rests on findings and guidelines alone.", tone="muted"))
    return Block(id="conclusion", title="Conclusion", lines=tuple(lines))


def _section_blocks(sections: dict[str, Section], identifiers: Sequence[str]) -> Iterable[Block]:
    for identifier in identifiers:
        section = sections.get(identifier)
        if section is not None:
            yield Block(id=section.id, title=section.title, lines=tuple(_line(s) for s in section.sentences))


def _columns(assessment: Assessment) -> Block:
    """For, against, missing of the top five; when evidence is insufficient only what is missing."""
    if assessment.conclusion == "insufficient":
        return Block(id="columns", title="What would help most", lines=_helpful(assessment))
    named = [h for h in assessment.differential.hypotheses if h.band != "excluded" and h.slug != SOMETHING_ELSE]
    asked = {item.id for item in assessment.evidence if item.provenance.label == inquiry.LABEL}
    rows = tuple(
        ((_standing(h, asked),), _cells(h.for_), _cells(h.against), _missing(h.missing))
        for h in named[:TOP]
        if h.for_ or h.raised_by or h.band != "unlikely"
    )
    table = Table(title="", columns=("Condition", "For", "Against", "Missing"), rows=rows)
    return Block(id="columns", title="For, against, missing", tables=(table,))


def _helpful(assessment: Assessment) -> tuple[Line, ...]:
    """What to ask and examine first, each citing the clues that make it so; tests stand in their own block."""
    return tuple(
        Line(text=f"{gap.name} ({OBTAINED[gap.obtain]}): {gap.why}.", evidence=gap.evidence)
        for gap in [gap for gap in assessment.gaps if gap.obtain in ASKABLE][:MOST_HELPFUL]
    )


def _standing(hypothesis: Hypothesis, asked: Collection[str]) -> Line:
    """A condition with its band and both scores, resting on what counted most, or on what is missing."""
    model = "" if hypothesis.model is None else f", model {hypothesis.model:+.2f}"
    by = ", raised by the question" if not set(hypothesis.raised_by).isdisjoint(asked) else ""
    reasons = (*hypothesis.for_, *hypothesis.against)[:MOST_CITED] or hypothesis.missing[:MOST_CITED]
    return Line(
        text=f"{hypothesis.title}: {hypothesis.band} (clues {hypothesis.structural:.2f}{model}){by}",
        evidence=tuple(dict.fromkeys((*hypothesis.raised_by, *(e for reason in reasons for e in reason.evidence)))),
    )


def _cells(reasons: Sequence[Reason]) -> tuple[Line, ...]:
    return tuple(
        Line(text=f"{reason.text} ({reason.strength}{', derived' if reason.derived else ''})", evidence=reason.evidence)
        for reason in reasons
    )


def _missing(reasons: Sequence[Reason]) -> tuple[Line, ...]:
    """What is not known and matters most; of the rest the number."""
    more = len(reasons) - MOST_MISSING
    rest = (Line(text=f"and {more} more", tone="muted"),) if more > 0 else ()
    return (*_cells(reasons[:MOST_MISSING]), *rest)


def _tests(assessment: Assessment) -> Block:
    lines = tuple(
        Line(text=f"{test.name}: {test.why}.{_separates(test)}", evidence=test.evidence)
        for test in assessment.next_tests
    )
    return Block(id="tests", title="Next tests to consider", lines=lines)


def _separates(test: NextTest) -> str:
    """The conditions it separates; a single one is named by the reason already."""
    names = wording.joined(tuple(map(wording.lowered, test.separates)))
    return f" Separates {names}." if len(test.separates) > 1 else ""


def _answers(memory: WorkingMemory) -> Block:
    names = {gap.concept: gap.name for gap in memory.gaps}
    names |= {finding.concept: finding.name for finding in memory.findings}
    items = {item.finding: item.id for item in (memory.assessment.evidence if memory.assessment else ())}
    given = {f.concept: items.get(f.id, "") for f in memory.findings if f.extractor == CLINICIAN}
    lines = tuple(
        Line(
            text=wording.read_back(answer, names.get(answer.concept, answer.concept)),
            evidence=tuple(filter(None, (given.get(answer.concept, ""),))),
            tone="plain" if answer.concept in given else "muted",
        )
        for answer in memory.answers
    )
    return Block(id="answers", title="Asked and answered", lines=lines)


def _model(assessment: Assessment, memory: WorkingMemory) -> Block:
    return Block(id="model", title="Model record", lines=_plain(_model_lines(assessment, memory)))


def _model_lines(assessment: Assessment, memory: WorkingMemory) -> Iterable[str]:
    record = assessment.model
    if record is None and not memory.model_calls:
        yield "No language model was used."
    elif not assessment.differential.model_used:
        yield "A language model was called and did not finish the ranking; nothing of it was used there."
    if record is not None:
        kind = f"{record.quant}, unlisted model" if record.unlisted else record.quant
        yield f"Pack {record.pack_id} ({kind}), sha256 {record.contents_sha256}, checked {record.verify}."
        yield (
            f"llama.cpp {record.lib_version} ({record.lib_build}), {record.device}, rung {record.rung}, "
            f"{record.n_threads} threads, context {record.n_ctx}, seed {record.seed}."
        )
        yield f"Prompt {record.prompt_name}, sha256 {record.prompt_sha256}."


def text(report: Report, *, full: bool = False) -> str:
    """The report for a terminal. `full` lists the published sources too; without it they are counted."""
    out = [report.title, report.patient, "", *report.banner]
    for block in report.blocks:
        out += ["", block.title.upper()]
        out += [_text_line(line) for line in block.lines]
        for table in block.tables:
            out += _text_table(table)
    return "\n".join([*out, *_text_evidence(report, full), "", *report.footer])


def headline(report: Report) -> str:
    """The conclusion in one sentence; nothing while there is none."""
    return next((block.lines[0].text for block in report.blocks if block.id == "conclusion" and block.lines), "")


def _text_evidence(report: Report, full: bool) -> list[str]:
    """What was cited: what stands in this case, and how much was published about it."""
    items = cited(report)
    case = [item for item in items if full or item.provenance.kind != PUBLISHED]
    lines = [_text_item(item, report.remark(item.id)) for item in case]
    if others := len(items) - len(case):
        what = "one published source" if others == 1 else f"{others} published sources"
        lines.append(f"  and {what}, listed by `wardround report` with --full")
    return ["", "EVIDENCE", *lines] if lines else []


def _text_item(item: Evidence, remark: str) -> str:
    said = f". {remark}" if remark else ""
    return f"  [{item.id}] {' '.join(item.text.split())} — {item.provenance.label}{said}"


def _text_line(line: Line) -> str:
    mark = {"critical": "!! ", "serious": "! ", "caution": "· "}.get(line.tone, "")
    struck = f" (struck: {line.reason})" if line.struck else ""
    return f"  {mark}{line.text}{_cites(line)}{struck}"


def _cites(line: Line) -> str:
    return f" [{', '.join(line.evidence)}]" if line.evidence else ""


def _text_table(table: Table) -> list[str]:
    out = []
    for row in table.rows:
        out.append(f"  {row[0][0].text}")
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            if cell:
                out.append(f"    {column}: " + "; ".join(f"{line.text}{_cites(line)}" for line in cell))
    return out


def cited(report: Report) -> tuple[Evidence, ...]:
    """The evidence that a line cites, and what that was computed from, in order."""
    by_id = {item.id: item for item in report.evidence}
    wanted: set[str] = set()
    fresh = {identifier for line in all_lines(report) for identifier in line.evidence}
    while fresh:
        wanted |= fresh
        fresh = {source for identifier in fresh if identifier in by_id for source in inputs(by_id[identifier])} - wanted
    return tuple(item for item in report.evidence if item.id in wanted)


def inputs(item: Evidence) -> tuple[str, ...]:
    """The ids of the evidence that a computed statement rests on."""
    label = item.provenance.label
    return tuple(label.removeprefix(COMPUTED).split(", ")) if label.startswith(COMPUTED) else ()


def all_lines(report: Report) -> Iterable[Line]:
    """Every line of a report, those of tables included."""
    for block in report.blocks:
        yield from block.lines
        for table in block.tables:
            for row in table.rows:
                for cell in row:
                    yield from cell
