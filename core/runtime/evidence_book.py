"""Evidence ids handed out once: "e1", "e2", ... for findings, clues, rules and passages.

Built anew from values at each run of the program, in the same order, so that the same case gets the same ids. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from core import codec
from core.domain.case import Case
from core.domain.condition import Clue, Condition, Rule
from core.domain.evidence import Evidence, Finding, Provenance
from core.domain.passage import Fact, Passage, Source
from core.runtime import wording

COMPUTED = "computed from "  # how the label of a computed statement begins; ids follow


class EvidenceBook:
    """All evidence of one assessment. The same source asked twice has one id."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._by_key: dict[str, Evidence] = {}
        listed = tuple(findings)
        ids = {finding.id: f"e{number}" for number, finding in enumerate(listed, start=1)}
        for finding in listed:
            self._add(f"finding {finding.id}", wording.statement(finding), _place(finding, ids), finding.id)

    @property
    def items(self) -> tuple[Evidence, ...]:
        return tuple(self._by_key.values())

    def finding(self, identifier: str) -> str:
        """The evidence id of a finding that is in the book."""
        return self._by_key[f"finding {identifier}"].id

    def case(self, case: Case) -> str:
        """Evidence of the case as a whole: how much there was to read."""
        text = (
            f"Case {case.title}, revision {case.revision}: {_counted(len(case.notes), 'note')}, "
            f"{_counted(len(case.tables), 'laboratory table')}, {_counted(len(case.pictures), 'picture')}, "
            f"{_counted(case.unread_files, 'file')} not read."
        )
        provenance = Provenance(kind="document", reference=case.id, sha256=codec.digest(case), label="the whole case")
        return self._add("case", text, provenance, "")

    def fact(self, condition: Condition, fact: Fact) -> str:
        """Evidence of a published number, with its source and whether anyone has checked it."""
        provenance = _knowledge(condition, condition.source(fact.citation), codec.digest(fact))
        return self._add(f"fact {condition.slug} {fact.id}", f"{fact.statement} ({fact.status})", provenance, "")

    def passage(self, passage: Passage) -> str:
        """Evidence of a guideline passage: its words, edition and place."""
        return self._add(f"passage {passage.key}", passage.text, _in_passage(passage), "")

    def clue(self, condition: Condition, clue: Clue, name: str) -> str:
        """Evidence of what a condition file says about a clue, with its source or the words it was derived from."""
        expected = wording.lowered(name) if clue.polarity == "present" else f"absence of {wording.lowered(name)}"
        text = f"{_STRENGTH[clue.strength]} {wording.lowered(condition.title)}: {expected}."
        key = f"clue {condition.slug} {clue.concept}"
        derived = condition.derivation(clue.concept)
        if derived is not None:
            return self._add(key, f"{text} Derived from: “{derived.quote}”", _in_passage(derived.passage), "")
        return self._add(key, text, _knowledge(condition, condition.source(clue.citation), codec.digest(clue)), "")

    def rule(self, rule: Rule, source: Source | None, when: str) -> str:
        """Evidence of a safety rule, with its published source; `when` is its condition in words."""
        label = f"Safety rule {rule.id}" + (f" ({cite(source)})" if source else "")
        provenance = Provenance(kind="passage", reference=f"rule:{rule.id}", sha256=codec.digest(rule), label=label)
        return self._add(f"rule {rule.id}", f"{rule.flag} Rule: {when}.", provenance, "")

    def _add(self, key: str, text: str, provenance: Provenance, finding: str) -> str:
        known = self._by_key.get(key)
        if known is None:
            known = Evidence(id=f"e{len(self._by_key) + 1}", text=text, provenance=provenance, finding=finding)
            self._by_key[key] = known
        return known.id


def _place(finding: Finding, ids: Mapping[str, str]) -> Provenance:
    """Where a finding comes from; one that was computed names the evidence it rests on."""
    inputs = [ids[identifier] for identifier in finding.inputs if identifier in ids]
    if not inputs:
        return finding.provenance
    return msgspec.structs.replace(finding.provenance, label=f"{COMPUTED}{', '.join(inputs)}")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


_STRENGTH = {
    "hallmark": "A hallmark of",
    "typical": "Typical of",
    "occasional": "Seen at times in",
    "against": "Speaks against",
    "excludes": "Excludes",
}


def _in_passage(passage: Passage) -> Provenance:
    return Provenance(
        kind="passage",
        reference=passage.key,
        sha256=passage.sha256,
        label=f"{passage.title}, {passage.section} ({passage.pack_title}, edition {passage.edition})",
        start=passage.start,
        end=passage.end,
    )


def _knowledge(condition: Condition, source: Source | None, sha256: str) -> Provenance:
    edition = f"starter set, edition {condition.edition}"
    label = f"{cite(source)} ({edition})" if source is not None else edition
    return Provenance(kind="passage", reference=f"condition:{condition.slug}", sha256=sha256, label=label)


def cite(source: Source) -> str:
    """A source in one line: authors and year, title, journal, DOI or identifier."""
    number = f"doi:{source.doi}" if source.doi else source.identifier
    parts = [part for part in (source.short, source.title, source.journal, number) if part]
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts[:-1]) + f" {parts[-1]}"
