"""How long an edition holds, what another one changes, and what is found in which state."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

from core.domain.ports import Query
from core.errors import UserError
from core.retrieval.editions import (
    Calendar,
    Part,
    checked_date,
    compare,
    due,
    expires_on,
    is_searched,
    parse_date,
    remark,
)
from core.retrieval.guidelines import GuidelineRetriever
from core.retrieval.index import PassageIndex
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import PackState
from tests.helpers.shelf import doc, open_store, pack, sentences


def on(day: str, **fields: int) -> Calendar:
    return Calendar(lambda: date.fromisoformat(day), **fields)


# ------------------------------------------------------------------------------------------------------------ dates


@pytest.mark.parametrize(
    ("fields", "day"),
    [
        ({"expires_on": "2027-03-31", "review_by": "2020-01-01", "issued_on": "2019-01-01"}, "2027-03-31"),
        ({"review_by": "2026-02-28"}, "2027-02-28"),
        ({"review_by": "2024-02-29"}, "2025-02-28"),  # no 29th of February a year on
        ({"issued_on": "2020-02-29"}, "2025-02-28"),
        ({"issued_on": "2021-05"}, "2026-05-01"),
        ({"issued_on": "2021"}, "2026-01-01"),
        ({"issued_on": "2021", "kind": "vocabulary"}, None),
        ({"expires_on": "2027", "kind": "vocabulary"}, "2027-01-01"),
        ({"issued_on": "May 2021"}, None),
        ({}, None),
    ],
)
def test_until_when_an_edition_holds(fields: dict[str, str], day: str | None) -> None:
    found = expires_on(pack(**fields))
    assert (found.isoformat() if found else None) == day


def test_dates_as_persons_write_them() -> None:
    assert parse_date(" 2026-03-31 ") == date(2026, 3, 31)
    assert [parse_date(text) for text in ("2026-02-30", "31.3.2026", "0000", "2026-1-1", "")] == [None] * 5
    assert checked_date("", "its end") == ""
    with pytest.raises(UserError, match=r"'soon' is no date for its end\. Write it as 2026-03-31"):
        checked_date("soon", "its end")


def test_the_day_itself_still_holds_and_grace_ends_after_ninety() -> None:
    one = pack(expires_on="2026-03-31")
    assert due([one], on("2026-03-31")) == ()
    assert due([one], on("2026-04-01")) == (("lib", "2026-03-31"),)
    over = pack(expires_on="2026-03-31", state="expired")
    assert due([over], on("2026-04-01")) == ()
    assert is_searched(over, on("2026-06-29"))  # 31 March + 90 days
    assert not is_searched(over, on("2026-06-30"))
    assert not is_searched(over, None)
    assert not is_searched(pack(state="expired"), on("2026-04-01"))  # without a date there is no grace to reckon


def test_what_is_said_of_an_edition() -> None:
    one = pack(edition="2021", expires_on="2026-03-31")
    assert remark(one, [], on("2026-01-29")) == ""
    assert remark(one, [], on("2026-01-30")) == "This guideline edition (2021) expires on 2026-03-31."
    states: tuple[PackState, ...] = ("draft", "superseded", "expired", "withdrawn", "quarantined")
    newer = pack("next", edition="2026", replaces="lib")
    said = [remark(pack(edition="2021", expires_on="2026-03-31", state=s), [newer], on("2026-01-01")) for s in states]
    assert said == [
        "",
        "This guideline edition (2021) is superseded by 2026",
        "This guideline edition (2021) expired on 2026-03-31.",
        "This guideline edition (2021) is withdrawn.",
        "This guideline edition (2021) is damaged on this computer.",
    ]


# --------------------------------------------------------------------------------------------------- what changed


def told(old: list[Part], new: list[Part]) -> list[tuple[str, str]]:
    return [(change.verdict, change.path) for change in compare(old, new)]


LONG = "Give the drug in the morning with a glass of water, and look at the kidneys after one week and again later. "


def test_sections_are_the_same_changed_added_or_removed() -> None:
    rng = random.Random(3)
    old = [
        Part("G", "A", LONG),
        Part("G", "B", sentences(rng, 4)),
        Part("G", "C", sentences(rng, 4)),
        Part("G", "D", sentences(rng, 4)),
    ]
    new = [
        Part("G", "A", LONG.replace("glass", "cup")),
        Part("G", "B", sentences(rng, 4)),
        Part("G", "New name of C", old[2].text),
        Part("G", "E", sentences(rng, 4)),
    ]
    assert told(old, new) == [
        ("same", "A"), ("changed", "B"), ("same", "New name of C"), ("added", "E"), ("removed", "D"),
    ]  # fmt: skip
    assert told(old, old) == [("same", part.path) for part in old]
    assert told([], new) == [("added", part.path) for part in new]
    assert told(old, []) == [("removed", part.path) for part in old]


def test_another_number_is_a_change_however_alike_the_rest_is() -> None:
    before, after = (
        LONG + "Dose: 5 mg twice a day, 2.5 mg at night.",
        LONG + "Dose: 50 mg twice a day, 2.5 mg at night.",
    )
    (change,) = compare([Part("G", "Dose", before)], [Part("H", "Dose", after)])
    assert (change.verdict, change.numbers) == ("changed", "5 → 50")
    assert change.similar > 99


def test_equal_headings_of_several_documents_go_together_by_document() -> None:
    old = [Part("Gout", "Treatment", "Cold packs help."), Part("Asthma", "Treatment", "Inhaled drugs help.")]
    new = [Part("Asthma", "Treatment", "Inhaled drugs help."), Part("Gout", "Treatment", "Cold packs help.")]
    assert told(old, new) == [("same", "Treatment")] * 2


# ------------------------------------------------------------------------------------------------------ what is found

Search = Callable[..., set[str]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path)
    for state in ("draft", "active", "superseded", "expired", "withdrawn", "quarantined"):
        made = pack(state, state=state, expires_on="2026-03-31" if state == "expired" else "")
        opened.put_pack(made, [doc("a", f"Fever of the {state} kind.", title=state)], actor="me")
    yield opened
    opened.close()


@pytest.fixture
def search(store: KnowledgeStore, tmp_path: Path) -> Search:
    index = PassageIndex(tmp_path / "index", store)

    def found(calendar: Calendar | None = None, **scope: object) -> set[str]:
        retriever = GuidelineRetriever(store, index, calendar=calendar)
        asked = Query(text="fever", k=9)
        result = retriever.search_in(asked, **scope) if scope else retriever.search(asked)  # type: ignore[arg-type]
        return {passage.pack for passage in result.passages}

    return found


def test_only_active_packs_are_found_unless_older_ones_are_asked_for(search: Search) -> None:
    assert search() == {"active"}
    assert search(also_superseded=True) == {"active", "superseded", "expired"}
    assert search(packs=("active", "superseded")) == {"active"}
    assert search(packs=("superseded",), also_superseded=True) == {"superseded"}
    assert search(packs=("draft",)) == set()
    with pytest.raises(UserError, match="no knowledge pack nowhere"):
        search(packs=("nowhere",))


def test_an_expired_pack_is_found_for_the_days_of_grace(search: Search) -> None:
    assert search(on("2026-06-29")) == {"active", "expired"}
    assert search(on("2026-06-30")) == {"active"}
    assert search(on("2026-04-10", grace_days=5)) == {"active"}


def test_the_day_alone_makes_a_search_expire_what_is_over(store: KnowledgeStore, tmp_path: Path) -> None:
    store.put_pack(pack("short", expires_on="2026-01-10"), [doc("a", "Rash.", title="rash")], actor="me")
    today = date(2026, 1, 10)
    retriever = GuidelineRetriever(store, PassageIndex(tmp_path / "i", store), calendar=Calendar(lambda: today))
    assert len(retriever.search_text("rash").passages) == 1
    states = []
    for today in (date(2026, 1, 11), date(2026, 4, 11)):  # noqa: B007 - the calendar reads it
        found = retriever.search_text("rash").passages
        held = store.pack("short")
        assert held is not None
        states.append((held.state, len(found)))
    assert states == [("expired", 1), ("expired", 0)]
    assert store.verify() == ()
