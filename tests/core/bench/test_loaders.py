"""The loaders of public sets: small files of ours in every form, what is broken or missing, the real files' counts."""

from __future__ import annotations

import csv
import gzip
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core.bench.loaders import ehr, entities, mcq, medcalc, upstream
from core.bench.loaders.medcalc_golds import WRONG_GOLDS, score_rows
from core.errors import UserError
from tests.helpers import upstream_sets as sets

CPU_S = 2.0
Load = Callable[[Path], Sequence[object]]
LOADERS: dict[str, tuple[Load, int]] = {
    "medcalc": (medcalc.load_medcalc, 416),
    "medcalc one-shot": (medcalc.load_one_shot, 55),
    "medcalc explanations": (medcalc.load_explanations, 55),
    "medcalc calculators": (medcalc.load_calculators, 55),
    "medqa": (lambda folder: mcq.load_mirage(folder, "medqa"), 484),
    "mmlu": (lambda folder: mcq.load_mirage(folder, "mmlu"), 486),
    "bioasq": (lambda folder: mcq.load_mirage(folder, "bioasq"), 235),
    "pubmedqa": (mcq.load_pubmedqa, 500),
    "ehrsql": (ehr.load_ehrsql, 1163),
    "mimic_iii": (ehr.load_mimic_iii, 1122),
    "eicu": (ehr.load_eicu, 1117),
    "ncbi_disease": (entities.load_ncbi_disease, 923),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sets.write_all(tmp_path)


# ----------------------------------------------------------------------------------------- files of ours, every field


def test_calculations(folder: Path) -> None:
    before = csv.field_size_limit()
    first, second = medcalc.load_medcalc(folder)
    assert first == medcalc.MedCalcRow(
        id="5003", calculator=6, name="Body Mass Index (BMI)", category="physical", output="decimal", note_id="5003",
        note_type="Synthetic", note="A tall man.", question="What is the index of this person?",
        given=(
            medcalc.Given(name="weight", value=80, unit="kg"),
            medcalc.Given(name="height", value=2.0, unit="m"),
        ),
        answer="20.0", low="19.0", high="21.0", explanation="80 over 2 squared.",
    )  # fmt: skip
    assert second.note == 'She said "ah",\nand so.'
    assert medcalc.load_one_shot(folder)[0].note_id == "one_shot_6"
    assert medcalc.load_calculators(folder) == (
        medcalc.Calculator(id=6, name="Body Mass Index (BMI)", file="a/bmi.py"),
    )
    assert csv.field_size_limit() == before


def test_explained_calculations(folder: Path) -> None:
    assert medcalc.load_explanations(folder) == (
        medcalc.Explanation(
            calculator=6,
            note="A short man.",
            given=(
                medcalc.Given(name="weight", value=80, unit="kg"),
                medcalc.Given(name="sex", value="Male"),
                medcalc.Given(name="input steroid", value=0.5, unit="mg", drug="Dexamethasone IV"),
            ),
            steps="80 over 4.",
            answer=20,
        ),
    )


def test_a_field_longer_than_pythons_limit(tmp_path: Path) -> None:
    long = "word " * 40_000
    assert len(long) > csv.field_size_limit()
    sets.put(tmp_path, medcalc.ROWS, sets.table([sets.calculation("1", long)]))
    assert medcalc.load_medcalc(tmp_path)[0].note == long


def test_choices(folder: Path) -> None:
    (row,) = mcq.load_mirage(folder, "medqa")
    assert (row.id, row.question, row.answer) == ("0001", "Which?", "D")
    assert mcq.asked(row) == "Which?\nA. w\nB. x\nC. y\nD. z"
    assert mcq.load_mirage(folder, "pubmedqa")[0].answer == "C"


def test_articles_are_asked_without_their_conclusion(folder: Path) -> None:
    (row,) = mcq.load_pubmedqa(folder)
    assert row == mcq.PubMedRow(
        id="4242", question="Does a walk before supper make one sleep?",
        contexts=("Forty walkers were asked.", "They slept for eight hours."), labels=("METHODS", "RESULTS"),
        meshes=("Humans", "Sleep"), year="", reasoning_required="yes", reasoning_free="no", decision="maybe",
    )  # fmt: skip
    stem = "Does a walk before supper make one sleep?\nA. yes\nB. no\nC. maybe"
    assert mcq.as_choice(row).answer == "C"
    assert mcq.asked(mcq.as_choice(row)) == stem
    assert mcq.asked_with_contexts(row) == f"Forty walkers were asked.\n\nThey slept for eight hours.\n\n{stem}"


def test_statements_of_three_files(folder: Path) -> None:
    assert ehr.load_ehrsql(folder) == (
        ehr.Ehr2024Row(id="q1", question="How many?", sql="SELECT 1", answer=(("1", "a"), ("2", "b"))),
        ehr.Ehr2024Row(id="q2", question="Why?", sql=None, answer=None),
    )


def test_tagged_statements_packed_or_not(folder: Path) -> None:
    found = ehr.load_mimic_iii(folder)
    assert found[0] == ehr.EhrRow(
        id="b1", database="mimic_iii", split="valid", question="How many beds are there?", template="number of beds",
        sql="select count(*) from beds where ward = 7",
        values=(ehr.Value(name="ward", value=7), ehr.Value(name="name", value="north")),
        question_tag="beds of {ward}", tag="beds", time_tags=("", "abs-year"), operation_tags=("count",),
        departments=("nursing", "physician"), importance="low", paraphrase="human",
    )  # fmt: skip
    assert (found[1].sql, found[1].departments, found[1].values) == (None, ("nursing",), ())
    packed = folder / ehr.MIMIC_III
    packed.with_suffix("").write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    assert ehr.load_mimic_iii(folder) == found


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_sentences_with_spans(folder: Path, line_end: bytes) -> None:
    sets.put(folder, entities.NCBI_DISEASE, sets.TOKENS.replace(b"\n", line_end))
    first, second = entities.load_ncbi_disease(folder)
    assert first.text == "The fen fever and gout mumps"
    assert [first.text[span.start : span.end] for span in first.spans] == ["fen fever", "gout", "mumps"]
    assert (second.id, second.tokens, second.tags, second.spans) == ("2", ("None",), ("O",), ())


# ------------------------------------------------------------------------------------------ what is not as it should


@pytest.mark.parametrize("name", LOADERS)
def test_a_file_that_is_missing_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^There is no bench/[\w./]+ in .*\.$") as caught:
        LOADERS[name][0](tmp_path)
    assert caught.value.code == "bench_data"


BROKEN: dict[str, tuple[str, object, str, Load]] = {
    "no JSON": (mcq.MIRAGE, b"{", "Input data was truncated", LOADERS["medqa"][0]),
    "no UTF-8 in JSON": (mcq.PUBMEDQA, b'{"\xff": {}}', "Invalid UTF-8", LOADERS["pubmedqa"][0]),
    "no such set": (mcq.MIRAGE, {"medmcqa": {}}, "it has no set medqa", LOADERS["medqa"][0]),
    "an answer that is no option": (
        mcq.MIRAGE, {"medqa": {"7": sets.question("Is it?", "C")}}, "the answer of 7 is none", LOADERS["medqa"][0],
    ),
    "a decision of another kind": (
        mcq.PUBMEDQA, {"1": sets.ARTICLE | {"final_decision": "perhaps"}}, "Invalid enum value", LOADERS["pubmedqa"][0],
    ),
    "no such column": (medcalc.ROWS, b"Row Number,Note\n1,a\n", 'no column "Calculator ID"', medcalc.load_medcalc),
    "nothing": (medcalc.ROWS, b"", 'no column "Row Number"', medcalc.load_medcalc),
    "an open quote": (
        medcalc.ROWS, sets.table([]) + b'1,"a', "unexpected end of data", medcalc.load_medcalc,
    ),
    "a short row": (medcalc.ROWS, sets.table([]) + b"1,2\n", "row 1 has 2 cells instead of 14", medcalc.load_medcalc),
    "no UTF-8 in a table": (medcalc.ROWS, sets.table([]) + b"\xff", "not UTF-8", medcalc.load_medcalc),
    "a row without a number": (
        medcalc.ROWS, sets.table([sets.calculation("x", "n")]), 'row "x" or its calculator', medcalc.load_medcalc,
    ),
    "a row twice": (
        medcalc.ROWS, sets.table([sets.calculation("3", "n")] * 2), "the id 3 stands twice", medcalc.load_medcalc,
    ),
    "an unknown output": (
        medcalc.ROWS, sets.table([sets.calculation("3", "n", **{"Output Type": "colour"})]),
        'unknown output type "colour"', medcalc.load_medcalc,
    ),
    "code instead of a literal": (
        medcalc.ROWS, sets.table([sets.calculation("3", "n", **{"Relevant Entities": "print('ran')"})]),
        "row 3 holds no Python literal", medcalc.load_medcalc,
    ),
    "a list instead of a mapping": (
        medcalc.ROWS, sets.table([sets.calculation("3", "n", **{"Relevant Entities": "[1]"})]), "are no mapping",
        medcalc.load_medcalc,
    ),
    "an entity of another form": (
        medcalc.ROWS, sets.table([sets.calculation("3", "n", **{"Relevant Entities": "{'a': [1, 2, 3, 4]}"})]),
        "an entity of row 3", medcalc.load_medcalc,
    ),
    "a literal too deep": (
        medcalc.ROWS, sets.table([sets.calculation("3", "n", **{"Relevant Entities": "[" * 9000})]),
        "row 3 holds no Python literal", medcalc.load_medcalc,
    ),
    "answers of other questions": (ehr.ANSWER, {"q1": "null"}, "its ids are not those", ehr.load_ehrsql),
    "an answer that is no rows": (ehr.ANSWER, {"q1": "[1]", "q2": "null"}, "no list of rows", ehr.load_ehrsql),
    "impossible with a statement": (
        ehr.EICU, [sets.ASKED | {"is_impossible": True}], "row b1 is impossible", ehr.load_eicu,
    ),
    "departments that are no list": (
        ehr.EICU, [sets.ASKED | {"department": "'nursing'"}], "the department of row b1", ehr.load_eicu,
    ),
    "a token without a tag": (entities.NCBI_DISEASE, b"a\tO\nb\n", "sentence 1", entities.load_ncbi_disease),
    "inside without a beginning": (
        entities.NCBI_DISEASE, b"a\tO\n\nb\tI-Disease\n", "sentence 2", entities.load_ncbi_disease,
    ),
    "no UTF-8 in tokens": (entities.NCBI_DISEASE, b"\xff\tO\n", "not UTF-8", entities.load_ncbi_disease),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_sentence(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, content, why, load = BROKEN[name]
    sets.put(folder, file, content)
    with pytest.raises(UserError) as caught:
        load(folder)
    text = caught.value.text
    assert text.startswith(f"{file} is not of its publisher's form: ") and text.endswith(".") and why in text
    assert "\n" not in text
    assert capsys.readouterr().out == ""


def test_packed_files_that_are_damaged_or_grow(folder: Path) -> None:
    path = folder / ehr.EICU
    whole = path.read_bytes()
    for data in (whole[:-9], b"plain text", gzip.compress(b" " * (2 << 20) + b"[]")):
        path.write_bytes(data)
        with pytest.raises(UserError, match=r"valid\.json\.gz is not of its publisher's form: "):
            ehr.load_eicu(folder)
    path.write_bytes(whole)
    assert len(ehr.load_eicu(folder)) == 1


def test_a_folder_in_the_place_of_a_file(tmp_path: Path) -> None:
    (tmp_path / mcq.PUBMEDQA).mkdir(parents=True)
    with pytest.raises(UserError, match="cannot be read: Is a directory"):
        mcq.load_pubmedqa(tmp_path)


def test_columns_may_stand_in_another_order() -> None:
    assert list(upstream.table(b"\xef\xbb\xbfb,a,c\n1,2,3\n", ("a", "b"), file="x")) == [("2", "1")]


# ------------------------------------------------------------------------------------------------- the real files


@pytest.mark.data
@pytest.mark.parametrize("name", LOADERS)
def test_counts_and_time(name: str, data: Path) -> None:
    load, count = LOADERS[name]
    began = time.process_time()
    rows = load(data)
    assert time.process_time() - began < CPU_S
    assert len(rows) == count


@pytest.mark.data
def test_counts_within_the_sets(data: Path) -> None:
    rows = medcalc.load_medcalc(data)
    assert Counter(row.output for row in rows) == {"decimal": 254, "integer": 144, "date": 18}
    assert sorted(Counter(row.category for row in rows).values()) == sorted((142, 91, 88, 36, 26, 19, 14))
    assert {row.calculator for row in medcalc.load_one_shot(data)} - {row.calculator for row in rows} == {31}
    assert {one.id for one in medcalc.load_calculators(data)} == {row.calculator for row in medcalc.load_one_shot(data)}
    assert Counter(row.answer for row in mcq.load_mirage(data, "bioasq")) == {"A": 158, "B": 77}
    subjects = Counter(row.id.rpartition("-")[0] for row in mcq.load_mirage(data, "mmlu"))
    assert sorted(subjects.values()) == sorted((58, 135, 49, 82, 43, 119))
    assert Counter(row.decision for row in mcq.load_pubmedqa(data)) == {"yes": 276, "no": 169, "maybe": 55}
    tokens = [sentence.tokens for sentence in entities.load_ncbi_disease(data)]
    assert sum(map(len, tokens)) == 23_969
    assert sum(len(sentence.spans) for sentence in entities.load_ncbi_disease(data)) == 787


@pytest.mark.data
def test_unanswerable_questions(data: Path) -> None:
    first = ehr.load_ehrsql(data)
    assert sum(row.sql is None for row in first) == sum(row.answer is None for row in first) == 232
    assert all((row.sql is None) == (row.answer is None) for row in first)
    for rows in (ehr.load_mimic_iii(data), ehr.load_eicu(data)):
        assert sum(row.sql is None for row in rows) == 362


@pytest.mark.data
def test_no_prompt_holds_the_conclusion_of_an_abstract(data: Path) -> None:
    conclusions = {key: row["LONG_ANSWER"] for key, row in json.loads((data / mcq.PUBMEDQA).read_bytes()).items()}
    for row in mcq.load_pubmedqa(data):
        text = "\n".join((mcq.asked(mcq.as_choice(row)), mcq.asked_with_contexts(row)))
        assert conclusions[row.id] and conclusions[row.id] not in text


# ------------------------------------------------------------------------------------------------- the wrong golds


def test_the_wrong_golds_are_39_rows_each_once() -> None:
    counted = {wrong.calculator: len(wrong.rows) for wrong in WRONG_GOLDS}
    assert counted == {13: 7, 46: 9, 7: 2, 44: 1, 23: 2, 15: 6, 17: 6, 27: 2, 29: 2, 51: 2}
    assert len({row for wrong in WRONG_GOLDS for row in wrong.rows}) == 39


@pytest.mark.data
def test_two_scores(data: Path) -> None:
    """Every row of the list is here and is one of its calculator; the one-shot rows, corrected, are none of them."""
    rows = medcalc.load_medcalc(data)
    scored = score_rows(rows)
    assert (len(scored.published), len(scored.corrected)) == (416, 377)
    left_out = {row.id for row in rows} - {row.id for row in scored.corrected}
    assert left_out == {row for wrong in WRONG_GOLDS for row in wrong.rows}
    calculators = {row.id: row.calculator for row in rows}
    assert all(calculators[row] == wrong.calculator for wrong in WRONG_GOLDS for row in wrong.rows)
    one_shot = medcalc.load_one_shot(data)
    assert score_rows(one_shot).corrected == one_shot
