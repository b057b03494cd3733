"""Settings: default, file, environment, in this order; each value knows where it is from."""

from __future__ import annotations

from pathlib import Path

import pytest

from thumbforge.errors import SpecError, UsageError
from thumbforge.settings import FILE, SETTINGS, load, variable


def project(tmp_path: Path, text: str) -> Path:
    (tmp_path / FILE).write_text(text)
    return tmp_path


def test_every_setting_has_a_valid_default(tmp_path: Path) -> None:
    """A project without a file and an environment has every setting, and says that it is the default."""
    settings = load(tmp_path, {})
    assert {settings.origin(name) for name in SETTINGS} == {"default"}
    assert (settings.integer("batch.concurrency"), settings.text("output.format")) == (4, "jpeg")
    assert (settings.number("lease.ttl_s"), settings.number("lease.beat_s")) == (30.0, 10.0)


def test_the_file_goes_before_the_default(tmp_path: Path) -> None:
    """A value of thumbforge.toml counts, and its origin is the file."""
    settings = load(project(tmp_path, "[batch]\nmax_retries = 5\n[retry]\nbase_s = 0.5\n"), {})
    assert (settings.integer("batch.max_retries"), settings.number("retry.base_s")) == (5, 0.5)
    assert (settings.origin("batch.max_retries"), settings.origin("batch.concurrency")) == (FILE, "default")


def test_the_environment_goes_before_the_file(tmp_path: Path) -> None:
    """A variable counts more than the file, and its origin is the variable's name."""
    settings = load(project(tmp_path, "[batch]\nmax_retries = 5\n"), {"THUMBFORGE_BATCH__MAX_RETRIES": "7"})
    assert settings.integer("batch.max_retries") == 7
    assert settings.origin("batch.max_retries") == "THUMBFORGE_BATCH__MAX_RETRIES"


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_can_be_set_both_ways(tmp_path: Path, name: str) -> None:
    """Each name works as a table's field and as a variable; its default is a value one may write."""
    table, key = name.split(".")
    default = SETTINGS[name].default
    literal = default if default.replace(".", "").isdigit() else f'"{default}"'
    settings = load(project(tmp_path, f"[{table}]\n{key} = {literal}\n"), {})
    assert settings.origin(name) == FILE
    assert load(tmp_path, {variable(name): default}).text(name) == settings.text(name)


def test_other_variables_are_no_settings(tmp_path: Path) -> None:
    """Keys and directories share the prefix but have no double underscore."""
    load(tmp_path, {"THUMBFORGE_HOME": "/x", "THUMBFORGE_OPENAI_API_KEY": "y", "OTHER__THING": "z"})


@pytest.mark.parametrize(
    ("text", "name", "hint"),
    [
        ("[batch]\nconcurency = 4\n", "batch.concurency", "did you mean batch.concurrency?"),
        ("[colour]\nx = 1\n", "colour.x", "known: batch.concurrency"),
        ("concurrency = 4\n", "concurrency", "expected a table such as [batch]"),
    ],
)
def test_an_unknown_name_in_the_file_is_refused(tmp_path: Path, text: str, name: str, hint: str) -> None:
    """The message names the setting and the nearest one there is."""
    with pytest.raises(SpecError) as caught:
        load(project(tmp_path, text), {})
    assert f"{FILE}: {name}: " in str(caught.value)
    assert hint in str(caught.value)


def test_every_unknown_name_in_the_file_is_told_at_once(tmp_path: Path) -> None:
    """Two mistakes are two problems of one error."""
    with pytest.raises(SpecError) as caught:
        load(project(tmp_path, "[batch]\nconcurency = 4\n[output]\nwidht = 1280\n"), {})
    assert [problem.where for problem in caught.value.problems] == ["batch.concurency", "output.widht"]


def test_an_unknown_variable_is_refused(tmp_path: Path) -> None:
    """A mistyped variable is told with the nearest one, instead of doing nothing."""
    with pytest.raises(UsageError, match="THUMBFORGE_BATCH__CONCURENCY is no setting") as caught:
        load(tmp_path, {"THUMBFORGE_BATCH__CONCURENCY": "4"})
    assert caught.value.hint == "did you mean THUMBFORGE_BATCH__CONCURRENCY?"


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("batch.concurrency", "0", "expected 1 to 64"),
        ("batch.concurrency", "two", "expected a whole number"),
        ("batch.concurrency", "1.5", "expected a whole number"),
        ("batch.max_retries", "-1", "expected 0 to 100"),
        ("retry.base_s", "soon", "expected a number"),
        ("retry.base_s", "nan", "expected 0 to 60"),
        ("lease.ttl_s", "inf", "expected 0.2 to 3600"),
        ("output.format", "gif", "expected one of jpeg, png"),
        ("log.level", "", "expected one of auto, debug"),
    ],
)
def test_a_bad_value_is_refused_with_its_origin(tmp_path: Path, name: str, text: str, why: str) -> None:
    """The message says where the value is from, what it is and what was expected."""
    with pytest.raises(UsageError) as caught:
        load(tmp_path, {variable(name): text})
    assert str(caught.value).startswith(f"{variable(name)}: {name} is {text!r}: {why}")


@pytest.mark.parametrize(("width", "height"), [(1920, 1200), (1281, 720)])
def test_an_output_that_is_not_16_to_9_is_refused(tmp_path: Path, width: int, height: int) -> None:
    """Width and height may come from two origins; together they are 16:9."""
    with pytest.raises(UsageError, match=f"{width}x{height}, not 16:9"):
        load(project(tmp_path, f"[output]\nwidth = {width}\n"), {"THUMBFORGE_OUTPUT__HEIGHT": str(height)})


@pytest.mark.parametrize("text", ["[batch\n", "x = \n", "\x00"])
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, text: str) -> None:
    """One line with the file's name, no traceback."""
    with pytest.raises(SpecError, match=f"{FILE}: cannot be read"):
        load(project(tmp_path, text), {})


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are a problem of the file."""
    (tmp_path / FILE).write_bytes(b"\xff\xfe[")
    with pytest.raises(SpecError, match="cannot be read"):
        load(tmp_path, {})
