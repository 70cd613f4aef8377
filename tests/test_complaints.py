"""The complaints of peers' users are tests under their numbers (product.md section 7): none missing, none unknown.

Each is a function `test_complaint_<id>...` whose docstring names at least one of the threads that it answers. A name
may bear two ids, an id several tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

TESTS = Path(__file__).resolve().parent
ID = re.compile(r"[A-G]\d+")
MOST = 40  # product.md acceptance 11: at least so many

# Where people complained, by number. `repository#1#2` are two threads of one.
THREADS = {
    "A1": "lmstudio-ai/lmstudio-bug-tracker#1056",
    "A2": "lmstudio-ai/lmstudio-bug-tracker#934",
    "A3": "open-webui/open-webui#2675#4247 Mintplex-Labs/anything-llm#821#836#1980#3238",
    "A4": "wasserth/TotalSegmentator#437#226#353#462#516#196 bowang-lab/MedSAMSlicer#9 simonw/llm#188 "
    "UMEssen/Body-and-Organ-Analysis#23 Project-MONAI/MONAILabel#1712",
    "A5": "ggml-org/llama.cpp#5904#1735#15250",
    "A6": "ggml-org/llama.cpp#3358",
    "A7": "ollama/ollama#8105#9430#9846#13775 Mintplex-Labs/anything-llm#6127",
    "A8": "nomic-ai/gpt4all#3513",
    "B1": "ollama/ollama#10707",
    "B2": "ollama/ollama#1952#7440#2950",
    "B3": "SciSharp/LLamaSharp#337 Project-MONAI/MONAILabel#373#1351",
    "B4": "abetlen/llama-cpp-python#839 JamePeng/llama-cpp-python#26 nomic-ai/gpt4all#82 "
    "lmstudio-ai/lmstudio-bug-tracker#1885",
    "B5": "Slicer/Slicer#9203#8638",
    "B6": "open-webui/open-webui#4188#16596",
    "C1": "nomic-ai/gpt4all#1106#2810#3145#3406#727#1311#2748",
    "C2": "lmstudio-ai/lmstudio-bug-tracker#2343#1621",
    "C3": "lmstudio-ai/lmstudio-bug-tracker#1015 janhq/jan#1881#8357 chatboxai/chatbox#2270",
    "C4": "lmstudio-ai/lmstudio-bug-tracker#983#872",
    "D1": "open-webui/open-webui#10979#11204",
    "D2": "open-webui/open-webui#1251#1664 Mintplex-Labs/anything-llm#2212",
    "D3": "nomic-ai/gpt4all#3138",
    "D4": "nomic-ai/gpt4all#1240#1908",
    "E1": "nomic-ai/gpt4all#2376 open-webui/open-webui#2684#1166#1567 Mintplex-Labs/anything-llm#1760#5424 "
    "lmstudio-ai/lmstudio-bug-tracker#573#1994",
    "E2": "oobabooga/textgen#866#2479 LostRuins/koboldcpp#117#391#386 ggml-org/llama.cpp#22746 "
    "abetlen/llama-cpp-python#893",
    "E3": "zylon-ai/private-gpt#2270 langchain-ai/docs#2675 codelibs/fess#3065",
    "F1": "nroduit/Weasis#472#810",
    "F2": "nroduit/Weasis#111#226#755#443#712",
    "F3": "nroduit/Weasis#858#855#870",
    "F4": "nroduit/Weasis#860",
    "F5": "pydicom/pydicom#1799#2324#340#150",
    "F6": "OHIF/Viewers#4021#4812#5406#1700#1705",
    "F7": "OHIF/Viewers#3229#4150#1438#501#6062 cornerstonejs/cornerstone3D#491 nroduit/Weasis#275",
    "F8": "OHIF/Viewers#1794#353#5532 horosproject/horos#485",
    "F9": "ENHANCE-PET/MOOSE#232 Project-MONAI/model-zoo#766 MIC-DKFZ/nnUNet#869 Project-MONAI/MONAILabel#1407 "
    "Google-Health/medgemma#16",
    "F10": "johnperry/CTP#16 pydicom/pydicom#375 blairconrad/dicognito#43",
    "F11": "Damaged J2K",  # measured, nobody's thread
    "G1": "ggml-org/llama.cpp#18571 lmstudio-ai/lmstudio-bug-tracker#2231 LostRuins/koboldcpp#519#2339 "
    "ollama/ollama#5329 SimpleITK/SimpleITK#1255 Slicer/Slicer#3999#4314 commontk/CTK#404",
    "G2": "nroduit/Weasis#109#168 Slicer/Slicer#4418",
    "G3": "ollama/ollama#2111#11256#11527#10116#3312 nomic-ai/gpt4all-chat#13",
    "G4": "pyinstaller/pyinstaller#5668#2255#6062",
    "G5": "orthanc-server/orthanc-explorer-2#50 open-webui/open-webui#15075#5019#12448 healthchainai/HealthChain#106",
    "G6": "bowang-lab/MedRAX",
}
# What a complaint waits for: there is nothing yet that it could be made of.
DUE = {
    "F4": "the viewer, whose presets it is about",
    "F8": "the viewer: two studies side by side, presets and layouts",
    "G3": "the package of a release",
    "G4": "the package of a release",
    "G5": "accounts and the audit trail",
}
# Tested as far as the program goes; the rest comes with what is named.
HALVES = {
    "F3": "means, lengths, angles and areas on cropped and flipped views: the viewer",
    "F6": "re-reading our own exports, segmentations of any modality: the export",
    "F7": "scrolling through the series: the viewer",
    "F9": "the click on a voxel, coordinates of NIfTI: the viewer",
    "F10": "writing without identity: the export",
    "G1": "export of a study: the export",
}


class Found(msgspec.Struct, frozen=True):
    """A test that bears the number of a complaint."""

    where: str
    ids: tuple[str, ...]
    said: str


def ids_of(name: str) -> tuple[str, ...]:
    """The ids at the start of what follows `test_complaint_`; none is a fault as well, an empty tuple."""
    found = []
    for part in name.removeprefix("test_complaint_").split("_"):
        if not ID.fullmatch(part):
            break
        found.append(part)
    return tuple(found)


def complaints(tree: ast.AST, where: str) -> Iterator[Found]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name.lower().startswith("test_complaint"):
            said = " ".join((ast.get_docstring(node) or "").split())
            yield Found(f"{where}:{node.name}", ids_of(node.name), said)


def threads(identifier: str) -> list[tuple[str, str]]:
    """Repository and number of each thread; without a number the words themselves."""
    listed = THREADS[identifier]
    if "#" not in listed:
        return [(listed, "")]
    parts = (entry.split("#") for entry in listed.split())
    return [(repository, number) for repository, *numbers in parts for number in numbers]


def names_a_thread(found: Found, identifier: str) -> bool:
    """Does the docstring name a thread of the complaint: its repository, and its number somewhere behind?"""
    numbers = set(re.findall(r"#(\d+)", found.said))
    return any(
        repository.rpartition("/")[2].lower() in found.said.lower() and (not number or number in numbers)
        for repository, number in threads(identifier)
    )


def faults(found: list[Found], *, due: dict[str, str] = DUE) -> list[str]:
    """What is wrong with a set of tests: one line each."""
    borne = {identifier for test in found for identifier in test.ids}
    lines = [f"{test.where}: bears no number" for test in found if not test.ids]
    lines += [f"{identifier}: unknown" for identifier in sorted(borne - set(THREADS))]
    lines += [f"{identifier}: no test" for identifier in sorted(set(THREADS) - borne - set(due))]
    lines += [f"{identifier}: has a test, and is said to wait" for identifier in sorted(borne & set(due))]
    for test in found:
        known = [identifier for identifier in test.ids if identifier in THREADS]
        lines += [f"{test.where}: names no thread of {one}" for one in known if not names_a_thread(test, one)]
    return lines


def test_every_complaint_is_a_test_or_waits_for_a_reason() -> None:
    texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(TESTS.rglob("test_*.py"))}
    bearing = {name: text for name, text in texts.items() if "def test_complaint" in text.lower()}
    found = [test for name, text in bearing.items() for test in complaints(ast.parse(text), name)]
    assert faults(found) == []
    assert len(found) >= MOST
    assert set(HALVES) <= {identifier for test in found for identifier in test.ids}
    assert set(DUE) <= set(THREADS)


def test_the_comparison_finds_what_it_is_for() -> None:
    sample = (
        'def test_complaint_A1_B1():\n    """lmstudio-bug-tracker#1056; ollama/ollama#10707: silent."""\n'
        'def test_complaint_C1():\n    """Chats were lost."""\n'
        'def test_complaint_C2_x():\n    """nomic-ai/gpt4all#2343"""\n'
        'def test_complaint_Z9():\n    """x"""\n'
        'def test_complaint_H3_x():\n    """x"""\n'
        'def test_complaint_F4():\n    """nroduit/Weasis#860"""\n'
    )
    found = list(complaints(ast.parse(sample), "s.py"))
    wrong = faults(found)
    assert "s.py:test_complaint_C1: names no thread of C1" in wrong
    assert "s.py:test_complaint_C2_x: names no thread of C2" in wrong
    assert "s.py:test_complaint_Z9: bears no number" in wrong
    assert "F4: has a test, and is said to wait" in wrong
    assert "A2: no test" in wrong
    assert not [line for line in wrong if line.startswith(("A1", "B1", "F8", "s.py:test_complaint_A1"))]
    assert "G99: unknown" in faults([Found("s.py:x", ("G99",), "")])
