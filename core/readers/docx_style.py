"""What the styles of a Word document say of a paragraph or run: heading level, hidden, colour, size.

ECMA-376 part 1: 17.7 (styles), 17.3.2.41 (vanish), 17.3.2.6 (color), 17.3.2.38 (sz, half points). Knows no text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element

import msgspec

from core.readers import hidden

HEADING = re.compile(r"(?:heading|\u00fcberschrift|titre) ?(\d)", re.IGNORECASE)
TITLES = {"title", "titel"}
LEAST_HALF_POINTS = 8
OFF = {"0", "false", "off", "none"}
CHAIN = 20  # styles that a style may rest on, one after the other


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What decides whether characters can be seen; None where nothing is said."""

    vanish: bool | None = None
    white: bool | None = None
    tiny: bool | None = None
    shaded: bool | None = None

    def over(self, below: Look) -> Look:
        """This look, with what it leaves open taken from another."""

        def first(upper: bool | None, lower: bool | None) -> bool | None:
            return lower if upper is None else upper

        return Look(
            vanish=first(self.vanish, below.vanish),
            white=first(self.white, below.white),
            tiny=first(self.tiny, below.tiny),
            shaded=first(self.shaded, below.shaded),
        )

    @property
    def why(self) -> str:
        """Why the characters cannot be seen; "" if they can."""
        if self.vanish:
            return "text formatted as hidden"
        if self.tiny:
            return "text below 4 points"
        return hidden.WHITE if self.white and not self.shaded else ""


def local(element: Element) -> str:
    """The name without its namespace."""
    return element.tag.rsplit("}", 1)[-1]


def attribute(element: Element, name: str) -> str:
    """An attribute by its name without the namespace; "" where it is missing."""
    return next((value for key, value in element.attrib.items() if key.rsplit("}", 1)[-1] == name), "")


def child(element: Element | None, *path: str) -> Element | None:
    """The first child, grandchild ... of these names."""
    for name in path:
        element = next((e for e in element if local(e) == name), None) if element is not None else None
    return element


def look(properties: Element | None) -> Look:
    """Of run properties (rPr), or of the shading in paragraph and cell properties."""
    found = Look()
    for element in properties if properties is not None else ():
        value = attribute(element, "val")
        match local(element):
            case "vanish":
                found = msgspec.structs.replace(found, vanish=value not in OFF)
            case "color":
                found = msgspec.structs.replace(found, white=_is_white(value))
            case "sz" if value.isdigit():
                found = msgspec.structs.replace(found, tiny=int(value) < LEAST_HALF_POINTS)
            case "shd":
                found = msgspec.structs.replace(found, shaded=_is_dark(attribute(element, "fill")))
            case "highlight":
                found = msgspec.structs.replace(found, shaded=value not in ("white", "none"))
    return found


def _is_white(colour: str) -> bool:
    return _is_hex(colour) and hidden.is_near_white(*bytes.fromhex(colour))


def _is_dark(fill: str) -> bool:
    return _is_hex(fill) and not _is_white(fill)


def _is_hex(colour: str) -> bool:
    return re.fullmatch("[0-9A-Fa-f]{6}", colour) is not None


class Styles:
    """The styles of a document by their ids."""

    def __init__(self, root: Element | None) -> None:
        found: Iterable[Element] = () if root is None else root
        self._styles = {attribute(style, "styleId"): style for style in found if local(style) == "style"}

    def level(self, properties: Element | None) -> int:
        """Heading level (1-6) of a paragraph with these properties (pPr); 0 for running text."""
        if (outline := _outline(properties)) is not None:
            return outline
        for style in self._chain(child(properties, "pStyle")):
            name = attribute(named, "val") if (named := child(style, "name")) is not None else ""
            if match := HEADING.fullmatch(name.strip()):
                return min(max(int(match[1]), 1), 6)
            if name.strip().lower() in TITLES:
                return 1
            if (outline := _outline(child(style, "pPr"))) is not None:
                return outline
        return 0

    def look(self, reference: Element | None) -> Look:
        """Of the characters under a paragraph or character style (pStyle, rStyle)."""
        found = Look()
        for style in self._chain(reference):
            found = found.over(look(child(style, "rPr")).over(look(child(style, "pPr"))))
        return found

    def _chain(self, reference: Element | None) -> list[Element]:
        """The style and those that it rests on."""
        chain: list[Element] = []
        identifier = attribute(reference, "val") if reference is not None else ""
        while identifier in self._styles and len(chain) < CHAIN:
            chain.append(self._styles[identifier])
            below = child(chain[-1], "basedOn")
            identifier = attribute(below, "val") if below is not None else ""
        return chain


def _outline(properties: Element | None) -> int | None:
    """The outline level of paragraph properties (17.3.1.20: 0-8, 9 is running text); None where none is given."""
    found = child(properties, "outlineLvl")
    value = attribute(found, "val") if found is not None else ""
    if not value.isdigit():
        return None
    return min(int(value) + 1, 6) if int(value) < 9 else 0
