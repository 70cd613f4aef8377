"""Analytes, triggers, abbreviations, stop words, headings, limits of plausibility: the resource files as written."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from importlib import resources
from typing import Any

import pytest

from core.domain.analyte_factors import MEASURED
from core.domain.units import parse_unit
from core.retrieval.terms import norm


def _words(text: str) -> list[str]:
    return text.split()


ANALYTES_ASKED = _words(
    "sodium potassium chloride bicarbonate urea glucose calcium magnesium phosphate lactate ketones cholesterol ldl hdl"
    " triglycerides creatinine bilirubin urate iron ammonia haemoglobin albumin total_protein egfr hba1c alt ast alp"
    " ggt ldh ck lipase amylase crp procalcitonin esr haematocrit transferrin_saturation oxygen_saturation_arterial mcv"
    " mch platelets white_cells neutrophils lymphocytes monocytes eosinophils inr ph pt aptt d_dimer fibrinogen"
    " transferrin troponin_t troponin_i bnp nt_probnp pco2 po2 base_excess tsh free_t4 free_t3 cortisol folate b12"
    " ferritin osmolality urine_sodium urine_creatinine urine_acr urine_protein"
)
# Intervals as their sources print them: Pathology Harmony 2011, Ceriotti 2008, Dacie and Lewis 2017, ESC 2019 and 2021.
PUBLISHED = [
    ("sodium", "any", 133, 146), ("potassium", "any", 3.5, 5.3), ("urea", "any", 2.5, 7.8), ("lipase", "any", None, 60),
    ("albumin", "any", 35, 50), ("magnesium", "any", 0.7, 1.0), ("calcium", "any", 2.2, 2.6), ("alp", "any", 30, 130),
    ("creatinine", "male", 64, 104), ("creatinine", "female", 49, 90), ("haemoglobin", "male", 130, 170),
    ("haemoglobin", "female", 120, 150), ("platelets", "any", 150, 410), ("neutrophils", "any", 2, 7),
    ("d_dimer", "any", None, 500), ("nt_probnp", "any", None, 125), ("bnp", "any", None, 35), ("ph", "any", 7.35, 7.45),
]  # fmt: skip
PRINTED = [
    ("K+", "potassium"), ("Serum potassium", "potassium"), ("BUN", "urea_nitrogen"), ("Urea nitrogen", "urea_nitrogen"),
    ("Hb", "haemoglobin"), ("HGB", "haemoglobin"), ("Hemoglobin", "haemoglobin"), ("WBC", "white_cells"),
    ("Plt", "platelets"),
    ("Creat", "creatinine"), ("hs-cTnT", "troponin_t"), ("NT-proBNP", "nt_probnp"), ("D-dimer", "d_dimer"),
    ("C-reactive protein", "crp"), ("HbA1c", "hba1c"), ("SGPT", "alt"), ("Alk phos", "alp"), ("Uric acid", "urate"),
    ("Adjusted calcium", "corrected_calcium"), ("pCO2", "pco2"), ("PaO2", "po2"), ("Troponin", "troponin_i"),
    ("Lactic acid", "lactate"), ("Total CO2", "bicarbonate"), ("Sed rate", "esr"), ("Phosphorus", "phosphate"),
]  # fmt: skip
KINDS = {"absent", "possible", "past", "future", "family", "other", "pseudo", "terminator"}
TRIGGERS = [
    *[("absent", "forward", text) for text in (
        "no", "not", "without", "denies", "denied", "denying", "negative for", "free of", "absence of",
        "no evidence of",
        "no sign of", "no signs of", "no history of", "never had", "did not have", "neither", "nor", "rules out",
        "ruled out for", "r/o negative", "fails to reveal", "unremarkable for")],
    *[("absent", "backward", text) for text in (
        "was ruled out", "were ruled out", "has been ruled out", "is excluded", "was excluded", "absent", "not seen",
        "not present", "not identified", "negative", "resolved", "unlikely")],
    *[("pseudo", "forward", text) for text in (
        "not only", "no increase", "no change", "no further", "not necessarily", "without difficulty", "no doubt",
        "gram negative")],
    *[("possible", "forward", text) for text in (
        "possible", "probable", "suspected", "suspicious for", "concern for", "cannot rule out", "could be",
        "may represent", "versus", "vs", "query", "?", "consistent with", "rule out")],
    *[("possible", "backward", text) for text in ("cannot be excluded", "less likely", "versus", "vs")],
    *[("past", "forward", text) for text in ("history of", "h/o", "previous", "prior", "s/p")],
    ("past", "backward", "years ago"),
    *[("future", "forward", text) for text in (
        "if", "in case of", "risk of", "return for", "screening for", "prophylaxis")],
    *[("family", "forward", text) for text in (
        "mother", "father", "sister", "brother", "son", "daughter", "grandmother", "grandfather", "aunt", "uncle",
        "family history of", "fhx")],
    *[("terminator", "forward", text) for text in (
        "but", "however", "although", "though", "except", "apart from", "aside from", "yet", "nevertheless", ";",
        "which", "who", "that has", "presenting with", "secondary to", "because of")],
]  # fmt: skip
MEANING = {"no", "not", "with", "without", "if", "against", "before", "after", "over", "under"}
NOTE_SECTIONS = {
    "presenting complaint", "history of presenting complaint", "past medical history", "drug history", "allergies",
    "family history", "social history", "observations", "examination", "investigations", "impression", "plan",
}  # fmt: skip
PASSAGE_CLASSES = {
    "overview", "symptoms", "causes", "tests", "criteria", "severity", "treatment", "prevention", "complications",
    "followup", "other",
}  # fmt: skip
VITALS = _words(
    "systolic_bp diastolic_bp heart_rate respiratory_rate spo2 temperature gcs news2 pain weight height oxygen_flow"
    " iop_right iop_left cup_disc_right cup_disc_left age"
)


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((resources.files("core.retrieval.resources") / f"{name}.toml").read_text("utf-8"))


ANALYTES: list[dict[str, Any]] = _table("analytes")["analyte"]


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


def _twice(items: list[Any]) -> list[Any]:
    return [item for item, n in Counter(items).items() if n > 1]


def _concept_surfaces() -> dict[tuple[str, ...], str]:
    folder = resources.files("core.retrieval.starter") / "concepts"
    rows = [
        row
        for item in folder.iterdir()
        if item.name.endswith(".toml")
        for row in tomllib.loads(item.read_text("utf-8"))["concept"]
    ]
    return {norm(surface): row["id"] for row in rows for surface in (row["name"], *row.get("surfaces", []))}


# ------------------------------------------------------------------------------------------------ analytes


def test_the_asked_analytes_are_there_in_the_canonical_unit() -> None:
    ids = [row["id"] for row in ANALYTES]
    assert len(ids) >= 75
    assert _twice(ids) == []
    assert set(ANALYTES_ASKED) <= set(ids)
    assert [r["id"] for r in ANALYTES if parse_unit(r["unit"]) != parse_unit(MEASURED[r["id"]].unit)] == []


def test_a_printed_name_means_one_analyte() -> None:
    pairs = {(_fold(name), row["id"]) for row in ANALYTES for name in (row["name"], *row["aliases"])}
    assert _twice([name for name, _ in pairs]) == []


@pytest.mark.parametrize(("printed", "analyte"), PRINTED)
def test_names_as_laboratories_print_them(printed: str, analyte: str) -> None:
    owners = [row["id"] for row in ANALYTES if _fold(printed) in map(_fold, (row["name"], *row["aliases"]))]
    assert owners == [analyte]


def test_intervals_lie_within_the_plausible_and_name_their_source() -> None:
    for row in ANALYTES:
        low, high = row["plausible"]
        assert low < high, row["id"]
        assert row["status"] == "unreviewed"
        assert bool(row["reference"]) == bool(row.get("citation")), row["id"]
        for interval in row["reference"]:
            inner = [interval[side] for side in ("low", "high") if side in interval]
            assert inner == sorted(inner), row["id"]
            assert inner, row["id"]
            assert low <= inner[0], row["id"]
            assert inner[-1] <= high, row["id"]


def test_sexes_come_in_pairs() -> None:
    sexes = {row["id"]: sorted(interval["sex"] for interval in row["reference"]) for row in ANALYTES}
    assert {k: v for k, v in sexes.items() if v not in ([], ["any"], ["female", "male"])} == {}


@pytest.mark.parametrize(("analyte", "sex", "low", "high"), PUBLISHED)
def test_intervals_are_those_of_the_source(analyte: str, sex: str, low: float | None, high: float | None) -> None:
    row = next(row for row in ANALYTES if row["id"] == analyte)
    interval = next(interval for interval in row["reference"] if interval["sex"] == sex)
    assert (interval.get("low"), interval.get("high")) == (low, high)


# ------------------------------------------------------------------------------------------------ context


def test_triggers_are_well_formed_and_unique() -> None:
    rows = _table("context")["trigger"]
    assert [row for row in rows if row["kind"] not in KINDS or row["direction"] not in {"forward", "backward"}] == []
    assert [row["text"] for row in rows if row["text"] != _fold(row["text"])] == []
    assert _twice([(row["text"], row["direction"]) for row in rows]) == []


def test_every_trigger_of_the_specification_is_listed() -> None:
    kinds = {(row["text"], row["direction"]): row["kind"] for row in _table("context")["trigger"]}
    assert [(k, d, t) for k, d, t in TRIGGERS if kinds.get((t, d)) != k] == []


# ------------------------------------------------------------------------------------------------ abbreviations


def test_abbreviations_are_short_and_unique() -> None:
    rows = _table("abbreviations")["abbreviation"]
    texts = [row["text"] for row in rows]
    assert len(rows) >= 120
    assert _twice(texts) == []
    assert [t for t in texts if sum(c.isalpha() for c in t) > 5 or t != t.upper()] == []
    assert [row["text"] for row in rows if not row["expansion"]] == []


def test_ambiguous_abbreviations_name_fields_that_have_witnesses() -> None:
    table = _table("abbreviations")
    fields = {row["id"]: row["concepts"] for row in table["field"]}
    ambiguous = {row["text"]: row["fields"] for row in table["abbreviation"] if "fields" in row}
    assert {"MS", "PE", "RA", "AS"} <= set(ambiguous)
    assert [text for text, names in ambiguous.items() if not names or set(names) - set(fields)] == []
    known = set(_concept_surfaces().values())
    assert [(name, concept) for name, concepts in fields.items() for concept in concepts if concept not in known] == []
    assert [name for name, concepts in fields.items() if len(concepts) < 4] == []


# ------------------------------------------------------------------------------------------------ stop words


def test_the_search_stop_list_keeps_words_that_turn_the_meaning() -> None:
    words = _table("stopwords")["words"]
    assert _twice(words) == []
    assert 65 <= len(words) <= 95
    assert set(words) & MEANING == set()
    assert {"the", "and", "of", "is"} <= set(words)


def test_stop_surfaces_hide_no_concept() -> None:
    surfaces = _table("stopwords")["surfaces"]
    assert _twice(surfaces) == []
    assert len(surfaces) >= 150
    assert {"mid", "blood", "excluded", "positive", "injury", "right", "acute", "all", "mild", "onset"} <= set(surfaces)
    concepts = _concept_surfaces()
    assert [s for s in surfaces if norm(s) in concepts] == []
    assert norm("chest pain") in concepts  # the control: the table is read


# ------------------------------------------------------------------------------------------------ headings, limits


@pytest.mark.parametrize(("table", "classes"), [("note", NOTE_SECTIONS), ("guideline", PASSAGE_CLASSES)])
def test_headings_lead_to_one_known_class(table: str, classes: set[str]) -> None:
    rows = _table("headings")[table]
    assert {row["class"] for row in rows} == classes
    headings = [heading for row in rows for heading in row["headings"]]
    assert _twice(headings) == []
    assert [h for h in headings if h != _fold(h) or re.search(r"[:.]$", h)] == []
    assert len(headings) >= 90


def test_limits_exist_for_every_vital_sign_in_its_unit() -> None:
    rows = _table("plausibility")["vital"]
    assert _twice([row["quantity"] for row in rows]) == []
    assert set(VITALS) <= {row["quantity"] for row in rows}
    assert [r["quantity"] for r in rows if parse_unit(r["unit"]) != parse_unit(MEASURED[r["quantity"]].unit)] == []
    assert [r["quantity"] for r in rows if not r["low"] < r["high"]] == []


@pytest.mark.parametrize(
    ("quantity", "real", "absurd"),
    [("systolic_bp", 60, 700), ("heart_rate", 210, 900), ("temperature", 34.1, 98.6), ("spo2", 71, 104), ("gcs", 3, 2)],
)
def test_limits_pass_the_very_ill_and_stop_the_impossible(quantity: str, real: float, absurd: float) -> None:
    row = next(row for row in _table("plausibility")["vital"] if row["quantity"] == quantity)
    assert row["low"] <= real <= row["high"]
    assert not row["low"] <= absurd <= row["high"]
