"""What a machine lacks is one sentence with the exact command, or is installed when root."""

from __future__ import annotations

import os
from pathlib import Path

import machine
import pytest

AVX2 = "processor\t: 0\nflags\t\t: fpu sse4_2 avx f16c avx2 bmi2\n"
OLD = "processor\t: 0\nflags\t\t: fpu sse4_2 avx f16c\n"
LDD = "\tlibxcb.so.1 => /lib/libxcb.so.1 (0x0)\n\tlibxcb-cursor.so.0 => not found\n\tlibEGL.so.1 => not found\n"
GIB = 2**30

FINE = {
    "python": machine.python_lack((3, 11)),
    "newer python": machine.python_lack((3, 14)),
    "processor": machine.processor_lack(AVX2),
    "no cpuinfo": machine.processor_lack(""),
    "disk": machine.disk_lack(Path("here"), 4 * GIB),
    "venv": machine.venv_lack(True),
    "compiler": machine.compiler_lack("/usr/bin/g++"),
    "cmake": machine.cmake_lack("cmake version 3.21.0"),
    "newer cmake": machine.cmake_lack("cmake version 4.0.1"),
    "qt": machine.qt_lack("\tlibxcb.so.1 => /lib/libxcb.so.1 (0x0)\n"),
}
LACKING = {
    "python": (machine.python_lack((3, 10)), "sudo apt-get install python3.11 python3.11-venv", ()),
    "processor": (machine.processor_lack(OLD), "lacks AVX2", ()),
    "disk": (machine.disk_lack(Path("here"), GIB), "here has 1.0 GiB free and the set-up needs 3 GiB", ()),
    "venv": (machine.venv_lack(False), "venv and pip", ("python3-venv",)),
    "compiler": (machine.compiler_lack(None), "C++ compiler", ("build-essential",)),
    "cmake": (machine.cmake_lack(None), "cmake is missing", ("cmake", "ninja-build")),
    "old cmake": (machine.cmake_lack("cmake version 3.18.4"), "3.18 is too old: 3.21", ("cmake", "ninja-build")),
    "qt": (machine.qt_lack(LDD), "libEGL.so.1, libxcb-cursor.so.0", machine.QT_PACKAGES),
}


@pytest.mark.parametrize("name", FINE)
def test_nothing_is_said_of_what_is_there(name: str) -> None:
    assert FINE[name] is None


@pytest.mark.parametrize("name", LACKING)
def test_what_is_missing_is_said(name: str) -> None:
    lack, words, packages = LACKING[name]
    assert lack is not None
    assert words in lack.sentence
    assert lack.sentence.endswith(".")
    assert lack.packages == packages


def test_without_root_the_exact_command_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    lacks = [machine.Lack("A is missing.", ("a",)), machine.Lack("B is missing.", ("b2", "b1"))]
    with pytest.raises(machine.SetupProblem) as stopped:
        machine.supply(lacks, tmp_path / "log")
    command = "sudo apt-get update && sudo apt-get install -y a b1 b2"
    assert str(stopped.value) == f"A is missing. B is missing. Install with: {command}"


def test_what_no_package_brings_stops_even_root(tmp_path: Path) -> None:
    lacks = [machine.Lack("A is missing.", ("a",)), machine.Lack("The disk is full.")]
    with pytest.raises(machine.SetupProblem, match="^A is missing. The disk is full.$"):
        machine.supply(lacks, tmp_path / "log")
    assert not (tmp_path / "log").exists()


def fake_apt(folder: Path, status: int) -> None:
    """A stand-in for apt-get that writes down how it was called."""
    program = folder / "apt-get"
    program.write_text(f'#!/bin/sh\necho "$DEBIAN_FRONTEND $@" >> {folder}/calls\nexit {status}\n')
    program.chmod(0o755)


def test_root_installs_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_apt(tmp_path, 0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    machine.supply([machine.Lack("A is missing.", ("a",))], tmp_path / "log")
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls == ["noninteractive update", "noninteractive install -y --no-install-recommends a"]


def test_failed_installation_names_command_and_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_apt(tmp_path, 100)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(machine.SetupProblem, match=r"`apt-get install .* a` failed; its output is in .*log"):
        machine.supply([machine.Lack("A is missing.", ("a",))], tmp_path / "log")


def test_absent_command_answers_nothing() -> None:
    assert machine.answer("no-such-program-anywhere") is None
    assert machine.answer("printf", "x") == "x"
