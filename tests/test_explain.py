"""`thumbforge explain`: the story of a picture from its bytes, by whichever witness is left."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, item, video

FILE = "specs/locks/show.yaml"


@pytest.fixture
def copied(done: Project, tmp_path: Path) -> Path:
    """Part 7, sent to somebody who called it otherwise."""
    path = tmp_path / "from a chat.jpg"
    shutil.copyfile(done.root / "out/show" / f"07-{video(7)}.jpg", path)
    return path


def story(project: Project, path: Path) -> dict[str, Any]:
    found: dict[str, Any] = project.shown("explain", str(path))
    return found


def test_all_that_is_known_is_told(done: Project, copied: Path) -> None:
    """Lock, manifest and ledger tell of the same picture; the item, what it was made of, and by whom."""
    done.profile("paid", params={"delay_ms": 0}, price={"amount": "0.04", "currency": "USD"}, version=3)
    done.series(provider="paid")
    assert done.batch().code == 0
    shutil.copyfile(done.root / "out/show" / f"07-{video(7)}.jpg", copied)
    found = story(done, copied)
    assert found["found_in"] == ["lock", "manifest", "ledger"]
    assert {name: found[name] for name in ("kind", "series", "video", "part", "title", "take", "approved")} == {
        "kind": "final", "series": "show", "video": video(7), "part": "7", "title": "Lesson 7", "take": 1,
        "approved": False,
    }  # fmt: skip
    assert (found["template"], found["profile"], found["provider"]) == ("plain@1", "paid@3", "fake")
    assert found["hero"] == "specs/heroes/hero.png"
    assert found["prompt"].startswith("A calm picture about Lesson 7.\n\nNegative: ")
    assert (found["cost"], found["currency"], found["run"] is not None, found["at"] is not None) == (
        "0.04", "USD", True, True,
    )  # fmt: skip
    assert found["why"] == "It is what part 7 of show has now: take 1."


def test_the_lock_alone_is_enough(done: Project, copied: Path) -> None:
    """As in a clone, with no store and no ledger; the prompt follows from the specs."""
    shutil.rmtree(done.home)
    found = story(done, copied)
    assert (found["found_in"], found["series"], found["video"]) == (["lock"], "show", video(7))
    assert found["prompt"].startswith("A calm picture about Lesson 7.")
    assert (found["part"], found["run"]) == ("7", None)


@pytest.mark.parametrize("gone", ["ledger.sqlite3", "keys"])
def test_a_witness_that_is_left_is_enough(done: Project, copied: Path, gone: str) -> None:
    """Without a lock: by its manifest where there is no ledger, by the ledger where there are no manifests."""
    (done.root / FILE).unlink()
    for path in done.home.glob(f"{gone}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = story(done, copied)
    assert found["found_in"] == ["manifest" if "ledger" in gone else "ledger"]
    assert (found["video"], found["part"], found["take"]) == (video(7), "7", 1)
    assert found["why"].endswith("no lock file has it now.")


def test_a_picture_of_before_is_told_as_one(done: Project, copied: Path) -> None:
    """The item has another by now; art without its words is told as that."""
    done.playlist(item(n, **({"text": "Other"} if n == 7 else {})) for n in range(1, 13))
    assert done.batch().code == 0
    assert story(done, copied)["why"] == "It was made for part 7 of show as take 1; the lock file has another now."
    art = story(done, copied)["art_sha256"]
    [path] = done.home.rglob(f"{art}.*")
    assert story(done, path)["why"] == "It is the art of what part 7 of show has now: take 1."
    assert story(done, path)["kind"] == "art"


def test_for_people_it_begins_with_why(done: Project, copied: Path) -> None:
    """One sentence, then a line a fact."""
    told = done.run("explain", str(copied))
    first, *lines = told.out.splitlines()
    assert first == "It is what part 7 of show has now: take 1."
    assert {line.split()[0] for line in lines} >= {"series", "video", "template", "hero", "prompt", "run", "found"}


@pytest.mark.parametrize("data", [b"", b"no picture at all", None])
def test_what_is_none_of_ours_is_not_found(done: Project, tmp_path: Path, data: bytes | None) -> None:
    """Exit 3, one line, also for a file that there is not."""
    path = tmp_path / "other.jpg"
    if data is not None:
        path.write_bytes(data)
    told = done.run("explain", str(path), "--json")
    assert (told.code, told.problem["code"]) == (3, "not_found")


def test_a_hero_is_told_as_what_it_is(done: Project) -> None:
    """It stands in what every item was made of, and is no item's picture."""
    found = story(done, done.root / "specs/heroes/hero.png")
    assert (found["kind"], found["hero"]) == ("hero", "specs/heroes/hero.png")
    assert found["why"] == "It is the hero that show is made from."


def test_a_damaged_lock_hides_no_other_witness(done: Project, copied: Path) -> None:
    """It is passed by with a word; explain writes nothing."""
    done.write(FILE, "nonsense\n")
    before = done.files()
    told = done.run("explain", str(copied))
    assert (told.code, "a lock file was passed by" in told.err) == (0, True)
    assert done.files() == before
