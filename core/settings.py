"""One Settings struct whose field metadata builds the dialog, the documentation and the check (design section 7).

Stored as `settings.json` in the profile. Knows no store and no Qt.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from core import codec
from core.errors import UserError

FILE = "settings.json"


def _doc(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class Models(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which packs are used."""

    backbone: Annotated[str, _doc("Pack id of the language model; empty: no model.")] = "smollm2-135m-instruct-q4_1"
    embedder: Annotated[
        str, _doc("Pack id of the embedder, used where it is installed; empty: search by words alone.")
    ] = "all-MiniLM-L6-v2-int8"
    device: Annotated[
        Literal["auto", "cpu", "gpu"], _doc("Where the language model runs; auto: on a graphics card that is there.")
    ] = "auto"
    smaller: Annotated[
        str, _doc("Pack id allowed in place of a language model that does not fit anywhere; empty: none.")
    ] = ""


class Retrieval(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the knowledge is searched."""

    windows: Annotated[
        Literal["all", "first"],
        _doc("Vectors of a passage longer than the embedder reads: of each of its windows, or of the first."),
    ] = "all"


class Weighing(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Weights of direct.md sections 2 and 3."""

    hallmark: Annotated[float, _doc("Weight of a hallmark clue.")] = 3.0
    typical: Annotated[float, _doc("Weight of a typical clue.")] = 2.0
    occasional: Annotated[float, _doc("Weight of an occasional clue.")] = 1.0
    against: Annotated[float, _doc("Weight of a clue against.")] = -2.0
    excludes: Annotated[float, _doc("Weight of an excluding clue.")] = -6.0
    absent_hallmark: Annotated[float, _doc("What an absent hallmark counts.")] = -1.5
    absent_typical: Annotated[float, _doc("What an absent typical clue counts.")] = -0.75
    retrieval: Annotated[float, _doc("Weight of the guideline search in the structural score.")] = 0.25
    tau: Annotated[float, _doc("Temperature of the structural score in the softmax.")] = 0.8
    # Measured with SmolLM2 on 24 invented vignettes: 0.35 took 3 of 24 first places from the structure, 0.03 none.
    beta_small: Annotated[
        float, _doc("Weight of the model's ranking below 3B parameters: it breaks ties, no more.")
    ] = 0.03
    beta_large: Annotated[float, _doc("Weight of the model's ranking from 3B parameters on.")] = 1.0
    least_score: Annotated[float, _doc("Best structural score below which evidence is insufficient.")] = 0.6
    least_findings: Annotated[int, _doc("Informative findings below which evidence is insufficient.")] = 3
    candidates: Annotated[int, _doc("Conditions weighed at most.")] = 12


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits of import (trust.md section 6)."""

    file_mb: Annotated[int, _doc("Largest text, table or picture file, in MB.")] = 50
    image_gib: Annotated[float, _doc("Largest decoded image or database, in GiB.")] = 2.0
    pdf_pages: Annotated[int, _doc("Most pages of a PDF.")] = 2000
    zip_ratio: Annotated[int, _doc("Most times its own size that an archive may unpack to.")] = 100
    zip_gib: Annotated[float, _doc("Most that an archive may unpack to, in GiB.")] = 20.0
    zip_entries: Annotated[int, _doc("Most files in an archive.")] = 200_000


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All settings of a profile."""

    profile: Annotated[
        Literal["text_support", "research_imaging"], _doc("Text support hides image tools and risk verdicts.")
    ] = "text_support"
    mode: Annotated[Literal["adaptive", "paper"], _doc("Our improvements, or the papers' own procedure.")] = "adaptive"
    fallback: Annotated[
        Literal["announce", "ask", "forbid"], _doc("What happens when the model does not fit where it was wanted.")
    ] = "announce"
    verify_on_load: Annotated[Literal["full", "fast"], _doc("How model files are checked at each load.")] = "full"
    on_question: Annotated[
        Literal["unavailable", "wait"], _doc("Headless: a question counts as unavailable, or the run waits.")
    ] = "unavailable"
    summary: Annotated[Literal["auto", "on", "off"], _doc("Model-written summary; auto: off for small models.")] = (
        "auto"
    )
    guideline_expiry_years: Annotated[
        int, _doc("Years after its date of issue that a guideline expires, where it names no other date.")
    ] = 5
    guideline_notice_days: Annotated[int, _doc("Days before its end that a guideline is announced to expire.")] = 60
    guideline_grace_days: Annotated[
        int, _doc("Days after its end that a guideline is still searched, marked as expired.")
    ] = 90
    models: Models = Models()
    retrieval: Retrieval = Retrieval()
    weighing: Weighing = Weighing()
    limits: Limits = Limits()

    @property
    def images(self) -> bool:
        """Does this profile work with images? (product.md section 4)"""
        return self.profile == "research_imaging"


def load(folder: Path) -> Settings:
    """The profile's settings; defaults where the file or a key is absent.

    Raises:
        UserError: the file is not JSON or holds an unknown key or value; the sentence names it.
    """
    path = folder / FILE
    if not path.exists():
        return Settings()
    try:
        return codec.decode(path.read_bytes(), Settings)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UserError(f"The settings file {path} is not usable: {error}", code="settings") from error


def save(folder: Path, settings: Settings) -> None:
    """Write the settings file by replacing it whole."""
    path = folder / FILE
    part = path.with_suffix(".part")
    part.write_text(codec.pretty(settings), encoding="utf-8")
    part.replace(path)
