"""How vital signs and bedside scores are written in notes: patterns only.

Each has group n (the number); u is a written unit, m a second number. Comparisons ("if SpO2 < 88") match none of them.
Knows no value's meaning.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WORDS = (
    "is|was|of|at|now|still|about|around|approx|approximately|today|lying|sitting|standing|supine|on|arrival|up|down|"
    "to|settled|regular|irregular|rate|right|left|both|arms?|initially|initial|first|manual|recorded|remains|been|has|"
    "resting|sinus|oral|tympanic|score|only|a|the|triage|clinic|surgery|office|practice|average|averages|mean|daytime|"
    "ambulatory|repeat|seated"
)
# Between the name of a sign and its number.
_GAP = rf"\s*[:=~,\u2248-]?\s*(?:\([^)\d]{{1,20}}\)\s*)?(?:(?:{_WORDS})\b[.,:]?\s+|[:=]\s*){{0,4}}"


class Sign(NamedTuple):
    """A plain sign: quantity, name shown, unit, pattern."""

    quantity: str
    name: str
    unit: str
    pattern: re.Pattern[str]


def _sign(quantity: str, name: str, unit: str, words: str, number: str) -> Sign:
    return Sign(quantity, name, unit, re.compile(rf"\b(?:{words}){_GAP}{number}"))


_PEF = "PEFR?|[Pp]eak (?:expiratory )?flow(?: rate)?"

SIGNS = (
    _sign(
        "heart_rate",
        "Heart rate",
        "/min",
        "HR|hr|[Hh]eart [Rr]ate|[Pp]ulse(?: [Rr]ate)?|[Tt]achycardic|[Bb]radycardic|[Tt]achycardia|[Bb]radycardia",
        r"(?P<n>\d{2,3})(?!\d|\.\d|\s*(?:mm|mg|/\d|%|ms|[-\u2013]\s?\d|-?year|days?|hours?|h\b))",
    ),
    _sign(
        "respiratory_rate",
        "Respiratory rate",
        "/min",
        r"RR|rr|[Rr]esp(?:iratory)?\.? [Rr]ate|[Rr]esps?\b|[Rr]espirations?(?: [Rr]ate)?|[Bb]reathing|"
        r"[Tt]achypnoeic|[Tt]achypneic",
        r"(?P<n>\d{1,2})(?!\d|\.\d|\s*(?:mm|mg|%|L\b|[-\u2013]\s?\d|/\d|days?|years?))",
    ),
    _sign(
        "gcs",
        "Glasgow Coma Scale",
        "{score}",
        "GCS|[Gg]lasgow [Cc]oma [Ss](?:cale|core)",
        r"(?P<n>\d{1,2})(?!\d|\.\d|-\d)",
    ),
    _sign("news2", "NEWS2", "{score}", r"NEWS ?2\b|NEWS\b", r"(?P<n>\d{1,2})(?!\d|\.\d)"),
    _sign(
        "weight",
        "Weight",
        "kg",
        r"[Ww]eight|[Ww]t\.?|[Ww]eighs|[Ww]eighed|[Ww]eighing",
        r"(?P<n>\d{1,3}(?:\.\d{1,2})?)\s*(?P<u>kg|lbs?|pounds)\b",
    ),
    _sign("height", "Height", "cm", r"[Hh]eight|[Hh]t\.?", r"(?P<n>\d{1,3}(?:\.\d{1,2})?)\s*(?P<u>cm|m|metres)\b"),
    _sign("pain", "Pain score", "{score}", "[Pp]ain(?: score)?", r"(?P<n>\d{1,2})\s*(?:/|out of)\s*10\b"),
    _sign(
        "lvef",
        "Left ventricular ejection fraction",
        "%",
        "LVEF|EF|[Ee]jection fraction",
        r"(?P<n>\d{2})(?:\s*(?:-|\u2013|to)\s*(?P<m>\d{2}))?\s*%",
    ),
    _sign(
        "fev1_fvc",
        "FEV1/FVC",
        "{ratio}",
        "FEV1/FVC(?: ratio)?|FEV1:FVC(?: ratio)?",
        r"(?P<n>0?\.\d{1,2}|\d{2})(?!\d|\.\d)(?P<u>\s*%)?",
    ),
    _sign(
        "cardiothoracic_ratio",
        "Cardiothoracic ratio",
        "{ratio}",
        "CTR|[Cc]ardio-?thoracic [Rr]atio(?: \\(CTR\\))?",
        r"(?P<n>0?\.\d{1,2}|\d{2})(?!\d|\.\d)(?P<u>\s*%)?",
    ),
    _sign("pef_percent", "Peak flow, share of best or predicted", "%", _PEF, r"(?P<n>\d{1,3})\s*%"),
    _sign(
        "urine_output", "Urine output", "mL/kg/h", "[Uu]rine output|UO|[Uu]rine", r"(?P<n>\d(?:\.\d+)?)\s*m[lL]/kg/h"
    ),
)
PRESSURE = re.compile(
    rf"\b(?:BP|bp|B/P|[Bb]lood [Pp]ressure|ABPM){_GAP}(?P<s>\d{{2,3}})\s*/\s*(?P<d>\d{{2,3}})(?!\d)(?!\s*/)"
)
BARE_PRESSURE = re.compile(r"(?<![\d/.])(?P<s>\d{2,3})\s*/\s*(?P<d>\d{2,3})\s*mm\s?Hg\b")
# "BP 152/94, repeat 148/92": a further reading soon behind a named one.
FURTHER_PRESSURE = re.compile(
    r"(?:\b(?:repeat(?:ed)?|again|re-?check(?:ed)?|second|third|then|later|and|minutes?|hours?|days?|weeks?)\b"
    r"(?:\s+(?:readings?|BP|at|of|was|is|on|it|the|a))*\s*[:,]?\s*|(?<=/\d\d, )|(?<=/\d\d\d, ))"
    r"(?P<s>[6-9]\d|[12]\d\d)\s*/\s*(?P<d>[3-9]\d|1\d\d)(?!\d)(?!\s*/)"
)
SYSTOLIC = re.compile(
    rf"\b(?:SBP|[Ss]ystolic(?: BP| blood pressure| pressure)?){_GAP}(?P<n>\d{{2,3}})(?![\d/%]|\s*[-\u2013]\s*\d)"
)
SATURATION = re.compile(
    r"\b(?:Sp[Oo]2|SPO2|SpO\u2082|spo2|O2 ?[Ss]ats?|[Ss]ats?|SATS|(?:[Oo]xygen )?[Ss]aturations?|[Ss]aturating)"
    rf"{_GAP}(?P<n>\d{{2,3}})(?!\d|\.\d|\s*[-\u2013/]\s*\d)\s*%?"
)
AIR = re.compile(r"[\s,(]*(?:on\s+|in\s+|breathing\s+)?(?:room\s+air|air|RA|ra|r/a)\b")
FLOW = re.compile(
    r"[\s,(]*(?:on|with|via)?\s*(?:oxygen|O2)?\s*(?:at\s+)?(?P<n>\d{1,2}(?:\.\d)?)\s*(?:L|l|litres?|liters?)"
    r"(?:/min|pm| per minute)?\b"
)
TEMPERATURE = re.compile(
    r"(?:\b(?P<k>[Tt]emp(?:erature)?\.?|TEMP|[Ff]ever|[Ff]ebrile|[Pp]yrexia|[Pp]yrexial|[Tt]max)|\b(?P<t>T))"
    rf"{_GAP}(?P<n>\d{{2,3}}(?:[.,]\d{{1,2}})?)"
    r"\s*(?P<u>[\u2103\u2109]|[\u00b0\u00ba]\s?[CF]\b|[CF]\b|deg(?:rees)?(?: ?[CF]\b)?|[Cc]elsius|[Ff]ahrenheit)?"
    r"(?!\d|/|[.,]\d|\s*(?:mg|kg|ng|L/min|%|mm|wk|weeks|days|years|hours|h\b|ms))"
)
PEAK_FLOW = re.compile(
    rf"\b(?:{_PEF}){_GAP}(?P<n>\d{{2,3}})\s*(?:L/min|l/min)?\s*[,(]?\s*(?:of\s+)?(?:usual\s+|his\s+|her\s+|personal\s+)?"
    r"(?P<w>best|predicted|expected|usual)(?:\s+(?:is|was|of))?\s*(?P<m>\d{2,3})"
)
