"""Every formula calculator against values worked out by hand; the working stands in the table.

Where a formula changes at a cut-off, both sides of it are there, and the cut-off itself, also in another unit.
"""

from __future__ import annotations

from math import exp, log, sqrt

import pytest

from tests.helpers.calculations import calculated
from tools.calculators import CALCULATORS

CASES: dict[str, list[tuple[str, float]]] = {
    "cockcroft_gault": [
        # (140 - 60) * 72 / (72 * 1) = 80; a woman 0.85 of it
        ("age 60 a; sex male; weight 72 kg; creatinine 1 mg/dL", 80),
        ("age 60 a; sex female; weight 72 kg; creatinine 1 mg/dL", 68),
        ("age 60 a; sex male; weight 72 kg; creatinine 88.42 umol/L", 80),
        # 1.8 m: ideal 50 + 2.3 * (180 / 2.54 - 60) = 74.9921 kg; at 81 kg the index is 25.0: adjusted weight
        (
            "age 40 a; sex male; weight 81 kg; height 180 cm; weight_rule by_bmi; creatinine 1 mg/dL",
            100 * (74.99212598425197 + 0.4 * (81 - 74.99212598425197)) / 72,
        ),
        # 80.9 kg: below 25, the smaller of ideal and actual
        (
            "age 40 a; sex male; weight 80.9 kg; height 180 cm; weight_rule by_bmi; creatinine 1 mg/dL",
            100 * 74.99212598425197 / 72,
        ),
        # 59.94 kg at 1.8 m is 18.5 exactly: still the smaller of both, which is the actual weight
        (
            "age 40 a; sex male; weight 59.94 kg; height 180 cm; weight_rule by_bmi; creatinine 1 mg/dL",
            100 * 59.94 / 72,
        ),
        ("age 40 a; sex male; weight 54 kg; height 180 cm; weight_rule by_bmi; creatinine 1 mg/dL", 75),
        # a woman of 127 cm: ideal 45.5 + 2.3 * (50 - 60) = 22.5 kg; 18.5 is reached at 29.83865 kg
        (
            "age 40 a; sex female; weight 29.83865 kg; height 127 cm; weight_rule by_bmi; creatinine 1 mg/dL",
            100 * 22.5 / 72 * 0.85,
        ),
        (
            "age 40 a; sex female; weight 29.8 kg; height 127 cm; weight_rule by_bmi; creatinine 1 mg/dL",
            100 * 29.8 / 72 * 0.85,
        ),
    ],
    "ckd_epi_2021": [
        # at the knot (0.9 for men, 0.7 for women) both powers are of 1
        ("age 50 a; sex male; creatinine 0.9 mg/dL", 142 * 0.9938**50),
        ("age 50 a; sex female; creatinine 0.7 mg/dL", 142 * 0.9938**50 * 1.012),
        ("age 50 a; sex male; creatinine 1.8 mg/dL", 142 * 2**-1.2 * 0.9938**50),
        ("age 50 a; sex male; creatinine 0.45 mg/dL", 142 * 0.5**-0.302 * 0.9938**50),
        ("age 50 a; sex female; creatinine 0.35 mg/dL", 142 * 0.5**-0.241 * 0.9938**50 * 1.012),
        ("age 50 a; sex female; creatinine 123.788 umol/L", 142 * 2**-1.2 * 0.9938**50 * 1.012),
    ],
    "mdrd": [
        ("age 50 a; sex male; creatinine 1 mg/dL", 175 * 50**-0.203),
        ("age 50 a; sex female; creatinine 1 mg/dL", 175 * 50**-0.203 * 0.742),
        ("age 50 a; sex male; creatinine 176.84 umol/L", 175 * 2**-1.154 * 50**-0.203),
    ],
    "fena": [
        # 100 * 20 * 2 / (140 * 100) = 0.2857
        ("sodium 140 mmol/L; creatinine 2 mg/dL; urine_sodium 20 mmol/L; urine_creatinine 100 mg/dL", 2 / 7),
        # exactly 1 %: 100 * 70 * 2 / (140 * 100)
        ("sodium 140 mmol/L; creatinine 2 mg/dL; urine_sodium 70 mmol/L; urine_creatinine 100 mg/dL", 1),
        ("sodium 140 mEq/L; creatinine 176.84 umol/L; urine_sodium 140 mEq/L; urine_creatinine 100 mg/dL", 2),
    ],
    "mean_arterial_pressure": [
        ("systolic 120 mmHg; diastolic 80 mmHg", 280 / 3),
        ("systolic 90 mmHg; diastolic 60 mmHg", 70),
        ("systolic 100 mmHg; diastolic 100 mmHg", 100),
        ("systolic 16 kPa; diastolic 16 kPa", 16 / 0.133322387415),
    ],
    "ldl_friedewald": [
        ("cholesterol 200 mg/dL; hdl 50 mg/dL; triglycerides 150 mg/dL", 120),
        ("cholesterol 200 mg/dL; hdl 50 mg/dL; triglycerides 400 mg/dL", 70),
        # 5 mmol/L = 193.35, 1 mmol/L = 38.67, 1 mmol/L of triglycerides = 88.57 mg/dL
        ("cholesterol 5 mmol/L; hdl 1 mmol/L; triglycerides 1 mmol/L", 193.35 - 38.67 - 88.57 / 5),
    ],
    "framingham_hard_chd": [
        (
            "age 55 a; sex male; cholesterol 213 mg/dL; hdl 50 mg/dL; systolic 120 mmHg; smoker no; treated no",
            100
            * (
                1
                - 0.9402
                ** exp(
                    52.00961 * log(55)
                    + 20.014077 * log(213)
                    - 0.905964 * log(50)
                    + 1.305784 * log(120)
                    - 4.605038 * log(55) * log(213)
                    - 2.93323 * log(55) ** 2
                    - 172.300168
                )
            ),
        ),
        # the age in the smoking term stops at 70 for men and 78 for women
        (
            "age 75 a; sex male; cholesterol 213 mg/dL; hdl 50 mg/dL; systolic 120 mmHg; smoker yes; treated yes",
            100
            * (
                1
                - 0.9402
                ** exp(
                    52.00961 * log(75)
                    + 20.014077 * log(213)
                    - 0.905964 * log(50)
                    + 1.305784 * log(120)
                    + 0.241549
                    + 12.096316
                    - 4.605038 * log(75) * log(213)
                    - 2.84367 * log(70)
                    - 2.93323 * log(75) ** 2
                    - 172.300168
                )
            ),
        ),
        (
            "age 79 a; sex female; cholesterol 213 mg/dL; hdl 50 mg/dL; systolic 120 mmHg; smoker yes; treated yes",
            100
            * (
                1
                - 0.98767
                ** exp(
                    31.764001 * log(79)
                    + 22.465206 * log(213)
                    - 1.187731 * log(50)
                    + 2.552905 * log(120)
                    + 0.420251
                    + 13.07543
                    - 5.060998 * log(79) * log(213)
                    - 2.996945 * log(78)
                    - 146.5933061
                )
            ),
        ),
    ],
    "qtc_bazett": [
        ("qt 400 ms; heart_rate 60 /min", 400),
        ("qt 400 ms; heart_rate 100 /min", 400 / sqrt(0.6)),
        ("qt 0.5 s; heart_rate 15 /min", 250),
    ],
    "qtc_fridericia": [
        ("qt 400 ms; heart_rate 60 /min", 400),
        ("qt 400 ms; heart_rate 100 /min", 400 / 0.6 ** (1 / 3)),
        ("qt 400 ms; heart_rate 7.5 /min", 200),  # RR 8 s, its cube root 2
    ],
    "qtc_framingham": [
        ("qt 400 ms; heart_rate 60 /min", 400),
        ("qt 400 ms; heart_rate 120 /min", 477),  # 400 + 154 * 0.5
        ("qt 400 ms; heart_rate 30 /min", 246),  # 400 - 154
    ],
    "qtc_hodges": [
        ("qt 400 ms; heart_rate 60 /min", 400),
        ("qt 400 ms; heart_rate 100 /min", 470),  # 1.75 * 40
        ("qt 400 ms; heart_rate 40 /min", 365),
    ],
    "qtc_rautaharju": [
        ("qt 400 ms; heart_rate 60 /min", 400),
        ("qt 360 ms; heart_rate 90 /min", 420),  # 360 * 210 / 180
        ("qt 450 ms; heart_rate 40 /min", 400),
    ],
    "anion_gap": [
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 24 mmol/L", 12),
        ("sodium 140 mEq/L; chloride 100 mEq/L; bicarbonate 10 mEq/L", 30),
        ("sodium 130 mmol/L; chloride 115 mmol/L; bicarbonate 20 mmol/L", -5),
    ],
    "anion_gap_albumin": [
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 24 mmol/L; albumin 4 g/dL", 12),
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 24 mmol/L; albumin 20 g/L", 17),
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 24 mmol/L; albumin 5 g/dL", 9.5),
    ],
    "delta_gap": [
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 24 mmol/L", 0),
        ("sodium 140 mmol/L; chloride 100 mmol/L; bicarbonate 10 mmol/L", 18),
        ("sodium 135 mmol/L; chloride 110 mmol/L; bicarbonate 20 mmol/L", -7),
    ],
    "delta_gap_albumin": [
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 24 mmol/L; albumin 4 g/dL", 0),
        ("sodium 140 mmol/L; chloride 100 mmol/L; bicarbonate 10 mmol/L; albumin 2 g/dL", 23),
        ("sodium 135 mmol/L; chloride 110 mmol/L; bicarbonate 20 mmol/L; albumin 44 g/L", -8),
    ],
    "delta_ratio": [
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 12 mmol/L", 1),  # 12 / 12
        ("sodium 140 mmol/L; chloride 100 mmol/L; bicarbonate 10 mmol/L", 18 / 14),
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 30 mmol/L", 1),  # -6 / -6
    ],
    "delta_ratio_albumin": [
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 12 mmol/L; albumin 4 g/dL", 1),
        ("sodium 140 mmol/L; chloride 104 mmol/L; bicarbonate 14 mmol/L; albumin 3.2 g/dL", 1.2),  # 12 / 10
        ("sodium 140 mmol/L; chloride 116 mmol/L; bicarbonate 12 mmol/L; albumin 40 g/L", 0),
    ],
    "serum_osmolality": [
        ("sodium 140 mmol/L; bun 14 mg/dL; glucose 90 mg/dL", 290),  # 280 + 5 + 5
        ("sodium 120 mmol/L; bun 28 mg/dL; glucose 900 mg/dL", 300),
        ("sodium 140 mmol/L; bun 5 mmol/L; glucose 5 mmol/L", 280 + 14.005 / 2.8 + 90.08 / 18),
    ],
    "corrected_calcium": [
        ("calcium 8 mg/dL; albumin 4 g/dL", 8),
        ("calcium 8 mg/dL; albumin 2 g/dL", 9.6),
        ("calcium 2 mmol/L; albumin 30 g/L", 8.816),  # 8.016 + 0.8
    ],
    "corrected_sodium": [
        ("sodium 130 mmol/L; glucose 100 mg/dL", 130),
        ("sodium 130 mmol/L; glucose 600 mg/dL", 142),
        ("sodium 130 mEq/L; glucose 50 mmol/L", 130 + 0.024 * 800.8),
    ],
    "free_water_deficit": [
        # 168 / 140 - 1 = 0.2; child 0.6, woman 0.5, man of 65 0.5, woman of 65 0.45
        ("age 17.9 a; sex female; weight 50 kg; sodium 168 mmol/L", 6),
        ("age 18 a; sex female; weight 50 kg; sodium 168 mmol/L", 5),
        ("age 64 a; sex male; weight 50 kg; sodium 168 mmol/L", 6),
        ("age 65 a; sex male; weight 50 kg; sodium 168 mmol/L", 5),
        ("age 65 a; sex female; weight 50 kg; sodium 168 mmol/L", 4.5),
        ("age 40 a; sex female; weight 70 kg; sodium 126 mmol/L", -3.5),
    ],
    "fib4": [
        ("age 50 a; ast 40 U/L; alt 25 U/L; platelets 200 10*9/L", 2),  # 2000 / (200 * 5)
        ("age 50 a; ast 40 U/L; alt 25 U/L; platelets 200000 /uL", 2),
        ("age 58 a; ast 25 U/L; alt 25 U/L; platelets 200 10*9/L", 1.45),
        ("age 65 a; ast 50 U/L; alt 100 U/L; platelets 100 10*9/L", 3.25),
    ],
    "meld_na": [
        # all at the floor: 10 * round(0.643, 1) = 6
        ("creatinine 0.5 mg/dL; bilirubin 0.4 mg/dL; inr 0.9; sodium 125 mmol/L; dialysis no; cvvhd no", 6),
        # Cr 2, bilirubin 3, INR 1.5: .6633 + .4153 + .4541 + .643 = 2.1757 -> 2.2, MELD 22; Na 137: nothing added
        ("creatinine 2 mg/dL; bilirubin 3 mg/dL; inr 1.5; sodium 140 mmol/L; dialysis no; cvvhd no", 22),
        # Na 130: 22 + 1.32 * 7 - 0.033 * 22 * 7 = 26.158
        ("creatinine 2 mg/dL; bilirubin 3 mg/dL; inr 1.5; sodium 130 mmol/L; dialysis no; cvvhd no", 26.158),
        # Na 120 counts as 125: 22 + 15.84 - 8.712
        ("creatinine 2 mg/dL; bilirubin 3 mg/dL; inr 1.5; sodium 120 mmol/L; dialysis no; cvvhd no", 29.128),
        # dialysis makes Cr 4: 1.3267 + .643 = 1.9697 -> 2.0, MELD 20
        ("creatinine 1 mg/dL; bilirubin 1 mg/dL; inr 1; sodium 137 mmol/L; dialysis yes; cvvhd no", 20),
        ("creatinine 1 mg/dL; bilirubin 1 mg/dL; inr 1; sodium 137 mmol/L; dialysis no; cvvhd yes", 20),
        # just below a step of rounding: 1.1989 + .643 = 1.8419, 1.2013 + .643 = 1.8443, 1.1925 + .643 = 1.8355
        ("creatinine 3.5 mg/dL; bilirubin 1 mg/dL; inr 1; sodium 137 mmol/L; dialysis no; cvvhd no", 18),
        ("creatinine 1 mg/dL; bilirubin 24 mg/dL; inr 1; sodium 137 mmol/L; dialysis no; cvvhd no", 18),
        ("creatinine 1 mg/dL; bilirubin 1 mg/dL; inr 2.9; sodium 137 mmol/L; dialysis no; cvvhd no", 18),
        # creatinine counts at most 4: 1.3267 + .0752 + .643 = 2.0449
        ("creatinine 8 mg/dL; bilirubin 1.22 mg/dL; inr 1; sodium 137 mmol/L; dialysis no; cvvhd no", 20),
        ("creatinine 1 mg/dL; bilirubin 1.22 mg/dL; inr 1; sodium 137 mmol/L; dialysis yes; cvvhd no", 20),
        # far above: capped
        ("creatinine 8 mg/dL; bilirubin 30 mg/dL; inr 5; sodium 137 mmol/L; dialysis no; cvvhd no", 40),
        # MELD 11 exactly gets no sodium: Cr 1.6 -> .4498 + .643 = 1.0928 -> 1.1
        ("creatinine 1.6 mg/dL; bilirubin 1 mg/dL; inr 1; sodium 125 mmol/L; dialysis no; cvvhd no", 11),
    ],
    "steroid_conversion": [
        ("dose 20 mg; from_drug hydrocortisone; to_drug prednisone", 5),
        ("dose 40 mg; from_drug prednisolone; to_drug dexamethasone", 6),
        ("dose 8 mg; from_drug methylprednisolone; to_drug triamcinolone", 8),
        ("dose 1.5 mg; from_drug betamethasone; to_drug cortisone", 50),
        ("dose 0.01 g; from_drug prednisone; to_drug hydrocortisone", 40),
    ],
    "maintenance_fluids": [
        ("weight 9 kg", 36),
        ("weight 10 kg", 40),
        ("weight 10.1 kg", 40.2),
        ("weight 15 kg", 50),
        ("weight 20 kg", 60),
        ("weight 20.2 kg", 60.2),
        ("weight 21 kg", 61),
        ("weight 20000 g", 60),
    ],
    "morphine_equivalents": [
        ("morphine 50 mg/day", 50),
        ("oxycodone 30 mg/day; tramadol 100 mg/day", 65),  # 45 + 20
        ("codeine 100 mg/day; methadone 10 mg/day; hydrocodone 5 mg/day", 67),  # 15 + 47 + 5
        ("hydromorphone 2 mg/day; oxymorphone 3 mg/day; tapentadol 50 mg/day", 39),  # 10 + 9 + 20
        ("fentanyl_patch 25 ug/h", 60),
        ("fentanyl_buccal 100 ug/day", 13),
    ],
    "body_mass_index": [
        ("weight 74 kg; height 200 cm", 18.5),
        ("weight 100 kg; height 2 m", 25),
        ("weight 120 kg; height 200 cm", 30),
        ("weight 154.323583529 lb; height 70 in", 70 / 1.778**2),
    ],
    "ideal_body_weight": [
        ("sex male; height 152.4 cm", 50),
        ("sex female; height 60 in", 45.5),
        ("sex male; height 70 in", 73),
        ("sex female; height 177.8 cm", 68.5),
    ],
    "adjusted_body_weight": [
        ("sex male; height 70 in; weight 73 kg", 73),
        ("sex male; height 70 in; weight 123 kg", 93),  # 73 + 0.4 * 50
        ("sex female; height 70 in; weight 118.5 kg", 88.5),
    ],
    "target_weight": [
        ("bmi 25 kg/m2; height 200 cm", 100),
        ("bmi 20 kg/m2; height 1.5 m", 45),
        ("bmi 18.5 kg/m2; height 200 cm", 74),
    ],
    "body_surface_area": [
        ("weight 36 kg; height 100 cm", 1),
        ("weight 72 kg; height 200 cm", 2),
        ("weight 81 kg; height 1.6 m", 1.8973665961010275),  # root of 3.6
    ],
    "homa_ir": [
        ("insulin 9 uIU/mL; glucose 90 mg/dL", 2),
        ("insulin 4.5 mIU/L; glucose 90 mg/dL", 1),
        # 5 mmol/L = 90.08 mg/dL; the paper's own form divides mmol/L by 22.5: 2.0 to two digits
        ("insulin 9 uIU/mL; glucose 5 mmol/L", 9 * 90.08 / 405),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_values_by_hand(name: str) -> None:
    assert len(CASES[name]) >= 3
    for text, expected in CASES[name]:
        found = calculated(name, text)
        assert found.low == found.high == pytest.approx(expected, rel=1e-9, abs=1e-9), text
        assert found.missing == ()


DAYS = {
    "due_date": [
        ("last_period 2023-01-01", "2023-10-08"),  # Naegele: minus 3 months, plus 7 days, plus a year
        ("last_period 2023-03-01", "2023-12-06"),  # 280 days: March to December are 275 to the 1st, and 5
        ("last_period 2023-01-01; cycle 35 d", "2023-10-15"),
        ("last_period 2023-01-01; cycle 21 d", "2023-10-01"),
        ("last_period 2023-05-26", "2024-03-01"),  # across the leap day: the 280th day after is one earlier
        ("last_period 2023-01-01; cycle 4 wk", "2023-10-08"),
    ],
    "conception_date": [
        ("last_period 2024-02-15", "2024-02-29"),
        ("last_period 2023-02-15", "2023-03-01"),
        ("last_period 2024-02-15; cycle 30 d", "2024-03-02"),
        ("last_period 2024-02-15; cycle 21 d", "2024-02-22"),
    ],
    "gestational_age": [
        ("last_period 2024-01-01; today 2024-01-01", "0 weeks 0 days"),
        ("last_period 2024-01-01; today 2024-01-07", "0 weeks 6 days"),
        ("last_period 2024-01-01; today 2024-01-08", "1 weeks 0 days"),
        ("last_period 2024-02-28; today 2024-03-01", "0 weeks 2 days"),
        ("last_period 2023-01-01; today 2023-10-08", "40 weeks 0 days"),
    ],
}


@pytest.mark.parametrize("name", DAYS)
def test_days_by_hand(name: str) -> None:
    assert len(DAYS[name]) >= 3
    assert [calculated(name, text).text for text, _ in DAYS[name]] == [expected for _, expected in DAYS[name]]


EQUAL_MG = "hydrocortisone 20; cortisone 25; prednisone 5; prednisolone 5; methylprednisolone 4; triamcinolone 4; "
EQUAL_MG += "dexamethasone 0.75; betamethasone 0.75"


def test_every_glucocorticoid_both_ways() -> None:
    for part in EQUAL_MG.split("; "):
        drug, dose = part.split()
        there = calculated("steroid_conversion", f"dose {dose} mg; from_drug {drug}; to_drug hydrocortisone")
        back = calculated("steroid_conversion", f"dose 20 mg; from_drug hydrocortisone; to_drug {drug}")
        assert (there.low, back.low) == pytest.approx((20, float(dose))), drug


def test_every_formula_is_in_the_tables() -> None:
    formulas = {name for name, each in CALCULATORS.items() if each.output.shape != "score"}
    assert formulas == {*CASES, *DAYS}


def test_bands_change_at_their_cut_offs() -> None:
    stage = [calculated("ckd_epi_2021", f"age 50 a; sex male; creatinine {cr} mg/dL").band for cr in (0.9, 1.2, 4, 8)]
    assert stage == ["G1", "G2", "G4", "G5"]
    index = [calculated("body_mass_index", f"weight {kg} kg; height 200 cm").band for kg in (73.9, 74, 99.9, 100, 120)]
    assert index == ["underweight", "normal", "normal", "overweight", "obesity"]
    fib4 = [
        calculated("fib4", f"age {a} a; ast 25 U/L; alt 25 U/L; platelets 200 10*9/L").band for a in (57.9, 58, 130)
    ]
    assert fib4 == ["advanced fibrosis unlikely", "undecided", "undecided"]
