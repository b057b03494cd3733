"""Drawing in processes: the same pictures, and no process that is left behind or takes the run down with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, finish, make_project, wait_until
from thumbforge.making import executor, pool, threads
from thumbforge.making.executor import Placement
from thumbforge.making.threads import InThreads


@pytest.fixture
def local(tmp_path: Path) -> Project:
    """Eight items, painted from the hero in two processes."""
    project = make_project(tmp_path / "project", 8, THUMBFORGE_BATCH__PROCESSES="2")
    project.profile("drawn", provider="local")
    project.series("show", provider="drawn")
    return project


def children(pid: int) -> set[int]:
    """The processes that draw for a batch."""
    found = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found |= {int(child) for child in task.read_text().split()}
    return {child for child in found if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text(errors="replace")}


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\tZ" not in next(s for s in Path(f"/proc/{pid}/status").read_text().splitlines() if s.startswith("State"))


def drawing(batch: subprocess.Popen[str], project: Project) -> set[int]:
    """Its processes, once the first pictures are there."""
    wait_until(lambda: len(project.out()) >= 2)
    found = children(batch.pid)
    assert len(found) == 2
    return found


def test_processes_draw_what_threads_draw(local: Project) -> None:
    """Where a picture is made is no part of it: the bytes are the same, and so are the keys."""
    told = local.batch("-n", "3")
    assert told.code == 0, told.err
    made = {name: (local.root / "out/show" / name).read_bytes() for name in local.out()}
    other = make_project(local.root.with_name("other"), 8, THUMBFORGE_BATCH__PROCESSES="0")
    other.profile("drawn", provider="local")
    other.series("show", provider="drawn")
    assert other.batch("-n", "3").code == 0
    assert len(made) == 8
    assert {name: (other.root / "out/show" / name).read_bytes() for name in other.out()} == made
    keys = [sorted(path.name for path in (each.home / "keys").iterdir()) for each in (local, other)]
    assert keys[0] == keys[1]


def test_a_drawing_process_that_is_killed_costs_no_picture(local: Project) -> None:
    """The rest is drawn in the batch's own process, and it says so."""
    batch = local.start("batch", "series=show", "-n", "3", anew=True)
    for pid in drawing(batch, local):
        os.kill(pid, signal.SIGKILL)
    told = finish(batch)
    assert told.code == 0, told.err
    assert told.err.count("a process that draws was killed") == 1
    assert len(local.out()) == 8
    assert local.run("audit").code == 0


def test_drawing_processes_end_with_a_batch_that_is_killed(local: Project) -> None:
    """After kill -9 nobody is left to tell them; the next batch does the rest."""
    batch = local.start("batch", "series=show", "-n", "3", anew=True)
    pids = drawing(batch, local)
    batch.kill()
    batch.communicate()
    wait_until(lambda: not any(map(exists, pids)))
    assert local.batch().code == 0
    assert len(local.out()) == 8


def test_ctrl_c_in_the_terminal_ends_them_without_a_word(local: Project) -> None:
    """The whole process group hears a Ctrl-C; what is told is the batch's end, and no traceback."""
    local.playlist([{"video": f"lesson-{n:04d}", "title": f"Lesson {n}", "part": n} for n in range(1, 200)])
    batch = subprocess.Popen(
        [sys.executable, "-m", "thumbforge.commands.main", "batch", "series=show", "-n", "3"],
        cwd=local.root, env=local.environment(), text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    pids = drawing(batch, local)
    os.killpg(batch.pid, signal.SIGINT)
    told = finish(batch)
    assert told.code == 130, told.err
    assert "Traceback" not in told.err
    wait_until(lambda: not any(map(exists, pids)))


def test_processes_are_started_where_there_is_much_to_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dozen pictures are there before processes would have begun; one core has no use for a second process."""
    monkeypatch.setattr(executor, "usable_cores", lambda: 4)
    assert [Placement().processes_for(pictures) for pictures in (0, 12, 95, 96, 10_000)] == [0, 0, 0, 4, 4]
    assert Placement(processes=3).processes_for(1) == 3
    assert Placement(scheduler="tcp://127.0.0.1:8786").processes_for(10_000) == 0
    monkeypatch.setattr(executor, "usable_cores", lambda: 1)
    assert Placement().processes_for(10_000) == 0


def test_where_no_process_can_be_started_threads_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some containers have no semaphores, some no room for a process: the batch is made all the same."""

    def refuse(count: int) -> None:
        raise OSError("Function not implemented")

    monkeypatch.setattr(pool, "InProcesses", refuse)
    assert isinstance(Placement(processes=2).executor(100), InThreads)


def test_threads_open_as_many_pictures_as_there_are_cores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sixty-four answers may come in the same second; each open picture takes 20 MB."""
    monkeypatch.setattr(threads, "usable_cores", lambda: 2)
    opened, most, lock = [0], [0], threading.Lock()

    def draw(*_: object) -> None:
        with lock:
            opened[0] += 1
            most[0] = max(most[0], opened[0])
        time.sleep(0.02)
        with lock:
            opened[0] -= 1

    monkeypatch.setattr(threads, "finalise", draw)
    monkeypatch.setattr(threads, "inspect", draw)
    here = InThreads()
    nothing: Any = None
    with ThreadPoolExecutor(16) as many:
        drawn = [many.submit(here.finalise, tmp_path, nothing, nothing, nothing, tmp_path) for _ in range(16)]
        seen = [many.submit(here.inspect, b"", 1280, 720) for _ in range(16)]
    assert all(future.exception() is None for future in (*drawn, *seen))
    assert most == [2]
