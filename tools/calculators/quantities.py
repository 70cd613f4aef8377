"""Inputs that several calculators read, with their units and the limits of what is plausible and possible.

The limits guard against slips of unit and decimal point; they are no reference intervals. Unreviewed.
"""

from __future__ import annotations

import msgspec

from tools.calculators.notation import choice, number
from tools.calculators.record import Input

AGE = number("age", "Age", "a", plausible=(0, 110), possible=(0, 130))
ADULT_AGE = number("age", "Age", "a", plausible=(18, 110), possible=(0, 130))
SEX = choice("sex", "Sex", "male", "female", required=True)
WEIGHT = number("weight", "Weight", "kg", plausible=(2, 250), possible=(0.2, 700))
HEIGHT = number("height", "Height", "cm", plausible=(120, 220), possible=(20, 280))
BMI = number("bmi", "Body mass index", "kg/m2", plausible=(12, 60), possible=(5, 250))

SYSTOLIC = number("systolic", "Systolic pressure", "mm[Hg]", plausible=(60, 250), possible=(0, 400))
DIASTOLIC = number("diastolic", "Diastolic pressure", "mm[Hg]", plausible=(30, 150), possible=(0, 300))
HEART_RATE = number("heart_rate", "Heart rate", "/min", plausible=(30, 220), possible=(1, 400))
BREATHS = number("respiratory_rate", "Respiratory rate", "/min", plausible=(6, 50), possible=(0, 150))
TEMPERATURE = number("temperature", "Temperature", "Cel", plausible=(32, 42), possible=(10, 48))
SATURATION = number("spo2", "Oxygen saturation", "%", plausible=(70, 100), possible=(0, 100))
GCS = number("gcs", "Glasgow coma score", plausible=(3, 15), possible=(3, 15))
PH = number("ph", "Arterial pH", "{ratio}", plausible=(6.8, 7.8), possible=(6, 8.5))
PAO2 = number("pao2", "Arterial oxygen pressure", "mm[Hg]", plausible=(30, 500), possible=(1, 800))
PACO2 = number("paco2", "Arterial carbon dioxide pressure", "mm[Hg]", plausible=(15, 120), possible=(1, 300))
FIO2 = number("fio2", "Inspired oxygen fraction", "{fraction}", plausible=(0.21, 1), possible=(0.15, 1))

SODIUM = number("sodium", "Sodium", "mmol/L", plausible=(105, 180), possible=(60, 250), analyte="sodium")
POTASSIUM = number("potassium", "Potassium", "mmol/L", plausible=(1.5, 9), possible=(0.5, 20), analyte="potassium")
CHLORIDE = number("chloride", "Chloride", "mmol/L", plausible=(65, 140), possible=(30, 200), analyte="chloride")
BICARBONATE = number("bicarbonate", "Bicarbonate", "mmol/L", plausible=(4, 50), possible=(0, 80), analyte="bicarbonate")
CALCIUM = number("calcium", "Total calcium", "mg/dL", plausible=(4, 18), possible=(1, 30), analyte="calcium")
ALBUMIN = number("albumin", "Albumin", "g/dL", plausible=(1, 6), possible=(0.2, 8), analyte="albumin")
CREATININE = number("creatinine", "Creatinine", "mg/dL", plausible=(0.2, 15), possible=(0.05, 50), analyte="creatinine")
BUN = number("bun", "Urea nitrogen", "mg/dL", plausible=(2, 150), possible=(0.5, 400), analyte="urea_nitrogen")
GLUCOSE = number("glucose", "Glucose", "mg/dL", plausible=(30, 1000), possible=(2, 3000), analyte="glucose")
BILIRUBIN = number("bilirubin", "Bilirubin", "mg/dL", plausible=(0.1, 40), possible=(0.01, 80), analyte="bilirubin")
INR = number("inr", "INR", "{ratio}", plausible=(0.8, 10), possible=(0.3, 30))
AST = number("ast", "AST", "U/L", plausible=(5, 3000), possible=(1, 50000), analyte="ast")
ALT = number("alt", "ALT", "U/L", plausible=(5, 3000), possible=(1, 50000), analyte="alt")
PLATELETS = number("platelets", "Platelets", "10*9/L", plausible=(5, 1000), possible=(0.01, 5000), analyte="platelets")
WHITE_CELLS = number("white_cells", "White cells", "10*9/L", plausible=(0.2, 100), possible=(0, 1000))
HAEMOGLOBIN = number("haemoglobin", "Haemoglobin", "g/dL", plausible=(3, 20), possible=(1, 30), analyte="haemoglobin")
HAEMATOCRIT = number("haematocrit", "Haematocrit", "%", plausible=(12, 65), possible=(2, 85))
CHOLESTEROL = number(
    "cholesterol", "Total cholesterol", "mg/dL", plausible=(60, 500), possible=(10, 2000), analyte="cholesterol"
)
HDL = number("hdl", "HDL cholesterol", "mg/dL", plausible=(10, 120), possible=(1, 300), analyte="hdl")
TRIGLYCERIDES = number(
    "triglycerides", "Triglycerides", "mg/dL", plausible=(20, 1000), possible=(5, 15000), analyte="triglycerides"
)


def unknowable(wanted: Input) -> Input:
    """The same input where a score may be read without it."""
    return msgspec.structs.replace(wanted, required=False)
