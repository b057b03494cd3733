"""The workflow that `init --ci` writes, and the action: valid, and its lines played through as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.pages import ROOT
from tests.project import Project, make_project
from thumbforge.commands.init import WORKFLOW, workflow

ACTION = ROOT / "action.yml"
VERSIONS = {"checkout": 5, "setup-python": 6, "cache": 5, "upload-artifact": 6}
"""The oldest that today's runners carry."""
INSTALL = "python -m pip install --quiet -r requirements.txt"
ITEMS = 1


def jobs() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(workflow(["show"]))["jobs"]
    return found


def steps_of_all() -> Iterator[list[dict[str, Any]]]:
    yield from (job["steps"] for job in jobs().values())
    yield yaml.safe_load(ACTION.read_text())["runs"]["steps"]


def test_actions_are_of_today_and_the_project_says_what_is_installed() -> None:
    for steps in steps_of_all():
        uses = [step["uses"] for step in steps if "uses" in step]
        for action, version in re.findall(r"actions/([\w-]+)(?:/\w+)?@v(\d+)", " ".join(uses)):
            assert int(version) >= VERSIONS[action]
        assert all(re.fullmatch(r"actions/[\w/-]+@v\d+", action) for action in uses)
        assert [step["run"] for step in steps if step.get("name") == "Install"] == [INSTALL]


def test_what_is_painted_is_kept_and_shown_whatever_happens() -> None:
    """The cache only where no shared store is; saved, and out/ uploaded, after a failure too."""
    for steps in steps_of_all():
        for step in (step for step in steps if "cache/" in step.get("uses", "")):
            assert step["with"]["path"] == ".thumbforge/"
            assert "steps.store.outputs.remote == ''" in step["if"]
        after = [step for step in steps if re.search("/save|upload-artifact", step.get("uses", ""))]
        assert all("always()" in step["if"] for step in after)
        assert any("upload-artifact" in step["uses"] for step in after)


def test_one_run_at_a_time_for_each_series() -> None:
    for job in jobs().values():
        assert "${{ matrix.series }}" in job["concurrency"]["group"]
        assert job["strategy"]["matrix"]["series"] == ["show"]
    assert "cancel-in-progress" not in jobs()["make"]["concurrency"]


def test_no_line_is_put_together_from_what_others_say() -> None:
    """An expression in a `run:` would be a piece of the script; values come through the environment."""
    assert [step["run"] for steps in steps_of_all() for step in steps if "${{" in step.get("run", "")] == []


def test_init_writes_it_for_the_series_that_there_are(tmp_path: Path) -> None:
    """In a project of one's own without an example beside; never over what is there."""
    project = make_project(tmp_path / "project", 1)
    assert f"made  {WORKFLOW}" in project.run("init", ".", "--ci").out
    written = yaml.safe_load((project.root / WORKFLOW).read_text())
    assert written["jobs"]["make"]["strategy"]["matrix"]["series"] == ["show"]
    assert not (project.root / "specs/series/example.yaml").exists()
    assert f"kept  {WORKFLOW}" in project.run("init", ".", "--ci").out


@dataclass
class Runner:
    """Plays a job's lines in a clone; what an action of others would do is left out. `environ` is what the repository's
    secrets and variables have."""

    root: Path
    environ: Mapping[str, str]
    event: Mapping[str, Any]
    outputs: dict[str, str] = field(default_factory=dict)
    played: dict[str, subprocess.CompletedProcess[str]] = field(default_factory=dict)

    def play(self, job: Mapping[str, Any]) -> bool:
        """Whether the job is green."""
        own = {name: value for name, value in job.get("env", {}).items() if "${{" not in str(value)}
        green = True
        for step in job["steps"]:
            if "run" not in step or step["name"] == "Install" or not self._wanted(step.get("if", ""), green):
                continue
            output = self.root.with_name("output")
            output.write_text("")
            environ = {**os.environ, **own, **self.environ, "SERIES": "show", "GITHUB_OUTPUT": str(output)}
            environ |= {name: self._value(text) for name, text in step.get("env", {}).items()}
            environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environ['PATH']}"
            words = ["bash", "-eo", "pipefail", "-c", step["run"]]
            done = subprocess.run(words, cwd=self.root, env=environ, capture_output=True, text=True, check=False)
            self.played[step["name"]] = done
            self.outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
            green = green and done.returncode == 0
        return green

    def _wanted(self, condition: str, green: bool) -> bool:
        text = condition.replace("&&", " and ").replace("||", " or ").replace("!=", "<>").replace("!", " not ")
        text = text.replace("<>", "!=").replace("always()", "True")
        text = re.sub(r"steps\.store\.outputs\.remote", repr(self.outputs.get("remote", "")), text)
        text = re.sub(r"github\.event\.pull_request\.head\.repo\.fork", str(self.event.get("fork", False)), text)
        text = re.sub(r"inputs\.(\w+)", lambda found: repr(self.event.get(found[1], "")), text)
        return (green or "True" in text) and (not text.strip() or bool(eval(text)))

    def _value(self, text: str) -> str:
        found = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)
        return str(self.event.get(found[1].replace("-", "_"), "")) if found else text


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a project at 0.04 a picture whose shared store is a folder; nothing is made yet."""
    for name, value in (("NAME", "a"), ("EMAIL", "a@example.org")):
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    project = make_project(tmp_path / "first", ITEMS)
    (tmp_path / "there").mkdir()
    project.write("thumbforge.toml", "[output]\nwidth = 1280\nheight = 720\n[store]\nremote = '../there'\n")
    project.profile("paid", price={"amount": "0.04"})
    project.series(provider="paid")
    project.write(".gitignore", "/.thumbforge/\n/out/\n/.doit.db*\n__pycache__/\n")
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "origin")
    git(project.root, "init", "-q", "-b", "main")
    git(project.root, "add", "-A")
    git(project.root, "commit", "-qm", "Specs")
    git(project.root, "remote", "add", "origin", str(tmp_path / "origin"))
    git(project.root, "push", "-q", "origin", "main")
    return tmp_path / "origin"


def machine(origin: Path, name: str, **event: Any) -> Runner:
    """A fresh one: a clone, and one log of all calls of all machines."""
    git(origin.parent, "clone", "-q", str(origin), name)
    environ = {"GITHUB_REF_NAME": "main", "THUMBFORGE_FAKE_LOG": str(origin.parent / "calls")}
    return Runner(origin.parent / name, environ, event)


def calls(origin: Path) -> int:
    log = origin.parent / "calls"
    return log.read_text().count('"start"') if log.exists() else 0


def pictures(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.glob("out/show/0*")}


def test_the_second_machine_calls_nobody(origin: Path) -> None:
    """On main all is made once, and the lock is committed; a pull request is proved on a fresh machine, and main made
    again on another, without a call. One whose lock is behind its specs is red, and nothing is paid for it."""
    first = machine(origin, "one")
    assert first.play(jobs()["make"]), first.played["Make"].stderr
    assert (calls(origin), len(pictures(first.root))) == (ITEMS, ITEMS)
    assert git(origin, "log", "--format=%s", "main").splitlines() == ["The lock file of show", "Specs"]
    second = machine(origin, "two")
    assert second.play(jobs()["proof"]), second.played["Prove"].stderr
    assert "Skipped" not in second.played
    third = machine(origin, "three")
    assert third.play(jobs()["make"]), third.played["Make"].stderr
    assert calls(origin) == ITEMS
    assert pictures(first.root) == pictures(second.root) == pictures(third.root)
    assert len(git(origin, "log", "--format=%s", "main").splitlines()) == 2
    own = Project(second.root)
    own.playlist([{**each, "text": "Other words"} for each in own.items()])
    assert not second.play(jobs()["proof"])
    assert "lock_differs" in second.played["Prove"].stderr
    assert calls(origin) == ITEMS


def test_a_fork_without_keys_is_told_that_it_is_skipped(origin: Path) -> None:
    """Green, with a word; the specs are not what is wrong."""
    fork = machine(origin, "fork", fork=True)
    assert fork.play(jobs()["proof"])
    assert "::notice::show is not proved here" in fork.played["Skipped"].stdout
    assert "Prove" not in fork.played


def test_a_run_that_would_cost_more_makes_nothing(origin: Path) -> None:
    """The ceiling of the workflow holds, and there is nothing to commit."""
    dear = machine(origin, "one")
    job = jobs()["make"]
    assert not dear.play({**job, "env": {**job["env"], "MAX_COST": "0.03"}})
    assert "limit_reached" in dear.played["Make"].stderr
    assert (dear.played["Commit the lock file"].returncode, calls(origin)) == (0, 0)


def test_the_action_makes_and_proves(origin: Path) -> None:
    """The same lines in a job of one's own."""
    action = {"steps": yaml.safe_load(ACTION.read_text())["runs"]["steps"]}
    maker = machine(origin, "one", series="show", locked="false", max_cost="1.00")
    maker.environ = {**maker.environ, "THUMBFORGE_STORE__MODE": "write"}
    assert maker.play(action), maker.played["Make or prove"].stderr
    assert calls(origin) == ITEMS
    git(maker.root, "add", "-A")
    git(maker.root, "commit", "-qm", "Lock")
    git(maker.root, "push", "-q", "origin", "main")
    prover = machine(origin, "two", series="show", locked="true", max_cost="")
    assert prover.play(action), prover.played["Make or prove"].stderr
    assert (calls(origin), pictures(prover.root)) == (ITEMS, pictures(maker.root))
