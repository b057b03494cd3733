"""(g) Items a second that the ledger makes durable, by one process and by four at once on one file.

An item is the four transactions that making/make.py cannot do without: claim, begin_call, keep_art, record_final; no
picture is written. Beside it a bare loop of as many transactions of one row each, with the same pragmas: what SQLite
and the disk give.
"""

from __future__ import annotations

import contextlib
import secrets
import sqlite3
import subprocess
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.clock import take_turns
from benchmarks.commands import REPOSITORY, environment
from benchmarks.figure import Figure
from benchmarks.sample import scratch

STEPS = 4
ROW = "x" * 400
"""About what a row of the ledger has."""


def measure(*, quick: bool = False) -> list[Figure]:
    each, files = (30 if quick else 100), count(1)

    def rate(kind: str, processes: int) -> float:
        """Of a new file each time."""
        return _together(kind, scratch() / f"ledger-{next(files)}.sqlite3", each, processes)

    names = [(kind, n) for n in (1, 4) for kind in ("ours", "bare")]
    rounds = take_turns(
        {f"{kind} {n}": partial(rate, kind, n) for kind, n in names},
        3 if quick else 9,
    )
    found = [
        Figure(
            letter="g",
            what=f"ledger: durable items, {n} process{'es' if n > 1 else ''}, against bare SQLite commits",
            figure=f"{rounds.median(f'ours {n}'):.0f}/s, bare {rounds.median(f'bare {n}'):.0f}/s",
            ratio=rounds.ratio(f"ours {n}", f"bare {n}"),
            of="bare SQLite",
        )
        for n in (1, 4)
    ]
    four = Figure(
        letter="g",
        what="ledger: durable items, 4 processes together, against one",
        figure=f"{rounds.median('ours 4'):.0f}/s, one process {rounds.median('ours 1'):.0f}/s",
        ratio=rounds.ratio("ours 4", "ours 1"),
        of="one process",
    )
    return [*found, four]


def _together(kind: str, path: Path, each: int, processes: int) -> float:
    """Items a second of all processes: all of theirs, from when they are let go until the last is done."""
    argv = [sys.executable, "-m", "benchmarks.ledger", kind, str(path), str(each)]
    running = [_started(argv) for _ in range(processes)]
    began = time.perf_counter()
    for process in running:
        _say(process, "go")
    done = [_hear(process) for process in running]
    took = time.perf_counter() - began
    for process in running:
        process.communicate()
    if set(done) != {"done"}:
        raise SystemExit(f"a process of the ledger's measurement failed: {' '.join(argv)}")
    return each * processes / took


def _started(argv: list[str]) -> subprocess.Popen[str]:
    """A process that has opened its run and waits for a word."""
    process = subprocess.Popen(
        argv, cwd=REPOSITORY, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    _hear(process)
    return process


def _say(process: subprocess.Popen[str], word: str) -> None:
    assert process.stdin
    process.stdin.write(f"{word}\n")
    process.stdin.flush()


def _hear(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def _await_go() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


def _ours(path: Path, items: int) -> None:
    from thumbforge import ids
    from thumbforge.store.attempts import Spent
    from thumbforge.store.database import Database
    from thumbforge.store.leases import new_owner
    from thumbforge.store.ledger import Ledger
    from thumbforge.store.pictures import StoredPicture
    from thumbforge.store.plans import PlannedItem
    from thumbforge.store.runs import NewRun
    from thumbforge.store.work import Work

    own = secrets.token_hex(4)
    run_id = ids.new_run_id()
    planned = [
        PlannedItem(
            f"video:{own}{n}:1", f"{own}-{n}", {"video": f"{own}{n}", "prompt": ROW}, "create", "new", {"at": n}
        )
        for n in range(items)
    ]
    request = {"prompt": ROW, "width": 1280, "height": 720, "take": 1}
    with contextlib.closing(Database.open(path)) as database:
        fence = Ledger(database, new_owner(), 30.0).open_run(NewRun(run_id, "batch"), planned)
        work = Work(database, fence)
        _await_go()
        for item in planned:
            iteration = ids.iteration_id(run_id, item.item_key, item.idempotency_key)
            sha256 = ids.sha256_hex(item.item_key.encode())
            picture = StoredPicture(sha256, ".jpg", "image/jpeg", 1000, 1280, 720)
            attempt = work.claim(iteration, sha256, 1, request, lost_art=None)
            assert isinstance(attempt, str)
            work.begin_call(attempt)
            art = work.keep_art(attempt, picture, Spent(calls=1))
            work.record_final(iteration, art, sha256, picture, {"checks": ROW}, None)


def _bare(path: Path, items: int) -> None:
    with contextlib.closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as connection:
        for pragma in ("journal_mode = WAL", "synchronous = FULL"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute("CREATE TABLE IF NOT EXISTS row (id INTEGER PRIMARY KEY, text TEXT)")
        _await_go()
        for _ in range(items * STEPS):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO row (text) VALUES (?)", (ROW,))
            connection.execute("COMMIT")


if __name__ == "__main__":
    {"ours": _ours, "bare": _bare}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    print("done", flush=True)
