"""Random kills of real batches; the long version is `python -m benchmarks.killloop`."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.killloop import FLOORS, kill_loop, least


def test_a_batch_that_is_killed_at_random_is_finished(tmp_path: Path) -> None:
    """Six kills of batches of twelve slow items, whenever it happens: the ledger is sound after each, and in the
    end equals that of a batch that nobody stopped, with no call more than the kills cut off."""
    tally = kill_loop(tmp_path, 6, seed=7)
    assert tally.wrong == []
    assert tally.kills == 6
    assert tally.calls <= 12 * tally.sites + tally.cut_calls


@pytest.mark.soak
def test_the_kills_land_everywhere(tmp_path: Path) -> None:
    """Hundreds of kills, some in each phase of an item's way."""
    tally = kill_loop(tmp_path, 300, seed=11)
    assert tally.wrong == []
    assert [name for name in FLOORS if tally.phases[name] < least(name, tally.kills)] == []
