"""Ground that does not hold: a ledger that is locked, cut, foreign or from the future, a disk that is full or
read-only, clocks that jump, doit's database in any state. Each is one clear line or a right run; nothing is lost."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.crashes import findings
from tests.project import Project, Told, finish, item, kill, make_project, wait_until
from tests.tiers import soak

ITEMS = 3
# `-c` lets a process stand on another clock, or lose its patience sooner; then it is the command itself.
SHIFTED = "import time; real = time.time; time.time = lambda: real() + {shift}; "
HASTY = "import thumbforge.store.database as database; database.BUSY_S = {busy}; "
DIES_IN_A_COPY = (
    "import os, thumbforge.durable as durable, thumbforge.making.export as export; real = durable.write_durably; "
    "copied = lambda *a: (real(*a), os.kill(os.getpid(), 9)); "
    "replace = export.replace_durably; "
    "export.replace_durably = lambda *a: (setattr(durable, 'write_durably', copied), replace(*a)); "
)
COMMAND = "import sys; from thumbforge.commands.main import main; sys.exit(main(sys.argv[1:]))"
_BOUNDING_SET_DROP, _OVERRIDES = 24, (1, 2)  # prctl(2); CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, see capabilities(7)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("made") / "project", ITEMS)
    assert project.batch().code == 0
    return project


@pytest.fixture
def project(made: Project, tmp_path: Path) -> Project:
    """Everything is made; to do with as one likes. No call is in its log."""
    return made.copy(tmp_path / "project")


@pytest.fixture
def grown(project: Project) -> Project:
    """One item more than is made."""
    project.playlist([*project.items(), item(ITEMS + 1)])
    return project


def run(project: Project, *words: str, before: str = "", prepare: Callable[[], None] | None = None) -> Told:
    """The command line in a process of its own, which `prepare` or the Python code `before` puts on bad ground."""
    return finish(
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", before + COMMAND, *words],
            cwd=project.root, env=project.environment(), text=True, encoding="utf-8", preexec_fn=prepare,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
    )  # fmt: skip


def obeys_permissions() -> None:
    """Also root: without these capabilities its own read-only files are read-only to it."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None)
        for capability in _OVERRIDES:
            libc.prctl(_BOUNDING_SET_DROP, capability, 0, 0, 0)


def check_one_line(told: Told, code: int, *words: str) -> None:
    """An error as every command tells it: `code: message`, a hint, no traceback."""
    text = told.out + told.err
    assert "Traceback" not in text
    assert "this is a bug" not in text
    assert told.code == code, (told.out, told.err)
    assert all(word in text for word in words), text


def ledger(project: Project) -> Path:
    return project.home / "ledger.sqlite3"


# The ledger is somebody else's


@pytest.fixture
def locked(grown: Project) -> Iterator[sqlite3.Connection]:
    """Another program holds the write lock of the ledger."""
    with closing(sqlite3.connect(ledger(grown), isolation_level=None, check_same_thread=False)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield connection


def test_a_ledger_that_stays_locked(grown: Project, locked: sqlite3.Connection) -> None:
    """Exit 1 after the wait, with nothing called; once it is free the same command makes the item."""
    check_one_line(run(grown, "batch", "series=show", before=HASTY.format(busy=0.3)), 1, "stayed locked", "hint:")
    assert grown.calls == 0
    locked.execute("ROLLBACK")
    assert grown.batch().code == 0
    assert (grown.calls, len(grown.out())) == (1, ITEMS + 1)


@pytest.mark.parametrize(
    "words",
    [("batch", "series=show"), ("batch", "series=show", "--dry-run"), ("runs", "list"), ("audit",), ("list", "--all")],
    ids=" ".join,
)
def test_another_user_of_the_project(project: Project, words: tuple[str, ...]) -> None:
    """The folder of the ledger is private: one line that names it."""
    project.home.chmod(0)
    told = run(project, *words, prepare=obeys_permissions)
    project.home.chmod(0o700)
    check_one_line(told, told.code, "ledger_failed: .thumbforge/ledger.sqlite3: Permission denied", "another user")
    assert told.code == 1


HOLDS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="this system lists no file locks")
def test_who_holds_the_ledger_is_named(grown: Project) -> None:
    """By its process; of one that is stopped, how it is woken. Nobody can take the lock from it."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(ledger(grown))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    hasty = HASTY.format(busy=0.3)
    check_one_line(run(grown, "batch", "series=show", before=hasty), 1, f"by process {holder.pid}")
    holder.send_signal(signal.SIGSTOP)
    wait_until(lambda: Path(f"/proc/{holder.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    told = run(grown, "batch", "series=show", before=hasty)
    check_one_line(told, 1, "which is stopped", f"kill -CONT {holder.pid}")
    holder.send_signal(signal.SIGCONT)
    holder.communicate("")
    assert (grown.batch().code, grown.calls) == (0, 1)


def test_a_ledger_that_is_locked_for_a_while(grown: Project, locked: sqlite3.Connection) -> None:
    """A batch waits for it and is completed."""
    process = grown.start("batch", "series=show", anew=True)
    wait_until(lambda: waits_for(process, ledger(grown)))
    locked.execute("ROLLBACK")
    assert finish(process).code == 0
    assert len(grown.out()) == ITEMS + 1


def waits_for(process: subprocess.Popen[str], path: Path) -> bool:
    """Whether the process has the file open for writing."""
    return any(os.path.realpath(link) == str(path.resolve()) for link in Path(f"/proc/{process.pid}/fd").iterdir())


def test_a_locked_ledger_can_be_read(grown: Project, locked: sqlite3.Connection) -> None:
    """Looking takes no lock."""
    told = grown.run("runs", "list", "--json")
    assert (told.code, len(told.document["runs"])) == (0, 2)


# The ledger is not what it should be


@pytest.mark.parametrize(
    "words", [("batch", "series=show"), ("runs", "list"), ("audit",), ("list", "--all")], ids=" ".join
)
@pytest.mark.parametrize("content", [b"", b"no database " * 400, b"SQLite format 3\x00" + b"\xff" * 5000])
def test_a_file_that_is_no_ledger(project: Project, words: tuple[str, ...], content: bytes) -> None:
    """An empty file is a ledger that is still to be made (a process may have died between the two); anything else is
    told and left as it is."""
    for name in ("ledger.sqlite3-wal", "ledger.sqlite3-shm"):
        (project.home / name).unlink(missing_ok=True)
    ledger(project).write_bytes(content)
    told = project.run(*words)
    if not content:
        assert told.code == 0, (told.out, told.err)
        return
    check_one_line(told, 1, "ledger", "put", "back from a backup")
    assert ledger(project).read_bytes() == content


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.99])
def test_a_ledger_that_is_cut(grown: Project, keep: float) -> None:
    """Told as damaged, or not noticed because what is needed is there; never a traceback, and no picture is lost."""
    data = ledger(grown).read_bytes()
    ledger(grown).write_bytes(data[: int(len(data) * keep)])
    pictures = sorted(path.name for path in (grown.home / "assets").rglob("*.jpg"))
    told = grown.batch()
    assert told.code in {0, 1}
    assert "Traceback" not in told.out + told.err
    assert "this is a bug" not in told.err
    if told.code:
        check_one_line(told, 1, "is damaged", "backup")
        assert grown.calls == 0
    assert set(pictures) <= {path.name for path in (grown.home / "assets").rglob("*.jpg")}


@pytest.mark.parametrize(
    "words", [("batch", "series=show"), ("runs", "list"), ("audit",), ("repair",), ("list", "--all")], ids=" ".join
)
def test_a_ledger_from_the_future(project: Project, words: tuple[str, ...]) -> None:
    """Refused by readers and writers, untouched; the hint says to upgrade."""
    with closing(sqlite3.connect(ledger(project))) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = ledger(project).read_bytes()
    check_one_line(project.run(*words), 1, "has schema 99", "upgrade thumbforge")
    assert ledger(project).read_bytes() == before


def test_a_foreign_write_ahead_log(grown: Project) -> None:
    """Frames that are not of this database are not taken into it."""
    (grown.home / "ledger.sqlite3-wal").write_bytes(b"\x37\x7f\x06\x82" + b"noise" * 4000)
    told = grown.batch()
    assert told.code == 0, told.err
    assert (grown.calls, findings(grown.root)) == (1, [])


# The disk


@pytest.fixture
def read_only() -> Iterator[Callable[[Path], None]]:
    """Takes the right to write from a file, or from a directory with all that is in it."""
    changed: list[tuple[Path, int]] = []

    def close(path: Path) -> None:
        for each in [*(sorted(path.rglob("*")) if path.is_dir() else []), path]:
            changed.append((each, each.stat().st_mode))
            each.chmod(0o500 if each.is_dir() else 0o400)

    yield close
    for path, mode in reversed(changed):
        path.chmod(mode)


@pytest.mark.parametrize(
    "place",
    [
        "",
        "staging",
        "../out",
        *soak("ledger.sqlite3", "assets", "keys"),
    ],
)
def test_a_place_that_is_read_only(grown: Project, read_only: Callable[[Path], None], place: str) -> None:
    """Exit 1 and one line, with what was finished left in place; when it can be written again the batch goes on, and
    what was paid and staged is not paid again. (As root, the tool runs without its power over permissions.)"""
    folder = (grown.home / place).resolve()
    folder.mkdir(exist_ok=True) if "." not in folder.name else None
    read_only(folder)
    before = sorted(grown.out())
    told = run(grown, "batch", "series=show", prepare=obeys_permissions)
    check_one_line(told, 1, "hint:" if place in {"", "ledger.sqlite3"} else "could not be written")
    assert grown.out() == before
    for path in [folder, *(p for p in folder.rglob("*") if p.is_dir())] if folder.is_dir() else [folder]:
        path.chmod(0o700)
    assert grown.batch().code == 0
    assert (len(grown.out()), findings(grown.root)) == (ITEMS + 1, [])
    assert grown.calls <= (2 if place == "staging" else 1)


def test_looking_at_a_read_only_project(project: Project, read_only: Callable[[Path], None]) -> None:
    """What only reads needs no right to write, and a batch that has nothing to do is done."""
    read_only(project.home)
    for words in (
        ("list", "--all", "-s"),
        ("runs", "list"),
        ("batch", "series=show"),
        ("batch", "series=show", "--dry-run"),
    ):
        told = run(project, *words, prepare=obeys_permissions)
        assert told.code == 0, (words, told.err)


@pytest.mark.parametrize("kilobytes", [*soak(20), 60, *soak(110), 300])
def test_a_disk_that_is_full(tmp_path: Path, kilobytes: int) -> None:
    """No file can grow above a size, which at some step is what a full disk is: exit 1 and one line; then, with room,
    everything is made, and only answers that could not be kept are asked for again."""
    project = make_project(tmp_path / "project", ITEMS)
    limit = kilobytes * 1000
    told = run(
        project, "batch", "series=show", prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    assert "Traceback" not in told.out + told.err
    assert "this is a bug" not in told.out + told.err
    assert told.code in {0, 1}, (told.out, told.err)
    if told.code:
        assert any(word in told.out + told.err for word in ("cannot be written", "could not be written")), told
    kept = {row["id"] for row in rows_of(project, "SELECT id FROM iteration WHERE status = 'completed'")}
    calls = project.calls
    assert project.batch().code == 0
    assert kept <= {row["id"] for row in project.query("SELECT id FROM iteration WHERE status = 'completed'")}
    assert (len(project.out()), findings(project.root)) == (ITEMS, [])
    assert project.calls - calls <= ITEMS


@pytest.mark.parametrize("words", [("run",), ("batch", "series=show")], ids=["plain doit", "batch"])
@pytest.mark.parametrize("side", ["before", "after"])
def test_a_disk_that_fails_at_the_very_end(grown: Project, words: tuple[str, ...], side: str) -> None:
    """Everything is made and only the run cannot be closed: one line, exit 1, and the next command finds all done."""
    failing = grown.with_environment(THUMBFORGE_FAULT=f"run.close.{side}:enospc:2")
    check_one_line(failing.run(*words), 1, "No space left on device")
    assert grown.run(*words).code == 0
    assert (grown.calls, len(grown.out())) == (1, ITEMS + 1)


def test_a_copy_that_was_cut_short_is_no_file_of_the_series(grown: Project) -> None:
    """Killed while a final was copied to out/: the next batch leaves only whole pictures there."""
    assert run(grown, "batch", "series=show", before=DIES_IN_A_COPY).code == -9
    assert grown.batch().code == 0
    beside = ("sheet.", "manifest.json")
    names = sorted(path.name for path in (grown.root / "out/show").iterdir() if not path.name.startswith(beside))
    assert names == [f"{n:02d}-video-{n:05d}.jpg" for n in range(1, ITEMS + 2)]


def test_a_disk_that_fails_when_all_is_made_tells_how_to_go_on(grown: Project) -> None:
    """Nothing is stuck: the same command again, or resume, puts the last row right."""
    told = grown.with_environment(THUMBFORGE_FAULT="export.row.after:enospc").batch()
    check_one_line(told, 1, "No space left on device", "Go on with")
    assert grown.batch().code == 0


def rows_of(project: Project, sql: str) -> list[sqlite3.Row]:
    try:
        return project.query(sql)
    except sqlite3.DatabaseError:
        return []


# doit's own database


def spoil(path: Path, how: str) -> None:
    if how == "deleted":
        path.unlink()
    elif how == "truncated":
        path.write_bytes(path.read_bytes()[:1000])
    elif how == "garbage":
        path.write_bytes(b"no database " * 400)
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "a directory":
        path.unlink()
        path.mkdir()
    elif how == "of other tasks":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE doit SET task_id = 'x' || task_id")
    else:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE doit SET task_data = '{\"deps:\": []}'")


@pytest.mark.parametrize(
    "how",
    [
        *soak("deleted", "truncated", "garbage", "empty"),
        *("a directory", "of other tasks", "of other content"),
    ],
)
def test_doits_database_in_any_state(project: Project, how: str) -> None:
    """It is a cache: whatever became of it, everything is still up to date, and no call is made."""
    spoil(project.root / ".doit.db", how)
    assert set(project.statuses().values()) <= {"U", "R"}
    told = project.run("run")
    assert told.code == 0, told.err
    assert project.batch().code == 0
    assert (project.calls, len(project.out())) == (0, ITEMS)


def test_a_stale_database_of_doit(project: Project) -> None:
    """One from before the last batch neither hides what is to do nor makes anything again."""
    old = (project.root / ".doit.db").read_bytes()
    project.playlist([*project.items(), item(ITEMS + 1)])
    assert project.batch().code == 0
    (project.root / ".doit.db").write_bytes(old)
    assert set(project.statuses().values()) == {"U"}
    assert project.run("run").code == 0
    assert project.calls == 1


# The clock


@pytest.mark.parametrize(
    "shift",
    [
        pytest.param(-86_400, id="a day back"),
        pytest.param(86_400, id="a day on", marks=pytest.mark.soak),
        pytest.param(315_360_000, id="ten years on", marks=pytest.mark.soak),
    ],
)
def test_a_clock_that_jumped_between_two_runs(grown: Project, shift: int) -> None:
    """A run that was killed is taken up by one that believes in another time: no lease holds it off, nothing is paid
    twice, and times are not what decides."""
    slow = grown
    slow.profile("slow", params={"delay_ms": 200}, max_concurrency=2)
    slow.series(provider="slow")
    process = slow.start("batch", "series=show")
    wait_until(lambda: slow.calls >= 3)
    kill(process)
    run_id = slow.query("SELECT id FROM run WHERE status = 'running'")[0]["id"]
    told = run(slow, "runs", "resume", run_id, before=SHIFTED.format(shift=shift))
    assert told.code == 0, (told.out, told.err)
    assert slow.calls <= ITEMS + 1 + 2
    assert (len(slow.out()), findings(slow.root)) == (ITEMS + 1, [])
    assert slow.batch().out.startswith("Nothing to do")


def test_a_clock_that_went_back_makes_no_time_negative(grown: Project) -> None:
    """What a run took is at least nothing."""
    told = run(grown, "batch", "series=show", before="import itertools, time; count = itertools.count(2e9, -50); "
               "time.time = lambda: next(count); ")  # fmt: skip
    assert told.code == 0, told.err
    run_id = grown.query("SELECT id FROM run WHERE kind = 'batch' ORDER BY rowid DESC LIMIT 1")[0]["id"]
    assert grown.shown("runs", "cost", run_id)["cost"]["seconds"] >= 0


@pytest.mark.parametrize("shift", [-86_400, 86_400])
def test_repair_under_another_clock(grown: Project, shift: int) -> None:
    """Whatever the time, a file that a row needs stays."""
    before = sorted(path.name for path in (grown.home / "assets").rglob("*.*"))
    told = run(grown, "repair", "--apply", before=SHIFTED.format(shift=shift))
    assert told.code == 0, told.err
    assert sorted(path.name for path in (grown.home / "assets").rglob("*.*")) == before
    assert findings(grown.root) == []
