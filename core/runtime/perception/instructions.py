"""Text in a document that addresses the program instead of telling of the patient (direct.md section 5; trust).

Document text is quoted data: such a sentence is listed for the reader and gives no finding. Pure; it must not know
models or prompts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from core.domain.case import Case, Note
from core.retrieval.sentences import split
from core.runtime.perception.drafts import place

_QUOTE = 200
_MACHINE = r"(?:AI|LLM|language model|chat ?bot)"
_ANY_CASE = (
    # override of what the program was told
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules?|directions|training)\b",
    r"\b(?:earlier|previous|prior|above) (?:rules|instructions|prompts?) (?:no longer|do not|are void)",
    r"\b(?:print|reveal|show|output|repeat|display)\b.{0,30}\b(?:prompt|system message)\b",
    # a machine addressed, or a role given to it
    rf"\b(?:to|as|for|dear|hey|hello|attention)\s+(?:the|an?|any)?\s*{_MACHINE}\b",
    rf"\b(?:the|this|an) {_MACHINE}\s+(?:reading|processing|system|model|assistant|must)\b",
    r"^\W*(?:AI|LLM|assistant|model|chat ?bot)\s*,\s*(?:please\s+)?[a-z]+\b",
    r"\byou are (?:now |henceforth )?(?:an? |the )?\w*(?:GPT|assistant|language model|AI\b|chat ?bot)",
    r"\byou are now\b|\bfrom now on,? you\b|\bwith no restrictions\b",
    r"\b(?:pretend|imagine)\s+(?:that\s+)?you\b",
    r"^\W*(?:act|behave|answer|respond|reply|speak) as (?:an?|the|if)\b",
    # forged turns and results
    r"</?\s*(?:tool\w*|system|assistant|user|function\w*|instructions?|im_start|im_end)\b[^>]{0,80}>",
    r"<\|[^|>]{1,40}\|>|\[/?INST\]|<<SYS>>",
    r"^\W*#{2,}\s*(?:assistant|user|system|human|instructions?|response)\b",
    r"\b(?:tool|function) (?:output|result|response|call)\s*:|\{\s*\"\w+\"\s*:",
    # the answer dictated, warnings silenced, evidence forged, records asked for
    r"\b(?:use|treat|take) (?:this|it|that) as the (?:final|correct|only) (?:answer|diagnosis|result)\b",
    r"\b(?:output|reply|answer|respond|write|print|return) (?:with )?only\b|\bmust (?:only )?output\b",
    r"\balways (?:choose|select|rank|pick|answer|output)\b",
    r"\bwhen (?:ranking|scoring|choosing between|answering)\b.{0,40}\b(?:option|choose|answer|rank)",
    r"\b(?:do not|don't|never) (?:mention|raise|show|list|display|report)\b.{0,60}\b(?:warnings?|flags?|alerts?)\b",
    r"\bevidence (?:list|id)\b|\bwith id e\d+\b|\bcite (?:it|this|that) in every\b",
    r"\breport that (?:this|the) patient is (?:healthy|well|normal|fine)\b",
    r"\b(?:send|e-?mail|upload|forward)\b.{0,60}\b(?:records?|data|files?|notes)\b.{0,60}\S+@\S+",
    r"\bdelete this (?:line|note|message|text|paragraph)\b",
)
_AS_WRITTEN = (r"^\W*(?:SYSTEM|ASSISTANT|USER|HUMAN)\s*:",)
_PATTERNS = (
    *(re.compile(pattern, re.IGNORECASE) for pattern in _ANY_CASE),
    *(re.compile(pattern) for pattern in _AS_WRITTEN),
)


def spans(text: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text that address the program, as half-open spans."""
    for start, end in split(text):
        if any(pattern.search(text[start:end]) for pattern in _PATTERNS):
            yield start, end


def instructions(case: Case) -> tuple[str, ...]:
    """What was found, with its place, in order of title and place."""
    found = []
    for note in case.notes:
        for start, end in spans(note.text):
            quoted = " ".join(note.text[start:end].split())
            quoted = quoted if len(quoted) <= _QUOTE else quoted[: _QUOTE - 1] + "\u2026"
            found.append((note.title, start, f"{note.title}, {place(note, start, end)}: \u201c{quoted}\u201d"))
    return tuple(text for *_, text in sorted(found))


def without(note: Note) -> Note:
    """The note with such sentences blanked; all offsets stay."""
    text = note.text
    for start, end in spans(note.text):
        text = text[:start] + "".join(c if c == "\n" else " " for c in text[start:end]) + text[end:]
    return note if text == note.text else msgspec.structs.replace(note, text=text)
