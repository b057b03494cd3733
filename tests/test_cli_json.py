"""`--json`: one document with exactly these fields on stdout, and one object on stderr where it fails."""

from __future__ import annotations

import json

import pytest

from tests.project import ALL_MARKED, Project, item, video

SUMMARY = {"total", "completed", "failed", "pending"}
BATCH = {"run", "summary", "items", "reference_ignored", "look", "older", "orphans", "unlike", "exit_code"}
ITEM = {
    "part", "position", "video", "title", "action", "iteration_id", "status", "compliant", "subject", "final_asset",
    "error", "hint", "exported",
}  # fmt: skip
ASSET = {"sha256", "path", "width", "height", "bytes"}
DRY = {"dry_run", "summary", "plan", "calls", "price", "budget", "look", "exit_code"}
ROW = {"part", "position", "video", "title", "key", "key_parts", "action", "reason"}
KEY_PARTS = {"spec_hash", "provider_profile", "video", "part", "prompt", "seed", "reference"}
RUN = {
    "id", "kind", "status", "template", "provider", "playlist", "parent_run_id", "started_at", "finished_at",
    "exit_code", "counts",
}  # fmt: skip
SHOWN = {"run", "summary", "iterations", "attempts"}
ITERATION = {"id", "part", "position", "video", "title", "status", "key", "error", "final_asset"}
PROBLEM = {"code", "message", "hint", "exit_code"}


def test_a_batch(project: Project) -> None:
    """Counts, a row for each item with its picture, and the exit code; nothing else on stdout."""
    told = project.batch("--json")
    found = told.document
    assert set(found) == BATCH
    assert found["summary"] == {"total": 3, "completed": 3, "failed": 0, "pending": 0}
    assert (found["exit_code"], found["reference_ignored"]) == (told.code, False)
    assert found["run"] == project.query("SELECT id FROM run WHERE kind = 'batch'")[0]["id"]
    for n, entry in enumerate(found["items"], 1):
        assert set(entry) == ITEM
        assert (entry["part"], entry["position"], entry["video"], entry["title"]) == (n, n, video(n), f"Lesson {n}")
        assert (entry["action"], entry["status"], entry["compliant"]) == ("create", "completed", True)
        assert entry["error"] is None
        assert entry["exported"] == f"out/show/{n:02d}-{video(n)}.jpg"
        picture = entry["final_asset"]
        assert set(picture) == ASSET
        data = (project.root / picture["path"]).read_bytes()
        assert (len(data), picture["width"], picture["height"]) == (picture["bytes"], 1280, 720)
        assert data == (project.root / "out/show" / f"{n:02d}-{video(n)}.jpg").read_bytes()


def test_a_batch_with_nothing_to_do(finished: Project) -> None:
    """The same document with every item as it is, and no run."""
    found = finished.batch("--json").document
    assert (set(found), found["run"], found["exit_code"]) == (BATCH, None, 0)
    assert {(e["action"], e["status"]) for e in found["items"]} == {("skip", "completed")}
    assert all(set(e) == ITEM and set(e["final_asset"]) == ASSET for e in found["items"])


def test_a_batch_that_fails(project: Project) -> None:
    """An item that failed has its error and no picture."""
    project.template(prompt=ALL_MARKED)
    told = project.batch("var.fail=[[FAIL_PERMANENT]]", "--json")
    assert (told.code, told.document["exit_code"]) == (4, 4)
    for entry in told.document["items"]:
        assert set(entry) == ITEM
        assert (entry["status"], entry["final_asset"], entry["compliant"]) == ("failed", None, None)
        assert entry["exported"] is None
        assert entry["error"].startswith("provider_bad_request: ")


def test_a_dry_run(finished: Project) -> None:
    """What would be done for each item, and the key with its parts."""
    found = finished.batch("--dry-run", "--json").document
    assert (set(found), found["dry_run"], found["exit_code"]) == (DRY, True, 0)
    assert found["summary"] == {"skip": 12, "refinish": 0, "retry": 0, "create": 0}
    assert all(set(row) == ROW and set(row["key_parts"]) == KEY_PARTS for row in found["plan"])


def test_the_runs(finished: Project) -> None:
    """The newest first, each with its counts."""
    found = finished.shown("runs", "list")
    assert set(found) == {"runs"}
    for run in found["runs"]:
        assert set(run) >= RUN
        assert set(run["counts"]) == SUMMARY
    assert found["runs"][0]["counts"] == {"total": 12, "completed": 12, "failed": 0, "pending": 0}


def test_no_runs(project: Project) -> None:
    """A project in which nothing was ever made has an empty list, and gets no ledger by looking."""
    assert project.shown("runs", "list") == {"runs": []}
    assert not project.home.exists()


def test_a_run(finished: Project) -> None:
    """The run as in the list, with params and reference, its items and its attempts; paths count from the project."""
    [listed] = finished.shown("runs", "list", "--kind", "batch")["runs"]
    found = finished.shown("runs", "show", listed["id"][:8])
    assert set(found) == SHOWN
    assert found["run"].items() >= listed.items()
    assert {"params", "reference"} <= set(found["run"])
    assert found["summary"] == listed["counts"]
    for iteration in found["iterations"]:
        assert set(iteration) >= ITERATION
        assert set(iteration["final_asset"]) == ASSET
        assert (finished.root / iteration["final_asset"]["path"]).is_file()
    assert {a["iteration_id"] for a in found["attempts"]} == {i["id"] for i in found["iterations"]}


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (["batch", "series=shwo"], "not_found", 3),
        (["batch", "series=show", "only=x"], "usage", 2),
        (["batch", "series=show", "--no-such"], "usage", 2),
        (["batch", "series=show", "max_images=1"], "limit_reached", 2),
        (["runs", "show", "deadbeef"], "not_found", 3),
        (["runs", "dance"], "usage", 2),
        (["runs", "list", "--status", "asleep"], "usage", 2),
    ],
)
def test_an_error_is_one_object_on_stderr(project: Project, words: list[str], code: str, exit_code: int) -> None:
    """stdout stays empty; the object has code, message, hint and the exit code."""
    told = project.run(*words, "--json")
    assert (told.code, told.out) == (exit_code, "")
    assert set(told.problem) == PROBLEM
    assert (told.problem["code"], told.problem["exit_code"]) == (code, exit_code)


def test_problems_of_the_specs_are_listed(project: Project) -> None:
    """A spec error has each of its problems too."""
    project.playlist([item(1, colour="red"), item(2, part="two")])
    told = project.batch("--json")
    assert (told.code, set(told.problem)) == (2, PROBLEM | {"problems"})
    assert len(told.problem["problems"]) == 2


def test_logs_and_progress_keep_off_stdout(project: Project) -> None:
    """With the log at its loudest stdout is still one document."""
    told = project.with_environment(THUMBFORGE_LOG__LEVEL="debug").batch("--json")
    assert json.loads(told.out)["exit_code"] == 0
    assert "item completed" in told.err
