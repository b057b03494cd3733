"""(b) One changed title among finished items: a batch that makes one picture, over one that has nothing to do.

The title is part of the prompt too, so the picture is painted and drawn; the fake provider paints in milliseconds.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

from benchmarks.clock import take_turns, timed
from benchmarks.commands import DOIT, idle, told
from benchmarks.figure import Figure, at_most, seconds
from benchmarks.sample import finished

ITEMS = 10_000
TARGET = at_most(1.2)
BATCH = (*DOIT, "batch", "series=bench")


def measure(*, quick: bool = False) -> list[Figure]:
    items = 1000 if quick else ITEMS
    root = finished(items)
    playlist = root / "specs/playlists/bench.yaml"
    before = playlist.read_text(encoding="utf-8")
    titles = (f"Another name for it, number {n}" for n in count(1))

    def remake() -> float:
        """A title that was never there before: its picture is in no store, however often this is repeated."""
        _retitle(playlist, before, items // 2, next(titles))
        return timed(lambda: _makes_one(root))()

    no_op = idle(root, *BATCH, says=lambda said: "Nothing to do" in said)
    try:
        rounds = take_turns({"no-op": no_op, "one title": remake}, 3 if quick else 5)
    finally:
        playlist.write_text(before, encoding="utf-8")
        told(root, *DOIT)
    return [
        Figure(
            letter="b",
            what=f"one changed title among {items:,}: `doit batch series=bench`",
            figure=f"{seconds(rounds.median('one title'))}, no-op {seconds(rounds.median('no-op'))}",
            ratio=rounds.ratio("one title", "no-op"),
            of="the no-op",
            target=None if quick else TARGET,
        )
    ]


def _retitle(playlist: Path, text: str, item: int, title: str) -> None:
    old = f"'What item {item} of the series is really about'"
    assert text.count(old) == 1
    playlist.write_text(text.replace(old, f"'{title}'"), encoding="utf-8")


def _makes_one(root: Path) -> None:
    said = told(root, *BATCH)
    if said.count("item completed") != 1:
        raise SystemExit(f"not one picture made: {said[-800:]}")
