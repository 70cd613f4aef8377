"""The three example cases, written by us about people who do not exist; written out as real files, then imported.

Texts and tables are package data in `a`, `b` and `c`; the pictures are drawn by `core.imaging.phantom` when an example
is written, so that none is kept in the repository.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

TITLES = {
    "a": "Acute dyspnoea after knee replacement",
    "b": "Acute kidney injury during gastroenteritis",
    "c": "Eye clinic visit with raised pressure",
}


def write(letter: str, folder: Path) -> Path:
    """Write example "a", "b" or "c" as files into a folder (made if absent); returns the folder.

    Raises:
        KeyError: no such example.
    """
    if letter not in TITLES:
        raise KeyError(letter)
    folder.mkdir(parents=True, exist_ok=True)
    source = resources.files(f"{__name__}.{letter}")
    for entry in sorted(source.iterdir(), key=lambda e: e.name):
        if entry.name.endswith((".txt", ".md", ".csv")):
            (folder / entry.name).write_bytes(entry.read_bytes())
    for name, data in _pictures(letter).items():
        (folder / name).write_bytes(data)
    return folder


def _pictures(letter: str) -> dict[str, bytes]:
    """The example's images by file name, drawn now."""
    from core.imaging import film, phantom, pictures

    if letter == "a":
        who = film.Identity(
            name="Example^Margaret", patient_id="EXAMPLE-A", birth_date="19580322", sex="F", study_time="114500"
        )
        return {"chest-film.dcm": film.write_chest_film(phantom.chest_film(), who)}
    if letter == "c":
        return {"fundus-right.png": pictures.encode_png(phantom.fundus(ratio=0.8))}
    return {}
