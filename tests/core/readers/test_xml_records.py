"""XML in records: the same elements as the standard library builds, freed while reading; entities never expanded."""

import io
import tracemalloc
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from core.errors import UserError
from core.readers import xml

SAMPLE = """<?xml version="1.0"?>
<!DOCTYPE list SYSTEM "http://example.org/list.dtd">
<list made="2026-11-23" xmlns:m="urn:m"><note>outside</note>
 <item id="1">Fi\u00e8vre <b>38,5</b> \u00b0C<sub/>tail</item>
 <item id="2" m:lang="fr"><m:name>caf\u00e9 &amp; th\u00e9</m:name><item id="2a">inner</item></item>
</list>"""


def test_the_same_elements_as_elementtree_builds() -> None:
    reading = xml.records(io.BytesIO(SAMPLE.encode()), "item")
    found = [ElementTree.tostring(element) for element in reading]
    independent = ElementTree.fromstring(SAMPLE)  # noqa: S314 (our own text)
    for element in independent.findall("item"):
        element.tail = None
    assert found == [ElementTree.tostring(element) for element in independent.findall("item")]
    assert reading.root is not None
    assert (reading.root.tag, reading.root.attrib) == ("list", {"made": "2026-11-23"})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_encodings_by_mark_or_declaration(encoding: str) -> None:
    said = ' encoding="iso-8859-1"' if encoding == "iso-8859-1" else ""
    data = f'<?xml version="1.0"{said}?><a>M\u00fcller</a>'.encode(encoding)
    assert xml.whole(data).text == "M\u00fcller"


def test_an_entity_of_the_unread_dtd_keeps_its_meaning() -> None:
    data = b'<!DOCTYPE a SYSTEM "a.dtd"><a>5 &mu;g &ours; x</a>'
    assert xml.whole(data).text == "5 \u03bcg &ours; x"


class Endless(io.RawIOBase):
    """A list of that many records, made while it is read."""

    def __init__(self, records: int) -> None:
        self._parts: Iterator[bytes] = iter([b"<list>", *[b"<r>" + b"x" * 10_000 + b"</r>"] * records, b"</list>"])

    def read(self, size: int = -1) -> bytes:
        return next(self._parts, b"")


def test_records_are_freed_while_reading() -> None:
    tracemalloc.start()
    count = sum(len(record.text or "") for record in xml.records(Endless(500), "r"))  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 5_000_000
    assert peak < 2_000_000


def test_depth_200_is_read_and_201_is_not() -> None:
    assert xml.whole(b"<a>" * 200 + b"</a>" * 200).tag == "a"
    with pytest.raises(UserError) as refused:
        xml.whole(b"<a>" * 201 + b"</a>" * 201)
    assert refused.value.code == "depth"


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b'<!DOCTYPE a [<!ENTITY x "boom">]><a>&x;</a>', "entity", "declares an entity (x)"),
        (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', "entity", "declares an entity"),
        (b'<!DOCTYPE a [<!ENTITY % x "y">]><a/>', "entity", "declares an entity"),
        (b"<a><b></a>", "xml", "damaged at line 1: mismatched tag"),
        (b"", "xml", "no element found"),
        (b"<a>" + b"x" * 8_000_001 + b"</a>", "size", "longer than 8,000,000 characters"),
        (b"<a><!--" + b"x" * 8_300_000 + b"--></a>", "size", "longer than 8,000,000 characters"),
        (b'<?xml version="1.0" encoding="klingon"?><a/>', "xml", "encoding"),
    ],
    ids=["internal", "external", "parameter", "tags", "empty", "text", "comment", "encoding"],
)
def test_what_is_refused(data: bytes, code: str, words: str) -> None:
    with pytest.raises(UserError) as refused:
        xml.whole(data)
    assert refused.value.code == code
    assert words in refused.value.text
