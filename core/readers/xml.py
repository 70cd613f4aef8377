"""XML from strangers, read record by record: what is read is given away and freed. Opens no address, expands nothing.

Expat builds plain `xml.etree.ElementTree` elements through our own target, because a declared entity must be refused
before it is expanded. A DOCTYPE is accepted and never resolved. Names in a namespace read "{uri}local", as in
ElementTree. Knows no vocabulary and no store.
"""

from __future__ import annotations

import html.entities
import io
from collections.abc import Iterator
from typing import BinaryIO
from xml.etree.ElementTree import Element
from xml.parsers import expat

from core.errors import UserError

DEPTH = 200
TEXT_CHARACTERS = 8_000_000
RECORD_CHARACTERS = 64_000_000  # of one record, its tags counted with 64 characters each
TAG_CHARACTERS = 64
BLOCK = 1 << 16


def records(stream: BinaryIO, *tags: str) -> Records:
    """The elements of these names, in the file's order; a record within a record stays its child.

    Iterating raises UserError: "xml" (not well-formed), "entity" (declares one), "depth" (more than 200 levels),
    "size" (a text, tag or comment above 8 MB, or a record that is too large).
    """
    return Records(stream, frozenset(tags), RECORD_CHARACTERS)


def whole(data: bytes) -> Element:
    """The root element of a document that is small enough to be held. Raises as `records`."""
    reading = Records(io.BytesIO(data), frozenset(), max(RECORD_CHARACTERS, TAG_CHARACTERS * len(data)))
    for root in reading:
        return root
    raise UserError("The XML holds no element.", code="xml")


class Records:
    """An iterator over records; `root` has the name and attributes of the outermost element once it was met."""

    def __init__(self, stream: BinaryIO, tags: frozenset[str], limit: int) -> None:
        self._stream = stream
        self._target = _Target(tags, limit)
        self._reading = self._read()

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        return next(self._reading)

    @property
    def root(self) -> Element | None:
        """Name and attributes of the outermost element, without its content; None before it was met."""
        return self._target.root

    def _read(self) -> Iterator[Element]:
        parser = _parser(self._target)
        fed = 0
        while block := self._stream.read(BLOCK):
            _feed(parser, block, last=False)
            yield from self._target.taken()
            fed += len(block)
            # What expat holds back is one unfinished tag or comment: without a bound it would swallow the whole file.
            if fed - max(parser.CurrentByteIndex, 0) > TEXT_CHARACTERS:
                raise _too_long()
        _feed(parser, b"", last=True)
        yield from self._target.taken()


def _parser(target: _Target) -> expat.XMLParserType:
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler = target.start
    parser.EndElementHandler = target.end
    parser.CharacterDataHandler = target.text
    parser.SkippedEntityHandler = target.skipped
    parser.EntityDeclHandler = _refuse_entity
    return parser


def _feed(parser: expat.XMLParserType, block: bytes, *, last: bool) -> None:
    try:
        parser.Parse(block, last)
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code) or "unknown error"
        raise UserError(f"The XML is damaged at line {error.lineno}: {why}.", code="xml") from error
    except (LookupError, ValueError) as error:
        raise UserError("The XML is in an encoding that cannot be read.", code="xml") from error


def _refuse_entity(name: str, *_: object) -> None:
    raise UserError(f"The XML declares an entity ({name[:40]}); such files are not read.", code="entity")


def _too_long() -> UserError:
    return UserError(f"A part of the XML is longer than {TEXT_CHARACTERS:,} characters.", code="size")


class _Target:
    """Builds the elements of records; what lies outside of records is counted and dropped."""

    def __init__(self, tags: frozenset[str], limit: int) -> None:
        self.root: Element | None = None
        self._tags = tags
        self._limit = limit
        self._open: list[Element] = []
        self._last: Element | None = None  # the element whose text or tail comes next
        self._tail = False
        self._depth = 0
        self._texts: list[str] = []
        self._characters = 0
        self._record = 0
        self._done: list[Element] = []

    def taken(self) -> list[Element]:
        """The records finished since the last call."""
        done, self._done = self._done, []
        return done

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > DEPTH:
            raise UserError(f"The XML is nested deeper than {DEPTH} levels.", code="depth")
        self._flush()
        tag = _tag(name)
        named = {_tag(key): value for key, value in attributes.items()}
        if self.root is None:
            self.root = Element(tag, named)
        if not self._open and self._tags and tag not in self._tags:
            return
        element = Element(tag, named)
        self._count(TAG_CHARACTERS + sum(map(len, named.values())))
        if self._open:
            self._open[-1].append(element)
        self._open.append(element)
        self._last, self._tail = element, False

    def end(self, name: str) -> None:
        self._depth -= 1
        self._flush()
        if not self._open:
            return
        self._last, self._tail = self._open.pop(), True
        if not self._open:
            self._done.append(self._last)
            self._last, self._record = None, 0

    def text(self, data: str) -> None:
        self._characters += len(data)
        if self._characters > TEXT_CHARACTERS:
            raise _too_long()
        if self._open:
            self._texts.append(data)

    def skipped(self, name: str, is_parameter: bool) -> None:
        """An entity of the unread DTD: HTML's meaning where it has one, else as written."""
        if not is_parameter:
            self.text(html.entities.html5.get(f"{name};", f"&{name};"))

    def _flush(self) -> None:
        if self._last is not None and self._texts:
            joined = "".join(self._texts)
            self._count(len(joined))
            if self._tail:
                self._last.tail = joined
            else:
                self._last.text = joined
        self._texts.clear()
        self._characters = 0

    def _count(self, characters: int) -> None:
        self._record += characters
        if self._record > self._limit:
            raise UserError("One record of the XML is too large to be held.", code="size")


def _tag(name: str) -> str:
    return "{" + name if "}" in name else name
