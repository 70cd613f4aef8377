"""A pack as a file: the same bytes each time and after a journey, licences kept, nothing half."""

from __future__ import annotations

import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.errors import Cancelled, UserError
from core.retrieval.index import PassageIndex
from core.retrieval.packfile import MEMBERS, export_pack
from core.retrieval.packfile_reader import import_pack
from core.store.knowledge import KnowledgeStore
from core.store.knowledge_values import Item
from tests.core.store.test_lifecycle import ITEMS
from tests.helpers.shelf import doc, open_store, pack, random_docs


class Site:
    """A store in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.store: KnowledgeStore = open_store(folder)
        self.index = PassageIndex(folder / "index", self.store)

    def put(self, *items: Item, **fields: str) -> None:
        self.store.put_pack(pack(**fields), items, actor="me")

    def export(self, name: str = "a.wrpack", *, pack: str = "lib", within_site: bool = False) -> Path:
        export_pack(self.store, pack, self.folder / name, actor="me", within_site=within_site)
        return self.folder / name


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    pair = Site(tmp_path / "here"), Site(tmp_path / "there")
    yield pair
    for site in pair:
        site.store.close()


def test_the_same_bytes_each_time_and_after_a_journey(sites: tuple[Site, Site]) -> None:
    here, there = sites
    items = (*ITEMS, *random_docs(5, 30))
    here.put(*items, licence_id="CC-BY-4.0", licence_text="Name us.", issued_on="2026-01-01", review_by="2028-01-01")
    first = here.export().read_bytes()
    assert here.export("b.wrpack").read_bytes() == first
    report = import_pack(there.store, there.index, here.folder / "a.wrpack", actor="you")
    assert (report.pack, report.state, report.docs, report.concepts) == ("lib", "draft", 32, 1)
    assert there.export().read_bytes() == first
    there.store.lifecycle.approve("lib", actor="dr")  # neither state nor names of persons travel
    assert there.export().read_bytes() == first
    assert there.store.verify() == ()
    ours, theirs = here.store.pack("lib"), there.store.pack("lib")
    assert ours is not None and theirs is not None
    assert (theirs.licence_text, theirs.review_by, theirs.files) == ("Name us.", "2028-01-01", ours.files)
    assert [doc for _, doc in there.store.documents("lib")] == sorted(
        (doc for _, doc in here.store.documents("lib")), key=lambda doc: doc.source_key
    )
    assert len(there.index.search_terms("alpha", 5)) == 2


def test_a_file_that_is_plain_to_see(sites: tuple[Site, Site]) -> None:
    """The order of what was imported does not show, and any tool for ZIP files reads it."""
    here, there = sites
    here.put(doc("a", "One."), doc("b", "Two."))
    there.put(doc("b", "Two."), doc("a", "One."))
    assert here.export().read_bytes() == there.export().read_bytes()
    with zipfile.ZipFile(here.folder / "a.wrpack") as archive:
        assert archive.testzip() is None
        assert tuple(archive.namelist()) == MEMBERS
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert b'"role": "knowledge"' in archive.read("manifest.json")
        assert archive.read("docs.jsonl").count(b"\n") == 2


def test_what_may_not_leave_the_site_is_asked_and_recorded(sites: tuple[Site, Site]) -> None:
    here, _ = sites
    here.put(doc("a", "One."), licence_id="CC-BY-SA-4.0")
    with pytest.raises(UserError, match=r"\(CC-BY-SA-4\.0\) may not be given to another organisation"):
        here.export()
    assert list(here.folder.glob("*.wrpack*")) == []
    here.export(within_site=True)
    last = here.store.lifecycle.changes("lib")[-1]
    assert (last.what, last.user, last.reason, last.to_state) == ("export", "me", "within this site", "active")
    assert here.store.verify() == ()


def test_what_is_not_exported(sites: tuple[Site, Site]) -> None:
    here, _ = sites
    with pytest.raises(UserError, match="no knowledge pack lib"):
        here.export()
    here.put(doc("a", "Give 5 mg."))
    with here.store._database.transaction("test", "tamper", "section") as connection:
        connection.execute("UPDATE knowledge_section SET text = replace(text, '5', '7')")
    with pytest.raises(UserError, match=r"damaged and is not exported\. Section Part 0 of lib:a"):
        here.export()
    assert list(here.folder.glob("*.wrpack*")) == []


def test_an_edition_in_use_is_not_overwritten_and_a_vocabulary_is_active_at_once(sites: tuple[Site, Site]) -> None:
    here, there = sites
    here.put(doc("a", "One."))
    there.store.put_pack(pack(edition="2", state="draft"), [doc("a", "Other.")], actor="you")
    path = here.export()
    import_pack(there.store, None, path, actor="you")  # a draft may be written over
    there.store.lifecycle.approve("lib", actor="dr")
    assert import_pack(there.store, None, path, actor="you").put.writes == 0
    here.store.put_pack(pack(edition="3"), [doc("a", "New.")], actor="me")
    with pytest.raises(UserError, match=r"is active and has other content.*--replaces lib"):
        import_pack(there.store, None, here.export(), actor="you")
    here.store.put_pack(pack("words", kind="vocabulary", edition="9"), ITEMS[2:], actor="me")
    assert import_pack(there.store, None, here.export(pack="words"), actor="you").state == "active"


def test_a_stop_leaves_nothing(sites: tuple[Site, Site]) -> None:
    here, there = sites
    here.put(*random_docs(1, 450))
    stop = threading.Event()
    told: list[int] = []

    def stop_at(progress: object) -> None:
        told.append(progress.records)  # type: ignore[attr-defined]
        stop.set()

    with pytest.raises(Cancelled):
        import_pack(there.store, None, here.export(), actor="you", on_progress=stop_at, stop=stop)
    assert told == [200]
    assert there.store.packs() == ()
