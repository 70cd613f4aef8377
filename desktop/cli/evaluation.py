"""`wardround knowledge eval`: how well the search finds; `bench speed --passages`: how fast."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from core import paths
from core.bench import retrieval, scale
from core.bench.retrieval import Outcome, Question
from core.bench.scale import Scaled
from core.domain.ports import Embedder
from core.errors import EXIT_ACT, EXIT_DONE, ModelError, UserError
from desktop import assembly
from desktop.cli.session import Session, opened
from desktop.cli.terminal import columns
from desktop.i18n import tr
from desktop.vectors import packed_embedder

FOLDER = "evaluation"


def evaluate(chosen: argparse.Namespace) -> int:
    """Every way to search on the question sets of the data folder, and on a file of questions if one is given."""
    with opened(chosen, writes=False) as session:
        archive = _archive(chosen.data)
        questions = _questions(chosen.questions) if chosen.questions else ()
        outcomes = _outcomes(session, archive, questions, corpus=chosen.corpus)
        if session.terminal.json:
            session.terminal.value(outcomes)
        for line in columns(_table(outcomes)):
            session.terminal.say(line)
    return EXIT_DONE


def _archive(data: Path) -> Path:
    archive = data / retrieval.MEDQUAD
    if not archive.is_file():
        where = tr("There is no {file} in {folder}.", file=retrieval.MEDQUAD, folder=data)
        raise UserError(where, code="bench_data")
    return archive


def _questions(file: Path) -> tuple[Question, ...]:
    try:
        return retrieval.read_questions(file.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(tr("The file {file} cannot be read.", file=file), code="bench_questions") from error


def _outcomes(session: Session, archive: Path, questions: tuple[Question, ...], *, corpus: int) -> tuple[Outcome, ...]:
    say, folder = session.terminal.part, paths.cache_folder() / FOLDER
    say(tr("reading {file}", file=archive.name))
    with archive.open("rb") as stream:
        answers = retrieval.read_answers(stream)
    sets = retrieval.choose(answers, corpus=corpus)
    embedder = _embedder(session)

    def told(done: int, total: int) -> None:
        session.terminal.progress(done, total, tr("making vectors"))

    try:
        say(tr("searching {n} answers", n=len(sets.corpus)))
        found = retrieval.evaluate_answers(
            answers, sets, folder / f"answers-{len(sets.corpus)}", embedder=embedder, on_texts=told
        )
        if questions:
            found += retrieval.evaluate_starter(questions, folder / "starter", embedder=embedder, on_texts=told)
    finally:
        if embedder is not None:
            embedder.close()
    return found


def _embedder(session: Session) -> Embedder | None:
    """The embedder of the settings; without it only the ways by words are judged, and that is said."""
    settings = session.bench.settings
    if not settings.models.embedder:
        return None
    try:
        return packed_embedder(settings)
    except (UserError, ModelError) as error:
        session.terminal.remark(error.text)
        return None


def _table(outcomes: tuple[Outcome, ...]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [(tr("set"), "n", "nDCG@10", "R@5", tr("system"))]
    rows += [(o.set, str(o.n), f"{o.ndcg:.3f}", f"{o.recall:.3f}", o.system) for o in outcomes]
    return rows


def measure_scale(chosen: argparse.Namespace) -> int:
    """`bench speed --passages N`: the search among that many passages; exit code 1 when a target is missed."""
    with opened(chosen, writes=False) as session, tempfile.TemporaryDirectory(prefix="wardround-") as folder:
        embedder = _embedder(session)
        try:
            sentences = scale.sentences_of(_texts(chosen.data))
            found = scale.measure(
                sentences, chosen.passages, Path(folder), embedder=embedder, say=session.terminal.part
            )
        finally:
            if embedder is not None:
                embedder.close()
        if session.terminal.json:
            session.terminal.value(found)
        for line in columns(_scale_table(found)):
            session.terminal.say(line)
        memory = assembly.resident_bytes() // 1_000_000
        session.terminal.say(tr("memory of the process: {n} MB", n=memory))
    return EXIT_DONE if found.met else EXIT_ACT


def _texts(data: Path | None) -> list[str]:
    """The public answers, or without them the texts of the starter set."""
    if data is None:
        return [text for condition in assembly.starter_conditions() for text in condition.sections.values()]
    with _archive(data).open("rb") as stream:
        return [answer.text for answer in retrieval.read_answers(stream)]


def _scale_table(found: Scaled) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("", "n", tr("p50"), tr("p95"), tr("most, processor ms"))]
    rows += [(t.name, str(t.n), f"{t.p50:.1f}", f"{t.p95:.1f}", f"{t.most:.1f}") for t in found.times]
    built = tr("rows {a} s, index {b} s, {c} MB", a=found.rows_s, b=found.index_s, c=found.index_bytes // 1_000_000)
    return [*rows, (tr("built"), str(found.passages), "", "", built)]


ACTIONS = {"eval": evaluate}
