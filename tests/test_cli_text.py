"""Titles are data: no line of output is broken or coloured by one, and none is ever run as code."""

from __future__ import annotations

import pytest

from tests.project import Project, item, make_project

TITLES = [
    "colours \x1b[31mred\x1b[0m and \x07bell",
    "[red]markup[/red] [bold]",
    "{{ 7 * 7 }} {% raw %} {# no #}",
    "100%s %(name)s %d {0} {name!r}",
    "one\ntwo\r\nthree\ttab",
    "\u202eright to left\u202c \u2028 line \x85 sep",
    "-rf --help ; rm $HOME `id` 'quote' \"double\"",
    "漢字かな 한글 🎬👩🏽‍🚀 ẞ",
    "=cmd|' /C calc'!A0",
    " leading and trailing ",
]


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A finished project whose titles are made to break things."""
    project = make_project(tmp_path_factory.mktemp("odd") / "project", 1)
    items = [item(n, title=title, text="Plain", topic="plain") for n, title in enumerate(TITLES, 1)]
    head = {"id": "PLshow0000000000", "title": "[red]A show {{ x }}"}
    project.write("specs/playlists/show.yaml", {"playlist": head, "items": items})
    return project


def clean(text: str) -> bool:
    """No escape, no other control character, no mark that turns the writing direction."""
    return all(line.isprintable() for line in text.split("\n"))


def test_no_title_breaks_the_output(odd: Project) -> None:
    """Table, plan, list, info and runs show printable characters only, a line for each item, in a pipe no colour."""
    first = odd.batch()
    assert first.code == 0, first.err
    assert (clean(first.out), clean(first.err)) == (True, True)
    rows = [line for line in first.out.splitlines() if " made  " in line]
    assert len(rows) == len(TITLES)
    [run] = odd.query("SELECT id FROM run WHERE kind = 'batch'")
    for words in (
        ["batch", "series=show", "--dry-run", "retake=yes"],
        ["list", "--all", "-s"],
        ["runs", "show", run["id"]],
    ):
        told = odd.run(*words)
        assert (told.code, clean(told.out), told.err) == (0, True, "")
        assert "[red]markup[/red] [bold]" in told.out
        assert "{{ 7 * 7 }} {% raw %} {# no #}" in told.out
        assert "100%s %(name)s %d {0} {name!r}" in told.out
        assert "one two three tab" in told.out
    for entry in odd.items()[:5:2]:
        told = odd.doit("info", f"thumb:show:{entry['video']}")
        assert (told.code, clean(told.out), told.err) == (0, True, "")


def test_json_has_the_titles_as_they_are(odd: Project) -> None:
    """What a program reads is the data itself."""
    found = odd.batch("--dry-run", "--json").document
    assert [row["title"] for row in found["plan"]] == TITLES


def test_a_title_in_a_prompt_is_no_template(odd: Project, project: Project) -> None:
    """What looks like code in a title stands in the prompt as it is."""
    project.template(prompt="About {{ video.title }}")
    project.playlist([item(1, title="{{ 7 * 7 }} {% raw %}")])
    [row] = project.plan()
    assert row["key_parts"]["prompt"].startswith("About {{ 7 * 7 }} {% raw %}\n")


def test_a_reason_is_one_line(project: Project) -> None:
    """Also where a changed text has line breaks and escapes."""
    assert project.batch("only=1").code == 0
    project.playlist([item(1, text="one\n\x1b[31mtwo")])
    for told in (project.batch("--dry-run"), project.doit("info", "thumb:show:video-00001")):
        assert clean(told.out)
        assert "Lesson 1" in told.out


def test_every_problem_of_the_specs_is_told_at_once(project: Project) -> None:
    """Exit 2 before anything is made; each with file and line, in order."""
    project.write(
        "specs/playlists/show.yaml",
        "playlist: {id: PLshow0000000000}\n"
        "items:\n"
        "  - {video: video-00001, title: One, part: one}\n"
        "  - {video: short, title: Two}\n"
        "  - {video: video-00003, title: Three, colour: red}\n",
    )
    project.write("specs/templates/plain.yaml", "extends: series-parts\nprompt: x\nlayuot: {}\n")
    told = project.batch()
    assert (told.code, told.out, project.calls, project.home.exists()) == (2, "", 0, False)
    assert told.err.splitlines()[0] == "spec_invalid: 4 problems in the specs"
    places = [line.split(": ")[0].strip() for line in told.err.splitlines()[1:5]]
    assert places == [*(f"specs/playlists/show.yaml:{n}" for n in (3, 4, 5)), "specs/templates/plain.yaml:3"]


@pytest.mark.parametrize(
    "prompt", ["{{ nothing_here }}", "{% if %}", "{{ vars.missing }}", "{% for x in range(100000000) %}x{% endfor %}"]
)
def test_a_template_that_cannot_be_rendered_is_a_problem(project: Project, prompt: str) -> None:
    """Exit 2, one line that names template and field."""
    project.template(prompt=prompt)
    told = project.batch()
    assert (told.code, told.out, project.calls) == (2, "", 0)
    assert "specs/templates/plain.yaml:2: prompt" in told.err.splitlines()[0]
    assert "Traceback" not in told.err


def test_no_secret_is_written_anywhere(project: Project) -> None:
    """A key in the environment reaches no file and no output."""
    secret = "sk-" + "Ab1" * 10
    told = project.with_environment(THUMBFORGE_OPENAI_API_KEY=secret, OPENAI_API_KEY=secret).batch()
    assert told.code == 0
    assert secret not in told.out + told.err
    assert not any(secret.encode() in data for _, data in project.files().values())
