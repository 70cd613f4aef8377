"""An infection and the sepsis that it leads to: how two conditions that explain the same findings share them.

direct.md section 3: a finding counts for what explains it. Sepsis is infection with failing organs (Singer 2016): the
infection that the case shows is its source, and speaks for it. What that infection explains by itself, such as fever
and a raised C-reactive protein in pneumonia, is counted with the infection and not again for sepsis, unless there is
what no local infection explains: a failing circulation. Pure and order-free; which conditions these are stands in the
condition file (`arises_from`, `beyond_source`).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.runtime import weighing
from core.runtime.ledger import Ledger, Standing
from core.runtime.weighing import Scored, Weight
from core.settings import Weighing

SOURCE = "WR:infection-source"


def settle(scored: Sequence[Scored], ledger: Ledger, weights: Weighing) -> tuple[Scored, ...]:
    """The candidates in their order, with what arises from another of them weighed beside its source."""
    rows = []
    for one in scored:
        source = _source(one, scored, weights) if one.condition.arises_from else None
        rows.append(one if source is None else _beside(one, source, ledger, weights))
    return tuple(rows)


def _source(one: Scored, scored: Sequence[Scored], weights: Weighing) -> Scored | None:
    """The best supported source of a condition among the candidates; None where none stands on findings of its own."""
    general = {weight.clue.concept for weight in one.weights if weight.clue.strength != "against"}
    standing = [
        other
        for other in scored
        if other.condition.slug in one.condition.arises_from
        and other.excluded is None
        and other.structural >= weights.least_score
        and _local(other, general)
    ]
    return max(standing, key=lambda s: (s.structural, s.condition.slug), default=None)


def _local(source: Scored, general: set[str]) -> tuple[Weight, ...]:
    """The hallmarks and typical findings of an infection that are not those of any."""
    return tuple(
        weight
        for weight in source.weights
        if weight.clue.strength in ("hallmark", "typical") and weight.supports and weight.clue.concept not in general
    )


def _beside(one: Scored, source: Scored, ledger: Ledger, weights: Weighing) -> Scored:
    """A condition beside its source: the source is a clue of it, and shared findings count once."""
    is_beyond = any(ledger.has(concept) for concept in one.condition.beyond_source)
    shared = {weight.clue.concept for weight in source.weights if weight.contribution > 0 or weight.within}
    general = {weight.clue.concept for weight in one.weights}
    seen = tuple(dict.fromkeys(found for weight in _local(source, general) for found in weight.standing.findings))
    rows = []
    for row in one.weights:
        if row.clue.concept == SOURCE and row.standing.state == "unknown" and seen:
            standing = Standing("present", seen)
            rows.append(
                msgspec.structs.replace(
                    row,
                    standing=standing,
                    contribution=weighing.contribution(row.clue, standing, weights),
                    witnesses=ledger.concepts(seen),
                )
            )
        elif row.contribution > 0 and row.clue.concept in shared and not is_beyond:
            rows.append(msgspec.structs.replace(row, contribution=0.0, within=source.condition.concept))
        else:
            rows.append(row)
    return weighing.rescored(one, rows, weights)
