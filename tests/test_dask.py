"""A batch whose pictures are made on a Dask cluster: real schedulers and workers on this machine, and their deaths."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from distributed import Client
from PIL import Image

from tests.project import TIMEOUT_S, Project, finish, item, kill, make_project, stop, wait_until, wake
from tests.test_imaging_brand import LAYOUT, PNG, colour_font, logo
from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderError, ProviderSetup, ProviderTransient, UsageError
from thumbforge.imaging import userfiles
from thumbforge.imaging.brand import Identity
from thumbforge.imaging.finalise import Drawing
from thumbforge.making import cluster as on_cluster
from thumbforge.making import remote
from thumbforge.making.cluster import OnCluster
from thumbforge.making.executor import Placement
from thumbforge.making.threads import Painter
from thumbforge.providers.base import Answer, Call, Reference, Request
from thumbforge.providers.fake import FakeProvider
from thumbforge.providers.retry import generate_with_retries, tally_of
from thumbforge.settings import load as load_settings

ROOT = Path(__file__).parents[1]
THREADS = 4
AS_DOCUMENTED = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0"}
FONT = next(Path(sys.prefix).rglob("Anton*.ttf"))


@dataclass
class Cluster:
    """A scheduler and its workers, each a process; `log` has the calls that the workers made with provider `fake`."""

    folder: Path
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @classmethod
    def begin(cls, folder: Path, workers: int) -> Cluster:
        file = f"--scheduler-file={folder / 'scheduler.json'}"
        cluster = cls(folder, _dask(folder, "scheduler", file, "--host=127.0.0.1", "--port=0", **AS_DOCUMENTED))
        for _ in range(workers):
            cluster.add_worker()
        return cluster

    def add_worker(self, threads: int = THREADS) -> None:
        own = self.folder / f"worker-{len(self.workers)}"
        own.mkdir()
        words = [f"--scheduler-file={self.folder / 'scheduler.json'}", f"--nthreads={threads}", "--no-nanny"]
        self.workers.append(_dask(own, "worker", *words, f"--local-directory={own}", THUMBFORGE_FAKE_LOG=str(self.log)))

    @property
    def log(self) -> Path:
        return self.folder / "calls"

    @property
    def address(self) -> str:
        file = self.folder / "scheduler.json"
        wait_until(lambda: file.is_file() and file.stat().st_size > 0)
        found: str = json.loads(file.read_text())["address"]
        return found

    def events(self, name: str) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines() if self.log.is_file() else []
        return [event for event in map(json.loads, lines) if event["event"] == name]

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def _dask(cwd: Path, kind: str, *words: str, **extra: str) -> subprocess.Popen[bytes]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("THUMBFORGE_", "DASK_"))}
    with (cwd / f"{kind}.log").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", kind, *words, "--no-dashboard"],
            cwd=cwd, env={**clean, "PYTHONPATH": str(ROOT), **extra},
            stdin=subprocess.DEVNULL, stdout=said, stderr=said,
        )  # fmt: skip


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster.begin(tmp_path_factory.mktemp("dask"), 2)
    yield found
    found.end()


@pytest.fixture
def lonely(tmp_path: Path) -> Iterator[Cluster]:
    """A scheduler that has no worker yet."""
    (tmp_path / "dask").mkdir()
    found = Cluster.begin(tmp_path / "dask", 0)
    yield found
    found.end()


@pytest.fixture
def cluster(workers: Cluster) -> Cluster:
    """Two workers of four threads each, and no call in their log."""
    found = workers
    while sum(worker.poll() is None for worker in found.workers) < 2:
        found.add_worker()
    with Client(found.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=TIMEOUT_S)
    found.log.unlink(missing_ok=True)
    return found


@pytest.fixture
def made_by_dask(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnCluster]:
    monkeypatch.setattr(on_cluster, "CONNECT_S", TIMEOUT_S)
    executor = OnCluster(cluster.address)
    yield executor
    executor.close()


def slow(root: Path, count: int, delay_ms: int, **fields: Any) -> Project:
    """A project whose calls take so long; 16 at once."""
    project = make_project(root, count)
    project.profile("slow", params={"delay_ms": delay_ms}, max_concurrency=16, **fields)
    project.series(provider="slow")
    return project


def a_call(scratch: Path, key: str = "key") -> Call:
    return Call(Cancel(), 60.0, key, "attempt", scratch)


REQUEST = Request("A picture", None, 640, 360, None, None, "video")
FAKE = models.Profile(name="fake", provider="fake")


# What comes out


def rich(root: Path) -> Project:
    """Every kind of file that a drawing can have, an item that fails, and a hero."""
    project = make_project(root, 5)
    project.template(
        "rich", extends="news-bar", prompt="{{ topic }} {% if part_number == 5 %}{{ vars.fail }}{% endif %}"
    )
    project.playlist([*(item(n, picture="own.png", title=f"Lesson \U0001f600 {n}") for n in range(1, 5)), item(5)])
    Image.new("RGB", (300, 200), "#208040").save(root / "own.png")
    logo(root)
    (root / "emoji.ttf").write_bytes(colour_font())
    (root / "title.ttf").write_bytes(FONT.read_bytes())
    project.write("thumbforge.toml", '[output]\nwidth = 1280\nheight = 720\nemoji_font = "emoji.ttf"\n')
    project.series(
        template="rich",
        vars={"fail": "[[FAIL_PERMANENT]]"},
        brand={"fonts": {"title": "title.ttf"}, "logo": "logo.png"},
    )
    return project


def test_a_cluster_gives_the_same_bytes(cluster: Cluster, tmp_path: Path) -> None:
    """The same files in out/ and the same error of the one that fails; the calls are made by the workers, which have
    the hero, the fonts, the logo and the pictures from the batch alone and are told no path."""
    there = rich(tmp_path / "there")
    here = there.copy(tmp_path / "here")
    local = here.start("batch", "series=show", "executor=local", "--json")
    told, plain = there.batch(f"scheduler={cluster.address}", "executor=dask", "--json"), finish(local)
    assert (told.code, plain.code) == (6, 6), told.err
    assert [(i["status"], i["error"]) for i in told.document["items"]] == [
        (i["status"], i["error"]) for i in plain.document["items"]
    ]
    assert there.out() == here.out() != []
    for name in there.out():
        assert (there.root / "out/show" / name).read_bytes() == (here.root / "out/show" / name).read_bytes()
    pids = {event["pid"] for event in cluster.events("start")}
    assert (len(cluster.events("start")), there.calls) == (5, 0)
    assert pids <= {worker.pid for worker in cluster.workers}
    assert there.run("audit").code == 0


def test_plain_doit_works_on_a_cluster_and_leaves_nothing_there(cluster: Cluster, project: Project) -> None:
    """The pairs go with doit's own run as well; afterwards the scheduler has no task of it. Permits are given back too;
    now and then Dask drops that message, and an empty queue stays until the scheduler ends."""
    told = project.doit("run", "executor=dask", f"scheduler={cluster.address}")
    assert told.code == 0, told.out + told.err
    assert (len(project.out()), len(cluster.events("start")), project.calls) == (3, 3, 0)
    with Client(cluster.address, set_as_default=False) as client:
        wait_until(lambda: client.run_on_scheduler(_known)[0] == 0)
        assert client.run_on_scheduler(_known)[1] < 3


def _known(dask_scheduler: Any) -> tuple[int, int]:
    return len(dask_scheduler.tasks), len(dask_scheduler.extensions["queues"].queues)


def test_a_drawing_names_every_file_that_it_holds(tmp_path: Path) -> None:
    """`files` are all of them, wherever they hang, and `moved` leaves no path where it was."""
    font, picture = (tmp_path / name for name in ("font.ttf", "picture.png"))
    own = Identity(
        models.BrandColors(),
        userfiles.FontFile(font, "1" * 64),
        userfiles.FontFile(font, "2" * 64),
        userfiles.PictureFile(picture, "3" * 64),
    )
    drawing = Drawing("Title", None, None, None, None, userfiles.PictureFile(picture, "4" * 64), own,
                      userfiles.FontFile(font, "5" * 64))  # fmt: skip
    drawing = dataclasses.replace(drawing, images=(("badge", userfiles.PictureFile(picture, "6" * 64)),))
    optional = {f.name for c in (Drawing, Identity) for f in dataclasses.fields(c) if "File" in str(f.type)}
    assert optional == {"picture", "emoji", "images", "title_font", "label_font", "logo"}
    assert (
        {file.sha256 for file in drawing.files} == {file.sha256 for file in held(drawing)} == {n * 64 for n in "123456"}
    )
    places = {file.sha256: Path("elsewhere", file.sha256) for file in drawing.files}
    assert {file.path for file in held(drawing.moved(places))} == set(places.values())


def held(value: Any) -> list[Any]:
    """Every file below a dataclass."""
    if isinstance(value, userfiles.FontFile | userfiles.PictureFile):
        return [value]
    if isinstance(value, tuple):
        return [file for part in value for file in held(part)]
    if not dataclasses.is_dataclass(value):
        return []
    return [file for f in dataclasses.fields(value) for file in held(getattr(value, f.name))]


def test_what_a_program_said_is_kept(cluster: Cluster, tmp_path: Path) -> None:
    """The texts that a `command` left behind on a worker are under logs/attempts/, as of a call that was made here."""
    there = make_project(tmp_path / "there", 1)
    there.profile(
        "loud", provider="command", params={"argv": ["sh", "-c", "echo no paint left >&2; exit 3", "{output}"]}
    )
    there.series(provider="loud")
    here = there.copy(tmp_path / "here")
    local = here.start("batch", "series=show")
    told = there.batch(f"scheduler={cluster.address}")
    assert (told.code, finish(local).code) == (4, 4)
    assert said(there) == said(here) != {}
    assert "a call failed on a worker" in told.err
    assert "worker=tcp://127.0.0.1:" in told.err
    assert b"no paint left" in b"".join(said(there).values())


def said(project: Project) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (project.home / "logs" / "attempts").rglob("*.*")}


# Deaths


def test_a_killed_worker_costs_the_calls_it_was_making(cluster: Cluster, tmp_path: Path) -> None:
    """kill -9 of one of two: all items are done, nothing is called beyond the items and the lost calls, which the
    ledger has counted and, as the provider is paid, as perhaps billed."""
    project = slow(tmp_path / "project", 16, 600, price={"amount": "0.04", "as_of": "2026-11"})
    process = project.start("batch", "series=show", "-n", "8", f"scheduler={cluster.address}")
    victim = cluster.workers[-1]
    wait_until(lambda: len(project.out()) >= 4 and is_stopped_in_a_call(cluster, victim))
    victim.kill()
    victim.wait()
    told = finish(process)
    assert told.code == 0, told.err
    assert len(project.out()) == 16
    started = len(cluster.events("start"))
    assert 16 < started <= 16 + THREADS  # an answer that was on its way is lost too
    [ledger] = project.query("SELECT sum(calls) AS calls, sum(perhaps_billed) AS billed FROM attempt")
    assert (ledger["calls"], ledger["billed"]) == (started, started - 16)
    assert "the worker that made the call died" in told.err
    assert project.run("audit").code == 0


def in_flight(cluster: Cluster, pid: int) -> int:
    """Calls that this worker has begun and not ended."""
    counts = {name: sum(e["pid"] == pid for e in cluster.events(name)) for name in ("start", "end")}
    return counts["start"] - counts["end"]


def is_stopped_in_a_call(cluster: Cluster, worker: subprocess.Popen[bytes]) -> bool:
    """Stop the worker; where it is not in a call, let it go on."""
    stop(worker)
    if in_flight(cluster, worker.pid):
        return True
    wake(worker)
    return False


def test_a_stopped_batch_ends_its_calls_on_the_workers(cluster: Cluster, tmp_path: Path) -> None:
    """Ctrl-C, `runs cancel` and even kill -9: the workers end the calls of ten minutes within seconds, and make no
    other; the run is paused or cancelled."""
    projects = {name: slow(tmp_path / name, 8, 600_000) for name in ("interrupt", "cancel", "kill")}
    own = {name: p.with_environment(THUMBFORGE_LEASE__BEAT_S="0.2") for name, p in projects.items()}
    running = {n: p.start("batch", "series=show", "-n", "2", f"scheduler={cluster.address}") for n, p in own.items()}
    wait_until(lambda: len(cluster.events("start")) == 6)
    running["interrupt"].send_signal(signal.SIGINT)
    kill(running["kill"])
    [run] = projects["cancel"].query("SELECT id FROM run WHERE kind = 'batch'")
    assert projects["cancel"].run("runs", "cancel", run["id"]).code == 0
    told = {name: finish(running[name]) for name in ("interrupt", "cancel")}
    wait_until(lambda: len(cluster.events("end")) == 6)
    assert len(cluster.events("start")) == 6
    assert {name: t.code for name, t in told.items()} == {"interrupt": 130, "cancel": 130}
    assert not any("Traceback" in t.err + t.out for t in told.values())
    status = {n: p.query("SELECT status FROM run WHERE kind = 'batch'")[0][0] for n, p in projects.items()}
    assert (status["interrupt"], status["cancel"]) == ("paused", "cancelled")


def test_a_cluster_that_goes_pauses_the_run(lonely: Cluster, tmp_path: Path) -> None:
    """One line says so, what came back is kept, and `runs resume` goes on here."""
    cluster = lonely
    cluster.add_worker()
    project = slow(tmp_path / "project", 12, 400)
    process = project.start("batch", "series=show", "-n", "4", f"scheduler={cluster.address}")
    wait_until(lambda: len(project.out()) >= 2 and bool(in_flight(cluster, cluster.workers[0].pid)))
    cluster.scheduler.kill()
    told = finish(process)
    assert (told.code, "Traceback" in told.err, "distributed" in told.err) == (6, False, False)
    assert f"provider_setup: the Dask cluster at {cluster.address} is gone" in told.out
    [run] = project.query("SELECT id, status FROM run WHERE kind = 'batch'")
    assert run["status"] == "paused"
    made = len(project.out())
    assert project.run("runs", "resume", run["id"], "executor=local", "-n", "8").code == 0
    assert (len(project.out()), project.calls) == (12, 12 - made)
    assert project.run("audit").code == 0


# Never twice by itself


def test_a_call_is_made_with_its_permit_only(cluster: Cluster, tmp_path: Path) -> None:
    """Dask may run a task again, on whichever worker: the second time finds no permit, makes no call, and says that the
    first is lost."""
    with Client(cluster.address, set_as_default=False) as client:
        permit = on_cluster.Queue("permit-of-a-test", client=client, maxsize=1)
        permit.put(True)
        job = remote.Painting(remote.RELEASE, "permit-of-a-test", FAKE, REQUEST, 60.0, "key", "attempt")
        workers = list(client.nthreads())
        first, again, unknown = (
            client.submit(remote.paint, dataclasses.replace(job, permit=name), workers=[worker], pure=False).result()
            for worker, name in [(workers[0], job.permit), (workers[1], job.permit), (workers[1], "of nobody")]
        )
    assert first.answer.data
    assert [type(painted.error) for painted in (again, unknown)] == [ProviderTransient] * 2
    assert again.error.unclear
    assert len(cluster.events("start")) == 1


def test_a_lost_paid_call_is_made_once_more_at_most(tmp_path: Path) -> None:
    """Whatever the worker was doing, it may have been billed: two calls, both counted so."""

    def lose(*_: Any) -> Answer:
        raise remote.lost()

    provider = FakeProvider({})
    provider.capabilities = dataclasses.replace(provider.capabilities, paid=True)
    painter = Painter(provider, lose)
    with pytest.raises(ProviderTransient, match="died") as caught:
        generate_with_retries(painter, REQUEST, a_call(tmp_path), base_s=0, on_try=lambda _: None)
    tally = tally_of(caught.value)
    assert (tally.calls, tally.perhaps_billed) == (2, 2)


def test_a_call_that_a_worker_gives_up_is_lost(tmp_path: Path) -> None:
    """A worker that is stopped ends its calls. Nobody pressed Ctrl-C: the batch is told of a lost call, and goes on."""
    call = a_call(tmp_path)
    call.cancel.set()
    painted = remote._called(FAKE.model_copy(update={"params": {"delay_ms": 1000}}), REQUEST, call)
    assert (type(painted.error), painted.error.unclear) == (ProviderTransient, True)  # type: ignore[union-attr]


def test_an_error_that_cannot_travel_is_told_all_the_same() -> None:
    """A plugin may hang anything on its error: message, hint and what decides about a retry arrive."""

    class Own(ProviderTransient):
        pass

    error = Own("the service is busy", hint="wait")
    error.unclear = True
    sent = remote._sendable(error)
    assert (type(sent), str(sent), sent.hint) == (ProviderError, "the service is busy", "wait")
    assert (sent.retryable, sent.unclear, sent.once_more) == (True, True, False)  # type: ignore[attr-defined]
    plain = ProviderTransient("x")
    assert remote._sendable(plain) is plain


# Files


def test_a_file_is_sent_once_to_each_worker(made_by_dask: OnCluster, tmp_path: Path, cluster: Cluster) -> None:
    """However many pictures need it; an item's own picture is sent with it, and not kept."""
    Image.new("RGB", (1280, 720), "#102030").save(tmp_path / "art.png")
    Image.new("RGB", (300, 200), "#208040").save(tmp_path / "own.png")
    own, brand = userfiles.picture_file(tmp_path / "own.png"), Identity(models.BrandColors(), userfiles.font_file(FONT))
    drawing = Drawing("Title", None, picture=own, brand=brand)
    for n in range(4):
        report = made_by_dask.finalise(tmp_path / "art.png", LAYOUT, drawing, PNG, tmp_path / f"{n}.png")
        assert report.ok
    assert len({(tmp_path / f"{n}.png").read_bytes() for n in range(4)}) == 1
    wait_until(lambda: not [name for name in has(cluster) if name.startswith(("call-", "final-"))])
    assert hashlib.sha256(FONT.read_bytes()).hexdigest() in has(cluster)
    assert own.sha256 not in has(cluster)
    assert len(made_by_dask._has) == len({worker for worker, _ in made_by_dask._has}) >= 1


def has(cluster: Cluster) -> set[str]:
    """What the workers that nobody killed keep. What a call that just ended had is deleted a moment later."""
    living = [cluster.folder / f"worker-{n}" for n, worker in enumerate(cluster.workers) if worker.poll() is None]
    return {path.name for folder in living for path in folder.glob("*/*/thumbforge/*")}


@pytest.mark.soak
def test_a_picture_of_many_megabytes_travels(made_by_dask: OnCluster, tmp_path: Path) -> None:
    """Dask warns of a task above 10 MB, and here that would be an error."""
    picture = Image.frombytes("RGB", (2400, 1700), os.urandom(2400 * 1700 * 3))
    picture.save(tmp_path / "art.png", compress_level=1)
    assert (tmp_path / "art.png").stat().st_size > 12_000_000
    made_by_dask.finalise(tmp_path / "art.png", LAYOUT, Drawing("Title", None), PNG, tmp_path / "out.png")
    with Image.open(tmp_path / "out.png") as drawn:
        assert drawn.size == (1280, 720)


def test_a_worker_that_keeps_nothing_is_named(
    made_by_dask: OnCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its disk is full, say: no call is begun there, and the run is paused."""
    (tmp_path / "hero").write_bytes(b"a hero that no worker has")
    hero = Reference(hashlib.sha256(b"a hero that no worker has").hexdigest(), tmp_path / "hero", "image/png")
    monkeypatch.setattr(on_cluster, "MOST_SENT", 2)
    monkeypatch.setattr(OnCluster, "_send", lambda *_: None)
    with pytest.raises(ProviderSetup, match=r"the worker tcp://\S+ does not keep the files it is sent") as caught:
        made_by_dask.paint(FAKE, dataclasses.replace(REQUEST, reference=hero), a_call(tmp_path))
    assert not caught.value.unclear


def test_a_file_that_changes_meanwhile_is_not_sent(made_by_dask: OnCluster, tmp_path: Path) -> None:
    """What was planned with other bytes would be another picture under the same key."""
    Image.new("RGB", (1280, 720), "#102030").save(tmp_path / "art.png")
    Image.new("RGB", (300, 200), "#208040").save(tmp_path / "own.png")
    drawing = Drawing("Title", None, picture=userfiles.picture_file(tmp_path / "own.png"))
    (tmp_path / "own.png").write_bytes(b"other")
    with pytest.raises(UsageError, match=r"own\.png changed while the batch ran"):
        made_by_dask.finalise(tmp_path / "art.png", LAYOUT, drawing, PNG, tmp_path / "out.png")


# Refusals


def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path) -> None:
    """Exit 2, a line and a hint; not even a ledger is made."""
    project = make_project(tmp_path / "project", 1)
    refused = {
        "scheduler=tcp://127.0.0.1:9": "usage: no Dask scheduler answers at tcp://127.0.0.1:9",
        "executor=cloud": "usage: executor=cloud: expected local or dask",
        "executor=dask": "usage: executor=dask needs the cluster's address",
        "scheduler=somewhere": "usage: scheduler=somewhere is no address",
        "scheduler=tls://127.0.0.1:9": "usage: tls://127.0.0.1:9 needs certificates, and Dask's configuration names "
        "none",
        "scheduler=tcp://127.0.0.1:9 executor=local": "usage: scheduler=… is for executor=dask",
    }
    before = project.files()
    running = {words: project.start("batch", "series=show", *words.split()) for words in refused}
    for words, process in running.items():
        told = finish(process)
        assert (told.code, told.out) == (2, "")
        line, *hint = told.err.splitlines()
        assert (line, [text[:6] for text in hint]) in [(refused[words], ["hint: "]), (refused[words], [])]
    kept = {name for name in project.files() if "/logs/" not in name and not name.startswith(".doit.db")}
    assert kept == before.keys()


def test_a_cluster_without_workers_is_refused(lonely: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The line has the command that starts one; where the last worker goes in mid-batch, the run is paused."""
    monkeypatch.setattr(on_cluster, "CONNECT_S", 1.0)
    with pytest.raises(UsageError, match="has no worker") as caught:
        OnCluster(lonely.address)
    assert f"dask worker {lonely.address}" in caught.value.hint
    monkeypatch.setattr(on_cluster, "_check_workers", lambda *_: None)
    monkeypatch.setattr(on_cluster, "LOOK_S", 0.05)
    monkeypatch.setattr(on_cluster, "DESERTED_S", 0.1)
    executor = OnCluster(lonely.address)
    try:
        with pytest.raises(ProviderSetup, match="has no worker") as paused:
            executor.paint(FAKE, REQUEST, a_call(Path()))
    finally:
        executor.close()
    assert (paused.value.meets_every_item, paused.value.unclear) == (True, True)


def test_dask_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it."""
    for name in ("thumbforge.making.cluster", "thumbforge.making.remote"):
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="needs Dask's package distributed") as caught:
        Placement(scheduler="tcp://127.0.0.1:9").executor(1)
    assert "[dask]" in caught.value.hint


def test_a_worker_of_another_release_is_refused(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any call: when the batch begins, and by a worker that comes later."""
    monkeypatch.setattr(remote, "RELEASE", ("thumbforge 0.0.1", "finaliser 1"))
    with pytest.raises(UsageError, match=r"has thumbforge .*, this batch thumbforge 0\.0\.1"):
        OnCluster(cluster.address)
    job = remote.Painting(("thumbforge 0.0.2",), "permit", FAKE, REQUEST, 60.0, "key", "attempt")
    painted = remote.paint(job)
    assert isinstance(painted, remote.Painted)
    assert isinstance(painted.error, ProviderSetup)
    with pytest.raises(
        ProviderSetup, match=r"a worker has thumbforge 0\.0\.1, finaliser 1, this batch thumbforge 0\.0\.2"
    ):
        remote.finish(remote.Finishing(("thumbforge 0.0.2",), LAYOUT, Drawing("Title", None), PNG, ()), b"", None)
    assert cluster.events("start") == []


@pytest.mark.parametrize("name", ["host:8786", "tcp://10.0.0.7:8786", "tls://[::1]:8786", "ws://host:80"])
def test_an_address_means_dask(name: str, tmp_path: Path) -> None:
    """scheduler= alone is enough, from the command line; from the settings it waits for executor=dask."""
    settings = load_settings(tmp_path, {})
    assert Placement.of(settings, None, name).scheduler == name
    own = load_settings(tmp_path, {"THUMBFORGE_BATCH__SCHEDULER": name})
    assert Placement.of(own).scheduler is None
    assert Placement.of(own, "dask").scheduler == name


@pytest.mark.soak
@pytest.mark.parametrize("victims", [0, 1])
def test_two_hundred_items_on_two_workers(victims: int, lonely: Cluster, tmp_path: Path) -> None:
    """Calls of 2 s, 16 at once on two workers of 8 threads, one of which may be killed in the middle: all are done, and
    no more calls are made than items and those that were lost. How near to the ideal that is, is told."""
    for _ in range(2):
        lonely.add_worker(8)
    project = slow(tmp_path / "project", 200, 2000)
    process = project.start("batch", "series=show", "-n", "16", f"scheduler={lonely.address}")
    for victim in lonely.workers[:victims]:
        wait_until(lambda: len(project.out()) >= 60 and in_flight(lonely, lonely.workers[0].pid) > 0, 120)
        victim.kill()
        victim.wait()
    told = finish(process, 300)
    assert told.code == 0, told.err
    starts, ends = lonely.events("start"), lonely.events("end")
    took = max(event["at"] for event in ends) - min(event["at"] for event in starts)
    sys.stdout.write(f"{victims} killed: {200 / 16 * 2 / took:.3f} of the ideal\n")
    assert (len(project.out()), len(starts) <= 200 + len(starts) - len(ends)) == (200, True)
    assert project.run("audit").code == 0
