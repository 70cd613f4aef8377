"""Where every process of Wardround begins: window, command line, worker, children that decode or embed.

The network is denied before anything else is imported. Knows which door to open, nothing more.
"""

from __future__ import annotations

import gc
import sys

from core.errors import EXIT_ACT
from desktop.offline import deny_network


def main(arguments: list[str] | None = None) -> int:
    """The program. Returns the exit code of core/errors.py."""
    deny_network()
    try:
        return _open_door(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before any command has begun: nothing was done, nothing is to be said
        return EXIT_ACT


def _open_door(given: list[str]) -> int:
    if given[:1] == ["--print"]:
        from desktop.printing import main as print_report

        return print_report()
    if given[:1] == ["--decode"]:
        gc.disable()  # while its modules load, which make no garbage; it turns it on before the first file
        from desktop.decode import main as decode

        return decode()
    if given[:1] == ["--embed"]:
        from desktop.embedding import main as embed

        return embed()
    from desktop.cli import arguments as command_line

    chosen = command_line.parse(given)
    if chosen.worker:
        from desktop import worker

        return worker.main(command_line.profile_of(chosen), chosen.fault)
    from desktop.cli import boundary

    if chosen.command:
        from desktop.cli import commands

        return boundary.guard(lambda: commands.execute(chosen))
    return boundary.guard(lambda: _open_window(given))


def _open_window(given: list[str]) -> int:
    from desktop.app import run_window

    return run_window([sys.argv[0], *given])


if __name__ == "__main__":
    sys.exit(main())
