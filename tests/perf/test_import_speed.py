"""How long an import takes beside reading the same files with pydicom alone, in one run: a ratio, not seconds."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from core.runtime.intake import import_paths
from core.settings import Settings
from core.store import migrations
from core.store.artifacts import Artifacts
from core.store.cases import Cases
from core.store.database import now, open_database
from tests.helpers.dicom_files import changed

SLICES = 300
RATIO = 1.3 * 2  # the aim, and the margin for a machine that does other things, too
SERIALLY = """
import pathlib, sys, pydicom
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    pydicom.dcmread(path).pixel_array
"""


@pytest.fixture
def series(tmp_path: Path) -> Path:
    """300 slices of 512 x 512 in 16 bit, 1 mm apart, every one different."""
    place = tmp_path / "series"
    place.mkdir()
    for number in range(1, SLICES + 1):
        if number == 1:
            values = np.random.default_rng(1).integers(0, 2000, (512, 512), np.int16)
            marks = {"SOPInstanceUID": "1.2.3.9000", "ImagePositionPatient": [0, 0, 9000], "InstanceNumber": 9000}
            first = changed("CT_small.dcm", Rows=512, Columns=512, PixelData=values.tobytes(), **marks)
        (place / f"{number:03}.dcm").write_bytes(first.replace(b"9000", b"%4d" % (9000 - number)))
    return place


@pytest.mark.perf
def test_import_of_a_series_beside_pydicom(series: Path, profile: Path) -> None:
    """Both with the start of their process; the import also keeps every byte durably and draws the middle slice."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", SERIALLY, str(series)], check=True)
    serially = time.perf_counter() - begun
    with closing(open_database(profile / "workbench.db", migrations.workbench)) as store:
        begun = time.perf_counter()
        case = import_paths(
            [series],
            case_id=None,
            title=None,
            settings=Settings(profile="research_imaging"),
            cases=Cases(store),
            artifacts=Artifacts(store, profile),
            actor="tester",
            clock=now,
            on_progress=lambda done, total, name: None,
            stop=threading.Event(),
        )
        imported = time.perf_counter() - begun
    assert [(item.title, getattr(item, "instances", 0)) for item in case.items] == [("CT", SLICES)]
    assert imported < RATIO * serially, f"{imported:.2f} s against {serially:.2f} s"
