"""out/: stable names, our files only, and nothing of the user's is ever lost."""

from __future__ import annotations

from tests.project import Project, item, make_hero, video


def test_an_edited_file_is_left_alone(done: Project) -> None:
    """A new picture does not overwrite it. The item is not completed, now and the next time: the line says how to get
    the new one."""
    path = done.root / f"out/show/05-{video(5)}.jpg"
    make_hero(path)
    mine = path.read_bytes()
    items = done.items()
    items[4]["text"] = "Other"
    done.playlist(items)
    runs = done.count("run")
    for told in (done.batch(), done.batch()):
        assert path.read_bytes() == mine
        assert f"out/show/05-{video(5)}.jpg was edited and is left alone; move it away" in told.out
        assert (told.code, done.calls) == (6, 0)
    assert done.count("run") == runs + 1
    path.unlink()
    assert done.batch().code == 0
    assert path.read_bytes() != mine


def test_an_edited_file_of_an_item_that_is_done_is_left_alone(done: Project) -> None:
    """Without any change of the specs nothing touches it at all; each command says so."""
    path = done.root / f"out/show/05-{video(5)}.jpg"
    make_hero(path)
    mine, said = path.read_bytes(), f"out/show/05-{video(5)}.jpg was edited and is left alone"
    for told in (done.batch(), done.batch(), done.doit(), done.batch("--dry-run")):
        assert (told.code, said in told.err + told.out) == (0, True)
    assert done.statuses()[video(5)] == "U"
    assert "export-differs" in done.run("audit").out
    assert (path.read_bytes() == mine, done.calls) == (True, 0)


def test_renumbering_renames(done: Project) -> None:
    """New names, no file under an old one."""
    done.playlist([{**entry, "part": entry["part"] + 100} for entry in done.items()])
    assert done.batch().code == 0
    assert done.out() == [f"{n + 100}-{video(n)}.jpg" for n in range(1, 13)]
    assert set(done.statuses().values()) == {"U"}


def test_renumbering_costs_nothing_where_the_prompt_does_not_know_the_part(done: Project) -> None:
    """The art is adopted; only the badge is drawn anew."""
    done.playlist([{**entry, "part": 13 - entry["part"]} for entry in done.items()])
    told = done.batch("--json")
    assert (told.code, done.calls) == (0, 0)
    assert {entry["action"] for entry in told.document["items"]} == {"refinish"}
    assert done.out() == sorted(f"{13 - n:02d}-{video(n)}.jpg" for n in range(1, 13))


def test_a_swap_of_two_parts_keeps_both_pictures(done: Project) -> None:
    """Each of the two files is the picture of its video afterwards."""
    items = done.items()
    items[0]["part"], items[1]["part"] = 2, 1
    done.playlist(items)
    assert (done.batch().code, done.calls) == (0, 0)
    assert done.out()[:2] == [f"01-{video(2)}.jpg", f"02-{video(1)}.jpg"]
    exported = {row["item_key"]: row["path"] for row in done.query("SELECT item_key, path FROM export")}
    assert exported[f"video:{video(1)}:1"] == f"show/02-{video(1)}.jpg"


def test_an_old_name_that_was_edited_stays(done: Project) -> None:
    """Only a file that is ours by its hash goes when its item is renamed."""
    path = done.root / f"out/show/05-{video(5)}.jpg"
    make_hero(path)
    items = done.items()
    items[4]["part"] = 55
    done.playlist(items)
    assert done.batch().code == 0
    assert path.is_file()
    assert (done.root / f"out/show/55-{video(5)}.jpg").is_file()


def test_an_item_that_left_the_playlist_keeps_its_file(done: Project) -> None:
    """Nothing is deleted because a video was retracted."""
    done.playlist(done.items()[:-1])
    assert done.batch().code == 0
    assert len(done.out()) == 12


def test_files_of_the_user_in_the_folder_stay(project: Project) -> None:
    """Whatever lies beside the exports is none of our business."""
    project.write("out/show/notes.txt", "mine")
    assert project.batch().code == 0
    assert (project.root / "out/show/notes.txt").read_text() == "mine"
    assert {path.name for path in (project.root / "out/show").iterdir()} == {
        *("notes.txt", "sheet.files", "sheet.html", "sheet.png", "manifest.json"),
        *project.out(),
    }


def test_png_is_another_file(project: Project) -> None:
    """The format is the file's ending; a change of it costs no call and removes the old file."""
    assert project.batch().code == 0
    project.write("thumbforge.toml", '[output]\nwidth = 1280\nheight = 720\nformat = "png"\n')
    assert (project.batch().code, project.calls) == (0, 3)
    assert project.out() == [f"{n:02d}-{video(n)}.png" for n in (1, 2, 3)]
    assert all((project.root / "out/show" / name).read_bytes()[:4] == b"\x89PNG" for name in project.out())


def test_an_item_without_a_part_is_named_by_its_position(project: Project) -> None:
    """So that the files sort as the playlist does."""
    project.playlist([{"video": video(9), "title": "Trailer"}, item(2)])
    assert project.batch().code == 0
    assert project.out() == [f"01-{video(9)}.jpg", f"02-{video(2)}.jpg"]
