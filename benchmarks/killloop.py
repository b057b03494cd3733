"""`python -m benchmarks.killloop --kills 500 --seed 7`: real batches killed at random until the number is reached.

A site is a fresh project with 12 items of a slow provider. Its batch is killed up to five times, each time in whatever
command goes on with it, then gone on with until it is done. After each kill the ledger is looked at (no row may name a
file that is missing or wrong) and the phase is told by what it holds; after the last the site must equal one whose
batch nobody stopped. Half of the kills are at a random time, half a random time after something has just happened.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.crashes import Dump, Site, findings, judge, judge_calls, judge_words
from thumbforge.store.assets import AssetStore

ITEMS, DELAY_MS, AT_ONCE, PER_SITE = 12, 200, 3, 5
# A kill may land in several phases at once, because three items are made side by side. Least shares of all kills that
# must have landed in each; what lasts a millisecond is met seldom, and is what the fault points are for. "Between
# items" is when none of the three is in any of the others.
FLOORS = {
    "before the run": 0.05,
    "claimed": 0.05,
    "in the call": 0.2,
    "answer staged": 0.03,
    "art, no final": 0.05,
    "final, no export": 0.01,
    "between items": 0.0,
    "all made": 0.01,
}
INSIDE = frozenset({"claimed", "in the call", "answer staged", "art, no final", "final, no export"})
INSIDE_FLOOR = 1 / 3
"""Of all kills, those that met at least one item in its call or between two of its durable steps."""


@dataclass
class Tally:
    kills: int = 0
    sites: int = 0
    missed: int = 0
    phases: Counter[str] = field(default_factory=Counter)
    inside: int = 0
    calls: int = 0
    cut_calls: int = 0
    wrong: list[str] = field(default_factory=list)


def phases(site: Site) -> set[str]:
    """Where the process was, by what it left in the ledger."""
    run = site.unfinished_run() if site.ledger.exists() else None
    if run is None:
        done = site.ledger.exists() and has_tables(site) and site.query("SELECT 1 FROM run WHERE kind = 'batch'")
        return {"all made"} if done else {"before the run"}
    if site.query(f"SELECT status FROM run WHERE id = '{run}'") != [("running",)]:
        return {"before the run"}
    store, found = AssetStore(site.root / ".thumbforge"), set()
    for attempt, called in site.query("SELECT id, called_at FROM attempt WHERE closed_at IS NULL"):
        if called is None:
            found.add("claimed")
        else:
            found.add("answer staged" if store.staged(attempt) else "in the call")
    if site.query("SELECT 1 FROM attempt JOIN iteration ON iteration.id = iteration_id"
                  " WHERE outcome = 'ok' AND status <> 'completed'"):  # fmt: skip
        found.add("art, no final")
    if site.query("SELECT 1 FROM iteration WHERE status = 'completed' AND item_key LIKE 'video%'"
                  " AND item_key NOT IN (SELECT item_key FROM export)"):  # fmt: skip
        found.add("final, no export")
    left = site.query("SELECT 1 FROM iteration WHERE status <> 'completed'")
    return found or ({"between items"} if left else {"all made"})


def has_tables(site: Site) -> bool:
    with closing(sqlite3.connect(site.ledger)) as connection:
        return bool(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'run'").fetchall())


def unsound(site: Site) -> list[str]:
    """What may not be even right after a kill. That a dead process has attempts open is how it should be."""
    if not site.ledger.exists() or not has_tables(site):
        return []
    return [line for line in findings(site.root) if not line.startswith("attempt-open")]


def goes_on(site: Site) -> subprocess.Popen[str]:
    run = site.unfinished_run()
    words = ("runs", "resume", run) if run else ("batch", "series=c")
    return site.start(*words, "-n", str(AT_ONCE))


def waits(dice: random.Random, site: Site) -> Callable[[subprocess.Popen[str]], None]:
    """How long until the kill: a random time, a short one, or a moment after the provider's next answer or its last."""
    kind = dice.choice(["any", "any", "early", "next", "next", "last"])
    times = {"any": (0.3, 1.6), "early": (0.0, 0.5), "next": (0.0, 0.08), "last": (0.0, 0.3)}
    seconds, ended = dice.uniform(*times[kind]), site.calls()[1]
    answers = {"next": ended + dice.randint(1, 4), "last": max(ITEMS, ended + 1)}.get(kind, 0)

    def wait(process: subprocess.Popen[str]) -> None:
        end = time.monotonic() + 5
        while site.calls()[1] < answers and process.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        time.sleep(seconds)

    return wait


def torture(site: Site, dice: random.Random, tally: Tally, kills: int) -> set[str]:
    """Kill what goes on with the site up to `kills` times; returns the attempts whose calls that cut off."""
    cut: set[str] = set()
    for _ in range(kills):
        process = goes_on(site)
        waits(dice, site)(process)
        process.send_signal(signal.SIGKILL)
        out, err = process.communicate()
        if process.returncode != -signal.SIGKILL:  # it was faster
            tally.missed += 1
            told = subprocess.CompletedProcess((), process.returncode, out, err)
            tally.wrong += judge_words(told) + (
                [] if process.returncode == 0 else [f"exit {process.returncode}: {err}"]
            )
            break
        tally.kills += 1
        found = phases(site)
        tally.phases.update(found)
        tally.inside += bool(found & INSIDE)
        cut |= site.cut_calls()
        tally.wrong += unsound(site)
    return cut


def one_site(site: Site, model: Dump, dice: random.Random, tally: Tally, kills: int) -> None:
    cut = torture(site, dice, tally, kills)
    done = site.go_on()
    begun, _ = site.calls()
    tally.sites += 1
    tally.calls += begun
    tally.cut_calls += len(cut)
    if done.returncode:
        tally.wrong.append(f"exit {done.returncode}: {done.stdout}{done.stderr}")
        return
    tally.wrong += judge(site, model) + judge_calls(site, ITEMS, cut) + judge_words(done)


def kill_loop(folder: Path, kills: int, seed: int, *, tell: Callable[[str], None] = lambda _: None) -> Tally:
    """At least `kills` kills that landed; stops at the first thing that is wrong."""
    dice, tally = random.Random(seed), Tally()
    fresh = Site.make(folder / "fresh", ITEMS, DELAY_MS, AT_ONCE)
    undisturbed = fresh.copy(folder / "undisturbed")
    if undisturbed.batch().returncode:
        raise SystemExit("the batch that nobody stops does not end well")
    model = undisturbed.dump()
    while tally.kills < kills and not tally.wrong:
        site = fresh.copy(folder / f"site-{tally.sites}")
        one_site(site, model, dice, tally, min(PER_SITE, kills - tally.kills))
        if not tally.wrong:
            shutil.rmtree(site.root)
        tell(f"{tally.kills} kills in {tally.sites} sites")
    return tally


def table(tally: Tally) -> str:
    lines = ["| the process was | kills | floor |", "|---|---|---|"]
    lines += [f"| {name} | {tally.phases[name]} | {least(name, tally.kills)} |" for name in FLOORS]
    return "\n".join(lines)


def least(phase: str, kills: int) -> int:
    return int(FLOORS[phase] * kills)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.killloop")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="killloop-"))

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    tally = kill_loop(folder, options.kills, options.seed, tell=tell)
    print(f"{tally.kills} kills in {tally.sites} batches of {ITEMS} items, {time.monotonic() - began:.0f} s")
    print(f"{tally.calls} calls: {tally.sites * ITEMS} needed, {tally.cut_calls} cut off by a kill")
    print(f"{tally.inside} kills inside a call or between two durable steps of an item")
    print(table(tally))
    if tally.wrong:
        raise SystemExit("\n".join([*tally.wrong, f"left for a look: {folder}"]))
    shutil.rmtree(folder)
    if tally.inside < INSIDE_FLOOR * tally.kills:
        raise SystemExit(f"only {tally.inside} kills landed inside a call or between two durable steps")
    if short := [name for name in FLOORS if tally.phases[name] < least(name, tally.kills)]:
        raise SystemExit(f"too few kills landed in: {', '.join(short)}")


if __name__ == "__main__":
    main()
