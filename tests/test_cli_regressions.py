"""What broke once, each on the real command line."""

from __future__ import annotations

import shutil

from tests.project import Project, item, video

PROMPT = "A picture of {{ topic }}."
ALL_MARKED = "A picture. {{ vars.fail }}"


def test_a_bad_picture_stays_bad_under_another_key(project: Project) -> None:
    """A template comment is another key with the same final: it still breaks the rule and is not exported."""
    project.template(prompt=PROMPT)
    project.playlist([item(1, text="\ue000 here"), item(2)])
    assert project.batch().code == 6
    project.template(prompt=PROMPT + "{# new #}")
    told = project.batch("--json")
    assert told.document["items"][0]["status"] == "failed"
    assert project.out() == [f"02-{video(2)}.jpg"]


def test_a_locked_items_export_comes_back(project: Project) -> None:
    """Deleting out/ loses no locked picture either."""
    project.batch()
    project.run("takes", "lock", f"thumb:show:{video(1)}")
    shutil.rmtree(project.root / "out")
    assert project.batch().code == 0
    assert len(project.out()) == 3


def test_two_places_of_a_video_are_one_try(project: Project) -> None:
    """A video that stands twice in the list fails once."""
    twice = {"video": video(1), "title": "Lesson 1"}
    project.template(prompt=ALL_MARKED)
    project.playlist([twice, twice])
    project.batch("var.fail=[[FAIL_PERMANENT]]")
    assert project.calls == 1


def test_a_playlist_title_is_one_line(project: Project) -> None:
    """No control character of a title reaches the terminal."""
    head = {"id": "PLshow0000000000", "title": "A\x1b[31mb\nc"}
    project.write("specs/playlists/show.yaml", {"playlist": head, "items": [item(1)]})
    assert "\x1b" not in project.batch().out


def test_one_failed_item_gives_doits_code_for_a_failed_task(project: Project) -> None:
    """Plain doit ends with 1, not with 2 because the group of tasks is unmet too; `thumbforge` with ours."""
    project.template(prompt=ALL_MARKED)
    project.playlist([item(1), item(2)])
    assert project.doit("var.fail=[[FAIL_PERMANENT]]").code == 1
    assert project.run("run", "var.fail=[[FAIL_PERMANENT]]").code == 4


def test_digits_of_other_scripts_are_no_numbers(project: Project) -> None:
    """`only=٣` is refused, not read as 3."""
    assert project.batch("only=٣").code == 2
    assert project.batch("max_images=٣").code == 2
