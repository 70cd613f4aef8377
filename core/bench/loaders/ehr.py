"""Questions to a hospital's database with the statement that answers them: EHRSQL 2024 (MIMIC-IV) and EHRSQL 2022.

Lee et al., EHRSQL (2022) and its shared task (2024); forms: data.md 4.4 and 4.5. The databases are no part of the
files. It must not know a database nor which rows may be learnt from.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from core.bench.loaders import upstream

MIMIC_IV = "bench/ehrsql/mimic_iv/valid"
DATA, LABEL, ANSWER = (f"{MIMIC_IV}/{name}.json" for name in ("data", "label", "answer"))
MIMIC_III = "bench/ehrsql/mimic_iii/valid.json.gz"
EICU = "bench/ehrsql/eicu/valid.json.gz"
NONE = "null"  # stands for a question that the database cannot answer

Rows = tuple[tuple[str, ...], ...]


class Ehr2024Row(msgspec.Struct, frozen=True, kw_only=True):
    """A question; gold are the statement and the rows that it gave at the publishers'. None: it cannot be answered.

    In statements `current_time` stands for '2100-12-31 23:59:00'.
    """

    id: str
    question: str
    sql: str | None
    answer: Rows | None


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """What was put into a gap of a template."""

    name: str
    value: str | int | float


class EhrRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its templates and tags; `sql`, gold, is None where the question cannot be answered.

    Such rows have no tags, values or importance. `current_time` stands for '2105-12-31 23:59:00'.
    """

    id: str
    database: str
    split: str
    question: str
    template: str
    sql: str | None
    values: tuple[Value, ...]
    question_tag: str
    tag: str
    time_tags: tuple[str, ...]
    operation_tags: tuple[str, ...]
    departments: tuple[str, ...]
    importance: str
    paraphrase: str


class _Asked(msgspec.Struct):
    id: str
    question: str


class _Data(msgspec.Struct):
    version: str
    data: tuple[_Asked, ...]


class _Row(msgspec.Struct):
    db_id: str
    question: str
    template: str
    query: str
    department: str | tuple[str, ...]  # a list where the question is impossible, else the text of one
    para_type: str
    is_impossible: bool
    split: str
    id: str
    value: dict[str, str | int | float] = {}
    q_tag: str = ""
    t_tag: tuple[str, ...] = ()
    o_tag: tuple[str, ...] = ()
    tag: str = ""
    importance: str = ""


def load_ehrsql(folder: Path) -> tuple[Ehr2024Row, ...]:
    """The questions of EHRSQL 2024's valid set with statements and answers, in the order of `data.json`.

    Raises:
        UserError: a file is missing or not of its form, or the three do not have the same ids.
    """
    asked: _Data = upstream.json(upstream.read(folder, DATA), _Data, file=DATA)
    labels: dict[str, str] = upstream.json(upstream.read(folder, LABEL), dict[str, str], file=LABEL)
    answers: dict[str, str] = upstream.json(upstream.read(folder, ANSWER), dict[str, str], file=ANSWER)
    ids = [one.id for one in asked.data]
    upstream.distinct(ids, file=DATA)
    for file, found in ((LABEL, labels), (ANSWER, answers)):
        if set(ids) != set(found):
            raise upstream.broken(file, "its ids are not those of data.json")
    return tuple(
        Ehr2024Row(
            id=one.id, question=one.question, sql=_statement(labels[one.id]), answer=_answer(answers[one.id], one.id)
        )
        for one in asked.data
    )


def _statement(text: str) -> str | None:
    return None if text == NONE else text


def _answer(text: str, row: str) -> Rows | None:
    if text == NONE:
        return None
    try:
        found: Rows = msgspec.convert(upstream.literal(text, file=ANSWER, row=row), Rows)
    except msgspec.ValidationError as error:
        raise upstream.broken(ANSWER, f"the answer of {row} is no list of rows") from error
    return found


def load_mimic_iii(folder: Path) -> tuple[EhrRow, ...]:
    """The questions of EHRSQL's valid set for MIMIC-III. Raises UserError: the file is missing or not of its form."""
    return _rows(folder, MIMIC_III)


def load_eicu(folder: Path) -> tuple[EhrRow, ...]:
    """The questions of EHRSQL's valid set for eICU. Raises as `load_mimic_iii`."""
    return _rows(folder, EICU)


def _rows(folder: Path, file: str) -> tuple[EhrRow, ...]:
    found: tuple[_Row, ...] = upstream.json(upstream.read(folder, file), tuple[_Row, ...], file=file)
    upstream.distinct([one.id for one in found], file=file)
    return tuple(_row(one, file) for one in found)


def _row(one: _Row, file: str) -> EhrRow:
    if one.is_impossible != (one.query == NONE):
        raise upstream.broken(file, f"row {one.id} is impossible and has a statement, or has neither")
    return EhrRow(
        id=one.id,
        database=one.db_id,
        split=one.split,
        question=one.question,
        template=one.template,
        sql=_statement(one.query),
        values=tuple(Value(name=name, value=value) for name, value in one.value.items()),
        question_tag=one.q_tag,
        tag=one.tag,
        time_tags=one.t_tag,
        operation_tags=one.o_tag,
        departments=_departments(one, file),
        importance=one.importance,
        paraphrase=one.para_type,
    )


def _departments(one: _Row, file: str) -> tuple[str, ...]:
    if not isinstance(one.department, str):
        return one.department
    found = upstream.literal(one.department, file=file, row=one.id)
    if not isinstance(found, list):
        raise upstream.broken(file, f"the department of row {one.id} is no list")
    return tuple(str(department) for department in found)
