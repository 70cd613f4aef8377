"""The fixed texts N1-N18 (product.md section 4) and the intended use. English, golden: a test compares them."""

from __future__ import annotations

TEXTS = {
    "N1": "Decision support for qualified clinicians. Review the evidence before acting.",
    "N2": "AI-generated, unverified",
    "N3": "Inputs not available: {list}",
    "N4": "Running on CPU: expected time {t}",
    "N5": "Image could not be decoded: {reason}; not analysed",
    "N6": "Research use only. Image analysis is not cleared for diagnosis.",
    "N7": "Not for time-critical decisions",
    "N8": "Not CE-marked. Not a medical device. For research and evaluation.",
    "N9": "Not calibrated for primary diagnosis",
    "N10": "Lossy compressed image ({ratio})",
    "N11": "Pixel integrity: not verifiable (first import of compressed data)",
    "N12": "Side conflict: image says {a}, text says {b}. Signing is blocked.",
    "N13": "Result produced under {rung}: {reason}",
    "N14": "This guideline edition ({date}) is superseded by {newer}",
    "N15": "Hidden text found in {document}",
    "N16": "Model file is damaged (hash differs). Not loaded.",
    "N17": "No evidence found for this statement",
    "N18": "Partial result: {k} of {n} steps finished",
}

INTENDED_USE = """\
Wardround helps a qualified clinician to read one case: it lists findings with their sources, weighs them against \
written guidelines, says what is missing, and shows every number with where it came from.

Who it is for: physicians and other qualified clinicians, in research and evaluation, on adult cases.

What it does not do: it does not decide, does not order, and does not replace the clinician's judgement. It is not for \
time-critical decisions, and it knows only the conditions listed in its knowledge store. Small language models make \
mistakes; nothing they write is shown without its evidence.

Nothing leaves this computer: the program opens no network connection.

Not CE-marked. Not a medical device. For research and evaluation."""


# How a person names a rung (runtime.md section 10).
RUNGS = {
    "gpu_full": "graphics card",
    "gpu_kv_q8": "graphics card, compressed cache",
    "gpu_partial": "graphics card in part",
    "cpu": "processor",
    "cpu_small": "processor, smaller model",
}
ON_PROCESSOR = ("cpu", "cpu_small")


def rung_notices(rung: str, reason: str, expected_s: float) -> tuple[str, ...]:
    """N13 for a rung that is not the wanted one, N4 with the expected time for one below the graphics card."""
    changed = (notice("N13", rung=RUNGS.get(rung, rung), reason=reason),) if reason else ()
    slow = (notice("N4", t=lasting(expected_s)),) if rung in ON_PROCESSOR and expected_s > 0 else ()
    return (*changed, *slow)


def lasting(seconds: float) -> str:
    """A length of time as a person says it: "about 5 s", "about 3 min"."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def notice(identifier: str, **values: object) -> str:
    """A fixed text with its gaps filled.

    Raises:
        KeyError: unknown id or a gap without a value.
    """
    return TEXTS[identifier].format(**values)
