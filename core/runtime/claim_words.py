"""Word lists for reading claims: glue, directions, comparisons, denials, time and subject. Data only; knows no text."""

from __future__ import annotations

GLUE = frozenset(
    """
    a also an and are as at be been being but by can clearly current currently did do does during each finding findings
    for from given gives had has have having he her his however in into is it its known level levels measured nor noted
    now of on or patient patients present recorded remains reported result said seen she shown shows since so some still
    takes taken taking than that the their there these they this those to today value values was were when where
    which while whereas who with yet
    although though except then s
    """.split()  # noqa: SIM905 - a word list reads better as words
)

# H, L, N: high, low, normal; U, D: has gone up, down; C: critical. "Increased" is said of both level and change.
DIRECTIONS = {
    word: meaning
    for meaning, words in {
        "H": "high raised elevated",
        "HU": "increased higher",
        "U": "rise rises risen rising rose increase increases increasing up \u2191",
        "L": "low lowered depressed",
        "LD": "decreased reduced lower",
        "D": "fall falls fallen falling fell decrease decreases decreasing drop drops dropped down \u2193",
        "N": "normal",
        "C": "critical critically",
    }.items()
    for word in words.split()
}

# Before the name of a quantity they make another one of it: mean cell haemoglobin, free T4, ionised calcium.
QUALIFYING = frozenset(["mean", "cell", "corpuscular", "free", "ionised", "corrected", "conjugated", "urine"])
COMPARATIVE = frozenset(["higher", "lower"])

COMPARED = {
    ">": ("above", "over", "more than", "greater than", "exceeding"),
    "<": ("below", "under", "less than", "fewer than"),
    ">=": ("at least",),
    "<=": ("at most",),
}

# What a cue says of the words it reaches, and whether it always reaches back as well.
POLARITY = (
    dict.fromkeys(
        [
            "no",
            "not",
            "cannot",
            "without",
            "denies",
            "denied",
            "neither",
            "nor",
            "never",
            "nothing",
            "non",
            "absence",
            "lacks",
        ],
        ("absent", False),
    )
    | dict.fromkeys(
        ["absent", "negative", "excluded", "none", "nil", "unlikely", "resolved", "stopped", "discontinued", "ruled"],
        ("absent", True),
    )
    | dict.fromkeys(["possible", "possibly", "probable", "probably", "suspected", "likely"], ("possible", True))
    | dict.fromkeys(["may", "might", "could", "suggests", "suggesting", "suspicious"], ("possible", True))
)

_RELATIVES = "mother father sister brother son daughter grandmother grandfather aunt uncle family wife husband"
WHO = (
    dict.fromkeys(_RELATIVES.split(), "family")
    | dict.fromkeys(["person"], "other")
    | dict.fromkeys(["allergy", "allergies", "allergic", "intolerance", "intolerant"], "allergy")
)
# Words of the past need no evidence of their own: what they say is in the context of the words that they reach.
PAST = frozenset(["previous", "previously", "former", "formerly", "earlier", "ago", "past", "history"])
TIME = dict.fromkeys(PAST, "past")
TIME |= dict.fromkeys(["if", "should", "plan", "planned", "risk", "ahead", "will", "target", "aim"], "future")
SILENT = GLUE | PAST | frozenset(POLARITY)  # need not be found in the evidence as words

CUTS = frozenset(["but", "however", "although", "though", "except", "while", "whereas", "then", "yet"])
TURNS = frozenset(["and", "but", "now", "while", "whereas", "today", "currently"])  # what is said of the past ends
PATIENT = frozenset(["patient", "he", "she"])  # what is said of relatives ends
PARTING = frozenset(["and", "or", "but", "while", "whereas", "with", "without"])
VERBS = frozenset(["has", "have", "had", "is", "are", "was", "were", "shows", "takes", "with"])
