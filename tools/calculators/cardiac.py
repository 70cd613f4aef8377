"""Heart and vessels: pressure, lipids, clinical scores. Declarations only (QT: cardiac_qt.py)."""

from __future__ import annotations

from tools.calculators.notation import (
    bands,
    calculator,
    choose,
    define,
    either,
    first,
    formula,
    item,
    measure,
    number,
    refuse,
    score,
    steps,
    when,
    yes_no,
)
from tools.calculators.quantities import (
    AGE,
    CHOLESTEROL,
    CREATININE,
    DIASTOLIC,
    HDL,
    SEX,
    SYSTOLIC,
    TRIGLYCERIDES,
    unknowable,
)

MEAN_PRESSURE = calculator(
    "mean_arterial_pressure",
    "Mean arterial pressure",
    SYSTOLIC,
    DIASTOLIC,
    refuse("diastolic > systolic", "the diastolic pressure is above the systolic one"),
    formula("(systolic + 2 * diastolic) / 3"),
    output=measure("mm[Hg]", 1, 20, 250),
    cite="DeMers D, Wachs D. Physiology, Mean Arterial Pressure. StatPearls Publishing, NBK538226.",
    use="Cuff readings of systolic and diastolic pressure.",
    avoid="Fast heart rates and atrial fibrillation, where a third is the wrong weight; an arterial line shows "
    "it directly.",
)

CHA2DS2_VASC = calculator(
    "cha2ds2_vasc",
    "CHA2DS2-VASc",
    AGE,
    SEX,
    item("heart_failure", "Congestive heart failure or left ventricular dysfunction", 1),
    item("hypertension", "Hypertension", 1),
    steps("age", 0, (65, 1), (75, 2)),
    item("diabetes", "Diabetes", 1),
    either(
        2,
        ("stroke", "Previous stroke"),
        ("tia", "Previous transient ischaemic attack"),
        ("thromboembolism", "Previous thromboembolism"),
        label="stroke, TIA or embolism",
    ),
    item("vascular_disease", "Myocardial infarction, peripheral arterial disease or aortic plaque", 1),
    when("sex == female", 1, "female"),
    output=score(0, 9),
    cite="Lip GYH, Nieuwlaat R, Pisters R, Lane DA, Crijns HJGM. Refining clinical risk stratification for "
    "predicting stroke and thromboembolism in atrial fibrillation using a novel risk factor-based approach. "
    "Chest 2010;137:263-272.",
    use="Risk of stroke in atrial fibrillation without a mechanical valve or mitral stenosis.",
    avoid="Valvular atrial fibrillation; patients who have no atrial fibrillation.",
)

RCRI = calculator(
    "rcri",
    "Revised cardiac risk index (Lee)",
    item("high_risk_surgery", "Intraperitoneal, intrathoracic or suprainguinal vascular surgery", 1),
    item("ischaemic_heart_disease", "Ischaemic heart disease", 1),
    item("heart_failure", "Heart failure", 1),
    item("cerebrovascular_disease", "Stroke or transient ischaemic attack", 1),
    item("insulin", "Insulin before the operation", 1),
    unknowable(CREATININE),
    when("creatinine > 2", 1, "creatinine above 2 mg/dL"),
    bands(("value < 1", "class I"), ("value < 2", "class II"), ("value < 3", "class III"), ("", "class IV")),
    output=score(0, 6),
    cite="Lee TH, Marcantonio ER, Mangione CM, et al. Derivation and prospective validation of a simple index "
    "for prediction of cardiac risk of major noncardiac surgery. Circulation 1999;100:1043-1049.",
    use="Stable adults before major non-cardiac surgery.",
    avoid="Emergency surgery; aortic surgery, where it performs poorly.",
)

HEART = calculator(
    "heart",
    "HEART score",
    AGE,
    choose("history", "How suspicious the history is", slight=0, moderate=1, high=2),
    choose("ecg", "ECG", normal=0, repolarisation=1, st_deviation=2),
    steps("age", 0, (45, 1), (65, 2)),
    *(
        yes_no(name, label)
        for name, label in (
            ("hypertension", "Hypertension"),
            ("hypercholesterolaemia", "Hypercholesterolaemia"),
            ("diabetes", "Diabetes"),
            ("obesity", "Obesity"),
            ("smoking", "Smoking"),
            ("family_history", "Cardiovascular disease in the family before 65"),
            ("atherosclerosis", "Atherosclerotic disease: infarction, stroke or TIA, peripheral disease"),
        )
    ),
    define("risk_factors", "hypertension + hypercholesterolaemia + diabetes + obesity + smoking + family_history"),
    first(
        "risk factors",
        ("atherosclerosis == yes", 2),
        ("risk_factors >= 3", 2),
        ("risk_factors >= 1", 1),
    ),
    choose("troponin", "First troponin: to the limit, up to 3 times, above", normal=0, to_3_times=1, above_3_times=2),
    bands(("value <= 3", "low risk"), ("value <= 6", "moderate risk"), ("", "high risk")),
    output=score(0, 10),
    cite="Six AJ, Backus BE, Kelder JC. Chest pain in the emergency room: value of the HEART score. Neth Heart J "
    "2008;16:191-196.",
    use="Adults with chest pain in the emergency department.",
    avoid="New ST elevation, haemodynamic instability.",
)

HAS_BLED = calculator(
    "has_bled",
    "HAS-BLED",
    AGE,
    item("hypertension", "Uncontrolled hypertension, systolic above 160 mmHg", 1),
    item("renal_disease", "Dialysis, transplant or creatinine of 200 umol/L and more", 1),
    item("liver_disease", "Cirrhosis, bilirubin above 2 x or enzymes above 3 x the limit", 1),
    item("stroke", "Previous stroke", 1),
    item("bleeding", "Previous major bleeding or a tendency to bleed", 1),
    item("labile_inr", "Labile INR", 1),
    when("age > 65", 1, "age above 65"),
    item("drugs", "Antiplatelet drugs or NSAIDs", 1),
    number("drinks_per_week", "Alcoholic drinks a week", plausible=(0, 60), possible=(0, 300), required=False),
    when("drinks_per_week >= 8", 1, "alcohol"),
    bands(("value >= 3", "high risk"), ("", "low to moderate risk")),
    output=score(0, 9),
    cite="Pisters R, Lane DA, Nieuwlaat R, de Vos CB, Crijns HJGM, Lip GYH. A novel user-friendly score "
    "(HAS-BLED) to assess 1-year risk of major bleeding in patients with atrial fibrillation. Chest "
    "2010;138:1093-1100.",
    use="Finding correctable causes of bleeding in atrial fibrillation under anticoagulants.",
    avoid="As the only reason to withhold anticoagulants.",
)

LDL = calculator(
    "ldl_friedewald",
    "LDL cholesterol (Friedewald)",
    CHOLESTEROL,
    HDL,
    TRIGLYCERIDES,
    refuse("triglycerides > 400", "not valid with triglycerides above 400 mg/dL: measure LDL directly"),
    refuse("hdl > cholesterol", "HDL is above the total cholesterol"),
    formula("cholesterol - hdl - triglycerides / 5"),
    output=measure("mg/dL", 1, 0, 600),
    cite="Friedewald WT, Levy RI, Fredrickson DS. Estimation of the concentration of low-density lipoprotein "
    "cholesterol in plasma, without use of the preparative ultracentrifuge. Clin Chem 1972;18:499-502.",
    use="Fasting lipids with triglycerides up to 400 mg/dL.",
    avoid="Type III hyperlipoproteinaemia; LDL below 70 mg/dL, where it reads too low.",
)

FRAMINGHAM = calculator(
    "framingham_hard_chd",
    "Hard coronary events in 10 years (Framingham, ATP III)",
    number("age", "Age", "a", plausible=(30, 79), possible=(18, 130)),
    SEX,
    CHOLESTEROL,
    HDL,
    SYSTOLIC,
    yes_no("treated", "Blood pressure treated"),
    yes_no("smoker", "Smoker"),
    define(
        "men",
        "52.00961 * ln(age) + 20.014077 * ln(cholesterol) - 0.905964 * ln(hdl) + 1.305784 * ln(systolic) "
        "+ 0.241549 * treated + 12.096316 * smoker - 4.605038 * ln(age) * ln(cholesterol) "
        "- 2.84367 * ln(min(age, 70)) * smoker - 2.93323 * ln(age)^2 - 172.300168",
    ),
    define(
        "women",
        "31.764001 * ln(age) + 22.465206 * ln(cholesterol) - 1.187731 * ln(hdl) + 2.552905 * ln(systolic) "
        "+ 0.420251 * treated + 13.07543 * smoker - 5.060998 * ln(age) * ln(cholesterol) "
        "- 2.996945 * ln(min(age, 78)) * smoker - 146.5933061",
    ),
    first(
        "risk",
        ("sex == male", "100 * (1 - 0.9402^exp(men))"),
        ("", "100 * (1 - 0.98767^exp(women))"),
    ),
    bands(("value < 10", "low risk"), ("value <= 20", "intermediate risk"), ("", "high risk")),
    output=measure("%", 1, 0, 100),
    cite="Executive summary of the third report of the NCEP expert panel (Adult Treatment Panel III). "
    "JAMA 2001;285:2486-2497.",
    use="Adults of 30 to 79 years without known coronary disease or diabetes.",
    avoid="Known coronary disease, diabetes; populations with another base rate.",
)

CALCULATORS = (MEAN_PRESSURE, CHA2DS2_VASC, RCRI, HEART, HAS_BLED, LDL, FRAMINGHAM)
