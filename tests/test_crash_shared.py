"""Stopped on the way to the shared store and from it: nothing lost, nothing paid twice here, no name there without its
picture."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.crashes import Dump, Site, judge, judge_calls, judge_words

SHARED_STEPS = ("share.picture", "share.name", "outbox.row", "brought.file", "yield.row")
SENDING = ("share.picture", "share.name", "outbox.row", "art.row", "record.file", "final.row")
ITEMS = 2


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site.make(tmp_path_factory.mktemp("fresh") / "site", ITEMS)


@pytest.fixture(scope="module")
def done(fresh: Site) -> Site:
    """The same with everything made and shared, in the folder `there` beside it. To be copied."""
    site = fresh.copy(fresh.root.with_name("done"))
    there = site.root.with_name("there")
    there.mkdir()
    assert site.batch(**to(there)).returncode == 0
    assert site.query("SELECT count(*) FROM outbox") == [(0,)]
    return site


@pytest.fixture(scope="module")
def model(done: Site) -> Dump:
    return done.dump()


def to(there: Path, mode: str = "write") -> dict[str, str]:
    return {"THUMBFORGE_STORE__REMOTE": str(there), "THUMBFORGE_STORE__MODE": mode}


def files(there: Path) -> dict[str, bytes]:
    """All but what a killed process was writing."""
    return {
        path.relative_to(there).as_posix(): path.read_bytes()
        for path in there.rglob("*")
        if path.is_file() and not path.name.endswith(".part")
    }


def torn(there: Path) -> list[str]:
    """Names there without what they name."""
    found = files(there)
    hashes = {name.split("/")[2].split(".")[0] for name in found if name.startswith("assets/")}
    named = {name: json.loads(data) for name, data in found.items() if name.startswith("keys/")}
    return [n for n, told in named.items() if (told.get("sha256") or told.get("final_sha256")) not in hashes]


FAULTS = [f"{step}.{side}:kill" for step in SENDING for side in ("before", "after")]
QUICK = {"share.picture.after:kill", "share.name.after:kill", "outbox.row.before:kill", "art.row.before:kill"}


@pytest.mark.parametrize(
    "fault",
    [
        *(pytest.param(fault, marks=[pytest.mark.soak] * (fault not in QUICK)) for fault in FAULTS),
        pytest.param("share.name.after:kill:2", marks=pytest.mark.soak),
        "share.picture.before:eio",
    ],
)
def test_stopped_while_it_is_sent(tmp_path: Path, fresh: Site, done: Site, model: Dump, fault: str) -> None:
    """At each step: what is there is whole; the next batch pays for nothing again and sends what was left."""
    site, there = fresh.copy(tmp_path / "site"), tmp_path / "there"
    there.mkdir()
    told = site.batch("-n", "1", THUMBFORGE_FAULT=fault, **to(there))
    assert told.returncode == (0 if fault.endswith(":eio") else -9), (told.stdout, told.stderr)
    assert torn(there) == []
    cut = site.cut_calls()
    run = site.unfinished_run()
    went_on = site.doit("runs", "resume", run, **to(there)) if run else site.batch(**to(there))
    assert went_on.returncode == 0, (went_on.stdout, went_on.stderr)
    assert judge(site, model) + judge_calls(site, ITEMS, cut) + judge_words(told, went_on) == []
    assert site.query("SELECT count(*) FROM outbox") == [(0,)]
    assert files(there) == files(done.root.with_name("there"))


@pytest.mark.parametrize("fault", ["share.picture.after:kill:2", "share.name.before:kill:3"])
def test_a_push_that_is_killed_goes_on(tmp_path: Path, done: Site, fault: str) -> None:
    """The same again sends the rest; what is there is whole at every moment, and in the end the same."""
    site, there = done.copy(tmp_path / "site"), tmp_path / "there"
    there.mkdir()
    told = site.doit("push", THUMBFORGE_FAULT=fault, **to(there))
    assert told.returncode == -9, (told.stdout, told.stderr)
    assert torn(there) == []
    assert site.doit("push", **to(there)).returncode == 0
    assert files(there) == files(done.root.with_name("there"))


@pytest.mark.parametrize("fault", ["brought.file.after:kill:2", "manifest.after:kill"])
def test_a_pull_that_is_killed_goes_on(tmp_path: Path, fresh: Site, done: Site, fault: str) -> None:
    """The same again brings the rest; then nothing is left to call for."""
    site, there = fresh.copy(tmp_path / "site"), to(done.root.with_name("there"), "read")
    told = site.doit("pull", THUMBFORGE_FAULT=fault, **there)
    assert told.returncode == -9, (told.stdout, told.stderr)
    assert site.doit("pull", **there).returncode == 0
    assert "Nothing to do" in site.doit("pull", **there).stdout
    assert (site.batch("max_images=0").returncode, site.calls()) == (0, (0, 0))


@pytest.mark.parametrize("side", ["before", "after"])
def test_stopped_while_it_is_brought(tmp_path: Path, fresh: Site, done: Site, side: str) -> None:
    """What has come stays, the rest is asked for again; nobody is called."""
    site, there = fresh.copy(tmp_path / "site"), to(done.root.with_name("there"), "read")
    told = site.batch(THUMBFORGE_FAULT=f"brought.file.{side}:kill", **there)
    assert told.returncode == -9, (told.stdout, told.stderr)
    went_on = site.batch(**there)
    assert (went_on.returncode, site.calls()) == (0, (0, 0)), (went_on.stdout, went_on.stderr)
    pictures = [{p.name: p.read_bytes() for p in (s.root / "out/c").glob("0*")} for s in (site, done)]
    assert pictures[0] == pictures[1]


@pytest.mark.parametrize("side", ["before", "after"])
def test_stopped_while_ours_makes_way(tmp_path: Path, fresh: Site, done: Site, side: str) -> None:
    """Somebody else's picture was there first. Killed around the step at which ours makes way: in the end theirs is in
    use, ours is a further take, here and there, and both were paid once."""
    site, there = fresh.copy(tmp_path / "site"), tmp_path / "there"
    shutil.copytree(done.root.with_name("there"), there)
    away = to(tmp_path / "away")
    assert site.batch("only=1", THUMBFORGE_FAULT="final.file.before:kill", **away).returncode == -9
    [record] = (site.root / ".thumbforge/keys/art").iterdir()
    other = _another_picture(there, record.stem)
    told = site.batch("only=1", THUMBFORGE_FAULT=f"yield.row.{side}:kill", **to(there))
    assert told.returncode == -9, (told.stdout, told.stderr)
    assert torn(there) == []
    went_on = site.batch("only=1", **to(there))
    assert (went_on.returncode, site.calls()[0]) == (0, 1), (went_on.stdout, went_on.stderr)
    used = "SELECT art_sha256 FROM iteration JOIN attempt ON attempt.id = attempt_id WHERE run_id IN"
    assert site.query(f"{used} (SELECT id FROM run WHERE kind = 'batch')") == [(other,)]
    assert site.query("SELECT take, calls FROM attempt WHERE called_at IS NOT NULL") == [(2, 1)]
    assert site.query("SELECT count(*) FROM outbox") == [(0,)]
    ours = json.loads(record.read_text())
    assert ours["sha256"] == other or side == "after"
    assert len([name for name in files(there) if name.startswith("keys/art/")]) == ITEMS + 1


def _another_picture(there: Path, art_key: str) -> str:
    """Make the record of a request name a picture of its own; its hash."""
    import hashlib

    from PIL import Image

    path = there / "picture.png"
    Image.linear_gradient("L").resize((1280, 720)).convert("RGB").save(path)
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    target = there / "assets" / sha256[:2] / f"{sha256}.png"
    target.parent.mkdir(exist_ok=True)
    path.rename(target)
    record = there / f"keys/art/{art_key}.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "sha256": sha256, "suffix": ".png"}))
    return sha256
