"""Thrombosis and embolism: probability before tests, risk of surgery. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import bands, calculator, choose, either, item, score, steps, when
from tools.calculators.quantities import AGE, BMI, HEART_RATE, SATURATION, unknowable

WELLS_PE = calculator(
    "wells_pe",
    "Wells score for pulmonary embolism",
    item("dvt_signs", "Clinical signs of deep vein thrombosis", 3),
    item("pe_most_likely", "Embolism is the first diagnosis or as likely", 3),
    unknowable(HEART_RATE),
    when("heart_rate > 100", 1.5, "pulse above 100"),
    either(
        1.5,
        ("immobile", "Immobile for 3 days or more"),
        ("surgery", "Surgery in the last 4 weeks"),
        label="immobile or surgery",
    ),
    either(
        1.5, ("previous_pe", "Previous embolism"), ("previous_dvt", "Previous thrombosis"), label="previous PE or DVT"
    ),
    item("haemoptysis", "Haemoptysis", 1),
    item("cancer", "Cancer, treated within 6 months or palliative", 1),
    bands(("value > 4", "embolism likely"), ("", "embolism unlikely")),
    output=score(0, 12.5),
    cite="Wells PS, Anderson DR, Rodger M, et al. Derivation of a simple clinical model to categorize patients "
    "probability of pulmonary embolism: increasing the models utility with the SimpliRED D-dimer. Thromb "
    "Haemost 2000;83:416-420.",
    use="Suspected pulmonary embolism, before D-dimer or imaging.",
    avoid="Pregnancy; patients under anticoagulants.",
)

WELLS_DVT = calculator(
    "wells_dvt",
    "Wells score for deep vein thrombosis",
    item("cancer", "Active cancer", 1),
    item("paralysis_or_cast", "Paralysis, paresis or recent plaster of the leg", 1),
    either(
        1,
        ("bedridden", "Bedridden for more than 3 days"),
        ("surgery", "Major surgery in the last 12 weeks"),
        label="bedridden or surgery",
    ),
    item("tenderness", "Tenderness along the deep veins", 1),
    item("whole_leg", "Whole leg swollen", 1),
    item("calf", "Calf more than 3 cm thicker than the other", 1),
    item("pitting", "Pitting oedema of the painful leg only", 1),
    item("collaterals", "Collateral superficial veins, not varicose", 1),
    item("previous_dvt", "Previous thrombosis", 1),
    item("alternative", "Another diagnosis at least as likely", -2),
    bands(("value >= 2", "thrombosis likely"), ("", "thrombosis unlikely")),
    output=score(-2, 9),
    cite="Wells PS, Anderson DR, Rodger M, et al. Evaluation of D-dimer in the diagnosis of suspected deep-vein "
    "thrombosis. N Engl J Med 2003;349:1227-1235.",
    use="Suspected first or recurrent thrombosis of the leg in outpatients.",
    avoid="Pregnancy; patients under anticoagulants.",
)

PERC = calculator(
    "perc",
    "PERC rule for pulmonary embolism",
    AGE,
    unknowable(HEART_RATE),
    unknowable(SATURATION),
    when("age >= 50", 1, "50 years or more"),
    when("heart_rate >= 100", 1, "pulse of 100 or more"),
    when("spo2 < 95", 1, "saturation below 95 %"),
    item("leg_swelling", "Swelling of one leg", 1),
    item("haemoptysis", "Haemoptysis", 1),
    item("surgery_or_trauma", "Surgery or trauma in the last 4 weeks", 1),
    either(
        1, ("previous_pe", "Previous embolism"), ("previous_dvt", "Previous thrombosis"), label="previous PE or DVT"
    ),
    item("oestrogen", "Oestrogens", 1),
    bands(("value == 0", "rule negative"), ("", "rule positive: it excludes nothing")),
    output=score(0, 8),
    cite="Kline JA, Mitchell AM, Kabrhel C, Richman PB, Courtney DM. Clinical criteria to prevent unnecessary "
    "diagnostic testing in emergency department patients with suspected pulmonary embolism. J Thromb Haemost "
    "2004;2:1247-1255.",
    use="Low suspicion of embolism, to leave out the D-dimer where no criterion is met.",
    avoid="Moderate or high suspicion; pregnancy.",
)

CAPRINI = calculator(
    "caprini_2005",
    "Caprini score (2005)",
    AGE,
    steps("age", 0, (41, 1), (61, 2), (75, 3)),
    choose("surgery", "Surgery now", none=0, minor=1, major=2, arthroscopic=2, leg_arthroplasty=5),
    item("recent_surgery", "Major surgery in the last month", 1),
    item("heart_failure", "Heart failure in the last month", 1),
    item("sepsis", "Sepsis in the last month", 1),
    item("pneumonia", "Pneumonia or serious lung disease in the last month", 1),
    item("cast", "Immobilising plaster cast in the last month", 2),
    item("fracture", "Fracture of hip, pelvis or leg in the last month", 5),
    item("stroke", "Stroke in the last month", 5),
    item("trauma", "Multiple trauma in the last month", 5),
    item("cord_injury", "Spinal cord injury with paralysis in the last month", 5),
    item("varicose_veins", "Varicose veins", 1),
    item("swollen_legs", "Swollen legs now", 1),
    item("central_line", "Central venous access", 2),
    item("previous_vte", "Previous thrombosis or embolism", 3),
    item("family_history", "Thrombosis in the family", 3),
    item("factor_v", "Factor V Leiden", 3),
    item("prothrombin", "Prothrombin 20210A", 3),
    item("homocysteine", "Raised homocysteine", 3),
    item("lupus_anticoagulant", "Lupus anticoagulant", 3),
    item("anticardiolipin", "Raised anticardiolipin antibody", 3),
    item("hit", "Heparin-induced thrombocytopenia", 3),
    item("thrombophilia", "Another thrombophilia", 3),
    choose("mobility", "Mobility", normal=0, bed_rest=1, over_72_hours=2),
    item("bowel_disease", "Inflammatory bowel disease", 1),
    unknowable(BMI),
    when("bmi > 25", 1, "body mass index above 25"),
    item("infarction", "Acute myocardial infarction", 1),
    item("copd", "Chronic obstructive pulmonary disease", 1),
    item("cancer", "Present or previous cancer", 2),
    item("hormones", "Oral contraceptive or hormone replacement", 1),
    item("pregnancy", "Pregnancy or the month after it", 1),
    item("obstetric_loss", "Stillbirth, recurrent abortion or toxaemia", 1),
    bands(
        ("value <= 1", "low risk"),
        ("value <= 2", "moderate risk"),
        ("value <= 4", "high risk"),
        ("", "highest risk"),
    ),
    output=score(0, 76),
    cite="Caprini JA. Thrombosis risk assessment as a guide to quality patient care. Dis Mon 2005;51:70-78.",
    use="Adults before surgery.",
    avoid="Medical patients without validation at the site.",
)

CALCULATORS = (WELLS_PE, WELLS_DVT, PERC, CAPRINI)
