"""The lock file beside a project: who writes it and when, that it goes before what the ledger chose, and that what one
of a team chose is in use with all of them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, item, make_project, video
from thumbforge.store.assets import AssetStore

FILE = "specs/locks/show.yaml"
IGNORED = "/.thumbforge/\n/out/\n/.doit.db*\n__pycache__/\n"


def apart(items: list[dict[str, Any]]) -> str:
    """A list whose items stand so far from each other that git merges changes of two of them."""
    lines = "".join(f"- {json.dumps(found)}\n\n\n" for found in items)
    return f'playlist: {{"id": "PLshow0000000000", "title": "A small show", "language": "en"}}\nitems:\n{lines}'


def git(project: Project, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    told = subprocess.run(["git", *who, *words], cwd=project.root, capture_output=True, text=True, check=True)
    return told.stdout


def commit(project: Project, text: str = "more") -> None:
    git(project, "add", "-A")
    git(project, "commit", "-qm", text)


def clone(project: Project, root: Path) -> Project:
    git(project, "clone", "-q", str(project.root), str(root))
    return Project(root, project.extra)


def entries(project: Project, name: str = FILE) -> dict[str, dict[str, Any]]:
    lines = (project.root / name).read_text().splitlines()
    return {e["video"]: e for e in (json.loads(line[2:]) for line in lines if line.startswith("- "))}


def text(project: Project) -> str:
    return (project.root / FILE).read_text()


def in_use(project: Project, n: int) -> str:
    """The hash of the art in use, as `takes list` tells it."""
    [found] = [take for take in project.shown("takes", "list", str(n), "series=show")["takes"] if take["in_use"]]
    return str(found["sha256"])


@pytest.fixture
def a(tmp_path: Path) -> Project:
    """A project under git, nothing made."""
    project = make_project(tmp_path / "a", 12)
    project.write("specs/playlists/show.yaml", apart(project.items()))
    project.write(".gitignore", IGNORED)
    project.write(".gitattributes", "/specs/locks/*.yaml merge=union\n")
    git(project, "init", "-q", "-b", "main")
    commit(project)
    return project


@pytest.fixture
def b(a: Project, tmp_path: Path) -> Project:
    """What another of the team clones: A made twelve, approved two, and committed the lock; A's art was copied."""
    assert a.batch().code == 0
    assert a.batch("only=3", "retake=yes").code == 0
    for n in (3, 5):
        assert a.run("takes", "lock", str(n), "series=show").code == 0
    commit(a, "made")
    other = clone(a, tmp_path / "b")
    shutil.copytree(a.home / "assets", other.home / "assets")
    return other


def test_what_one_chose_is_in_use_with_the_other(a: Project, b: Project) -> None:
    """Art from the copied store, the take and the approvals from the lock: no call, and the same files."""
    told = b.batch()
    assert (told.code, b.calls) == (0, 0), told.err
    assert {name: (b.root / "out/show" / name).read_bytes() for name in b.out()} == {
        name: (a.root / "out/show" / name).read_bytes() for name in a.out()
    }
    assert in_use(b, 3) == in_use(a, 3) == entries(a)[video(3)]["art_sha256"]
    assert entries(b)[video(3)]["take"] == 2
    assert [b.shown("takes", "list", str(n), "series=show")["locked"] for n in (3, 4, 5)] == [True, False, True]
    assert git(b, "status", "--short") == ""


def test_one_text_changed_is_one_line_of_the_lock(b: Project) -> None:
    """Drawn again without a call."""
    assert b.batch().code == 0
    b.write("specs/playlists/show.yaml", apart([*b.items()[:6], item(7, text="Another *word*"), *b.items()[7:]]))
    commit(b)
    assert b.batch().code == 0
    assert b.calls == 0
    assert git(b, "diff", "--numstat", FILE).split()[:2] == ["1", "1"]


@pytest.mark.parametrize("mine", [6, 8, 12])
def test_both_change_different_items_and_merge(a: Project, b: Project, mine: int) -> None:
    """Neighbours or not: nothing that a person must read, and one batch later the file is as if one had done both."""
    assert b.batch().code == 0
    for project, n in ((a, 7), (b, mine)):
        found = project.items()
        found[n - 1]["label"] = f"label {n}"
        found[n - 1]["part"] = None
        project.write("specs/playlists/show.yaml", apart(found))
        assert project.batch().code == 0
        commit(project, f"item {n}")
    git(b, "pull", "-q", "--no-rebase", "--no-edit", str(a.root), "main")
    assert b.batch().code == 0
    assert b.calls == 0
    assert len(entries(b)) == 12
    assert len([line for line in text(b).splitlines() if line.startswith("- ")]) == 12
    assert b.batch().out.startswith("Nothing to do")


def test_without_a_merge_driver_the_refusal_says_what_to_type(a: Project, b: Project) -> None:
    """Git's own marks: exit 2, the line, and the two commands; they work, and the next batch puts the rest right."""
    assert b.batch().code == 0
    (a.root / ".gitattributes").unlink()
    (b.root / ".gitattributes").unlink()
    for project, word in ((a, "ours"), (b, "theirs")):
        project.playlist(item(n, **({"text": word} if n == 7 else {})) for n in range(1, 13))
        assert project.batch().code == 0
        commit(project, word)
    with pytest.raises(subprocess.CalledProcessError):
        git(b, "pull", "-q", "--no-rebase", "--no-edit", str(a.root), "main")
    git(b, "checkout", "--ours", "specs/playlists/show.yaml")
    told = b.batch("--json")
    assert (told.code, told.problem["code"]) == (2, "spec_invalid")
    assert told.problem["message"].startswith(f"{FILE}:14: a merge is not finished")
    command = told.problem["hint"].split(" keeps ")[0]
    assert command == f"git checkout --ours {FILE}"
    git(b, *command.split()[1:])
    assert b.batch().code == 0


def test_only_who_chooses_changes_the_lock(done: Project) -> None:
    """A first batch writes it; with nothing to do it stays the very file; out of date it is written and nothing else
    is done; retakes, takes and approvals stand in it."""
    before = (done.root / FILE).stat()
    assert len(entries(done)) == 12
    assert done.batch().code == 0
    assert (done.root / FILE).stat().st_ino == before.st_ino
    first = text(done)
    (done.root / FILE).unlink()
    runs = done.count("run")
    for words in (["status"], ["batch", "series=show", "--dry-run"], ["list", "--all"], ["takes", "list", "1"]):
        assert done.run(*words).code == 0
    assert not (done.root / FILE).exists()
    assert done.batch().out.startswith("Nothing to do")
    assert text(done) == first
    (done.root / FILE).unlink()
    assert done.doit("run").code == 0
    assert (text(done), done.count("run"), done.calls) == (first, runs, 0)


def test_takes_stand_in_the_lock(done: Project) -> None:
    """A new take, back to the old one, an approval and its end."""
    assert done.batch("only=2", "retake=yes").code == 0
    assert (entries(done)[video(2)]["take"], done.calls) == (2, 1)
    assert done.batch().out.startswith("Nothing to do")
    assert done.run("takes", "use", "2", "1", "series=show").code == 0
    assert (entries(done)[video(2)]["take"], done.calls) == (1, 1)
    assert done.batch().out.startswith("Nothing to do")
    for word, approved in (("lock", True), ("unlock", False)):
        assert done.run("takes", word, "2", "series=show").code == 0
        assert entries(done)[video(2)]["approved"] is approved
        assert done.batch().out.startswith("Nothing to do")
        assert done.shown("takes", "list", "2", "series=show")["locked"] is approved


def test_doits_own_way_writes_it_too(project: Project) -> None:
    """Plain doit, and one item alone: a partial run leaves the others' entries."""
    assert project.doit("run", f"thumb:show:{video(2)}").code == 0
    assert list(entries(project)) == [video(2)]
    assert project.doit("run", f"thumb:show:{video(1)}").code == 0
    assert list(entries(project)) == [video(1), video(2)]
    assert project.batch("only=3").code == 0
    assert len(entries(project)) == 3
    project.playlist([item(1), item(3)])
    assert project.batch().code == 0
    assert list(entries(project)) == [video(1), video(3)]


def test_the_lock_goes_before_what_this_ledger_chose(done: Project) -> None:
    """Somebody else's choice comes with git: the take is in use here, without a call, and nothing but takes changes it
    back."""
    first = text(done)
    assert done.batch("only=2", "retake=yes").code == 0
    second = text(done)
    picture = (done.root / "out/show" / f"02-{video(2)}.jpg").read_bytes()
    done.write(FILE, first)
    assert [row["action"] for row in done.plan()].count("refinish") == 1
    assert done.batch().code == 0
    assert (done.root / "out/show" / f"02-{video(2)}.jpg").read_bytes() != picture
    assert (text(done), done.calls) == (first, 1)
    done.write(FILE, second)
    assert done.doit("run").code == 0
    assert (done.root / "out/show" / f"02-{video(2)}.jpg").read_bytes() == picture
    assert done.batch().out.startswith("Nothing to do")
    assert (text(done), done.calls) == (second, 1)


def test_an_approval_that_comes_with_the_lock_holds_here(done: Project) -> None:
    """And one that the lock takes away does not."""
    first = text(done)
    assert done.run("takes", "lock", "2", "series=show").code == 0
    approved = text(done)
    done.template(prompt="Another picture of {{ topic }}.")
    assert [row["action"] for row in done.plan()].count("skip") == 1
    done.write(FILE, first)
    done.template()
    assert done.run("takes", "list", "2", "series=show", "--json").document["locked"] is False
    done.write(FILE, approved)
    assert done.run("takes", "list", "2", "series=show", "--json").document["locked"] is True


def test_an_approved_picture_that_is_not_here_is_not_painted_anew(a: Project, b: Project) -> None:
    """The specs have moved on since A approved it: B is told, and pays nothing for another one."""
    a.template(prompt="Another picture of {{ topic }}.")
    assert a.batch("only=3,5").out.startswith("Nothing to do")
    assert entries(a)[video(3)]["approved"] is True
    b.template(prompt="Another picture of {{ topic }}.")
    told = b.batch("only=3,5", "--json")
    assert (told.code, b.calls) == (4, 0)
    assert all("takes unlock" in found["error"] for found in told.document["items"])
    assert b.run("takes", "unlock", "3", "series=show").code == 0
    assert entries(b)[video(3)]["approved"] is False
    foreseen = b.batch("only=3,5", "--dry-run", "--json").document["plan"]
    assert [row["action"] for row in foreseen] == ["create", "skip"]


def test_a_clone_without_the_art_is_told_why_it_would_pay(a: Project, tmp_path: Path) -> None:
    """As it did before there was a lock; the dry run says it."""
    assert a.batch("only=1").code == 0
    commit(a)
    other = clone(a, tmp_path / "other")
    [row] = other.plan("only=1")
    assert (row["action"], row["reason"]) == ("create", "the art that the lock file names is not here")


def test_art_that_is_not_here_stays_in_the_lock_until_somebody_chooses(a: Project, tmp_path: Path) -> None:
    """Here is another picture for the same request: it is in use meanwhile, with a word, and overwrites no choice. Once
    the chosen art is in the store it is used; `takes use` puts what is here into the lock."""
    for n in (1, 2):
        assert a.batch(f"only={n}").code == 0
    own = entries(a)[video(1)]["art_sha256"]
    theirs = entries(a)[video(2)]["art_sha256"]
    text_of_theirs = text(a).replace(own, theirs)
    there = AssetStore(a.home)
    aside = tmp_path / "aside"
    [path] = a.home.rglob(f"{theirs}.*")
    a.execute("UPDATE attempt SET art_key = 'x' WHERE art_sha256 = ?", theirs)
    path.rename(aside)
    a.write(FILE, text_of_theirs)
    told = a.batch("only=1")
    assert (told.code, "1 picture of other art than the lock file names" in told.err) == (0, True), told.err
    assert (text(a), in_use(a, 1)) == (text_of_theirs, own)
    assert a.run("takes", "use", "1", "1", "series=show").code == 0
    assert entries(a)[video(1)]["art_sha256"] == own
    a.write(FILE, text_of_theirs)
    aside.rename(path)
    assert there.holds(theirs)
    told = a.batch("only=1")
    assert (told.code, in_use(a, 1), text(a) == text_of_theirs) == (0, theirs, False), told.err
    assert a.calls == 2
    assert entries(a)[video(1)]["art_sha256"] == theirs


def test_a_copied_store_without_the_ledger_is_enough(a: Project, tmp_path: Path) -> None:
    """No ledger, no records: the art is found by its hash alone."""
    assert a.batch("only=1,2").code == 0
    commit(a)
    other = clone(a, tmp_path / "other")
    shutil.copytree(a.home / "assets", other.home / "assets")
    assert [row["action"] for row in other.plan("only=1,2")] == ["refinish", "refinish"]
    assert other.batch("only=1,2").code == 0
    assert other.calls == 0


@pytest.mark.parametrize("words", [["batch", "series=show"], ["run"], ["status"], ["takes", "list", "1"]])
def test_a_lock_that_is_nonsense_is_one_line_from_every_face(done: Project, words: list[str]) -> None:
    """With the file and the line, exit 2; nothing is made."""
    done.write(FILE, text(done).replace('"place": 1', '"place": "one"', 1))
    told = done.run(*words)
    assert told.code == 2, told.out
    assert f"{FILE}:8: place: expected a whole number from 1" in told.err
    assert "Traceback" not in told.err


def test_a_folder_of_locks_that_leads_out_of_the_project_is_refused(project: Project, tmp_path: Path) -> None:
    """It may have come with a clone, and it is written to."""
    (tmp_path / "elsewhere").mkdir()
    (project.root / "specs/locks").symlink_to(tmp_path / "elsewhere")
    told = project.batch()
    assert (told.code, "leads out of the project" in told.err) == (2, True)


def test_a_lock_that_cannot_be_written_fails_no_picture(project: Project) -> None:
    """It is told, and the next batch with nothing to do writes it."""
    project.write("specs/locks", "no folder\n")
    told = project.batch()
    assert (told.code, "the lock file was not written" in told.err) == (0, True), told.err
    (project.root / "specs/locks").unlink()
    assert project.batch().out.startswith("Nothing to do")
    assert len(entries(project)) == 3


def test_what_the_lock_names_is_no_waste(b: Project, project: Project) -> None:
    """Art that was copied beside a clone and that no row, manifest or record tells of stays when the store is cleaned;
    art of a take that the lock has chosen stays when takes are pruned."""
    quick = b.with_environment(THUMBFORGE_REPAIR__GRACE_S="0")
    assert b.batch("only=1").code == 0
    assert quick.run("repair", "--apply").code == 0
    assert b.batch().code == 0
    assert b.calls == 0
    assert project.batch("only=1").code == 0
    first = text(project)
    assert project.batch("only=1", "retake=yes").code == 0
    project.write(FILE, first)
    assert project.run("prune", "--keep", "0", "--apply").code == 0
    assert project.batch("only=1").code == 0
    assert (text(project), project.calls) == (first, 2)


def test_audit_and_status_tell_where_a_lock_is_out_of_date(done: Project) -> None:
    """A note, and a line with what to type; one that cannot be read is a finding."""
    (done.root / FILE).unlink()
    told = done.run("status")
    assert "The lock file of show is not there yet.\nNext: thumbforge batch series=show\n" in told.out
    assert done.batch().code == 0
    done.write(FILE, text(done).replace(f'"02-{video(2)}.jpg"', '"old.jpg"'))
    assert done.shown("status")["series"][0]["lock"] == "stale"
    assert "The lock file of show is out of date." in done.run("status").out
    found = done.shown("audit")
    assert [note["kind"] for note in found["notes"]] == ["lock-stale"]
    told = done.run("check")
    assert (told.code, "the lock file is out of date in 1 line" in told.err) == (0, True)
    assert done.batch().code == 0
    assert done.shown("status")["series"][0]["lock"] == "current"
    assert done.shown("audit")["notes"] == []
    done.write(FILE, "nonsense\n")
    assert done.run("check").code == 2
    told = done.run("audit", "--json")
    assert (told.code, [found["kind"] for found in told.document["findings"]]) == (1, ["lock"])


def test_a_run_that_is_resumed_writes_it(project: Project) -> None:
    """Killed in the middle, and gone on with from its own plan: what another run made meanwhile keeps its entry."""
    assert project.batch("only=3").code == 0
    killed = project.with_environment(THUMBFORGE_FAULT="staged.after:kill").run("batch", "series=show", "only=1-2")
    assert killed.code == -9
    assert list(entries(project)) == [video(3)]
    [run] = project.query("SELECT id FROM run WHERE kind = 'batch' AND finished_at IS NULL")
    assert project.run("runs", "resume", run["id"]).code == 0
    assert list(entries(project)) == [video(1), video(2), video(3)]
    assert project.batch().out.startswith("Nothing to do")
