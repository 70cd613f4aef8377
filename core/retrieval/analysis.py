"""Text to search terms, the same for index and query (knowledge.md section 2). Knows no index, document or case.

Two analyses: `stem` for words (own stop list, English stems), `exact` for codes, doses, hyphenated names, Chinese.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from functools import cache
from importlib import resources

import msgspec
import tantivy

STEM, EXACT, RAW = "stem", "exact", "raw"
_OTHER = r"[\p{L}\p{N}--\p{Han}--\p{Hiragana}--\p{Katakana}]+"
_EXACT = rf"[\p{{Han}}\p{{Hiragana}}\p{{Katakana}}]|{_OTHER}(?:[-./']{_OTHER})*"
_DASHES = [chr(code) for code in (*range(0x2010, 0x2016), 0x2212)]
_SOFT_HYPHEN = "\u00ad"
# oedema and edema, haemoglobin and hemoglobin, anaemia and anemia: one word; short words ("does") keep their letters.
_DIGRAPH = re.compile(r"\b(?=\w*[oa]e)\w{6,}", re.IGNORECASE)
# What `exact` adds to `stem` in a query: a digit, a mark inside, or a Han or Kana character.
_TELLING = re.compile(r"[\d\-./\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


class Terms(msgspec.Struct, frozen=True):
    """The terms of a text with how often each occurs, in order of first occurrence; stems that synonyms add."""

    stem: tuple[tuple[str, int], ...]
    exact: tuple[tuple[str, int], ...]
    synonyms: tuple[str, ...] = ()

    @property
    def distinct(self) -> int:
        return len(self.stem) + len(self.exact)


NOTHING = Terms((), ())


def normalised(text: str) -> str:
    """NFKC, soft hyphens out, every dash "-"; what is no Unicode text (a lone surrogate) becomes "?"."""
    if text.isascii():
        return text
    clean = text.encode("utf-8", "replace").decode()
    plain = unicodedata.normalize("NFKC", clean).replace(_SOFT_HYPHEN, "")
    for dash in _DASHES:  # ten times as fast as str.translate
        plain = plain.replace(dash, "-")
    return plain


def for_stem(text: str) -> str:
    """Normalised text for the field analysed by `stem`: British and American spellings meet."""
    return _DIGRAPH.sub(_one_spelling, normalised(text))


def _one_spelling(match: re.Match[str]) -> str:
    return match.group().lower().replace("oe", "e").replace("ae", "e")


def terms(text: str) -> Terms:
    """What a query asks for; of the exact terms only those that stems would lose."""
    exact = (term for term in exact_analyzer().analyze(normalised(text)) if _TELLING.search(term))
    return Terms(
        stem=tuple(Counter(stem_analyzer().analyze(for_stem(text))).items()), exact=tuple(Counter(exact).items())
    )


@cache
def stop_words() -> tuple[str, ...]:
    """Our own list."""
    file = resources.files("core.retrieval").joinpath("resources", "stopwords.toml")
    return tuple(tomllib.loads(file.read_text("utf-8"))["words"])


@cache
def stem_analyzer() -> tantivy.TextAnalyzer:
    """Words, lower case, folded, without stop words, English stems."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(40),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
        tantivy.Filter.custom_stopword(list(stop_words())),
        tantivy.Filter.stemmer("english"),
    ):
        builder = builder.filter(step)
    return builder.build()


@cache
def exact_analyzer() -> tantivy.TextAnalyzer:
    """Names and numbers as written: "7.5", "il-6", "e11.9"; Han and Kana by the character."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_EXACT))
    for step in (tantivy.Filter.remove_long(60), tantivy.Filter.lowercase(), tantivy.Filter.ascii_fold()):
        builder = builder.filter(step)
    return builder.build()


def register(index: tantivy.Index) -> None:
    """Give an index its analysers: needed for every Index object, also after opening an existing one."""
    index.register_tokenizer(STEM, stem_analyzer())
    index.register_tokenizer(EXACT, exact_analyzer())
