"""Writes small PDF files for tests: pages of placed text, and what a hostile one carries. ISO 32000-1, standard fonts.

`protected` encrypts with RC4 40 bit (standard security handler, revision 2; ISO 32000-1 7.6.3).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")
ID = b"0123456789abcdef"


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """A line of text at (x, y) points from the lower left; `colour` in PDF operators, `mode` 3 is invisible."""

    text: str
    x: float = 72
    y: float = 700
    size: float = 11
    colour: str = "0 g"
    mode: int = 0
    scale: float = 1.0


Page = Sequence[Words | str]  # a str is drawn as it stands: paths, pictures


def page_of(*lines: str, top: float = 720, size: float = 11, step: float = 14) -> list[Words]:
    """Lines one below the other."""
    return [Words(text=line, y=top - step * n, size=size) for n, line in enumerate(lines)]


def _drawn(item: Words | str) -> str:
    if isinstance(item, str):
        return item
    text = item.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    at = f"{item.scale:g} 0 0 {item.scale:g} {item.x:g} {item.y:g} Tm"
    return f"q {item.colour} BT /F1 {item.size / item.scale:g} Tf {item.mode} Tr {at} ({text}) Tj ET Q"


def written(pages: Sequence[Page], *, catalogue: str = "", extra: Sequence[str] = (), password: str = "") -> bytes:
    """A PDF file of A4 pages. `extra` are bodies of further objects (the first is number 4), named in `catalogue`."""
    objects = ["", "", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>", *extra]
    kids = []
    for page in pages:
        number = len(objects) + 1
        kids.append(f"{number} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {number + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append("stream" + "\n".join(map(_drawn, page)))
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {catalogue} >>"
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    return _file(objects, password)


def _file(objects: list[str], password: str) -> bytes:
    key = _key(password) if password else b""
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + _body(body, number, key) + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = f"<< /Size {len(places) + 1} /Root 1 0 R /ID [<{ID.hex()}> <{ID.hex()}>] {_encrypt(password)} >>"
    return bytes(out) + f"trailer\n{trailer}\nstartxref\n{start}\n%%EOF\n".encode()


def _body(body: str, number: int, key: bytes) -> bytes:
    if not body.startswith("stream"):
        return body.encode("cp1252")
    data = body.removeprefix("stream").encode("cp1252")
    if key:
        data = rc4(hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0", usedforsecurity=False).digest()[:10], data)
    return f"<< /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def _owner(password: str) -> bytes:
    key = hashlib.md5((password.encode() + PAD)[:32], usedforsecurity=False).digest()[:5]
    return rc4(key, (password.encode() + PAD)[:32])


def _key(password: str) -> bytes:
    seed = (password.encode() + PAD)[:32] + _owner(password) + (-4).to_bytes(4, "little", signed=True) + ID
    return hashlib.md5(seed, usedforsecurity=False).digest()[:5]


def _encrypt(password: str) -> str:
    if not password:
        return ""
    user = rc4(_key(password), PAD)
    return f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{_owner(password).hex()}> /U <{user.hex()}> >>"


def rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)
