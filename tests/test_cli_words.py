"""How things are named on a command line: ids, URLs, files, places, pairs and options in any order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project import Project, item, make_hero, video

LIST = "PLshow0000000000"
URL = f"https://www.youtube.com/playlist?list={LIST}"
NOTHING = "Nothing to do: all 12 thumbnails of show are up to date.\n"


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("doit", ["playlist=show", "hero=specs/heroes/hero.png"]),
        ("thumbforge", ["show", "--hero", "specs/heroes/hero.png"]),
        ("doit", [URL]),
        ("thumbforge", [URL]),
        ("doit", [f"playlist={URL}"]),
        ("thumbforge", [f"--playlist={URL}", "hero=specs/heroes/hero.png"]),
        ("doit", ["--playlist", URL, f"var.link={URL}"]),
        ("thumbforge", [f"https://www.youtube.com/watch?v=dQw4w9WgXcQ&list={LIST}&index=2"]),
        ("doit", ["--hero", "specs/heroes/hero.png", LIST, "-n", "4"]),
        ("thumbforge", ["show", "template=plain", "--provider", "fake", "--concurrency", "4"]),
        ("doit", ["--series=show", "--max-images", "0", "--max_retries=1", "wait=no", "reference=final"]),
        ("thumbforge", ["specs/playlists/show.yaml", "var.mood=calm", "--var", "colour=a=b", "var.empty="]),
    ],
)
def test_one_series_has_many_names(finished: Project, tool: str, words: list[str]) -> None:
    """Word, pair and option say the same in any order, under both names; a URL's ?list= is no pair."""
    told = finished.run("batch", *words, tool=tool)
    assert (told.code, told.out) == (0, NOTHING), told.err


def test_list_and_info_take_the_same_pairs(finished: Project) -> None:
    """`doit list` and `doit info` speak of the series that playlist= and hero= name."""
    told = finished.doit("list", "--all", "-s", f"playlist={URL}", "hero=specs/heroes/hero.png")
    assert (told.code, told.out.count("\nU thumb:")) == (0, 12)
    assert finished.doit("info", f"thumb:show:{video(2)}", "playlist=show", "hero=specs/heroes/hero.png").code == 0


@pytest.mark.parametrize("pair", ["templat=plain", "max_image=3", "playlst=show"])
def test_a_mistyped_pair_is_refused_by_doits_own_commands_too(finished: Project, pair: str) -> None:
    """It would silently plan something else; one line, no traceback."""
    told = finished.doit("list", "--all", pair)
    assert told.code != 0
    assert f"unknown variable {pair.split('=')[0]}" in told.out + told.err
    assert "Traceback" not in told.out + told.err


def test_variables_reach_the_prompt_as_they_were_typed(project: Project) -> None:
    """An = in a value, an empty value and spaces are the value."""
    project.template(prompt="{{ topic }} [{{ vars.one }}] [{{ vars.two }}] [{{ vars.three }}]")
    prompts = [row["key_parts"]["prompt"] for row in project.plan("var.one=a=b", "--var=two=", "--var", "three=c d")]
    assert prompts[0].startswith("Lesson 1 [a=b] [] [c d]")


def test_the_command_goes_before_the_item_and_the_item_before_the_series(project: Project) -> None:
    """Three places for a variable, the nearest to the user counts."""
    project.template(prompt="{{ vars.mood }}")
    project.series(vars={"mood": "series"})
    project.playlist([item(1), item(2, vars={"mood": "item"})])

    def moods(*words: str) -> list[str]:
        return [row["key_parts"]["prompt"].split("\n")[0] for row in project.plan(*words)]

    assert moods() == ["series", "item"]
    assert moods("var.mood=command") == ["command", "command"]


def test_paths_count_from_where_the_user_stands(project: Project) -> None:
    """From a sub-folder with spaces, with -f: hero and playlist are looked for there, out/ is the project's."""
    folder = project.root / "my pictures"
    make_hero(folder / "own hero.png", "#336633")
    project.write("my pictures/list.yaml", (project.root / "specs/playlists/show.yaml").read_text())
    words = ["playlist=list.yaml", "hero=own hero.png", "template=plain", "provider=fake"]
    told = project.run("-f", "../dodo.py", "batch", *words, tool="doit", cwd=folder)
    assert told.code == 0, told.err
    assert (len(project.out("list")), project.calls) == (3, 3)
    again = project.run("batch", *words, cwd=folder)  # found above, without -f
    assert again.out.startswith("Nothing to do")
    assert project.run("batch", "playlist=show", "hero=own hero.png", cwd=folder).code == 0
    missing = project.run("batch", "playlist=show", "hero=own hero.png")
    assert (missing.code, f"paths count from {project.root}" in missing.err) == (3, True)
    assert not (folder / ".thumbforge").exists()
    assert not (folder / "out").exists()


def test_a_series_names_its_hero_from_the_project(project: Project) -> None:
    """What a spec says does not depend on where the user stands."""
    folder = project.root / "deep" / "down"
    folder.mkdir(parents=True)
    assert project.run("batch", "series=show", cwd=folder).code == 0
    assert len(project.out()) == 3


def test_a_list_file_is_a_playlist(project: Project) -> None:
    """A CSV or what `yt-dlp -J` wrote is taken as it is."""
    project.write("lists/talks.csv", f"video,title,part\n{video(1)},Hello,1\n{video(2)},World,2\n")
    words = ["hero=specs/heroes/hero.png", "template=plain", "provider=fake", "--json"]
    told = project.run("batch", "playlist=lists/talks.csv", *words)
    assert told.code == 0, told.err
    assert [entry["title"] for entry in told.document["items"]] == ["Hello", "World"]
    entries = [{"id": video(3), "title": "Third"}]
    project.write(
        "lists/dump.json", json.dumps({"_type": "playlist", "id": "PLdump", "title": "D", "entries": entries})
    )
    told = project.run("batch", "playlist=lists/dump.json", *words)
    assert (told.code, [entry["video"] for entry in told.document["items"]]) == (0, [video(3)])


def test_a_video_id_may_begin_with_a_dash(project: Project) -> None:
    """It is made, listed, explained and run like any other."""
    odd = "-abcdefghij"
    project.playlist([{**item(1), "video": odd}, item(2)])
    assert project.batch().code == 0
    assert project.out() == [f"01-{odd}.jpg", f"02-{video(2)}.jpg"]
    assert project.statuses() == {odd: "U", video(2): "U"}
    assert project.doit("info", f"thumb:show:{odd}").code == 0
    assert project.doit("run", f"thumb:show:{odd}").code == 0
    refused = project.batch(odd)
    assert (refused.code, f"batch does not know what to do with '{odd}'" in refused.err) == (2, True)


def test_without_a_dodo_file_thumbforge_brings_the_tasks(done: Project) -> None:
    """The same commands and tasks in a project that has only specs."""
    (done.root / "dodo.py").unlink()
    assert done.batch().out == NOTHING
    told = done.run("list", "--all", "-s")
    assert (told.code, told.out.count("\nU thumb:")) == (0, 12)


def test_a_home_elsewhere_keeps_the_project_clean(project: Project, tmp_path: Path) -> None:
    """THUMBFORGE_HOME holds ledger and store; the project has its pictures."""
    there = project.with_environment(THUMBFORGE_HOME=str(tmp_path / "home"))
    assert there.batch().code == 0
    assert (tmp_path / "home/ledger.sqlite3").is_file()
    assert not project.home.exists()
    assert there.batch().out.startswith("Nothing to do")
    assert set(there.statuses().values()) == {"U"}


def test_an_unknown_setting_is_refused(project: Project) -> None:
    """In the file or in the environment: exit 2 with the nearest, before anything is made."""
    told = project.with_environment(THUMBFORGE_BATCH__CONCURENCY="2").batch()
    assert (told.code, "did you mean THUMBFORGE_BATCH__CONCURRENCY?" in told.err) == (2, True)
    project.write("thumbforge.toml", "[batch]\nconcurency = 2\n")
    told = project.batch()
    assert (told.code, "did you mean batch.concurrency?" in told.err, project.calls) == (2, True, 0)


def test_version_and_help_need_no_project(tmp_path: Path) -> None:
    """They work in an empty directory and leave it empty."""
    empty = Project(tmp_path / "empty")
    empty.root.mkdir()
    told = empty.run("--version")
    assert (told.code, told.out.split()[0]) == (0, "thumbforge")
    told = empty.run("help", "batch")
    assert (told.code, "--max-images" in told.out) == (0, True)
    assert empty.files() == {}
