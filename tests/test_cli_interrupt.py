"""A batch that is stopped: by Ctrl-C, by SIGTERM, by kill -9. What is finished is kept, and paid for once."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, Told, finish, kill, make_project, wait_until

COUNT = 12


@pytest.fixture
def slow(tmp_path: Path) -> Project:
    """Twelve items, four calls at once, each as long as it takes to stop in the middle of one."""
    project = make_project(tmp_path / "project", COUNT)
    project.profile("slow", params={"delay_ms": 500}, max_concurrency=4)
    project.series(provider="slow")
    return project


def begun(project: Project, *words: str, tool: str = "thumbforge") -> subprocess.Popen[str]:
    """A batch some of whose items are finished, and of whose calls one has only just begun."""
    process = project.start(*(words or ("batch", "series=show")), tool=tool)
    wait_until(lambda: has_finished(project, 2) and has_just_begun(project.events()[-1]))
    return process


def has_finished(project: Project, count: int) -> bool:
    """So many exports have their row too, which is written after the file."""
    return len(project.out()) >= count and project.count("export") >= count


def has_just_begun(event: dict[str, Any]) -> bool:
    return bool(event["event"] == "start" and time.time() - event["at"] < 0.15)


def stopped(project: Project, number: signal.Signals, *words: str, tool: str = "thumbforge") -> Told:
    process = begun(project, *words, tool=tool)
    process.send_signal(number)
    return finish(process)


def check_it_goes_on(project: Project) -> None:
    """The next batch completes all, without painting what was finished, and everything is up to date."""
    made = len(project.out())
    before = project.calls
    told = project.batch()
    assert told.code == 0, told.err
    assert len(project.out()) == COUNT
    assert project.calls - before == COUNT - made
    assert set(project.statuses().values()) == {"U"}
    assert Counter(e["key"] for e in project.events() if e["event"] == "start").most_common(1)[0][1] <= 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_batch_is_paused(slow: Project, number: signal.Signals) -> None:
    """Exit 130; the message tells the run and its counts; calls in flight end as interrupted and are not charged."""
    told = stopped(slow, number)
    assert told.code == 130
    assert "Traceback" not in told.err
    message = re.search(r"Interrupted: run ([0-9a-f]{8}) paused \((?:(\d+) made, )?(\d+) pending\)", told.out)
    assert message
    assert int(message[2] or 0) == len(slow.out())
    assert int(message[2] or 0) + int(message[3]) == COUNT
    [run] = slow.query("SELECT * FROM run WHERE kind = 'batch'")
    assert (run["status"], run["exit_code"], run["id"][:8]) == ("paused", 130, message[1])
    outcomes = Counter(row["outcome"] for row in slow.query("SELECT outcome FROM attempt WHERE called_at IS NOT NULL"))
    assert set(outcomes) <= {"ok", "interrupted"}
    cut = slow.query("SELECT error_text FROM iteration WHERE status = 'failed'")
    assert len(cut) == outcomes["interrupted"] >= 1
    assert {row["error_text"] for row in cut} == {"interrupted"}
    shown = slow.shown("runs", "show", message[1])
    assert shown["run"]["counts"] == shown["summary"] | {"total": COUNT}
    assert (shown["summary"]["failed"], shown["summary"]["pending"]) == (0, int(message[3]))
    assert slow.query("SELECT * FROM lease") == []
    starts, ends = (sum(e["event"] == name for e in slow.events()) for name in ("start", "end"))
    assert starts == ends
    check_it_goes_on(slow)


def test_an_interrupt_is_never_charged(slow: Project) -> None:
    """However often: the item is tried again under max_retries=1."""
    slow.profile("slow", params={"delay_ms": 60_000}, max_concurrency=4)
    for n in (1, 2, 3):
        process = slow.start("batch", "series=show", "only=1", "max_retries=1")
        wait_until(lambda n=n: slow.calls == n)  # type: ignore[misc]
        process.send_signal(signal.SIGINT)
        assert finish(process).code == 130


def test_a_second_signal_changes_nothing(slow: Project) -> None:
    """An impatient second Ctrl-C gives the same clean end."""
    process = begun(slow)
    process.send_signal(signal.SIGINT)
    time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    told = finish(process)
    assert (told.code, "Interrupted: run" in told.out, "Traceback" in told.err) == (130, True, False)


def test_a_paused_run_is_resumed_from_its_own_plan(slow: Project) -> None:
    """`runs resume` makes what is left under the same run, whatever the specs say meanwhile; then all agrees."""
    stopped(slow, signal.SIGINT)
    [run] = slow.query("SELECT id FROM run WHERE kind = 'batch'")
    made, before = len(slow.out()), slow.calls
    told = slow.run("runs", "resume", run["id"][:8], "--json")
    assert (told.code, told.document["run"]) == (0, run["id"])
    assert (len(slow.out()), slow.calls - before) == (COUNT, COUNT - made)
    [after] = slow.query("SELECT status, exit_code FROM run WHERE kind = 'batch'")
    assert tuple(after) == ("completed", 0)
    assert slow.run("audit").code == 0


def test_plain_doit_is_interrupted_the_same_way(slow: Project) -> None:
    """Also under doit's own name and in its own run: exit 130, one message, no traceback."""
    told = stopped(slow, signal.SIGINT, "run", tool="doit")
    assert told.code == 130
    assert "Interrupted: run" in told.out
    assert "Traceback" not in told.out + told.err
    check_it_goes_on(slow)


def test_json_is_whole_after_an_interrupt(slow: Project) -> None:
    """One document with every item, and the exit code 130."""
    found = stopped(slow, signal.SIGINT, "batch", "series=show", "--json")
    assert (found.code, found.document["exit_code"], len(found.document["items"])) == (130, 130, COUNT)


def test_what_was_finished_before_kill_9_is_kept(slow: Project) -> None:
    """At most the calls in flight are paid twice; the dead run is paused, its open attempts are lost."""
    kill(begun(slow))
    made = len(slow.out())
    told = slow.batch("--json")
    assert told.code == 0, told.err
    actions = Counter(entry["action"] for entry in told.document["items"])
    assert actions["skip"] >= made
    assert (len(slow.out()), slow.calls <= COUNT + 4) == (COUNT, True)
    first = slow.query("SELECT * FROM run WHERE kind = 'batch' ORDER BY created_at")[0]
    assert (first["status"], first["error_text"], first["recoveries"]) == ("paused", "process died", 1)
    assert {row["outcome"] for row in slow.query("SELECT outcome FROM attempt")} <= {"ok", "lost"}
    assert {row["status"] for row in slow.query("SELECT status FROM iteration")} == {"completed"}
    assert set(slow.statuses().values()) == {"U"}


def test_list_tells_the_truth_after_kill_9(slow: Project) -> None:
    """Before anybody has tidied up: what is finished is up to date, the rest is to run, and looking writes nothing."""
    kill(begun(slow))
    before = slow.files()
    letters = Counter(slow.statuses().values())
    assert letters["U"] + letters["R"] == COUNT
    assert {name: data for name, data in slow.files().items() if "-shm" not in name} == {
        name: data for name, data in before.items() if "-shm" not in name
    }
    assert letters["U"] == slow.count("export") >= 1


def test_a_killed_plain_doit_keeps_what_it_made(slow: Project) -> None:
    """doit's own record of a task is written when the task is done, not when doit ends."""
    kill(begun(slow, "run", tool="doit"))
    made = len(slow.out())
    assert slow.doit().code == 0
    assert slow.calls <= COUNT + 4
    assert (made >= 2, len(slow.out())) == (True, COUNT)


STORM = """\
import os, signal, subprocess, sys
from thumbforge.tasks.progress import interruptible
from thumbforge.cancel import Cancel

storm = '''
import os, signal, sys
for _ in range(20_000):
    os.kill(int(sys.argv[1]), signal.SIGINT)
    os.kill(int(sys.argv[1]), signal.SIGTERM)
'''
cancel = Cancel()
with interruptible(cancel):
    sender = subprocess.Popen([sys.executable, "-c", storm, str(os.getpid())])
    while sender.poll() is None:
        cancel.is_set()
print(sender.returncode, cancel.is_set())
"""


def test_signals_on_top_of_signals_stop_a_run_once() -> None:
    """A signal that arrives while another is being obeyed waits for nothing that the first one holds."""
    told = subprocess.run([sys.executable, "-c", STORM], capture_output=True, text=True, timeout=60, check=False)
    assert (told.stdout, told.stderr) == ("0 True\n", "")
