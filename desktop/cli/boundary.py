"""The edge of the command line: whatever goes wrong becomes a sentence and an exit code, never a bare traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from core.errors import (
    EXIT_ACT,
    EXIT_BUG,
    EXIT_DONE,
    Cancelled,
    StoreError,
    WardroundError,
    exit_code,
)
from desktop import crash
from desktop.i18n import tr

INTERRUPTED = "Stopped."
_DISK = "The system refused: {why} ({name}). Check space and permissions, then try again."


def guard(act: Callable[[], int]) -> int:
    """Run a command; returns its exit code."""
    try:
        code = act()
        if sys.stdout is not None:  # as it is where the caller has closed it
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader of our output has left, as `head` does
        _silence_output()
        return EXIT_DONE
    except (KeyboardInterrupt, Cancelled):
        return _say(tr(INTERRUPTED), EXIT_ACT)
    except WardroundError as error:
        code = exit_code(error)
        return _say(error.text, code) if code == EXIT_ACT else _confess(error)
    except OSError as error:
        name = os.path.basename(str(error.filename)) if error.filename else tr("no file named")
        return _say(tr(_DISK, why=error.strerror or type(error).__name__, name=name), EXIT_ACT)
    except Exception as error:
        return _confess(error)


def sentence_of(error: BaseException) -> str:
    """What the person reads of an error that ends one of several jobs."""
    if isinstance(error, StoreError) and not error.known:
        return crash.sentence(crash.write(error))
    return error.text if isinstance(error, WardroundError) else crash.sentence(crash.write(error))


def _confess(error: Exception) -> int:
    return _say(crash.sentence(crash.write(error)), EXIT_BUG)


def _say(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


def _silence_output() -> None:
    """Python flushes stdout once more at exit; there is nobody to read it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
