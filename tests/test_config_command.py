"""`config`: each setting with its origin, where things are, and never a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project import Project
from thumbforge.imaging.type.fonttable import FACES
from thumbforge.settings import SETTINGS

SECRET = "sk-a-key-that-nobody-may-see-0123456789"


def test_each_setting_tells_where_its_value_is_from(project: Project) -> None:
    """A default, the project's file, or the environment variable; nothing is written."""
    before = project.files()
    own = project.with_environment(THUMBFORGE_BATCH__CONCURRENCY="7")
    shown = {row["name"]: row for row in own.shown("config", "show")["settings"]}
    assert list(shown) == list(SETTINGS)
    origins = {name: (shown[name]["value"], shown[name]["origin"]) for name in shown}
    assert origins["batch.concurrency"] == (7, "THUMBFORGE_BATCH__CONCURRENCY")
    assert origins["output.width"] == (1280, "thumbforge.toml")
    assert origins["output.format"] == ("jpeg", "default")
    told = own.run("config")
    assert told.code == 0
    assert ["batch.concurrency", "7", "THUMBFORGE_BATCH__CONCURRENCY"] in [
        line.split()[:3] for line in told.out.splitlines()
    ]
    assert project.files() == before


def test_keys_are_told_as_set_or_not_set(project: Project) -> None:
    """The variable's name, never what is in it; an empty one is not set."""
    own = project.with_environment(THUMBFORGE_OPENAI_API_KEY=SECRET, GEMINI_API_KEY=SECRET, OPENAI_API_KEY="")
    document, told = own.shown("config", "show"), own.run("config", "show")
    keys = {key["variable"]: key["set"] for key in document["keys"]}
    is_set = {name for name in keys if keys[name]}
    assert is_set == {"THUMBFORGE_OPENAI_API_KEY", "GEMINI_API_KEY"}
    assert {"OPENAI_API_KEY", "THUMBFORGE_YOUTUBE_API_KEY"} <= keys.keys()
    assert SECRET not in json.dumps(document) + told.out + told.err
    assert ["openai", "THUMBFORGE_OPENAI_API_KEY", "set"] in [line.split() for line in told.out.splitlines()]


def test_the_fonts_are_listed_with_their_identity(project: Project) -> None:
    """Those of layouts first, all with the hash that is part of each picture's key."""
    fonts = project.shown("config")["fonts"]
    assert [font["name"] for font in fonts if font["layouts"]] == [*FACES]
    assert all(len(font["sha256"]) == 64 for font in fonts)


@pytest.mark.parametrize(
    ("text", "extra", "said"),
    [
        ("[batch]\nconcurency = 3\n", {}, "batch.concurency: unknown setting. did you mean batch.concurrency?"),
        ("not toml", {}, "thumbforge.toml: cannot be read"),
        ("", {"THUMBFORGE_BATCH__CONCURENCY": "3"}, "THUMBFORGE_BATCH__CONCURENCY is no setting"),
    ],
)
def test_unknown_settings_are_refused(project: Project, text: str, extra: dict[str, str], said: str) -> None:
    """As every other command refuses them: exit 2."""
    project.write("thumbforge.toml", text)
    told = project.with_environment(**extra).run("config", "show")
    assert (told.code, told.out) == (2, "")
    assert said in told.err


def test_paths_are_told_from_anywhere_in_the_project(project: Project, tmp_path: Path) -> None:
    """Whether they are there yet or not; THUMBFORGE_HOME moves ledger, store and logs."""
    project.write("thumbforge.toml", "not toml")  # where it is can be asked all the same
    before = project.files()
    inside = project.run("config", "path", cwd=project.root / "specs")
    assert inside.code == 0
    lines = dict(line.split(maxsplit=1) for line in inside.out.splitlines())
    assert lines["project"] == str(project.root)
    assert lines["settings"] == str(project.root / "thumbforge.toml")
    assert lines["ledger"].split("   ")[0] == str(project.home / "ledger.sqlite3")
    moved = project.with_environment(THUMBFORGE_HOME=str(tmp_path / "elsewhere")).shown("config", "path")
    assert moved["store"] == {"path": str(tmp_path / "elsewhere" / "assets"), "exists": False}
    assert moved["project"] == {"path": str(project.root), "exists": True}
    assert project.files() == before
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("words", [["x"], ["show", "x"]])
def test_what_config_does_not_know_is_refused(project: Project, words: list[str]) -> None:
    """Exit 2, one line and a hint."""
    told = project.run("config", *words)
    assert (told.code, told.out, told.err.split(":")[0]) == (2, "", "usage")
