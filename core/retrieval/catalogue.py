"""Opens what the program knows: the knowledge store, its index, the search, and the packaged starter set.

The one call of the composition root for window, worker and commands. Fast when all is in place: the starter files are
recognised by their hashes, their parsed form is kept in the cache folder, and the index is only compared by counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from core import codec
from core.domain.condition import Condition
from core.retrieval.chunk import OVERLAP, WORDS, cut
from core.retrieval.editions import Calendar
from core.retrieval.guidelines import GuidelineRetriever
from core.retrieval.hybrid import Dense
from core.retrieval.index import PassageIndex
from core.retrieval.sentences import split
from core.retrieval.sources.starter import StarterSet, load, packaged_texts
from core.retrieval.synonyms import Synonyms
from core.store.database import open_database
from core.store.knowledge import FILE, KnowledgeStore
from core.store.knowledge_values import Doc, Pack, Section, SectionClass, SourceFile
from core.store.migrations import knowledge

OpenDense = Callable[[KnowledgeStore, PassageIndex], Dense | None]
DATABASE = FILE
INDEX = "knowledge"
STARTER = "starter"
IMPORTER_VERSION = f"2 ({WORDS} words, overlap {OVERLAP})"
SUMMARY_LENGTH = 300
# Section of a condition file -> heading that a person reads, class that a search filters by.
SECTIONS: dict[str, tuple[str, SectionClass]] = {
    "overview": ("Overview", "overview"),
    "suspect": ("When to suspect it", "symptoms"),
    "tests": ("Tests", "tests"),
    "criteria": ("Criteria", "criteria"),
    "severity": ("Severity", "severity"),
    "red_flags": ("Red flags", "severity"),
    "next_steps": ("Next steps", "treatment"),
    "mimics": ("What may look like it", "other"),
}
_WRAP = re.compile(r"(?<!\n)\n(?!\n|\s*[-*\u2022]\s|\s*\d{1,2}[.)]\s)")


class _Kept(msgspec.Struct, frozen=True, kw_only=True):
    """The parsed starter set in the cache: `files` says what it was parsed from, `sha256` is over its bytes."""

    files: str
    sha256: str
    starter: msgspec.Raw


def open_knowledge(
    profile_folder: Path,
    cache_folder: Path,
    actor: str,
    *,
    dense: OpenDense | None = None,
    calendar: Calendar | None = None,
) -> tuple[KnowledgeStore, PassageIndex, GuidelineRetriever, StarterSet]:
    """Store, index, search and starter set of a profile, installed and up to date. Use them in this thread.

    `dense` opens embedder and vectors at the first search; without it passages are found by words alone. By `calendar`
    guidelines expire.

    Raises:
        StoreError: the database or index cannot be used; says what to do.
    """
    store = KnowledgeStore(open_database(profile_folder / DATABASE, knowledge))
    index = PassageIndex(cache_folder / INDEX, store)
    texts = packaged_texts()
    starter = _starter(texts, cache_folder)
    install_starter(store, index, starter, actor, files=source_files(texts))
    opened = partial(dense, store, index) if dense else None
    synonyms = Synonyms(starter.concepts)
    return store, index, GuidelineRetriever(store, index, dense=opened, synonyms=synonyms, calendar=calendar), starter


def install_starter(
    store: KnowledgeStore,
    index: PassageIndex,
    starter_set: StarterSet,
    actor: str,
    *,
    files: tuple[SourceFile, ...] = (),
) -> bool:
    """Import the starter set as one active pack unless exactly these files are in; True if anything was written.

    Without `files` the conditions themselves stand for them.
    """
    files = files or tuple(_as_file(condition) for condition in starter_set.conditions)
    pack = _pack(starter_set, files)
    held = store.pack(STARTER)
    same = (
        held is not None
        and held.state != "quarantined"  # what ships with the program is put in place again
        and (held.files, held.importer_version) == (pack.files, pack.importer_version)
    )
    if not same:
        docs = (_doc(condition, starter_set) for condition in starter_set.conditions)
        store.put_pack(pack, docs, actor=actor, reason="packaged with the program")
    index.reconcile()
    return not same


def source_files(texts: dict[str, str]) -> tuple[SourceFile, ...]:
    """Name, hash and length of each file."""
    contents = ((name, text.encode()) for name, text in sorted(texts.items()))
    return tuple(SourceFile(name=name, sha256=codec.sha256(data), bytes=len(data)) for name, data in contents)


def _as_file(condition: Condition) -> SourceFile:
    data = codec.encode(condition)
    return SourceFile(name=condition.slug, sha256=codec.sha256(data), bytes=len(data))


def _pack(starter_set: StarterSet, files: tuple[SourceFile, ...]) -> Pack:
    conditions = starter_set.conditions
    return Pack(
        id=STARTER,
        title="Wardround starter guidelines",
        kind="guideline",
        edition=max((condition.edition for condition in conditions), default=""),
        publisher="Wardround",
        licence_id=conditions[0].licence if conditions else "own",
        importer=STARTER,
        importer_version=IMPORTER_VERSION,
        files=files,
        state="active",
    )


def _doc(condition: Condition, starter_set: StarterSet) -> Doc:
    concept = next((concept for concept in starter_set.concepts if concept.id == condition.concept), None)
    # In our order, not in that of the mapping: what comes from the cache is sorted by name.
    order = {key: place for place, key in enumerate(SECTIONS)}
    keyed = sorted(condition.sections.items(), key=lambda item: (order.get(item[0], len(order)), item[0]))
    sections = tuple(_section(key, text) for key, text in keyed)
    return Doc(
        source_key=condition.slug,
        title=condition.title,
        sections=sections,
        aliases=condition.aliases,
        group=condition.group,
        lang=condition.lang,
        published_on=condition.edition,
        summary=_summary(sections[0].text) if sections else "",
        concepts=(condition.concept,),
        names=(concept.name, *concept.surfaces) if concept else (),
        facts=condition.facts,
    )


def _section(key: str, text: str) -> Section:
    """A section; line breaks that only wrap the file are blanks in the text."""
    path, section_class = SECTIONS.get(key, (key.replace("_", " ").capitalize(), "other"))
    flowing = _WRAP.sub(" ", text.strip())
    return Section(path=path, section_class=section_class, text=flowing, spans=cut(flowing))


def _summary(text: str) -> str:
    """The first sentence."""
    start, end = next(iter(split(text)), (0, 0))
    return text[start : min(end, start + SUMMARY_LENGTH)]


def _starter(texts: dict[str, str], cache_folder: Path) -> StarterSet:
    """The parsed files, from the cache where that was made of the same bytes by the same structs."""
    files = codec.digest([texts, msgspec.json.schema(StarterSet)])
    path = cache_folder / "starter.json"
    try:
        kept: _Kept = codec.decode(path.read_bytes(), _Kept)
        if kept.files == files and kept.sha256 == codec.sha256(bytes(kept.starter)):
            starter: StarterSet = codec.decode(bytes(kept.starter), StarterSet)
            return starter
    except (OSError, msgspec.DecodeError):
        pass  # absent, of an older version or damaged: parsed again below
    parsed = load(texts)
    data = codec.encode(parsed)
    _keep(path, codec.encode(_Kept(files=files, sha256=codec.sha256(data), starter=msgspec.Raw(data))))
    return parsed


def _keep(path: Path, data: bytes) -> None:
    """Put a file into the cache whole; a cache that cannot be written costs time, nothing else."""
    part = path.with_suffix(f".{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
