"""Making a pack of files that the site brings: what they are, what must be said of them, and their manifest.

Hashes, compares with the catalogue, reads the head of a model file. Copies nothing: the result is a source for
`models.importing`. A file whose hash is in no row is unlisted, and every result made with it says so.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.domain.pack import EmbedSpec, Licence, PackFile, PackManifest, PackRole
from core.errors import UserError
from models.catalogue import CatalogueRow, identify, resembling
from models.gguf import MAGIC, GgufFacts, read_gguf, refuse_mistakes
from models.importing import FolderSource
from models.llama.templates import TEMPLATES
from models.packs import BLOCK, PLAIN_NAME, OnBytes, Progress
from models.plan import PROJECTOR

MODEL = "model.gguf"
CHUNK = 16 << 20
LANGUAGE = ("text", "vision")


class SealChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What the person says of the files; what is empty comes from the catalogue or the file itself."""

    id: str = ""
    version: str = "1"
    role: PackRole | None = None
    family: str = ""
    template: str = ""
    quant: str = ""
    params_b: float = 0.0
    licence: str = ""
    licence_file: Path | None = None
    uses: str = ""
    embed: EmbedSpec | None = None


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """The files under the names they shall have. `row`: the known model; `like`: one that it resembles.

    `stem`: what the person calls the main file.
    """

    stem: str
    places: dict[str, Path]
    files: tuple[PackFile, ...]
    facts: GgufFacts | None = None
    projector: bool = False
    row: CatalogueRow | None = None
    like: CatalogueRow | None = None


def inspect(
    files: Sequence[Path],
    *,
    on_bytes: OnBytes | None = None,
    stop: threading.Event | None = None,
    rows: Sequence[CatalogueRow] | None = None,
) -> Inspected:
    """Look at the files, hash them, and find them in the catalogue (`rows`: in another one).

    Raises:
        UserError: one is no file, no model, cut off, a web page; or two of them are of the same kind.
        Cancelled: `stop` was set.
    """
    places: dict[str, Path] = {}
    facts: GgufFacts | None = None
    stem = ""
    for path in files:
        found = _look(path)
        name = path.name if found is None else PROJECTOR if found.projector else MODEL
        if name in places or not PLAIN_NAME.fullmatch(name):
            why = "is not a name for a file of a pack" if name not in places else "there are two of this kind"
            raise UserError(f"{path.name}: {why}.", code="seal")
        places[name] = path.resolve()  # the person named it: a link of theirs is followed, once, here
        stem = path.stem if not stem or name == MODEL else stem
        facts = found if name == MODEL else facts
    progress = Progress(sum(path.stat().st_size for path in places.values()), on_bytes, stop)
    hashed = tuple(_hashed(name, path, progress) for name, path in places.items())
    rows = [row for file in hashed if (row := identify(file.sha256, rows)) is not None]
    like = resembling(facts.architecture, facts.params / 1e9) if facts else None
    row = rows[0] if rows else None
    return Inspected(
        stem=stem, places=places, files=hashed, facts=facts, projector=PROJECTOR in places, row=row, like=like
    )


def _look(path: Path) -> GgufFacts | None:
    """The facts of a GGUF file; None for a file of another kind."""
    if not path.is_file():
        raise UserError(f"There is no file {path}.", code="seal")
    with path.open("rb") as stream:
        start = stream.read(512)
    refuse_mistakes(start, path.name)
    return read_gguf(path) if path.suffix.lower() == ".gguf" or start[:4] == MAGIC else None


def _hashed(name: str, path: Path, progress: Progress) -> PackFile:
    whole, chunks, size = hashlib.sha256(), list[str](), 0
    with path.open("rb") as stream:
        while True:
            part, read = hashlib.sha256(), 0
            while read < CHUNK and (block := stream.read(min(BLOCK, CHUNK - read))):
                part.update(block)
                whole.update(block)
                read += len(block)
                progress.add(len(block))
            if not read:
                break
            chunks.append(part.hexdigest())
            size += read
    return PackFile(path=name, size=size, sha256=whole.hexdigest(), chunk=CHUNK, chunks=tuple(chunks))


def completed(choice: SealChoice, found: Inspected) -> SealChoice:
    """The choice with what the catalogue or the file itself can add. A row that it only resembles gives no licence."""
    row, known = found.row, found.row or found.like
    role = choice.role or _role(found)
    return msgspec.structs.replace(
        choice,
        id=choice.id or (row.id if row else _identifier(found)),
        role=role,
        family=choice.family or (known.family if known else ""),
        template=choice.template or (known.template if known else ""),
        quant=choice.quant or (found.facts.quant if found.facts else "") or (row.quant if row else ""),
        params_b=choice.params_b or (found.facts.params / 1e9 if found.facts else 0.0) or (row.params_b if row else 0),
        licence=choice.licence or (row.licence.spdx if row else ""),
    )


def _role(found: Inspected) -> PackRole | None:
    if found.row is not None and MODEL not in found.places:
        return found.row.role
    if found.projector:
        return "vision"
    return "text" if found.facts else None


def _identifier(found: Inspected) -> str:
    return re.sub(r"[^a-z0-9._-]+", "-", found.stem.lower()).strip("-._")[:80] or "model"


def lacking(choice: SealChoice) -> tuple[str, ...]:
    """What must still be said, as names of options."""
    wanted: dict[str, object] = {"role": choice.role, "licence": choice.licence}
    if choice.role in LANGUAGE and not choice.uses:
        wanted |= {"family": choice.family, "template": choice.template}
    if choice.role == "embed":
        wanted |= {"dim": choice.embed, "max-tokens": choice.embed}
    return tuple(name for name, value in wanted.items() if not value)


def seal(choice: SealChoice, found: Inspected) -> FolderSource:
    """The files with their manifest, ready to be imported. `choice` is completed and lacks nothing.

    Raises:
        UserError: something lacks, the template is none that this program has, or a projector stands alone.
    """
    if names := lacking(choice):
        options = ", ".join(f"--{name}" for name in names)
        raise UserError(f"Say what this model is: {options}.", code="seal")
    if choice.role in LANGUAGE and not choice.uses:
        _check_language(choice, found)
    places, beside = dict(found.places), ""
    if choice.licence_file is not None:
        beside = choice.licence_file.name
        places[beside] = choice.licence_file
    gated = found.row.licence.accept if found.row else True
    manifest = PackManifest(
        id=choice.id,
        version=choice.version,
        role=choice.role or "text",
        family=choice.family,
        template=choice.template,
        params_b=round(choice.params_b, 4),
        quant=choice.quant,
        files=found.files,
        licence=Licence(spdx=choice.licence, file=beside, accept=gated),
        arch=found.facts.arch if found.facts else None,
        capabilities=_capabilities(choice),
        unlisted=found.row is None,
        uses=choice.uses,
        embed=choice.embed,
    )
    return FolderSource(places, canonical(manifest))


def canonical(manifest: PackManifest) -> bytes:
    """Sorted keys, no blanks, UTF-8, one line end: the bytes that a signature is made of (trust.md section 7)."""
    plain = msgspec.to_builtins(manifest)
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _check_language(choice: SealChoice, found: Inspected) -> None:
    if MODEL not in found.places:
        text = "This is the picture side of a vision model. Name the language model too, or its pack by --uses."
        raise UserError(text, code="seal")
    if choice.template not in TEMPLATES:
        known = ", ".join(sorted(TEMPLATES))
        text = f"This version has no prompt template {choice.template}. It has: {known}; choose one by --template."
        raise UserError(text, code="seal")


def _capabilities(choice: SealChoice) -> tuple[str, ...]:
    return ("text", "vision") if choice.role == "vision" else (choice.role or "text",)
