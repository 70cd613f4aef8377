"""ONNX Runtime reports home by default; here it is loaded as the product loads it, and leaves no trace of a report.

The library opens its socket some ten seconds after it was loaded, but writes its store of events at once: that store
is what these tests look for. A demo in tests/e2e/test_demo.py lives long enough to meet the socket itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.program import ROOT

LOADED = "from models.onnx import _library; print(_library().__version__)"
CONTROL = "import onnxruntime; onnxruntime.disable_telemetry_events(); print(onnxruntime.__version__)"
DENIED = "from desktop import offline; offline.deny_network(); import onnxruntime; print(onnxruntime.__version__)"


def written(home: Path, code: str) -> list[str]:
    """Which files a program leaves in a home of its own. `CI` would keep the library silent by itself."""
    made = {key: value for key, value in os.environ.items() if key not in ("CI", "ORT_DISABLE_TELEMETRY")}
    made = {key: value for key, value in made.items() if not key.startswith(("GITHUB_", "XDG_"))}
    made |= {"HOME": str(home), "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=made, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1.")
    return sorted(path.name for path in home.rglob("*") if path.is_file())


def test_the_library_is_loaded_silent(tmp_path: Path) -> None:
    assert written(tmp_path, LOADED) == []


def test_the_denial_of_the_network_silences_it_too(tmp_path: Path) -> None:
    assert written(tmp_path, DENIED) == []


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="on Windows its events go to the system's own log")
def test_control_without_the_variable_it_prepares_a_report(tmp_path: Path) -> None:
    assert any(name.startswith("onnxruntime") for name in written(tmp_path, CONTROL))
