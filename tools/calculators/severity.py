"""Severity of infection, coma and chronic disease. Declarations only (intensive care: severity_critical.py)."""

from __future__ import annotations

from tools.calculators.notation import (
    bands,
    calculator,
    choice,
    choose,
    either,
    first,
    item,
    score,
    steps,
    warn,
    when,
    yes_no,
)
from tools.calculators.quantities import (
    AGE,
    BREATHS,
    BUN,
    DIASTOLIC,
    GLUCOSE,
    HAEMATOCRIT,
    HEART_RATE,
    PACO2,
    PAO2,
    PH,
    SEX,
    SODIUM,
    SYSTOLIC,
    TEMPERATURE,
    WHITE_CELLS,
    unknowable,
)

CENTOR = calculator(
    "centor_mcisaac",
    "Centor score modified by McIsaac",
    AGE,
    unknowable(TEMPERATURE),
    first("age", ("age < 3", 0), ("age < 15", 1), ("age < 45", 0), ("", -1)),
    item("exudate", "Exudate or swelling of the tonsils", 1),
    item("nodes", "Tender or swollen anterior cervical nodes", 1),
    when("temperature > 38", 1, "temperature above 38 °C"),
    item("no_cough", "No cough", 1),
    warn("age < 3", "the score was not made for children below 3 years"),
    output=score(-1, 5),
    cite="McIsaac WJ, White D, Tannenbaum D, Low DE. A clinical score to reduce unnecessary antibiotic use in "
    "patients with sore throat. CMAJ 1998;158:75-83.",
    use="Sore throat from 3 years on.",
    avoid="Immunosuppression, signs of an abscess or airway obstruction.",
)

FEVERPAIN = calculator(
    "feverpain",
    "FeverPAIN",
    item("fever", "Fever in the last 24 hours", 1),
    item("purulence", "Purulent tonsils", 1),
    item("attend_rapidly", "Onset 3 days ago or less", 1),
    item("inflamed", "Severely inflamed tonsils", 1),
    item("no_cough", "No cough or coryza", 1),
    output=score(0, 5),
    cite="Little P, Hobbs FDR, Moore M, et al. Clinical score and rapid antigen detection test to guide "
    "antibiotic use for sore throats: randomised controlled trial of PRISM. BMJ 2013;347:f5806.",
    use="Acute sore throat from 3 years on.",
    avoid="Immunosuppression, signs of an abscess or airway obstruction.",
)

GLASGOW_COMA = calculator(
    "glasgow_coma",
    "Glasgow coma score",
    choice("eye", "Eye opening", "spontaneous", "to_voice", "to_pain", "none", "not_testable"),
    choice("verbal", "Verbal response", "oriented", "confused", "words", "sounds", "none", "not_testable"),
    choice(
        "motor", "Motor response", "obeys", "localises", "withdraws", "flexion", "extension", "none", "not_testable"
    ),
    first("eye", ("eye == spontaneous", 4), ("eye == to_voice", 3), ("eye == to_pain", 2), ("", 1)),
    first(
        "verbal",
        ("verbal == oriented", 5),
        ("verbal == confused", 4),
        ("verbal == words", 3),
        ("verbal == sounds", 2),
        ("", 1),
    ),
    first(
        "motor",
        ("motor == obeys", 6),
        ("motor == localises", 5),
        ("motor == withdraws", 4),
        ("motor == flexion", 3),
        ("motor == extension", 2),
        ("", 1),
    ),
    warn(
        "eye == not_testable or verbal == not_testable or motor == not_testable",
        "a response that cannot be tested counts 1 here: report the components, not the sum",
    ),
    bands(("value <= 8", "severe"), ("value <= 12", "moderate"), ("", "mild or none")),
    output=score(3, 15),
    cite="Teasdale G, Jennett B. Assessment of coma and impaired consciousness. A practical scale. Lancet "
    "1974;2:81-84.",
    use="Level of consciousness, best responses; the sum of the three.",
    avoid="Sedation, intubation, small children; the components say more than the sum.",
)

CURB65 = calculator(
    "curb65",
    "CURB-65",
    AGE,
    unknowable(BUN),
    unknowable(BREATHS),
    unknowable(SYSTOLIC),
    unknowable(DIASTOLIC),
    item("confusion", "New confusion", 1),
    when("bun > 19", 1, "urea nitrogen above 19 mg/dL (about 7 mmol/L)"),
    when("respiratory_rate >= 30", 1, "30 breaths a minute or more"),
    when("systolic < 90 or diastolic <= 60", 1, "systolic below 90 or diastolic 60 mmHg or less"),
    when("age >= 65", 1, "65 years or more"),
    bands(("value <= 1", "low risk"), ("value <= 2", "intermediate risk"), ("", "high risk")),
    output=score(0, 5),
    cite="Lim WS, van der Eerden MM, Laing R, et al. Defining community acquired pneumonia severity on "
    "presentation to hospital: an international derivation and validation study. Thorax 2003;58:377-382.",
    use="Pneumonia acquired in the community.",
    avoid="Hospital-acquired pneumonia; immunosuppression.",
)

PSI = calculator(
    "psi",
    "Pneumonia severity index (PORT)",
    AGE,
    SEX,
    first("age", ("sex == female", "age - 10"), ("", "age")),
    item("nursing_home", "Nursing home resident", 10),
    item("cancer", "Neoplastic disease", 30),
    item("liver_disease", "Liver disease", 20),
    item("heart_failure", "Congestive heart failure", 10),
    item("cerebrovascular_disease", "Cerebrovascular disease", 10),
    item("renal_disease", "Renal disease", 10),
    item("altered_mental_status", "Altered mental status", 20),
    unknowable(BREATHS),
    unknowable(SYSTOLIC),
    unknowable(TEMPERATURE),
    unknowable(HEART_RATE),
    unknowable(PH),
    unknowable(BUN),
    unknowable(SODIUM),
    unknowable(GLUCOSE),
    unknowable(HAEMATOCRIT),
    unknowable(PAO2),
    when("respiratory_rate >= 30", 20, "30 breaths a minute or more"),
    when("systolic < 90", 20, "systolic below 90 mmHg"),
    when("temperature < 35 or temperature >= 40", 15, "below 35 or from 40 °C"),
    when("heart_rate >= 125", 10, "pulse of 125 or more"),
    when("ph < 7.35", 30, "pH below 7.35"),
    when("bun >= 30", 20, "urea nitrogen of 30 mg/dL or more"),
    when("sodium < 130", 20, "sodium below 130 mmol/L"),
    when("glucose >= 250", 10, "glucose of 250 mg/dL or more"),
    when("haematocrit < 30", 10, "haematocrit below 30 %"),
    when("pao2 < 60", 10, "PaO2 below 60 mmHg"),
    item("effusion", "Pleural effusion", 10),
    bands(
        ("value <= 70", "class II, or I where no risk factor is present at 50 years or less"),
        ("value <= 90", "class III"),
        ("value <= 130", "class IV"),
        ("", "class V"),
    ),
    output=score(-10, 415),
    cite="Fine MJ, Auble TE, Yealy DM, et al. A prediction rule to identify low-risk patients with "
    "community-acquired pneumonia. N Engl J Med 1997;336:243-250.",
    use="Adults with pneumonia acquired in the community.",
    avoid="Immunosuppression; young patients, in whom age hides severity.",
)

CHARLSON = calculator(
    "charlson",
    "Charlson comorbidity index with age",
    AGE,
    item("myocardial_infarction", "Myocardial infarction", 1),
    item("heart_failure", "Congestive heart failure", 1),
    item("vascular_disease", "Peripheral vascular disease", 1),
    either(1, ("stroke", "Stroke"), ("tia", "Transient ischaemic attack"), label="stroke or TIA"),
    item("dementia", "Dementia", 1),
    item("lung_disease", "Chronic pulmonary disease", 1),
    item("connective_tissue_disease", "Connective tissue disease", 1),
    item("ulcer", "Peptic ulcer disease", 1),
    choose("liver_disease", "Liver disease", none=0, mild=1, moderate_to_severe=3),
    choose("diabetes", "Diabetes", none_or_diet=0, uncomplicated=1, organ_damage=2),
    item("hemiplegia", "Hemiplegia", 2),
    item("kidney_disease", "Moderate to severe kidney disease", 2),
    choose("solid_tumour", "Solid tumour", none=0, localised=2, metastatic=6),
    item("leukaemia", "Leukaemia", 2),
    item("lymphoma", "Lymphoma", 2),
    item("aids", "AIDS", 6),
    steps("age", 0, (50, 1), (60, 2), (70, 3), (80, 4)),
    output=score(0, 37),
    cite="Charlson ME, Pompei P, Ales KL, MacKenzie CR. A new method of classifying prognostic comorbidity in "
    "longitudinal studies: development and validation. J Chronic Dis 1987;40:373-383; with age: Charlson M et "
    "al. J Clin Epidemiol 1994;47:1245-1251.",
    use="Burden of chronic disease as a predictor of long-term mortality.",
    avoid="Acute severity of illness; decisions about one person by the score alone.",
)

SIRS = calculator(
    "sirs",
    "SIRS criteria",
    unknowable(TEMPERATURE),
    unknowable(HEART_RATE),
    unknowable(BREATHS),
    unknowable(PACO2),
    unknowable(WHITE_CELLS),
    yes_no("bands", "More than 10 % band forms"),
    when("temperature > 38 or temperature < 36", 1, "temperature above 38 or below 36 °C"),
    when("heart_rate > 90", 1, "heart rate above 90"),
    when("respiratory_rate > 20 or paco2 < 32", 1, "more than 20 breaths a minute or PaCO2 below 32 mmHg"),
    when("white_cells > 12 or white_cells < 4 or bands == yes", 1, "white cells above 12 or below 4, or bands"),
    bands(("value >= 2", "criteria met"), ("", "criteria not met")),
    output=score(0, 4),
    cite="Bone RC, Balk RA, Cerra FB, et al. Definitions for sepsis and organ failure and guidelines for the "
    "use of innovative therapies in sepsis. Chest 1992;101:1644-1655.",
    use="Counting the systemic inflammatory response.",
    avoid="As a test for sepsis by today's definition.",
)

CALCULATORS = (CENTOR, FEVERPAIN, GLASGOW_COMA, CURB65, PSI, CHARLSON, SIRS)
