"""The two commands of a newcomer: `demo` sets everything up and runs the example case, `test` runs every check.

Standard library only, made for a bare Debian 12 or Ubuntu with Python 3.11 (the Windows branch is unverified). Each
step leaves a stamp, a hash of its inputs, so that the next start skips it. Every failure ends in one sentence. It must
not know the application beyond its command `wardround`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import platform
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import lockfile
import machine
import packs
from machine import SetupProblem

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
VENV = ROOT / ".venv"
STAMPS = VENV / "stamps"
LOG = ROOT / "build" / "setup.log"
ENGINE = "llama-cpp-python"  # published as source only: compiled once, then pip keeps the wheel
CMAKE_ARGS = "-DGGML_NATIVE=OFF"  # portable: a wheel for this processor alone would crash on an older one
TICK_S = 15.0  # seconds between two progress lines of a long step
NO_NETWORK = ("NewConnectionError", "ConnectTimeoutError", "NameResolutionError", "Network is unreachable")
WINDOWS = sys.platform == "win32"


@dataclass(frozen=True)
class Step:
    """One part of the set-up: its name for the person, all that it depends on, and what it does."""

    name: str
    inputs: str
    act: Callable[[], None]


def program(name: str) -> str:
    """The path of a program of the environment."""
    return str(VENV / ("Scripts" if WINDOWS else "bin") / (f"{name}.exe" if WINDOWS else name))


def site_packages() -> Path:
    """Where the environment keeps its libraries."""
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return VENV / "Lib" / "site-packages" if WINDOWS else VENV / "lib" / version / "site-packages"


def clock(seconds: float) -> str:
    """Elapsed time as minutes and seconds, such as 4:07."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def clock_since(started: float) -> str:
    return clock(time.monotonic() - started)


# ------------------------------------------------------------------------------------------------- running


def run(what: str, command: list[str], **variables: str) -> None:
    """Run a command with its output in the log, with a line of progress now and then."""
    started, told = time.monotonic(), 0.0
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"$ {' '.join(command)}\n")
        log.flush()
        environment = {**os.environ, **variables}
        with subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment, cwd=ROOT
        ) as child:
            while child.poll() is None:
                time.sleep(0.05)
                elapsed = time.monotonic() - started
                if elapsed - told > TICK_S:
                    told = elapsed
                    print(f"    {what} ... {clock(elapsed)}", flush=True)
    if child.returncode:
        raise SetupProblem(f"{what} failed ({last_complaint()}); the whole output is in {LOG}.")


def last_complaint() -> str:
    """The last line of the log that names an error, for the sentence on the screen; no network has its own words."""
    lines = LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-200:]
    if any(sign in line for line in lines for sign in NO_NETWORK):
        return "the package index did not answer: check the network and start again"
    errors = [line.strip() for line in lines if "error" in line.lower()]
    return (errors or lines or ["no output"])[-1][:200]


def pip(what: str, *arguments: str, **variables: str) -> None:
    """pip of the environment, asking nothing and never looking for a newer pip."""
    command = [program("python"), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *arguments]
    run(what, command, **variables)


def pip_locked(what: str, rows: list[str], *arguments: str, **variables: str) -> None:
    """Install exact versions, each file checked against the hashes of the lock."""
    chosen = LOG.parent / "requirements.txt"
    chosen.write_text("".join(rows), encoding="utf-8")
    pip(what, "--require-hashes", "--no-deps", "-r", str(chosen), *arguments, **variables)


def locked(*names: str) -> dict[str, str]:
    """The rows of some lock files."""
    rows: dict[str, str] = {}
    for name in names:
        rows |= lockfile.read_rows((HERE / name).read_text(encoding="utf-8"))
    return rows


# --------------------------------------------------------------------------------------------------- steps


def prepare_machine() -> None:
    machine.supply(machine.machine_lacks(ROOT), LOG)
    importlib.invalidate_caches()  # a venv module that apt has just brought
    left = machine.machine_lacks(ROOT)
    if left:
        raise SetupProblem(" ".join(lack.sentence for lack in left))


def make_environment() -> None:
    # One step with the machine's check: `--clear` takes all stamps away, so every later step follows again.
    prepare_machine()
    run("making the virtual environment", [sys.executable, "-m", "venv", "--clear", str(VENV)])
    pip_locked("installing pip and the build tools", list(locked("lock-build.txt").values()))


def install_libraries() -> None:
    rows = [row for name, row in locked("lock.txt").items() if name != ENGINE]
    pip_locked("installing the libraries", rows, "--only-binary=:all:")


def install_engine() -> None:
    row = locked("lock.txt")[ENGINE]
    pip_locked("compiling the model engine", [row], "--no-build-isolation", CMAKE_ARGS=CMAKE_ARGS)
    run("loading the model engine", [program("python"), "-c", "import llama_cpp"])


def prepare_window() -> None:
    machine.supply(machine.qt_lacks(site_packages()), LOG)
    code = "import PySide6.QtWidgets as w; w.QApplication([])"
    run("opening Qt once", [program("python"), "-c", code], QT_QPA_PLATFORM="offscreen")


def install_project() -> None:
    # Compatible mode is one line in a .pth file; no network is needed, now or when a module is added.
    mode = ["--config-settings", "editable_mode=compat"]
    pip("installing Wardround itself", "--no-deps", "--no-build-isolation", "--no-index", *mode, "-e", str(ROOT))


def fetch_model() -> None:
    run("fetching the model", [program("python"), str(HERE / "packs.py"), "smollm2"])


def install_checks() -> None:
    pip_locked("installing the checks", list(locked("lock-dev.txt").values()), "--only-binary=:all:")


def steps(goal: str) -> list[Step]:
    """All steps in order; a step depends on its inputs and on the environment it works in."""
    here = f"{VENV} {platform.python_version()} {platform.machine()}"
    runtime, build, dev = ((HERE / n).read_text("utf-8") for n in ("lock.txt", "lock-build.txt", "lock-dev.txt"))
    models = packs.model_folder()
    found = f"{models} {packs.is_installed(packs.SMOLLM2, models)}"
    plan = [
        Step("machine and environment", here + build, make_environment),
        Step("libraries", here + runtime, install_libraries),
        Step("model engine", here + locked("lock.txt")[ENGINE] + CMAKE_ARGS, install_engine),
        Step("window", here + locked("lock.txt")["pyside6-essentials"], prepare_window),
        Step("wardround", here + (ROOT / "pyproject.toml").read_text("utf-8"), install_project),
        Step("model", found, fetch_model),
    ]
    return plan + ([Step("checks", here + dev, install_checks)] if goal == "test" else [])


def stamp_of(step: Step) -> tuple[Path, str]:
    """Where the stamp of a step lies, and what it must say."""
    return STAMPS / step.name.replace(" ", "-"), hashlib.sha256(step.inputs.encode()).hexdigest()


def is_done(step: Step) -> bool:
    file, wanted = stamp_of(step)
    return file.is_file() and file.read_text(encoding="utf-8") == wanted


def step_named(name: str, goal: str) -> Step:
    return next(step for step in steps(goal) if step.name == name)


def set_up(goal: str) -> None:
    """Bring the machine to where `goal` can run; steps that are done already cost one hash each."""
    started = time.monotonic()
    LOG.parent.mkdir(exist_ok=True)
    names = [step.name for step in steps(goal)]
    for number, name in enumerate(names, start=1):
        # Made anew for each name: a step may change what it, or a later one, depends on.
        if is_done(step_named(name, goal)):
            continue
        print(f"[{number}/{len(names)}] {name} (at {clock_since(started)})", flush=True)
        step_named(name, goal).act()
        file, stamp = stamp_of(step_named(name, goal))
        STAMPS.mkdir(exist_ok=True)
        file.write_text(stamp, encoding="utf-8")
    print(f"Set-up ready in {clock_since(started)}.", flush=True)


# --------------------------------------------------------------------------------------------------- goals


def show_demo(arguments: list[str]) -> int:
    """The example case, with the default model, in the finished environment."""
    return subprocess.run([program("wardround"), "demo", *arguments], check=False).returncode


def stop_here(arguments: list[str]) -> int:
    """Set-up alone; `arguments` has nothing to go to."""
    return 2 if arguments else 0


def test_commands(arguments: list[str]) -> dict[str, list[str]]:
    """Whole files side by side, then alone what measures time; with `arguments` one pytest that gets them."""
    pytest = [program("python"), "-m", "pytest"]
    if arguments:
        return {"pytest": [*pytest, *arguments]}
    return {
        "pytest": [*pytest, "-n", "2", "--dist", "loadfile", "-m", "not perf"],
        "timing": [*pytest, "-m", "perf"],
    }


def run_checks(arguments: list[str]) -> int:
    """Every check, each to its end; `arguments` go to pytest. 0 only if all passed."""
    checks = {
        "ruff": [program("ruff"), "check", "."],
        "mypy": [program("mypy")],
        "imports": [program("lint-imports")],
        **test_commands(arguments),
    }
    results: list[str] = []
    failed = False
    for name, command in checks.items():
        print(f"\n--- {name}", flush=True)
        started = time.monotonic()
        status = subprocess.run(command, cwd=ROOT, check=False).returncode
        failed |= status != 0
        results.append(f"{name:8} {'passed' if status == 0 else f'FAILED (exit {status})'}  {clock_since(started)}")
    print("\n--- summary", *results, sep="\n", flush=True)
    return 1 if failed else 0


def main(arguments: list[str] | None = None) -> int:
    """Exit status: that of the goal; 1 when the set-up stopped with a sentence."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("goal", choices=("demo", "test", "setup"))
    goal, rest = parser.parse_known_args(arguments)
    try:
        if WINDOWS:
            print("Windows: nobody has run this branch yet; please report what happens.")
        if old := machine.python_lack(sys.version_info[:2]):
            raise SetupProblem(old.sentence)
        set_up(goal.goal)
        return {"demo": show_demo, "test": run_checks, "setup": stop_here}[goal.goal](rest)
    except SetupProblem as problem:
        print(f"Set-up stopped: {problem}", file=sys.stderr)
    except OSError as problem:
        print(f"Set-up stopped: {problem.strerror or problem} ({problem.filename}).", file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted. Run the same command again: finished steps are kept.", file=sys.stderr)
    except Exception as fault:  # a fault of this script itself: a sentence for the person, the rest for its authors
        LOG.parent.mkdir(exist_ok=True)
        with LOG.open("a", encoding="utf-8") as log:
            traceback.print_exc(file=log)
        print(f"Set-up stopped by a fault of its own ({fault!r}); please report {LOG}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
