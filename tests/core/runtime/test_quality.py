"""The input-quality card: nothing that was there and not used goes unsaid."""

from __future__ import annotations

import msgspec

from core.domain.case import ImageRef, SeriesRef, Unread
from core.runtime import findings, quality
from tests.helpers import workup

SERIES = SeriesRef(
    id="s1", title="CT chest", study_uid="1", series_uid="2", modality="CT", instances=3, sha256="1" * 64,
    preview_sha256="", warnings=("2 of 5 slices are missing",),
)  # fmt: skip
FILM = ImageRef(id="p1", title="film.png", sha256="1" * 64, preview_sha256="2" * 64, width=1, height=1)


def card(
    *items: object, unread: tuple[Unread, ...] = (), text: str = "A 70-year-old man with cough."
) -> list[tuple[str, str]]:
    case = msgspec.structs.replace(workup.case_of(workup.note(text)), unread=unread)
    case = msgspec.structs.replace(case, items=(*case.items, *items))  # type: ignore[arg-type]
    found = findings.perceive(case, workup.known())
    return [(item.kind, item.text) for item in quality.card(case, found)]


def test_what_was_not_read_comes_first_with_its_reason() -> None:
    assert card(FILM, unread=(Unread("a.xyz", "unknown kind"),)) == [
        ("not read", "a.xyz: unknown kind"),
        ("picture", "film.png: present, not analysed"),
    ]


def test_a_series_says_what_is_wrong_with_it() -> None:
    assert card(SERIES) == [
        ("picture", "CT chest: present, not analysed"),
        ("series", "CT chest: 2 of 5 slices are missing"),
        ("decode failure", "Image could not be decoded: CT chest, no readable slice; not analysed"),
    ]


def test_a_value_that_was_not_interpreted_is_named_with_its_unit() -> None:
    (row,) = card(text="A 70-year-old man. HR 800.")
    assert row == ("value", "Heart rate 800/min: implausible as written")


def test_the_same_remark_is_made_once() -> None:
    assert len(card(text="A 70-year-old man. HR 800. Later HR 800 again.")) == 1


def test_what_a_sound_work_up_would_have_is_named() -> None:
    def lacking(text: str, labs: str = "") -> tuple[str, ...]:
        items = [workup.note(text)] if text else []
        case = workup.case_of(*items, *([workup.table(labs)] if labs else []))
        return quality.unavailable(case, findings.perceive(case, workup.known()))

    labs = "test,value,unit,reference_low,reference_high\nPotassium,4.1,mmol/L,3.5,5.3\n"
    assert lacking("") == ("clinical notes", "laboratory values", "vital signs", "age and sex")
    assert lacking("A 70-year-old man, HR 80.") == ("laboratory values",)
    assert lacking("A 70-year-old man, HR 80.", labs) == ()
    assert lacking("HR 80. Potassium 6.1 mmol/L.") == ("age and sex",)
    assert lacking("HR 80. K 7.2 mmol/L, creatinine 150 umol/L.") == ("age and sex",)
    assert lacking("A 70-year-old man, HR 80. GCS 15.") == ("laboratory values",)


def test_how_often_a_value_is_written_is_no_remark_on_it() -> None:
    assert card(text="A 70-year-old man. " + "HR 80. Aspirin 75 mg. " * 5) == []
    assert card(text="A 70-year-old man. " + "HR 800. " * 5) == [
        ("value", "Heart rate 800/min: implausible as written")
    ]
