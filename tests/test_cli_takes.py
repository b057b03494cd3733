"""Takes on the real command line: another one, back to an old one, and a lock on an approved one."""

from __future__ import annotations

from tests.project import Project, item


def takes(project: Project) -> list[tuple[int, bool]]:
    return [(t["take"], t["in_use"]) for t in project.shown("takes", "list", "2")["takes"]]


def test_a_new_take_keeps_the_old_one_and_going_back_is_free(project: Project) -> None:
    """retake=1 pays for one picture of one item; `takes use` goes back and forth without a call."""
    project.batch()
    [before] = [path.read_bytes() for path in (project.root / "out/show").glob("02-*")]
    assert project.batch("only=2", "retake=1").code == 0
    [taken] = [path.read_bytes() for path in (project.root / "out/show").glob("02-*")]
    assert (taken != before, project.calls, takes(project)) == (True, 4, [(1, False), (2, True)])
    assert project.run("takes", "use", "2", "1").code == 0
    [back] = [path.read_bytes() for path in (project.root / "out/show").glob("02-*")]
    assert (back == before, project.calls, takes(project)) == (True, 4, [(1, True), (2, False)])
    assert "Nothing to do" in project.batch().out
    project.batch("only=2", "retake=1")
    assert takes(project) == [(1, False), (2, False), (3, True)]


def test_a_locked_item_is_told_of_and_not_made(project: Project) -> None:
    """Neither another text nor a new take touches a locked picture; unlocked, it follows."""
    project.batch()
    assert project.run("takes", "lock", "2").code == 0
    project.playlist([item(1), item(2, text="Other"), item(3)])
    before = project.files()
    told = project.batch()
    assert (told.code, project.calls) == (0, 3)
    assert "locked, not made" in told.out
    assert project.batch("only=2", "retake=1").code == 0
    shown = ("out/show/sheet.html", "out/show")  # that it is locked stands on the page
    assert {n: f for n, f in project.files().items() if n.startswith("out/") and n not in shown} == {
        n: f for n, f in before.items() if n.startswith("out/") and n not in shown
    }
    assert not [line for line in project.doit("list", "--all", "-s").out.splitlines() if line.startswith("R")]
    assert project.run("takes", "unlock", "2").code == 0
    assert project.plan()[1]["action"] == "refinish"


def test_what_cannot_be_is_refused(project: Project) -> None:
    """An item or take that is not there, and a lock on what is not done."""
    assert project.run("takes", "lock", "2").code == 2
    project.batch()
    assert project.run("takes", "list", "99").code == 3
    assert project.run("takes", "use", "2", "7").code == 3
    assert project.run("takes").code == 2
    project.run("takes", "lock", "2")
    assert project.run("takes", "use", "2", "1").code == 2


def test_the_take_that_is_in_use_is_no_mistake(done: Project) -> None:
    """Said, with exit 0; its document is that of a batch with nothing to do."""
    told = done.run("takes", "use", "2", "1", "series=show")
    assert (told.code, told.out) == (0, "Take 1 is in use already.\n")
    document = done.shown("takes", "use", "2", "1", "series=show")
    assert (document["run"], document["summary"]["completed"], done.calls) == (None, 1, 0)
