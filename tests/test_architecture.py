"""The rules of the house that a machine can check: sizes, names, import contracts, tests that test something.

Every rule that reads source text has a control: a small bad sample that it must catch.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("core", "models", "tools", "desktop")
PRODUCT = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
SCRIPTS = sorted((ROOT / "packaging").glob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
ALL = PRODUCT + SCRIPTS + TESTS
FILE_LINES, FUNCTION_LINES, COMPLEXITY = 500, 60, 10
VAGUE = {"utils", "util", "helpers", "helper", "manager", "managers", "base", "common", "misc", "stuff"}
DYNAMIC = {"eval", "exec", "compile", "__import__"}
NATIVE = {"llama_cpp", "onnxruntime"}
OBJECT_STREAMS = {"pickle", "marshal", "shelve", "dill"}
# A workflow takes time, chance and files from its Run, or resume and replay would differ.
IMPURE = {"time", "datetime", "random", "uuid", "secrets", "os", "pathlib", "io", "threading", "subprocess"}
UNFINISHED = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "X" * 3, "NotImplemented" + "Error", "place" + "holder")))

Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def name_of(file: Path) -> str:
    return str(file.relative_to(ROOT))


def functions(tree: ast.AST) -> Iterator[Function]:
    yield from (node for node in ast.walk(tree) if isinstance(node, Function))


def imports(nodes: Iterator[ast.AST]) -> set[str]:
    """The top-level names that import statements among the nodes bring in."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node that runs when the module is imported."""
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, Function | ast.Lambda):
            yield node
            yield from outside_functions(node)


# ------------------------------------------------------------------------------------------------ size and names


def test_there_is_something_to_check() -> None:
    assert {file.relative_to(ROOT).parts[0] for file in PRODUCT} == set(PACKAGES)
    assert SCRIPTS
    assert len(TESTS) > 3


def test_files_are_short() -> None:
    lengths = {name_of(file): len(file.read_text(encoding="utf-8").splitlines()) for file in ALL}
    assert {name: n for name, n in lengths.items() if n > FILE_LINES} == {}


def too_long(tree: ast.AST) -> dict[str, int]:
    lengths = {f"{f.name}:{f.lineno}": (f.end_lineno or f.lineno) - f.lineno + 1 for f in functions(tree)}
    return {name: n for name, n in lengths.items() if n > FUNCTION_LINES}


def test_functions_are_short() -> None:
    assert {name_of(file): found for file in ALL if (found := too_long(tree_of(file)))} == {}
    assert too_long(ast.parse("def f():\n" + "    x = 1\n" * FUNCTION_LINES)) == {"f:1": FUNCTION_LINES + 1}


def ruff_complaints(*places: Path) -> list[str]:
    config = f"lint.mccabe.max-complexity={COMPLEXITY}"
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select=C901", "--config", config]
    done = subprocess.run(
        [*command, "--output-format=concise", *map(str, places)], capture_output=True, text=True, check=False
    )
    return [line for line in done.stdout.splitlines() if "C901" in line]


def test_functions_are_simple(tmp_path: Path) -> None:
    assert ruff_complaints(*(ROOT / folder for folder in (*PACKAGES, "packaging", "tests"))) == []
    branches = "".join(f"    if a == {n}:\n        return {n}\n" for n in range(COMPLEXITY))
    (tmp_path / "knotted.py").write_text(f"def f(a):\n{branches}    return 0\n")
    assert len(ruff_complaints(tmp_path)) == 1


def test_every_file_says_what_it_is_for() -> None:
    assert [name_of(file) for file in ALL if not ast.get_docstring(tree_of(file))] == []


def test_no_vague_names() -> None:
    named = {file: set(file.relative_to(ROOT).with_suffix("").parts) & VAGUE for file in PRODUCT + SCRIPTS}
    assert {name_of(file): found for file, found in named.items() if found} == {}


def test_scripts_and_tests_are_no_packages() -> None:
    found = [file for folder in ("packaging", "tests") for file in (ROOT / folder).rglob("__init__.py")]
    assert found == []


def test_test_files_have_names_of_their_own() -> None:
    names = Counter(file.name for file in TESTS if file.name.startswith("test_"))
    assert {name for name, n in names.items() if n > 1} == set()


def test_nothing_is_left_unfinished() -> None:
    found = {name_of(file): UNFINISHED.findall(file.read_text(encoding="utf-8")) for file in PRODUCT + SCRIPTS}
    assert {name: words for name, words in found.items() if words} == {}


# -------------------------------------------------------------------------------------------------- what runs


def dynamic_code(tree: ast.AST) -> list[int]:
    """Lines that call a builtin which turns text into code."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name))
    return [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id in DYNAMIC]


def test_complaint_G6_no_text_becomes_code() -> None:
    """bowang-lab/MedRAX, its openly published agent interface: what a tool put out was evaluated as Python."""
    assert {name_of(file): found for file in PRODUCT if (found := dynamic_code(tree_of(file)))} == {}
    assert dynamic_code(ast.parse("import re\nre.compile('a')\neval('1')\n")) == [3]


def test_no_object_streams() -> None:
    found = {name_of(file): imports(ast.walk(tree_of(file))) & OBJECT_STREAMS for file in PRODUCT}
    assert {name: modules for name, modules in found.items() if modules} == {}


def test_native_engines_are_imported_inside_functions_only() -> None:
    found = {name_of(file): imports(outside_functions(tree_of(file))) & NATIVE for file in PRODUCT}
    assert {name: modules for name, modules in found.items() if modules} == {}
    assert imports(outside_functions(ast.parse("if True:\n    import llama_cpp\n"))) == {"llama_cpp"}
    assert imports(outside_functions(ast.parse("def f():\n    import llama_cpp\n"))) == set()


def test_workflows_are_pure() -> None:
    files = [file for file in PRODUCT if file.is_relative_to(ROOT / "core" / "workflows")]
    found = {name_of(file): imports(ast.walk(tree_of(file))) & IMPURE for file in files}
    assert {name: modules for name, modules in found.items() if modules} == {}


IMPORT_ALL = """
import importlib, pkgutil, sys
sys.modules["llama_cpp"] = sys.modules["onnxruntime"] = None
for name in {packages!r}:
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
            print(module.name)
"""


def test_every_module_imports_without_native_engines() -> None:
    command = [sys.executable, "-c", IMPORT_ALL.format(packages=PACKAGES)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.split()) >= len([f for f in PRODUCT if f.stem not in ("__init__", "__main__")]) * 0.9


# ------------------------------------------------------------------------------------------------------ imports


def contract_report(folder: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run([program, "--no-cache"], cwd=folder, capture_output=True, text=True, check=False)


def test_import_contracts_hold() -> None:
    report = contract_report(ROOT)
    assert report.returncode == 0, report.stdout[-3000:] + report.stderr[-1000:]
    assert " 0 broken" in report.stdout


def test_import_contracts_can_break(tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / "core" / "errors.py").open("a", encoding="utf-8") as file:
        file.write("\nimport socket\nimport sqlite3\nimport PySide6.QtCore\nimport llama_cpp\nimport core.domain\n")
    broken = set(re.findall(r"^(\d\w?) .* BROKEN", contract_report(tmp_path).stdout, re.MULTILINE))
    assert {"1b", "3", "4", "6"} <= broken


# -------------------------------------------------------------------------------------------- tests that test


def is_check(node: ast.AST, checkers: set[str]) -> bool:
    """An assertion, an expected exception, or a call of a function that holds one."""
    if isinstance(node, ast.Assert):
        return not isinstance(node.test, ast.Constant)
    if not isinstance(node, ast.Call):
        return False
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return called in {"raises", "warns"} | checkers or called.startswith("assert_")


def checkers_in(tree: ast.AST) -> set[str]:
    """Names of the functions of a module, not tests themselves, that hold an assertion."""
    plain = (f for f in functions(tree) if not f.name.startswith("test"))
    return {f.name for f in plain if any(is_check(node, set()) for node in ast.walk(f))}


def unchecked_tests(tree: ast.AST) -> list[str]:
    checkers = checkers_in(tree)
    found = [f for f in functions(tree) if f.name.startswith("test")]
    return [f.name for f in found if not any(is_check(node, checkers) for node in ast.walk(f))]


def test_every_test_can_fail() -> None:
    files = [file for file in TESTS if file.name.startswith("test_")]
    assert {name_of(file): found for file in files if (found := unchecked_tests(tree_of(file)))} == {}
    sample = "def test_a():\n    assert True\ndef test_b():\n    run()\ndef test_c(x):\n    assert x\n"
    assert unchecked_tests(ast.parse(sample)) == ["test_a", "test_b"]


def tables(tree: ast.Module) -> dict[str, int]:
    """Upper-case names bound at the top of a module to a literal table, with the number of its rows."""
    found: dict[str, int] = {}
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if is_annotated(node) else []
        rows = getattr(getattr(node, "value", None), "elts", getattr(getattr(node, "value", None), "keys", None))
        found |= {t.id: len(rows) for t in targets if isinstance(t, ast.Name) and t.id.isupper() and rows is not None}
    return found


def is_annotated(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign)


def hostile_faults(tree: ast.Module) -> list[str]:
    """What a hostile suite lacks: harmless rows through the same fixture, and a control with the defence off."""
    rows = tables(tree)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {f.name for f in functions(tree)}
    benign, hostile = rows.get("BENIGN", 0), rows.get("HOSTILE", 0)
    checks = {
        "no HOSTILE table": hostile == 0,
        "too few BENIGN rows": benign < min(10, hostile / 4),
        "no control": not any("control" in name.lower() for name in names),
    }
    return [fault for fault, found in checks.items() if found]


HOSTILE_FILES = sorted((ROOT / "tests" / "hostile").glob("test_*.py"))


def test_hostile_suites_have_harmless_rows_and_a_control() -> None:
    assert {name_of(file): found for file in HOSTILE_FILES if (found := hostile_faults(tree_of(file)))} == {}
    weak = "HOSTILE = [1, 2, 3, 4, 5, 6, 7, 8]\nBENIGN = [1]\n"
    assert hostile_faults(ast.parse(weak)) == ["too few BENIGN rows", "no control"]
    sound = "HOSTILE = [1, 2, 3, 4]\nBENIGN = [1]\ndef test_control():\n    assert run()\n"
    assert hostile_faults(ast.parse(sound)) == []


# The handbook is written from the program's own metadata, by a maintainer; set-up never runs it.
SETUP_SCRIPTS = [script for script in SCRIPTS if script.name != "handbook.py"]


@pytest.mark.parametrize("file", SETUP_SCRIPTS, ids=lambda file: file.name)
def test_set_up_scripts_use_the_standard_library_only(file: Path) -> None:
    ours = {script.stem for script in SCRIPTS}
    assert imports(ast.walk(tree_of(file))) - ours - set(sys.stdlib_module_names) == set()
