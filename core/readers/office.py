"""The parts of an office document (Open Packaging Conventions, ECMA-376 part 2), through the guard of archives.

Nothing outside of the file is ever opened and nothing in it is run: relations to the outside, macros and embedded
objects are left and said so. Knows no text and no tables.
"""

from __future__ import annotations

import io
import posixpath
import re
from xml.etree.ElementTree import Element

import msgspec

from core.errors import UserError
from core.readers import archive, xml
from core.readers.archive import Content, Limits, Refusal
from core.readers.text import listed, refuse_size

GROWTH = 4  # times the limit of a file: one part unpacked; all parts may have twice that
ENTRIES = 10_000
DOCTYPE = re.compile(rb"<!(?:DOCTYPE|ENTITY)|<\x00!\x00D\x00O\x00C|\x00<\x00!\x00D\x00O\x00C", re.IGNORECASE)
HARMLESS = {"hyperlink"}  # an address is text as long as nobody opens it


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """From one part to another: id, last word of its type, name of the part or an address outside."""

    id: str
    kind: str
    target: str
    is_external: bool


class Package(msgspec.Struct, frozen=True):
    """The parts of an office document by name, and what was left aside."""

    parts: tuple[Content, ...]
    remarks: tuple[str, ...] = ()

    def part(self, name: str) -> bytes | None:
        """The bytes of a part; None where there is none of that name."""
        wanted = name.lower()
        return next((part.data for part in self.parts if part.name.lower() == wanted), None)

    def tree(self, name: str) -> Element | None:
        """A part as XML. Raises UserError ("xml", "depth", "size")."""
        data = self.part(name)
        return None if data is None else xml.whole(data)

    def relations(self, name: str) -> list[Relation]:
        """What a part relates to; "" is the package itself."""
        folder, leaf = posixpath.split(name)
        root = self.tree(posixpath.join(folder, "_rels", f"{leaf}.rels"))
        return [] if root is None else [_relation(element, folder) for element in root]

    def related(self, name: str, kind: str) -> list[str]:
        """Names of the parts that a part relates to in this way, in the order of their names."""
        found = (r.target for r in self.relations(name) if r.kind == kind and not r.is_external)
        return sorted(dict.fromkeys(found))


def unpacked(data: bytes, *, limit_bytes: int) -> Package:
    """All parts of a document.

    Raises:
        UserError: "size"; "damaged"; "entity" (a part has a DOCTYPE, which the format forbids); or the codes of
            `core.readers.archive` for a bomb, a name that leads out, a password.
    """
    refuse_size(data, limit_bytes)
    limits = Limits(member_bytes=GROWTH * limit_bytes, total_bytes=2 * GROWTH * limit_bytes, entries=ENTRIES)
    parts: list[Content] = []
    nested: list[str] = []
    for found in archive.contents(io.BytesIO(data), name="document", limits=limits):
        if isinstance(found, Refusal) and found.code != "nested":
            raise UserError(f"The office document is not sound ({found.name}): {found.reason}", code=found.code)
        if isinstance(found, Refusal):
            nested.append(found.name)
        else:
            parts.append(found)
    _refuse_doctypes(parts)
    package = Package(tuple(parts))
    return Package(package.parts, tuple(_ignored(package, nested)))


def _refuse_doctypes(parts: list[Content]) -> None:
    for part in parts:
        if part.name.lower().endswith((".xml", ".rels", ".vml")) and DOCTYPE.search(part.data):
            raise UserError(f"The office document declares an entity or DOCTYPE ({part.name}).", code="entity")


def _ignored(package: Package, nested: list[str]) -> list[str]:
    names = [part.name for part in package.parts]
    macros = [name for name in names if re.search(r"(?:^|/)vba\w*\.bin$", name.lower())]
    embedded = [name for name in names if re.search(r"/(?:embeddings|activex|ctrlprops)/", f"/{name.lower()}")]
    embedded += [name for name in nested if name not in embedded]
    outside = [
        relation.target[:80]
        for name in names
        if name.endswith(".rels")
        for relation in package.relations(name.replace("_rels/", "").removesuffix(".rels"))
        if relation.is_external and relation.kind not in HARMLESS
    ]
    said = []
    if macros:
        said.append("Macros were ignored.")
    if embedded:
        said.append(f"Embedded objects were ignored: {listed([posixpath.basename(name) for name in embedded])}.")
    if outside:
        said.append(f"Links to files outside were not followed: {listed(outside)}.")
    return said


def _relation(element: Element, folder: str) -> Relation:
    target, is_external = element.get("Target", ""), element.get("TargetMode") == "External"
    if not is_external:
        target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    return Relation(
        id=element.get("Id", ""),
        kind=element.get("Type", "").rsplit("/", 1)[-1],
        target=target,
        is_external=is_external,
    )
