"""The table from the keys of MedCalc-Bench rows to the inputs of our calculators, and from their words to ours.

Data, calculator by calculator; calculators are known by their words only. It must not know how a row is read.
"""

from __future__ import annotations

import msgspec


class Value(msgspec.Struct, frozen=True):
    """An input of a calculator: a number with its unit, yes or no, a word, or a day as 2026-11-30."""

    name: str
    value: float | bool | str
    unit: str = ""


class Sheet(msgspec.Struct, frozen=True, kw_only=True):
    """A calculator, its inputs by key of the rows, and values that the questions fix."""

    calculator: str
    keys: dict[str, str]
    fixed: tuple[Value, ...] = ()


def _pairs(text: str) -> dict[str, str]:
    """Lines of `input = key | key`; "-" for keys that no input takes."""
    lines = (line.partition(" = ") for line in text.splitlines() if " = " in line)
    return {key.strip().lower(): name.strip() for name, _, keys in lines for key in keys.split("|")}


def _sheet(calculator: str, text: str = "", *fixed: Value) -> Sheet:
    return Sheet(calculator=calculator, keys=_pairs(text), fixed=fixed)


ANYWHERE = _pairs("""
    age = age
    sex = sex
    weight = weight
    height = height
    bmi = Body Mass Index (BMI)
    systolic = Systolic Blood Pressure
    diastolic = Diastolic Blood Pressure
    heart_rate = Heart Rate or Pulse
    respiratory_rate = respiratory rate
    temperature = Temperature
    spo2 = O₂ saturation percentage
    gcs = Glasgow Coma Score
    ph = pH
    pao2 = Partial pressure of oxygen (PaO₂) for Apache II | Partial pressure of oxygen | PaO2
    paco2 = PaCO₂ | PaCO2
    fio2 = FiO₂ | FiO2
    aa_gradient = A-a gradient
    sodium = Sodium
    potassium = Potassium
    chloride = Chloride
    bicarbonate = Bicarbonate
    calcium = Calcium
    albumin = Albumin
    creatinine = creatinine | Pre-operative creatinine
    urine_creatinine = Urine creatinine
    urine_sodium = Urine sodium
    urine_output = Urine Output
    bun = Blood Urea Nitrogen (BUN)
    glucose = Glucose
    insulin = Insulin
    bilirubin = Bilirubin
    inr = international normalized ratio
    ast = Aspartate aminotransferase
    alt = Alanine aminotransferase
    platelets = Platelet count
    white_cells = White blood cell count
    haemoglobin = Hemoglobin
    haematocrit = Hematocrit
    cholesterol = Total cholesterol
    hdl = high-density lipoprotein cholesterol
    triglycerides = Triglycerides
    qt = QT interval
    cycle = cycle length
    last_period = Last menstrual date
    today = Current Date
    heart_failure = Congestive Heart Faliure | Cardiac failure present
    hypertension = Hypertension history | Hypertension
    haemoptysis = Hemoptysis
    previous_pe = Previously Documented Pulmonary Embolism
    previous_dvt = Previously documented Deep Vein Thrombosis
    acute_renal_failure = Acute renal failure
    organ_failure = History of severe organ failure or immunocompromise
    cvvhd = Continuous veno-venous hemodialysis for ≥24 hours in the past week
    dialysis = Dialysis at least twice in the past week
""")

NO_SUPPORT = "    - = Continuous veno-venous hemodialysis for ≥24 hours in the past week\n"
OPIOIDS = [
    "codeine",
    "hydrocodone",
    "hydromorphone",
    "methadone",
    "morphine",
    "oxycodone",
    "oxymorphone",
    "tapentadol",
    "tramadol",
]

SHEETS: dict[int, Sheet] = {
    2: _sheet("cockcroft_gault", "", Value("weight_rule", "by_bmi")),
    3: _sheet("ckd_epi_2021"),
    4: _sheet(
        "cha2ds2_vasc",
        """
        stroke = Stroke
        tia = Transient Ischemic Attacks History
        thromboembolism = Thromboembolism history
        vascular_disease = Vascular disease history
        diabetes = Diabetes history
        """,
    ),
    5: _sheet("mean_arterial_pressure"),
    6: _sheet("body_mass_index"),
    7: _sheet("corrected_calcium"),
    8: _sheet(
        "wells_pe",
        """
        dvt_signs = Clinical signs and symptoms of Deep Vein Thrombosis
        cancer = Malignancy with treatment within 6 months or palliative
        pe_most_likely = Pulmonary Embolism is #1 diagnosis OR equally likely
        immobile = Immobilization for at least 3 days
        surgery = Surgery in the previous 4 weeks
        """,
    ),
    9: _sheet("mdrd", "- = Race"),
    10: _sheet("ideal_body_weight"),
    11: _sheet("qtc_bazett"),
    13: _sheet("due_date"),
    15: _sheet("child_pugh", "ascites = Ascites\nencephalopathy = Encephalopathy"),
    16: _sheet(
        "wells_dvt",
        """
        cancer = Active cancer
        bedridden = Bedridden recently >3 days or major surgery within 12 weeks | Bedridden recently >3 days
        surgery = Major surgery within 12 weeks
        paralysis_or_cast = Paralysis, paresis, or recent plaster immobilization of the lower extremity
        alternative = Alternative diagnosis to Deep Vein Thrombosis as likely or more likely
        calf = Calf swelling >3 centimeters compared to the other leg
        collaterals = Collateral (nonvaricose) superficial veins present
        whole_leg = Entire Leg Swollen
        tenderness = Localized tenderness along the deep venous system
        pitting = Pitting edema, confined to symptomatic leg
        """,
    ),
    17: _sheet(
        "rcri",
        """
        cerebrovascular_disease = History of cerebrovascular disease | Cerebrovascular disease history
        insulin = Pre-operative treatment with insulin
        heart_failure = Congestive Heart Failure criteria for the Cardiac Risk Index rule
        ischaemic_heart_disease = History of ischemic heart disease
        high_risk_surgery = Elevated-risk surgery
        """,
    ),
    18: _sheet(
        "heart",
        """
        history = Suspicion History
        ecg = Electrocardiogram Test
        troponin = Initial troponin
        diabetes = Diabetes mellitus criteria for CCI rule | Diabetes mellitus
        obesity = obesity
        smoking = smoking
        hypercholesterolaemia = hypercholesterolemia
        atherosclerosis = atherosclerotic disease | Transient Ischemic Attacks History
        family_history = parent or sibling with Cardiovascular disease before age 65
        """,
    ),
    19: _sheet("fib4"),
    20: _sheet(
        "centor_mcisaac",
        """
        no_cough = Cough Absent
        nodes = Tender/swollen anterior cervical lymph nodes
        exudate = Exudate or swelling on tonsils
        """,
    ),
    21: _sheet("glasgow_coma", "eye = Best eye response\nverbal = Best verbal response\nmotor = Best motor response"),
    22: _sheet("maintenance_fluids"),
    23: _sheet("meld_na"),
    24: _sheet("steroid_conversion", "from_drug = input steroid\nto_drug = target steroid"),
    25: _sheet(
        "has_bled",
        """
        labile_inr = Labile international normalized ratio
        stroke = Stroke
        drinks_per_week = Number of Alcoholic Drinks Per Week
        renal_disease = Renal disease criteria for the HAS-BLED rule
        liver_disease = Liver disease criteria for the HAS-BLED rule
        bleeding = Prior major bleeding or predisposition to bleeding
        drugs = Medication usage predisposing to bleeding
        """,
    ),
    26: _sheet("corrected_sodium"),
    27: _sheet(
        "glasgow_blatchford",
        """
        liver_disease = Hepatic disease history
        syncope = Recent syncope
        melaena = Melena present
        """,
    ),
    28: _sheet("apache2", "- = Chronic renal failure\nsurgery = Surgery Type"),
    29: _sheet(
        "psi",
        """
        renal_disease = Renal disease | Renal disease history
        cerebrovascular_disease = Cerebrovascular disease history
        liver_disease = Liver disease severity | Liver disease history
        cancer = Neoplastic disease
        altered_mental_status = Altered mental status
        effusion = Pleural effusion on x-ray
        nursing_home = Nursing home resident
        """,
    ),
    30: _sheet("serum_osmolality"),
    31: _sheet("homa_ir"),
    32: _sheet(
        "charlson",
        """
        tia = Transient Ischemic Attacks History
        stroke = Cerebrovascular Accident
        lymphoma = Lymphoma
        solid_tumour = Solid tumor
        dementia = Dementia
        leukaemia = Leukemia
        myocardial_infarction = Myocardial infarction
        hemiplegia = Hemiplegia
        lung_disease = Chronic Obstructive Pulmonary Disease | Chronic Pulmonary Disease
        kidney_disease = Moderate to severe Chronic Kidney Disease
        diabetes = Diabetes mellitus criteria for CCI rule | Diabetes mellitus
        connective_tissue_disease = Connective tissue disease
        aids = AIDS
        ulcer = Peptic ulcer disease
        liver_disease = Liver disease severity
        vascular_disease = Peripheral vascular disease
        """,
    ),
    33: _sheet(
        "feverpain",
        """
        purulence = Purulent tonsils
        attend_rapidly = Symptom onset ≤3 days | Symptom onset <=3 days
        inflamed = Severe tonsil inflammation
        fever = Fever in past 24 hours
        no_cough = Absence of cough or coryza
        """,
    ),
    36: _sheet(
        "caprini_2005",
        """
        - = sex
        surgery = Surgery Type
        recent_surgery = Major Surgery in the last month
        heart_failure = Congestive Heart Failure in the last month
        sepsis = Sepsis in the last month
        pneumonia = Pneumonia in the last month
        fracture = Hip, pelvis, or leg fracture in the last month
        stroke = Stroke in the last month
        trauma = Multiple trauma in the last month
        cord_injury = Acute spinal cord injury causing paralysis in the last month
        varicose_veins = Varicose veins
        swollen_legs = Current swollen legs
        previous_vte = Previously documented Deep Vein Thrombosis | Previously Documented Pulmonary Embolism
        family_history = Family history of thrombosis
        factor_v = Positive Factor V Leiden
        prothrombin = Positive prothrombin 20210A
        homocysteine = Elevated serum homocysteine
        lupus_anticoagulant = Positive lupus anticoagulant
        anticardiolipin = Elevated anticardiolipin antibody
        hit = Heparin-induced thrombocytopenia
        thrombophilia = Other congenital or acquired thrombophilia
        mobility = Mobility
        bowel_disease = History of inflammatory bowel disease
        infarction = Acute Myocardial infarction
        copd = Chronic Obstructive Pulmonary Disease
        cancer = Present or previous malignancy
        cast = Immobilizing plaster cast in the last month
        central_line = Current central venous access
        """,
    ),
    38: _sheet("free_water_deficit"),
    39: _sheet("anion_gap"),
    40: _sheet("fena"),
    43: _sheet(
        "sofa",
        NO_SUPPORT
        + """
        norepinephrine = norEPINEPHrine
        epinephrine = EPINEPHrine
        dopamine = DOPamine
        dobutamine = DOBUTamine
        ventilated = On mechanical ventilation
        cpap = Continous positive airway pressure | Continuous positive airway pressure
        hypotension = Hypotension
        """,
    ),
    44: _sheet("ldl_friedewald"),
    45: _sheet("curb65", "confusion = Confusion"),
    46: _sheet("framingham_hard_chd", "smoker = Smoker\ntreated = Blood pressure being treated with medicines"),
    48: _sheet(
        "perc",
        """
        oestrogen = Hormone use
        leg_swelling = Unilateral Leg Swelling
        surgery_or_trauma = Recent surgery or trauma
        """,
    ),
    49: _sheet(
        "morphine_equivalents",
        "\n".join(f"{name} = {name} dose" for name in OPIOIDS)
        + "\nfentanyl_patch = fentanyl patch dose\nfentanyl_buccal = fentanyl buccal dose",
    ),
    51: _sheet("sirs"),
    56: _sheet("qtc_fridericia"),
    57: _sheet("qtc_framingham"),
    58: _sheet("qtc_hodges"),
    59: _sheet("qtc_rautaharju"),
    60: _sheet("body_surface_area"),
    61: _sheet("target_weight"),
    62: _sheet("adjusted_body_weight"),
    63: _sheet("delta_gap"),
    64: _sheet("delta_ratio"),
    65: _sheet("anion_gap_albumin"),
    66: _sheet("delta_gap_albumin"),
    67: _sheet("delta_ratio_albumin"),
    68: _sheet("conception_date", "- = cycle length"),  # the questions leave the cycle out of account
    69: _sheet("gestational_age"),
}

# input: text of the rows -> word of the calculator. What is not here stays as it is.
WORDS: dict[str, dict[str, str]] = {
    "sex": {"male": "male", "female": "female"},
    "ascites": {"absent": "none"},
    "encephalopathy": {
        "no encephalopathy": "none",
        "grade 1-2": "grade_1_2",
        "grade 3-4": "grade_3_4",
    },
    "history": {
        "slightly suspicious": "slight",
        "moderately suspicious": "moderate",
        "highly suspicious": "high",
    },
    "ecg": {
        "normal": "normal",
        "non-specific repolarization disturbance": "repolarisation",
        "significant st deviation": "st_deviation",
    },
    "troponin": {
        "less than or equal to normal limit": "normal",
        "greater than three times normal limit": "above_3_times",
    },
    "eye": {
        "eyes open spontaneously": "spontaneous",
        "eye opening to verbal command": "to_voice",
        "eye opening to pain": "to_pain",
        "no eye opening": "none",
        "not testable": "spontaneous",  # the convention of the questions: what cannot be tested is full
    },
    "verbal": {
        "oriented": "oriented",
        "confused": "confused",
        "inappropriate words": "words",
        "incomprehensible sounds": "sounds",
        "no verbal response": "none",
        "not testable": "oriented",
    },
    "motor": {
        "obeys commands": "obeys",
        "localizes pain": "localises",
        "withdrawal from pain": "withdraws",
        "flexion to pain": "flexion",
        "extension to pain": "extension",
        "no motor response": "none",
        "not testable": "obeys",
    },
    "surgery": {"elective major lower extremity arthroplasty": "leg_arthroplasty"},
    "mobility": {"on bed rest": "bed_rest", "confined to bed >72 hours": "over_72_hours"},
    "solid_tumour": {"false": "none", "true": "localised"},
    "liver_disease": {"moderate": "moderate_to_severe", "moderate to severe": "moderate_to_severe"},
    "diabetes": {"none or diet-controlled": "none_or_diet", "end-organ damage": "organ_damage"},
}
WITHOUT_UNIT = {"aa_gradient": "mm[Hg]", "cycle": "d"}  # the rows print none
COUNTS = {"platelets", "white_cells"}  # the rows print the volume that was counted in
DOSE_UNITS = {"fentanyl_patch": "ug/h", "fentanyl_buccal": "ug/day"}  # of patches the rows print mg and mean ug/h
