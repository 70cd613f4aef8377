"""Bad DICOM files, one for every code of the import (but the child's own, D10-D12), and harmless ones like them.

All go through one real decode child, as in an import: read, and drawn where they are images. The controls show that the
attacks are real: a naive reader unpacks the bomb, runs out of stack, believes the header, shows the damaged picture.
"""

from __future__ import annotations

import io
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Iterator

import numpy as np
import pydicom
import pytest
from pydicom.encaps import encapsulate
from pydicom.pixels.utils import pixel_array
from pydicom.sequence import Sequence
from pydicom.uid import UID, DeflatedExplicitVRLittleEndian, RLELossless

from core.imaging.facts import Directory, Instance, Paper, Rendered
from core.runtime.foreign import Decoder, FileAnswer, Refused
from core.settings import Settings
from tests.helpers.dicom_files import (
    ROOT,
    changed,
    edited,
    electrocardiogram,
    enhanced,
    image,
    item,
    packaged,
    saved,
    slice_of,
    with_long_syntax,
)

Maker = Callable[[], bytes]
RAMP = np.arange(64, dtype=np.uint8).reshape(8, 8)


# ------------------------------------------------------------------------------------------------ makers of files


def deflated(body: bytes) -> bytes:
    """A file whose data set is said to be deflated, with this body in place of it."""
    whole = saved(edited(image(RAMP), TransferSyntaxUID=DeflatedExplicitVRLittleEndian))
    return whole[: 144 + int.from_bytes(whole[140:144], "little")] + body


def bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(b"\0" * (66 << 20)) + packer.flush()


def plain_deflated() -> bytes:
    """The body of an honest file, packed."""
    whole = saved(image(RAMP))
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(whole[144 + int.from_bytes(whole[140:144], "little") :]) + packer.flush()


def nested(depth: int) -> bytes:
    """Sequences of undefined length, each within the one before, never closed; before the pixels."""
    whole = saved(image(RAMP))
    at = whole.index(struct.pack("<HH", 0x7FE0, 0x0010))
    step = struct.pack("<HH2sHIHHI", 0x0040, 0x0275, b"SQ", 0, 0xFFFFFFFF, 0xFFFE, 0xE000, 0xFFFFFFFF)
    close = struct.pack("<HHIHHI", 0xFFFE, 0xE00D, 0, 0xFFFE, 0xE0DD, 0)

    return whole[:at] + step * depth + close * depth + whole[at:]


def nested_with_lengths(depth: int) -> bytes:
    """The same with lengths, which a reader takes apart only when it is asked to."""
    inner = item(PatientID="E-1")
    for _ in range(depth):
        inner = item(RequestAttributesSequence=Sequence([inner]))
    return saved(image(RAMP, RequestAttributesSequence=inner.RequestAttributesSequence))


def huge() -> bytes:
    """Less than 900 bytes that declare 4 GiB."""
    return saved(edited(image(RAMP), Rows=65535, Columns=65535, NumberOfFrames=1, SamplesPerPixel=1))


def jpeg_2000(**elements: object) -> bytes:
    return changed("MR_small_jp2klossless.dcm", **elements)


def swollen() -> bytes:
    """A second frame whose own header says 60,000 x 60,000: only its decoder would notice."""
    dataset = pydicom.dcmread(io.BytesIO(jpeg_2000()))
    frame = bytes(pydicom.encaps.get_frame(dataset.PixelData, 0, number_of_frames=1))
    at = frame.index(b"\xff\x4f\xff\x51") + 8
    large = frame[:at] + struct.pack(">2I", 60_000, 60_000) + frame[at + 8 :]
    dataset.NumberOfFrames = 2
    dataset.PixelData = encapsulate([frame, large])
    return saved(dataset)


def packed(frames: int, said: int, *, offsets: bytes = b"") -> bytes:
    """RLE frames, of which the header says that there are so many; with an offset table of ours."""
    dataset = image(np.stack([RAMP] * frames), frames=frames)
    dataset.compress(RLELossless, generate_instance_uid=False, encapsulate_ext=False)
    dataset.NumberOfFrames = said
    if offsets:
        raw = dataset.PixelData
        length = int.from_bytes(raw[4:8], "little")
        dataset.PixelData = raw[:4] + struct.pack("<I", len(offsets)) + offsets + raw[8 + length :]
    return saved(dataset)


def argb() -> bytes:
    return saved(image(RAMP, PhotometricInterpretation="ARGB"))


def without_fragments() -> bytes:
    dataset = edited(image(RAMP), TransferSyntaxUID=RLELossless)
    dataset.PixelData = encapsulate([b"x"])[:8]
    dataset["PixelData"].is_undefined_length = True
    return saved(dataset)


def twelve_bits() -> bytes:
    """JPEG extended: the header says 8 bits, the frame says 12."""
    dataset = image(RAMP)
    dataset.file_meta.TransferSyntaxUID = UID(f"{ROOT}.4.51")
    dataset.PixelData = encapsulate([bytes.fromhex("FFD8 FFC1 000B 0C 0008 0008 01 01 11 00 FFD9")])
    return saved(dataset)


def empty_tag() -> bytes:
    """A number of frames that is no number."""
    rows = b"\x28\x00\x10\x00US\x02\x00"
    return saved(image(RAMP)).replace(rows, b"\x28\x00\x08\x00IS\x02\x001A" + rows)


def without_syntax() -> bytes:
    whole = saved(image(RAMP))
    start = whole.index(b"\x02\x00\x10\x00UI")
    end = start + 8 + int.from_bytes(whole[start + 6 : start + 8], "little")
    length = int.from_bytes(whole[140:144], "little") - (end - start)
    return whole[:140] + length.to_bytes(4, "little") + whole[144:start] + whole[end:]


# ------------------------------------------------------------------------------------------------ the tables

HOSTILE: list[tuple[str, Maker, str, str]] = [
    ("text.dcm", lambda: b"no DICOM here, only words", "D01", "not a DICOM file"),
    ("empty.dcm", lambda: b"", "D02", "The file is empty (0 bytes)."),
    ("cut.dcm", lambda: changed("CT_small.dcm", PixelData=b"\0" * 100), "D03", "100 of 32,768 bytes"),
    ("no-bits.dcm", lambda: changed("CT_small.dcm", BitsAllocated=None), "D04", "contradictory: BitsAllocated."),
    ("huge.dcm", huge, "D05", "65535 x 65535 x 1 (4.0 GiB), the limit is 2.0 GiB"),
    ("jpeg-xl.dcm", lambda: with_long_syntax(f"{ROOT}.4.110"), "D06", "Compression not supported: JPEG XL."),
    ("twelve.dcm", twelve_bits, "D07", "12-bit JPEG needs the codecs extra."),
    ("video.dcm", lambda: jpeg_2000(TransferSyntaxUID=f"{ROOT}.4.102"), "D08", "Video is not supported (MPEG-4"),
    ("decoder.dcm", lambda: packaged("JPEG2000-embedded-sequence-delimiter.dcm"), "D09", "decoder could not read"),
    ("other-size.dcm", lambda: jpeg_2000(Rows=32), "D13", "64 x 64 x 1, 64 x 32 x 1 are said"),
    ("bad-tag.dcm", empty_tag, "D15", "damaged at (0028,0008) NumberOfFrames"),
    ("deep.dcm", lambda: nested(20_000), "D16", "nested deeper than 64 levels"),
    ("bomb.dcm", lambda: deflated(bomb()), "D17", "unpacks to more than 64 MiB"),
    ("argb.dcm", argb, "D18", "Colour model not supported: ARGB."),
    ("no-syntax.dcm", without_syntax, "D19", "does not name its transfer syntax"),
    # the same codes by other ways
    ("deep-lengths.dcm", lambda: nested_with_lengths(200), "D16", "nested deeper than 64 levels"),
    ("swollen.dcm", swollen, "D13", "60000 x 60000 x 1, 64 x 64 x 1 are said"),
    ("fewer-frames.dcm", lambda: packed(2, 3), "D03", "2 of 3 frames"),
    ("no-fragment.dcm", without_fragments, "D04", "PixelData (no fragment)"),
    ("backwards.dcm", lambda: packed(2, 2, offsets=struct.pack("<2I", 90, 0)), "D04", "Basic Offset Table"),
    ("outside.dcm", lambda: packed(2, 2, offsets=struct.pack("<2I", 0, 1 << 20)), "D04", "Basic Offset Table"),
    ("broken-deflate.dcm", lambda: deflated(b"\xff" * 40), "D15", "compressed DICOM header is damaged"),
    ("not-there.dcm", lambda: changed("CT_small.dcm", PixelData=None), "D03", "holds no pixel data"),
    ("bits.dcm", lambda: changed("CT_small.dcm", BitsStored=17), "D04", "BitsStored"),
    ("high-bit.dcm", lambda: changed("CT_small.dcm", HighBit=3), "D04", "HighBit"),
    ("private.dcm", lambda: jpeg_2000(TransferSyntaxUID="1.2.840.113619.5.2"), "D06", "Compression not supported"),
]  # fmt: skip

# Name, maker, what is answered: rows and columns and frames of an image that is drawn; or the kind of the answer.
BENIGN: list[tuple[str, Maker, object]] = [
    ("slice.dcm", lambda: saved(slice_of(1, 0.0)), (8, 8, 1)),
    ("deflated.dcm", lambda: deflated(plain_deflated()), (8, 8, 1)),
    ("nested.dcm", lambda: nested(60), (8, 8, 1)),
    ("nested-lengths.dcm", lambda: nested_with_lengths(60), (8, 8, 1)),
    ("j2k.dcm", jpeg_2000, (64, 64, 1)),
    ("frames.dcm", lambda: packed(3, 3), (8, 8, 3)),
    ("jpeg-ls.dcm", lambda: packaged("MR_small_jpeg_ls_lossless.dcm"), (64, 64, 1)),
    ("jpeg.dcm", lambda: packaged("SC_rgb_jpeg_dcmtk.dcm"), (100, 100, 1)),
    ("enhanced.dcm", lambda: enhanced(2, 3), (4, 4, 6)),
    ("no-preamble.dcm", lambda: packaged("ExplVR_LitEndNoMeta.dcm"), "listed"),
    ("odd-name", lambda: saved(slice_of(2, 1.0)), (8, 8, 1)),
    ("ecg.dcm", lambda: electrocardiogram({"II": np.zeros(100)}, rate=50), (352, 2080, 1)),
    ("report.dcm", lambda: packaged("test-SR.dcm"), Paper),
    ("DICOMDIR", lambda: packaged("dicomdirtests/DICOMDIR"), Directory),
    ("plan.dcm", lambda: packaged("rtplan.dcm"), "listed"),
    ("padded.dcm", lambda: saved(slice_of(3, 2.0)) + b"\xfc\xff\xfc\xffOB\0\0\2\0\0\0\0\0", (8, 8, 1)),
]  # fmt: skip

Answers = dict[str, tuple[FileAnswer, Rendered | Refused | None]]


@pytest.fixture(scope="module")
def answers() -> Iterator[Answers]:
    """What a decode child says of every file of both tables, and of its picture."""
    found: Answers = {}
    with Decoder(Settings(), threading.Event()) as decoder:
        for name, data in [(n, make()) for n, make, *_ in HOSTILE] + [(n, make()) for n, make, _ in BENIGN]:
            answer, _ = decoder.read(name, data)
            found[name] = answer, None
            if isinstance(answer, Instance):
                found[name] = answer, decoder.render(data, pixels=answer.rows * answer.columns)[0]
    yield found


@pytest.mark.parametrize(("name", "expected"), [(n, e) for n, _, e in BENIGN], ids=[b[0] for b in BENIGN])
def test_harmless_files_are_read_and_drawn(answers: Answers, name: str, expected: object) -> None:
    answer, drawn = answers[name]
    if isinstance(expected, tuple):
        assert isinstance(answer, Instance), answer
        assert (answer.rows, answer.columns, answer.frames) == expected
        assert isinstance(drawn, Rendered), drawn
    elif expected == "listed":
        assert isinstance(answer, Refused)
        assert answer.code == "listed"
    else:
        assert type(answer) is expected


@pytest.mark.parametrize(("name", "code", "words"), [(n, c, w) for n, _, c, w in HOSTILE], ids=[h[0] for h in HOSTILE])
def test_each_bad_file_gets_its_own_card(answers: Answers, name: str, code: str, words: str) -> None:
    answer, drawn = answers[name]
    refused = drawn if isinstance(answer, Instance) else answer
    assert isinstance(refused, Refused), refused
    assert (refused.code, words in refused.reason) == (code, True), refused


UNUSUAL = ("deflated.dcm", "nested.dcm", "nested-lengths.dcm", "frames.dcm", "enhanced.dcm", "odd-name", "padded.dcm")


def test_complaint_F1_unusual_files_that_are_valid_have_no_card(answers: Answers) -> None:
    """nroduit/Weasis#810: a misleading message for valid files."""
    assert [name for name in UNUSUAL if not isinstance(answers[name][1], Rendered)] == []
    assert len(UNUSUAL) >= 6


def test_every_code_but_those_of_a_dying_child_is_there() -> None:
    codes = {code for _, _, code, _ in HOSTILE}
    assert codes == {f"D{n:02}" for n in (*range(1, 10), 13, *range(15, 20))}
    assert len({code for _, _, code, _ in HOSTILE[:15]}) == 15
    assert len(huge()) < 900


# ------------------------------------------------------------------------------------------------ controls


def test_control_a_naive_reader_unpacks_the_bomb() -> None:
    data = deflated(bomb())
    assert len(data) < 100_000
    assert len(zlib.decompress(data[144 + int.from_bytes(data[140:144], "little") :], -zlib.MAX_WBITS)) == 66 << 20


def test_control_a_naive_reader_runs_out_of_stack() -> None:
    with pytest.raises(RecursionError):
        pydicom.dcmread(io.BytesIO(nested(20_000)))
    assert sys.getrecursionlimit() < 20_000


def test_control_a_naive_reader_believes_the_header() -> None:
    """Unchecked, the sizes of the two that lie about themselves are what a reader would make room for."""
    dataset = pydicom.dcmread(io.BytesIO(huge()))
    assert dataset.Rows * dataset.Columns == 65535**2
    inner = pydicom.dcmread(io.BytesIO(packed(2, 3)))
    with pytest.raises((ValueError, IndexError)):
        pixel_array(inner, index=2)


def test_control_sixteen_changed_bytes_are_shown_without_a_word() -> None:
    """Damage within a JPEG 2000 stream is no case for a card: nothing tells it but the hash of the file."""
    whole = jpeg_2000()
    at = whole.index(b"\xff\x93") + 200
    bad = whole[:at] + bytes(255 - byte for byte in whole[at : at + 16]) + whole[at + 16 :]
    shown = pydicom.dcmread(io.BytesIO(bad)).pixel_array
    assert shown.shape == (64, 64)
    assert not np.array_equal(shown, pydicom.dcmread(io.BytesIO(whole)).pixel_array)
