"""Every point score against points counted by hand, at and beside each of its cut-offs.

A case is what is given and the points of it; all else is taken as absent or normal. The base of a row is prefixed.
"""

from __future__ import annotations

import pytest

from tests.helpers.calculations import calculated
from tools.calculators import CALCULATORS

# score: what every case starts with, and the cases
CASES: dict[str, tuple[str, list[tuple[str, float]]]] = {
    "cha2ds2_vasc": (
        "",
        [
            ("age 64 a; sex male", 0),
            ("age 65 a; sex male", 1),
            ("age 74.9 a; sex female", 2),
            ("age 75 a; sex male", 2),
            ("age 75 a; sex female; stroke yes; tia yes", 5),  # 2 + 1 + 2: either counts once
            ("age 50 a; sex male; heart_failure yes; hypertension yes; diabetes yes; vascular_disease yes", 4),
            ("age 50 a; sex male; thromboembolism yes", 2),
            ("age 50 a; sex male; tia yes", 2),
        ],
    ),
    "rcri": (
        "",
        [
            ("creatinine 2 mg/dL", 0),  # above 2, not from 2 on
            ("creatinine 2.01 mg/dL", 1),
            ("creatinine 176.84 umol/L", 0),  # 2 mg/dL in the other unit
            ("high_risk_surgery yes; ischaemic_heart_disease yes; heart_failure yes", 3),
            ("cerebrovascular_disease yes; insulin yes; creatinine 3 mg/dL", 3),
        ],
    ),
    "heart": (
        "",
        [
            ("age 44 a", 0),
            ("age 45 a", 1),
            ("age 65 a", 2),
            ("age 30 a; history moderate; ecg repolarisation; troponin to_3_times", 3),
            ("age 30 a; history high; ecg st_deviation; troponin above_3_times", 6),
            ("age 30 a; smoking yes", 1),
            ("age 30 a; smoking yes; diabetes yes", 1),
            ("age 30 a; smoking yes; diabetes yes; obesity yes", 2),
            ("age 30 a; atherosclerosis yes", 2),
        ],
    ),
    "has_bled": (
        "",
        [
            ("age 65 a", 0),
            ("age 65.1 a", 1),
            ("age 40 a; drinks_per_week 7", 0),
            ("age 40 a; drinks_per_week 8", 1),
            ("age 40 a; hypertension yes; renal_disease yes; liver_disease yes; stroke yes", 4),
            ("age 40 a; bleeding yes; labile_inr yes; drugs yes", 3),
        ],
    ),
    "child_pugh": (
        "bilirubin 1 mg/dL; albumin 4 g/dL; inr 1",
        [
            ("", 5),
            ("ascites slight; encephalopathy grade_1_2", 7),
            ("ascites moderate; encephalopathy grade_3_4", 9),
        ],
    ),
    "glasgow_blatchford": (
        "sex male",
        [
            ("bun 18.1 mg/dL", 0),
            ("bun 18.2 mg/dL", 2),
            ("bun 6.5 mmol/L", 2),  # the paper's own limit
            ("bun 22.4 mg/dL", 3),
            ("bun 28 mg/dL", 4),
            ("bun 69.9 mg/dL", 4),
            ("bun 70 mg/dL", 6),
            ("bun 25 mmol/L", 6),
            ("haemoglobin 13 g/dL", 0),
            ("haemoglobin 12.9 g/dL", 1),
            ("haemoglobin 12 g/dL", 1),
            ("haemoglobin 119 g/L", 3),
            ("haemoglobin 10 g/dL", 3),
            ("haemoglobin 9.9 g/dL", 6),
            ("systolic 110 mmHg", 0),
            ("systolic 109 mmHg", 1),
            ("systolic 100 mmHg", 1),
            ("systolic 99 mmHg", 2),
            ("systolic 90 mmHg", 2),
            ("systolic 89 mmHg", 3),
            ("heart_rate 99 /min", 0),
            ("heart_rate 100 /min", 1),
            ("melaena yes; syncope yes; liver_disease yes; heart_failure yes", 7),
        ],
    ),
    "centor_mcisaac": (
        "",
        [
            ("age 3 a; temperature 38 Cel", 1),  # above 38 °C, not from 38 on
            ("age 14 a; temperature 38.1 Cel", 2),
            ("age 15 a; temperature 100.4 degF", 0),  # 38 °C
            ("age 15 a; temperature 100.5 degF", 1),
            ("age 44 a; exudate yes; nodes yes; no_cough yes", 3),
            ("age 45 a", -1),
            ("age 35 mo", 0),  # below 3 years
            ("age 36 mo", 1),
        ],
    ),
    "feverpain": (
        "",
        [
            ("fever yes", 1),
            ("fever yes; purulence yes; attend_rapidly no", 2),
            ("fever yes; purulence yes; attend_rapidly yes; inflamed yes; no_cough yes", 5),
        ],
    ),
    "glasgow_coma": (
        "",
        [
            ("eye none; verbal none; motor none", 3),
            ("eye to_pain; verbal sounds; motor extension", 6),  # 2 + 2 + 2
            ("eye to_voice; verbal words; motor flexion", 9),  # 3 + 3 + 3
            ("eye to_voice; verbal confused; motor withdraws", 11),  # 3 + 4 + 4
            ("eye spontaneous; verbal confused; motor localises", 13),  # 4 + 4 + 5
            ("eye spontaneous; verbal oriented; motor obeys", 15),
            ("eye not_testable; verbal not_testable; motor obeys", 8),  # 1 + 1 + 6
        ],
    ),
    "curb65": (
        "",
        [
            ("age 64 a; bun 19 mg/dL; respiratory_rate 29 /min; systolic 90 mmHg; diastolic 61 mmHg", 0),
            ("age 65 a; bun 19.1 mg/dL; respiratory_rate 30 /min; systolic 89 mmHg; confusion yes", 5),
            ("age 30 a; systolic 120 mmHg; diastolic 60 mmHg", 1),
            ("age 30 a; systolic 89 mmHg; diastolic 60 mmHg", 1),  # one point for both
        ],
    ),
    "psi": (
        "age 50 a; sex male",
        [
            ("nursing_home yes; effusion yes", 70),
            ("cancer yes; liver_disease yes; heart_failure yes; cerebrovascular_disease yes; renal_disease yes", 130),
            ("altered_mental_status yes", 70),
            ("respiratory_rate 29 /min; systolic 90 mmHg; temperature 35 Cel; heart_rate 124 /min; ph 7.35", 50),
            ("respiratory_rate 30 /min; systolic 89 mmHg", 90),
            ("temperature 34.9 Cel", 65),
            ("temperature 104 degF", 65),  # 40 °C
            ("temperature 39.9 Cel; heart_rate 125 /min; ph 7.34", 90),
            ("bun 29.9 mg/dL; sodium 130 mmol/L; glucose 249 mg/dL; haematocrit 30 %; pao2 60 mmHg", 50),
            ("bun 30 mg/dL; sodium 129 mmol/L; glucose 250 mg/dL; haematocrit 29.9 %; pao2 59 mmHg", 120),
        ],
    ),
    "charlson": (
        "",
        [
            ("age 49 a", 0),
            ("age 50 a", 1),
            ("age 60 a", 2),
            ("age 69.9 a", 2),
            ("age 70 a; stroke yes", 4),
            ("age 79.9 a; tia yes", 4),
            ("age 80 a", 4),
            ("age 40 a; myocardial_infarction yes; heart_failure yes; vascular_disease yes; stroke yes; tia yes", 4),
            ("age 40 a; dementia yes; lung_disease yes; connective_tissue_disease yes; ulcer yes", 4),
            ("age 40 a; liver_disease mild; diabetes uncomplicated", 2),
            ("age 40 a; liver_disease moderate_to_severe; diabetes organ_damage", 5),
            ("age 40 a; hemiplegia yes; kidney_disease yes; leukaemia yes; lymphoma yes", 8),
            ("age 40 a; solid_tumour localised", 2),
            ("age 40 a; solid_tumour metastatic; aids yes", 12),
        ],
    ),
    "sirs": (
        "",
        [
            ("temperature 38 Cel; heart_rate 90 /min; respiratory_rate 20 /min; white_cells 12 10*9/L", 0),
            ("temperature 38.1 Cel; heart_rate 91 /min; respiratory_rate 21 /min; white_cells 12.1 10*9/L", 4),
            ("temperature 36 Cel; paco2 32 mmHg; white_cells 4 10*9/L", 0),
            ("temperature 35.9 Cel; paco2 31.9 mmHg; white_cells 3999 /uL", 3),
            ("respiratory_rate 20.1 /min; bands yes", 2),
            ("temperature 100.4 degF; heart_rate 120 /min", 1),
        ],
    ),
    "wells_pe": (
        "",
        [
            ("heart_rate 100 /min", 0),
            ("heart_rate 101 /min", 1.5),
            ("dvt_signs yes; pe_most_likely yes", 6),
            ("immobile yes; surgery yes; previous_pe yes; previous_dvt yes", 3),
            ("haemoptysis yes; cancer yes; heart_rate 120 /min", 3.5),
            ("immobile yes; previous_pe yes", 3),
            ("surgery yes; previous_dvt yes", 3),
        ],
    ),
    "wells_dvt": (
        "",
        [
            ("alternative yes", -2),
            ("cancer yes; alternative yes", -1),
            ("bedridden yes; surgery yes", 1),
            ("bedridden yes", 1),
            ("surgery yes", 1),
            ("paralysis_or_cast yes; tenderness yes; whole_leg yes; calf yes", 4),
            ("pitting yes; collaterals yes; previous_dvt yes", 3),
        ],
    ),
    "perc": (
        "",
        [
            ("age 49.9 a; heart_rate 99 /min; spo2 95 %", 0),
            ("age 50 a; heart_rate 100 /min; spo2 94.9 %", 3),
            ("age 30 a; leg_swelling yes; haemoptysis yes; surgery_or_trauma yes; oestrogen yes", 4),
            ("age 30 a; previous_pe yes; previous_dvt yes", 1),
            ("age 30 a; previous_pe yes", 1),
            ("age 30 a; previous_dvt yes", 1),
        ],
    ),
    "caprini_2005": (
        "",
        [
            ("age 40.9 a; bmi 25 kg/m2", 0),
            ("age 41 a; bmi 25.1 kg/m2", 2),
            ("age 61 a", 2),
            ("age 75 a", 3),
            ("age 30 a; surgery minor", 1),
            ("age 30 a; surgery arthroscopic", 2),
            ("age 30 a; surgery major", 2),
            ("age 30 a; surgery leg_arthroplasty; mobility over_72_hours", 7),
            ("age 30 a; recent_surgery yes; heart_failure yes; sepsis yes; pneumonia yes; cast yes", 6),  # the cast 2
            ("age 30 a; fracture yes; stroke yes; trauma yes; cord_injury yes", 20),
            (
                "age 30 a; varicose_veins yes; swollen_legs yes; central_line yes; previous_vte yes",
                7,
            ),
            ("age 30 a; factor_v yes; prothrombin yes; homocysteine yes; lupus_anticoagulant yes", 12),
            ("age 30 a; anticardiolipin yes; hit yes; thrombophilia yes; family_history yes; mobility bed_rest", 13),
            ("age 30 a; bowel_disease yes; infarction yes; copd yes; cancer yes; hormones yes; pregnancy yes", 7),
            ("age 30 a; obstetric_loss yes", 1),
        ],
    ),
}

APACHE = "age 40 a; gcs 15"
LADDERS: list[tuple[str, str, str, str]] = [
    # score, base, input and unit, "value:points" at and beside each cut-off of the paper
    ("child_pugh", "albumin 4 g/dL; inr 1", "bilirubin mg/dL", "1.9:5 2:6 3:6 3.1:7"),
    ("child_pugh", "albumin 4 g/dL; inr 1", "bilirubin umol/L", "34.1:5 34.2:6 51.3:6 51.4:7"),
    ("child_pugh", "bilirubin 1 mg/dL; inr 1", "albumin g/L", "35.1:5 35:6 28:6 27.9:7"),
    ("child_pugh", "bilirubin 1 mg/dL; albumin 4 g/dL", "inr {ratio}", "1.69:5 1.7:6 2.3:6 2.31:7"),
    ("glasgow_blatchford", "sex female", "haemoglobin g/dL", "12:0 11.9:1 10:1 9.9:6"),
    ("apache2", APACHE, "temperature Cel", "29.9:4 30:3 31.9:3 32:2 33.9:2 34:1 36:0 38.4:0 38.5:1 39:3 40.9:3 41:4"),
    ("apache2", f"{APACHE}; diastolic 90 mmHg", "systolic mmHg", "90:0 149:0 150:2 209:2 210:3 299:3 300:4"),
    ("apache2", f"{APACHE}; diastolic 40 mmHg", "systolic mmHg", "60:4 70:2 129:2 130:0"),
    ("apache2", APACHE, "heart_rate /min", "39:4 40:3 54:3 55:2 69:2 70:0 109:0 110:2 139:2 140:3 179:3 180:4"),
    ("apache2", APACHE, "respiratory_rate /min", "5:4 6:2 9:2 10:1 12:0 24:0 25:1 34:1 35:3 49:3 50:4"),
    ("apache2", f"{APACHE}; fio2 50 %", "aa_gradient mmHg", "199:0 200:2 349:2 350:3 499:3 500:4"),
    ("apache2", f"{APACHE}; aa_gradient 100 mmHg; pao2 50 mmHg", "fio2 %", "49.9:4 50:0"),
    ("apache2", f"{APACHE}; fio2 49 %", "pao2 mmHg", "71:0 70:1 61:1 60:3 55:3 54:4"),
    ("apache2", APACHE, "ph {ratio}", "7.14:4 7.15:3 7.24:3 7.25:2 7.33:0 7.49:0 7.5:1 7.6:3 7.7:4"),
    ("apache2", APACHE, "sodium mmol/L", "110:4 111:3 119:3 120:2 130:0 149:0 150:1 155:2 160:3 179:3 180:4"),
    ("apache2", APACHE, "potassium mmol/L", "2.4:4 2.5:2 3:1 3.5:0 5.4:0 5.5:1 6:3 7:4"),
    ("apache2", APACHE, "creatinine mg/dL", "0.5:2 0.6:0 1.4:0 1.5:2 2:3 3.4:3 3.5:4"),
    ("apache2", f"{APACHE}; acute_renal_failure yes", "creatinine mg/dL", "0.5:2 1.4:0 1.5:4 2:6 3.5:8"),
    ("apache2", APACHE, "haematocrit %", "19:4 20:2 29:2 30:0 45:0 46:1 50:2 59:2 60:4"),
    ("apache2", APACHE, "white_cells 10*9/L", "0.9:4 1:2 2.9:2 3:0 14.9:0 15:1 20:2 39:2 40:4"),
    ("apache2", "gcs 15", "age a", "44:0 45:2 54:2 55:3 64:3 65:5 74:5 75:6"),
    ("apache2", "age 40 a", "gcs {score}", "15:0 9:6 3:12"),
    ("sofa", "fio2 50 %", "pao2 mmHg", "200:0 199:1 150:1 149:2 100:2 99:2 20:2"),
    ("sofa", "fio2 50 %; ventilated yes", "pao2 mmHg", "100:2 99:3 50:3 49:4"),
    ("sofa", "fio2 50 %; cpap yes", "pao2 mmHg", "99:3 49:4"),
    ("sofa", "", "platelets 10*9/L", "150:0 149:1 100:1 99:2 50:2 49:3 20:3 19:4"),
    ("sofa", "", "bilirubin mg/dL", "1.1:0 1.2:1 1.9:1 2:2 5.9:2 6:3 11.9:3 12:4"),
    ("sofa", "diastolic 60 mmHg", "systolic mmHg", "89:1 90:0"),
    ("sofa", "hypotension yes", "dopamine ug/kg/min", "0:1 0.0005:2 5:2 5.1:3 15:3 15.1:4"),
    ("sofa", "", "dobutamine ug/kg/min", "0:0 0.0005:2 20:2"),
    ("sofa", "", "norepinephrine ug/kg/min", "0:0 0.0005:3 0.1:3 0.101:4"),
    ("sofa", "dopamine 4 ug/kg/min", "epinephrine ug/kg/min", "0:2 0.0005:3 0.1:3 0.101:4"),
    ("sofa", "", "gcs {score}", "15:0 14:1 13:1 12:2 10:2 9:3 6:3 5:4"),
    ("sofa", "", "creatinine mg/dL", "1.1:0 1.2:1 1.9:1 2:2 3.4:2 3.5:3 4.9:3 5:4"),
    ("sofa", "creatinine 1 mg/dL", "urine_output mL/day", "500:0 499:3 200:3 199:4"),
]


@pytest.mark.parametrize("name", CASES)
def test_points_by_hand(name: str) -> None:
    base, cases = CASES[name]
    assert len(cases) >= 3
    for text, points in cases:
        found = calculated(name, f"{base}; {text}", absent=True)
        assert (found.low, found.high) == (points, points), text


@pytest.mark.parametrize(("name", "base", "wanted", "steps"), LADDERS)
def test_points_change_exactly_at_the_cut_offs(name: str, base: str, wanted: str, steps: str) -> None:
    quantity, unit = wanted.split()
    for step in steps.split():
        value, points = step.split(":")
        found = calculated(name, f"{base}; {quantity} {value} {unit}", absent=True)
        assert found.low == found.high == float(points), step


@pytest.mark.parametrize(
    ("given", "points"),
    [("organ_failure yes", 5), ("organ_failure yes; surgery emergency", 5), ("organ_failure yes; surgery elective", 2)],
)
def test_chronic_health_of_apache(given: str, points: float) -> None:
    assert calculated("apache2", f"{APACHE}; {given}", absent=True).low == points


def test_a_woman_is_ten_years_younger_in_the_pneumonia_index_only() -> None:
    assert calculated("psi", "age 50 a; sex female", absent=True).low == 40
    assert calculated("curb65", "age 65 a", absent=True).low == 1


def test_every_score_is_in_the_tables() -> None:
    scores = {name for name, each in CALCULATORS.items() if each.output.shape == "score"}
    assert scores == {*CASES, "apache2", "sofa"}


@pytest.mark.parametrize(
    ("name", "texts", "bands"),
    [
        ("child_pugh", ["ascites slight", "ascites slight; encephalopathy grade_1_2"], ["class A", "class B"]),
        (
            "wells_pe",
            ["dvt_signs yes; haemoptysis yes", "dvt_signs yes; immobile yes"],
            ["unlikely", "embolism likely"],
        ),
        ("wells_dvt", ["cancer yes", "cancer yes; calf yes"], ["unlikely", "thrombosis likely"]),
        (
            "psi",
            ["age 70 a; sex male", "age 71 a; sex male", "age 91 a; sex male"],
            ["class II", "class III", "class IV"],
        ),
        ("glasgow_coma", ["motor extension; verbal words", "motor none; verbal words"], ["moderate", "severe"]),
    ],
)
def test_bands_by_points(name: str, texts: list[str], bands: list[str]) -> None:
    for text, band in zip(texts, bands, strict=True):
        base = "bilirubin 1 mg/dL; albumin 4 g/dL; inr 1; " if name == "child_pugh" else ""
        assert band in calculated(name, base + text, absent=True).band
