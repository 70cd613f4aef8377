"""Words that this program must not use: urgency, verdicts of safety, and claims that belong to the fixed texts only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import pytest

from core.domain.notices import INTENDED_USE, TEXTS
from core.domain.report import Report
from core.runtime import report
from models.scripted import ScriptedBackbone
from tests.helpers import workup
from tests.helpers.workup import work_up

ROOT = Path(__file__).resolve().parents[3]
FORBIDDEN = re.compile(
    r"\b(?:immediately|emergency|emergent|urgent|urgently|stat|rules? out|ruled out|safe to discharge|"
    r"can be discharged|must be given|do not delay)\b",
    re.I,
)
CLAIM = re.compile(r"\bmedical device\b", re.I)
WRITING = ("core/runtime", "core/workflows", "core/domain")
READERS = {"vital_patterns.py", "mentions.py", "instructions.py", "background.py", "numbers.py"}  # patterns, not prose


def _literals(path: Path) -> Iterator[str]:
    """The text literals of a module that may be shown: no docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body
        if isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.value


MODULES = sorted(
    path for folder in WRITING for path in (ROOT / folder).rglob("*.py") if path.name not in {*READERS, "notices.py"}
)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_template_uses_a_forbidden_word(path: Path) -> None:
    for text in _literals(path):
        assert not FORBIDDEN.search(text), text
        assert not CLAIM.search(text), text


def test_the_search_for_words_finds_them() -> None:
    """The check itself: words in literals are found, those in docstrings are not looked at."""
    assert FORBIDDEN.search("Treat immediately.") and FORBIDDEN.search("to rule out embolism")
    assert not FORBIDDEN.search("statin, estate, emergence")


def test_no_prompt_and_no_rule_uses_a_forbidden_word() -> None:
    prompts = resources.files("core.workflows.prompts")
    texts = [file.read_text("utf-8") for file in prompts.iterdir() if file.name.endswith(".txt")]
    assert len(texts) >= 2
    known = workup.known()
    texts += [text for rule in known.rules for text in (rule.flag, rule.action)]
    for text in texts:
        assert not FORBIDDEN.search(text) and not CLAIM.search(text), text


def test_no_guideline_text_of_ours_uses_a_forbidden_word() -> None:
    """Titles of publications keep their words; the sections and facts are ours."""
    for condition in workup.known().conditions:
        for text in (*condition.sections.values(), *(fact.statement for fact in condition.facts)):
            found = FORBIDDEN.search(text)
            assert not found, (condition.slug, found)


def test_the_claim_stands_in_the_fixed_texts_only() -> None:
    assert [key for key, text in TEXTS.items() if CLAIM.search(text)] == ["N8"]
    assert len(CLAIM.findall(INTENDED_USE)) == 1
    for key, text in TEXTS.items():
        assert not FORBIDDEN.search(text), key
    assert not FORBIDDEN.search(INTENDED_USE)


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[Report]:
    """The reports of the three example cases."""
    made = []
    for letter in "abc":
        case = workup.example(letter)
        made.append(work_up(tmp_path_factory.mktemp(letter), case, backbone=ScriptedBackbone()).report(case))
    return made


def test_reports_of_the_examples_use_none_but_quote_what_the_case_says(reports: list[Report]) -> None:
    for made in reports:
        for line in report.all_lines(made):
            assert not FORBIDDEN.search(line.text) and not CLAIM.search(line.text), line.text


def test_reports_read_like_sentences(reports: list[Report]) -> None:
    """No gap of a template, no machine value, no doubled stop or blank in a line or in cited evidence."""
    for made in reports:
        texts = [line.text for line in report.all_lines(made) if not line.text.startswith("Prompt ")]
        texts += [item.text for item in report.cited(made)]
        for text in texts:
            assert not re.search(r"[{}_]|\bNone\b|WR:|VS:|LAB:|has\(|\.\.|  |\( |,\s*[.)]| ,|\?\.", text), text
        shown = [line.text for one in made.blocks for line in one.lines]
        assert len(shown) == len(set(shown)), "the same line twice"
