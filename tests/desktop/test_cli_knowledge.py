"""`wardround knowledge` as a site uses it: two editions of a guideline, filters, packs as files, damage, Ctrl+C."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import threading
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from desktop.cli import arguments, boundary, commands, doctor, session
from tests.helpers.shelf import sentences

GUIDELINE = """---
title: {title}
edition: {edition}
licence: {licence}
---
# Symptoms
Sudden joint pain, joint swelling and fever. Zyzzyva stands here as a word that nothing else has.

# Treatment
Ice the joint and give naproxen {dose} mg twice a day.
"""
Values = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def shelf(warm: Path, home: Path) -> None:
    """A profile whose index is built already."""
    shutil.copytree(warm, home, dirs_exist_ok=True)


def cli(*given: str) -> int:
    return boundary.guard(lambda: commands.execute(arguments.parse(["knowledge", *given])))


def told(capsys: Values, *given: str, code: int = 0) -> str:
    """What a command prints, on either stream."""
    capsys.readouterr()
    assert cli(*given) == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return captured.out + captured.err


def value(capsys: Values, *given: str) -> Any:
    capsys.readouterr()
    assert cli(*given, "--json") == 0
    return json.loads(capsys.readouterr().out)


def write(folder: Path, name: str, **fields: str) -> str:
    path = folder / name
    path.write_text(
        GUIDELINE.format(**({"title": "Gout", "edition": "2024", "licence": "own", "dose": "500"} | fields))
    )
    return str(path)


def test_two_editions_of_a_guideline(tmp_path: Path, capsys: Values) -> None:
    first = write(tmp_path, "a.md")
    assert value(capsys, "add", first, "--concept-of", "gout", "--issued-on", "2024-03")["pack"] == "gout-2024"
    assert told(capsys, "add", first, "--edition", "2025", "--replaces", "gout-2023", code=1).startswith("There is no")
    told(capsys, "approve", "gout-2024", "--reason", "read")
    conditions = value(capsys, "list", "--conditions")
    assert [(row["title"], row["clues"]) for row in conditions if row["derived"]] == [("Gout", 3)]

    other = write(tmp_path, "a.md", dose="250")
    assert "has other content" in told(capsys, "add", other, code=1)
    report = value(capsys, "add", other, "--edition", "2026", "--replaces", "gout-2024", "--issued-on", "2026")
    assert [(c["verdict"], c["path"], c["numbers"]) for c in report["changes"]] == [
        ("same", "Symptoms", ""), ("changed", "Treatment", "500 → 250"),
    ]  # fmt: skip
    said = told(capsys, "approve", "gout-2026")
    assert "1 same, 1 changed, 0 added, 0 removed" in said and "numbers 500 → 250" in said
    assert "gout-2024 is superseded by it." in said

    hits = value(capsys, "search", "zyzzyva")
    assert [(hit["passage"]["pack"], hit["state"]) for hit in hits] == [("gout-2026", "active")]
    hits = value(capsys, "search", "zyzzyva", "--also-superseded", "--pack", "gout-2024")
    assert [(hit["passage"]["pack"], hit["remark"]) for hit in hits] == [
        ("gout-2024", "This guideline edition (2024) is superseded by 2026")
    ]
    said = told(capsys, "search", "naproxen", "--class", "treatment", "--pack", "gout-2026", "--why")
    assert "Reached by: " in said and "ranks: bm25 1; Gout, edition 2026" in said and "licence own" in said
    assert "No passage matches." in told(capsys, "search", "naproxen", "--class", "tests", "--pack", "gout-2026")
    rows = {row["id"]: row for row in value(capsys, "list")}
    assert (rows["gout-2026"]["expires_on"], rows["gout-2024"]["state"]) == ("2031-01-01", "superseded")
    assert "No finished run cites gout-2024." in told(capsys, "show", "gout-2024", "--used-by")
    said = told(capsys, "show", "gout-2024")
    assert "licence id: own" in said and "active → superseded" in said and "replaced by gout-2026" in said


def test_dates_announce_and_end(tmp_path: Path, capsys: Values) -> None:
    path, today = write(tmp_path, "a.md"), date.today()
    soon, past = (str(today + timedelta(days=n)) for n in (30, -1))
    told(capsys, "add", path, "--expires-on", soon)
    told(capsys, "approve", "gout-2024")
    assert f"gout-2024: This guideline edition (2024) expires on {soon}." in told(capsys, "list")
    told(capsys, "add", path, "--id", "old", "--expires-on", past)
    assert f"old expired on {past} by its dates" in told(capsys, "approve", "old", code=1)
    assert "'soon' is no date for its end" in told(capsys, "add", path, "--expires-on", "soon", code=1)
    assert "'../x' is no name for a pack" in told(capsys, "add", path, "--id", "../x", code=1)


def test_a_pack_goes_to_another_profile_by_file(
    tmp_path: Path, capsys: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "add", write(tmp_path, "a.md", licence="CC BY-NC 4.0"))
    assert value(capsys, "show", "gout-2024")["pack"]["licence_id"] == "CC-BY-NC-4.0"
    out = str(tmp_path / "gout.wrpack")
    assert "may not be given to another organisation" in told(capsys, "export", "gout-2024", "--out", out, code=1)
    assert "There is no folder" in told(capsys, "export", "gout-2024", "--out", str(tmp_path / "no" / "a"), code=1)
    assert out in told(capsys, "export", "gout-2024", "--out", out, "--within-site")
    assert "within this site" in told(capsys, "show", "gout-2024")
    monkeypatch.setenv("WARDROUND_HOME", str(tmp_path / "other"))
    report = value(capsys, "add", out)
    assert (report["pack"], report["state"], report["docs"]) == ("gout-2024", "draft", 1)
    again = tmp_path / "again.wrpack"
    told(capsys, "export", "gout-2024", "--out", str(again), "--within-site")
    assert again.read_bytes() == Path(out).read_bytes()
    again.write_bytes(b"PK" + again.read_bytes()[5:])
    assert "of again.wrpack is damaged" in told(capsys, "add", str(again), code=1)
    assert "one .wrpack file at a time" in told(capsys, "add", out, str(again), code=1)


def test_damage_is_said_quarantined_and_mended(tmp_path: Path, home: Path, capsys: Values) -> None:
    path = write(tmp_path, "a.md")
    told(capsys, "add", path)
    told(capsys, "approve", "gout-2024")
    assert "every text is as it was imported" in told(capsys, "verify")
    with sqlite3.connect(home / "profile" / "knowledge.db") as connection:
        connection.execute("UPDATE knowledge_section SET text = replace(text, '500 mg', '800 mg')")
    connection.close()
    said = told(capsys, "verify", "gout-2024", code=1)
    assert "Section Treatment of gout-2024:a.md was changed on disk." in said
    assert "gout-2024 is damaged and quarantined" in said
    assert "damaged and cannot be approved" in told(capsys, "approve", "gout-2024", code=1)
    assert "No passage matches." in told(capsys, "search", "zyzzyva")
    assert value(capsys, "add", path)["state"] == "draft"
    assert "every text is as it was imported" in told(capsys, "verify", "gout-2024")


def test_the_index_is_made_anew(home: Path, capsys: Values) -> None:
    found = value(capsys, "search", "raised D-dimer")
    kept = next((home / "cache" / "knowledge" / "passages").glob("*.store"))
    assert "passages indexed." in told(capsys, "reindex")
    assert not kept.exists()
    assert value(capsys, "search", "raised D-dimer") == found


def test_ctrl_c_leaves_nothing_half(tmp_path: Path, capsys: Values) -> None:
    rng = random.Random(1)
    path = tmp_path / "big.jsonl"
    texts = [sentences(rng, 30) for _ in range(50)]
    rows = ({"id": f"d{n}", "title": f"t{n}", "content": rng.choice(texts)} for n in range(40_000))
    path.write_text("\n".join(map(json.dumps, rows)))
    told(capsys, "add", write(tmp_path, "a.md"))  # the store is there, the index built
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    said = told(capsys, "add", str(path), "--licence", "own", code=1)
    timer.join()
    assert said.endswith("Stopped. Nothing was imported.\n")
    assert [row["id"] for row in value(capsys, "list")] == ["gout-2024", "starter"]


def test_a_folder_says_its_form_and_the_same_again_is_unchanged(tmp_path: Path, capsys: Values) -> None:
    folder = tmp_path / "guides"
    folder.mkdir()
    write(folder, "a.md")
    write(folder, "b.md", title="Gout in the aged")
    (folder / "README.txt").write_text("What lies here.")
    first = told(capsys, "add", str(folder), "--id", "guides")
    assert first.startswith("Recognised by content: document.\nguides: 2 documents, ")
    assert "not taken over: README.txt: of no form that is read" in first
    assert "guides: unchanged; 2 documents, " in told(capsys, "add", str(folder), "--id", "guides")
    forced = told(capsys, "add", str(folder), "--id", "guides", "--as", "document", "--licence", "own")
    assert forced.startswith("guides: 3 documents, ")
    (folder / "words.obo").write_text("format-version: 1.2\nontology: o\n\n[Term]\nid: O:1\nname: Glass bone\n")
    assert "several forms: 2 x document (a.md ...), 1 x obo" in told(capsys, "add", str(folder), code=1)
    with pytest.raises(SystemExit) as ended:
        cli("add", str(folder), "--as", "scroll")
    assert ended.value.code == 2
    assert "'scroll' (choose from 'document', 'medlineplus'" in capsys.readouterr().err


def test_without_embedder_and_vocabulary_all_works_and_the_doctor_says_what_is_missing(
    tmp_path: Path, capsys: Values
) -> None:
    """knowledge.md, acceptance 20: words find, what is found resolves, a lookup says what it lacks."""
    told(capsys, "add", write(tmp_path, "a.md"), "--id", "gout")
    told(capsys, "approve", "gout")
    (hit, *_) = value(capsys, "search", "zyzzyva")
    assert (hit["passage"]["key"], set(hit["ranks"])) == ("gout:a.md#1", {"bm25"})
    assert "No installed vocabulary has gout" in told(capsys, "lookup", "gout", code=1)
    with session.opened(arguments.parse(["doctor"]), writes=False) as opened:
        checks = {check.name: check for check in doctor._knowledge(opened)}
    missing = {name: checks[name].text for name in ("vocabularies", "embedder all-MiniLM-L6-v2-int8", "vectors")}
    assert "wardround knowledge add FILE brings one in" in missing["vocabularies"]
    assert "searched by words alone" in missing["embedder all-MiniLM-L6-v2-int8"]
    assert "missing for gout, starter" in missing["vectors"]
    assert {checks[name].state for name in missing} == {"optional"}


def test_vectors_are_made_by_the_command_and_the_search_says_by_what_it_found(
    tmp_path: Path, capsys: Values, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "a.md")
    told(capsys, "add", path, "--id", "gout")
    assert "Searched by words alone.\n" in told(capsys, "search", "zyzzyva")  # no embedder: nothing is missing
    monkeypatch.setenv("WARDROUND_TESTING", "1")
    monkeypatch.setenv("WARDROUND_TEST_EMBEDDER", "hashed")
    assert "given vectors" not in told(capsys, "approve", "gout", "--no-vectors")
    missing = told(capsys, "search", "zyzzyva")
    assert "Searched by words alone." in missing
    assert "passages have no vector yet: wardround knowledge reindex --vectors" in missing
    assert "passages given vectors." in told(capsys, "reindex", "--vectors")
    assert "Searched by words and vectors.\n" in told(capsys, "search", "zyzzyva")
    assert "Searched by words alone.\n" in told(capsys, "search", "zyzzyva", "--words")
    assert [set(hit["ranks"]) for hit in value(capsys, "search", "zyzzyva")[:1]] == [{"bm25", "dense"}]
    told(capsys, "add", write(tmp_path, "b.md", title="Podagra"), "--id", "podagra")
    assert "2 passages given vectors." in told(capsys, "approve", "podagra")
