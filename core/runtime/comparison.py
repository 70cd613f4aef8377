"""Two runs beside each other: what differs in task, findings, ranking, flags, gaps, sentences, model record. Pure.

What is equal is named and folded away, so that a reader sees at once whether a change of case, settings, guideline or
model changed anything. Knows no page: the same value is printed by the command and may be shown by the window.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from core import codec
from core.domain.chat import CallRecord
from core.domain.comparison import NOTHING, Comparison, Difference, Part
from core.domain.hypothesis import Hypothesis
from core.domain.memory import WorkingMemory
from core.runtime import wording
from core.store.journal import RunRow

TIMES = {"ms_prefill", "ms_decode", "prefix_source"}  # differ between any two calls and cannot change a result


def compare(one: tuple[RunRow, WorkingMemory], other: tuple[RunRow, WorkingMemory]) -> Comparison:
    """All subjects of two runs, of one case or of two."""
    subjects = {
        "Task and settings": _task,
        "Findings": _findings,
        "Ranking": _ranking,
        "Safety flags": _flags,
        "Missing": _missing,
        "Sentences": _sentences,
        "Model record": _model,
    }
    parts = tuple(_part(title, read(*one), read(*other)) for title, read in subjects.items())
    return Comparison(one=one[0].id, other=other[0].id, parts=parts)


def text(comparison: Comparison) -> str:
    """The comparison for a terminal."""
    lines = [f"Run {comparison.one} beside run {comparison.other}"]
    for part in comparison.parts:
        if part.differences:
            lines += ["", part.title.upper()]
            lines += [f"  {d.what}: {d.one}  |  {d.other}" for d in part.differences]
    equal = [f"{part.title} ({part.equal})" for part in comparison.parts if not part.differences]
    return "\n".join([*lines, "", f"Equal: {', '.join(equal) or 'nothing'}."])


def _part(title: str, one: Mapping[str, str], other: Mapping[str, str]) -> Part:
    names = dict.fromkeys((*one, *other))
    differing = [name for name in names if one.get(name, NOTHING) != other.get(name, NOTHING)]
    rows = (Difference(what=name, one=one.get(name, NOTHING), other=other.get(name, NOTHING)) for name in differing)
    return Part(title=title, differences=tuple(rows), equal=len(names) - len(differing))


# ------------------------------------------------------------------------------ a run's subjects, by name and value


def _task(row: RunRow, memory: WorkingMemory) -> dict[str, str]:
    named = {
        "case": row.case_id,
        "revision": str(row.revision),
        "question": row.task.question or NOTHING,
        "workflow": f"{row.workflow} {row.version}",
        "mode": row.mode,
        "model": row.backbone or "none",
        "seed": str(row.seed),
        "state": memory.status,
    }
    return named | dict(_leaves(codec.decode(codec.encode(row.settings), dict)))


def _leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"setting {prefix}{name}", str(value)


def _findings(_row: RunRow, memory: WorkingMemory) -> dict[str, str]:
    """Each statement once: the same words from two places are one finding to a reader."""
    return {wording.statement(finding): "found" for finding in memory.findings}


def _ranking(_row: RunRow, memory: WorkingMemory) -> dict[str, str]:
    differential = memory.assessment.differential if memory.assessment else memory.differential
    ranked = differential.hypotheses if differential else ()
    return {item.title: _standing(place, item) for place, item in enumerate(ranked, 1)}


def _standing(place: int, item: Hypothesis) -> str:
    model = "" if item.model is None else f", model {item.model:+.2f}"
    return f"{place}. {item.band}, clues {item.structural:.2f}{model}"


def _flags(_row: RunRow, memory: WorkingMemory) -> dict[str, str]:
    return {flag.text: flag.severity for flag in memory.assessment.flags} if memory.assessment else {}


def _missing(_row: RunRow, memory: WorkingMemory) -> dict[str, str]:
    gaps = memory.assessment.gaps if memory.assessment else memory.gaps
    return {gap.name: f"{gap.value_bits:.2f} bit" for gap in gaps}


def _sentences(_row: RunRow, memory: WorkingMemory) -> dict[str, str]:
    """What the assessment says, the conclusion first; a sentence struck in one run and not in the other differs."""
    if memory.assessment is None:
        return {}
    sections = (sentence for section in memory.assessment.sections for sentence in section.sentences)
    said = (memory.assessment.headline, *sections)
    return {sentence.text: f"struck: {sentence.reason}" if sentence.struck else "said" for sentence in said}


def _model(_row: RunRow, memory: WorkingMemory) -> dict[str, str]:
    record = memory.assessment.model if memory.assessment else None
    if record is None:
        return {}
    return {name: str(getattr(record, name)) for name in CallRecord.__struct_fields__ if name not in TIMES}
