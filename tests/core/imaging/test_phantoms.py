"""Phantoms: the shapes that were asked for are in the pixels; the film is a DICOM object that our reader takes."""

import io

import numpy as np
import pydicom
import pytest

from core.imaging import film, objects, phantom
from core.imaging.facts import Instance

WHO = film.Identity(name="Example^Margaret", patient_id="E1", birth_date="19580322", sex="F")


@pytest.fixture(scope="module")
def chest() -> np.ndarray:
    return phantom.chest_film(ratio=0.50)


def test_a_chest_film_shows_what_it_should(chest: np.ndarray) -> None:
    assert (chest.shape, chest.dtype) == ((1024, 1024), np.uint8)
    lung_right, lung_left = chest[430:560, 250:330].mean(), chest[430:520, 700:780].mean()
    heart, liver, air = chest[600:640, 520:600].mean(), chest[850:900, 300:400].mean(), chest[20:40, 20:60].mean()
    assert max(lung_right, lung_left) < 90 < 150 < min(heart, liver)
    assert air < 10


@pytest.mark.parametrize("ratio", [0.42, 0.58])
def test_the_heart_is_as_wide_as_asked(ratio: float) -> None:
    """Edges along the row of the heart's centre where the film crosses half between lung and heart."""
    row = phantom.chest_film(ratio=ratio)[612:628].mean(axis=0)
    half = (np.median(row[230:330]) + np.median(row[530:560])) / 2
    left = 540 - int(np.argmax(row[540:200:-1] < half))
    right = 540 + int(np.argmax(row[540:860] < half))
    assert (right - left) / phantom.INNER_WIDTH == pytest.approx(ratio, abs=0.025)


def test_the_film_is_a_dicom_object(chest: np.ndarray) -> None:
    data = film.write_chest_film(chest, WHO)
    found, _ = objects.read(data, limit_bytes=1 << 30)
    assert isinstance(found, Instance)
    assert (found.modality, found.view, found.body_part, found.rows) == ("DX", "PA", "CHEST", 1024)
    assert (found.patient.name, found.patient.birth_date, found.patient.sex) == ("Example, Margaret", "1958-03-22", "F")
    dataset = pydicom.dcmread(io.BytesIO(data))
    assert np.array_equal(dataset.pixel_array, chest)
    assert dataset.SOPClassUID.name == "Digital X-Ray Image Storage - For Presentation"
    assert dataset.SOPInstanceUID == dataset.file_meta.MediaStorageSOPInstanceUID
    assert dataset.SOPInstanceUID.is_valid


def test_the_same_person_gives_the_same_bytes(chest: np.ndarray) -> None:
    assert film.write_chest_film(chest, WHO) == film.write_chest_film(chest, WHO)
    other = film.Identity(name="Example^Margaret", patient_id="E2")
    uids = [pydicom.dcmread(io.BytesIO(film.write_chest_film(chest, w))).SOPInstanceUID for w in (WHO, other)]
    assert uids[0] != uids[1]


@pytest.mark.parametrize("ratio", [0.4, 0.6, 0.8])
def test_the_cup_is_as_tall_as_asked(ratio: float) -> None:
    """Blue is far higher in the cup (0.62) than in the rim (0.36): count it along columns free of vessels."""
    eye = phantom.fundus(ratio=ratio)
    blue = eye[:, :, 2].astype(float) / 255
    heights = []
    for column in range(700, 736, 3):
        inside = np.abs((column - phantom.DISC_RIGHT_EYE[0]) / (phantom.DISC[0] * ratio * 0.96))
        if inside < 0.7:
            chord = np.count_nonzero(blue[400:590, column] > 0.49)
            heights.append(chord / np.sqrt(1 - inside**2))
    assert np.median(heights) / (2 * phantom.DISC[1]) == pytest.approx(ratio, abs=0.03)


def test_the_left_eye_is_the_mirror_image() -> None:
    assert np.array_equal(phantom.fundus(right_eye=False), phantom.fundus()[:, ::-1])
    right = phantom.fundus().astype(float).sum(axis=2)
    assert right[450:530, 690:790].mean() > 1.5 * right[450:530, 200:300].mean()  # the disc is on the nasal side
