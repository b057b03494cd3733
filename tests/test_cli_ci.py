"""A playlist in CI: each run on a fresh machine that has the repository and, from a cache, only `.thumbforge/`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.project import Project, item, video


def checkout(cached: Project, root: Path) -> Project:
    """What CI has at its start: the specs as committed, and the store of the last run."""
    for name in ("dodo.py", "thumbforge.toml"):
        root.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(cached.root / name, root / name)
    shutil.copytree(cached.root / "specs", root / "specs")
    shutil.copytree(cached.home, root / ".thumbforge")
    return Project(root)


def test_a_playlist_lives_in_ci(finished: Project, tmp_path: Path) -> None:
    """Four runs on four machines: nothing changed, a text changed, a video was added, the list was turned around."""
    first = checkout(finished, tmp_path / "first")
    told = first.doit("batch", "series=show", "--json")
    assert (told.code, first.calls, told.document["run"]) == (0, 0, None)
    assert len(first.out()) == 12

    second = checkout(first, tmp_path / "second")
    items = second.items()
    items[6]["text"] = "New *words*"
    second.playlist(items)
    told = second.doit("batch", "series=show", "--json")
    assert (told.code, second.calls) == (0, 0)
    assert [e["part"] for e in told.document["items"] if e["action"] != "skip"] == [7]
    same = {name for name in first.out() if pictures(first)[name] == pictures(second)[name]}
    assert set(first.out()) - same == {f"07-{video(7)}.jpg"}

    third = checkout(second, tmp_path / "third")
    third.playlist([*third.items(), item(13)])
    told = third.doit("batch", "series=show", "--json")
    assert (told.code, third.calls) == (0, 1)
    assert [e["part"] for e in told.document["items"] if e["action"] == "create"] == [13]
    assert len(third.out()) == 13

    fourth = checkout(third, tmp_path / "fourth")
    fourth.playlist(reversed(fourth.items()))
    assert (fourth.doit().code, fourth.calls) == (0, 0)
    assert pictures(fourth) == pictures(third)
    assert set(fourth.statuses().values()) == {"U"}


def pictures(project: Project) -> dict[str, bytes]:
    return {name: (project.root / "out/show" / name).read_bytes() for name in project.out()}


def test_the_gate_of_a_pull_request_needs_no_cache(finished: Project, tmp_path: Path) -> None:
    """Without a store a dry run tells what would be made, writes nothing and calls nobody."""
    bare = checkout(finished, tmp_path / "bare")
    shutil.rmtree(bare.home)
    before = bare.files()
    told = bare.batch("--dry-run", "--json")
    assert (told.code, told.document["summary"]["create"]) == (0, 12)
    assert (bare.files() == before, bare.calls) == (True, 0)


def test_the_same_specs_give_the_same_pictures(finished: Project, tmp_path: Path) -> None:
    """A machine without the cache paints them again, to the byte."""
    bare = checkout(finished, tmp_path / "bare")
    shutil.rmtree(bare.home)
    assert bare.batch("only=1-2").code == 0
    assert pictures(bare) == {name: data for name, data in pictures(finished).items() if name[:2] in ("01", "02")}
