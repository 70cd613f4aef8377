"""Kills a worker at random points of real runs and counts what was lost, torn or done twice (trust.md section 5).

The worker is the product's service over its own stores, search and workflow, in a forked child that was spared the
imports; only the model is scripted. It acknowledges each commit and each effect on a pipe by `os.write`; SIGKILL comes
after a seeded delay, at a seeded acknowledgement, or during start-up. Prints one JSON line. `--writer naive` is the
control: a journal that acknowledges before it commits must be caught.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import NoReturn

import msgspec

from core import codec, paths
from core.domain import event as ev
from core.domain.assessment import Assessment
from core.domain.case import Case
from core.retrieval import knowledge
from core.retrieval.catalogue import DATABASE, INDEX, open_knowledge
from core.retrieval.guidelines import GuidelineRetriever
from core.retrieval.index import PassageIndex
from core.runtime.run import Hooks
from core.runtime.service import Service
from core.settings import Settings
from core.store import migrations
from core.store.database import open_database
from core.store.journal import Journal
from core.store.knowledge import KnowledgeStore
from core.workflows import direct  # noqa: F401 (imported before the fork, so that children start fast)
from desktop.assembly import Stores, Workbench, WorkerParts
from models.scripted import INFO, ScriptedBackbone

AT = "2026-03-04T05:06:07.000+00:00"
CALL_S = 0.01  # of the scripted model, so that kills fall into calls as well
BUFFERED = 4  # events that the naive writer holds back
PATIENCE_S = 60.0


class Result(msgspec.Struct, kw_only=True):
    """What the killing found; everything but `kills`, `runs`, `acked` and `inside` must be 0 for the real writer."""

    kills: int = 0
    runs: int = 0
    acked: int = 0
    inside: int = 0  # kills that came while an effect was under way
    lost: int = 0
    repeated_answered: int = 0  # effects executed again although their answer was committed
    repeated_twice: int = 0  # effects executed again beyond one a kill
    chain_bad: int = 0
    integrity_bad: int = 0
    other_assessment: int = 0
    other_events: int = 0


class Naive(Journal):
    """The control: says that an event is committed, and commits it later."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal._database)
        self._held: list[tuple[str, ev.Event, str, str, str]] = []

    def append(self, run_id: str, event: ev.Event, *, branch: str, key: str, actor: str) -> ev.Recorded:
        self._held.append((run_id, event, branch, key, actor))
        n = len(self.events(run_id)) + len(self._held)
        if len(self._held) >= BUFFERED or isinstance(event, ev.RunFinished):
            for held in self._held:
                super().append(held[0], held[1], branch=held[2], key=held[3], actor=held[4])
            self._held.clear()
        return ev.Recorded(run_id=run_id, seq=0, n=n, branch=branch, key=key, at=AT, event=event)


# ------------------------------------------------------------------------------------------------ the child


class _Acks(Hooks):
    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def committed(self, row: ev.Recorded) -> None:
        os.write(self._pipe, f"A {row.n} {row.key}\n".encode())

    def effect(self, key: str) -> None:
        os.write(self._pipe, f"E 0 {key}\n".encode())


class _Service(Service):
    """The product's service; every commit of its own and of the run's is acknowledged."""

    acks: _Acks

    def committed(self, row: ev.Recorded) -> None:
        self.acks.committed(row)
        super().committed(row)


def work(profile: Path, content: knowledge.StarterKnowledge, run_id: str, *, pipe: int, naive: bool) -> NoReturn:
    """Execute one run in this process, then leave without any clean-up, as after a kill."""
    acks = _Acks(pipe)
    stores = Stores(profile)
    store = KnowledgeStore(open_database(profile / DATABASE, migrations.knowledge))
    retriever = GuidelineRetriever(store, PassageIndex(paths.cache_folder() / INDEX, store))
    if naive:
        stores.journal = Naive(stores.journal)
    parts = _Parts(profile, stores, lambda _moment: content, retriever, effect=acks.effect, crash_file=_crash)
    service = _Service(parts, lambda notice: None)
    service.acks = acks
    service.execute(run_id)
    os._exit(0 if stores.journal.run(run_id).status == "finished" else 7)


class _Parts(WorkerParts):
    def backbone(self, pack: str, *_: object, **__: object) -> ScriptedBackbone:
        return ScriptedBackbone(seconds=CALL_S, info=msgspec.structs.replace(INFO, pack_id=pack))


def _crash(error: BaseException) -> str:
    sys.stderr.write(repr(error))
    return "none"


# ------------------------------------------------------------------------------------------------ the killer


class Killer:
    """Runs and kills until enough kills have happened."""

    def __init__(self, profile: Path, case: Case, *, seed: int, naive: bool) -> None:
        self.profile, self.case, self.naive = profile, case, naive
        self.chance = random.Random(seed)
        self.result = Result()
        self.content = knowledge.packaged()
        self._number = 0
        self.seconds, self.lines = 0.0, 0
        self.expected, self.expected_keys = self._reference()

    def _reference(self) -> tuple[Assessment, list[str]]:
        """The uninterrupted run: its end, its events, how long it takes and how much it says."""
        naive, self.naive = self.naive, False
        run_id = self._queue()
        begun = time.monotonic()
        lines, finished = self._execute(run_id, delay=PATIENCE_S, at=None)
        self.naive = naive
        if not finished:
            sys.exit("the uninterrupted run did not finish")
        self.seconds, self.lines = time.monotonic() - begun, len(lines)
        assessment, keys = self._end(run_id)
        return assessment, keys

    def _queue(self) -> str:
        self._number += 1
        bench = Workbench(self.profile, Settings(profile="research_imaging"), "killer")
        row = bench.queue(self.case, backbone="scripted")
        with Stores(self.profile) as stores, stores.database.transaction("killer", "name run", row.id) as connection:
            connection.execute("UPDATE run SET id = ?, created_at = ? WHERE id = ?", (f"k{self._number}", AT, row.id))
        return f"k{self._number}"

    def kill(self, times: int) -> Result:
        while self.result.kills < times:
            self._one_run(times)
        self._check_file()
        return self.result

    def _one_run(self, times: int) -> None:
        run_id = self._queue()
        self.result.runs += 1
        acked: dict[int, str] = {}
        effects: Counter[str] = Counter()
        finished, kills = False, 0
        while not finished:
            enough = self.result.kills >= times
            delay, at = (PATIENCE_S, None) if enough else self._when()
            before = set(acked.values())
            lines, finished = self._execute(run_id, delay=delay, at=at)
            self._count(lines, acked, effects, answered=before)
            self.result.kills += not finished
            kills += not finished
            self.result.inside += not finished and bool(lines) and lines[-1].startswith("E ")
            self._compare(run_id, acked)
        self.result.repeated_twice += max(0, sum(effects.values()) - len(effects) - kills)
        assessment, keys = self._end(run_id)
        self.result.other_assessment += assessment != self.expected
        self.result.other_events += keys != self.expected_keys

    def _when(self) -> tuple[float, int | None]:
        """One kill in ten during start-up, half of the others at an acknowledgement, half after a time."""
        draw = self.chance.random()
        if draw < 0.1:
            return self.chance.uniform(0, self.seconds * 0.1), None
        if draw < 0.55:
            return PATIENCE_S, self.chance.randint(1, self.lines // 2)
        return self.chance.uniform(0, self.seconds * 0.7), None

    def _execute(self, run_id: str, *, delay: float, at: int | None) -> tuple[list[str], bool]:
        """One life of a worker: its lines, and whether it came to the end before it was killed."""
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            try:
                work(self.profile, self.content, run_id, pipe=writing, naive=self.naive)
            finally:
                os._exit(9)
        os.close(writing)
        lines = self._read_until(reading, child, delay=delay, at=at)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) != 0:
            sys.exit(f"the worker ended by itself with {os.WEXITSTATUS(status)}")
        return lines, os.WIFEXITED(status)

    def _read_until(self, reading: int, child: int, *, delay: float, at: int | None) -> list[str]:
        """Lines until the child is gone; it is killed after `delay` seconds or at line `at`."""
        os.set_blocking(reading, False)
        deadline = time.monotonic() + delay
        data, killed = b"", False
        while True:
            piece = _piece(reading)
            if piece == b"":
                os.close(reading)
                return data.decode().splitlines()
            data += piece or b""
            if not killed and (time.monotonic() >= deadline or (at is not None and data.count(b"\n") >= at)):
                os.kill(child, signal.SIGKILL)
                killed = True
            if piece is None:
                time.sleep(0.0005)

    def _count(self, lines: list[str], acked: dict[int, str], effects: Counter[str], *, answered: set[str]) -> None:
        for line in lines:
            kind, n, key = line.split(" ", 2)
            if kind == "A":
                acked[int(n)] = key
                self.result.acked += 1
            elif key != "load":
                effects[key] += 1
                self.result.repeated_answered += f"{key}=" in answered or (".retrieve" in key and key in answered)

    def _compare(self, run_id: str, acked: dict[int, str]) -> None:
        with Stores(self.profile) as stores:
            kept = {row.n: row.key for row in stores.journal.events(run_id)}
            self.result.chain_bad += bool(stores.journal.verify(run_id))
        lost = [n for n, key in acked.items() if kept.get(n) != key]
        self.result.lost += len(lost)
        for n in lost:  # counted once; the run goes on from what is there
            del acked[n]

    def _check_file(self) -> None:
        with Stores(self.profile) as stores:
            row = stores.database.one("PRAGMA integrity_check")
            self.result.integrity_bad += row is None or row[0] != "ok"

    def _end(self, run_id: str) -> tuple[Assessment, list[str]]:
        with Stores(self.profile) as stores:
            rows = stores.journal.events(run_id)
        last = rows[-1].event
        if not isinstance(last, ev.RunFinished):
            sys.exit(f"run {run_id} ended with {type(last).__name__}")
        return last.assessment, [row.key for row in rows]


def _piece(reading: int) -> bytes | None:
    """Bytes, b"" at the end, None while there is nothing to read."""
    try:
        return os.read(reading, 65536)
    except BlockingIOError:
        return None


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("profile", type=Path)
    parser.add_argument("--case", required=True)
    parser.add_argument("--kills", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--writer", choices=("real", "naive"), default="real")
    chosen = parser.parse_args(arguments)
    store, *_ = open_knowledge(chosen.profile, paths.cache_folder(), "killer")
    store.close()
    with Stores(chosen.profile) as stores:
        case = stores.cases.load(chosen.case)
    killer = Killer(chosen.profile, case, seed=chosen.seed, naive=chosen.writer == "naive")
    print(codec.encode(killer.kill(chosen.kills)).decode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
