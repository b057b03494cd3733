"""Every point on the way of a batch, really stopped there: a process killed, a disk that fails; and the next goes on.

The steps that a plain batch does not come by are in test_crash_scenarios.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crashes import RAISING, Dump, Site, judge, judge_calls, judge_words
from tests.tiers import soak

ITEMS = 2
BATCH_STEPS = (
    "world.row", "hero.file", "hero.row", "snapshot.file", "ingest.chunk", "run.open", "claim", "slot.take",
    "call.begin", "call", "staged", "slot.free", "art.file", "record.file", "art.row", "adopt", "final.file",
    "manifest", "final.row", "export.file", "export.row", "run.close", "sheet.file",
)  # fmt: skip
# These come first in the ingest and then in the batch itself; both times count.
TWICE = ("run.open", "run.close", "ingest.chunk")
POINTS = [f"{step}.{side}" for step in BATCH_STEPS for side in ("before", "after")]
SECOND = [f"{step}.{side}" for step in TWICE for side in ("before", "after")]
FAULTS = [*[f"{point}:kill" for point in POINTS], *[f"{point}:kill:2" for point in SECOND]]

# Each crash where something durable was just made or is just to be used; the second one at the place that takes it up.
PAIRS = [
    ("run.open.after:kill:2", "claim.after:kill"),
    ("claim.after:kill", "claim.after:kill"),
    ("call.begin.after:kill", "call.after:kill"),
    ("call.after:kill", "staged.before:enospc"),
    ("staged.after:kill", "art.row.before:kill"),
    ("staged.after:enospc", "art.file.after:kill"),
    ("art.file.after:kill", "run.claim.after:kill"),
    ("record.file.after:kill", "record.file.before:enospc"),
    ("art.row.after:kill", "final.file.after:kill"),
    ("final.file.after:eio", "manifest.after:kill"),
    ("final.row.after:kill", "export.file.after:kill"),
    ("export.file.after:kill", "sweep.after:kill"),
    ("export.row.after:enospc", "run.close.before:kill"),
]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.make(tmp_path_factory.mktemp("fresh") / "site", ITEMS)


@pytest.fixture(scope="module")
def model(fresh: Site) -> Dump:
    """What a run that nobody stopped leaves behind."""
    site = fresh.copy(fresh.root.with_name("model"))
    assert site.batch().returncode == 0
    found = site.dump()
    assert judge(site, found) == []
    assert [row[:2] for row in found["runs"]] == [
        ("batch", "completed"),
        ("hero", "completed"),
        ("ingest", "completed"),
    ]
    return found


def check_recovery(site: Site, model: Dump, faults: tuple[str, ...]) -> None:
    """Stop at each fault in turn, then go on undisturbed: once is enough."""
    first, *others = faults
    stopped = [site.batch("-n", "1", THUMBFORGE_FAULT=first)]
    cut = site.cut_calls()
    for fault in others:
        stopped.append(site.go_on_with(fault))
        cut |= site.cut_calls()
    if first.split(":")[1] == "kill":
        assert stopped[0].returncode == -9, "the point was never reached"
    else:
        assert stopped[0].returncode not in {0, -9}, stopped[0].stdout
    done = site.go_on()
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert judge(site, model) + judge_calls(site, ITEMS, cut) + judge_words(*stopped, done) == []


def _is_soak(fault: str) -> bool:
    """The point before a step is the one after the step before it, but where something happens in between."""
    return ".before:" in fault and not fault.startswith(("world.row.", "call.", "staged.", "run.close."))


@pytest.mark.parametrize("fault", [pytest.param(f, marks=[pytest.mark.soak] * _is_soak(f)) for f in FAULTS])
def test_a_batch_that_is_killed_anywhere_goes_on(tmp_path: Path, fresh: Site, model: Dump, fault: str) -> None:
    """SIGKILL at each point, then one `runs resume` (or the batch again): all pictures, a ledger that equals that of an
    undisturbed run, and no second call but for what was cut off inside the provider call."""
    check_recovery(fresh.copy(tmp_path / "site"), model, (fault,))


@pytest.mark.parametrize("pair", [*PAIRS[:4], *soak(*PAIRS[4:])], ids="+".join)
def test_a_recovery_that_is_killed_goes_on(tmp_path: Path, fresh: Site, model: Dump, pair: tuple[str, str]) -> None:
    """Recovery is no safer place than the first run: a second crash at the step that takes up the first."""
    check_recovery(fresh.copy(tmp_path / "site"), model, pair)


def test_the_provider_call_alone_can_cost_twice(tmp_path: Path, fresh: Site) -> None:
    """Killed after the call, before its answer is staged: exactly one call more, shown as lost and perhaps billed."""
    site = fresh.copy(tmp_path / "site")
    site.batch("only=1", THUMBFORGE_FAULT="staged.before:kill")
    assert site.go_on().returncode == 0
    assert site.calls() == (2, 2)
    assert site.query("SELECT count(*) FROM attempt WHERE outcome = 'lost' AND called_at IS NOT NULL") == [(1,)]
    [run] = site.query("SELECT id FROM run WHERE kind = 'batch'")
    assert "perhaps billed" in site.doit("runs", "cost", run[0]).stdout


def test_a_staged_answer_costs_no_second_call(tmp_path: Path, fresh: Site) -> None:
    """Killed right after the answer was staged: it is taken up, and its attempt is not lost after all."""
    site = fresh.copy(tmp_path / "site")
    site.batch("only=1", THUMBFORGE_FAULT="staged.after:kill")
    assert site.go_on().returncode == 0
    assert site.calls() == (1, 1)
    assert site.query("SELECT DISTINCT outcome FROM attempt") == [("ok",)]


@pytest.mark.soak
@pytest.mark.parametrize("mode", RAISING)
@pytest.mark.parametrize("point", POINTS)
def test_a_batch_whose_disk_fails_anywhere_goes_on(
    tmp_path: Path, fresh: Site, model: Dump, point: str, mode: str
) -> None:
    """ENOSPC and EIO before each step, and after it ("done, but reported as failed"): one line, exit 1, and the next
    command goes on."""
    check_recovery(fresh.copy(tmp_path / "site"), model, (f"{point}:{mode}",))


@pytest.mark.soak
@pytest.mark.parametrize("second", [*POINTS, "run.claim.before", "run.claim.after", "sweep.before", "sweep.after"])
@pytest.mark.parametrize("first", POINTS)
def test_any_two_crashes(tmp_path: Path, fresh: Site, model: Dump, first: str, second: str) -> None:
    """All ordered pairs of points: crash, resume into the second crash, resume."""
    check_recovery(fresh.copy(tmp_path / "site"), model, (f"{first}:kill", f"{second}:kill"))
