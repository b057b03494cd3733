"""`out/<series>/manifest.json`: what lies beside it, for whoever goes on with the pictures."""

from __future__ import annotations

import json
from typing import Any

from tests.project import Project, item, make_hero, video


def manifest(project: Project) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project.root / "out/show/manifest.json").read_text(encoding="utf-8"))
    return found


def test_it_names_each_picture_that_lies_there(project: Project) -> None:
    """In the list's order, with what it is: file, video, part, title, key, final, take."""
    project.playlist([item(2), item(1, part=None, title="Trailer"), item(3)])
    assert project.batch("only=2-3").code == 0
    told = manifest(project)
    assert (told["series"], told["declared"], told["playlist"], told["template"]) == (
        "show", True, "PLshow0000000000", {"name": "plain", "version": 1},
    )  # fmt: skip
    assert [(e["file"], e["position"], e["part"], e["title"]) for e in told["items"]] == [
        (f"02-{video(2)}.jpg", 1, 2, "Lesson 2"),
        (f"02-{video(1)}.jpg", 2, None, "Trailer"),
        (f"03-{video(3)}.jpg", 3, 3, "Lesson 3"),
    ]
    plans = {row["video"]: row["key"] for row in project.plan()}
    exported = {row["path"]: row["sha256"] for row in project.query("SELECT path, sha256 FROM export")}
    for entry in told["items"]:
        assert entry["key"] == plans[entry["video"]]
        assert entry["final"] == exported[f"show/{entry['file']}"]
        assert (entry["take"], entry["edited"]) == (1, False)


def test_its_bytes_stay_while_nothing_changes(done: Project) -> None:
    """It is not even written anew: by a batch, by doit, by a batch of some items."""
    path = done.root / "out/show/manifest.json"
    before = (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
    for words in (("batch", "series=show"), ("batch", "series=show", "only=3"), ("run",)):
        assert done.run(*words).code == 0
        assert (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino) == before
    path.unlink()
    assert done.batch().code == 0
    assert path.read_bytes() == before[0]


def test_a_change_of_one_item_is_a_change_of_one_line(done: Project) -> None:
    """A text, a take, a title that is not drawn, an item that is gone; each is there after the next batch."""
    path = done.root / "out/show/manifest.json"

    def changed(*words: str) -> list[str]:
        before = path.read_text().splitlines()
        assert done.run(*(words or ("batch", "series=show"))).code == 0
        return [
            line for line in path.read_text().splitlines() if line.rstrip(",") not in {b.rstrip(",") for b in before}
        ]

    assert done.run("playlist", "set", "show", "5", "text=New").code == 0
    [line] = changed()
    assert video(5) in line
    [line] = changed("batch", "series=show", "only=7", "retake=yes")
    assert '"take": 2' in line
    done.playlist([{**entry, "text": entry["title"], "title": f"{entry['title']}!", "topic": entry["title"]}
                   if entry["part"] == 3 else entry for entry in done.items()])  # fmt: skip
    [line] = changed()
    assert '"title": "Lesson 3!"' in line
    done.playlist(done.items()[:-1])
    assert changed() == []
    assert len(manifest(done)["items"]) == 11


def test_what_is_not_there_is_not_in_it(project: Project) -> None:
    """An item that failed; a file of the user's is marked."""
    project.playlist([item(1), item(2, vars={"fail": "[[FAIL_PERMANENT]]"}), item(3)])
    project.template(prompt="x {{ topic }} {{ vars.fail }}")
    project.series(vars={"fail": ""})
    assert project.batch().code == 6
    assert [entry["position"] for entry in manifest(project)["items"]] == [1, 3]
    make_hero(project.root / f"out/show/03-{video(3)}.jpg")
    project.batch()
    assert [entry["edited"] for entry in manifest(project)["items"]] == [False, True]


def test_what_was_done_to_it_or_to_a_picture_is_put_right(done: Project) -> None:
    """By a batch with nothing to do; the audit has noted it."""
    path, picture = done.root / "out/show/manifest.json", done.root / f"out/show/03-{video(3)}.jpg"
    right, mine = path.read_bytes(), picture.read_bytes()
    path.write_bytes(right[:99])
    assert "manifest-stale" in done.run("audit").out
    assert "Nothing to do" in done.batch().out
    assert path.read_bytes() == right
    make_hero(picture)
    done.batch()
    assert [entry["edited"] for entry in manifest(done)["items"]].index(True) == 2
    picture.write_bytes(mine)
    done.batch()
    assert path.read_bytes() == right
    assert "manifest-stale" not in done.run("audit").out


def test_a_locked_picture_is_told_as_what_it_is(project: Project) -> None:
    """Under the name and the key that it was made with."""
    assert project.batch().code == 0
    before = manifest(project)["items"][1]
    assert project.run("takes", "lock", "2", "series=show").code == 0
    project.playlist([item(1), {**item(2), "part": 9, "text": "Other"}, item(3)])
    assert project.batch().code == 0
    [now] = [entry for entry in manifest(project)["items"] if entry["video"] == video(2)]
    assert (now["file"], now["key"], now["final"], now["part"]) == (before["file"], before["key"], before["final"], 9)
    page = (project.root / "out/show/sheet.html").read_text(encoding="utf-8")
    assert f"09-{video(2)}.jpg" not in page
    assert f"02-{video(2)}.jpg" in page


def test_a_run_that_is_resumed_leaves_the_others_in_it(project: Project) -> None:
    """Only the positions of the run are told anew."""
    project.playlist([item(1), item(2, vars={"fail": "[[FAIL_PERMANENT]]"}), item(3)])
    project.template(prompt="x {{ topic }} {{ vars.fail }}")
    project.series(vars={"fail": ""})
    assert project.batch("only=1").code == 0
    assert project.batch("only=2-3").code == 6
    run = project.shown("runs", "list")["runs"][0]["id"]
    assert project.run("runs", "resume", run, "var.fail=").code == 0
    assert [entry["position"] for entry in manifest(project)["items"]] == [1, 2, 3]


def test_a_folder_that_leads_elsewhere_is_not_written_to(project: Project, tmp_path_factory: Any) -> None:
    """out/show as a link out of the project: nothing of it is touched."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (project.root / "out").mkdir()
    (project.root / "out/show").symlink_to(elsewhere)
    project.batch()
    assert list(elsewhere.iterdir()) == []


def test_a_take_that_is_put_back_stands_in_it(done: Project) -> None:
    """Without a run, too: what `takes use` lays into out/ the manifest says, and the audit has nothing to note."""
    first = manifest(done)["items"][1]
    assert done.batch("only=2", "retake=yes").code == 0
    assert done.run("takes", "use", "2", "1").code == 0
    assert manifest(done)["items"][1] == first
    assert "manifest-stale" not in done.run("audit").out
