"""What a machine must have before the set-up can work, and how to bring what is missing.

Standard library only. Each thing missing is one sentence with the exact command; as root on Debian or Ubuntu it is
installed instead. Knows nothing of virtual environments or of the application.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

OLDEST_PYTHON = (3, 11)
OLDEST_CMAKE = (3, 21)
DISK_GIB = 3.0  # environment 0.7, model 0.1, build of the model engine 1.2, caches of pip 0.4, and a margin
# The libraries that Qt's xcb and offscreen platforms load on a bare Debian 12, found by `ldd`, and a font to draw with.
# fmt: off
QT_PACKAGES = (
    "libegl1", "libgl1", "libxkbcommon0", "libxkbcommon-x11-0", "libdbus-1-3", "libfontconfig1", "libglib2.0-0",
    "libwayland-client0", "libx11-xcb1", "libxcb-cursor0", "libxcb-icccm4", "libxcb-image0", "libxcb-keysyms1",
    "libxcb-randr0", "libxcb-render-util0", "libxcb-shape0", "libxcb-sync1", "libxcb-xfixes0", "libxcb-xinerama0",
    "libxcb-xkb1", "fonts-dejavu-core",
)
# fmt: on


class SetupProblem(Exception):
    """One sentence for the person: what is missing or failed, and the exact command where there is one."""


@dataclass(frozen=True)
class Lack:
    """One thing that is missing: the sentence, and the Debian packages that bring it (none: a person must act)."""

    sentence: str
    packages: tuple[str, ...] = ()


def python_lack(version: tuple[int, ...]) -> Lack | None:
    """Too old a Python cannot be mended from inside it."""
    if version[:2] >= OLDEST_PYTHON:
        return None
    found, wanted = (".".join(map(str, pair)) for pair in (version[:2], OLDEST_PYTHON))
    return Lack(
        f"Wardround needs Python {wanted} or newer, and this is {found}: install one "
        f"(sudo apt-get install python{wanted} python{wanted}-venv) and start the set-up with python{wanted}."
    )


def processor_lack(cpuinfo: str) -> Lack | None:
    """The portable build of the model engine uses AVX2; `cpuinfo` is the text of /proc/cpuinfo ("" if unknown)."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    if flags is None or "avx2" in flags[1].split():
        return None
    return Lack("This processor lacks AVX2, which the model engine needs: use a machine with one made after 2015.")


def disk_lack(folder: Path, free_bytes: int) -> Lack | None:
    """Room for the environment, the model and one build."""
    free = free_bytes / 2**30
    if free >= DISK_GIB:
        return None
    return Lack(f"{folder} has {free:.1f} GiB free and the set-up needs {DISK_GIB:.0f} GiB: make room there (df -h).")


def venv_lack(has_ensurepip: bool) -> Lack | None:
    """Debian splits pip and virtual environments from Python."""
    return None if has_ensurepip else Lack("Python's venv and pip modules are missing.", ("python3-venv",))


def compiler_lack(found: str | None) -> Lack | None:
    """The model engine is compiled once."""
    return None if found else Lack("A C++ compiler (g++) is missing.", ("build-essential",))


def cmake_lack(version_text: str | None) -> Lack | None:
    """`version_text` is the answer of `cmake --version`, None if there is no cmake."""
    wanted = ".".join(map(str, OLDEST_CMAKE))
    found = re.search(r"(\d+)\.(\d+)", version_text or "")
    if found is None:
        return Lack("cmake is missing.", ("cmake", "ninja-build"))
    if (int(found[1]), int(found[2])) < OLDEST_CMAKE:
        return Lack(f"cmake {found[0]} is too old: {wanted} is needed.", ("cmake", "ninja-build"))
    return None


def qt_lack(ldd_text: str) -> Lack | None:
    """`ldd_text` is what ldd says of Qt's platform plugins."""
    missing = sorted(set(re.findall(r"^\s*(\S+) => not found", ldd_text, re.MULTILINE)))
    if not missing:
        return None
    return Lack(f"Libraries that the window needs are missing ({', '.join(missing)}).", QT_PACKAGES)


def machine_lacks(root: Path) -> list[Lack]:
    """Everything that this machine lacks before an environment can be made in the folder `root`."""
    lacks = [
        python_lack(sys.version_info[:2]),
        processor_lack(read_cpuinfo()),
        disk_lack(root, shutil.disk_usage(root).free),
        venv_lack(importlib.util.find_spec("ensurepip") is not None),
    ]
    if sys.platform != "win32":  # unverified: on Windows pip says itself when Visual Studio's build tools are missing
        lacks += [compiler_lack(shutil.which("g++") or shutil.which("c++")), cmake_lack(answer("cmake", "--version"))]
    found = [lack for lack in lacks if lack]
    # Qt's libraries can be tested only once Qt is there; whoever must install something is asked once, not twice.
    with_packages = sys.platform == "linux" and any(lack.packages for lack in found)
    return found + ([Lack("The window's libraries come with the same command.", QT_PACKAGES)] if with_packages else [])


def read_cpuinfo() -> str:
    """The kernel's description of an x86 processor, "" elsewhere: the AVX2 rule is about x86 only."""
    file = Path("/proc/cpuinfo")
    is_x86 = platform.machine().lower() in ("x86_64", "amd64")
    return file.read_text(errors="replace") if is_x86 and file.exists() else ""


def answer(*command: str) -> str | None:
    """What a command prints, None where it does not exist."""
    if not shutil.which(command[0]):
        return None
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def qt_lacks(site_packages: Path) -> list[Lack]:
    """What the platform plugins of the installed Qt miss on this machine."""
    plugins = [site_packages / f"PySide6/Qt/plugins/platforms/libq{name}.so" for name in ("xcb", "offscreen")]
    present = [str(plugin) for plugin in plugins if plugin.exists()]
    if sys.platform != "linux" or not present:
        return []
    lack = qt_lack(answer("ldd", *present) or "")
    return [lack] if lack else []


def supply(lacks: list[Lack], log: Path) -> None:
    """Install what is missing, or stop with sentences that say what a person must do."""
    if not lacks:
        return
    packages = sorted({package for lack in lacks for package in lack.packages})
    sentences = " ".join(lack.sentence for lack in lacks)
    if not all(lack.packages for lack in lacks):
        raise SetupProblem(sentences)
    if not can_install():
        command = f"sudo apt-get update && sudo apt-get install -y {' '.join(packages)}"
        raise SetupProblem(f"{sentences} Install with: {command}")
    print(f"    {sentences} Installing: {' '.join(packages)}", flush=True)
    apt_install(packages, log)


def can_install() -> bool:
    """Only root on a machine with apt."""
    return sys.platform == "linux" and os.geteuid() == 0 and shutil.which("apt-get") is not None


def apt_install(packages: list[str], log: Path) -> None:
    """Install Debian packages without a question; what apt says goes to the log."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with log.open("a", encoding="utf-8") as out:
        for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
            line = ["apt-get", *command]
            done = subprocess.run(line, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=environment, check=False)
            if done.returncode and command[0] == "install":
                raise SetupProblem(f"`{' '.join(line)}` failed; its output is in {log}.")
