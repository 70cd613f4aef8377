"""Liver and bleeding from the gut. Declarations only."""

from __future__ import annotations

from tools.calculators.notation import (
    bands,
    calculator,
    choose,
    define,
    first,
    formula,
    item,
    measure,
    score,
    steps,
    yes_no,
)
from tools.calculators.quantities import (
    ADULT_AGE,
    ALBUMIN,
    ALT,
    AST,
    BILIRUBIN,
    BUN,
    CREATININE,
    HAEMOGLOBIN,
    HEART_RATE,
    INR,
    PLATELETS,
    SEX,
    SODIUM,
    SYSTOLIC,
    unknowable,
)

CHILD_PUGH = calculator(
    "child_pugh",
    "Child-Pugh score",
    unknowable(BILIRUBIN),
    unknowable(ALBUMIN),
    unknowable(INR),
    first("bilirubin", ("bilirubin < 2", 1), ("bilirubin <= 3", 2), ("", 3)),
    first("albumin", ("albumin > 3.5", 1), ("albumin >= 2.8", 2), ("", 3)),
    first("INR", ("inr < 1.7", 1), ("inr <= 2.3", 2), ("", 3)),
    choose("ascites", "Ascites", none=1, slight=2, moderate=3),
    choose("encephalopathy", "Encephalopathy by grade", none=1, grade_1_2=2, grade_3_4=3),
    bands(("value <= 6", "class A"), ("value <= 9", "class B"), ("", "class C")),
    output=score(5, 15),
    cite="Pugh RNH, Murray-Lyon IM, Dawson JL, Pietroni MC, Williams R. Transection of the oesophagus for "
    "bleeding oesophageal varices. Br J Surg 1973;60:646-649.",
    use="Severity of cirrhosis; the INR stands in for the prothrombin time of the paper.",
    avoid="Acute liver failure; cholestatic disease, where the bilirubin limits differ.",
)

FIB4 = calculator(
    "fib4",
    "FIB-4 index",
    ADULT_AGE,
    AST,
    ALT,
    PLATELETS,
    formula("age * ast / (platelets * sqrt(alt))"),
    bands(
        ("value < 1.45", "advanced fibrosis unlikely"),
        ("value <= 3.25", "undecided"),
        ("", "advanced fibrosis likely"),
    ),
    output=measure("{ratio}", 2, 0, 30),
    cite="Sterling RK, Lissen E, Clumeck N, et al. Development of a simple noninvasive index to predict "
    "significant fibrosis in patients with HIV/HCV coinfection. Hepatology 2006;43:1317-1325.",
    use="Chronic liver disease, as a first test for fibrosis.",
    avoid="Below 35 years; above 65 years the lower limit is too low; acute hepatitis.",
)

MELD_NA = calculator(
    "meld_na",
    "MELD-Na (OPTN 2016)",
    CREATININE,
    BILIRUBIN,
    INR,
    SODIUM,
    yes_no("dialysis", "Dialysis at least twice in the last week"),
    yes_no("cvvhd", "Continuous haemodialysis for 24 hours in the last week"),
    define("used_creatinine", ("dialysis == yes or cvvhd == yes", 4), "min(max(creatinine, 1), 4)"),
    define(
        "meld",
        "10 * round(0.957 * ln(used_creatinine) + 0.378 * ln(max(bilirubin, 1)) + 1.12 * ln(max(inr, 1)) + 0.643, 1)",
    ),
    define("lack", "137 - min(max(sodium, 125), 137)"),
    first(
        "MELD-Na",
        ("meld > 11", "min(meld + 1.32 * lack - 0.033 * meld * lack, 40)"),
        ("", "meld"),
    ),
    output=measure("{score}", 0, 6, 40),
    cite="Kim WR, Biggins SW, Kremers WK, et al. Hyponatremia and mortality among patients on the "
    "liver-transplant waiting list. N Engl J Med 2008;359:1018-1026.",
    use="Risk of death in 90 days in chronic liver disease of patients of 12 years and more.",
    avoid="Acute liver failure; allocation rules that use another version.",
)

BLATCHFORD = calculator(
    "glasgow_blatchford",
    "Glasgow-Blatchford score",
    SEX,
    unknowable(BUN),
    unknowable(HAEMOGLOBIN),
    unknowable(SYSTOLIC),
    unknowable(HEART_RATE),
    steps("bun", 0, (18.2, 2), (22.4, 3), (28, 4), (70, 6), label="urea nitrogen"),
    first(
        "haemoglobin",
        ("haemoglobin < 10", 6),
        ("haemoglobin < 12 and sex == male", 3),
        ("haemoglobin < 13 and sex == male", 1),
        ("haemoglobin < 12 and sex == female", 1),
    ),
    steps("systolic", 3, (90, 2), (100, 1), (110, 0)),
    steps("heart_rate", 0, (100, 1)),
    item("melaena", "Melaena", 1),
    item("syncope", "Syncope", 2),
    item("liver_disease", "Liver disease", 2),
    item("heart_failure", "Heart failure", 2),
    bands(("value <= 1", "very low risk"), ("", "not low risk")),
    output=score(0, 23),
    cite="Blatchford O, Murray WR, Blatchford M. A risk score to predict need for treatment for upper-gastrointestinal "
    "haemorrhage. Lancet 2000;356:1318-1321.",
    use="Upper gastrointestinal bleeding before endoscopy.",
    avoid="Lower gastrointestinal bleeding.",
)

CALCULATORS = (CHILD_PUGH, FIB4, MELD_NA, BLATCHFORD)
