"""The benchmarks run and their table is whole. What they measure is not tested: no test asserts a time."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import noop, peers, provider_bound
from benchmarks.clock import Rounds, take_turns, timed
from benchmarks.commands import DOIT, idle, usage
from benchmarks.figure import Figure, at_least, at_most, line
from tests.pages import ROOT, table, text

ROUNDS = Rounds({"ours": (2.0, 8.0, 3.0), "base": (1.0, 2.0, 2.0)})


@pytest.mark.parametrize("name", command.NAMES)
def test_each_named_measurement_can_be_run(name: str) -> None:
    """What `python -m benchmarks` names is a module that measures something."""
    assert callable(importlib.import_module(f"benchmarks.{name}").measure)


def test_the_command_prints_a_row_with_a_ratio() -> None:
    """`python -m benchmarks --quick startup` names the versions, then has a row with figure, ratio, target, verdict."""
    words = (sys.executable, "-m", "benchmarks", "--quick", "--markdown", "startup")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert re.match(r".* cores · \w+ [\d.]+ · doit [\d.]+ · Pillow [\d.]+ · SQLite [\d.]+\n", done.stdout)
    [version, listed] = table(done.stdout)
    assert version[:2] == ["f", "start-up: `thumbforge --version`"]
    assert listed[:2] == ["f", "start-up: `doit list`, 12 items"]
    for _, _, figure, ratio, target, met in (version, listed):
        assert re.fullmatch(r"[\d.]+ m?s, raw doit [\d.]+ m?s", figure)
        assert re.fullmatch(r"\d+\.\d\d x raw doit", ratio)
        assert (target, met in {"yes", "no"}) == ("≤ 2.5 x", True)


def test_an_unknown_name_is_refused_before_anything_is_measured() -> None:
    """A word that names no measurement ends the command with the names that there are."""
    words = (sys.executable, "-m", "benchmarks", "nop")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no nop; there are noop, " in done.stderr


def test_the_table_of_the_documentation_has_every_letter() -> None:
    """docs/performance.md has figures for each of (a) to (k), between the two marks that `--into` looks for."""
    page = text("performance.md")
    figures = page[page.index(command.BEGIN) : page.index(command.END)]
    assert sorted({row[0] for row in table(figures)}) == list("abcdefghijk")


def test_a_new_table_takes_the_place_of_the_old(tmp_path: Path) -> None:
    """`--into` changes what lies between the marks, and nothing else of the page."""
    page = tmp_path / "page.md"
    page.write_text(f"# Title\n\n{command.BEGIN}old\n{command.END}\nThe end.\n", encoding="utf-8")
    command.put(page, [Figure(letter="a", what="thing", figure="1 s")])
    found = page.read_text(encoding="utf-8")
    assert found.startswith(f"# Title\n\n{command.BEGIN}")
    assert found.endswith(f"| a | thing | 1 s |  |  |  |\n{command.END}\nThe end.\n")
    assert "old" not in found


def test_a_ratio_is_the_median_of_the_ratios_of_each_round() -> None:
    """Neighbours in time are compared, not a median of one hour with that of another."""
    assert ROUNDS.ratio("ours", "base") == 2.0
    assert ROUNDS.median("ours") == 3.0


def test_measurements_take_turns() -> None:
    """One round that is not counted, then each measurement once a round, in order."""
    called: list[str] = []
    runs = {name: timed(partial(called.append, name)) for name in "ab"}
    rounds = take_turns(runs, 2)
    assert "".join(called) == "ababab"
    assert [len(times) for times in rounds.measured.values()] == [2, 2]


@pytest.mark.parametrize(
    ("figure", "last"),
    [
        (Figure(letter="a", what="w", figure="f", ratio=1.5, of="b", target=at_most(1.5)), "1.50 x b | ≤ 1.5 x | yes"),
        (
            Figure(letter="a", what="w", figure="f", ratio=0.9, of="b", target=at_least(0.95)),
            "0.90 x b | ≥ 0.95 x | no",
        ),
        (Figure(letter="a", what="w", figure="f", target=at_most(60, "µs"), value=61.0), " | ≤ 60 µs | no"),
        (Figure(letter="a", what="w", figure="left out", target=at_most(1)), " | ≤ 1 x | "),
    ],
)
def test_a_row_tells_whether_its_target_is_met(figure: Figure, last: str) -> None:
    """The target judges the ratio, or the value where there is one; what was not measured is not judged."""
    assert line(figure.cells, markdown=True) == f"| a | w | {figure.figure} | {last} |"


def test_a_tool_that_is_not_installed_is_left_out_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table says which of the other tools were not there."""
    monkeypatch.setattr(noop, "tool", lambda _: None)
    row = noop._other(ROUNDS, 1000, "DVC")
    assert (row.figure, row.is_met) == ("left out: not installed", None)


def test_the_latency_lets_the_cores_keep_up() -> None:
    """With n calls in flight each takes at least 2 x n x the drawing's time / cores, and at least two seconds."""
    assert provider_bound.latency(1, 0.05, cores=2) == 2.0
    assert provider_bound.latency(64, 0.05, cores=2) == 3.2
    assert provider_bound.latency(64, 0.051, cores=2) == 3.3


def test_the_peak_is_that_of_the_command(tmp_path: Path) -> None:
    """What a command holds is told in bytes, whatever the process that asks holds."""
    held = bytearray(300 * 2**20)
    small, large = (usage(tmp_path, sys.executable, "-c", f"b'x' * {n}").peak for n in (1, 100 * 2**20))
    assert 2**20 < small < len(held) / 2
    assert 90 * 2**20 < large - small < 110 * 2**20


def test_raw_doit_has_nothing_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What ours is compared with is doit over as many finished tasks; the check of what it says refuses a real run."""
    monkeypatch.setattr(peers, "scratch", lambda: tmp_path)
    root = peers.raw_doit.__wrapped__(3)
    assert len(list((root / "out").iterdir())) == 3
    again = idle(root, *DOIT, says=noop._all_done)
    assert again() > 0
    (root / "hero.jpg").write_bytes(b"another")
    with pytest.raises(SystemExit, match="not a no-op"):
        again()
