"""Small knowledge packs for tests, seeded; and writers that import until they are killed (`tests.helpers.forked`)."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from pathlib import Path

from core.domain.passage import Fact
from core.retrieval.chunk import cut
from core.retrieval.importing import import_knowledge
from core.retrieval.index import PassageIndex
from core.retrieval.sources.material import Options
from core.store.database import open_database
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Doc, Pack, Section, SectionClass, SourceFile
from core.store.migrations import knowledge

WORDS = [
    "fever", "cough", "sputum", "wheeze", "breathlessness", "oedema", "murmur", "potassium", "creatinine",
    "troponin", "glucose", "lactate", "anaemia", "jaundice", "ascites", "headache", "vertigo", "syncope",
    "palpitation", "rash", "arthritis", "haematuria", "dysuria", "nausea", "vomiting", "diarrhoea", "weight",
    "loss", "sweat", "tremor", "goitre", "cataract", "glaucoma", "retina", "macula", "optic", "disc", "pleura",
    "effusion", "nodule",
]  # fmt: skip
CLASSES: tuple[SectionClass, ...] = ("overview", "tests", "treatment")


def section(text: str, *, path: str = "Overview", section_class: SectionClass = "overview") -> Section:
    return Section(path=path, section_class=section_class, text=text, spans=cut(text))


def doc(key: str, *texts: str, title: str = "", concepts: tuple[str, ...] = (), facts: tuple[Fact, ...] = ()) -> Doc:
    """A document of one section a text, of the classes overview, tests, treatment in turn."""
    sections = tuple(
        section(text, path=f"Part {n}", section_class=CLASSES[n % len(CLASSES)]) for n, text in enumerate(texts)
    )
    return Doc(source_key=key, title=title or key, sections=sections, concepts=concepts, facts=facts)


def pack(identifier: str = "lib", *, edition: str = "1", **fields: str) -> Pack:
    """An active pack of our own; `fields` override."""
    content = {"title": "Library", "kind": "local", "publisher": "us", "licence_id": "own", "state": "active"} | fields
    return Pack(  # type: ignore[arg-type]
        id=identifier,
        edition=edition,
        importer="test",
        importer_version="1",
        files=(SourceFile(name="f", sha256=edition, bytes=1),),
        **content,
    )


def sentences(rng: random.Random, count: int) -> str:
    return " ".join(f"{' '.join(rng.choices(WORDS, k=9)).capitalize()}." for _ in range(count))


def random_docs(seed: int, count: int) -> Iterator[Doc]:
    """Documents of three sections; the same seed gives the same ones."""
    for n in range(count):
        rng = random.Random(f"{seed}/{n}")
        title = f"{rng.choice(WORDS)} {n}"
        yield doc(f"d{n}", *(sentences(rng, rng.randint(2, 30)) for _ in CLASSES), title=title)


def edition_docs(edition: int) -> list[Doc]:
    """Edition N: twenty documents of which a part differs from the edition before, and a few come or go."""
    steady = list(random_docs(0, 12))
    moving = [d for n, d in enumerate(random_docs(edition, 30)) if n >= 12 and (n + edition) % 3]
    return steady + moving


def open_store(folder: Path) -> KnowledgeStore:
    return KnowledgeStore(open_database(folder / "knowledge.db", knowledge))


def import_for_ever(folder: str, first: str) -> None:
    """Say "ready", then "rows N" when edition N is in SQLite and "done N" when the index holds it too."""
    store = open_store(Path(folder))
    index = PassageIndex(Path(folder) / "index", store)
    os.write(1, b"ready\n")
    for edition in range(int(first), int(first) + 10_000):
        store.put_pack(pack(edition=str(edition)), edition_docs(edition), actor="writer")
        os.write(1, f"rows {edition}\n".encode())
        index.reconcile()
        os.write(1, f"done {edition}\n".encode())


def import_files_for_ever(folder: str) -> None:
    """Say "ready", then import the files 0.jsonl and 1.jsonl in turn as one pack."""
    store = open_store(Path(folder))
    index = PassageIndex(Path(folder) / "index", store)
    os.write(1, b"ready\n")
    for n in itertools.cycle((0, 1)):
        path = Path(folder) / f"{n}.jsonl"
        import_knowledge(store, index, [path], Options(licence="own"), actor="me", pack_id="p")
