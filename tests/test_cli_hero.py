"""Heroes on the real command line: generate, pick, refine, batch, export, import."""

from __future__ import annotations

import signal
import time

import pytest

from tests.project import Project, finish, make_hero, video, wait_until


def generate(project: Project, *words: str, count: int = 3) -> dict[str, object]:
    told = project.run("hero", "generate", video(1), "--provider", "fake", f"--count={count}", "--json", *words)
    assert told.code == 0, told.err
    document: dict[str, object] = told.document
    return document


def test_candidates_are_distinct_and_asking_again_pays_nothing(project: Project) -> None:
    """N candidates have N keys and N pictures; the same command again finds them; a larger count adds to them."""
    made = generate(project)
    finals = {c["final"]["sha256"] for c in made["candidates"]}  # type: ignore[attr-defined]
    assert (len(finals), project.calls) == (3, 3)
    again = generate(project)
    assert (again["run"], project.calls) == (made["run"], 3)
    more = generate(project, count=5)
    assert (len(more["candidates"]), project.calls) == (5, 5)  # type: ignore[arg-type]


def test_a_seed_counts_up_with_the_candidates(project: Project) -> None:
    """Seed S goes to the first candidate, S + k - 1 to the k-th."""
    run = generate(project, "--seed=70")["run"]
    attempts = project.shown("runs", "show", str(run))["attempts"]
    assert sorted(attempt["request"]["seed"] for attempt in attempts) == [70, 71, 72]


def test_exactly_one_candidate_is_picked(project: Project) -> None:
    """A pick can be moved; a number that is none is not found, a run without a pick as hero is refused with 2."""
    run = str(generate(project)["run"])
    assert project.batch(f"hero={run}", "provider=fake").code == 2
    assert project.run("hero", "pick", run, "9").code == 3
    assert project.run("hero", "pick", run, "2").code == 0
    assert project.run("hero", "pick", run, "3").code == 0
    shown = project.shown("hero", "show", run)
    assert [c["ordinal"] for c in shown["candidates"] if c["picked"]] == [3]
    assert (project.root / shown["sheet"]).read_bytes().startswith(b"\x89PNG")


def test_an_unfinished_candidate_is_no_pick(project: Project) -> None:
    """Only a completed candidate can be picked."""
    run = str(generate(project)["run"])
    project.execute("UPDATE iteration SET status = 'failed' WHERE item_key = 'ordinal:2'")
    assert project.run("hero", "pick", run, "2").code == 2


def test_the_lineage_goes_from_pick_to_refinement_to_batch(project: Project) -> None:
    """A refinement has the picked art as reference and the hero run as parent; so has the batch, with reference=raw."""
    run = str(generate(project)["run"])
    project.run("hero", "pick", run, "1")
    told = project.run("hero", "iterate", run, "--from-picked", "--prompt-append=more red", "--count=2", "--json")
    child = told.document["run"]
    shown = project.shown("runs", "show", child)
    art = project.shown("hero", "show", run)["candidates"][0]["art"]["sha256"]
    assert (shown["run"]["kind"], shown["run"]["parent_run_id"]) == ("iterate", run)
    assert shown["run"]["reference"] == art
    assert all(a["request"]["prompt"].endswith("more red") for a in shown["attempts"])
    project.run("hero", "pick", child, "2")
    batch = project.batch(f"hero={child}", "provider=fake", "reference=raw", "--json").document
    made = project.shown("runs", "show", batch["run"])["run"]
    picked = project.shown("hero", "show", child)["candidates"][1]
    assert (made["parent_run_id"], made["reference"]) == (child, picked["art"]["sha256"])


def test_a_lettered_hero_is_told_of(project: Project) -> None:
    """A final of ours as reference carries its lettering: said, with reference=raw as the way out."""
    run = str(generate(project)["run"])
    project.run("hero", "pick", run, "1")
    assert "reference=raw" in project.batch(f"hero={run}", "provider=fake").err
    assert "reference=raw" not in project.batch(f"hero={run}", "provider=fake", "reference=raw").err


def test_an_interrupted_hero_run_is_resumed(project: Project) -> None:
    """Ctrl-C pauses it with exit 130; resume makes the rest and calls for nothing twice."""
    project.profile("slow", provider="fake", params={"delay_ms": 600}, max_concurrency=1)
    process = project.start("hero", "generate", video(1), "--provider=slow", "--count=4", "-n", "1")
    wait_until(lambda: project.calls >= 2)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    assert finish(process).code == 130
    [run] = project.shown("runs", "list", "--status=paused")["runs"]
    assert project.run("runs", "resume", run["id"], "executor=cloud").code == 2  # where it is made is not overheard
    assert project.run("runs", "resume", run["id"]).code == 0
    assert len({e["key"] for e in project.events() if e["event"] == "start"}) == 4
    assert project.shown("runs", "show", run["id"])["run"]["status"] == "completed"


def test_export_copies_and_refuses_to_overwrite(project: Project) -> None:
    """Stable names; the same copy again is fine, another picture of that name is an error."""
    run = str(generate(project)["run"])
    project.run("hero", "pick", run, "1")
    folder = project.root / "my heroes"
    assert project.run("hero", "export", run, "--to", str(folder)).code == 0
    assert project.run("hero", "export", run, "--to", str(folder), "--raw").code == 0
    assert sorted(p.name for p in folder.iterdir()) == [f"hero-{run[:8]}-1-raw.jpg", f"hero-{run[:8]}-1.jpg"]
    assert project.run("hero", "export", run, "--to", str(folder)).code == 0
    (folder / f"hero-{run[:8]}-1.jpg").write_bytes(b"mine")
    assert project.run("hero", "export", run, "--to", str(folder)).code == 2
    assert (folder / f"hero-{run[:8]}-1.jpg").read_bytes() == b"mine"


def test_a_file_is_imported_as_the_run_that_a_batch_would_record(project: Project) -> None:
    """Its id derives from the picture: importing it first, or again, changes nothing for a batch."""
    make_hero(project.root / "other.png", "#aa3311")
    first = project.run("hero", "import", "other.png", "--json").document["run"]
    assert project.run("hero", "import", "other.png", "--json").document["run"] == first
    batch = project.batch("hero=other.png", "provider=fake", "--json").document
    assert project.shown("runs", "show", batch["run"])["run"]["parent_run_id"] == first


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("hero",), 2),
        (("hero", "generate"), 2),
        (("hero", "generate", "nowhere0000"), 3),
        (("hero", "generate", video(1), "--seed=x"), 2),
        (("hero", "generate", video(1), "--count=0"), 2),
        (("hero", "show", "ffffffff"), 3),
        (("hero", "iterate", "ffffffff"), 3),
        (("hero", "export", "ffffffff"), 2),
    ],
)
def test_what_cannot_be_is_said_in_one_line(project: Project, words: tuple[str, ...], code: int) -> None:
    """Wrong words, unknown runs and videos: a code, a message, no traceback, nothing written."""
    before = project.files()
    told = project.run(*words)
    assert told.code == code
    assert "Traceback" not in told.err
    assert project.files() == before
