"""Canonical JSON: equal values give equal bytes, whatever the order; hashes against hashlib and published values."""

from __future__ import annotations

import hashlib

import msgspec
import pytest

from core import codec
from core.domain import event as ev
from core.domain.evidence import Evidence, Provenance

# FIPS 180-2, appendix B.1
ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_keys_are_sorted_and_nothing_is_padded() -> None:
    assert codec.encode({"b": 1, "a": [1, 2.5, None, True, "ü"]}) == '{"a":[1,2.5,null,true,"ü"],"b":1}'.encode()
    assert codec.encode({"b": 1, "a": 2}) == codec.encode({"a": 2, "b": 1})
    assert codec.encode({3, 1, 2}) == b"[1,2,3]"


def test_a_value_comes_back_as_its_type() -> None:
    evidence = Evidence(
        id="e1", text="x", provenance=Provenance(kind="document", reference="n1", sha256="0" * 64, label="note")
    )
    assert codec.decode(codec.encode(evidence), Evidence) == evidence
    event = ev.EvidenceAdded(items=(evidence,), stage="s")
    assert codec.decode(codec.encode(event), ev.Event) == event


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[1,"])
def test_what_is_not_json_is_refused(data: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        codec.decode(data, dict)


def test_what_has_another_shape_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="at `\\$.id`"):
        codec.decode(b'{"id":1,"text":"x","provenance":null}', Evidence)


def test_hashes() -> None:
    assert codec.sha256(b"abc") == ABC
    assert codec.digest({"b": 1, "a": 2}) == hashlib.sha256(b'{"a":2,"b":1}').hexdigest()


def test_pretty_is_the_same_value() -> None:
    value = {"b": [1], "a": "ü"}
    assert codec.pretty(value) == '{\n  "a": "ü",\n  "b": [\n    1\n  ]\n}'
