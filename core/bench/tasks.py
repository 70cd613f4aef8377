"""The registry of public sets, which of their rows may be learnt from, and what a report says of its rows.

Part of each set is kept apart for acceptance (data.md section 5): nothing is tuned, prompted or remembered from it,
also when a person has downloaded the whole file. It must not know a model, a workflow or where results are stored.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

import msgspec

from core.bench.loaders import ehr, entities, mcq, medcalc
from core.bench.loaders.ehr import Ehr2024Row, EhrRow
from core.bench.loaders.entities import Sentence
from core.bench.loaders.mcq import ChoiceRow, PubMedRow
from core.bench.loaders.medcalc import MedCalcRow
from core.errors import UserError

Row = MedCalcRow | ChoiceRow | PubMedRow | Ehr2024Row | EhrRow | Sentence
Part = Literal["train", "dev", "apart"]
Purpose = Literal["experience memory", "demonstrations", "thresholds"]

BUCKETS = 100
HERE_BELOW, DEV_FROM = 40, 30  # of sets without an official training part: 0-29 train, 30-39 dev, 40-99 apart
OFFICIAL_DEV_FROM = 75  # EHRSQL's valid set is train and dev: three to one, as above
HERE_THOUGH = frozenset({"191", "801"})  # groups of MedCalc whose notes are also in the one-shot files
NOWHERE = "373"  # a row of MedCalc whose note nearly equals a one-shot note: its group is in no part
FINGERPRINT = 10  # hexadecimal digits
LISTED = 5
MARK = "SOURCES.md"
CHECKOUT = Path(__file__).resolve().parents[2]
_NO_WORD = re.compile(r"\W+")


class BenchSet(msgspec.Struct, frozen=True, kw_only=True):
    """A public set: where it is from, and below which bucket its rows are here and from which on they are dev.

    Sets that follow the publishers' split have 100 as `here_below`. `listed`: only rows that are known to be here are;
    what is not known (another version of the set, a part of its file in which a group has lost its first row) is apart.
    """

    key: str
    title: str
    repository: str
    commit: str
    licence: str
    load: Callable[[Path], Sequence[Row]]
    listed: bool = True
    here_below: int = HERE_BELOW
    dev_from: int = DEV_FROM


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where one row belongs: its group (the id of the group's first row), the group's bucket (0-99), the part."""

    id: str
    group: str
    bucket: int
    part: Part


class Loaded(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of a set's file with their places, one to one."""

    set: BenchSet
    rows: tuple[Row, ...]
    places: tuple[Place, ...]


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What every report says of the rows behind its numbers."""

    set: str
    title: str
    source: str
    rows: int
    part: str

    @property
    def text(self) -> str:
        """One line; a number of the dev part is never called the benchmark's result."""
        apart = "" if self.part == "test part" else ", not the benchmark's result"
        return f"{self.title} ({self.source}), {self.rows} rows, {self.part}{apart}"


# -------------------------------------------------------------------------------------------------- the registry

_MEDCALC, _MIRAGE = "ncbi-nlp/MedCalc-Bench", "Teddy-XiongGZ/MIRAGE"
_MIRAGE_COMMIT = "224ebe9a721e1bc525a07b10eceb01ed52df7b29"
_EHRSQL_COMMIT = "01241a3c55bda895561c76923251ea2421d2e892"


def _mirage(key: mcq.MirageSet, title: str, licence: str) -> BenchSet:
    return BenchSet(
        key=key if key != "pubmedqa" else "mirage_pubmedqa",
        title=f"{title} of MIRAGE",
        repository=_MIRAGE,
        commit=_MIRAGE_COMMIT,
        licence=licence,
        load=lambda folder: mcq.load_mirage(folder, key),
        here_below=0 if key == "pubmedqa" else HERE_BELOW,  # MIRAGE's is the official test set
    )


def _official(
    key: str, title: str, source: tuple[str, str], licence: str, load: Callable[[Path], Sequence[Row]],
    dev_from: int = BUCKETS,
) -> BenchSet:  # fmt: skip
    repository, commit = source
    return BenchSet(
        key=key, title=title, repository=repository, commit=commit, licence=licence, load=load,
        here_below=BUCKETS, dev_from=dev_from,
    )  # fmt: skip


SETS = (
    BenchSet(
        key="medcalc",
        title="MedCalc-Bench v1.0",
        repository=_MEDCALC,
        commit="5523b7785c004912e76ca4db19efbd7367b23c40",
        licence="CC BY-SA 4.0",
        load=medcalc.load_medcalc,
    ),
    _official(
        "medcalc_one_shot",
        "MedCalc-Bench one-shot, verified",
        ("nikhilk7153/MedCalc-Bench-Verified", "0eb59609f413e08a0980aec0103b7e63c275bca8"),
        "CC BY-SA 4.0",
        medcalc.load_one_shot,
    ),
    _mirage("medqa", "MedQA", "MIT"),
    _mirage("mmlu", "MMLU", "MIT (unverified)"),
    _mirage("bioasq", "BioASQ", "CC BY 2.5 (unverified)"),
    _mirage("pubmedqa", "PubMedQA", "MIT"),
    _official(
        "pubmedqa",
        "PubMedQA",
        ("pubmedqa/pubmedqa", "1cbae8e92f72f20c8d3747cbb3bf5bc53554d997"),
        "MIT",
        mcq.load_pubmedqa,
    ),
    _official(
        "ehrsql",
        "EHRSQL 2024 (MIMIC-IV)",
        ("glee4810/ehrsql-2024", "46597893d9ffc6b9e67785b9c6dcbb06f1b62568"),
        "CC BY 4.0",
        ehr.load_ehrsql,
        OFFICIAL_DEV_FROM,
    ),
    _official(
        "mimic_iii",
        "EHRSQL (MIMIC-III)",
        ("glee4810/EHRSQL", _EHRSQL_COMMIT),
        "CC BY 4.0",
        ehr.load_mimic_iii,
        OFFICIAL_DEV_FROM,
    ),
    _official(
        "eicu", "EHRSQL (eICU)", ("glee4810/EHRSQL", _EHRSQL_COMMIT), "CC BY 4.0", ehr.load_eicu, OFFICIAL_DEV_FROM
    ),
    _official(
        "ncbi_disease",
        "NCBI disease",
        ("cambridgeltl/MTL-Bioinformatics-2016", "df0df02fae6dbb87d88ffcf323b9096528f06f84"),
        "CC BY 4.0",
        entities.load_ncbi_disease,
    ),
)


def find_set(key: str) -> BenchSet:
    """Raises UserError where no set has this key."""
    for known in SETS:
        if known.key == key:
            return known
    raise UserError(f"There is no set {key}; there are {', '.join(known.key for known in SETS)}.", code="bench_set")


def find_data(chosen: Path | None, *, checkout: Path = CHECKOUT) -> Path:
    """The folder of public data: the chosen one, else that of WARDROUND_DATA, else one beside or in the checkout.

    Raises:
        UserError: there is no such folder, or in those that were not chosen no list of sources.
    """
    if chosen is not None:
        if not chosen.is_dir():
            raise UserError(f"There is no folder {chosen}.", code="bench_data")
        return chosen
    named = os.environ.get("WARDROUND_DATA")
    beside = (checkout.parent / "shared" / "data", checkout.parent / "shared", checkout / "shared" / "data")
    places = (Path(named),) if named else beside
    for place in places:
        if (place / MARK).is_file():
            return place
    raise UserError(
        f"The folder of public data was not found in {' or '.join(map(str, places))}; name it with --data.",
        code="bench_data",
    )


def load(key: str, folder: Path) -> Loaded:
    """Every row of a set with its place.

    Raises:
        UserError: no such set; its file is missing or broken.
    """
    known = find_set(key)
    rows = tuple(known.load(folder))
    return Loaded(set=known, rows=rows, places=place_rows(known, rows))


# ----------------------------------------------------------------------------------------- groups, buckets, parts


def normalise(text: str) -> str:
    """Lower case, runs of non-word characters as one blank (rule 2)."""
    return _NO_WORD.sub(" ", text.lower()).strip()


def bucket_of(group: str) -> int:
    """0-99, of the id of a group (rule 3)."""
    return int(hashlib.sha256(group.encode()).hexdigest(), 16) % BUCKETS


def place_rows(known: BenchSet, rows: Sequence[Row]) -> tuple[Place, ...]:
    """The place of each row. Handed in without a group's first row, its others have another bucket."""
    groups = _groups(rows)
    nowhere = groups.get(NOWHERE) if known.key == "medcalc" else None
    return tuple(_place(known, row, groups[row.id], nowhere=nowhere) for row in rows)


def _place(known: BenchSet, row: Row, group: str, *, nowhere: str | None) -> Place:
    bucket = bucket_of(group)
    excepted = known.key == "medcalc" and group in HERE_THOUGH
    part: Part = "dev" if bucket >= known.dev_from and not excepted else "train"
    kept_apart = group == nowhere or (bucket >= known.here_below and not excepted)
    if kept_apart or (known.listed and not _is_here(known.key, row)):
        part = "apart"
    return Place(id=row.id, group=group, bucket=bucket, part=part)


def _groups(rows: Iterable[Row]) -> dict[str, str]:
    """Row id -> id of the first row of its group: of rows that share a mark, directly or through others."""
    leader: dict[str, str] = {}
    first: dict[str, str] = {}
    order: dict[str, int] = {}
    for number, row in enumerate(sorted(rows, key=_upstream_order)):
        leader[row.id], order[row.id] = row.id, number
        for mark in _marks(row):
            one, other = _leader(leader, first.setdefault(mark, row.id)), _leader(leader, row.id)
            head, tail = sorted((one, other), key=order.__getitem__)
            leader[tail] = head
    return {identifier: _leader(leader, identifier) for identifier in leader}


def _leader(leader: dict[str, str], row: str) -> str:
    while leader[row] != row:
        row = leader[row]
    return row


def _upstream_order(row: Row) -> int:
    """MedCalc's rows are numbered in the order of the file: a file sorted otherwise has the same groups."""
    return int(row.id) if isinstance(row, MedCalcRow) else 0


def _marks(row: Row) -> tuple[str, ...]:
    """What rows of one group share: the note or its number, or the question (rule 2)."""
    match row:
        case MedCalcRow():
            number = () if row.note_id.isdigit() else (f"id {row.note_id}",)
            return (f"text {normalise(row.note)}", *number)
        case Sentence():
            return ()
        case _:
            return (f"text {normalise(row.question)}",)


# ------------------------------------------------------------------------------------------- rows known to be here


def fingerprint(row: Row) -> str:
    """Of a row's id, with its text where versions of the set number anew; of a sentence, of its text alone."""
    match row:
        case Sentence():
            text = row.text
        case MedCalcRow():
            text = f"{row.id} {normalise(row.note)}"
        case ChoiceRow():
            text = f"{row.id} {normalise(row.question)}"
        case _:
            text = row.id
    return hashlib.sha256(text.encode()).hexdigest()[:FINGERPRINT]


@cache
def _listed(key: str) -> frozenset[str]:
    return frozenset(resources.files("core.bench.resources").joinpath(f"{key}.txt").read_text("utf-8").split())


def _is_here(key: str, row: Row) -> bool:
    """Whether a row is one of those that may be learnt from: by its own split, or by the list of their fingerprints."""
    return row.split in ("train", "valid") if isinstance(row, EhrRow) else fingerprint(row) in _listed(key)


# -------------------------------------------------------------------------------------- the refusal, the statement


def rows_for(purpose: Purpose, loaded: Loaded, ids: Iterable[str] | None = None) -> tuple[Row, ...]:
    """The rows to write from (all without `ids`): the only door to experience memory, demonstrations, thresholds.

    Raises:
        UserError: one of them is kept apart for acceptance, or the set has no such row; nothing is to be written then.
    """
    places = {place.id: place for place in loaded.places}
    wanted = list(places) if ids is None else list(dict.fromkeys(ids))
    if unknown := [identifier for identifier in wanted if identifier not in places]:
        raise UserError(f"{loaded.set.title} has no row {unknown[0]}.", code="bench_row")
    if apart := [identifier for identifier in wanted if places[identifier].part == "apart"]:
        raise UserError(_refusal(purpose, loaded.set, apart, len(wanted)), code="bench_apart")
    chosen = set(wanted)
    return tuple(row for row in loaded.rows if row.id in chosen)


def _refusal(purpose: Purpose, known: BenchSet, apart: Sequence[str], wanted: int) -> str:
    named = ", ".join(apart[:LISTED]) + (" and others" if len(apart) > LISTED else "")
    counted = "row is" if wanted == 1 else "rows are"
    return (
        f"Of {known.title}, {len(apart)} of {wanted} {counted} kept apart for acceptance ({named}); "
        f"no {purpose} may be written from them."
    )


def state(loaded: Loaded, ids: Iterable[str] | None = None) -> Statement:
    """Set, commit, number of rows and part of the rows (all without `ids`)."""
    chosen = None if ids is None else set(ids)
    places = [place for place in loaded.places if chosen is None or place.id in chosen]
    apart = sum(1 for place in places if place.part == "apart")
    known = loaded.set
    return Statement(
        set=known.key,
        title=known.title,
        source=f"{known.repository} @{known.commit[:7]}",
        rows=len(places),
        part="dev part" if not apart else "test part" if apart == len(places) else "dev and test parts",
    )
