"""(a) Nothing to do: over finished items, against raw doit with as many tasks, against other build tools, and against
itself where it takes every file's word for it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from benchmarks.clock import Rounds, take_turns
from benchmarks.commands import DOIT, idle, tool
from benchmarks.figure import Figure, Target, at_most, seconds
from benchmarks.peers import PEERS, peer, raw_doit
from benchmarks.sample import finished

SIZES = (12, 100, 1000, 10_000)
TARGETS = {12: at_most(3), 10_000: at_most(2)}
"""Against raw doit; in between it is one, then the other."""
MAIN = "doit batch series=bench"
"""The main job, and so what the other tools are compared with."""
FASTER: Mapping[tuple[str, int], Target] = {
    ("GNU make", 10_000): at_most(1),
    ("Snakemake", 1000): at_most(1),
    ("DVC", 1000): at_most(1),
    ("Luigi", 1000): at_most(1),
}
"""Which of the other tools we have to be faster than, and at how many items."""

BLIND = (
    sys.executable,
    "-c",
    """
import sys
from doit.doit_cmd import DoitMain
from thumbforge.planning import snapshot
from thumbforge.store.assets import AssetStore

class AsItWas:
    def __eq__(self, other): return True

snapshot.is_as_seen = AssetStore.is_as_seen = lambda *_, **__: True
AssetStore.manifest_seen = lambda *_: AsItWas()
sys.exit(DoitMain().run(sys.argv[1:]))
""",
)
"""doit, with a plan that looks at no file under .thumbforge/ and out/."""
MOST_FOR_LOOKS = 1.1

RAW, RAW_LIST = "raw doit", "raw doit list --all -s"
OURS = {"doit": RAW, MAIN: RAW, "doit list --all -s": RAW_LIST}
"""Our commands, by what each is compared with."""


def measure(*, quick: bool = False) -> list[Figure]:
    return [figure for items in SIZES[: 3 if quick else 4] for figure in _figures(items, quick=quick)]


def _figures(items: int, *, quick: bool) -> list[Figure]:
    names = [] if quick or items == SIZES[0] else list(PEERS)
    peers = {name: found.measure() for name in names if (found := peer(name, items))}
    rounds = take_turns({**_ours(items), **peers}, 5 if items < 10_000 and not quick else 3)
    ours = [_own(rounds, items, name, base) for name, base in OURS.items()]
    looks = [] if items == SIZES[0] else [_looks(items, quick=quick)]
    return ours + looks + [_other(rounds, items, name) for name in names]


def _ours(items: int) -> dict[str, Callable[[], float]]:
    ours, raw = finished(items), raw_doit(items)
    return {
        RAW: idle(raw, *DOIT, says=_all_done),
        "doit": idle(ours, *DOIT, says=_all_done),
        MAIN: idle(ours, *DOIT, "batch", "series=bench", says=lambda said: "Nothing to do" in said),
        RAW_LIST: idle(raw, *DOIT, "list", "--all", "-s", says=_all_listed),
        "doit list --all -s": idle(ours, *DOIT, "list", "--all", "-s", says=_all_listed),
    }


def _all_done(said: str) -> bool:
    return all(line.startswith("-- ") for line in said.splitlines())


def _all_listed(said: str) -> bool:
    return not any(line.startswith("R thumb:") for line in said.splitlines())


def _own(rounds: Rounds, items: int, name: str, base: str) -> Figure:
    return Figure(
        letter="a",
        what=f"no-op, {items:,} items: `{name}`",
        figure=f"{seconds(rounds.median(name))}, {base.partition(' list')[0]} {seconds(rounds.median(base))}",
        ratio=rounds.ratio(name, base),
        of="raw doit",
        target=TARGETS.get(items),
    )


def _looks(items: int, *, quick: bool) -> Figure:
    """What it costs that the verdict comes from the disk."""

    def batch(*start: str) -> Callable[[], float]:
        return idle(finished(items), *start, "batch", "series=bench", says=lambda said: "Nothing to do" in said)

    rounds = take_turns({"looking": batch(*DOIT), "blind": batch(*BLIND)}, 3 if quick else 7)
    return Figure(
        letter="a",
        what=f"no-op, {items:,} items: `{MAIN}` against one that looks at no file",
        figure=f"{seconds(rounds.median('looking'))}, blind {seconds(rounds.median('blind'))}",
        ratio=rounds.ratio("looking", "blind"),
        of="without looks",
        target=at_most(MOST_FOR_LOOKS) if items == SIZES[-1] else None,
    )


def _other(rounds: Rounds, items: int, name: str) -> Figure:
    what, target = f"no-op, {items:,} items: `{MAIN}` against {name}", FASTER.get((name, items))
    if name not in rounds.measured:
        why = "not asked for so many" if tool(PEERS[name][0]) else "left out: not installed"
        return Figure(letter="a", what=what, figure=why, target=target)
    return Figure(
        letter="a",
        what=what,
        figure=f"{seconds(rounds.median(MAIN))}, {name} {seconds(rounds.median(name))}",
        ratio=rounds.ratio(MAIN, name),
        of=name,
        target=target,
    )
