"""(i) What a lock file costs a batch with nothing to do: read, held against what is here, and left as it is.

The same command takes turns with itself, once with the two functions that read and keep the lock taken out.
"""

from __future__ import annotations

import sys

from benchmarks.clock import take_turns
from benchmarks.commands import idle
from benchmarks.figure import Figure, at_most, seconds
from benchmarks.sample import finished

ITEMS = 10_000
TARGET = at_most(1.15)
_RUN = "import sys; from thumbforge.commands.main import main; sys.exit(main())"
_WITHOUT = (
    "from thumbforge.planning import decide; from thumbforge.making import quiet;"
    " decide.find_lock = lambda *_: None; quiet.keep_lock = lambda *_, **__: None; "
)
_WORDS = ("batch", "series=bench")


def measure(*, quick: bool = False) -> list[Figure]:
    items = 1000 if quick else ITEMS
    root = finished(items)
    lock = root / "specs/locks/bench.yaml"

    def nothing_to_do(said: str) -> bool:
        return "Nothing to do" in said and lock.read_text(encoding="utf-8").count("\n- {") == items

    measures = {
        "with": idle(root, sys.executable, "-c", _RUN, *_WORDS, says=nothing_to_do),
        "without": idle(root, sys.executable, "-c", _WITHOUT + _RUN, *_WORDS, says=nothing_to_do),
    }
    rounds = take_turns(measures, 3 if quick else 7)
    return [
        Figure(
            letter="i",
            what=f"no-op, {items:,} items: `thumbforge batch series=bench` with a lock file",
            figure=f"{seconds(rounds.median('with'))}, without {seconds(rounds.median('without'))}",
            ratio=rounds.ratio("with", "without"),
            of="the same without",
            target=None if quick else TARGET,
        )
    ]
