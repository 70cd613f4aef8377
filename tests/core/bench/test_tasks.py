"""Which rows may be learnt from: groups, buckets by hand, official splits, the refusal, and what a report says."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest

from core.bench import tasks
from core.bench.loaders import ehr, entities, mcq, medcalc
from core.bench.tasks import Loaded, Part, Purpose, bucket_of, find_set, load, rows_for, state
from core.errors import EXIT_ACT, UserError, exit_code
from tests.helpers import upstream_sets as sets

PURPOSES: tuple[Purpose, ...] = ("experience memory", "demonstrations", "thresholds")
LISTED = ("medcalc", "medcalc_one_shot", "medqa", "mmlu", "bioasq", "pubmedqa", "ehrsql", "ncbi_disease")
MEDQA = [sets.question(f"What of {n}?") for n in range(4)]


def unlisted(key: str, folder: Path) -> Loaded:
    """Loaded by the rule of buckets alone: rows of ours stand in no list of what is here."""
    known = msgspec.structs.replace(find_set(key), listed=False)
    rows = tuple(known.load(folder))
    return Loaded(set=known, rows=rows, places=tasks.place_rows(known, rows))


def medcalc_of(folder: Path, *rows: dict[str, str]) -> Loaded:
    sets.put(folder, medcalc.ROWS, sets.table(rows))
    return unlisted("medcalc", folder)


def medqa_of(folder: Path, rows: dict[str, object]) -> Loaded:
    sets.put(folder, mcq.MIRAGE, {"medqa": rows})
    return unlisted("medqa", folder)


def parts(loaded: Loaded) -> dict[str, Part]:
    return {place.id: place.part for place in loaded.places}


def groups(loaded: Loaded) -> dict[str, str]:
    return {place.id: place.group for place in loaded.places}


# ------------------------------------------------------------------------------------------------ groups and buckets


@pytest.mark.parametrize(("group", "bucket"), [("night-heron", 4), ("7001", 74)])
def test_buckets_by_hand(group: str, bucket: int) -> None:
    """`printf '%s' ID | sha256sum`, the hexadecimal number divided by 100 with `bc`: what remains."""
    assert bucket_of(group) == bucket


def test_notes_of_one_text_or_number_are_one_group(tmp_path: Path) -> None:
    """A number that is all digits only counts rows; groups go through several rows; case and signs do not part."""
    loaded = medcalc_of(
        tmp_path,
        sets.calculation("5001", "A tall man; he coughs."),
        sets.calculation("5002", "Another.", **{"Note ID": "pmc-1-1"}),
        sets.calculation("5003", "a TALL man - he coughs", **{"Note ID": "pmc-9-9"}),
        sets.calculation("5004", "A third.", **{"Note ID": "pmc-9-9"}),
        sets.calculation("5005", "Alone.", **{"Note ID": "7"}),
        sets.calculation("5006", "Alone as well.", **{"Note ID": "7"}),
    )
    assert groups(loaded) == {
        "5001": "5001", "5002": "5002", "5003": "5001", "5004": "5001", "5005": "5005", "5006": "5006",
    }  # fmt: skip
    assert [place.bucket for place in loaded.places] == [43, 92, 43, 43, 65, 14]
    assert [row for row, part in parts(loaded).items() if part != "apart"] == ["5006"]


def test_two_groups_that_a_later_row_joins_are_one(tmp_path: Path) -> None:
    loaded = medcalc_of(
        tmp_path,
        sets.calculation("5003", "One.", **{"Note ID": "a-1"}),
        sets.calculation("5006", "Two.", **{"Note ID": "a-2"}),
        sets.calculation("5007", "Two.", **{"Note ID": "a-1"}),
    )
    assert set(groups(loaded).values()) == {"5003"}


def test_the_order_of_the_file_does_not_change_groups(tmp_path: Path) -> None:
    rows = [sets.calculation("5002", "Same."), sets.calculation("5006", "Same.")]
    for given in (rows, rows[::-1]):
        assert parts(medcalc_of(tmp_path, *given)) == {"5002": "apart", "5006": "apart"}


def test_questions_of_one_text_are_one_group(tmp_path: Path) -> None:
    same, other = sets.question("Which, then?"), sets.question("which then")
    loaded = medqa_of(tmp_path, {"otter-3": same, "5003": MEDQA[0], "5001": other})
    assert groups(loaded) == {"otter-3": "otter-3", "5003": "5003", "5001": "otter-3"}
    assert parts(loaded) == {"otter-3": "dev", "5003": "train", "5001": "dev"}


def test_groups_by_exception(tmp_path: Path) -> None:
    """Two of MedCalc's groups are here, and whatever is grouped with row 373 is not, even behind a row that were."""
    loaded = medcalc_of(
        tmp_path,
        sets.calculation("191", "Here."),
        sets.calculation("801", "Here too."),
        sets.calculation("5003", "Nearly."),
        sets.calculation("6000", "Nearly."),
    )
    assert parts(loaded) == {"191": "train", "801": "train", "5003": "train", "6000": "train"}
    behind = [sets.calculation("372", "Nearly."), sets.calculation("373", "Nearly.")]
    assert bucket_of("372") < tasks.HERE_BELOW
    assert parts(medcalc_of(tmp_path, *behind)) == {"372": "apart", "373": "apart"}
    assert parts(medqa_of(tmp_path, {"191": MEDQA[0], "372": MEDQA[1]})) == {"191": "apart", "372": "train"}


# -------------------------------------------------------------------------------------------- rows known to be here


def test_what_is_not_known_to_be_here_is_apart(tmp_path: Path) -> None:
    """Rows of ours stand in no list: from none may be learnt, also where their own number has a bucket below 40."""
    sets.write_all(tmp_path)
    keys = {known.key for known in tasks.SETS} - {"mimic_iii", "eicu"}
    assert len(keys) == 9
    for key in keys:
        assert set(parts(load(key, tmp_path)).values()) == {"apart"}, key
    assert set(parts(unlisted("medcalc", tmp_path)).values()) == {"train"}
    test = sets.ASKED | {"split": "test", "id": "t1", "question": "How old?"}
    sets.put(tmp_path, ehr.EICU, [sets.ASKED, test])
    assert parts(load("eicu", tmp_path))["t1"] == "apart"
    assert parts(load("eicu", tmp_path))["b1"] in ("train", "dev")


@pytest.mark.data
def test_another_version_of_a_set_is_not_taken_for_this_one(data: Path, tmp_path: Path) -> None:
    """Later versions number anew: the number of a row that is here with another note is another row."""
    here = medcalc.load_medcalc(data)[0]
    sets.put(tmp_path, medcalc.ROWS, sets.table([sets.calculation(here.id, here.note)]))
    assert set(parts(load("medcalc", tmp_path)).values()) == {"train"}
    sets.put(tmp_path, medcalc.ROWS, sets.table([sets.calculation(here.id, "Another note.")]))
    assert set(parts(load("medcalc", tmp_path)).values()) == {"apart"}


@pytest.fixture(scope="module")
def here(data: Path) -> dict[str, Loaded]:
    """Every set of the data folder; MIRAGE's form of PubMedQA, its official test set, is not there."""
    return {known.key: load(known.key, data) for known in tasks.SETS if known.key != "mirage_pubmedqa"}


@pytest.mark.data
@pytest.mark.parametrize("key", LISTED)
def test_the_lists_are_those_of_the_data_folder(key: str, here: dict[str, Loaded]) -> None:
    loaded = here[key]
    assert {tasks.fingerprint(row) for row in loaded.rows} == tasks._listed(key)
    assert len(tasks._listed(key)) == len(loaded.rows)


@pytest.mark.data
def test_an_official_test_id_is_refused(data: Path, tmp_path: Path) -> None:
    """Within the whole file, as a person would download it: 12377809 is an id of PubMedQA's official test."""
    rows = json.loads((data / mcq.PUBMEDQA).read_bytes())
    sets.put(tmp_path, mcq.PUBMEDQA, rows | {"12377809": sets.ARTICLE})
    loaded = load("pubmedqa", tmp_path)
    for purpose in PURPOSES:
        assert len(rows_for(purpose, loaded, rows)) == 500
        with pytest.raises(UserError, match=r"^Of PubMedQA, 1 of 1 row is kept apart for acceptance \(12377809\); no "):
            rows_for(purpose, loaded, ["12377809"])
        with pytest.raises(UserError, match="1 of 501 rows are kept apart"):
            rows_for(purpose, loaded)


# --------------------------------------------------------------------------------------------------- the refusal


def test_the_refusal_is_one_sentence_and_exit_code_1(tmp_path: Path) -> None:
    rows = {f"50{n:02}": sets.question(f"Question {n}?") for n in range(1, 13)}
    loaded = medqa_of(tmp_path, rows)
    assert [row for row, part in parts(loaded).items() if part == "train"] == ["5003", "5006", "5011"]
    with pytest.raises(UserError) as caught:
        rows_for("experience memory", loaded)
    assert caught.value.text == (
        "Of MedQA of MIRAGE, 9 of 12 rows are kept apart for acceptance (5001, 5002, 5004, 5005, 5007 and others); "
        "no experience memory may be written from them."
    )
    assert (caught.value.code, exit_code(caught.value)) == ("bench_apart", EXIT_ACT)
    assert [row.id for row in rows_for("thresholds", loaded, ("5006", "5003", "5006"))] == ["5003", "5006"]
    with pytest.raises(UserError, match="has no row 9999"):
        rows_for("thresholds", loaded, ["9999"])
    with pytest.raises(UserError, match="There is no set medquad; there are medcalc, "):
        load("medquad", tmp_path)


@pytest.fixture(scope="module")
def planted(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Loaded, list[str], list[str]]:
    """The real file with twenty rows of ours among it whose ids have buckets 40-99; twenty of its own as controls."""
    folder = tmp_path_factory.mktemp("planted")
    content = (data / medcalc.ROWS).read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(content, newline="")))
    apart = [str(number) for number in range(2000, 2100) if bucket_of(str(number)) >= tasks.HERE_BELOW][:20]
    own = [sets.calculation(number, f"An invented note, the {number}th.") for number in apart]
    mixed = [row for pair in zip(rows, own, strict=False) for row in pair] + rows[len(own) :]
    sets.put(folder, medcalc.ROWS, sets.table(mixed))
    benign = [row["Row Number"] for row in rows if bucket_of(row["Row Number"]) < tasks.HERE_BELOW][:20]
    return load("medcalc", folder), apart, benign


@pytest.mark.data
@pytest.mark.parametrize("purpose", PURPOSES)
def test_twenty_planted_rows_are_refused_and_twenty_others_not(
    planted: tuple[Loaded, list[str], list[str]], purpose: Purpose
) -> None:
    loaded, apart, benign = planted
    assert (len(loaded.rows), len(apart), len(benign)) == (436, 20, 20)
    refused = 0
    for row in apart:
        with pytest.raises(UserError, match=rf"1 of 1 row is kept apart for acceptance \({row}\); no {purpose} may"):
            rows_for(purpose, loaded, [row])
        with pytest.raises(UserError, match="1 of 21 rows"):
            rows_for(purpose, loaded, [*benign, row])
        refused += 1
    assert refused == 20
    with pytest.raises(UserError, match="20 of 436 rows"):
        rows_for(purpose, loaded)
    assert [[row.id for row in rows_for(purpose, loaded, [one])] for one in benign] == [[one] for one in benign]


@pytest.mark.data
def test_control_without_the_rule_the_planted_rows_are_written(planted: tuple[Loaded, list[str], list[str]]) -> None:
    real, apart, _ = planted
    open_set = msgspec.structs.replace(find_set("medcalc"), here_below=tasks.BUCKETS, listed=False)
    loaded = Loaded(set=open_set, rows=real.rows, places=tasks.place_rows(open_set, real.rows))
    assert [row.id for row in rows_for("demonstrations", loaded, apart)] == sorted(apart, key=int)


# ------------------------------------------------------------------------------------------------- the real files


@pytest.mark.data
def test_buckets_of_every_row_here(here: dict[str, Loaded]) -> None:
    """0-39 but for the groups that are here by exception: 100 % of MedCalc's and MIRAGE's rows."""
    outside = {}
    for key, count in (("medcalc", 416), ("medqa", 484), ("mmlu", 486), ("bioasq", 235)):
        loaded = here[key]
        assert len(loaded.places) == count
        outside.update({(key, place.group): place.bucket for place in loaded.places if place.bucket >= 40})
        expected = {(True, "train"), (False, "dev")}
        assert {(p.bucket < 30, p.part) for p in loaded.places if p.group not in tasks.HERE_THOUGH} == expected
    assert outside == {("medcalc", "191"): 98}
    assert set(groups(here["medcalc"]).values()) >= tasks.HERE_THOUGH


@pytest.mark.data
def test_every_set_here_may_be_learnt_from_and_says_so(here: dict[str, Loaded]) -> None:
    assert len(here) == 10
    for key, loaded in here.items():
        assert len(rows_for("experience memory", loaded)) == len(loaded.rows)
        said = state(loaded)
        assert (said.part, said.rows, said.set) == ("dev part", len(loaded.rows), key)
        assert loaded.set.commit[:7] in said.text


@pytest.mark.data
def test_sources_and_commits_are_those_of_the_list(data: Path) -> None:
    sources = (data / "SOURCES.md").read_text("utf-8")
    for known in tasks.SETS:
        assert f"{known.repository} @{known.commit}" in sources, known.key


# ------------------------------------------------------------------------------------------------ what a report says


def test_a_report_says_set_commit_rows_and_part(tmp_path: Path) -> None:
    loaded = medqa_of(tmp_path, {"5003": MEDQA[0], "5001": MEDQA[1], "5002": MEDQA[2]})
    source = "MedQA of MIRAGE (Teddy-XiongGZ/MIRAGE @224ebe9)"
    expected = {
        ("5003",): f"{source}, 1 rows, dev part, not the benchmark's result",
        ("5001", "5002"): f"{source}, 2 rows, test part",
        ("5001", "5003"): f"{source}, 2 rows, dev and test parts, not the benchmark's result",
    }
    assert {ids: state(loaded, ids).text for ids in expected} == expected
    assert state(loaded) == msgspec.structs.replace(state(loaded, ("5001", "5003")), rows=3)


def test_sentences_are_known_by_their_text(tmp_path: Path) -> None:
    """The files of NCBI disease number nothing: the same sentence at another place has the same fingerprint."""
    sets.put(tmp_path, entities.NCBI_DISEASE, sets.TOKENS)
    first = load("ncbi_disease", tmp_path).rows[0]
    sets.put(tmp_path, entities.NCBI_DISEASE, b"New\tO\n\n" + sets.TOKENS)
    later = load("ncbi_disease", tmp_path).rows[1]
    assert first.id != later.id
    assert tasks.fingerprint(first) == tasks.fingerprint(later)
