"""Whether a disease that a note names was known before today: "PMH: COPD", "known heart failure", "gout since 2012".

Pure. What was known before explains nothing that is new (direct.md section 3.1: candidates come from today's findings).
It must not know which diseases last.
"""

from __future__ import annotations

import re

KNOWN = "known before"
_LOOK = 300  # characters before a mention in which its heading may stand
_HEADED = re.compile(
    r"(?:^|[.;]\s+|\n)\W{0,4}(?:(?:Past |Previous )?(?:[Mm]edical |[Ss]urgical )?[Hh]istory|PMS?Hx?|PMH|PHx|Hx|MHx|"
    r"[Bb]ackground|[Cc]o-?morbid\w+|[Pp]roblem list|[Kk]nown (?:with|to have))\b\s*[:\u2013-]?(?P<rest>[^\n]*)\Z"
)
_OTHER_HEADING = re.compile(r"(?:^|[.;]\s+)[A-Z][\w /&-]{0,24}:")
_BEFORE = re.compile(
    r"\b(?:known|established|long-?\s?standing|lifelong|chronic|on a background of|background of|history of|h/o|hx of|"
    r"already has|diagnosed with)\b(?P<rest>[^.;\n]*)\Z",
    re.I,
)
_TODAY = re.compile(
    r"\b(?:presents?|presented|presenting|admitted|admission|came|comes|attends?|attended|now|today|new|newly|develop\w*|"
    r"but|who|seen|referred|brought|found|since yesterday|just|for \d+ (?:hours?|days?|weeks?)|day|days|week|weeks)\b",
    re.I,
)
_BEHIND = re.compile(
    r"\s*(?:\([^()\n]{0,40}\)\s*)?,?\s*(?:since (?:(?:19|20)\d\d|childhood|age|her|his|the age|\d+ years)|"
    r"(?:for|x)\s*(?:the (?:last|past) |about |over |many )?(?:\d+ ?(?:years?|yrs?|y)\b|years\b|decades\b)|"
    r"(?:diagnosed|dx)(?: in)? (?:19|20)\d\d|\d+ ?y(?:rs?)?\b(?! ?/?o)|(?:19|20)\d\d\b)",
    re.I,
)
_PERSON = re.compile(r"(?:asthmatic|diabetic|hypertensive|epileptic)", re.I)


def is_known_before(text: str, start: int, end: int, *, disease: bool) -> bool:
    """Whether what is named at text[start:end] is told as something that the patient had before today.

    What is no disease counts only under a heading of the history: "3 weeks' history of cough" is today's cough.
    """
    before = text[max(0, start - _LOOK) : start]
    headed = _HEADED.search(before[before.rfind("\n") + 1 :])
    if headed is not None:
        return _OTHER_HEADING.search(headed["rest"]) is None
    if not disease:
        return False
    if _BEHIND.match(text, end) or _PERSON.fullmatch(text, start, end):
        return True
    told = [*_BEFORE.finditer(before)]
    return bool(told) and _TODAY.search(told[-1]["rest"]) is None
