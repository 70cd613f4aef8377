"""Makes the picture of the README: the real window, off screen, with a real run of example (a).

Standard library only; the window is driven by tests/helpers/portraits.py in the program's own environment, in a data
root that is thrown away afterwards. Needs what `bootstrap.py` sets up, the model pack included.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bootstrap
import packs

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "packaging" / "docs" / "window.png"
PORTRAITS = ROOT / "tests" / "helpers" / "portraits.py"
SCALE = "2"  # pixels of the picture for one of the window: sharp on every screen
PATIENCE_S = 600


def make(target: Path, *, mode: str, size: str) -> None:
    """Write the picture.

    Raises:
        SystemExit: a sentence, when the environment is not set up or the window did not get there.
    """
    python = bootstrap.program("python")
    if not Path(python).exists():
        raise SystemExit("The environment is not set up. Run: python3 packaging/bootstrap.py demo")
    with tempfile.TemporaryDirectory(prefix="wardround-picture-") as folder:
        command = [python, str(PORTRAITS), folder, "--one", "window", "--mode", mode, "--size", size]
        done = subprocess.run(command, cwd=ROOT, env=environment(folder), timeout=PATIENCE_S, check=False)
        made = sorted(Path(folder).glob("*-window.png"))
        if done.returncode or not made:
            raise SystemExit("The window did not get to its report; see the lines above.")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made[0], target)


def environment(folder: str) -> dict[str, str]:
    """Off screen, at twice the size, with a data root of its own and the packs that are there."""
    changed = {
        "QT_QPA_PLATFORM": "offscreen",
        "QT_SCALE_FACTOR": SCALE,
        "WARDROUND_HOME": str(Path(folder) / "home"),
        "WARDROUND_MODELS": str(packs.model_folder()),
        "PYTHONPATH": str(ROOT),
    }
    return {**os.environ, **changed}


def main(given: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Make the picture of the README.")
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--mode", default="light", choices=("light", "dark"))
    parser.add_argument("--size", default="1320x820")
    chosen = parser.parse_args(given)
    make(chosen.out, mode=chosen.mode, size=chosen.size)
    print(f"Picture written: {chosen.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
