"""doit's own commands on our tasks: they do what a doit user expects, and none of them pays by accident."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import ALL_MARKED, Project, video

ONE = f"thumb:show:{video(1)}"


def test_plain_doit_makes_all(project: Project) -> None:
    """`doit` alone makes every series, says how it ended, and has nothing to do afterwards."""
    told = project.doit()
    assert (told.code, project.calls, len(project.out())) == (0, 3, 3)
    assert "show: 3 made (run " in told.out
    again = project.doit()
    assert (again.code, project.calls) == (0, 3)
    assert again.out.count("-- thumb:show:") == 3


def test_doit_and_batch_share_what_they_made(project: Project) -> None:
    """What one has made the other finds."""
    assert project.batch("only=1").code == 0
    assert project.statuses() == {video(1): "U", video(2): "R", video(3): "R"}
    assert project.doit(f"thumb:show:{video(2)}").code == 0
    assert project.batch().code == 0
    assert (project.calls, set(project.statuses().values())) == (3, {"U"})


def test_tasks_are_listed_in_playlist_order_with_their_titles(finished: Project) -> None:
    """Each says its part and title."""
    told = finished.doit("list", "--all")
    lines = [line.split(maxsplit=1) for line in told.out.splitlines()]
    assert lines[0][0] == "thumb"
    assert lines[1:13] == [[f"thumb:show:{video(n)}", f"Part {n} · Lesson {n}"] for n in range(1, 13)]
    assert [line[0] for line in lines[13:]] == ["sheet", "sheet:show"]


def test_forget_is_no_second_payment(done: Project) -> None:
    """It forces a check: list says to run, doit looks at the ledger and pays nothing."""
    assert done.doit().code == 0
    assert done.doit("forget", ONE).code == 0
    assert done.statuses()[video(1)] == "R"
    assert done.doit().code == 0
    assert (done.calls, set(done.statuses().values())) == (0, {"U"})


def test_forget_all_is_no_payment_either(done: Project) -> None:
    """Everything is checked, nothing is painted."""
    assert done.doit().code == 0
    told = done.doit("forget", "--all")
    assert told.code == 0
    assert set(done.statuses().values()) == {"R"}
    assert done.doit().code == 0
    assert (done.calls, set(done.statuses().values())) == (0, {"U"})


def test_clean_removes_exports_and_batch_puts_them_back(done: Project) -> None:
    """The pictures are in the store: no call."""
    assert done.doit("clean", ONE).code == 0
    assert len(done.out()) == 11
    assert done.batch().code == 0
    assert (len(done.out()), done.calls) == (12, 0)


def test_always_is_a_new_take(done: Project) -> None:
    """`doit -a` on an item that is done paints it anew, once: one call, another picture, the old one kept."""
    path = done.root / f"out/show/01-{video(1)}.jpg"
    first = path.read_bytes()
    told = done.doit("-a", ONE)
    assert (told.code, done.calls) == (0, 1), told.out + told.err
    second = path.read_bytes()
    assert second != first
    takes = [row["take"] for row in done.query("SELECT take FROM attempt JOIN iteration ON iteration.id = iteration_id"
                                               " WHERE item_key = ? ORDER BY n", f"video:{video(1)}:1")]  # fmt: skip
    assert takes == [1, 2]
    assert done.doit().code == 0
    assert done.batch().out.startswith("Nothing to do")
    assert (done.calls, path.read_bytes() == second, set(done.statuses().values())) == (1, True, {"U"})
    assert done.doit("-a", ONE).code == 0
    assert (done.calls, path.read_bytes() in {first, second}) == (2, False)
    assert done.doit().code == 0
    assert done.calls == 2


def test_always_on_what_is_missing_makes_it_once(project: Project) -> None:
    """An item without a picture gets its first take."""
    assert project.doit("-a", ONE).code == 0
    assert project.calls == 1
    assert [row["take"] for row in project.query("SELECT take FROM attempt WHERE calls > 0")] == [1]


def test_a_new_take_keeps_to_the_ceiling(done: Project) -> None:
    """`-a` counts as calls: max_images refuses it."""
    done.series(max_images=0)
    told = done.doit("-a", ONE)
    assert told.code != 0
    assert (done.calls, "max_images is 0" in told.out + told.err) == (0, True)


def test_an_ignored_item_is_left_out(project: Project) -> None:
    """doit skips it until it is forgotten."""
    assert project.doit("ignore", ONE).code == 0
    assert project.statuses()[video(1)] == "I"
    assert project.doit().code == 0
    assert (project.calls, project.out()) == (2, [f"{n:02d}-{video(n)}.jpg" for n in (2, 3)])
    assert project.doit("forget", ONE).code == 0
    assert project.doit().code == 0
    assert (project.calls, len(project.out())) == (3, 3)


def test_one_failed_task_does_not_stop_the_others(project: Project) -> None:
    """doit exits 1 for a failed task, thumbforge says how far it got; the failure is one line."""
    project.template(prompt="A picture.{% if part_number == 2 %} [[FAIL_PERMANENT]]{% endif %}")
    told = project.doit("thumb:show:*")
    assert (told.code, len(project.out())) == (1, 2)
    assert f"failed  thumb:show:{video(2)}  provider_bad_request" in told.out
    assert "Traceback" not in told.out + told.err
    assert project.run("run").code == 6
    assert project.statuses() == {video(1): "U", video(2): "R", video(3): "U"}
    project.template(prompt=ALL_MARKED)
    project.series(vars={"fail": "[[FAIL_PERMANENT]]"})
    assert project.run("run").code == 4


def test_exit_codes_of_doits_commands_under_our_name(done: Project) -> None:
    """`info` of something to run is no failure, a task that does not exist is a usage error."""
    items = done.items()
    items[0]["text"] = "Other"
    done.playlist(items)
    assert [done.doit("info", ONE).code, done.run("info", ONE).code] == [1, 0]
    assert done.run("list", "--all", "-s").code == 0
    assert done.run("run", "thumb:show:nothing-here").code == 2
    assert done.run("run", ONE).code == 0
    assert done.run("run").code == 0


def test_other_tasks_of_a_dodo_file_work_beside_ours(project: Project) -> None:
    """A project may have tasks of its own; doit tells them as it always does."""
    more = "\n\ndef task_hello():\n    return {'actions': ['echo hello there'], 'verbosity': 2}\n"
    project.write("dodo.py", (project.root / "dodo.py").read_text() + more)
    told = project.process("hello", tool="doit")
    assert (told.code, "hello there" in told.out, project.calls) == (0, True, 0)


def test_a_mistake_in_a_spec_reaches_the_user_without_a_traceback(project: Project) -> None:
    """Under list, info and run: file and line of each problem."""
    project.playlist([{"video": "short", "title": "x"}])
    for words in (["list", "--all"], ["info", ONE], ["run"]):
        told = project.doit(*words)
        assert told.code != 0
        assert "specs/playlists/show.yaml:" in told.out + told.err
        assert "Traceback" not in told.out + told.err


@pytest.mark.parametrize("words", [("list", "--all"), ("info", "thumb:show:video-00001"), ("help",)], ids=" ".join)
def test_a_reader_that_has_gone_is_no_error(project: Project, words: tuple[str, ...]) -> None:
    """`thumbforge list | head`: no traceback, whatever of it was read."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        told = subprocess.run(
            [sys.executable, "-m", "thumbforge.commands.main", *words], cwd=project.root, env=project.environment(),
            stdout=closed, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert told.stderr == ""


def test_a_directory_that_is_gone_is_told_in_two_lines(tmp_path: Path) -> None:
    """Removed in another terminal, say."""
    code = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
    (tmp_path / "gone").mkdir()
    words = [sys.executable, "-c", code, "-m", "thumbforge.commands.main", "batch", "series=show"]
    told = subprocess.run(words, cwd=tmp_path / "gone", capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (3, "")
    assert told.stderr == "not_found: the directory you are in is gone\nhint: cd into the project\n"
