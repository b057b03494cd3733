"""`watch`: what is saved is drawn again within a moment, from art that is there, and nobody is ever paid."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, finish, item, make_project, wait_until
from thumbforge.commands import watch
from thumbforge.making.sheets import kept
from thumbforge.planning.project import Project as Here

Save = Callable[[], object]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Three finished items, and the environment of their command line in this process."""
    project = make_project(tmp_path / "project", 3)
    assert project.batch().code == 0
    for name, value in project.environment().items():
        monkeypatch.setenv(name, value)
    return project


def bursts(*saves: Save) -> Iterator[Collection[Path]]:
    """The watcher has begun; then each save is a burst of its own."""
    yield set()
    for save in saves:
        save()
        yield {Path("specs")}


def follow(project: Project, capsys: pytest.CaptureFixture[str], *saves: Save) -> tuple[list[str], str]:
    """What a watch of these saves tells on stdout, line by line, and on stderr."""
    capsys.readouterr()
    watch.follow(Here(project.root), [], bursts(*saves))
    told = capsys.readouterr()
    return told.out.splitlines(), told.err


def test_a_saved_text_template_or_brand_is_drawn_again(made: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Each save draws what it changes, the sheet too, and calls nobody."""
    before = {name: (made.root / "out/show" / name).read_bytes() for name in made.out()}
    told, _ = follow(
        made,
        capsys,
        lambda: made.playlist([item(1, text="Other"), item(2), item(3)]),
        lambda: made.template(layout={"title": {"size": 120}}),
        lambda: made.series(brand={"colors": {"title": "#00ff00"}}),
        lambda: made.series(brand={"colors": {"title": "#00ff00"}}, max_images=50),
    )
    first, second, third = made.out()
    assert told[0] == "Watching. Ctrl-C ends it."
    assert [line.split(" in ")[0] for line in told[1:4]] == ["show: 1 picture", "show: 3 pictures", "show: 3 pictures"]
    assert told[1].endswith(f" s: {first}")
    assert told[2].endswith(f" s: {first}, {second}, {third}")
    assert told[4:] == ["Nothing to draw."]
    assert all((made.root / "out/show" / name).read_bytes() != data for name, data in before.items())
    assert "Other" in (made.root / "out/show/sheet.html").read_text(encoding="utf-8")
    assert made.calls == 3


def test_it_begins_with_what_is_out_of_date(made: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Saved before, or taken away."""
    made.playlist([item(1, text="Other"), item(2), item(3)])
    (made.root / "out/show" / made.out()[2]).unlink()
    told, _ = follow(made, capsys)
    assert told[0].startswith("show: 2 pictures in ")
    assert len(made.out()) == 3
    assert made.calls == 3


def test_what_needs_a_call_is_told_with_the_command_that_pays(
    made: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, until it is another; the pictures stay, and what can be drawn beside it is."""
    before = made.out()
    told, _ = follow(
        made,
        capsys,
        lambda: made.playlist([item(1), item(2, topic="Another"), item(3), item(4)]),
        lambda: made.playlist([item(1, text="New"), item(2, topic="Another"), item(3), item(4)]),
        lambda: made.template(prompt="Another prompt"),
    )
    asks = "a new picture, which watch does not make: thumbforge batch series=show"
    assert told[1] == f"show: 2 items need {asks}"
    assert told[2].startswith("show: 1 picture in ")
    assert told[3:] == [f"show: 4 items need {asks}"]
    assert (made.out(), made.calls) == (before, 3)


def test_a_broken_spec_is_told_and_the_watch_goes_on(made: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """With file and line, once for all series that share it; nothing is lost, another series is drawn meanwhile."""
    path = made.root / "specs/playlists/show.yaml"
    good = path.read_text(encoding="utf-8")
    made.playlist([item(1)], name="fine")
    made.series("fine", playlist="fine")
    made.series("again")
    assert made.run("batch", "series=fine").code == 0
    assert made.run("batch", "series=again").code == 0
    before, calls = made.out(), made.calls

    def break_it() -> None:
        path.write_text(good + "  - {bad", encoding="utf-8")
        made.playlist([item(1, text="Other")], name="fine")

    told, errors = follow(made, capsys, break_it, lambda: path.write_text(good, encoding="utf-8"))
    assert errors.count("spec_invalid: specs/playlists/show.yaml:") == 1
    assert [line.split(" in ")[0] for line in told] == [
        "Watching. Ctrl-C ends it.",
        "fine: 1 picture",
        "Nothing to draw.",
    ]
    assert (made.out(), made.calls) == (before, calls)


def test_an_item_that_cannot_be_drawn_is_told(made: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Once, with what to do about it, and the others are drawn."""
    art = made.query("SELECT art_sha256 FROM attempt WHERE calls = 1")[0][0]
    next(made.home.glob(f"assets/*/{art}.*")).write_bytes(b"damaged")
    told, _ = follow(made, capsys, lambda: made.template(layout={"title": {"size": 120}}))
    assert [line.split(":")[0] for line in told] == ["show", "Watching. Ctrl-C ends it.", "show"]
    assert "asset_damaged" in told[0]
    assert "repair --damaged" in told[0]
    assert told[2].startswith("show: 2 pictures in ")
    assert made.calls == 3


def test_ctrl_c_is_heard_while_the_sheet_is_written(made: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run is over by then and ends as it would, and the watch with it."""
    written = kept.keep_sheet

    def interrupted(*words: Any) -> Path:
        os.kill(os.getpid(), signal.SIGINT)
        return written(*words)

    monkeypatch.setattr(kept, "keep_sheet", interrupted)
    with pytest.raises(KeyboardInterrupt):
        watch.follow(Here(made.root), [], bursts(lambda: made.playlist([item(1, text="Other"), item(2), item(3)])))
    assert {row["status"] for row in made.query("SELECT status FROM run WHERE kind = 'batch'")} == {"completed"}


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [(("nosuch",), 3, "no series nosuch"), (("series=nosuch",), 3, "no series nosuch"), (("--json",), 2, "--json")],
)
def test_what_cannot_be_watched_is_refused(made: Project, words: tuple[str, ...], code: int, message: str) -> None:
    told = made.run("watch", *words)
    assert (told.code, message in told.err) == (code, True)


def test_without_the_extra_one_line_says_how_to_get_it(made: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    told = made.run("watch")
    assert told.code == 2
    assert "watchfiles is not installed" in told.err
    assert "pip install" in told.err
    assert "[watch]" in told.err


def test_the_folders_of_specs_are_watched_and_ours_are_not(made: Project) -> None:
    """What a spec may name, also beside specs/; nothing that a batch writes, no environment."""
    for name in ("art/faces", ".git/objects", "venv/lib", "node_modules/x", "specs/locks"):
        (made.root / name).mkdir(parents=True, exist_ok=True)
    (made.root / "venv/pyvenv.cfg").touch()
    found = [folder.relative_to(made.root).as_posix() for folder in watch._folders(made.root)]
    assert found[:2] == [".", "specs"]
    assert set(found) == {
        *(".", "art", "art/faces"),
        *("specs", "specs/heroes", "specs/playlists", "specs/series", "specs/templates"),
    }
    names = ("thumbforge.toml", "specs/x.yaml", ".doit.db", "specs/.x.yaml.swp", "specs/x.yaml~", "out")
    assert [name for name in names if watch._is_a_spec(made.root, made.root / name)] == list(names[:2])


def test_a_real_watch_of_real_saves(made: Project, request: pytest.FixtureRequest) -> None:
    """Ten quick saves are one drawing; a broken list is told and mended; a folder that is new is watched; Ctrl-C ends
    it at once, with 130."""
    pytest.importorskip("watchfiles")
    process = made.start("watch", "show", anew=True)
    request.addfinalizer(process.kill)
    assert process.stdout
    assert process.stdout.readline() == "Watching. Ctrl-C ends it.\n"
    runs = made.count("run")
    path = made.root / "specs/playlists/show.yaml"
    made.playlist([item(1, text="Save 0"), item(2), item(3)])
    for number in range(1, 10):
        path.write_text(path.read_text().replace(f"Save {number - 1}", f"Save {number}"))
    assert process.stdout.readline().startswith("show: 1 picture in ")
    made.write("specs/playlists/show.yaml", "playlist: {")
    time.sleep(1)
    made.playlist([item(1, text="Save 9"), item(2), item(3)])
    assert process.stdout.readline() == "Nothing to draw.\n"
    made.write("specs/faces/one.txt", "a folder")
    assert process.stdout.readline() == "Nothing to draw.\n"
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    told = finish(process)
    assert time.monotonic() - began < 5
    assert told.code == 130
    assert "spec_invalid: specs/playlists/show.yaml:" in told.err
    assert told.err.endswith("The watch has ended.\n")
    assert "Traceback" not in told.err
    assert made.count("run") - runs <= 2  # the drawing, and what the list says of its own changes
    wait_until(lambda: made.calls == 3)
