"""Transfer syntaxes: which are read, by which one decoder, which lose something. Knows no file and decodes nothing.

One plugin a syntax and no second try: decoders differ by a grey level on the same lossy file, and a hash must not
depend on what else is installed (imaging.md 4.3).
"""

from __future__ import annotations

from functools import cache
from importlib import metadata

import msgspec

ROOT = "1.2.840.10008.1.2"
NATIVE = (ROOT, f"{ROOT}.1", f"{ROOT}.2", f"{ROOT}.1.99")
JPEG = tuple(f"{ROOT}.4.{n}" for n in (50, 51, 57, 70))
JPEG_8_OR_12 = (f"{ROOT}.4.50", f"{ROOT}.4.51")
JPEG_LS = tuple(f"{ROOT}.4.{n}" for n in (80, 81))
JPEG_2000 = tuple(f"{ROOT}.4.{n}" for n in (90, 91, 201, 202, 203))
RLE = (f"{ROOT}.5",)
LOSSY = {f"{ROOT}.4.{n}" for n in (50, 51, 81, 91, 203)}
VIDEO = {f"{ROOT}.4.{n}" for n in range(100, 110)}
JPEG_XL = {f"{ROOT}.4.{n}" for n in (110, 111, 112)}


class Plugin(msgspec.Struct, frozen=True):
    """Under what name pydicom knows the decoder ("": pydicom itself), and in which package it comes."""

    name: str
    package: str


PLUGINS = {
    **dict.fromkeys(NATIVE, Plugin("", "pydicom")),
    **dict.fromkeys(JPEG, Plugin("gdcm", "python-gdcm")),
    **dict.fromkeys(JPEG_LS, Plugin("pyjpegls", "pyjpegls")),
    **dict.fromkeys(JPEG_2000, Plugin("pylibjpeg", "pylibjpeg-openjpeg")),
    **dict.fromkeys(RLE, Plugin("pylibjpeg", "pylibjpeg-rle")),
}


@cache
def decoder(syntax: str) -> str:
    """Name and version of the one decoder of a syntax of the table, "pylibjpeg-rle 2.2.0"."""
    package = PLUGINS[syntax].package
    return f"{package} {metadata.version(package)}"
