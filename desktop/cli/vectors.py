"""`wardround knowledge reindex --vectors`, and what `add` and `approve` end with: vectors of the passages in use.

A stop keeps what was made. What cannot be made leaves the search to words, and is said; nothing else fails by it.
"""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable

from core.errors import EXIT_ACT, EXIT_DONE, Cancelled, ModelError, StoreError, UserError
from desktop import assembly
from desktop.cli.session import Session, opened, stoppable
from desktop.cli.terminal import counted
from desktop.i18n import tr
from desktop.vectors import KnowledgeVectors

OnTexts = Callable[[int, int], None]
STOPPED = "Stopped. What was made is kept; `wardround knowledge reindex --vectors` makes the rest."


def reindex(chosen: argparse.Namespace) -> int:
    """Make the vectors that passages lack; what an earlier, stopped one made is kept."""
    with opened(chosen, writes=True) as session, stoppable() as stop:
        vectors = KnowledgeVectors(session.profile, session.bench.settings)
        try:
            made = vectors.build(on_texts=_told(session), stop=stop)
        except Cancelled:
            session.terminal.remark(tr(STOPPED))
            return EXIT_ACT
        finally:
            vectors.close()
        if session.terminal.json:
            session.terminal.value(made)
        _say(session, made)
    return EXIT_DONE


def complete(session: Session, library: assembly.Library, stop: threading.Event) -> None:
    """Make the vectors that passages in use lack, where an embedder is installed."""
    vectors = KnowledgeVectors(session.profile, session.bench.settings)
    try:
        made = vectors.make(library.store, library.index, on_texts=_told(session), stop=stop)
    except Cancelled:
        session.terminal.remark(tr(STOPPED))
    except (UserError, ModelError, StoreError) as error:
        session.terminal.remark(tr("Found by words alone for now: {why}", why=error.text))
    else:
        if made:
            _say(session, made)
    finally:
        vectors.close()


def _told(session: Session) -> OnTexts:
    return lambda done, total: session.terminal.progress(done, total, tr("making vectors"))


def _say(session: Session, made: int) -> None:
    session.terminal.say(tr("{passages} given vectors.", passages=counted(made, tr("passage"), tr("passages"))))
