"""A shared store behind the local one: asked before a call is paid, told after, and never a condition."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command_line import Told
from tests.project import Project, finish, item, make_project, wait_until
from tests.recorded_server import Play, RecordedServer, Seen, answer, painted, stalled
from tests.stubs.batch_kit import over
from tests.stubs.s3_kit import BUCKET, KEYS, S3, said
from thumbforge import ids

ITEMS = 4
WRITE = {"THUMBFORGE_STORE__MODE": "write"}


def pictures(project: Project) -> dict[str, bytes]:
    return {name: (project.root / "out/show" / name).read_bytes() for name in project.out()}


def lock_of(project: Project) -> str:
    return (project.root / "specs/locks/show.yaml").read_text()


def shared(root: Path) -> set[str]:
    """Names of all that lies in a shared folder."""
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.fixture
def ours(tmp_path: Path, there: Path) -> Project:
    """The machine that writes."""
    return make_project(tmp_path / "ours", ITEMS, THUMBFORGE_STORE__REMOTE=str(there), **WRITE)


def clone(of: Project, root: Path, **extra: str) -> Project:
    """Another machine: what git has, and nothing of `.thumbforge`."""
    shutil.copytree(of.root, root, ignore=shutil.ignore_patterns(".thumbforge", "out", ".doit.db*", "__pycache__"))
    return Project(root, {**of.extra, **extra})


def test_a_team_pays_once(ours: Project, there: Path, tmp_path: Path) -> None:
    """One machine paints and shares; a fresh clone has the same files byte for byte without a call, as the lock has
    them and as the specs have them."""
    assert ours.batch().code == 0
    assert ours.calls == ITEMS
    assert ours.count("outbox") == 0
    assert len([n for n in shared(there) if n.startswith("keys/art/")]) == ITEMS
    theirs = clone(ours, tmp_path / "theirs", THUMBFORGE_STORE__MODE="read")
    plan = theirs.shown("batch", "series=show", "--dry-run")["summary"]
    assert (plan["refinish"], plan["create"]) == (ITEMS, 0)
    assert not theirs.home.exists()
    told = theirs.batch("--locked")
    assert (told.code, theirs.calls) == (0, 0), told.err
    assert pictures(theirs) == pictures(ours)
    plain = clone(ours, tmp_path / "plain", THUMBFORGE_STORE__MODE="read")
    told = plain.batch("max_images=0")
    assert (told.code, plain.calls) == (0, 0), told.err
    assert f"{ITEMS} pictures from the shared store" in told.err
    assert pictures(plain) == pictures(ours)
    assert plain.count("outbox") == 0
    told = theirs.batch()
    assert (told.code, theirs.calls) == (0, 0), told.err
    assert theirs.run("audit").code == 0


def test_what_is_lost_here_comes_back(ours: Project) -> None:
    """Pictures that are gone, or damaged and taken away by `repair`, are fetched and not paid for again."""
    assert ours.batch().code == 0
    before = pictures(ours)
    shutil.rmtree(ours.home / "assets")
    assert (ours.batch().code, ours.calls) == (0, ITEMS)
    for path in ours.home.glob("assets/*/*"):
        path.write_bytes(b"damaged")
    assert ours.run("repair", "--damaged", "--apply").code == 0
    told = ours.batch()
    assert (told.code, ours.calls) == (0, ITEMS), told.err
    assert pictures(ours) == before
    assert ours.run("audit").code == 0


def test_plain_doit_asks_as_well(ours: Project, tmp_path: Path) -> None:
    assert ours.doit().code == 0
    theirs = clone(ours, tmp_path / "theirs")
    told = theirs.doit()
    assert (told.code, theirs.calls) == (0, 0), told.err
    assert pictures(theirs) == pictures(ours)


def test_without_the_shared_store_the_work_goes_on(ours: Project, there: Path, tmp_path: Path) -> None:
    """It is away: said once, all is made, and what is missing there is sent by the next command."""
    there.rmdir()
    told = ours.batch()
    assert (told.code, ours.calls) == (0, ITEMS)
    assert told.err.count("without the shared store") == 1
    assert "there is no folder" in told.err
    assert ours.count("outbox") == 2 * ITEMS
    assert f"{2 * ITEMS} pictures wait for the shared store" in ours.run("status").out
    there.mkdir()
    told = ours.batch()
    assert (told.code, ours.calls, ours.count("outbox")) == (0, ITEMS, 0), told.err
    theirs = clone(ours, tmp_path / "theirs")
    assert (theirs.batch().code, theirs.calls) == (0, 0)


class Painter:
    """A service that draws another picture each time; `before` is done in the middle of a call."""

    def __init__(self) -> None:
        self.calls = 0
        self.before: Callable[[], object] = lambda: None

    def __call__(self, seen: Seen) -> Play:
        self.calls += 1
        data = painted(self.calls)
        self.before()
        return answer({"data": [{"b64_json": base64.b64encode(data).decode()}], "usage": {"total_tokens": 100}})


@pytest.fixture
def painter() -> Painter:
    return Painter()


@pytest.fixture
def paying(tmp_path: Path, there: Path, painter: Painter) -> Iterator[Project]:
    """One item at 0.04 USD a call."""
    with RecordedServer(painter) as server:
        project = over(tmp_path, server, "openai", 1)
        yield project.with_environment(THUMBFORGE_STORE__REMOTE=str(there), **WRITE)


def at_once(first: Project, second: Project, painter: Painter) -> Told:
    """`first` paints and shares while a call of `second` is under way; what `second` says."""

    def meanwhile() -> None:
        painter.before = lambda: None
        assert finish(first.start("batch", "series=show")).code == 0

    painter.before = meanwhile
    return second.batch()


def test_the_picture_that_was_there_first_is_used_by_both(paying: Project, tmp_path: Path, painter: Painter) -> None:
    """Two machines call at the same time: the first to share is used by both; the other picture is kept as a take, here
    and there, and told with its price."""
    theirs = clone(paying, tmp_path / "theirs")
    told = at_once(paying, theirs, painter)
    assert (told.code, painter.calls) == (0, 2), told.err
    assert "yours is kept as take 2" in told.err
    assert "0.04 USD" in told.err
    assert pictures(theirs) == pictures(paying)
    assert lock_of(theirs) == lock_of(paying)
    found = theirs.shown("takes", "list", "1", "series=show")["takes"]
    assert [(take["take"], take["in_use"], take["cost"]) for take in found] == [(1, True, None), (2, False, "0.04")]
    for project in (theirs, paying):
        told = project.batch()
        assert (told.code, painter.calls) == (0, 2), told.err
        assert project.run("audit").code == 0
    third = clone(paying, tmp_path / "third")
    told = third.batch("retake=yes")
    assert (told.code, painter.calls) == (0, 2), told.err


@pytest.mark.soak
def test_two_machines_in_step_end_with_the_same(paying: Project, tmp_path: Path, painter: Painter) -> None:
    """Both begin at the same moment: whoever was first for an item is used by both, and no item is paid for more than
    once by one of them."""
    paying.playlist([item(n) for n in range(1, 4)])
    theirs = clone(paying, tmp_path / "theirs")
    for process in [project.start("batch", "series=show", anew=True) for project in (paying, theirs)]:
        assert finish(process).code == 0
    for project in (paying, theirs):
        rows = project.query("SELECT sum(calls) AS calls FROM attempt GROUP BY iteration_id")
        assert max(row["calls"] for row in rows) <= 1
        assert (project.batch().code, project.count("outbox"), project.run("audit").code) == (0, 0, 0)
    assert pictures(theirs) == pictures(paying)
    assert lock_of(theirs) == lock_of(paying)
    assert 3 <= painter.calls <= 6


def test_what_was_painted_without_the_network_stays_in_use(
    paying: Project, there: Path, tmp_path: Path, painter: Painter
) -> None:
    """It is in the lock by the time that the shared store is back: there it becomes a further take."""
    theirs = clone(paying, tmp_path / "theirs", THUMBFORGE_STORE__REMOTE=str(tmp_path / "away"))
    assert paying.batch().code == 0
    assert theirs.batch().code == 0
    back = theirs.with_environment(THUMBFORGE_STORE__REMOTE=str(there))
    before = pictures(back)
    told = back.batch()
    assert (told.code, painter.calls, back.count("outbox")) == (0, 2, 0), told.err
    assert "yours is shared as take 2" in told.err
    assert pictures(back) == before != pictures(paying)
    assert len([name for name in shared(there) if name.startswith("keys/art/")]) == 2


def test_who_only_reads_writes_nothing_there(paying: Project, there: Path) -> None:
    """A clone's file may name a place: what is made goes nowhere until the environment says so."""
    for mode in ("read", "off"):
        project = paying.with_environment(THUMBFORGE_STORE__MODE=mode)
        assert project.batch("retake=yes").code == 0
        assert (project.count("outbox"), shared(there)) == (0, set())


def other_bytes(art: Path, record: Path) -> None:
    art.write_bytes(art.read_bytes()[:-1] + b"x")


def no_picture(art: Path, record: Path) -> None:
    art.unlink()


def no_json(art: Path, record: Path) -> None:
    record.write_text("{")


def too_long(art: Path, record: Path) -> None:
    record.write_bytes(b" " * 2_000_000)


def a_folder(art: Path, record: Path) -> None:
    record.unlink()
    record.mkdir()


def a_pipe(art: Path, record: Path) -> None:
    record.unlink()
    os.mkfifo(record)


POISON = {
    other_bytes: "holds other bytes than its name says",
    no_picture: "names a picture that is not there",
    no_json: "cannot be read",
    too_long: "has more than the 1,000,000 bytes",
    a_folder: "asset_damaged",
    a_pipe: "asset_damaged",
}


@pytest.mark.parametrize("spoil", POISON)
def test_what_is_not_what_its_name_says_is_not_used(
    ours: Project, there: Path, tmp_path: Path, spoil: Callable[[Path, Path], None]
) -> None:
    """It is painted here instead, and that is said."""
    assert ours.batch("only=1").code == 0
    [record] = there.glob("keys/art/*.json")
    [art] = there.glob(f"assets/*/{json.loads(record.read_text())['sha256']}.*")
    spoil(art, record)
    theirs = clone(ours, tmp_path / "theirs")
    said = theirs.batch("only=1")
    assert (said.code, theirs.calls) == (0, 1), said.err
    assert POISON[spoil] in said.err
    assert pictures(theirs) == pictures(ours)


def test_shared_art_passes_the_checks_of_any_answer(ours: Project, there: Path, tmp_path: Path) -> None:
    """A record may name whatever it likes: what is no picture of about the right shape is not used."""
    assert ours.batch("only=1").code == 0
    [record] = there.glob("keys/art/*.json")
    content = json.loads(record.read_text())
    data = b"no picture at all"
    sha256 = ids.sha256_hex(data)
    (there / f"assets/{sha256[:2]}").mkdir(exist_ok=True)
    (there / f"assets/{sha256[:2]}/{sha256}{content['suffix']}").write_bytes(data)
    record.write_text(json.dumps({**content, "sha256": sha256}))
    theirs = clone(ours, tmp_path / "theirs")
    shutil.rmtree(theirs.root / "specs/locks")
    told = theirs.batch("only=1")
    assert (told.code, theirs.calls) == (0, 1), told.err
    assert "picture_unusable" in told.err
    again = theirs.batch("only=1")
    assert (again.code, theirs.calls, theirs.count("outbox")) == (0, 1, 0), again.err


@pytest.fixture
def s3() -> Iterator[tuple[S3, dict[str, str]]]:
    """A bucket, and the environment that leads to it."""
    pytest.importorskip("obstore")
    bucket = S3()
    with RecordedServer(bucket) as server:
        own = {**KEYS, "AWS_ENDPOINT_URL": server.url, "THUMBFORGE_STORE__REMOTE": f"s3://{BUCKET}/team"}
        yield bucket, {**own, "THUMBFORGE_STORE__TIMEOUT_S": "0.3", **WRITE}


FAULTS = {
    "500": lambda seen: said(500, "InternalError"),
    "silence": lambda seen: stalled(),
    "no bucket": lambda seen: said(404, "NoSuchBucket"),
    "expired": lambda seen: said(400, "ExpiredToken"),
    "puts": lambda seen: said(403, "AccessDenied") if seen.method == "PUT" else None,
}


@pytest.mark.parametrize("fault", [pytest.param(f, marks=[pytest.mark.soak] * (f == "500")) for f in FAULTS])
def test_a_bucket_that_fails_costs_nothing_but_itself(
    s3: tuple[S3, dict[str, str]], tmp_path: Path, fault: str
) -> None:
    """Everything is made, once; it is said once, without a key; and once it is well the rest is sent."""
    bucket, environ = s3
    project = make_project(tmp_path / "project", 2, **environ)
    bucket.wrong = FAULTS[fault]
    told = project.batch()
    assert (told.code, project.calls, project.count("outbox")) == (0, 2, 4), told.err
    assert told.err.count("without the shared store") == 1
    logged = (project.home / "logs/thumbforge.jsonl").read_text()
    assert not any(secret in told.err + logged for secret in KEYS.values() if secret != "us-east-1")
    bucket.wrong = lambda seen: None
    told = project.batch()
    assert (told.code, project.calls, project.count("outbox")) == (0, 2, 0), told.err
    theirs = clone(project, tmp_path / "theirs")
    assert (theirs.batch("--locked").code, theirs.calls) == (0, 0)
    assert pictures(theirs) == pictures(project)


def test_where_it_is_required_nothing_is_paid_unasked(s3: tuple[S3, dict[str, str]], tmp_path: Path) -> None:
    """With a wrong key a batch stops before it calls; one whose store goes away in its middle pays for no more, and is
    gone on with once it is back."""
    bucket, environ = s3
    project = make_project(tmp_path / "project", 3, **environ, THUMBFORGE_STORE__REQUIRED="yes")
    bucket.wrong = FAULTS["expired"]
    for words in ((), ("--dry-run",)):
        told = project.batch(*words)
        assert (told.code, project.calls, "remote_denied" in told.err) == (1, 0, True), told.err
    bucket.wrong = lambda seen: said(400, "ExpiredToken") if project.calls else None
    told = project.batch("-n", "1")
    assert (told.code, project.calls) == (1, 1), told.err
    assert "remote_denied" in told.err
    bucket.wrong = lambda seen: None
    told = project.batch()
    assert (told.code, project.calls, project.count("outbox")) == (0, 3, 0), told.err
    assert project.run("audit").code == 0


def test_what_is_done_asks_nobody(s3: tuple[S3, dict[str, str]], tmp_path: Path) -> None:
    """`status`, `list`, `info` and a batch with nothing to make send no request, and load no library for it."""
    bucket, environ = s3
    project = make_project(tmp_path / "project", 2, **environ)
    assert project.batch("only=1").code == 0
    bucket.asked.clear()
    for words in (("status",), ("check",), ("batch", "series=show", "only=1"), ("config", "show")):
        assert project.run(*words).code == 0
    assert project.doit("list", "--all", "-s").code == 0
    assert bucket.asked == []
    loaded = "import sys; from thumbforge.commands.main import main; main(['status']); print('obstore' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], cwd=project.root, env=project.environment(), capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "False", done.stderr


def test_the_local_painter_is_not_shared_by_a_batch(ours: Project, there: Path) -> None:
    """It paints again for nothing."""
    ours.series(provider="local")
    assert ours.batch().code == 0
    assert (shared(there), ours.count("outbox")) == (set(), 0)


@pytest.mark.soak
@pytest.mark.parametrize("when", ["at the start", "in the middle"])
def test_an_interrupt_is_felt_while_it_is_silent(s3: tuple[S3, dict[str, str]], tmp_path: Path, when: str) -> None:
    """Nobody waits for an answer that may take half a minute; what is paid waits in the outbox."""
    bucket, environ = s3
    project = make_project(tmp_path / "project", 2, **{**environ, "THUMBFORGE_STORE__TIMEOUT_S": "30"})
    bucket.wrong = lambda seen: stalled() if project.calls or when == "at the start" else None
    process = project.start("batch", "series=show", "-n", "1", anew=True)
    wait_until(lambda: bool(project.calls if when == "in the middle" else bucket.asked))
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 130
    assert time.monotonic() - began < 10
    bucket.wrong = lambda seen: None
    told = project.batch()
    assert (told.code, project.calls, project.count("outbox")) == (0, 2, 0), told.err
