"""What each named quantity is measured in, and the factors between its mass, amount and activity units.

Data only: unit spellings of the closed table, no arithmetic. It must not know cases, rows or reference intervals.
A factor belongs to one substance: there is none for fibrinogen-equivalent against D-dimer units, for insulin in
units against moles, or between troponin assays, since no single true number exists.
"""

import msgspec


class Relation(msgspec.Struct, frozen=True):
    """value in `first` = factor x (value in `second` - shift)."""

    first: str
    second: str
    factor: float
    shift: float = 0.0


class Measured(msgspec.Struct, frozen=True):
    """A named quantity: its canonical unit, the relations that touch that unit, and whether it has no other unit."""

    unit: str
    relations: tuple[Relation, ...] = ()
    only: bool = False


def _mass(first: str, factor: float, second: str) -> Relation:
    return Relation(first=first, second=second, factor=factor)


def _plain(unit: str, names: str) -> dict[str, Measured]:
    return {name: Measured(unit) for name in names.split()}


def _related(unit: str, relation: Relation, names: str) -> dict[str, Measured]:
    return {name: Measured(unit, (relation,)) for name in names.split()}


_ONE_CHARGE = _mass("mEq/L", 1.0, "mmol/L")
_TWO_CHARGES = _mass("mEq/L", 2.0, "mmol/L")
_CALCIUM = (_mass("mg/dL", 4.008, "mmol/L"), _TWO_CHARGES)
_CREATININE = _mass("umol/L", 88.42, "mg/dL")
_HAEMOGLOBIN = _mass("g/dL", 1.611, "mmol/L")
_ENZYME = _mass("U/L", 60.0, "ukat/L")
_CHOLESTEROL = _mass("mg/dL", 38.67, "mmol/L")

MEASURED: dict[str, Measured] = {
    # electrolytes, blood gases
    **_related("mmol/L", _ONE_CHARGE, "sodium potassium chloride bicarbonate base_excess anion_gap potassium_change"),
    **_related("mmol/L", _ONE_CHARGE, "urine_sodium"),
    "calcium": Measured("mmol/L", _CALCIUM),
    "corrected_calcium": Measured("mmol/L", _CALCIUM),
    "magnesium": Measured("mmol/L", (_mass("mg/dL", 2.431, "mmol/L"), _TWO_CHARGES)),
    **_related("mmol/L", _mass("mg/dL", 3.097, "mmol/L"), "phosphate"),
    **_plain("kPa", "pco2 po2"),
    "ph": Measured("{ratio}", only=True),
    **_plain("mOsm/kg", "osmolality"),
    # kidney; urea and urea nitrogen differ 2.14-fold in mg/dL and are the same in mmol/L
    **_related("mmol/L", _mass("mg/dL", 6.006, "mmol/L"), "urea"),
    **_related("mmol/L", _mass("mg/dL", 2.801, "mmol/L"), "urea_nitrogen"),
    **_related("umol/L", _CREATININE, "creatinine creatinine_rise_48h"),
    **_related("mmol/L", _CREATININE, "urine_creatinine"),
    **_plain("mL/min/1.73m2", "egfr"),
    # 1 g of creatinine is 8.842 mmol by the creatinine factor above
    **_related("mg/mmol", _mass("mg/g", 8.842, "mg/mmol"), "urine_acr"),
    **_plain("g/L", "urine_protein"),
    # metabolism
    **_related("mmol/L", _mass("mg/dL", 18.016, "mmol/L"), "glucose"),
    **_related("mmol/L", _mass("mg/dL", 9.008, "mmol/L"), "lactate"),
    **_related("mmol/L", _CHOLESTEROL, "cholesterol ldl hdl"),
    **_related("mmol/L", _mass("mg/dL", 88.57, "mmol/L"), "triglycerides"),
    **_related("mmol/L", _mass("mg/dL", 4.607, "mmol/L"), "ethanol"),
    **_plain("mmol/L", "ketones"),
    "hba1c": Measured("mmol/mol", (Relation("mmol/mol", "%", 10.93, 2.15),)),
    **_related("umol/L", _mass("umol/L", 17.10, "mg/dL"), "bilirubin"),
    **_related("umol/L", _mass("umol/L", 59.48, "mg/dL"), "urate"),
    **_related("umol/L", _mass("umol/L", 0.587, "ug/dL"), "ammonia"),
    # proteins, enzymes, inflammation
    **_plain("g/L", "albumin total_protein fibrinogen transferrin"),
    **_related("U/L", _ENZYME, "alt ast alp ggt ldh ck lipase amylase"),
    **_plain("mg/L", "crp"),
    **_plain("ug/L", "procalcitonin ferritin"),
    "esr": Measured("{score}", (_mass("mm/h", 1.0, "{score}"),)),
    # blood
    **_related("g/L", _HAEMOGLOBIN, "haemoglobin haemoglobin_change"),
    **_plain("%", "haematocrit transferrin_saturation oxygen_saturation_arterial"),
    **_plain("fL", "mcv"),
    **_plain("pg", "mch"),
    **_plain("10*9/L", "platelets white_cells neutrophils lymphocytes monocytes eosinophils"),
    **_related("umol/L", _mass("ug/dL", 5.585, "umol/L"), "iron"),
    "inr": Measured("{ratio}", only=True),
    **_plain("s", "pt aptt"),
    **_plain("ug/L FEU", "d_dimer"),
    # heart, hormones, vitamins
    **_plain("ng/L", "troponin_t troponin_i"),
    **_related("ng/L", _mass("pmol/L", 0.289, "pg/mL"), "bnp"),
    **_related("ng/L", _mass("pmol/L", 0.118, "pg/mL"), "nt_probnp"),
    **_plain("mIU/L", "tsh insulin"),
    **_related("pmol/L", _mass("pmol/L", 12.87, "ng/dL"), "free_t4"),
    **_plain("pmol/L", "free_t3"),
    **_related("nmol/L", _mass("nmol/L", 27.59, "ug/dL"), "cortisol"),
    **_related("nmol/L", _mass("nmol/L", 2.266, "ng/mL"), "folate"),
    **_related("pmol/L", _mass("pmol/L", 0.738, "pg/mL"), "b12"),
    **_related("nmol/L", _mass("nmol/L", 2.496, "ng/mL"), "vitamin_d"),
    # the person, vital signs, derived quantities
    **_plain("a", "age"),
    **_plain("mm[Hg]", "systolic_bp diastolic_bp mean_arterial_pressure iop_right iop_left iop_max"),
    **_plain("/min", "heart_rate respiratory_rate"),
    **_plain("%", "spo2 lvef pef_percent"),
    **_plain("Cel", "temperature"),
    **_plain("{score}", "gcs news2 pain aki_stage"),
    **_plain("kg", "weight"),
    **_plain("cm", "height"),
    **_plain("L/min", "oxygen_flow"),
    **_plain("mL/kg/h", "urine_output"),
    **_plain("{ratio}", "shock_index cup_disc_right cup_disc_left cup_disc_max creatinine_ratio fev1_fvc"),
    **_plain("{ratio}", "cardiothoracic_ratio"),
}
