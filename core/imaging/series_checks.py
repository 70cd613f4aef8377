"""What is wrong with a series: checks S01-S14 (imaging.md 4.6), each as code, level and one sentence. Pure values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import Any

import msgspec

from core.domain.case import Check
from core.imaging import geometry
from core.imaging.facts import Instance
from core.imaging.stacks import Member, Stack

GAP = 1.5  # of the median distance between slices
UNEVEN, UNEVEN_MM = 0.01, 1e-3
SHEAR_DEG = 0.1
SECTIONS = {"CT", "MR", "PT"}  # modalities whose images must say where they lie
NAMED = 5  # places that are listed before "and n more"


class Beside(msgspec.Struct, frozen=True):
    """What is known of a series from outside its own files.

    How many instances a DICOMDIR lists, how many files could not be decoded, which studies name several patients.
    """

    listed: int | None = None
    cards: int = 0
    mixed_studies: frozenset[str] = frozenset()


def check(stacks: Sequence[Stack], members: Sequence[Member], beside: Beside) -> Iterator[Check]:
    """Every finding of a series, in the order of the codes."""
    instances = [member.instance for member in members]
    for one_by_one in (_missing, _uneven, _doubled):
        for stack in stacks:
            yield from one_by_one(stack)
    yield from _several(stacks, instances)
    for stack in stacks:
        yield from _sheared(stack)
    yield from _unplaced(instances)
    yield from _frames_of_reference(instances)
    yield from _mixed(instances)
    yield from _numbers(instances)
    yield from _lossy(instances)
    yield from _burned_in(instances)
    yield from _identity(instances, beside.mixed_studies)
    yield from _fewer(instances, beside)
    yield from cards(len(instances), len(instances) + beside.cards)


def remarks(members: Sequence[Member]) -> Iterator[str]:
    """Remarks of the instances, each once with their count, and identifiers used twice."""
    instances = [member.instance for member in members]
    twice = [uid for uid, n in Counter(instance.sop_uid for instance in instances).items() if uid and n > 1]
    if twice:
        yield f"Image identifiers that occur more than once with different content: {len(twice)}."
    for remark, count in Counter(remark for instance in instances for remark in instance.remarks).items():
        yield _of(remark, count, len(instances))


def studies_of_several(members: Iterable[Member]) -> frozenset[str]:
    """Studies whose files name more than one patient (number and issuer, name, birth date; PS3.3 C.7.1.1)."""
    people: dict[str, set[tuple[str, ...]]] = {}
    for member in members:
        one = member.instance
        who = (one.patient.patient_id, one.issuer, one.patient.name.casefold(), one.patient.birth_date)
        people.setdefault(one.study_uid, set()).add(who)
    return frozenset(study for study, found in people.items() if study and _differ(found))


def _differ(people: set[tuple[str, ...]]) -> bool:
    """Two values of one field that are both stated."""
    return any(len({value for value in column if value}) > 1 for column in zip(*people, strict=True))


def _of(text: str, count: int, total: int) -> str:
    return f"{text}." if count == total else f"{text} ({count} of {total})."


# ------------------------------------------------------------------------------------------------ a stack


def _missing(stack: Stack) -> Iterator[Check]:
    places = sorted(stack.places)
    steps = geometry.steps(places)
    if len(steps) < 2:
        return
    usual = median(steps)
    gaps = [(a, b) for a, b in zip(places, places[1:], strict=False) if b - a > GAP * usual]
    lost = sum(round((b - a) / usual) - 1 for a, b in gaps)
    if lost:
        where = _listed([f"{a:g} and {b:g}" for a, b in gaps])
        text = f"About {_count(lost, 'slice')} missing between those that are here (between {where} mm)."
        yield Check(code="S01", level="fail", text=text)


def _uneven(stack: Stack) -> Iterator[Check]:
    steps = geometry.steps(stack.places)
    if len(steps) < 2:
        return
    usual = median(steps)
    off = [step for step in steps if abs(step - usual) > UNEVEN * usual + UNEVEN_MM and step <= GAP * usual]
    if off:
        widest = max(off, key=lambda step: abs(step - usual))
        text = f"The slices are not evenly spaced: {usual:g} mm as a rule, {widest:g} mm at the worst place."
        yield Check(code="S02", level="fail", text=text)


def _doubled(stack: Stack) -> Iterator[Check]:
    places = stack.places
    count = len(places) - len(geometry.steps(places)) - 1 if len(places) > 1 else 0
    if count > 0:
        text = f"{_count(count, 'slice')} at a place where there is one already; the first by number counts."
        yield Check(code="S03", level="warn", text=text)


def _sheared(stack: Stack) -> Iterator[Check]:
    pieces = stack.distinct
    if len(pieces) < 2 or not stack.places:
        return
    angle = geometry.shear_deg(pieces[0].position, pieces[-1].position, pieces[0].orientation)
    if angle > SHEAR_DEG:
        text = f"The slices are shifted against each other: {angle:.1f} degrees between their row and their normal."
        yield Check(code="S05", level="warn", text=text)


# ------------------------------------------------------------------------------------------------ the series


def _several(stacks: Sequence[Stack], instances: Sequence[Instance]) -> Iterator[Check]:
    if len(stacks) < 2:
        return
    sizes = Counter((instance.rows, instance.columns) for instance in instances)
    turned = {tuple(round(x, 3) + 0.0 for x in s.slices[0].orientation) for s in stacks if s.slices[0].orientation}
    scouts = sum(_is_localizer(stack.slices[0].member.instance) for stack in stacks)
    said = [f"{len(stacks)} groups of images in one series, shown one after the other"]
    if len(sizes) > 1:
        listed = ", ".join(f"{n} of {columns} x {rows}" for (rows, columns), n in sorted(sizes.items()))
        said.append(f"different sizes ({listed})")
    if len(turned) > 1:
        said.append(f"{len(turned)} different directions")
    if scouts:
        said.append("a localizer" if scouts == 1 else f"{scouts} localizers")
    yield Check(code="S04", level="info", text="; ".join(said) + ".")


def _is_localizer(instance: Instance) -> bool:
    return "LOCALIZER" in {part.upper() for part in instance.image_type}


def _unplaced(instances: Sequence[Instance]) -> Iterator[Check]:
    """Sections must say where they lie; so must every image of a series in which some do."""
    missing = sum(not _is_placed(instance) for instance in instances)
    if not missing or (missing == len(instances) and not SECTIONS & {instance.modality for instance in instances}):
        return
    text = "Where they lie in the patient is not said: no volume, no letters, no sides"
    yield Check(code="S06", level="fail", text=_of(text, missing, len(instances)))


def _is_placed(instance: Instance) -> bool:
    if instance.places:
        return all(geometry.place(place.position, place.orientation) is not None for place in instance.places)
    return geometry.place(instance.position, instance.orientation) is not None


def _frames_of_reference(instances: Sequence[Instance]) -> Iterator[Check]:
    found = {instance.frame_of_reference for instance in instances if instance.frame_of_reference}
    if len(found) > 1:
        text = f"The images lie in {len(found)} different frames of reference; they cannot be linked."
        yield Check(code="S07", level="fail", text=text)


def _mixed(instances: Sequence[Instance]) -> Iterator[Check]:
    """Value scale, colour model and compression should be one within a series."""
    kinds: dict[str, set[Any]] = {
        "value scales": {(instance.slope, instance.intercept) for instance in instances},
        "colour models": {instance.photometric for instance in instances},
        "compressions": {instance.syntax for instance in instances},
    }
    mixed = [f"{len(found)} {name}" for name, found in kinds.items() if len(found) > 1]
    if mixed:
        yield Check(code="S08", level="info", text=f"Mixed within the series: {', '.join(mixed)}.")


def _numbers(instances: Sequence[Instance]) -> Iterator[Check]:
    numbers = sorted({instance.number for instance in instances if instance.number is not None})
    if len(numbers) < 2 or len(numbers) != len(instances):
        return
    lost = numbers[-1] - numbers[0] + 1 - len(numbers)
    if lost:
        span = f"between {numbers[0]} and {numbers[-1]}"
        text = f"The image numbers have gaps: {_count(lost, 'number')} missing {span}."
        yield Check(code="S09", level="info", text=text)


def _lossy(instances: Sequence[Instance]) -> Iterator[Check]:
    for ratio, count in Counter(instance.lossy for instance in instances if instance.lossy).items():
        text = _of(f"Lossy compressed image ({ratio})", count, len(instances))
        yield Check(code="S10", level="info", text=text)


def _burned_in(instances: Sequence[Instance]) -> Iterator[Check]:
    for why, count in Counter(instance.burned_in for instance in instances if instance.burned_in).items():
        text = _of(f"Text, and with it a name, may be part of the pixels: {why}", count, len(instances))
        yield Check(code="S11", level="warn", text=text)


def _identity(instances: Sequence[Instance], mixed: frozenset[str]) -> Iterator[Check]:
    if mixed & {instance.study_uid for instance in instances}:
        yield Check(code="S12", level="error", text="Files of different patients in one study.")


def _fewer(instances: Sequence[Instance], beside: Beside) -> Iterator[Check]:
    here = sum(instance.frames if instance.places else 1 for instance in instances)
    announced = max((instance.announced or 0 for instance in instances), default=0)
    for wanted, whose in ((announced, "its header announces"), (beside.listed or 0, "the DICOMDIR lists")):
        if here < wanted:
            yield Check(code="S13", level="warn", text=f"{_count(here, 'image')} here; {whose} {wanted}.")
            return


def cards(readable: int, total: int) -> Iterator[Check]:
    """S14, where fewer images can be decoded than there are files."""
    if readable < total:
        text = f"{readable} of {total} images could be read; the others are not analysed."
        yield Check(code="S14", level="fail", text=text)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"


def _listed(words: list[str]) -> str:
    more = f", and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return ", ".join(words[:NAMED]) + more
