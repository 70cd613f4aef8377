"""Which function does which command. Imports the command's module only when it is asked for."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

Command = Callable[[argparse.Namespace], int]
_PLACES = {
    "demo": "desktop.cli.analysis",
    "import": "desktop.cli.analysis",
    "run": "desktop.cli.analysis",
    "resume": "desktop.cli.analysis",
    "report": "desktop.cli.reading",
    "cases": "desktop.cli.reading",
    "knowledge": "desktop.cli.knowledge",
    "models": "desktop.cli.models",
    "doctor": "desktop.cli.doctor",
    "bench": "desktop.cli.bench",
}


def execute(chosen: argparse.Namespace) -> int:
    """Do the command that was chosen; returns its exit code.

    Raises:
        WardroundError: as the command's own module says.
    """
    module = importlib.import_module(_PLACES[chosen.command])
    commands: dict[str, Command] = module.COMMANDS
    return commands[chosen.command](chosen)
