"""MedCalc-Bench v1.0: notes with a question for one of 55 calculators, as its repository gives them.

Khandekar et al., MedCalc-Bench (2024); columns and traps: data.md 4.1. It must not know the calculators of the product
nor which rows may be learnt from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from core.bench.loaders import upstream

FOLDER = "bench/medcalc"
ROWS = f"{FOLDER}/test_data.csv"
ONE_SHOT = f"{FOLDER}/one_shot_data_verified.csv"
EXPLANATIONS = f"{FOLDER}/one_shot_finalized_explanation.json"
CALCULATORS = f"{FOLDER}/calc_path.json"
COLUMNS = (
    "Row Number", "Calculator ID", "Calculator Name", "Category", "Output Type", "Note ID", "Note Type",
    "Patient Note", "Question", "Relevant Entities", "Ground Truth Answer", "Lower Limit", "Upper Limit",
    "Ground Truth Explanation",
)  # fmt: skip
Output = Literal["decimal", "integer", "date"]
OUTPUTS: tuple[Output, ...] = ("decimal", "integer", "date")


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What a note gives for one input of the calculator; `unit` as printed (misspellings kept), `drug` where named."""

    name: str
    value: bool | int | float | str
    unit: str = ""
    drug: str = ""


class MedCalcRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row. `answer`, `low` and `high` as printed: a number, a date (mm/dd/yyyy), or weeks and days.

    `given`, `answer`, `low`, `high` and `explanation` are gold: they never enter a prompt of the row itself.
    """

    id: str
    calculator: int
    name: str
    category: str
    output: Output
    note_id: str
    note_type: str
    note: str
    question: str
    given: tuple[Given, ...]
    answer: str
    low: str
    high: str
    explanation: str


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """A worked example of one calculator: the note, what it gives, the steps in words, the answer."""

    calculator: int
    note: str
    given: tuple[Given, ...]
    steps: str
    answer: int | float | str | tuple[str, ...]


class Calculator(msgspec.Struct, frozen=True, kw_only=True):
    """The publishers' name and number of a calculator, and the file of theirs that implements it (not here)."""

    id: int
    name: str
    file: str


class _Response(msgspec.Struct):
    step_by_step_thinking: str
    answer: int | float | str | tuple[str, ...]


class _Explained(msgspec.Struct):
    Response: _Response
    note: str = msgspec.field(name="Patient Note")
    input_parameters: dict[str, Any]


class _Placed(msgspec.Struct):
    file: str = msgspec.field(name="File Path")
    calculator: int = msgspec.field(name="Calculator ID")


def load_medcalc(folder: Path) -> tuple[MedCalcRow, ...]:
    """Every row of the test file, in its order.

    Raises:
        UserError: the file is missing or not of its form.
    """
    return _rows(folder, ROWS)


def load_one_shot(folder: Path) -> tuple[MedCalcRow, ...]:
    """The verified worked examples, one a calculator (MedCalc-Bench-Verified). Raises as `load_medcalc`."""
    return _rows(folder, ONE_SHOT)


def load_explanations(folder: Path) -> tuple[Explanation, ...]:
    """The publishers' one-shot explanations, by calculator. Raises as `load_medcalc`."""
    found: dict[int, _Explained] = upstream.json(
        upstream.read(folder, EXPLANATIONS), dict[int, _Explained], file=EXPLANATIONS
    )
    return tuple(
        Explanation(
            calculator=number,
            note=one.note,
            given=_all_given(one.input_parameters, EXPLANATIONS, str(number)),
            steps=one.Response.step_by_step_thinking,
            answer=one.Response.answer,
        )
        for number, one in found.items()
    )


def load_calculators(folder: Path) -> tuple[Calculator, ...]:
    """Names and numbers of the calculators. Raises as `load_medcalc`."""
    found: dict[str, _Placed] = upstream.json(upstream.read(folder, CALCULATORS), dict[str, _Placed], file=CALCULATORS)
    return tuple(Calculator(id=one.calculator, name=name, file=one.file) for name, one in found.items())


def _rows(folder: Path, file: str) -> tuple[MedCalcRow, ...]:
    rows = tuple(_row(cells, file) for cells in upstream.table(upstream.read(folder, file), COLUMNS, file=file))
    upstream.distinct([row.id for row in rows], file=file)
    return rows


def _row(cells: tuple[str, ...], file: str) -> MedCalcRow:
    number, calculator, name, category, output, note_id, note_type, note, question, entities, *gold = cells
    if not (number.isascii() and number.isdigit() and calculator.isascii() and calculator.isdigit()):
        raise upstream.broken(file, f'row "{number[:20]}" or its calculator has no number')
    given = upstream.literal(entities, file=file, row=number)
    if not isinstance(given, dict):
        raise upstream.broken(file, f"the relevant entities of row {number} are no mapping")
    answer, low, high, explanation = gold
    return MedCalcRow(
        id=number,
        calculator=int(calculator),
        name=name,
        category=category,
        output=_output(output, file, number),
        note_id=note_id,
        note_type=note_type,
        note=note,
        question=question,
        given=_all_given(given, file, number),
        answer=answer,
        low=low,
        high=high,
        explanation=explanation,
    )


def _output(text: str, file: str, row: str) -> Output:
    for output in OUTPUTS:
        if text == output:
            return output
    raise upstream.broken(file, f'row {row} has the unknown output type "{text[:20]}"')


def _all_given(entities: dict[Any, Any], file: str, row: str) -> tuple[Given, ...]:
    found = tuple(_given(entities.items()))
    if len(found) != len(entities):
        raise upstream.broken(file, f"an entity of row {row} is of no known form")
    return found


def _given(entities: Iterable[tuple[object, object]]) -> Iterator[Given]:
    """Those of a known form: a truth value, number or text; [amount, unit]; [drug, amount, unit]."""
    for name, value in entities:
        match name, value:
            case str(), bool() | int() | float() | str():
                yield Given(name=name, value=value)
            case str(), [int() | float() as amount, str() as unit]:
                yield Given(name=name, value=amount, unit=unit)
            case str(), [str() as drug, int() | float() as amount, str() as unit]:
                yield Given(name=name, value=amount, unit=unit, drug=drug)
