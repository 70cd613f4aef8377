"""Public sets in small, in their publishers' forms and written by us: a folder laid out as the one of public data."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path

from core.bench.loaders import ehr, entities, mcq, medcalc


def calculation(number: str, note: str, **other: str) -> dict[str, str]:
    """A row of MedCalc-Bench's table: a body mass index of 80 kg and 2 m, unless said otherwise."""
    row = {
        "Row Number": number,
        "Calculator ID": "6",
        "Calculator Name": "Body Mass Index (BMI)",
        "Category": "physical",
        "Output Type": "decimal",
        "Note ID": number,
        "Note Type": "Synthetic",
        "Patient Note": note,
        "Question": "What is the index of this person?",
        "Relevant Entities": "{'weight': [80, 'kg'], 'height': [2.0, 'm']}",
        "Ground Truth Answer": "20.0",
        "Lower Limit": "19.0",
        "Upper Limit": "21.0",
        "Ground Truth Explanation": "80 over 2 squared.",
    }
    assert tuple(row) == medcalc.COLUMNS
    return row | other


def table(rows: Iterable[dict[str, str]]) -> bytes:
    """CSV with a header, quoted where it must be, LF."""
    written = io.StringIO(newline="")
    writer = csv.DictWriter(written, medcalc.COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return written.getvalue().encode()


def put(folder: Path, file: str, content: object) -> Path:
    """Write a file of the layout: bytes as they are, anything else as JSON; packed where its name says so."""
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    path.write_bytes(gzip.compress(data) if file.endswith(".gz") else data)
    return path


def question(stem: str, answer: str = "A", options: tuple[str, ...] = ("yes", "no")) -> dict[str, object]:
    return {"question": stem, "options": dict(zip("ABCDE", options, strict=False)), "answer": answer}


ARTICLE = {
    "QUESTION": "Does a walk before supper make one sleep?",
    "CONTEXTS": ["Forty walkers were asked.", "They slept for eight hours."],
    "LABELS": ["METHODS", "RESULTS"],
    "MESHES": ["Humans", "Sleep"],
    "YEAR": None,
    "reasoning_required_pred": "yes",
    "reasoning_free_pred": "no",
    "final_decision": "maybe",
    "LONG_ANSWER": "Walkers seem to sleep.",
}
ASKED = {
    "db_id": "mimic_iii",
    "question": "How many beds are there?",
    "template": "number of beds",
    "query": "select count(*) from beds where ward = 7",
    "value": {"ward": 7, "name": "north"},
    "q_tag": "beds of {ward}",
    "t_tag": ["", "abs-year"],
    "o_tag": ["count"],
    "tag": "beds",
    "department": "['nursing', 'physician']",
    "importance": "low",
    "para_type": "human",
    "is_impossible": False,
    "split": "valid",
    "id": "b1",
}
IMPOSSIBLE = {
    "db_id": "mimic_iii",
    "question": "Who sings at night?",
    "template": "singers",
    "query": "null",
    "department": ["nursing"],
    "para_type": "machine",
    "is_impossible": True,
    "split": "valid",
    "id": "b2",
}
TOKENS = b"The\tO\nfen\tB-Disease\nfever\tI-Disease\nand\tO\ngout\tB-Disease\nmumps\tB-Disease\n\nNone\tO\n\n"


def write_all(folder: Path) -> Path:
    """Every set, of one to three rows."""
    put(
        folder,
        medcalc.ROWS,
        table([calculation("5003", "A tall man."), calculation("5006", 'She said "ah",\nand so.')]),
    )
    put(folder, medcalc.ONE_SHOT, table([calculation("1", "A short man.", **{"Note ID": "one_shot_6"})]))
    put(folder, medcalc.EXPLANATIONS, {
        "6": {
            "Response": {"step_by_step_thinking": "80 over 4.", "answer": 20},
            "Patient Note": "A short man.",
            "input_parameters": {"weight": [80, "kg"], "sex": "Male", "input steroid": ["Dexamethasone IV", 0.5, "mg"]},
        }
    })  # fmt: skip
    put(folder, medcalc.CALCULATORS, {"Body Mass Index (BMI)": {"File Path": "a/bmi.py", "Calculator ID": 6}})
    mirage = {
        "medqa": {"0001": question("Which?", "D", ("w", "x", "y", "z"))},
        "mmlu": {"anatomy-001": question("Where?", "B", ("w", "x", "y", "z"))},
        "bioasq": {"0a": question("Is it?", "B")},
        "pubmedqa": {"77": question("Does it?", "C", ("yes", "no", "maybe"))},
    }
    put(folder, mcq.MIRAGE, mirage)
    put(folder, mcq.PUBMEDQA, {"4242": ARTICLE})
    asked = [{"id": "q1", "question": "How many?"}, {"id": "q2", "question": "Why?"}]
    put(folder, ehr.DATA, {"version": "v", "data": asked})
    put(folder, ehr.LABEL, {"q2": "null", "q1": "SELECT 1"})
    put(folder, ehr.ANSWER, {"q1": "[['1', 'a'], ['2', 'b']]", "q2": "null"})
    put(folder, ehr.MIMIC_III, [ASKED, IMPOSSIBLE])
    put(folder, ehr.EICU, [ASKED | {"db_id": "eicu"}])
    put(folder, entities.NCBI_DISEASE, TOKENS)
    return folder
