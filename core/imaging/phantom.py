"""Phantoms drawn by formula: a chest film and a fundus, with the truth that their shapes were made from.

For the example cases, dry runs and tests; nobody's image. Arrays are 8-bit; `core.imaging.film` writes a chest film as
DICOM. 1024 x 1024 px; x to the image's right, y downwards; proportions as imaging.md section 8 (notes p1 and p4).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Plane = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
SIDE = 1024
LUNGS = ((330.0, 480.0), (694.0, 480.0))  # centres; the first is the patient's right lung
LUNG = (150.0, 300.0)  # semi-axes
INNER_WIDTH = 664  # of the chest, px
HEART = (540.0, 620.0)
HEART_HEIGHT = 120.0
DISC_RIGHT_EYE = (742.0, 492.0)
MACULA = (512.0, 512.0)
DISC = (70.0, 80.0)  # semi-axes: horizontal, vertical
MARKER = ("1110", "1001", "1001", "1110", "1010", "1001", "1001")  # the letter R, one pixel a character


def _grid() -> tuple[Plane, Plane]:
    y, x = np.mgrid[0:SIDE, 0:SIDE].astype(np.float64)
    return x, y


def _inside(distance: Plane, softness: float) -> Plane:
    """1 where the signed distance (px, negative inside) is well inside, 0 well outside, smooth between."""
    result: Plane = 1 / (1 + np.exp(np.clip(distance / softness, -40, 40)))
    return result


def _dome(x: Plane, y: Plane, centre: tuple[float, float], axes: tuple[float, float]) -> Plane:
    """Thickness of an ellipsoid seen from the front, 1 in its centre, 0 outside."""
    square = ((x - centre[0]) / axes[0]) ** 2 + ((y - centre[1]) / axes[1]) ** 2
    return np.sqrt(np.clip(1 - square, 0, None))


def _blurred(values: Plane, sigma: float) -> Plane:
    """Gaussian blur in the frequency domain; edges wrap, which the dark margins hide."""
    frequency = np.fft.fftfreq(values.shape[0])[:, None] ** 2 + np.fft.rfftfreq(values.shape[1])[None, :] ** 2
    return np.fft.irfft2(np.fft.rfft2(values) * np.exp(-2 * (np.pi * sigma) ** 2 * frequency), s=values.shape)


def _line(target: Plane, points: Plane, widths: Plane, strength: float) -> None:
    """Add a soft tube along a polyline: points n x 2 (x, y), half-widths in px, into `target` in place."""
    for (x0, y0), (x1, y1), width in zip(points, points[1:], widths, strict=False):
        reach = int(3 * width + 3)
        left, right = int(max(0, min(x0, x1) - reach)), int(min(SIDE, max(x0, x1) + reach))
        top, bottom = int(max(0, min(y0, y1) - reach)), int(min(SIDE, max(y0, y1) + reach))
        if left >= right or top >= bottom:
            continue
        y, x = np.mgrid[top:bottom, left:right].astype(np.float64)
        length = max((x1 - x0) ** 2 + (y1 - y0) ** 2, 1e-9)
        along = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length, 0, 1)
        square = (x - x0 - along * (x1 - x0)) ** 2 + (y - y0 - along * (y1 - y0)) ** 2
        part = target[top:bottom, left:right]
        np.maximum(part, strength * np.exp(-((square / width**2) ** 1.5)), out=part)


# ------------------------------------------------------------------------------------------------ chest film


def chest_film(*, ratio: float = 0.46, seed: int = 1) -> Bytes:
    """A frontal (PA) chest film without disease, dense is bright; heart width / inner chest width = `ratio`.

    Returns 1024 x 1024, uint8. The patient's right is on the image's left, as usual.
    """
    rng = np.random.default_rng(seed)
    x, y = _grid()
    air = _lung_air(x, y, ratio)
    tissue = _torso(x, y) + 0.24 * _mediastinum(x, y, ratio) * _above(x, y, 14)
    bones = _spine(x, y) + _ribs(x) + _shoulders(x, y)
    vessels = _blurred(_chest_vessels(rng), 1.2) * np.sqrt(air) * _above(x, y, 10)
    film = tissue - 0.56 * air + bones + 0.17 * vessels - 0.07 * _airways(x, y) - 0.12 * _stomach_bubble(x, y)
    film = _blurred(film, 1.2) + rng.normal(0, 0.010, film.shape) + _blurred(rng.normal(0, 0.20, film.shape), 6)
    film = np.clip((film - 0.02) / 1.02, 0, 1) ** 0.95
    return _with_marker(np.floor(film * 235 + 0.5).astype(np.uint8))


def _torso(x: Plane, y: Plane) -> Plane:
    """Soft tissue: trunk with sloping shoulders and a neck, denser below the diaphragm."""
    side = np.abs(x - 512)
    shoulder = 84 + 78 * (side / 440) ** 2 + 300 * np.clip((side - 400) / 110, 0, None) ** 3
    trunk = _inside(shoulder - y, 6) * _inside(side - 492 + 26 * np.sin(y / 330), 6)
    neck = _inside(side - 104 - 60 * np.exp(-np.clip(120 - y, 0, None) / 30), 8) * _inside(y - 190, 20)
    depth = np.sqrt(np.clip(1 - (side / 540) ** 2, 0, 1))
    within = (1 - _above(x, y, 6)) * _inside(side - 300, 22)
    belly = 0.18 * np.maximum(within, _inside(770 + 0.2 * side - y, 45))
    return (0.30 + 0.30 * depth + belly) * np.maximum(trunk, neck)


def _diaphragm(x: Plane) -> Plane:
    """The y of the diaphragm: two domes, the right one a little higher, steep towards the sides."""
    right = 700 + 0.0016 * (x - 360) ** 2 + 46 * np.clip((300 - x) / 110, 0, None) ** 3
    left = 722 + 0.0016 * (x - 664) ** 2 + 46 * np.clip((x - 724) / 110, 0, None) ** 3
    share = _inside(x - 512, 22)
    y: Plane = share * right + (1 - share) * left
    return y


def _above(x: Plane, y: Plane, softness: float) -> Plane:
    """1 above the diaphragm, 0 below."""
    return _inside(y - _diaphragm(x), softness)


def _stomach_bubble(x: Plane, y: Plane) -> Plane:
    """Air under the left dome."""
    return _inside(_ring(x, y, (668, 792), (62, 34)), 5) * (1 - _above(x, y, 4))


def _lung_air(x: Plane, y: Plane, ratio: float) -> Plane:
    """How much air the beam crosses, 0 to 1; none behind the heart's bulk, below the diaphragm."""
    air = np.zeros_like(x)
    for centre in LUNGS:
        apex = (centre[0] + 0.10 * (512 - centre[0]), centre[1] - 60)
        air = np.maximum(air, _dome(x, y, centre, LUNG) ** 0.75)
        air = np.maximum(air, 0.9 * _dome(x, y, apex, (118, 252)) ** 0.75)
    air *= _above(x, y, 3)
    seen: Plane = air * (1 - 0.88 * _heart(x, y, ratio)) * (1 - 0.85 * _inside(np.abs(x - 512) - 46, 7))
    return seen


def _heart(x: Plane, y: Plane, ratio: float) -> Plane:
    """1 inside the heart's outline, an ellipse of semi-axes 332 * ratio and 120."""
    axes = (INNER_WIDTH / 2 * ratio, HEART_HEIGHT)
    square = ((x - HEART[0]) / axes[0]) ** 2 + ((y - HEART[1]) / axes[1]) ** 2
    return _inside((np.sqrt(square) - 1) * 110, 4)


def _mediastinum(x: Plane, y: Plane, ratio: float) -> Plane:
    upper = _inside(np.abs(x - 520) - 48, 9) * _inside(y - 640, 30) * _inside(150 - y, 25)
    arch = _inside(np.hypot((x - 566) / 1.0, (y - 372) / 1.1) - 40, 6)
    trunk = _inside(np.hypot((x - 578) / 1.0, (y - 448) / 1.3) - 34, 9)
    shadow: Plane = np.maximum.reduce([0.85 * upper, 0.85 * arch, 0.7 * trunk, _heart(x, y, ratio)])
    return shadow


def _spine(x: Plane, y: Plane) -> Plane:
    column = _inside(np.abs(x - 512) - 30, 6)
    bodies = 0.5 + 0.5 * np.tanh(3 * np.cos(2 * np.pi * (y - 40) / 52))
    shadow: Plane = column * (0.07 + 0.04 * bodies) + 0.04 * _inside(np.abs(x - 512) - 5, 3) * bodies
    return shadow


def _ribs(x: Plane) -> Plane:
    """Ten pairs, the back parts nearly level, the front parts fainter and sloping towards the middle.

    Drawn for one side, by the distance from the midline, and mirrored.
    """
    distance = np.abs(x[0] - 512).astype(np.int64)
    y, side = np.mgrid[0:SIDE, 0 : SIDE // 2 + 1].astype(np.float64)
    bones = np.zeros_like(y)
    for number in range(10):
        reach = 205 + 118 * np.sqrt(min(1.0, (number + 1) / 5))
        along = side / reach
        back = 152 + 60 * number - 34 * np.sin(np.pi * np.clip(along, 0, 1)) + 72 * along**3
        bones += 0.075 * _bar(y - back, 11) * _inside(side - reach, 7) * _inside(y - 790, 40) * _inside(28 - side, 6)
        front = 250 + 62 * number + 150 * (1 - along)
        shown = _inside(side - reach, 7) * _inside(0.42 * reach - side, 16) * (number < 7)
        bones += 0.045 * _bar(y - front, 12) * shown
    mirrored: Plane = bones[:, distance]
    return mirrored


def _bar(distance: Plane, half: float) -> Plane:
    """A rib's profile: dense rims, lighter marrow."""
    filled = _inside(np.abs(distance) - half, 1.6)
    rims = np.exp(-(((np.abs(distance) - half + 2) / 2.2) ** 2))
    return 0.8 * filled + 0.45 * rims * filled


def _shoulders(x: Plane, y: Plane) -> Plane:
    """Collar bones, the shoulder blades' inner edges, upper arms."""
    bones = np.zeros_like(x)
    for side in (-1, 1):
        t = np.linspace(0, 1, 24)
        clavicle = np.stack([512 + side * (46 + 318 * t), 246 - 66 * t + 16 * np.sin(2 * np.pi * t)], axis=1)
        _line(bones, clavicle, 13 - 3 * np.sin(np.pi * t), 0.13)
        blade = np.stack([512 + side * (372 - 46 * np.sin(np.pi * t)), 215 + 330 * t], axis=1)
        _line(bones, blade, np.full(24, 9.0), 0.06)
        arm = np.stack([512 + side * (418 + 22 * t), 222 + 300 * t], axis=1)
        _line(bones, arm, np.full(24, 32.0), 0.15)
    return bones


def _airways(x: Plane, y: Plane) -> Plane:
    """Windpipe and main bronchi."""
    trunk = _inside(np.abs(x - 514) - 13, 3) * _inside(y - 412, 6)
    branches = np.zeros_like(x)
    for side, slope in ((-1, 1.0), (1, 0.72)):
        t = np.linspace(0, 1, 12)
        _line(branches, np.stack([514 + side * 78 * t, 408 + slope * 74 * t], axis=1), np.full(12, 9.0), 1.0)
    return np.maximum(trunk, branches)


def _chest_vessels(rng: np.random.Generator) -> Plane:
    """Trees that start at the roots of the lungs, branch, and fade outwards; stronger towards the bases."""
    target = np.zeros((SIDE, SIDE))
    for root, side in (((448.0, 478.0), -1), ((590.0, 462.0), 1)):
        for angle in np.linspace(-82, 84, 8):
            direction = np.deg2rad(angle + rng.normal(0, 6))
            strength = 0.72 + 0.28 * np.sin(direction)
            _branch(target, rng, np.array(root), (direction, side), (7.5 + 1.5 * np.sin(direction), strength))
    return target


def _branch(
    target: Plane, rng: np.random.Generator, start: Plane, way: tuple[float, int], look: tuple[float, float]
) -> None:
    """One vessel and its two daughters, down to a half-width of 1 px."""
    (angle, side), (width, strength) = way, look
    if width < 1.2 or strength < 0.1:
        return
    steps = max(3, int(4 + width))
    turns = angle + np.cumsum(rng.normal(0, 0.09, steps))
    moves = np.stack([side * np.cos(turns), np.sin(turns)], axis=1) * 11
    points = np.vstack([start, start + np.cumsum(moves, axis=0)])
    _line(target, points, np.linspace(width, width * 0.75, steps), strength)
    for turn in (-0.42, 0.36):
        daughter = (float(turns[-1] + turn + rng.normal(0, 0.1)), side)
        _branch(target, rng, points[-1], daughter, (width * 0.66, strength * 0.86))


def _with_marker(film: Bytes) -> Bytes:
    """The side marker R at the patient's right shoulder."""
    letter = np.kron(np.array([[int(c) for c in row] for row in MARKER], dtype=np.uint8), np.ones((5, 5), np.uint8))
    film[60 : 60 + letter.shape[0], 70 : 70 + letter.shape[1]][letter > 0] = 250
    return film


# ------------------------------------------------------------------------------------------------ fundus


def fundus(*, ratio: float = 0.5, seed: int = 2, right_eye: bool = True) -> Bytes:
    """A fundus photograph, 1024 x 1024 x 3, uint8; vertical cup-to-disc ratio exactly `ratio` by its ellipses.

    Disc 70 x 80 px (semi-axes), centred at (742, 492) in the right eye; the left eye is its mirror image.
    """
    rng = np.random.default_rng(seed)
    x, y = _grid()
    field = _inside(np.hypot(x - 512, y - 512) - 488, 2.5)
    light = 1.06 - 0.42 * (np.hypot(x - 540, y - 500) / 512) ** 2
    colours = np.stack([0.80 * light, 0.36 * light, 0.16 * light], axis=2)
    colours += _blurred(rng.normal(0, 1.1, x.shape), 14)[:, :, None] * np.array([1.0, 0.9, 0.6])
    macula = np.exp(-((np.hypot(x - MACULA[0], y - MACULA[1]) / 62) ** 2))
    colours *= 1 - macula[:, :, None] * np.array([0.30, 0.42, 0.40])
    colours = _with_vessels(_with_disc(colours, x, y, ratio), rng)
    colours += rng.normal(0, 0.008, colours.shape)
    picture = np.floor(np.clip(colours * field[:, :, None], 0, 1) * 255 + 0.5).astype(np.uint8)
    return picture if right_eye else picture[:, ::-1].copy()


def _ring(x: Plane, y: Plane, centre: tuple[float, float], axes: tuple[float, float]) -> Plane:
    """Signed distance from an ellipse, about, px."""
    return (np.hypot((x - centre[0]) / axes[0], (y - centre[1]) / axes[1]) - 1) * min(axes)


def _with_disc(colours: Plane, x: Plane, y: Plane, ratio: float) -> Plane:
    """The disc with its pale cup; a little crescent and a brightening around it."""
    halo = 0.14 * np.exp(-np.clip(_ring(x, y, DISC_RIGHT_EYE, DISC), 0, None) / 36)
    colours = colours + halo[:, :, None] * np.array([1.0, 0.8, 0.5])
    cup = (DISC[0] * ratio * 0.96, DISC[1] * ratio)
    for axes, colour, softness in ((DISC, (0.97, 0.62, 0.36), 2.0), (cup, (0.99, 0.86, 0.62), 3.0)):
        mask = _inside(_ring(x, y, DISC_RIGHT_EYE, axes), softness)[:, :, None]
        colours = colours * (1 - mask) + np.array(colour) * mask
    return colours


def _with_vessels(colours: Plane, rng: np.random.Generator) -> Plane:
    """Veins (dark, wide) and arteries (lighter, narrow) along the four arcades, with branches."""
    for dark, width, shift in (((0.42, 0.62, 0.55), 7.0, 0.05), ((0.24, 0.46, 0.42), 4.8, -0.09)):
        target = np.zeros((SIDE, SIDE))
        for vertical in (-1, 1):
            for sideways, bend in ((-1, 1.0), (1, 0.5)):
                _arcade(target, rng, (vertical, sideways, bend + shift), width)
        colours = colours * (1 - target[:, :, None] * np.array(dark))
    return colours


def _arcade(target: Plane, rng: np.random.Generator, course: tuple[int, int, float], width: float) -> None:
    """One main vessel from the disc in a bow around the macula (sideways -1) or away from it (1)."""
    vertical, sideways, bend = course
    t = np.linspace(0, 1, 60)
    away = (-470 * t**1.6 + 26 * np.sin(np.pi * t)) if sideways < 0 else 230 * t**1.15
    rise = vertical * bend * (300 * np.sin(np.pi * np.minimum(t * 0.62, 1)) ** 0.8 + 30 * t)
    wave = np.cumsum(rng.normal(0, 0.9, 60)) + 5 * np.sin(16 * t + 2 * vertical + 9 * bend) * np.minimum(1, 4 * t)
    offset = 9 * (bend - 0.95)
    points = np.stack([DISC_RIGHT_EYE[0] + 8 + offset + away + 0.4 * wave, DISC_RIGHT_EYE[1] + rise + wave], axis=1)
    _line(target, points, np.linspace(width, width * 0.3, 60), 0.85)
    for start in (14, 22, 30, 38, 46, 53):
        moved = points[start + 1] - points[start]
        ahead = float(np.arctan2(moved[1], moved[0] * sideways))
        for turn in (-0.75, 0.75):
            way = (ahead + turn * float(rng.uniform(0.7, 1.3)), sideways)
            _twig(target, rng, points[start], way, width * 0.42 * (1 - start / 90))


def _twig(target: Plane, rng: np.random.Generator, start: Plane, way: tuple[float, int], width: float) -> None:
    """A winding branch that thins out and forks once or twice."""
    angle, side = way
    if width < 0.9:
        return
    steps = int(6 + 3 * width)
    turns = angle + np.cumsum(rng.normal(0, 0.16, steps))
    points = np.vstack([start, start + np.cumsum(np.stack([side * np.cos(turns), np.sin(turns)], axis=1) * 10, axis=0)])
    _line(target, points, np.linspace(width, width * 0.6, steps), 0.62)
    for turn in (-0.5, 0.45):
        daughter = (float(turns[-1] + turn + rng.normal(0, 0.12)), side)
        _twig(target, rng, points[-1], daughter, width * 0.62)
