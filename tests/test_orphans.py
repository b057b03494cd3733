"""What lies in out/ and nothing wants: told by batch, status and audit alike, taken away by `prune`, never mixed in
silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project, item, make_hero, make_project, video


@pytest.fixture
def made(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project", 3)
    assert project.batch().code == 0
    return project


def told(project: Project, series: str = "show") -> list[str]:
    """The orphans, which each command has to tell alike, in words and as data."""
    by_status = project.shown("status")["orphans"]
    notes = project.run("audit", "--json").document["notes"]
    assert [note["subject"] for note in notes if note["kind"] == "export-orphan"] == by_status
    removals = project.shown("prune", "--orphans")["removed"]
    assert [r["subject"] for r in removals if r["kind"] == "orphan"] == by_status
    batch = project.run("batch", f"series={series}", "--json")
    assert batch.document["orphans"] == by_status
    for said in (project.run("status").out, project.run("batch", f"series={series}").out):
        assert ("prune --orphans --apply" in said) == bool(by_status)
    return list(by_status)


def test_an_item_that_left_its_list(made: Project) -> None:
    """Its line deleted, or marked as removed; back again it is wanted, and nothing is made."""
    items = made.items()
    made.playlist([items[0], {**items[1], "removed": True}])
    assert told(made) == [f"out/show/02-{video(2)}.jpg", f"out/show/03-{video(3)}.jpg"]
    assert "2 files in out/show/ of items that the list no longer has: 02-" in made.batch().out
    made.playlist(items)
    assert told(made) == []
    assert "Nothing to do" in made.batch().out
    made.playlist(items[:2])
    removed = made.shown("prune", "--orphans", "--apply")["removed"]
    assert [r["subject"] for r in removed] == [f"out/show/03-{video(3)}.jpg"]
    assert made.out() == [f"01-{video(1)}.jpg", f"02-{video(2)}.jpg"]
    assert told(made) == []


def test_a_series_that_was_renamed(made: Project) -> None:
    """The old folder goes as a whole, with its sheet and its manifest; the new one is what it was."""
    (made.root / "specs/series/show.yaml").rename(made.root / "specs/series/other.yaml")
    assert made.run("batch", "series=other").code == 0
    old = [f"out/show/0{n}-{video(n)}.jpg" for n in (1, 2, 3)]
    assert told(made, "other") == old
    assert "3 files in out/show/ of a series that is gone: 01-" in made.run("status").out
    assert made.run("prune", "--orphans", "--apply").code == 0
    assert not (made.root / "out/show").exists()
    assert made.out("other") == [Path(name).name for name in old]
    assert told(made, "other") == []
    assert made.calls == 3


def test_a_lock_file_that_is_renamed_along_keeps_approvals(made: Project) -> None:
    """The lines that tell of the old folder tell of it, too."""
    assert made.run("takes", "lock", "2", "series=show").code == 0
    (made.root / "specs/series/show.yaml").rename(made.root / "specs/series/other.yaml")
    said = "specs/locks/show.yaml is that series', too: renamed as its YAML was, it keeps takes and approvals"
    assert said in made.run("status").out
    (made.root / "specs/locks/show.yaml").rename(made.root / "specs/locks/other.yaml")
    assert made.run("batch", "series=other").code == 0
    assert said not in made.run("status").out
    assert made.shown("status")["series"][0]["locked"] == 1


def test_a_series_of_the_command_line_is_none(project: Project) -> None:
    """It never stood in specs/series, so it is not gone; nor is one of a file beside the specs."""
    (project.root / "specs/series/show.yaml").unlink()
    line = ("playlist=show", "hero=specs/heroes/hero.png", "template=plain", "provider=fake")
    assert project.run("batch", *line).code == 0
    project.write("list.csv", f"title,video\nA,{video(7)}\n")
    assert project.run("batch", "list.csv", *line[1:]).code == 0
    assert project.shown("status")["orphans"] == []
    assert project.shown("prune", "--keep", "0", "--apply")["removed"] == []
    assert project.out("list") == [f"01-{video(7)}.jpg"]
    project.playlist(project.items()[:2])
    assert f"03-{video(3)}.jpg" in project.run("batch", *line).out
    assert [r["subject"] for r in project.shown("prune", "--orphans")["removed"]] == [f"out/show/03-{video(3)}.jpg"]


def test_what_a_person_changed_stays(made: Project) -> None:
    """In a folder that goes otherwise: their picture, their notes."""
    make_hero(made.root / f"out/show/02-{video(2)}.jpg")
    made.write("out/show/notes.txt", "mine")
    (made.root / "specs/series/show.yaml").rename(made.root / "specs/series/other.yaml")
    assert made.run("batch", "series=other").code == 0
    assert told(made, "other") == [f"out/show/0{n}-{video(n)}.jpg" for n in (1, 3)]
    assert made.run("prune", "--orphans", "--apply").code == 0
    assert {path.name for path in (made.root / "out/show").iterdir()} >= {f"02-{video(2)}.jpg", "notes.txt"}
    assert told(made, "other") == []


def test_a_file_that_is_gone_already_is_no_finding(made: Project) -> None:
    """Nobody puts it back, so nobody says so."""
    made.playlist(made.items()[:2])
    (made.root / f"out/show/03-{video(3)}.jpg").unlink()
    assert made.batch().code == 0
    assert told(made) == []
    assert made.shown("audit")["findings"] == []
    assert made.run("prune", "--orphans", "--apply").code == 0
    assert made.count("export") == 2


def test_a_folder_of_two_templates_is_told(made: Project) -> None:
    """By the batch that mixes it, with what differs; by status and audit until it is made anew."""
    assert made.batch("template=minimal").code == 0
    mixed = made.batch("only=2", "retake=yes")
    assert "out/show/ is a mixture: 2 files are as before (" in mixed.out
    assert "): part 1, 3; the same batch without only= makes them anew" in mixed.out
    document = made.run("batch", "series=show", "only=2", "--json").document
    assert [(row["part"], "layout" in row["fields"]) for row in document["older"]] == [(1, True), (3, True)]
    assert "out/show/ is a mixture: 2 files are as before" in made.run("status").out
    assert [n["subject"] for n in made.shown("audit")["notes"] if n["kind"] == "export-mixed"] == ["out/show/"]
    assert "mixture" not in made.batch().out
    assert "mixture" not in made.run("status").out
    assert "export-mixed" not in made.run("audit").out


def test_a_text_that_waits_is_told_as_what_it_is(made: Project) -> None:
    """A batch of some items, where another one's text has changed too."""
    made.playlist([{**entry, "text": f"New {entry['part']}"} for entry in made.items()])
    assert "is a mixture: 2 files are as before (title): part 2, 3" in made.batch("only=1").out


def test_names_of_an_old_pattern_are_told_until_they_are_renamed(made: Project) -> None:
    """Status and audit say so; after the batch nobody does."""
    made.series(output={"name": "{video}"})
    assert "3 files in out/show/ have their old names: the next batch renames them." in made.run("status").out
    assert "3 files under an old name" in made.run("audit").out
    assert "3 renamed" in made.batch().out
    assert told(made) == []
    assert "old name" not in made.run("status").out + made.run("audit").out
    assert made.out() == sorted(f"{video(n)}.jpg" for n in (1, 2, 3))


def test_everything_one_after_another(made: Project) -> None:
    """Rename the series, drop an item, switch the template, name the files: at each step all say the same, and in the
    end out/ holds one series of one template under its names, and nothing else."""
    (made.root / "specs/series/show.yaml").rename(made.root / "specs/series/next.yaml")
    assert made.run("batch", "series=next").code == 0
    assert len(told(made, "next")) == 3
    made.playlist(made.items()[:2])
    assert len(told(made, "next")) == 4
    made.series("next", template="minimal")
    assert len(told(made, "next")) == 4
    made.series("next", template="minimal", output={"name": "{part}-{slug}"})
    assert made.run("batch", "series=next").code == 0
    assert len(told(made, "next")) == 4
    assert made.run("prune", "--keep", "0", "--apply").code == 0
    assert told(made, "next") == []
    assert {p.name for p in (made.root / "out").iterdir()} == {"next"}
    assert made.out("next") == ["1-lesson-1.jpg", "2-lesson-2.jpg"]
    assert made.shown("audit")["findings"] == []


def test_a_playlist_with_nothing_to_draw_states_what_changed(made: Project) -> None:
    """An item's line is gone: the batch has nothing to make, and the ledger knows all the same."""
    made.playlist(made.items()[:2])
    assert "Nothing to do" in made.batch().out
    changes = made.shown("playlist", "log", "show")["changes"]
    assert [(c["kind"], c["video"]) for c in changes if c["kind"] == "removed"] == [("removed", video(3))]


@pytest.mark.parametrize("words", [(), ("--orphans", "--remote")])
def test_prune_needs_to_know_what(words: tuple[str, ...], made: Project) -> None:
    """Neither nothing nor two places at once."""
    assert made.run("prune", *words).code == 2


def test_a_link_in_the_place_of_a_folder_is_not_followed(made: Project, tmp_path: Path) -> None:
    """What lies behind it is no orphan."""
    made.playlist(made.items()[:2])
    (made.root / "out/show").rename(tmp_path / "elsewhere")
    (made.root / "out/show").symlink_to(tmp_path / "elsewhere")
    assert made.run("prune", "--orphans", "--apply").code == 0
    assert (tmp_path / "elsewhere" / f"03-{video(3)}.jpg").is_file()


def test_items_of_one_list_in_two_series_are_each_their_own(made: Project) -> None:
    """One series goes, the other stays as it is."""
    made.series("more")
    assert made.run("batch", "series=more").code == 0
    (made.root / "specs/series/more.yaml").unlink()
    assert told(made) == [f"out/more/0{n}-{video(n)}.jpg" for n in (1, 2, 3)]
    assert made.run("prune", "--orphans", "--apply").code == 0
    assert (len(made.out()), made.out("more")) == (3, [])


def test_a_list_that_cannot_be_read_takes_nothing_away(made: Project) -> None:
    """Its items are not known, so none of them is gone."""
    made.write("specs/playlists/show.yaml", "items: [")
    assert made.shown("prune", "--orphans", "--apply")["removed"] == []
    assert len(made.out()) == 3


def test_a_second_place_of_a_video_is_an_item_of_its_own(project: Project) -> None:
    """One line of two goes, the other's file stays."""
    project.playlist([item(1), {**item(1), "part": 2}])
    assert project.batch().code == 0
    project.playlist([item(1)])
    assert told(project) == [f"out/show/02-{video(1)}-2.jpg"]
