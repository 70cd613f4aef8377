"""`wardround bench speed`: ratios of the model engine and the search, and the time from start to first paint."""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import msgspec

from core import codec, paths
from core.bench import speed
from core.bench.speed import Ratio
from core.errors import EXIT_ACT, EXIT_DONE, UserError
from desktop import assembly
from desktop.assembly import NO_BACKBONE
from desktop.cli.session import Session, opened
from desktop.cli.terminal import columns
from desktop.i18n import tr

STARTS = 3  # the fastest counts: the others wait for the disk or for other programs
PAINT_LIMIT_S = 60


class Paint(msgspec.Struct, frozen=True, kw_only=True):
    """A start of the window: seconds to its first paint, and which heavy modules were loaded by then."""

    seconds: float
    heavy: tuple[str, ...]


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """`bench speed --json`."""

    ratios: tuple[Ratio, ...]
    first_paint_s: float
    heavy: tuple[str, ...]
    met: bool


def measure(chosen: argparse.Namespace) -> int:
    """All ratios, or with `--passages` the search at one size; exit code 1 when a target is missed."""
    if chosen.passages:
        from desktop.cli import evaluation

        return evaluation.measure_scale(chosen)
    with opened(chosen, writes=False) as session:
        measured = _measured(session, chosen.backbone)
        if session.terminal.json:
            session.terminal.value(measured)
        else:
            _print(session, measured)
    return EXIT_DONE if measured.met else EXIT_ACT


def _measured(session: Session, backbone: str | None) -> Measured:
    say = session.terminal.part
    say(tr("starting the window"))
    paints = [first_paint() for _ in range(STARTS)]
    best = min(paints, key=lambda paint: paint.seconds)
    with tempfile.TemporaryDirectory(prefix="wardround-") as folder:
        texts = [text for condition in assembly.starter_conditions() for text in condition.sections.values()]
        ratios = [speed.measure_search(texts, Path(folder), say)]
    named = session.bench.settings.models.backbone if backbone is None else backbone
    if named and named != NO_BACKBONE:
        ratios += _model_ratios(named, session)
    return Measured(
        ratios=tuple(ratios),
        first_paint_s=best.seconds,
        heavy=best.heavy,
        met=all(ratio.met for ratio in ratios) and best.seconds <= speed.PAINT_TARGET_S and not best.heavy,
    )


def _model_ratios(pack: str, session: Session) -> list[Ratio]:
    from models import open_backbone

    session.terminal.part(tr("loading {pack}", pack=pack))
    backbone = open_backbone(pack, on_progress=lambda done, total: session.terminal.progress(done, total, pack))
    try:
        return list(speed.measure_model(backbone, session.terminal.part))
    finally:
        backbone.close()


def first_paint() -> Paint:
    """Start the window without a screen in a profile of its own, until it has painted once.

    Raises:
        UserError: it did not paint.
    """
    with tempfile.TemporaryDirectory(prefix="wardround-") as folder:
        command = paths.own_command("--profile", folder, "--paint-only")
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        done = subprocess.run(  # noqa: S603 (our own executable)
            command, env=environment, capture_output=True, timeout=PAINT_LIMIT_S, check=False
        )
    lines = done.stdout.splitlines()
    if done.returncode != EXIT_DONE or not lines:
        raise UserError(tr("The window could not be started; see `wardround doctor`."), code="window")
    return codec.decode(lines[-1], Paint)


def _print(session: Session, measured: Measured) -> None:
    rows = [("", tr("measured"), tr("target"), tr("ours"), tr("other"), tr("what"))]
    rows += [
        (
            tr("met") if ratio.met else tr("MISSED"),
            f"{ratio.ratio:.3f}",
            f"{ratio.target:.3f}",
            f"{ratio.ours_s:.3f} s",
            f"{ratio.other_s:.3f} s",
            f"{ratio.name}: {ratio.detail}",
        )
        for ratio in measured.ratios
    ]
    paint_met = measured.first_paint_s <= speed.PAINT_TARGET_S and not measured.heavy
    heavy = ", ".join(measured.heavy) or tr("none")
    rows.append(
        (
            tr("met") if paint_met else tr("MISSED"),
            f"{measured.first_paint_s:.2f} s",
            f"{speed.PAINT_TARGET_S:.2f} s",
            "",
            "",
            tr("start to first paint, fastest of {n}; heavy modules loaded: {heavy}", n=STARTS, heavy=heavy),
        )
    )
    for line in columns(rows):
        session.terminal.say(line)


COMMANDS = {"bench": measure}
