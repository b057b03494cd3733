"""A wish in a spec that can have no effect is told once, by what looks at the series."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.project import Project, item, make_hero, make_project

BRAND = {"colors": {"panel": "#ff0000"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path / "project", 2)
    made.profile("fake")
    make_hero(made.root / "specs/guest.png")
    return made


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"brand": BRAND}, "`brand.colors.panel` has no effect: template plain does not show it"),
        ({"brand": {"logo": "specs/guest.png"}}, "`brand.logo` has no effect: template plain does not show it"),
        ({"look": "photo", "hues": "one"}, "`look` and `hues` have no effect: only `provider: local` paints by it"),
        ({"mask": "specs/guest.png"}, "`mask` has no effect: only `provider: local` paints by it"),
        ({"vars": {"mood": "calm"}}, "`mood` of vars has no effect: no text of plain reads it"),
        ({"brand": BRAND, "provider": "local"}, ""),  # its ground takes the brand's colours
        ({"look": "photo", "provider": "local"}, ""),
        ({}, ""),
    ],
)
def test_a_series_is_told_what_it_wishes_in_vain(project: Project, fields: dict[str, Any], told: str) -> None:
    """By `check` and a dry run, each once; what has an effect is not told."""
    project.series(**fields)
    for words in (("check",), ("batch", "series=show", "--dry-run")):
        found = [line for line in project.run(*words).err.splitlines() if "effect" in line]
        assert len(found) == bool(told)
        assert all(told in line for line in found)


def test_an_items_picture_needs_a_place(project: Project) -> None:
    """Told where nothing is to do, too, and by plain runs; a template with a slot shows it."""
    told = "the `picture` of 2 items has no effect: template plain does not show it; corner-card, guest, news-bar and"
    assert project.batch().code == 0
    project.playlist([item(n, picture="specs/guest.png") for n in (1, 2)])
    assert told in project.batch().err
    assert told in project.run("run", "-a").err
    project.series(template="corner-card")
    assert "effect" not in project.batch("--dry-run").err


def test_variables_are_read_in_more_than_one_way(project: Project) -> None:
    """By name, by key, or all of them together."""
    for prompt in ("{{ vars.mood }}", "{{ vars['mood'] }}", "{% for name in vars %}{{ name }}{% endfor %}"):
        project.template(prompt=prompt)
        project.series(vars={"mood": "calm"})
        assert "effect" not in project.batch("--dry-run").err
    project.template(prompt="{{ vars.mood }}")
    assert "`moood` of vars has no effect" in project.batch("--dry-run", "var.moood=calm").err


def test_leases_outlive_a_beat(project: Project) -> None:
    """A beat that comes later than a lease lasts would leave every run without one."""
    told = project.with_environment(THUMBFORGE_LEASE__BEAT_S="60").batch("--dry-run")
    assert (told.code, told.err.splitlines()[0]) == (
        2,
        "usage: lease.beat_s 60.0 is not below lease.ttl_s 30.0: leases would lapse",
    )
