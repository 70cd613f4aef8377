"""What a text claims, piece by piece: words, numbers and directions, each with polarity, time, subject and name.

A concept's context is the knowledge's; other words have simple scopes of their own. The same reading is made of a
sentence and of its evidence (citation.py compares them), so a copy always agrees. Pure; knows no evidence ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

from core.domain import units
from core.domain.ports import Annotated
from core.retrieval.terms import norm_word
from core.runtime import claim_words as lists

Kind = Literal["word", "glue", "number", "direction", "mark"]
_TOKEN = re.compile(
    r"(?P<number>\d{4}-\d\d-\d\d(?:T[\d:]+)?|(?<![\w.])(?:[<>≤≥]=?\s*)?[-+\u2212]?"
    r"(?:[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)(?:/\d+(?:\.\d+)?)*(?![.,]?\d))"
    r"|(?P<word>[^\W_]+(?:['\u2019][^\W_]+)*(?:\.\d+)*)|(?P<mark>[,;()\n?!\u2191\u2193]|\.(?!\d))"
)
_PLAIN = re.compile(r"(?P<sign>[<>≤≥]=?)?\s*(?P<value>[-+\u2212]?\d[\d,]*(?:\.\d+)?)")
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_SIGNS = {"≤": "<=", "≥": ">="}
_BEYOND = {word: sign for sign, words in lists.COMPARED.items() for word in words}
_BEFORE = re.compile(rf"\b({'|'.join(sorted(_BEYOND, key=len, reverse=True))})\s*$", re.I)
_AFTER = re.compile(r"\s*(?:or|and)\s+(over|more|above|older|higher|under|less|below|younger|lower)\b", re.I)
_UP = frozenset(["over", "more", "above", "older", "higher"])
_NO_UNITS = frozenset(["in", "a"])  # inches and years, but here nearly always words
_SUFFIXES = ("ing", "ed")
_SHORTEST = 4  # letters that a suffix must leave
_ENDS = frozenset(".;()\n?!")


class Context(msgspec.Struct, frozen=True):
    """How a word is meant. `who` is "patient", "family", "other", or "allergy" (a drug that is not taken)."""

    polarity: str = "present"
    time: str = "current"
    who: str = "patient"


class Token(NamedTuple):
    """A piece of text. `key` is what is compared: a stem, a number, the meanings of a direction, or the mark itself."""

    kind: Kind
    key: str
    raw: str
    start: int
    end: int
    unit: str = ""

    @property
    def spelt(self) -> str:
        """The word as written, in small letters: cues are looked up by it."""
        return self.raw.casefold()


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A word, number or direction with the names around it.

    `name` is the nearest run of words that it belongs to, `stretch` all words before it up to another number,
    `segment` all words of its part of the sentence (a part ends at a comma or "and").
    """

    token: Token
    context: Context
    name: tuple[str, ...] = ()
    stretch: frozenset[str] = frozenset()
    segment: frozenset[str] = frozenset()


def read(text: str, mentions: Sequence[Annotated]) -> tuple[Claim, ...]:
    """The claims of a text, in order; `mentions` are its annotated concepts."""
    tokens = _telling_apart(tuple(_tokens(text)))
    contexts = _contexts(tokens, mentions)
    parts = _parts(tokens)
    return tuple(_claim(tokens, index, contexts[index], parts) for index, token in enumerate(tokens) if _says(token))


def prose(text: str) -> str:
    """A statement whose bracketed computation is a sentence of its own: it says other things than the result."""
    return text.replace(" (computed: ", ". Computed: ")


def stem(word: str) -> str:
    """A word without its ending; words in hyper- and hypo- are compared whole but for a plural s."""
    folded = norm_word(word).removesuffix("'s").removesuffix("\u2019s")
    if not folded.startswith(("hyper", "hypo")):
        ending = next((s for s in _SUFFIXES if folded.endswith(s) and len(folded) - len(s) >= _SHORTEST), "")
        folded = folded.removesuffix(ending)
    if len(folded) > _SHORTEST - 1 and folded.endswith("s") and not folded.endswith(("ss", "us", "is")):
        folded = folded[:-1]
    if len(folded) > _SHORTEST - 1:
        folded = folded.removesuffix("e")
        folded = f"{folded[:-1]}i" if folded.endswith("y") else folded
    return folded


def _says(token: Token) -> bool:
    return token.kind in ("word", "number", "direction")


# ------------------------------------------------------------------------------------------------------- tokens


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while match := _TOKEN.search(text, position):
        token = _number(text, match) if match.lastgroup == "number" else _worded(match.group(), match.start())
        if token is None:  # a digit glued to letters ("82F", "3x") is a word
            glued = re.compile(r"[^\W_]+").match(text, match.start())
            token = _worded(glued.group() if glued else match.group(), match.start())
        yield token
        position = token.end


def _telling_apart(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """ "The higher eye", "the lower lobe": part of a name, not a direction."""
    found = list(tokens)
    for index, (token, after) in enumerate(pairwise(tokens)):
        if token.spelt in lists.COMPARATIVE and after.kind == "word":
            found[index] = Token("word", stem(token.raw), token.raw, token.start, token.end)
    return tuple(found)


def _worded(raw: str, start: int) -> Token:
    word = raw.casefold().replace("\u2019", "'")
    end = start + len(raw)
    if word in lists.DIRECTIONS:
        return Token("direction", lists.DIRECTIONS[word], raw, start, end)
    if not any(letter.isalnum() for letter in raw):
        return Token("mark", raw, raw, start, end)
    if word in lists.SILENT or word.endswith("n't"):
        return Token("glue", "not" if word.endswith("n't") else word, raw, start, end)
    return Token("word", stem(word), raw, start, end)


def _number(text: str, match: re.Match[str]) -> Token | None:
    end, unit = _unit(text, match.end())
    if not unit and text[match.end() : match.end() + 1].isalpha():
        return None
    plain = _PLAIN.fullmatch(match.group())
    key = match.group()
    if plain and "/" not in key:
        written = plain["value"].replace("\u2212", "-")
        written = written.replace(",", "" if _GROUPED.fullmatch(written) else ".")
        sign = _SIGNS.get(plain["sign"] or "", plain["sign"] or "")
        if behind := _AFTER.match(text, end):
            end, sign = behind.end(), ">=" if behind[1].lower() in _UP else "<="
        ahead = _BEFORE.search(text, max(0, match.start() - 20), match.start())
        key = f"{sign or (_BEYOND[ahead[1].lower()] if ahead else '')}{float(written):.12g}"
    return Token("number", key, match.group(), match.start(), end, unit)


def _unit(text: str, start: int) -> tuple[int, str]:
    """The longest unit of up to three parts that follows a number ("mL/min/1.73 m2"), by its canonical name."""
    for parts in (3, 2, 1):
        match = re.compile(rf"\s?([^\s,;()]+(?: [^\s,;()]+){{{parts - 1}}})").match(text, start)
        written = match.group(1).rstrip(".?!:") if match else ""
        unit = units.find_unit(written) if written and written not in _NO_UNITS else None
        if match and unit:
            return match.start(1) + len(written), str(unit)
    return start, ""


# ----------------------------------------------------------------------------------------------------- contexts


def _contexts(tokens: Sequence[Token], mentions: Sequence[Annotated]) -> list[Context]:
    """Own scopes, then the knowledge's reading of concepts, then what holds for a whole sentence."""
    found = [Context() for _ in tokens]
    for index, token in enumerate(tokens):
        if token.spelt == "from" and (after := index + 1) < len(tokens) and tokens[after].kind == "number":
            found[after] = msgspec.structs.replace(found[after], time="past")
        _spread(tokens, index, found)
    for mention in mentions:
        span = range(mention.mention.start, mention.mention.end)
        inside = [index for index, token in enumerate(tokens) if token.start in span]
        if not any(tokens[index].spelt in lists.POLARITY for index in inside):  # "troponin not raised" is a concept
            _set(found, inside, polarity=mention.polarity, time=mention.time, who=mention.who)
    for index, token in enumerate(tokens):
        who, time = lists.WHO.get(token.spelt, ""), lists.TIME.get(token.spelt, "")
        if who == "allergy" or ((who or time) and _bracketed(tokens, index)):
            _set(found, _reach(tokens, index, frozenset(".\n!")), who=who, time=time)
    return found


def _spread(tokens: Sequence[Token], index: int, found: list[Context]) -> None:
    key = tokens[index].spelt
    if kind := _denial(tokens, index):
        polarity, both = kind
        reach = _reach(tokens, index, _ENDS, clause=True, back=both)
        reach = reach[:1] if key == "non" else reach
        _set(found, [i for i in reach if found[i].polarity == "present"], polarity=polarity)
    if key in lists.TIME:
        _set(found, _reach(tokens, index, _ENDS | {","} | lists.TURNS), time=lists.TIME[key])
    if key in lists.WHO:
        _set(found, _reach(tokens, index, _ENDS | lists.PATIENT), who=lists.WHO[key])


def _denial(tokens: Sequence[Token], index: int) -> tuple[str, bool] | None:
    """What a cue says of the words around it, and whether it also reaches back: "was not seen", "excluded"."""
    kind = lists.POLARITY.get(tokens[index].key)
    if kind is None:
        return None
    follower = tokens[index + 1] if index + 1 < len(tokens) else None
    alone = follower is None or follower.kind == "mark"
    seen = tokens[index].key == "not" and follower is not None and follower.kind in ("glue", "direction")
    return kind[0], kind[1] or alone or seen


def _reach(
    tokens: Sequence[Token], index: int, ends: frozenset[str], *, clause: bool = False, back: bool = True
) -> list[int]:
    """Indices a cue reaches on both sides (or forward only), up to words or marks that end its scope."""
    reached: list[int] = []
    for step in (1, -1) if back else (1,):
        place = index + step
        while 0 <= place < len(tokens) and tokens[place].spelt not in ends:
            if clause and _turns(tokens, place, back=step < 0):
                break
            reached.append(place)
            place += step
    return reached


def _turns(tokens: Sequence[Token], place: int, *, back: bool) -> bool:
    """Whether a denial ends: at "but", at a verb or number in the next part; backward at a comma."""
    key = tokens[place].key
    if key in lists.CUTS or (back and key == ","):
        return True
    if back or key not in (",", "and"):
        return False
    following = tokens[place + 1 :]
    part = following[: next((i for i, t in enumerate(following) if t.kind == "mark" or t.key == "and"), None)]
    return any(t.kind == "number" for t in part) or bool(part and part[0].key in lists.VERBS)


def _bracketed(tokens: Sequence[Token], index: int) -> bool:
    before = [token.key for token in tokens[:index] if token.key in ("(", ")")]
    return bool(before) and before[-1] == "("


def _set(found: list[Context], places: Sequence[int], *, polarity: str = "", time: str = "", who: str = "") -> None:
    for place in places:
        was = found[place]
        found[place] = Context(polarity or was.polarity, time or was.time, who or was.who)


# -------------------------------------------------------------------------------------------------------- names


def _parts(tokens: Sequence[Token]) -> list[int]:
    """The number of the sentence part in which each token stands."""
    part, found = 0, []
    for token in tokens:
        part += token.kind == "mark" or token.key in lists.PARTING
        found.append(part)
    return found


def _claim(tokens: Sequence[Token], index: int, context: Context, parts: Sequence[int]) -> Claim:
    token = tokens[index]
    if token.kind == "word":
        return Claim(token=token, context=context)
    inside = [t for t, part in zip(tokens, parts, strict=True) if part == parts[index] and t.kind == "word"]
    name, stretch = _named(tokens, index)
    return Claim(token=token, context=context, name=name, stretch=stretch, segment=frozenset(t.key for t in inside))


def _named(tokens: Sequence[Token], index: int) -> tuple[tuple[str, ...], frozenset[str]]:
    """The run of words that a number or direction belongs to: the nearest before it, else the next behind it.

    A direction belongs to the word that it stands directly before ("raised troponin").
    """
    behind = tokens[index + 1 : index + 2]
    if tokens[index].kind == "direction" and behind and behind[0].kind == "word":
        return _ahead(tokens, index)
    before = _behind(tokens, index)
    run: list[str] = []
    for token in before:
        if token.kind == "word":
            run.insert(0, token.key)
        elif run:
            break
    return (tuple(run), _stretch(before)) if run else _ahead(tokens, index)


def _ahead(tokens: Sequence[Token], index: int) -> tuple[tuple[str, ...], frozenset[str]]:
    run: list[str] = []
    for token in tokens[index + 1 :]:
        if token.kind == "word":
            run.append(token.key)
        elif run or token.kind == "mark":
            break
    return tuple(run), frozenset(run)


def _behind(tokens: Sequence[Token], index: int) -> list[Token]:
    """Tokens before, nearest first; a bare part of a bracket belongs to what stands before the bracket."""
    found: list[Token] = []
    skipping = False
    for token in reversed(tokens[:index]):
        if token.key in (".", "\n", "?", "!"):
            break
        if token.key == ";" and not any(t.kind == "word" for t in found):
            skipping = True
        elif token.key in (";", "(") and any(t.kind == "word" for t in found):
            break
        elif token.key == "(":
            skipping = False
        elif token.kind != "mark" and not skipping:
            found.append(token)
    return [] if skipping else found


def _stretch(before: Sequence[Token]) -> frozenset[str]:
    """All words before up to another number, which the nearest run is a part of."""
    stretch: list[str] = []
    for token in before:
        if token.kind == "number" and stretch:
            break
        if token.kind == "word":
            stretch.append(token.key)
    return frozenset(stretch)
