"""No way to a paid call passes by the ceiling, and each tells the price before."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from tests.project import Project, make_project, video
from thumbforge.models import Price, Profile
from thumbforge.planning.prices import ceiling
from thumbforge.settings import load

PAID = {"price": {"amount": "0.04"}}
GENERATE = ("hero", "generate", video(1), "--template", "plain", "--provider", "paid", "--count", "2")
WAYS: dict[str, tuple[str, ...]] = {
    "batch": ("batch", "series=show"),
    "batch --dry-run": ("batch", "series=show", "--dry-run"),
    "batch, Dask": ("batch", "series=show", "executor=dask", "scheduler=tcp://127.0.0.1:1"),
    "retake": ("batch", "series=show", "retake=yes"),
    "run": ("run",),
    "run -a": ("run", "-a"),
    "run, Dask": ("run", "series=show", "executor=dask", "scheduler=tcp://127.0.0.1:1"),
    "hero generate": GENERATE,
    "hero generate --dry-run": (*GENERATE, "--dry-run"),
    "hero generate, Dask": (*GENERATE, "executor=dask", "scheduler=tcp://127.0.0.1:1"),
}


def paid(root: Path, **environment: str) -> Project:
    project = make_project(root, 3, **environment)
    project.profile("paid", **PAID)
    project.series(provider="paid")
    return project


@pytest.mark.parametrize("way", list(WAYS))
def test_a_ceiling_holds_on_every_way_to_a_call(tmp_path: Path, way: str) -> None:
    """That of a run and that of a day alike: none is made, no run is opened, exit 2, and the price is named."""
    project = paid(tmp_path / "project")
    spent = Decimal(0)
    if way in ("retake", "run -a"):
        assert project.batch().code == 0
        spent = Decimal("0.12")
    before = project.calls
    price = "0.08" if "hero" in way else "0.12"
    for ceiling_of, most in (("BATCH__MAX_COST", "0.03"), ("BUDGET__DAY", str(spent + Decimal("0.03")))):
        told = project.with_environment(**{f"THUMBFORGE_{ceiling_of}": most}).run(*WAYS[way])
        said = f"max_cost is {most}" if "COST" in ceiling_of else f"and {spent} of today's {most} USD is spent"
        calls = 2 if "hero" in way else 3
        assert f"limit_reached: {calls} calls would cost about {price} USD, {said}" in told.out + told.err
        assert (told.code, project.calls) == (2, before)
    if not before:
        assert project.shown("runs", "list")["runs"] == []


def test_plain_doit_refuses_alike(tmp_path: Path) -> None:
    """With the code that doit has for a failed task; the series that fits is made, and `thumbforge run` ends with 6."""
    project = paid(tmp_path / "project")
    project.series("free", provider="fake")
    bounded = project.with_environment(THUMBFORGE_BUDGET__DAY="0.03")
    assert bounded.run("run").code == 6
    assert (project.calls, len(project.out("free")), project.out("show")) == (3, 3, [])
    assert bounded.doit("run").code == 1


def test_a_refinement_and_a_resumed_run_pass_the_same_gate(tmp_path: Path) -> None:
    """The ceiling of a hero run is its own, and a resumed run can be given another."""
    project = paid(tmp_path / "project")
    run = project.shown(*GENERATE)["run"]
    assert project.run("hero", "pick", run, "1").code == 0
    told = project.run("hero", "iterate", run, "--prompt-append", "darker", "--count", "2", "--max-cost", "0.05")
    assert (told.code, told.err.splitlines()[0]) == (
        2,
        "limit_reached: 2 calls would cost about 0.08 USD, max_cost is 0.05",
    )
    project.template(prompt="A calm picture about {{ topic }}.{% if part_number == 3 %} {{ vars.fail }}{% endif %}")
    assert project.batch("var.fail=[[FAIL_PERMANENT]]", "max_cost=0.12").code == 6
    calls = project.calls
    failed = project.shown("runs", "list")["runs"][0]["id"]
    assert project.run("runs", "resume", failed, "max_cost=0.13").code == 2
    bounded = project.with_environment(THUMBFORGE_BUDGET__DAY="0.21")
    for words in (
        ("runs", "resume", failed, "max_cost=1"),
        ("batch", "--resume", failed, "max_cost=1"),
        ("hero", "iterate", run, "--prompt-append", "darker"),
    ):
        told = bounded.run(*words)
        assert told.code == 2
        assert "0.20 of today's 0.21 USD is spent (budget.day)" in told.err
    assert project.calls == calls


def test_a_series_says_what_it_may_cost(tmp_path: Path) -> None:
    """Its own ceiling holds; a lower one of the settings goes before it, and a command before both."""
    project = paid(tmp_path / "project")
    project.series(provider="paid", max_cost="0.10")
    assert "max_cost is 0.10" in project.batch().err
    lower = project.with_environment(THUMBFORGE_BATCH__MAX_COST="0.05")
    assert "max_cost is 0.05" in lower.batch().err
    assert lower.batch("max_cost=0.12", "--dry-run").code == 0
    assert project.calls == 0


@pytest.mark.parametrize(
    ("asked", "spec", "general", "priced", "found"),
    [
        (None, None, "", True, None),
        (None, "2", "", True, "2"),
        (None, None, "3", True, "3"),
        (None, "2", "3", True, "2"),
        (None, "3", "2", True, "2"),
        ("9", "3", "2", True, "9"),
        ("0", "3", "2", True, "0"),
        (None, None, "3", False, None),
        (None, "2", "3", False, "2"),
    ],
)
def test_which_ceiling_holds(
    tmp_path: Path, asked: str | None, spec: str | None, general: str, priced: bool, found: str | None
) -> None:
    """The command's, else the lower one; the setting means nothing to a provider that costs nothing."""
    profile = Profile(name="fake", provider="fake", price=Price(amount="0.04") if priced else None)
    settings = load(tmp_path, {"THUMBFORGE_BATCH__MAX_COST": general})
    wanted = ceiling(None if asked is None else Decimal(asked), spec, settings, profile)
    assert wanted == (None if found is None else Decimal(found))


def test_what_it_costs_is_told_before(tmp_path: Path) -> None:
    """By plain doit and by hero runs as by a batch; a dry run makes nothing."""
    project = paid(tmp_path / "project")
    assert "3 provider calls, about 0.12 USD" in project.run("run").err
    told = project.run(*GENERATE, "--dry-run")
    assert "2 provider calls, about 0.08 USD. Nothing was changed." in told.out
    assert (told.code, project.calls) == (0, 3)
    assert "2 provider calls, about 0.08 USD" in project.run(*GENERATE).err


def test_a_dry_run_ends_as_the_run_would(tmp_path: Path) -> None:
    """What is used up fails without a call, so both exit alike: 6 beside others, 4 alone."""
    project = make_project(tmp_path / "project", 2)
    project.template(prompt="A picture about {{ topic }}.{% if part_number == 2 %} [[FAIL_PERMANENT]]{% endif %}")
    assert project.batch("max_retries=1").code == 6
    for words, code in ((("max_retries=1",), 6), (("max_retries=1", "only=2"), 4), (("only=1",), 0)):
        assert project.batch(*words, "--dry-run").code == code
        assert project.batch(*words).code == code
    assert project.batch("only=2", "--dry-run").code == 0


def test_a_run_that_will_try_nothing_more_says_so(tmp_path: Path) -> None:
    """Not to go on with the same command, which would try nothing."""
    project = make_project(tmp_path / "project", 2)
    project.template(prompt="A picture about {{ topic }}.{% if part_number == 2 %} [[FAIL_PERMANENT]]{% endif %}")
    first = project.batch("max_retries=2").out
    assert "Go on with:" in first
    for told in (project.batch("max_retries=2").out, project.batch("max_retries=2").out):
        assert "Go on with" not in told
        assert "Nothing is tried again until it changes" in told


def test_a_hero_run_that_will_try_nothing_more_says_so(tmp_path: Path) -> None:
    """The command, its dry run and a resume end alike: 4, without a call and without a way that leads nowhere."""
    project = make_project(tmp_path / "project", 1, THUMBFORGE_BATCH__MAX_RETRIES="1")
    project.template(prompt="A picture about {{ topic }} [[FAIL_PERMANENT]]")
    generate = ("hero", "generate", video(1), "--template", "plain", "--provider", "fake", "--count", "2")
    first = project.run(*generate)
    run = project.shown("runs", "list")["runs"][0]["id"]
    again, resumed = project.run(*generate), project.run("runs", "resume", run)
    for told in (first, again, resumed):
        assert told.code == 4
        assert "Nothing is tried again until prompt, video or profile changes" in told.out
        assert "Go on with" not in told.out
    assert project.run(*generate, "--dry-run").code == 4
    assert project.calls == 2
    assert "Go on with" not in project.with_environment(THUMBFORGE_BATCH__MAX_RETRIES="2").run(*generate).out
    assert project.calls == 4


def test_what_local_paints_costs_nothing(tmp_path: Path) -> None:
    """Which is known: 0, and no attempt without a price."""
    project = make_project(tmp_path / "project", 1)
    run = project.shown("batch", "series=show", "provider=local")["run"]
    told = project.run("runs", "cost", run).out
    assert "money       0" in told
    assert "without a price" not in told
    assert project.shown("runs", "cost", run)["cost"]["no_data"] == 0
    unknown = project.shown("batch", "series=show")["run"]
    assert "1 attempt without a price" in project.run("runs", "cost", unknown).out


def test_a_plan_counts_in_words_that_fit(tmp_path: Path) -> None:
    """One thumbnail is not all of them, and another layout is told as a number of fields."""
    project = make_project(tmp_path / "project", 1)
    assert project.batch().code == 0
    assert project.batch().out.startswith("Nothing to do: the thumbnail of show is up to date.")
    reason = project.plan("template=minimal")[0]["reason"]
    assert "fields changed" in reason
    assert "the last one" not in reason
