"""Files of public sets, read in place: bytes within a limit, JSON and CSV of a form, one sentence for what is wrong.

It must not know any set.
"""

from __future__ import annotations

import ast
import csv
import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec

from core import codec
from core.errors import UserError
from core.readers import archive

T = TypeVar("T")
FILE_BYTES = 256 << 20  # the largest of the files that are read here has 5 MiB
FIELD_CHARACTERS = 1 << 24
_CODE = "bench_data"
_FIELD_LIMIT = threading.Lock()


def broken(file: str, why: str) -> UserError:
    """What is said of a file that is there and is not of its form."""
    return UserError(f"{file} is not of its publisher's form: {why}.", code=_CODE)


def read(folder: Path, file: str) -> bytes:
    """The bytes of a file below the folder; of a `.gz` its contents, or those of the same file unpacked beside it.

    Raises:
        UserError: it is not there, cannot be read, is damaged, or has more than 256 MiB.
    """
    for name in (file, file.removesuffix(".gz")):
        try:
            with (folder / name).open("rb") as stream:
                return _unpacked(stream, name) if name.endswith(".gz") else _whole(stream, name)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise UserError(f"{name} in {folder} cannot be read: {error.strerror}.", code=_CODE) from error
    raise UserError(f"There is no {file} in {folder}.", code=_CODE)


def _whole(stream: BinaryIO, file: str) -> bytes:
    data = stream.read(FILE_BYTES + 1)
    if len(data) > FILE_BYTES:
        raise broken(file, f"it has more than {FILE_BYTES >> 20} MiB")
    return data


def _unpacked(stream: BinaryIO, file: str) -> bytes:
    try:
        contents = list(archive.contents(stream, name=file, limits=archive.Limits(member_bytes=FILE_BYTES)))
    except UserError as error:
        raise broken(file, error.text.rstrip(".")) from error
    found = contents[0] if len(contents) == 1 else None
    if not isinstance(found, archive.Content):
        raise broken(file, found.reason.rstrip(".") if found else "it does not hold one file")
    return found.data


def json(data: bytes, kind: type[T] | Any, *, file: str) -> T:
    """JSON of a form. Raises UserError where it is none or of another form."""
    try:
        result: T = codec.decode(data, kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise broken(file, str(error)) from error
    return result


def table(data: bytes, columns: Sequence[str], *, file: str) -> Iterator[tuple[str, ...]]:
    """The cells of the columns, in their order, of each row of a comma-separated file with a header line.

    Raises:
        UserError: no such columns, broken quoting, or a row of another width.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise broken(file, "it is not UTF-8") from error
    with _large_fields():
        try:
            lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error as error:
            raise broken(file, str(error)) from error
    return _cells(lines, columns, file)


def _cells(lines: list[list[str]], columns: Sequence[str], file: str) -> Iterator[tuple[str, ...]]:
    header = lines[0] if lines else []
    if missing := [name for name in columns if name not in header]:
        raise broken(file, f'it has no column "{missing[0]}"')
    places = [header.index(name) for name in columns]
    for number, line in enumerate(lines[1:], start=1):
        if len(line) != len(header):
            raise broken(file, f"row {number} has {len(line)} cells instead of {len(header)}")
        yield tuple(line[place] for place in places)


@contextmanager
def _large_fields() -> Iterator[None]:
    """The limit of a field is one of the whole process: it is put back, other readers rely on it."""
    with _FIELD_LIMIT:
        before = csv.field_size_limit(FIELD_CHARACTERS)
        try:
            yield
        finally:
            csv.field_size_limit(before)


def literal(text: str, *, file: str, row: str) -> object:
    """A Python literal, parsed and never evaluated. Raises UserError where it is none."""
    try:
        found: object = ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise broken(file, f"row {row} holds no Python literal where one is due") from error
    return found


def distinct(ids: Sequence[str], *, file: str) -> None:
    """Raises UserError where an id stands twice: a row must not borrow the place of another."""
    seen: set[str] = set()
    for identifier in ids:
        if identifier in seen:
            raise broken(file, f"the id {identifier} stands twice")
        seen.add(identifier)
