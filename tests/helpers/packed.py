"""Writes archives for tests: sound ones, and ones that no packer would write (lying headers, links, forged names)."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Sequence

LOCAL, ENTRY = b"PK\x03\x04", b"PK\x01\x02"
Files = Sequence[tuple[str, bytes]]


def zipped(files: Files, *, method: int = zipfile.ZIP_DEFLATED, mode: int = 0, flags: int = 0) -> bytes:
    """A ZIP file; `mode` is the Unix mode of each entry, `flags` are set in both headers of each afterwards."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w") as archive:
        warnings.simplefilter("ignore")  # a name that stands twice is meant
        for name, data in files:
            info = zipfile.ZipInfo("x")
            info.filename, info.compress_type, info.external_attr = name, method, mode << 16
            archive.writestr(info, data)
    whole = bytearray(stream.getvalue())
    if flags:
        for signature, offset in ((LOCAL, 6), (ENTRY, 8)):
            for at in places(whole, signature):
                whole[at + offset] |= flags
    return bytes(whole)


def places(data: bytes | bytearray, signature: bytes) -> list[int]:
    found, at = [], data.find(signature)
    while at >= 0:
        found.append(at)
        at = data.find(signature, at + 1)
    return found


def lying(archive: bytes, size: int) -> bytes:
    """The same ZIP file, whose headers say that each member unpacks to `size` bytes."""
    whole = bytearray(archive)
    for signature, offset in ((LOCAL, 22), (ENTRY, 24)):
        for at in places(whole, signature):
            whole[at + offset : at + offset + 4] = size.to_bytes(4, "little")
    return bytes(whole)


def renamed(archive: bytes, old: bytes, new: bytes) -> bytes:
    """The same ZIP file with a name's bytes exchanged for as many others."""
    assert len(old) == len(new)
    return archive.replace(old, new)


def zip_link(name: str, target: bytes) -> bytes:
    return zipped([(name, target)], mode=stat.S_IFLNK | 0o777)


def tarred(files: Files, *, form: int = tarfile.PAX_FORMAT) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
        for name, data in files:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def tar_entry(name: str, kind: bytes, target: str = "") -> bytes:
    """A tar file with one entry that is no file (link, device, pipe)."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(info)
    return stream.getvalue()


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)
