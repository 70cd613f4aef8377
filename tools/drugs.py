"""DrugLookup: what an installed label or formulary says of a drug. A thin tool over `Terminology`; knows no case."""

from __future__ import annotations

from typing import Annotated

import msgspec

from core import codec
from core.domain.action import ToolResult
from core.domain.terminology import DrugFound, DrugMatch, NotFound
from core.runtime.registry import ToolContext, refusal, tool
from tools.excerpt import asked, entry_evidence, not_found, shares

LONGEST = 1_800  # characters of the observation
_NAMES = 300  # characters of other names in it


class DrugName(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Arguments of DrugLookup."""

    drug_name: Annotated[str, msgspec.Meta(max_length=120, description="One drug's name, at most 120 characters.")]


class DrugTold(msgspec.Struct, frozen=True, kw_only=True):
    """The tool's `data`: the whole entry, and how its name was matched."""

    name: str
    matched_as: str
    match: DrugMatch
    description: str
    state: str
    indication: str
    dosages: tuple[str, ...]
    contraindication: str
    interaction: str
    synonyms: tuple[str, ...]
    source: str
    version: str


@tool(name="DrugLookup", version="1", dimension="Knowledge", paper_name="DrugBank")
def drug_lookup(arguments: DrugName, context: ToolContext) -> ToolResult:
    """Look up `drug_name`: use, doses, contraindications, interactions as the installed label or formulary says."""
    name = asked("DrugLookup", arguments.drug_name)
    if context.terminology is None or not context.terminology.holds_drugs():
        raise refusal("DrugLookup", "not_installed", "no label or formulary is installed")
    found = context.terminology.drug(name)
    if isinstance(found, NotFound):
        raise not_found("DrugLookup", "no drug has this name", found.near)
    drug = found.drug
    told = DrugTold(
        name=drug.name,
        matched_as=found.matched_as,
        match=found.how,
        description=drug.description,
        state=drug.state,
        indication=drug.indication,
        dosages=drug.dosage,
        contraindication=drug.contraindication,
        interaction=drug.interaction,
        synonyms=found.synonyms,
        source=found.source,
        version=found.version,
    )
    text = _text(found)
    evidence = entry_evidence(1, text, found.origin)
    return ToolResult(text=text, data=codec.encode(told).decode(), evidence=(evidence,))


def _text(found: DrugFound) -> str:
    drug = found.drug
    doubt = "; check that this is the drug that is meant" if found.how in ("prefix", "fuzzy") else ""
    head = f"{drug.name} (matched as {found.matched_as}, {found.how}{doubt}; {found.source} {found.version})"
    names = [name for n, name in enumerate(found.synonyms) if sum(map(len, found.synonyms[: n + 1])) + 2 * n <= _NAMES]
    parts = [
        ("Contraindication", drug.contraindication),
        ("Dosage", " ".join(drug.dosage)),
        ("Indication", drug.indication),
        ("Interaction", drug.interaction),
        ("Description", f"{drug.description} {drug.state}".strip()),
        ("Other names", ", ".join(names)),
    ]
    said = [(label, text) for label, text in parts if text]
    room = LONGEST - len(head[:600]) - sum(len(label) + 3 for label, _ in said)
    texts = shares([text for _, text in said], "", each=LONGEST, room=room)
    return "\n".join([head[:600], *(f"{label}: {text}" for (label, _), text in zip(said, texts, strict=True))])
