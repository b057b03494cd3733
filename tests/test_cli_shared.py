"""Two processes on one ledger: one limit, each picture once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.project import Project, finish, item, kill, make_project, put_to_sleep, wait_until, wake


@pytest.fixture
def narrow(tmp_path: Path) -> Project:
    """Six items and a profile that allows one call at a time."""
    project = make_project(tmp_path / "project", 6)
    project.profile("narrow", params={"delay_ms": 120}, max_concurrency=1)
    project.series(provider="narrow")
    return project


def check_no_overlap(project: Project) -> None:
    assert [event["event"] for event in project.events()] == ["start", "end"] * project.calls


def batches(project: Project) -> int:
    """Runs that were opened: each of them has its plan."""
    return len(project.query("SELECT id FROM run WHERE kind = 'batch'"))


def test_two_batches_at_once_share_the_work(narrow: Project) -> None:
    """Calls of both never overlap, each key is called once, both see everything made and exit 0."""
    processes = [narrow.start("batch", "series=show", "--json") for _ in range(2)]
    results = [finish(process) for process in processes]
    assert [told.code for told in results] == [0, 0], results
    assert {entry["status"] for told in results for entry in told.document["items"]} == {"completed"}
    check_no_overlap(narrow)
    assert Counter(e["key"] for e in narrow.events() if e["event"] == "start").most_common(1)[0][1] == 1
    assert (narrow.calls, narrow.count("iteration")) == (6, 7)  # six and the hero's


def test_a_batch_and_plain_doit_share_the_work(narrow: Project) -> None:
    """Whatever name the processes were started under."""
    processes = [narrow.start("batch", "series=show"), narrow.start("run", tool="doit")]
    assert [finish(process).code for process in processes] == [0, 0]
    assert narrow.calls == 6
    check_no_overlap(narrow)


def test_wait_no_does_not_wait(narrow: Project) -> None:
    """Beside a live run: exit 6 with what that run is making reported as pending, and no call of its own for it."""
    narrow.profile("narrow", params={"delay_ms": 1500}, max_concurrency=4)
    first = narrow.start("batch", "series=show", "only=1-4")
    wait_until(lambda: narrow.calls == 4)
    put_to_sleep(narrow, first)
    told = narrow.batch("only=1-4", "wait=no", "--json")
    assert (told.code, told.document["run"], told.document["summary"]["pending"]) == (6, None, 4)
    assert {entry["error"] for entry in told.document["items"]} == {"running in another run"}
    wake(first)
    assert finish(first).code == 0
    assert narrow.calls == 4


def test_a_batch_waits_for_what_another_makes(narrow: Project) -> None:
    """Without wait=no it ends when every file is there: exit 0, no second call."""
    narrow.profile("narrow", params={"delay_ms": 1000}, max_concurrency=4)
    first = narrow.start("batch", "series=show", "only=1-4")
    wait_until(lambda: narrow.calls == 4)
    put_to_sleep(narrow, first)
    second = narrow.start("batch", "series=show", "only=1-4")
    wait_until(lambda: batches(narrow) == 2)
    wake(first)
    assert [finish(process).code for process in (first, second)] == [0, 0]
    assert narrow.calls == 4


def test_the_work_of_a_killed_batch_is_taken_over(narrow: Project) -> None:
    """A second batch that waits for it goes on at once when it dies."""
    narrow.profile("narrow", params={"delay_ms": 800}, max_concurrency=1)
    first = narrow.start("batch", "series=show", "only=1-2")
    wait_until(lambda: narrow.calls == 1)
    put_to_sleep(narrow, first)
    second = narrow.start("batch", "series=show", "only=1-2")
    wait_until(lambda: batches(narrow) == 2)
    kill(first)
    assert finish(second).code == 0
    assert narrow.calls <= 3


def test_two_series_that_want_the_same_art_share_one_call(narrow: Project) -> None:
    """Two templates that ask for the same picture differ in what is drawn over it, not in what is paid."""
    narrow.playlist([item(1), item(2)])
    narrow.template("other", layout={"part": {"size": 50}})
    narrow.series("other", template="other", provider="narrow")
    processes = [narrow.start("batch", "series=show"), narrow.start("batch", "series=other")]
    assert [finish(process).code for process in processes] == [0, 0]
    assert narrow.calls == 2
    assert (len(narrow.out()), len(narrow.out("other"))) == (2, 2)
