"""`tr()` from the first day: every text a person reads passes here; the second language comes later. Knows no Qt."""

from __future__ import annotations


def tr(text: str, **values: object) -> str:
    """The text in the person's language, its gaps filled."""
    return text.format(**values) if values else text
