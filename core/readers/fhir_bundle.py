"""Which resources a FHIR file holds, how they refer to each other, and of which patient they are. Pure.

A Bundle, a single resource or NDJSON (a resource a line); bundles within bundles are taken apart. References are
followed inside the file only. Knows the heads of resources, not what they mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from core import codec
from core.errors import UserError
from core.readers.fhir_resources import Bundle, Entry, Head, Reference

T = TypeVar("T")
BUNDLES_DEEP = 3
NAMED = 3  # resources named in a sentence on many of them


class Subjects(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Whose a resource is: `subject` of most kinds, `patient` of allergies."""

    subject: Reference = Reference()
    patient: Reference = Reference()


class Remarks:
    """What could not be read, each reason once with the resources that it holds for."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], list[str]] = {}
        self._said: list[str] = []

    def add(self, head: Head, why: str) -> None:
        """`why` completes a sentence that begins with the resource."""
        self._found.setdefault((head.resource_type, why), []).append(head.id[:64])

    def say(self, sentence: str) -> None:
        """A sentence on the file as a whole."""
        self._said.append(sentence)

    def sentences(self) -> tuple[str, ...]:
        """In the order in which the reasons were met first."""
        return (*self._said, *(_sentence(kind, why, ids) for (kind, why), ids in self._found.items()))


def _sentence(kind: str, why: str, ids: list[str]) -> str:
    if len(ids) == 1:
        return f"{kind}{f' {ids[0]}' if ids[0] else ''} {why}; it was not read."
    named = [name for name in ids if name][:NAMED]
    listed = f" ({', '.join(named)}{', …' if len(ids) > len(named) else ''})" if named else ""
    return f"{kind}{listed}: {len(ids):,} times, each {why}; they were not read."


class Resource(msgspec.Struct, frozen=True):
    """A resource unread: what it is, its JSON, and the names under which others may refer to it."""

    head: Head
    raw: bytes
    names: tuple[str, ...]


class Found:
    """The resources of one file."""

    def __init__(self, resources: list[Resource], timestamp: str) -> None:
        self._resources = resources
        self.timestamp = timestamp
        self._subjects = [_subject(resource) for resource in resources]
        self._by_name = {name: resource for resource in reversed(resources) for name in resource.names}

    def get(self, reference: Reference, contained: tuple[msgspec.Raw, ...] = ()) -> Resource | None:
        """The resource that is meant, if it lies in the file: inside the one that refers to it, or beside it."""
        if reference.reference.startswith("#"):
            inner = (_resource(bytes(raw), "") for raw in contained)
            return next((one for one in inner if one and one.head.id == reference.reference[1:]), None)
        return self._by_name.get(_tail(reference.reference))

    def patient(self) -> Resource | None:
        """The Patient that most resources are of; the first where none is named."""
        patients = [one for one in self._resources if one.head.resource_type == "Patient"]
        counts = Counter(filter(None, self._subjects))
        return max(patients, key=lambda one: sum(counts[name] for name in one.names), default=None)

    def of_patient(self, remarks: Remarks) -> Iterator[Resource]:
        """The resources of one patient; those that name another, or one who is not in the file, are remarked."""
        chosen = self.patient()
        counts = Counter(filter(None, self._subjects))
        own = set(chosen.names) if chosen else {name for name, _ in counts.most_common(1)}
        for resource, subject in zip(self._resources, self._subjects, strict=True):
            if resource is chosen:
                continue
            if resource.head.resource_type == "Patient":
                remarks.add(resource.head, "is another patient than the rest of the file")
            elif not subject or subject in own:
                yield resource
            elif subject in self._by_name:
                remarks.add(resource.head, "is of another patient")
            else:
                remarks.add(resource.head, f"is of a patient who is not in the file ({subject[:80]})")


def found_in(content: str, remarks: Remarks) -> Found:
    """The resources of a file's text.

    Raises:
        UserError: not JSON ("json"), or no FHIR resource ("not fhir").
    """
    try:
        head: Head = codec.decode(content, Head)
        documents = [content]
    except msgspec.ValidationError as error:
        raise UserError("This JSON file is no FHIR resource.", code="not fhir") from error
    except (msgspec.DecodeError, UnicodeError) as error:
        documents = _lines(content, remarks)
        if not documents:
            raise UserError(f"The JSON is damaged: {_reason(error)}.", code="json") from error
        head = codec.decode(documents[0], Head)
    except RecursionError as error:
        raise UserError("The JSON is nested too deep to be read.", code="json") from error
    if not head.resource_type:
        raise UserError("This JSON file is no FHIR resource: it names no resourceType.", code="not fhir")
    resources: list[Resource] = []
    timestamp = ""
    for document in documents:
        timestamp = max(timestamp, _unpacked(document.encode(), "", resources, remarks, BUNDLES_DEEP))
    return Found(resources, timestamp)


def _reason(error: Exception) -> str:
    """msgspec's sentence without its lead: "Input data was truncated", "invalid character (byte 12)"."""
    reason = str(error).removeprefix("JSON is malformed: ").rstrip(".")
    return reason[:1].lower() + reason[1:]


def _lines(content: str, remarks: Remarks) -> list[str]:
    """The lines of an NDJSON file that are JSON objects; [] where the first is none."""
    found: list[str] = []
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            codec.decode(line, Head)
        except (msgspec.MsgspecError, RecursionError, UnicodeError):
            if not found:
                return []
            remarks.say(f"Line {number} is no FHIR resource; it was not read.")
            continue
        found.append(line)
    return found


def _unpacked(raw: bytes, url: str, into: list[Resource], remarks: Remarks, deep: int) -> str:
    """Put a resource, or those of a Bundle, into the list; returns the Bundle's time."""
    resource = _resource(raw, url)
    if resource is None or not resource.head.resource_type:
        remarks.say("An entry is no FHIR resource; it was not read.")
        return ""
    if resource.head.resource_type != "Bundle":
        into.append(resource)
        return ""
    bundle = _decoded(raw, Bundle)
    if bundle is None or not deep:
        remarks.add(resource.head, "is nested too deep" if bundle else "is not built as FHIR R4 says (entry)")
        return ""
    for entry in (_decoded(bytes(part), Entry) for part in bundle.entry):
        _unpacked(bytes(entry.resource) if entry else b"", entry.full_url if entry else "", into, remarks, deep - 1)
    return bundle.timestamp


def _decoded(raw: bytes, kind: type[T]) -> T | None:
    try:
        value: T = codec.decode(raw, kind)
        return value
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return None


def _resource(raw: bytes, url: str) -> Resource | None:
    head = _decoded(raw, Head)
    if head is None:
        return None
    names = [f"{head.resource_type}/{head.id}"] if head.id else []
    return Resource(head, raw, tuple(dict.fromkeys([*names, *([_tail(url)] if url else [])])))


def _tail(reference: str) -> str:
    """ "Patient/1" of an address, relative or absolute and with or without its version; an urn as it is."""
    if reference.startswith("urn:"):
        return reference
    parts = reference.partition("/_history/")[0].rstrip("/").split("/")
    return "/".join(parts[-2:])


def _subject(resource: Resource) -> str:
    found = _decoded(resource.raw, Subjects)
    return _tail(found.subject.reference or found.patient.reference) if found else ""
