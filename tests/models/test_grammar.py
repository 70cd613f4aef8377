"""JSON Schema to GBNF: the text by hand, the caps, the checker, and sampling under it on SmolLM2 (runtime.md 4.4)."""

from __future__ import annotations

import importlib
import json
import pkgutil
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pytest

import tools
from core.domain.chat import Sampling
from core.errors import BugError
from core.runtime.registry import RegisteredTool
from models.llama.backbone import parse_reply
from models.llama.decoding import Draft, sample
from models.llama.engine import Engine
from models.llama.grammar import write_grammar
from models.llama.sampler import Logits
from models.llama.schema import MOST_ITEMS, SchemaTooBig, read_schema


class Sign(msgspec.Struct):
    name: Literal["cough", "fever"]
    days: Annotated[int, msgspec.Meta(ge=0, le=99)]
    certain: bool


class Brief(msgspec.Struct):
    d: Annotated[tuple[Literal[1, 2, 3, 4, 5, 6, 7, 8, 9], ...], msgspec.Meta(max_length=2)]


class Verdict(msgspec.Struct):
    signs: Annotated[tuple[Sign, ...], msgspec.Meta(min_length=1, max_length=2)]
    risk: float
    triage: Literal["home", "ward"] | None = None


class Ask(msgspec.Struct, tag="ask"):
    question: Annotated[str, msgspec.Meta(max_length=200)]


class Stop(msgspec.Struct, tag="stop"):
    reason: str


class Turn(msgspec.Struct):
    action: Ask | Stop


SCHEMAS: dict[str, Any] = {
    "verdict": Verdict,
    "turn": Turn,
    "enum": Literal["Continue", "Terminate", "Complete"],
    "ids": tuple[Literal["e1", "e2", "e3"], ...],
    "quotes": Literal['say "ah"', "back\\slash", "été"],
    "numbers": tuple[float, ...],
    "nested": tuple[tuple[bool, ...], ...],
}


def _schema(kind: Any) -> str:
    return msgspec.json.encode(msgspec.json.schema(kind)).decode()


def test_object_is_written_in_declared_order_without_blanks() -> None:
    lines = write_grammar(_schema(Sign)).splitlines()
    assert lines == [
        r'r0 ::= "{\"name\":" ( "\"cough\"" | "\"fever\"" ) ",\"days\":" ( ( "0" | [1-9] [0-9]{0,14} ) )'
        r' ",\"certain\":" ( "true" | "false" ) "}"',
        "root ::= r0",
    ]


def test_list_bounds_are_in_the_grammar() -> None:
    assert '"[" r0 ( "," r0 ){0,1} "]"' in write_grammar(_schema(Verdict))
    assert f'( "," string ){{0,{MOST_ITEMS - 1}}}' in write_grammar(_schema(tuple[str, ...]))


def test_text_length_is_not_expanded() -> None:
    """Five fields of 2,000 characters made an 80 kB grammar that crashed the parser."""
    long = msgspec.defstruct("Long", [(f"f{i}", Annotated[str, msgspec.Meta(max_length=2000)]) for i in range(5)])
    assert len(write_grammar(_schema(long))) < 400


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "array", "items": {"type": "string"}, "maxItems": 33},
        {"type": "array", "prefixItems": [{"type": "string"}]},
        {"type": "magic"},
        {"$ref": "#/$defs/Loop", "$defs": {"Loop": {"type": "array", "items": {"$ref": "#/$defs/Loop"}}}},
        {
            "anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}},
                {"type": "object", "properties": {"b": {"type": "string"}}},
            ]
        },
        {"enum": ["x" * 17_000]},
    ],
    ids=["mapping", "long list", "fixed list", "unknown type", "recursion", "untagged union", "bytes"],
)
def test_what_is_outside_the_subset_is_a_bug(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaTooBig):
        write_grammar(json.dumps(schema))


def test_too_many_rules_are_a_bug() -> None:
    fields = [(f"f{i}", tuple[Literal[f"v{i}"], ...]) for i in range(70)]  # type: ignore[valid-type]
    with pytest.raises(SchemaTooBig, match="72 rules"):
        write_grammar(_schema(msgspec.defstruct("Wide", fields)))


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (Verdict, {"signs": [{"name": "fever", "days": 3, "certain": True}], "risk": 0.5, "triage": None}, None),
        (Verdict, {"signs": [], "risk": 0.5, "triage": None}, "$.signs: expected 1 to 2 items"),
        (
            Verdict,
            {"signs": [{"name": "gout", "days": 3, "certain": True}], "risk": 1, "triage": "home"},
            "$.signs[0].name: none of the allowed values",
        ),
        (Sign, {"name": "fever", "days": 100, "certain": True}, "$.days: out of range"),
        (Sign, {"name": "fever", "days": True, "certain": True}, "$.days: expected a whole number"),
        (Sign, {"name": "fever", "days": 1}, "$: missing or unknown properties"),
        (Turn, {"action": {"type": "ask", "question": "x" * 201}}, "$.action.question: text of the wrong length"),
        (Turn, {"action": 4}, "$.action: none of the allowed forms"),
        (Turn, {"action": {"type": "stop", "reason": "done"}}, None),
    ],
)
def test_checker_names_the_place_and_never_the_value(kind: Any, value: Any, problem: str | None) -> None:
    assert read_schema(_schema(kind)).problem(value, "$") == problem


def test_checker_agrees_with_msgspec() -> None:
    """What our checker lets pass, msgspec decodes into the struct; what it refuses, msgspec refuses."""
    values = [{"name": name, "days": days, "certain": sure} for name in ("fever", 1) for days in (0, -1, 99, 100, 1.5)
              for sure in (True, 0)]  # fmt: skip
    for value in values:
        text = json.dumps(value)
        try:
            msgspec.json.decode(text, type=Sign)
            fits = True
        except msgspec.ValidationError:
            fits = False
        assert (parse_reply(text, _schema(Sign))[1] is None) == fits, text


def test_parsed_reply_is_canonical() -> None:
    text = '{"name":"fever","days":3,"certain":false}'
    assert parse_reply(text, _schema(Sign)) == ('{"certain":false,"days":3,"name":"fever"}', None)
    assert parse_reply('{"name":"fe', _schema(Sign)) == (None, "$: not complete JSON")


# ------------------------------------------------------------------------------------------------ on real weights


def _product_schemas() -> dict[str, str]:
    """The argument struct of every tool: what a model fills in to call it."""
    found: dict[str, str] = {}
    for module in pkgutil.walk_packages(tools.__path__, "tools."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, RegisteredTool):
                found[value.name] = _schema(value.arguments)
    return found


def _flat(engine: Engine) -> Logits:
    """Logits that prefer no token."""
    return np.zeros(engine.n_vocab, dtype=np.float32)


@pytest.mark.weights
def test_every_schema_makes_a_grammar_that_the_parser_takes(engine: Engine) -> None:
    """Acceptance 6: all constructs of the subset, and every tool of the product."""
    own = {name: _schema(kind) for name, kind in SCHEMAS.items()}
    product = _product_schemas()
    assert "calculator" in product
    for name, schema in (own | product).items():
        sampler = engine.sampler(Sampling(seed=1), 1, write_grammar(schema))
        first = engine.piece(sampler.draw(_flat(engine)))
        sampler.close()
        assert first[:1] in b'{["-0123456789', f"{name}: a value may not begin with {first!r}"


MALFORMED = [
    'root = "a"',
    "root",
    "root ::= undefined",
    'root ::= "open',
    "root ::= [a-z",
    'root ::= ( "a"',
    'rooot ::= "a"',
    'root ::= root "a"',
    'root ::= a\na ::= b\nb ::= a "x"',
    'root ::= "a"{2,1',
]


@pytest.mark.weights
@pytest.mark.parametrize("text", MALFORMED)
def test_malformed_grammar_is_refused_before_use(engine: Engine, text: str) -> None:
    """Acceptance 6: 10 of 10 raise, none reaches sampling."""
    with pytest.raises(BugError, match="refused by its parser"):
        engine.sampler(Sampling(seed=1), 1, text)


def _sampled(engine: Engine, kind: Any, *, n: int, seed: int, room: int) -> list[Draft]:
    prompt = "<|im_start|>user\nFever and cough for a week. Answer as JSON.<|im_end|>\n<|im_start|>assistant\n"
    engine.set_prefix(engine.tokenize(prompt, markup=True))
    sampling = Sampling(seed=seed, temperature=1.0, max_tokens=room)
    return sample(engine, sampling, n, grammar=write_grammar(_schema(kind)))


@pytest.mark.weights
def test_two_hundred_sampled_objects_parse(engine: Engine) -> None:
    """Acceptance 6: 200 of 200 end by themselves and have the form."""
    drafts = _sampled(engine, Brief, n=200, seed=6, room=32)
    assert [draft.finish for draft in drafts] == ["stop"] * 200
    assert [problem for draft in drafts if (problem := _form_problem(draft.text, _schema(Brief)))] == []
    assert len({draft.text for draft in drafts}) > 12
    assert 0 < sum(draft.sampler.rejected for draft in drafts) < sum(len(draft.tokens) for draft in drafts)


@pytest.mark.weights
def test_sampled_nested_objects_parse(engine: Engine) -> None:
    drafts = _sampled(engine, Verdict, n=6, seed=7, room=120)
    assert [problem for draft in drafts if (problem := _form_problem(draft.text, _schema(Verdict)))] == []


def _form_problem(text: str, schema: str) -> str | None:
    """None where the text has the form; number ranges are no part of a grammar."""
    problem = parse_reply(text, schema)[1]
    return None if problem is None or problem.endswith("out of range") else problem


@pytest.mark.weights
def test_grammar_first_and_lazy_agree_when_greedy(engine: Engine) -> None:
    """At temperature 0 the lazy rule must give what masking every token would give."""
    grammar = write_grammar(_schema(Sign))
    engine.set_prefix(engine.tokenize("A sign of illness as JSON: "))
    [draft] = sample(engine, Sampling(seed=1, temperature=0.0, max_tokens=40), 1, grammar=grammar)
    sampler = engine.sampler(Sampling(seed=1, temperature=0.0), 1, grammar)
    try:
        logits = engine.prefix_logits
        first = sampler._choose(logits, grammar_first=True)
    finally:
        sampler.close()
    assert draft.tokens[0] == first
    assert parse_reply(draft.text, _schema(Sign))[1] in (None, "$.days: out of range")
