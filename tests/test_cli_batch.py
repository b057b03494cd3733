"""`batch`: makes what is missing, skips what is done, tells exactly what it would do, and refuses before it pays."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from tests.project import ALL_MARKED, MARKED, Project, Told, finish, item, make_hero, make_project, video

PARTS = ("spec_hash", "provider_profile", "video", "part", "prompt", "seed", "reference")


# Making, and making nothing


def test_a_batch_makes_every_item(project: Project) -> None:
    """Exit 0, one call and one file each, named by part and video."""
    told = project.batch()
    assert (told.code, project.calls) == (0, 3)
    assert project.out() == [f"{n:02d}-{video(n)}.jpg" for n in (1, 2, 3)]
    assert "3 made: out/show/" in told.out.splitlines()


def test_each_attempt_names_its_reference(finished: Project) -> None:
    """The request of every attempt has the hero by the hash of its original bytes and by its path in the project."""
    sha256 = hashlib.sha256((finished.root / "specs/heroes/hero.png").read_bytes()).hexdigest()
    [run] = finished.shown("runs", "list", "--kind", "batch")["runs"]
    attempts = finished.shown("runs", "show", run["id"])["attempts"]
    assert len(attempts) == 12
    for attempt in attempts:
        reference = attempt["request"]["reference"]
        assert reference["sha256"] == sha256
        assert (finished.root / reference["path"]).read_bytes() == (
            finished.root / "specs/heroes/hero.png"
        ).read_bytes()
        assert (attempt["outcome"], attempt["calls"], attempt["n"]) == ("ok", 1, 1)


def test_the_run_knows_its_hero(finished: Project) -> None:
    """A hero file is recorded as a completed hero run with one picked iteration, the batch's parent."""
    [batch] = finished.shown("runs", "list", "--kind", "batch")["runs"]
    [hero] = finished.shown("runs", "list", "--kind", "hero")["runs"]
    assert (batch["parent_run_id"], hero["kind"], hero["status"]) == (hero["id"], "hero", "completed")
    [iteration] = finished.shown("runs", "show", hero["id"])["iterations"]
    assert (iteration["picked"], iteration["status"]) == (True, "completed")


def test_a_second_batch_does_nothing(done: Project) -> None:
    """It says so in one line, exits 0, makes no run row and no call, and changes no file. The first one in a copied
    project reads what lies there; from then on a look is enough."""
    assert done.batch().out.startswith("Nothing to do")
    runs, before = done.count("run"), done.files()
    told = done.batch()
    assert (told.code, told.out) == (0, "Nothing to do: all 12 thumbnails of show are up to date.\n")
    assert (done.calls, done.count("run")) == (0, runs)
    assert done.files() == before


def test_a_hero_recorded_by_one_batch_is_a_hero_for_the_next(done: Project) -> None:
    """The run's and the iteration's id, or their beginnings, name the same picture: nothing is to be made."""
    hero = done.query(
        "SELECT run.id, iteration.id AS pick FROM run JOIN iteration ON iteration.id = picked_iteration_id"
    )[0]
    for word in (hero["id"], hero["id"][:8], hero["pick"], hero["pick"][:8]):
        told = done.batch(f"hero={word}")
        assert (told.code, told.out[:14]) == (0, "Nothing to do:"), told.err
    assert done.calls == 0


def test_only_makes_the_parts_that_are_named(project: Project) -> None:
    """Others are not even listed."""
    told = project.batch("only=1,3", "--json")
    assert [entry["part"] for entry in told.document["items"]] == [1, 3]
    assert project.out() == [f"{n:02d}-{video(n)}.jpg" for n in (1, 3)]


def test_a_video_added_on_top_is_one_call(done: Project) -> None:
    """Positions move; no other picture is touched."""
    done.playlist([item(99), *done.items()])
    told = done.batch("--json")
    assert (told.code, done.calls) == (0, 1)
    assert [entry["action"] for entry in told.document["items"]] == ["create"] + ["skip"] * 12


def test_the_same_video_twice_is_one_call_and_two_files(project: Project) -> None:
    """Each place has a task and a file; the picture is shared."""
    twice = {"video": video(1), "title": "Lesson 1"}
    project.playlist([twice, {"video": video(2), "title": "Lesson 2"}, twice])
    assert (project.batch().code, project.calls) == (0, 2)
    assert project.out() == [f"01-{video(1)}.jpg", f"02-{video(2)}.jpg", f"03-{video(1)}-2.jpg"]
    assert project.statuses() == {video(1): "U", video(2): "U", f"{video(1)}:2": "U"}


def test_two_series_on_one_playlist_stand_side_by_side(project: Project) -> None:
    """Each has its template, its pictures and its folder; making one leaves the other alone."""
    project.template("loud", extends="bold-title")
    project.series("loud", template="loud")
    assert project.doit().code == 0
    assert (project.calls, len(project.out()), len(project.out("loud"))) == (6, 3, 3)
    assert project.batch().out.startswith("Nothing to do")
    assert project.run("batch", "series=loud").out.startswith("Nothing to do")
    told = project.run("batch", "playlist=show", tool="doit")
    assert told.code == 0  # the series of the playlist's own name
    assert project.calls == 6


def test_a_playlist_of_several_series_asks_which(project: Project) -> None:
    """Where none of them has the playlist's name: exit 2, naming the choices."""
    project.series("loud")
    (project.root / "specs/series/show.yaml").rename(project.root / "specs/series/calm.yaml")
    told = project.run("batch", "playlist=show")
    assert told.code == 2
    assert "series=calm or series=loud" in told.err


def test_concurrency_is_an_upper_limit(project: Project) -> None:
    """Eight threads on a profile that allows one call make one call at a time."""
    project.profile("slow", params={"delay_ms": 20}, max_concurrency=1)
    told = project.batch("provider=slow", "-n", "8")
    assert (told.code, project.calls) == (0, 3)
    assert [event["event"] for event in project.events()] == ["start", "end"] * 3


# Failures


def test_failed_items_do_not_stop_the_rest(tmp_path: Path) -> None:
    """Ten of twelve: exit 6, three calls for each that fails, a second try next time, and none after the second."""
    project = make_project(tmp_path / "project", 12)
    project.template(prompt=MARKED)
    fail = "var.fail=[[FAIL_TRANSIENT]]"
    told = project.batch(fail)
    assert told.code == 6
    assert "10 made, 2 failed" in told.out
    for part in (3, 7):
        tries = re.findall(rf'provider call failed .*part={part} .*try="(\d) of 3"', told.err)
        assert tries == ["1", "2", "3"]
    assert project.calls == 10 + 2 * 3
    again = project.batch(fail, "--json")
    assert (again.code, project.calls) == (6, 16 + 6)
    assert [e["action"] for e in again.document["items"] if e["part"] in (3, 7)] == ["retry", "retry"]
    third = project.batch(fail, "--json")
    assert (third.code, project.calls, third.document["run"]) == (6, 22, None)
    errors = {e["part"]: e["error"] for e in third.document["items"] if e["status"] == "failed"}
    assert set(errors) == {3, 7}
    assert all(error.startswith("tries used up (2 of max_retries=2): provider_transient") for error in errors.values())
    more = project.batch(fail, "max_retries=3")
    assert (more.code, project.calls) == (6, 28)
    mended = project.batch("var.fail=calm")
    assert (mended.code, project.calls) == (0, 30)


def test_a_failure_that_cannot_pass_is_one_call(project: Project) -> None:
    """All of them: exit 4, one call each, and the run is failed with that code."""
    project.template(prompt=ALL_MARKED)
    told = project.batch("var.fail=[[FAIL_PERMANENT]]")
    assert (told.code, project.calls, project.out()) == (4, 3, [])
    [run] = project.query("SELECT status, exit_code, error_text FROM run WHERE kind = 'batch'")
    assert tuple(run) == ("failed", 4, "3 of 3 items failed")
    assert "provider_bad_request" in told.out


def test_a_picture_that_breaks_a_rule_fails_and_costs_nothing_more(project: Project) -> None:
    """A letter that no font has: the final is kept for inspection, told again without a call, and mended by a text."""
    project.playlist([item(1, text="\ue000 here"), item(2)])
    told = project.batch("--json")
    bad = told.document["items"][0]
    assert (told.code, project.calls) == (6, 2)
    assert (bad["status"], bad["compliant"]) == ("failed", False)
    assert "U+E000" in bad["error"]
    assert (project.root / bad["final_asset"]["path"]).is_file()
    assert project.out() == [f"02-{video(2)}.jpg"]
    again = project.batch("--json")
    assert (again.code, project.calls, again.document["items"][0]["error"]) == (6, 2, bad["error"])
    project.playlist([item(1, text="Here"), item(2)])
    mended = project.batch("--json")
    assert (mended.code, project.calls, mended.document["items"][0]["action"]) == (0, 2, "refinish")


# Refused before anything is paid


def refused(project: Project, *words: str) -> Told:
    """A batch that must change nothing: no file, no row, no call."""
    before = project.files()
    told = project.run("batch", *words)
    assert project.files() == before
    assert project.calls == 0
    assert told.out == ""
    assert "Traceback" not in told.err
    assert told.err.count("\n") <= 2
    return told


def test_max_images_is_a_ceiling(project: Project) -> None:
    """More calls than allowed: exit 2, nothing written; the hint names what to do."""
    told = refused(project, "series=show", "max_images=2")
    assert told.code == 2
    assert told.err == (
        "limit_reached: 3 pictures are to be made, max_images is 2\n"
        "hint: raise it (max_images=3), or make some of them (only=…)\n"
    )


def test_the_ceiling_of_a_series_holds(project: Project) -> None:
    """Also in plain doit; the command line may raise it."""
    project.series(max_images=2)
    before = project.files()
    told = project.doit()
    assert told.code != 0
    assert "3 pictures are to be made, max_images is 2" in told.out + told.err
    assert (project.calls, project.out()) == (0, [])
    assert {name for name in project.files() if name not in before and not name.startswith(".doit.db")} <= {
        ".thumbforge", ".thumbforge/logs", ".thumbforge/logs/thumbforge.jsonl",
    }  # fmt: skip
    assert project.batch("max_images=3").code == 0


def test_done_items_do_not_count_towards_the_ceiling(done: Project) -> None:
    """max_images bounds what is still to be painted."""
    done.playlist([*done.items(), item(50)])
    assert done.batch("max_images=0").code == 2
    assert done.batch("max_images=1").code == 0


@pytest.mark.parametrize(
    ("words", "code", "message", "hint"),
    [
        (["playlist=shwo", "hero=specs/heroes/hero.png"], 3, "unknown playlist shwo", "did you mean show?"),
        (["series=shwo"], 3, "no series `shwo`", "did you mean `show`?"),
        (["series=show", "template=plian"], 3, "no template `plian`", "did you mean `plain`"),
        (["series=show", "provider=fkae"], 3, "no provider profile `fkae`", "did you mean `fake`?"),
        (
            ["series=show", "hero=specs/heroes/nope.png"],
            3,
            "there is no hero specs/heroes/nope.png",
            "paths count from",
        ),
        (["series=show", "hero=deadbeef"], 3, "there is no run or iteration deadbeef", "makes it a file"),
        (["series=show", "only=x"], 2, "only=x: x is no number or range", "only=3,7-9"),
        (["series=show", "only=7-5"], 2, "only=7-5: 7-5 is no number or range", "only=3,7-9"),
        (["series=show", "only=99"], 2, "only=99 selects no item", ""),
        (["series=show", "templat=plain"], 2, "unknown variable templat", "did you mean template=…?"),
        (["series=show", "--dryrun"], 2, "batch takes no --dryrun", "did you mean --dry-run?"),
        (["series=show", "-n", "0"], 2, "--concurrency 0: expected a whole number from 1", ""),
        (["series=show", "-n", "many"], 2, "--concurrency many: expected a whole number from 1", ""),
        (["series=show", "max_images=-1"], 2, "max_images=-1: expected a whole number", ""),
        (["series=show", "wait=perhaps"], 2, "wait=perhaps: expected yes or no", ""),
        (["series=show", "reference=best"], 2, "reference=best: expected final or raw", ""),
        (["series=show", "only=1", "only=2"], 2, "only is given twice: '1' and '2'", ""),
        (["show", "show"], 2, "batch does not know what to do with 'show'", "thumbforge batch [PLAYLIST]"),
        (["series=show", "show"], 2, "batch does not know what to do with 'show'", "thumbforge batch [PLAYLIST]"),
        (["series=show", "playlist=show"], 2, "series= and playlist= both name a playlist", "leave one of them out"),
        ([], 2, "no playlist was named", "series=show or playlist=… hero=…"),
        (["https://www.youtube.com/watch?v=dQw4w9WgXcQ"], 2, "names a video, not a playlist", "thumbforge series new"),
        (
            ["https://www.youtube.com/playlist?list=PLother0000000"],
            3,
            "PLother0000000 is not in specs",
            "thumbforge series new",
        ),
        (["lists/nope.csv"], 3, "there is no file lists/nope.csv", "paths count from"),
    ],
)
def test_what_cannot_be_is_told_in_two_lines(
    project: Project, words: list[str], code: int, message: str, hint: str
) -> None:
    """What is wrong, and what to do about it; nothing is written and nobody is called."""
    told = refused(project, *words)
    assert told.code == code
    first, *rest = told.err.splitlines()
    assert message in first
    assert rest == [] or (rest[0].startswith("hint: ") and hint in rest[0])
    assert bool(hint) <= bool(rest)


@pytest.mark.parametrize("content", [b"", b"not a picture", b"\x89PNG\r\n\x1a\n" + b"\x00" * 40])
def test_a_damaged_hero_is_refused(project: Project, content: bytes) -> None:
    """Exit 1 before anything is paid, also for a dry run."""
    (project.root / "specs/heroes/hero.png").write_bytes(content)
    for words in (["series=show"], ["series=show", "--dry-run"]):
        told = refused(project, *words)
        assert (told.code, told.err.split(":")[0]) == (1, "picture_unusable")


def test_a_hero_that_was_cut_is_refused(project: Project) -> None:
    """Half a picture is no picture."""
    path = project.root / "specs/heroes/hero.png"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert refused(project, "series=show").code == 1


def test_a_hero_run_without_a_pick_is_refused(done: Project) -> None:
    """Exit 2: one of its iterations has to be named."""
    done.execute("UPDATE run SET picked_iteration_id = NULL")
    [hero] = done.query("SELECT id FROM run WHERE kind = 'hero'")
    told = refused(done, "series=show", f"hero={hero['id']}")
    assert told.code == 2
    assert f"hero run {hero['id']} has no pick yet" in told.err


def test_a_batch_run_is_no_hero(done: Project) -> None:
    """Its iterations are; a failed or unfinished one is not."""
    [batch] = done.query("SELECT id FROM run WHERE kind = 'batch'")
    assert refused(done, "series=show", f"hero={batch['id']}").code == 2
    unpicked = "id NOT IN (SELECT picked_iteration_id FROM run WHERE picked_iteration_id IS NOT NULL)"
    done.execute(f"UPDATE iteration SET status = 'failed' WHERE {unpicked}")
    [failed] = done.query(f"SELECT id FROM iteration WHERE {unpicked} LIMIT 1")
    told = refused(done, "series=show", f"hero={failed['id']}")
    assert (told.code, "is failed, not completed" in told.err) == (2, True)


CLASH = ({**item(1, topic="2x"), "part": 1}, {**item(1, topic="x"), "part": 12})


def test_items_whose_texts_run_into_each_other_are_refused(project: Project) -> None:
    """Part 1 with "2x" and part 12 with "x" have one key: the second is an error, not the first's picture."""
    project.template(prompt="{{ topic }}")
    project.playlist(CLASH[:1])
    assert project.batch().code == 0
    project.playlist(CLASH[1:])
    before = project.files()
    told = project.batch()
    assert (told.code, told.out, project.calls) == (1, "", 1)
    assert "replay_divergence: video-00001: key " in told.err
    assert "change the prompt or the part a little" in told.err
    assert project.files() == before


def test_items_whose_texts_run_into_each_other_are_refused_in_one_playlist(project: Project) -> None:
    """Also where neither has been made: no call, no run."""
    project.template(prompt="{{ topic }}")
    project.playlist(CLASH)
    told = project.batch()
    assert (told.code, project.calls, project.out()) == (1, 0, [])
    assert "replay_divergence" in told.err
    assert project.query("SELECT * FROM run WHERE kind = 'batch'") == []


# Dry run


def test_a_dry_run_tells_and_writes_nothing(tmp_path: Path) -> None:
    """Twelve rows, exit 0; no file, no row, no call."""
    project = make_project(tmp_path / "project", 12)
    before = project.files()
    told = project.batch("--dry-run")
    assert (told.code, project.files() == before, project.calls) == (0, True, 0)
    assert told.out.count(" create ") >= 12
    assert told.out.endswith("12 items: 12 create; 12 provider calls. Nothing was changed.\n")


def test_a_dry_run_over_finished_items_writes_nothing(done: Project) -> None:
    """Not even to the ledger that is there, and neither do list, info and runs."""
    before = done.files()
    assert done.batch("--dry-run").code == 0
    assert done.doit("list", "--all", "-s").code == 0
    assert done.doit("info", f"thumb:show:{video(1)}").code == 0
    assert done.run("runs", "list").code == 0
    assert done.files() == before


def test_a_dry_run_tells_of_the_ceiling(project: Project) -> None:
    """It prints the plan, and exits as the real run would."""
    before = project.files()
    told = project.batch("--dry-run", "max_images=1", "--json")
    assert (told.code, told.document["exit_code"], len(told.document["plan"])) == (2, 2, 3)
    assert told.problem["code"] == "limit_reached"
    assert project.files() == before


def test_the_key_is_the_hash_of_its_parts(project: Project) -> None:
    """The seven parts, joined in their documented order and hashed, give each key: a golden formula."""
    for row in project.plan():
        assert tuple(row["key_parts"]) == PARTS
        joined = "".join(row["key_parts"][name] for name in PARTS)
        assert row["key"] == hashlib.sha256(joined.encode()).hexdigest()[:32]
        assert row["key_parts"]["part"] == str(row["part"])
        assert row["key_parts"]["video"] == row["video"]
        assert row["key_parts"]["prompt"].startswith(f"A calm picture about Lesson {row['part']}.\n\nNegative: ")


def test_keys_are_the_same_everywhere(project: Project, tmp_path: Path) -> None:
    """Another directory, the same specs: the same keys."""
    elsewhere = make_project(tmp_path / "some where else", 3)
    assert [row["key"] for row in elsewhere.plan()] == [row["key"] for row in project.plan()]


def test_a_project_that_was_moved_is_as_done_as_before(done: Project, tmp_path: Path) -> None:
    """Nothing in it knows where it lay."""
    moved = Project(done.root.rename(tmp_path / "moved here"))
    assert moved.batch().out.startswith("Nothing to do")
    assert set(moved.statuses().values()) == {"U"}


def test_another_hero_is_another_series_of_pictures(done: Project) -> None:
    """Every item is to be created, and the reason names the hero."""
    make_hero(done.root / "specs/heroes/hero.png", "#705030")
    plan = done.plan()
    assert {row["action"] for row in plan} == {"create"}
    assert all("hero: " in row["reason"] for row in plan)


def test_a_batch_of_an_empty_playlist_is_refused(project: Project) -> None:
    """There is nothing to make: exit 2."""
    project.playlist([])
    assert refused(project, "series=show").code == 2


def test_thumbforge_equals_doit(done: Project) -> None:
    """The same words give the same output and exit code under both names."""
    for words in (["batch", "series=show"], ["batch", "series=show", "--dry-run", "--json"], ["batch", "series=nope"]):
        ours, theirs = finish(done.start(*words)), finish(done.start(*words, tool="doit"))
        assert (ours.code, ours.out, ours.err) == (theirs.code, theirs.out, theirs.err)


def test_a_batch_with_nothing_to_do_opens_no_picture(project: Project) -> None:
    """What is finished is known by its keys: Pillow is not even loaded."""
    assert project.batch().code == 0
    told = project.with_environment(PYTHONPROFILEIMPORTTIME="1").batch()
    assert told.out.startswith("Nothing to do")
    assert "PIL" not in told.err
    assert "thumbforge.planning.plan" in told.err


def test_what_was_up_to_date_is_only_counted(project: Project) -> None:
    """The table has what was made, by its file in out/; the rest is a number. --json has them all."""
    assert project.batch().code == 0
    project.playlist([item(1), item(2, text="Other words"), item(3)])
    lines = project.batch().out.splitlines()
    table = lines[lines.index(next(line for line in lines if line.startswith("part"))) + 1 :]
    assert table[0].split()[:1] + table[0].split()[-1:] == ["2", f"02-{video(2)}.jpg"]
    assert " drawn again " in table[0]
    assert table[1] == "1 drawn again, 2 up to date: out/show/"
    project.playlist([item(1, text="Words"), item(2, text="Other words"), item(3)])
    found = project.shown("batch", "series=show")["items"]
    assert [entry["part"] for entry in found] == [1, 2, 3]
    assert [entry["exported"] for entry in found] == [f"out/show/0{n}-{video(n)}.jpg" for n in (1, 2, 3)]


def test_files_that_were_put_back_are_told_as_that(finished: Project) -> None:
    """Nothing was made, so no run is named."""
    (finished.root / "out/show" / finished.out()[0]).unlink()
    told = finished.batch()
    assert "1 put back, 11 up to date: out/show/" in told.out.splitlines()
    assert "run " not in told.out
