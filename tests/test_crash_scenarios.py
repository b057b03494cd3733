"""Stopped at the steps that a plain batch does not come by: resume, sweep, failure, interrupt, heartbeat, cancel,
delete, audit, repair, prune, heroes. Each with what has to be there before, and with what has to hold afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.crashes import Dump, Site, findings, judge, judge_calls, judge_words
from tests.project import wait_until
from tests.tiers import soak
from thumbforge.specs.locks import read_lock

SCENARIO_STEPS = (
    "run.claim", "sweep", "attempt.fail", "release", "beat", "run.cancel", "run.delete", "asset.unlink",
    "witness.unlink", "repair.row", "ledger.aside",
    "rebuild.row", "job.result", "hero.pick", "sheet.file", "take.use", "take.lock", "seen.row", "lock.file",
)  # fmt: skip
SIDES = ("before", "after")
# A cancelled run is followed by another one; what the items come to is the same.
OTHER_RUNS = ("runs", "plan")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.make(tmp_path_factory.mktemp("fresh") / "site", 2)


@pytest.fixture(scope="module")
def done(fresh: Site) -> Site:
    """The same with everything made. To be copied."""
    site = fresh.copy(fresh.root.with_name("done"))
    assert site.batch().returncode == 0
    return site


@pytest.fixture(scope="module")
def model(done: Site) -> Dump:
    return done.dump()


@pytest.fixture(scope="module")
def cut(fresh: Site) -> Site:
    """The same, killed when the first answer was staged. To be copied."""
    site = fresh.copy(fresh.root.with_name("cut"))
    assert site.batch("-n", "1", THUMBFORGE_FAULT="staged.after:kill").returncode == -9
    return site


def run_of(site: Site, kind: str = "batch") -> str:
    return str(site.query(f"SELECT id FROM run WHERE kind = '{kind}' ORDER BY created_at DESC LIMIT 1")[0][0])


def killed(told: subprocess.CompletedProcess[str]) -> None:
    assert told.returncode == -9, (told.stdout, told.stderr)


def check_all_made(site: Site, model: Dump, without: tuple[str, ...] = ()) -> None:
    cut = site.cut_calls()
    done = site.go_on()
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert judge(site, model, without) + judge_calls(site, 2, cut) + judge_words(done) == []


@pytest.mark.parametrize("mode", ["kill", *soak("enospc")])
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("step", ["run.claim", "sweep"])
def test_stopped_while_a_run_is_taken_up(
    tmp_path: Path, cut: Site, model: Dump, step: str, side: str, mode: str
) -> None:
    """Marking the dead run and claiming it are both redone or found done."""
    site = cut.copy(tmp_path / "site")
    told = site.go_on_with(f"{step}.{side}:{mode}")
    assert told.returncode == (-9 if mode == "kill" else 1), (told.stdout, told.stderr)
    assert judge_words(told) == []
    check_all_made(site, model)


@pytest.mark.parametrize("side", SIDES)
def test_stopped_while_what_was_read_is_remembered(tmp_path: Path, done: Site, model: Dump, side: str) -> None:
    """A copied project is read once: cut short there, it is read again, or is not, and nothing else is to be done."""
    site = done.copy(tmp_path / "site")
    killed(site.batch(THUMBFORGE_FAULT=f"seen.row.{side}:kill"))
    told = site.batch()
    assert told.stdout.startswith("Nothing to do")
    assert judge(site, model) + judge_words(told) == []
    assert site.calls() == done.calls()


@pytest.mark.parametrize("side", SIDES)
def test_stopped_while_a_failure_is_recorded(tmp_path: Path, side: str) -> None:
    """The item that fails is tried again or stands as failed; the other one is made, and nothing is charged twice."""
    site = Site.make(tmp_path / "site", 2, failing=1)
    killed(site.batch("-n", "1", THUMBFORGE_FAULT=f"attempt.fail.{side}:kill"))
    told = site.go_on()
    assert (told.returncode, judge_words(told)) == (6, [])
    assert site.query("SELECT item_key, status FROM iteration WHERE item_key LIKE 'video%' ORDER BY 1") == [
        ("video:crash000001:1", "failed"),
        ("video:crash000002:1", "completed"),
    ]
    outcomes = site.query("SELECT outcome FROM attempt JOIN iteration ON iteration.id = iteration_id"
                          " WHERE item_key = 'video:crash000001:1' ORDER BY n")  # fmt: skip
    assert outcomes == [("lost" if side == "before" else "permanent",), ("permanent",)]


@pytest.mark.parametrize("side", SIDES)
def test_stopped_while_an_interrupt_is_recorded(tmp_path: Path, model: Dump, side: str) -> None:
    """Ctrl-C, then killed while an item that waits for its slot is given back: it was never begun."""
    site = Site.make(tmp_path / "site", 2, delay_ms=700, at_once=1)
    process = site.start("batch", "series=c", "-n", "2", THUMBFORGE_FAULT=f"release.{side}:kill")
    wait_until(lambda: site.calls()[0] == 1 and len(site.query("SELECT 1 FROM attempt WHERE closed_at IS NULL")) == 2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == -9
    told = site.go_on()
    assert (told.returncode, judge_words(told)) == (0, [])
    assert site.calls()[0] <= 3
    assert site.query("SELECT status FROM iteration WHERE status <> 'completed'") == []
    assert site.query("SELECT id FROM attempt WHERE closed_at IS NULL") == site.query("SELECT name FROM lease") == []


@pytest.mark.parametrize("mode", ["eio", *soak("kill")])
@pytest.mark.parametrize("side", SIDES)
def test_stopped_in_a_heartbeat(tmp_path: Path, side: str, mode: str) -> None:
    """Killed there, the next run goes on; a beat that only fails stops nothing: the batch is completed, exit 0."""
    site = Site.make(tmp_path / "site", 2, delay_ms=300)
    told = site.batch(THUMBFORGE_FAULT=f"beat.{side}:{mode}", THUMBFORGE_LEASE__BEAT_S="0.05")
    assert told.returncode == (-9 if mode == "kill" else 0), (told.stdout, told.stderr)
    cut = site.cut_calls()
    done = site.go_on()
    assert (done.returncode, judge_words(told, done)) == (0, [])
    assert judge_calls(site, 2, cut) == []
    assert site.query("SELECT status, count(*) FROM iteration GROUP BY 1") == [("completed", 3)]


@pytest.mark.parametrize("side", SIDES)
def test_stopped_in_a_cancel(tmp_path: Path, cut: Site, model: Dump, side: str) -> None:
    """The run is cancelled or it is not; the same command again ends with it cancelled, and a new batch makes all
    with the answer that was paid for."""
    site = cut.copy(tmp_path / "site")
    run = run_of(site)
    killed(site.doit("runs", "cancel", run, THUMBFORGE_FAULT=f"run.cancel.{side}:kill"))
    status = site.query(f"SELECT status FROM run WHERE id = '{run}'")
    assert status == [("running" if side == "before" else "cancelled",)]
    assert site.doit("runs", "cancel", run).returncode == 0
    assert site.query(f"SELECT status FROM run WHERE id = '{run}'") == [("cancelled",)]
    check_all_made(site, model, OTHER_RUNS)


@pytest.mark.parametrize(
    "fault",
    [
        "run.delete.before",
        "witness.unlink.before",
        "witness.unlink.after:2",
        "run.delete.after",
        "asset.unlink.before:5",
        "asset.unlink.after:6",
    ],
)
def test_stopped_in_a_delete(tmp_path: Path, done: Site, model: Dump, fault: str) -> None:
    """What tells of the pictures goes first, then the rows at once, then the pictures: whatever is left is a file
    without a row, or a row whose manifest is written again, never a row without its picture. Then a new batch makes
    them."""
    site = done.copy(tmp_path / "site")
    run = run_of(site)
    point, _, times = fault.partition(":")
    killed(site.doit("runs", "delete", run, "--assets", THUMBFORGE_FAULT=f"{point}:kill:{times or 1}"))
    there = site.query(f"SELECT count(*) FROM run WHERE id = '{run}'") == [(1,)]
    assert there == (point not in {"run.delete.after", "asset.unlink.before", "asset.unlink.after"})
    if there:
        assert judge(site, model) == []
    told = site.doit("runs", "delete", run, "--assets")
    assert told.returncode == (0 if there else 3), told.stderr
    assert not list((site.root / ".thumbforge/keys").glob("*.json"))
    (site.root / "calls.jsonl").unlink()
    check_all_made(site, model)


def stray(site: Site) -> list[Path]:
    """Files that nothing needs, one of each kind, all old."""
    home = site.root / ".thumbforge"
    names = (
        "assets/ab/" + "ab" * 32 + ".jpg",
        "staging/tmp-0123456789abcdef.jpg",
        "keys/" + "c" * 64 + ".json",
        "staging/dddddddd-dddd-5ddd-8ddd-dddddddddddd",
    )
    for name in names:
        (home / name).parent.mkdir(exist_ok=True)
        (home / name).write_bytes(b"left behind")
        os.utime(home / name, (1e9, 1e9))
    return [home / name for name in names]


@pytest.mark.parametrize(
    "fault", ["repair.row.before", "repair.row.after:2", "asset.unlink.before:2", "asset.unlink.after"]
)
def test_stopped_in_a_repair(tmp_path: Path, done: Site, model: Dump, fault: str) -> None:
    """Some files are gone, some are not; the next repair finds the rest anew. What is needed stays."""
    site = done.copy(tmp_path / "site")
    files = stray(site)
    point, _, times = fault.partition(":")
    killed(site.doit("repair", "--apply", THUMBFORGE_FAULT=f"{point}:kill:{times or 1}"))
    assert any(path.exists() for path in files)
    assert judge(site, model) == []
    told = site.doit("repair", "--apply")
    assert told.returncode == 0, told.stderr
    assert not any(path.exists() for path in files)
    assert judge(site, model) == []
    assert site.batch().stdout.startswith("Nothing to do")


@pytest.mark.parametrize(
    "fault", ["ledger.aside.before", "ledger.aside.after", "rebuild.row.before", "rebuild.row.after"]
)
def test_stopped_in_a_rebuild(tmp_path: Path, done: Site, model: Dump, fault: str) -> None:
    """The damaged ledger is where it was or beside the new one, the rows are written at once; the same command again
    writes what is missing, and the next batch draws all without a call."""
    site = done.copy(tmp_path / "site")
    for path in (site.root / ".thumbforge").glob("ledger.sqlite3*"):
        path.write_bytes(b"not a database")
    killed(site.doit("repair", "--rebuild", "--apply", THUMBFORGE_FAULT=f"{fault}:kill"))
    (site.root / "calls.jsonl").unlink()
    told = site.doit("repair", "--rebuild", "--apply")
    assert (told.returncode, judge_words(told)) == (0, []), told.stderr
    assert site.query("SELECT count(*) FROM attempt WHERE outcome = 'ok'") == [(2,)]
    check_all_made(site, model, ("iterations", "art", *OTHER_RUNS))
    assert site.calls() == (0, 0)


@pytest.mark.parametrize(
    "fault", ["repair.row.before", "witness.unlink.before:2", "witness.unlink.after", "repair.row.after"]
)
def test_stopped_in_a_prune(tmp_path: Path, done: Site, model: Dump, fault: str) -> None:
    """The rows of superseded finals go in one transaction, their files after it."""
    site = done.copy(tmp_path / "site")
    playlist = site.root / "specs/playlists/c.yaml"
    first = playlist.read_text()
    playlist.write_text(first.replace("title: Item", "title: Matter"))
    assert site.batch().returncode == 0
    old = {row[1]: row[2] for row in model["exports"]}
    assert len(old) == 2
    point, _, times = fault.partition(":")
    killed(site.doit("prune", "--keep", "0", "--apply", THUMBFORGE_FAULT=f"{point}:kill:{times or 1}"))
    told = site.doit("prune", "--keep", "0", "--apply")
    assert (told.returncode, judge_words(told)) == (0, [])
    found = site.dump()
    assert len(found["exports"]) == 2
    assert judge(site, found) == []
    assert site.query("SELECT count(*) FROM final WHERE final_key NOT IN (SELECT final_key FROM iteration"
                      " WHERE final_key IS NOT NULL)") == [(0,)]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "side", "mode"),
    [
        (("audit",), "before", "kill"),
        (("audit",), "after", "enospc"),
        (("repair", "--apply"), "before", "enospc"),
        (("repair", "--apply"), "after", "kill"),
    ],
)
def test_stopped_before_a_job_keeps_its_result(
    tmp_path: Path, done: Site, model: Dump, command: tuple[str, ...], side: str, mode: str
) -> None:
    """It starts over: the next one of its kind has the whole result. A disk that failed is told as that."""
    site = done.copy(tmp_path / "site")
    told = site.doit(*command, THUMBFORGE_FAULT=f"job.result.{side}:{mode}")
    assert told.returncode == (-9 if mode == "kill" else 1), (told.stdout, told.stderr)
    assert mode == "kill" or "No space left on device" in told.stderr, told.stderr
    again = site.doit(*command, "--json")
    assert (again.returncode, judge_words(told, again)) == (0, [])
    assert site.query(f"SELECT status, result_json IS NULL FROM run WHERE id = '{run_of(site, command[0])}'") == [
        ("completed", 0)
    ]
    assert judge(site, model) == []


HERO = ("hero", "generate", "crash000001", "--playlist", "c", "--provider", "p", "--count", "2", "-n", "1")
HERO_POINTS = (
    "run.open.before", "run.open.after", "call.after", "staged.after", "art.row.after", "final.row.after",
    "run.close.before",
)  # fmt: skip


@pytest.fixture(scope="module")
def heroes(fresh: Site) -> Site:
    """Two candidates for a hero, none picked. To be copied."""
    site = fresh.copy(fresh.root.with_name("heroes"))
    assert site.doit(*HERO).returncode == 0
    return site


@pytest.mark.parametrize("point", [*HERO_POINTS[::2], *soak(*HERO_POINTS[1::2])])
def test_a_hero_run_that_is_killed_goes_on(tmp_path: Path, fresh: Site, heroes: Site, point: str) -> None:
    """Candidates are made on the same line as a batch's items: `runs resume`, or the same command where no run had
    begun, makes the same two pictures and calls for nothing twice but in the window."""
    site = fresh.copy(tmp_path / "site")
    killed(site.doit(*HERO, THUMBFORGE_FAULT=f"{point}:kill"))
    cut = site.cut_calls()
    rows = site.query("SELECT id FROM run WHERE kind = 'hero' AND status <> 'completed'")
    told = site.doit("runs", "resume", rows[0][0]) if rows else site.doit(*HERO)
    assert (told.returncode, judge_words(told)) == (0, []), (told.stdout, told.stderr)
    assert judge(site, heroes.dump()) + judge_calls(site, 2, cut) == []


@pytest.mark.parametrize("side", SIDES)
def test_stopped_while_a_candidate_is_picked(tmp_path: Path, heroes: Site, side: str) -> None:
    """There is the old pick or the new one, never two."""
    site = heroes.copy(tmp_path / "site")
    run = run_of(site, "hero")
    assert site.doit("hero", "pick", run, "1").returncode == 0
    killed(site.doit("hero", "pick", run, "2", THUMBFORGE_FAULT=f"hero.pick.{side}:kill"))
    picked = site.query(
        "SELECT item_key FROM iteration JOIN run ON picked_iteration_id = iteration.id WHERE kind = 'hero'"
    )
    assert picked == [("ordinal:1" if side == "before" else "ordinal:2",)]


@pytest.mark.parametrize("side", SIDES)
def test_stopped_while_the_contact_sheet_is_written(tmp_path: Path, heroes: Site, side: str) -> None:
    """It is drawn anew whenever it is asked for; the candidates are not touched."""
    site = heroes.copy(tmp_path / "site")
    run = run_of(site, "hero")
    sheets = [path for path in (site.root / ".thumbforge/sheets").rglob("*") if path.is_file()]
    before = [path.read_bytes() for path in sheets]
    killed(site.doit("hero", "show", run, THUMBFORGE_FAULT=f"sheet.file.{side}:kill"))
    assert site.doit("hero", "show", run).returncode == 0
    assert [path.read_bytes() for path in sheets] == before
    assert judge(site, heroes.dump()) == []


@pytest.mark.parametrize("side", SIDES)
def test_stopped_while_another_take_is_used(tmp_path: Path, done: Site, model: Dump, side: str) -> None:
    """The item stands on one take or on the other, and the same command again settles it; neither is paid again."""
    site = done.copy(tmp_path / "site")
    assert site.batch("retake=1", "only=1").returncode == 0
    second = site.dump()
    (site.root / "calls.jsonl").unlink()
    killed(site.doit("takes", "use", "1", "1", "series=c", THUMBFORGE_FAULT=f"take.use.{side}:kill"))
    assert site.doit("takes", "use", "1", "1", "series=c").returncode == 0
    assert site.batch().returncode == 0
    assert (site.dump()["exports"], site.calls()) == (model["exports"], (0, 0))
    assert site.dump()["exports"] != second["exports"]
    assert judge(site, site.dump()) == []


@pytest.mark.parametrize("side", SIDES)
def test_stopped_while_a_picture_is_locked(tmp_path: Path, done: Site, model: Dump, side: str) -> None:
    """It is locked or it is not; nothing else changes."""
    site = done.copy(tmp_path / "site")
    killed(site.doit("takes", "lock", "1", "series=c", THUMBFORGE_FAULT=f"take.lock.{side}:kill"))
    assert site.query("SELECT locked FROM export ORDER BY item_key") == [(int(side == "after"),), (0,)]
    assert judge(site, model) == []


LOCK = "specs/locks/c.yaml"
RETITLED = "specs/playlists/c.yaml"


def lock_of(site: Site) -> str | None:
    """What it holds, read as whoever reads it does; None where there is none."""
    path = site.root / LOCK
    if not path.exists():
        return None
    text = path.read_text()
    assert len(read_lock(text, LOCK, "c").entries) == 2
    return text


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("words", ["batch series=c", "run", "takes lock 1 series=c", "takes use 1 1 series=c"])
def test_stopped_while_the_lock_file_is_written(tmp_path: Path, done: Site, words: str, side: str) -> None:
    """By whatever writes it: the old one is there or the new one, never half, nothing is left beside it, and the next
    batch has it right without a call. With no lock before, there is none or a whole one."""
    site = done.copy(tmp_path / "site")
    old = lock_of(site)
    if "takes" not in words:
        list_of = site.root / RETITLED
        list_of.write_text(list_of.read_text().replace("Item 1", "Another"))
    elif "use" in words:
        assert site.batch("only=1", "retake=yes").returncode == 0
        old = lock_of(site)
    killed(site.doit(*words.split(), THUMBFORGE_FAULT=f"lock.file.{side}:kill"))
    found = lock_of(site)
    assert (found == old) is (side == "before")
    assert [path.name for path in (site.root / "specs/locks").iterdir()] == ["c.yaml"]
    calls = site.calls()
    told = site.doit(*words.split())
    assert (told.returncode, judge_words(told)) == (0, []), told.stderr
    assert lock_of(site) != old
    assert side == "before" or lock_of(site) == found
    (site.root / LOCK).unlink()
    assert site.doit("batch", "series=c", THUMBFORGE_FAULT=f"lock.file.{side}:kill").returncode == -9
    assert (lock_of(site) is None) is (side == "before")
    assert site.batch().stdout.startswith("Nothing to do")
    assert lock_of(site) is not None
    assert (findings(site.root), site.calls()) == ([], calls)


@pytest.mark.parametrize("mode", ["enospc", "eio"])
def test_a_lock_file_that_the_disk_refuses_fails_no_picture(tmp_path: Path, fresh: Site, mode: str) -> None:
    """It is told in one line; the next batch writes it."""
    site = fresh.copy(tmp_path / "site")
    told = site.batch(THUMBFORGE_FAULT=f"lock.file.before:{mode}")
    assert (told.returncode, judge_words(told)) == (0, [])
    assert "the lock file was not written" in told.stderr
    assert lock_of(site) is None
    assert site.batch().stdout.startswith("Nothing to do")
    assert lock_of(site) is not None
