"""Each source form through the import job: exact counts, what becomes of the fields, the same twice changes nothing.

The files are of our own making, in the form of their publishers; what they say is invented.
"""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import UserError
from core.retrieval.importing import ImportReport, import_knowledge
from core.retrieval.sources import catalogue
from core.retrieval.sources.material import Options, class_of
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Relation
from tests.helpers.papers import read_paper
from tests.helpers.shelf import open_store

FILES = Path(__file__).resolve().parents[2] / "data" / "knowledge"
# files, importer, docs, chunks, concepts, skipped
COUNTS = [
    (["bones.obo"], "obo", 0, 0, 4, 0),
    (["desc2026.xml", "supp2026.xml"], "mesh", 0, 0, 14, 0),
    (["icd10cm-tabular-2026.xml"], "icd10cm", 0, 0, 5, 1),
    (["mplus_topics_2026-01-02.xml"], "medlineplus", 1, 3, 2, 2),
    (["pubmed26n0001.xml", "pubmed26n0002.xml"], "pubmed", 11, 14, 0, 2),
    (["drug-label-0001-of-0001.json"], "openfda", 10, 45, 10, 1),
    (["tests.csv"], "table", 0, 0, 10, 1),
    (["formulary.tsv"], "table", 0, 0, 10, 0),
    (["textbook.jsonl"], "medrag", 4, 12, 0, 1),
]
MEDQUAD = """<?xml version="1.0" encoding="UTF-8"?>
<Document id="1" source="US" url="https://example.org/1"><Focus>Glass bones</Focus>
<FocusAnnotations><UMLS><CUIs><CUI>C9</CUI></CUIs><SemanticGroup>Disorders</SemanticGroup></UMLS>
<Synonyms><Synonym>Ringing bones</Synonym></Synonyms></FocusAnnotations>
<QAPairs><QAPair pid="1"><Question qid="1-1" qtype="symptoms">What are the symptoms of Glass bones ?</Question>
<Answer>They ring.

    They      are cold:  - blue nails  - felt socks</Answer></QAPair>
<QAPair pid="2"><Question qid="1-2" qtype="treatment">How?</Question><Answer> </Answer></QAPair></QAPairs></Document>"""
EMPTY = MEDQUAD.replace("They ring.", "").replace("They      are cold:  - blue nails  - felt socks", "")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[KnowledgeStore]:
    opened = open_store(tmp_path)
    yield opened
    opened.close()


def run(store: KnowledgeStore, *paths: Path, **fields: object) -> ImportReport:
    mapping = paths[0].with_suffix(".map.toml")
    text = mapping.read_text("utf-8") if mapping.is_file() else ""
    options = Options(**({"licence": "own", "mapping": text} | fields))  # type: ignore[arg-type]
    return import_knowledge(store, None, paths, options, actor="me", read_document=read_paper)


@pytest.mark.parametrize(("names", "importer", "docs", "chunks", "concepts", "skipped"), COUNTS)
def test_counts(
    store: KnowledgeStore, names: list[str], importer: str, docs: int, chunks: int, concepts: int, skipped: int
) -> None:
    report = run(store, *(FILES / name for name in names))
    found = (report.importer, report.docs, report.chunks, report.concepts, sum(report.reasons.values()))
    assert found == (importer, docs, chunks, concepts, skipped)
    assert len(report.skipped) == skipped
    again = run(store, *(FILES / name for name in names))
    assert (again.put.writes, again.put.unchanged, again.sha256) == (0, report.put.added, report.sha256)
    assert store.verify() == ()


def test_obo(store: KnowledgeStore) -> None:
    run(store, FILES / "bones.obo")
    ringing = store.vocabulary.concept("HP:9000001")
    assert ringing is not None
    assert ringing.definition == 'Bones that "ring" when struck.'
    assert [(s.text, s.type) for s in ringing.surfaces] == [
        ("Ringing bones", "exact"), ("Bone ring", "exact"), ("RIBO", "abbreviation"), ("Ringing of the shin", "narrow"),
        ("Noise", "broad"), ("Music", "related"),
    ]  # fmt: skip
    assert ringing.relations == (
        Relation("is_a", "HP:0000118", "Phenotypic abnormality"), Relation("alt_id", "HP:9000009"),
        Relation("xref", "UMLS:C9000001"), Relation("xref", "MSH:D900001"),
    )  # fmt: skip
    kinds = {i: getattr(store.vocabulary.concept(f"HP:900000{i}"), "kind", "") for i in (1, 2)}
    assert kinds == {1: "finding", 2: "other"}
    gone = store.vocabulary.concept("HP:9000003")
    assert gone is not None
    assert (gone.obsolete, gone.replaced_by) == (True, "HP:9000001")
    held = store.pack("bones-2026-02-03")
    assert held is not None
    assert (held.edition, held.state, held.kind) == ("2026-02-03", "active", "vocabulary")


def test_icd(store: KnowledgeStore) -> None:
    run(store, FILES / "icd10cm-tabular-2026.xml")
    whole = store.vocabulary.concept("ICD10CM:M98")
    assert whole is not None
    assert [(s.text, s.type) for s in whole.surfaces] == [("Glass bone disease", "exact"), ("Ringing shin", "narrow")]
    assert whole.relations == (
        Relation("is_a", "ICD10CM:M98-M99", "Ringing disorders"),
        Relation("excludes1", "ICD10CM:M99.1", "silent bones (M99.1)"), Relation("excludes1", "", "choirs"),
        Relation("seventh character", "", "A: initial encounter"),
    )  # fmt: skip
    assert whole.name == "Glass bone disease [ringing bones] (invented), unspecified"
    residual = store.vocabulary.concept("ICD10CM:M98.8")
    assert residual is not None
    assert residual.surfaces == ()
    below = store.vocabulary.concept("ICD10CM:M98.0")
    assert below is not None
    assert [r.target for r in below.relations] == ["ICD10CM:M98", "ICD10CM:R98.7"]


def test_mesh(store: KnowledgeStore) -> None:
    run(store, FILES / "desc2026.xml", FILES / "supp2026.xml")
    familial = store.vocabulary.concept("MSH:D900002")
    assert familial is not None
    assert [(s.text, s.type) for s in familial.surfaces] == [
        ("Glass Bone Disease, Familial", "exact"), ("Familial Glass Bone Disease", "exact"), ("FGBD", "abbreviation"),
        ("Ringing Bone Syndrome", "narrow"),
    ]  # fmt: skip
    assert [r.target for r in familial.relations] == ["MSH:D900001", "MSH:D900004"]
    assert familial.definition.startswith("An invented inherited form")
    kinds = [getattr(store.vocabulary.concept(f"MSH:D9000{n:02}"), "kind", "") for n in range(1, 13)]
    expected = ["disease"] * 5 + ["finding", "anatomy", "organism", "drug", "test", "procedure", "other"]
    assert kinds == expected
    assert [r.target for r in getattr(store.vocabulary.concept("MSH:C900002"), "relations", ())] == ["MSH:D900002"]


def test_medlineplus(store: KnowledgeStore) -> None:
    run(store, FILES / "mplus_topics_2026-01-02.xml")
    (entry,) = store.doc_entries()
    assert (entry.title, entry.aliases, entry.group) == ("Glass Bones", ("Ringing bones", "Bones, Glass"), "Bones")
    chunks = [(c.section_class, c.text) for c in store.chunk_entries(store.doc_ids())]
    assert chunks == [
        ("overview", "Glass bones are invented."), ("symptoms", "Ringing\n- Blue nails & cold"),
        ("treatment", "With felt."),
    ]  # fmt: skip
    store.set_state("medlineplus-2026-01-02", "active", actor="me", reason="read")
    topic = store.vocabulary.concept("MEDLINEPLUS:900")
    assert topic is not None
    assert Relation("related", "MEDLINEPLUS:901", "Bone Choir") in topic.relations


def test_pubmed(store: KnowledgeStore, tmp_path: Path) -> None:
    report = run(store, FILES / "pubmed26n0001.xml", FILES / "pubmed26n0002.xml")
    assert report.reasons == {"no abstract": 1, "deleted by a later file": 1}
    texts = {c.doc: c.text for c in store.chunk_entries(store.doc_ids())}
    assert texts["pubmed:90000006"] == "The second form of this text."
    (first,) = [e for e in store.doc_entries() if e.id == "pubmed:90000001"]
    assert first.concepts == ("MSH:D900001", "MSH:D900010")
    parts = {c.section_class: c.text for c in store.chunk_entries(["pubmed:90000001"])}
    assert parts["overview"] in ("Glass bones were invented for this file.", "Tapping is cheap.")
    assert "Thirty rang at 440 Hz (10-3 s apart)." in [c.text for c in store.chunk_entries(["pubmed:90000001"])]
    years = {c.doc: (c.year, c.lang) for c in store.chunk_entries(["pubmed:90000002", "pubmed:90000003"])}
    assert years == {"pubmed:90000002": (2020, "en"), "pubmed:90000003": (2018, "fr")}
    some = run(store, FILES / "pubmed26n0001.xml", publication_types=("Practice Guideline", "Review"))
    assert (some.docs, some.reasons["not of the wanted publication types"]) == (2, 10)


def test_openfda(store: KnowledgeStore) -> None:
    run(store, FILES / "drug-label-0001-of-0001.json")
    store.set_state("openfda-labels", "active", actor="me", reason="read")
    drug = store.vocabulary.drug("FDA:00000000-0000-4000-8000-000000000002")
    assert drug is not None
    assert (drug.name, drug.dosage, drug.version) == ("glimmerol", ("Take 2 drops.", "Not more than 4 drops."), "2")
    assert drug.indication.endswith("glass bones {type 2}.")
    assert drug.contraindication == 'Quiet bones "of any kind".'
    assert {n.concept[-2:] for n in store.vocabulary.named("glimmerol")} == {"01", "02"}


def test_tables(store: KnowledgeStore) -> None:
    report = run(store, FILES / "tests.csv")
    assert report.skipped[0].why == "The row has 2 cells instead of 7."
    ring = store.vocabulary.concept("LOINC:90001-1")
    assert ring is not None
    assert (ring.kind, [s.text for s in ring.surfaces]) == ("test", ["Ring pitch, shin 1", "tap 1", "ring 1"])
    assert getattr(store.vocabulary.concept("LOINC:90011-1"), "kind", "") == "finding"
    run(store, FILES / "formulary.tsv")
    store.set_state("invented-formulary-2026", "active", actor="me", reason="read")
    drug = store.vocabulary.drug("SITE:F2")
    assert drug is not None
    assert (drug.dosage, drug.contraindication, drug.source) == (
        ("2 mg once", "4 mg twice"), "quiet bones", "Invented formulary",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ("", "mapping file"),
        ("vocab = 1", "expected form"),
        ('vocab = "A"\n[columns]\nid = "LOINC_NUM"\n', "columns of id and name"),
        ('vocab = "A"\n[columns]\nid = "LOINC_NUM"\nname = "NAME"\n', "no column 'NAME'"),
    ],
)
def test_a_table_is_refused_without_its_columns(store: KnowledgeStore, mapping: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        run(store, FILES / "tests.csv", mapping=mapping)


def test_medrag(store: KnowledgeStore) -> None:
    run(store, FILES / "textbook.jsonl")
    (entry, *_) = store.doc_entries()
    assert (entry.title, entry.id) == ("Bones that ring", "medrag:Bones_0")
    texts = [c.text for c in store.chunk_entries([entry.id])]
    assert texts == [f"Passage {n} of bones that ring. It has two sentences." for n in range(5)]


def test_medquad(store: KnowledgeStore, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "quad.zip", "w") as made:
        made.writestr("MedQuAD/LICENSE.txt", "CC BY")
        made.writestr("MedQuAD/1_A_QA/0000001.xml", MEDQUAD)
        made.writestr("MedQuAD/2_B_QA/0000001.xml", MEDQUAD.replace("Ringing bones", "Bones that ring"))
        made.writestr("MedQuAD/3_C_QA/0000001.xml", EMPTY)
    report = run(store, tmp_path / "quad.zip")
    assert (report.importer, report.docs, report.chunks, report.concepts) == ("medquad", 2, 2, 1)
    assert report.reasons == {"no answer text": 1}
    (chunk, _) = store.chunk_entries(store.doc_ids())
    assert chunk.section_class == "symptoms"
    assert chunk.text == "They ring.\nThey are cold:\n- blue nails\n- felt socks"
    store.set_state(report.pack, "active", actor="me", reason="read")
    concept = store.vocabulary.concept("UMLS:C9")
    assert concept is not None
    assert [s.text for s in concept.surfaces] == ["Glass bones", "Ringing bones", "Bones that ring"]


def test_a_folder_of_empty_answers_gives_nothing_and_says_why(store: KnowledgeStore, tmp_path: Path) -> None:
    (tmp_path / "quad").mkdir()
    (tmp_path / "quad" / "1.xml").write_text(EMPTY)
    with pytest.raises(UserError, match=r"no answer text \(1\)"):
        run(store, tmp_path / "quad")
    assert store.packs() == ()


@pytest.mark.parametrize("form", ["gz", "zip", "tar.gz"])
def test_archives_are_read_in_place(store: KnowledgeStore, tmp_path: Path, form: str) -> None:
    data = (FILES / "bones.obo").read_bytes()
    path = tmp_path / f"bones.obo.{form}"
    if form == "gz":
        path.write_bytes(gzip.compress(data))
    elif form == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
            made.writestr("readme.txt", "x")
            made.writestr("deep/bones.obo", b"\xef\xbb\xbf" + data)
    else:
        with tarfile.open(path, "w:gz") as packed:
            member = tarfile.TarInfo("bones.obo")
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    report = run(store, path)
    assert (report.importer, report.concepts) == ("obo", 4)
    assert {p.name for p in tmp_path.iterdir()} - {path.name} <= {
        "home",
        "knowledge.db",
        "knowledge.db-shm",
        "knowledge.db-wal",
    }


def test_documents_keep_headings_and_take_their_front_matter(store: KnowledgeStore, tmp_path: Path) -> None:
    (tmp_path / "felt.md").write_text(
        "---\ntitle: Felt for glass bones\nedition: 4\nlicence: CC-BY-4.0\n---\n# Felt\nIt damps.\n"
        "## Treatment\nWrap once.\n"
    )
    (tmp_path / "tap.html").write_text("<h1>Tapping</h1><p>Tap.</p><h2>Red flags</h2><p>Silence.</p><script>x</script>")
    report = run(store, tmp_path / "felt.md", tmp_path / "tap.html", licence="")
    assert (report.importer, report.pack, report.state, report.docs) == (
        "document",
        "felt-for-glass-bones-4",
        "draft",
        2,
    )
    assert report.licence == "CC-BY-4.0"
    chunks = [(c.section_class, c.text) for c in store.chunk_entries(store.doc_ids())]
    assert ("treatment", "Wrap once.") in chunks
    assert ("severity", "Silence.") in chunks


def test_a_licence_is_asked_for(store: KnowledgeStore, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some text.")
    with pytest.raises(UserError, match="states no licence"):
        run(store, tmp_path / "a.txt", licence="")
    assert run(store, tmp_path / "a.txt", licence="", licence_text="Ours alone.").licence == "unknown"
    with pytest.raises(UserError, match="not one that is known"):
        run(store, tmp_path / "a.txt", licence="GPL-9")


def test_an_unknown_form_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x00\x01")
    with pytest.raises(UserError, match="form of a.bin is not known"):
        catalogue.choose([tmp_path / "a.bin"])
    with pytest.raises(UserError, match="no importer nonsense"):
        catalogue.choose([tmp_path / "a.bin"], "nonsense")
    assert catalogue.choose([tmp_path / "a.bin"], "obo").form == "obo"


def lay(folder: Path, *names: str) -> Path:
    """A folder with files of ours under their own names, and documents."""
    folder.mkdir()
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes((FILES / name).read_bytes() if (FILES / name).is_file() else b"# Rules\nWash hands.\n")
    return folder


@pytest.mark.parametrize(
    ("names", "form", "left"),
    [
        (("readme.md",), "document", []),
        (("a.md", "deep/b.txt", "README.txt", "photo.png"), "document", ["README.txt", "photo.png"]),
        (("icd10cm-tabular-2026.xml", "README.md", "LICENSE"), "icd10cm", ["LICENSE", "README.md"]),
        (("pubmed26n0001.xml", "pubmed26n0002.xml", "notice.html"), "pubmed", ["notice.html"]),
        (("tests.csv", "tests.map.toml"), "table", ["tests.map.toml"]),
        ((*(f"{n}.md" for n in range(8)), "bones.obo"), "document", ["bones.obo"]),
    ],
)
def test_the_form_of_a_folder_is_that_of_nearly_all_of_its_files(
    names: tuple[str, ...], form: str, left: list[str], tmp_path: Path
) -> None:
    folder = lay(tmp_path / "all", *names)
    found = catalogue.choose([folder])
    assert (found.form, [other.where for other in found.left]) == (form, left)
    assert len(found.paths) == len(names) - len(left)
    assert not any(other.failed for other in found.left)
    given = catalogue.choose([path for path in folder.rglob("*") if path.is_file()])
    assert (given.form, sorted(given.paths)) == (form, sorted(found.paths))


def test_several_forms_at_once_are_told_not_guessed(store: KnowledgeStore, tmp_path: Path) -> None:
    folder = lay(tmp_path / "all", "bones.obo", "desc2026.xml", "supp2026.xml", "a.md")
    with pytest.raises(
        UserError, match=r"several forms: 2 x mesh \(desc2026.xml \.\.\.\), 1 x document \(a.md\), 1 x obo"
    ):
        catalogue.choose([folder])
    assert run(store, *(folder / name for name in ("desc2026.xml", "supp2026.xml"))).importer == "mesh"
    forced = import_knowledge(store, None, [folder], Options(licence="own"), actor="me", importer="obo")
    assert (forced.importer, forced.concepts) == ("obo", 4)


def test_what_is_left_out_of_a_folder_is_in_the_report(store: KnowledgeStore, tmp_path: Path) -> None:
    folder = lay(tmp_path / "all", *(f"{n}.md" for n in range(8)), "bones.obo", "photo.png")
    report = run(store, folder)
    assert (report.importer, report.docs) == ("document", 8)
    told = {(record.where, record.why) for record in report.skipped}
    assert told == {("bones.obo", "of the form obo: add it by itself"), ("photo.png", "of no form that is read")}


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Diagnosis > Tests", "tests"), ("3.2 Management", "treatment"), ("What are the symptoms of gout?", "symptoms"),
        ("Red flags", "severity"), ("References", "other"), ("Follow-up > Something", "followup"), ("", "other"),
        ("Methods", "other"), ("Prevention of gout", "prevention"), ("What causes gout?", "causes"),
    ],
)  # fmt: skip
def test_the_class_of_a_section_is_read_off_its_heading(heading: str, expected: str) -> None:
    assert class_of(heading) == expected
