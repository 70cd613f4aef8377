"""Dictionary of vocabularies: groups, spans, plurals, pairs, abbreviations (public files: test_public_knowledge)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import resources

from core.domain.passage import Concept, ConceptKind
from core.retrieval.dictionary import Dictionary, WordLists
from core.retrieval.sources.material import surface
from core.store.knowledge_values import Named, SurfaceType


def word_lists() -> WordLists:
    folder = resources.files("core.retrieval").joinpath("resources")
    return WordLists(*((folder / f"{name}.toml").read_text("utf-8") for name in ("stopwords", "abbreviations")))


def named(concept: str, *texts: str, kind: ConceptKind = "disease", type: SurfaceType = "exact") -> list[Named]:
    made = [surface(text, type) for text in texts]
    return [
        Named(concept=concept, vocab=concept.partition(":")[0], kind=kind, text=s.text, norm=s.norm, type=s.type)
        for s in made
        if s is not None
    ]


def dictionary(
    *names: Iterable[Named], links: Iterable[tuple[str, str]] = (), starter: tuple[Concept, ...] = ()
) -> Dictionary:
    return Dictionary([n for group in names for n in group], word_lists(), links=links, starter=starter)


def found(made: Dictionary, text: str) -> list[tuple[str, str]]:
    return [(text[e.start : e.end], e.concept) for e in made.find(text)]


def test_longest_then_leftmost_and_nothing_across_a_bracket_or_comma() -> None:
    made = dictionary(
        named("D:1", "renal failure"), named("D:2", "acute renal failure"), named("D:3", "failure thrive")
    )
    assert found(made, "Acute  renal failure thrive, renal; failure") == [("Acute  renal failure", "D:2")]
    assert found(made, "renal (failure)") == found(made, "renal, failure") == []
    assert found(made, "renal-failure") == [("renal-failure", "D:1")]


def test_a_plural_is_its_singular() -> None:
    made = dictionary(named("D:1", "renal stone"), named("D:2", "abscess"))
    assert found(made, "Renal stones and abscess") == [("Renal stones", "D:1"), ("abscess", "D:2")]


def test_one_group_by_number_then_by_name_and_its_canonical_id() -> None:
    made = dictionary(
        named("HP:1", "ringing bones"), named("DOID:1", "ringing bone disease"), named("ICD10CM:M98", "ringing bones"),
        named("MSH:D1", "glass bones"), named("WR:ringing", "ringing bones"),
        links=[("HP:1", "UMLS:C1"), ("DOID:1", "UMLS:C1")],
    )  # fmt: skip
    (entity,) = made.find("ringing bones")
    assert entity.concept == "ICD10CM:M98"
    assert entity.concepts == ("ICD10CM:M98", "DOID:1", "HP:1", "WR:ringing")
    assert made.find("ringing bone disease")[0].concept == "DOID:1"
    assert made.entry("Glass Bones") == ("MSH:D1",)
    assert made.entry("nothing") == ()


def test_what_is_never_matched() -> None:
    made = dictionary(
        named("X:1", "left", "chronic", "family history"), named("X:2", "mode of inheritance", kind="other"),
        named("X:3", "noise", type="broad"), named("X:4", "XQZ"),
    )  # fmt: skip
    assert found(made, "left chronic family history, mode of inheritance, noise, XQZ") == []


def test_pairs_and_forms_belong_to_the_name() -> None:
    made = dictionary(
        named("D:1", "breast cancer"), named("D:2", "ovarian cancer"), named("D:3", "deafness", kind="finding")
    )
    text = "Hereditary breast and ovarian cancer; breast/ovarian cancers; lung and ovarian cancer; familial deafness"
    assert [t for t, _ in found(made, text)] == [
        "Hereditary breast and ovarian cancer", "breast/ovarian cancers", "ovarian cancer", "deafness",
    ]  # fmt: skip
    assert made.find(text)[0].concepts == ("D:2", "D:1")


def test_abbreviations_are_listed_or_explained_and_as_written() -> None:
    made = dictionary(
        named("D:1", "glass bone disease"), named("D:2", "atrial fibrillation"), named("D:3", "AKI", "COPD")
    )
    text = "Glass bone disease (GBD) runs in families. GBD rings; gbd does not. AF and AKI, aki. Copd. A disease (XYZ)."
    assert found(made, text) == [
        ("Glass bone disease", "D:1"), ("GBD", "D:1"), ("GBD", "D:1"), ("AF", "D:2"), ("AKI", "D:3"),
    ]  # fmt: skip


def test_an_ambiguous_abbreviation_needs_a_concept_of_its_field() -> None:
    starter = (
        Concept(id="WR:pulmonary-embolism", name="pulmonary embolism", kind="disease", surfaces=("PE",)),
        Concept(id="WR:dyspnoea", name="breathlessness", kind="finding"),
        Concept(id="WR:rash", name="rash", kind="finding"),
    )
    made = dictionary(starter=starter)
    assert [t for t, _ in found(made, "PE with breathlessness")] == ["PE", "breathlessness"]
    assert [t for t, _ in found(made, "PE lessons and a rash")] == ["rash"]
