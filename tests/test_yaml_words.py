"""The first mistakes in a list's YAML are told in the words of who writes titles, and no text is lost silently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import Project, item
from thumbforge.errors import SpecError
from thumbforge.specs import yaml_events
from thumbforge.specs.catalog import load_playlist
from thumbforge.specs.yaml_words import quoted

HEAD = "playlist: {id: PLshow0000000000, title: S}\nitems:\n"


def listed(project: Project, items: str) -> tuple[int, str]:
    project.write("specs/playlists/show.yaml", HEAD + items)
    told = project.run("playlist", "show", "show")
    return told.code, told.err


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ("- video: aaaaaaaaaaa\n  title: x\n  text: *Ownership* explained\n", "begins with * or & needs quotes"),
        ("- video: aaaaaaaaaaa\n  title: *Ownership\n", "begins with * needs quotes"),
        ("- {video: aaaaaaaaaaa, title: Rust: the book}\n", "holds `: `, a comma, a bracket or ` #` needs quotes"),
        ("- video: aaaaaaaaaaa\n  title: Rust: the book\n", "holds `: ` needs quotes"),
        ("-\u00a0{video: aaaaaaaaaaa, title: x}\n", "a no-break space stands in this line"),
        ("- {video: aaaaaaaaaaa,\u00a0title: x}\n", "there is a no-break space in its name"),
        ("- {video: 'https://youtu.be/aaaaaaaaaaa', title: x}\n", "of an address what stands behind `v=`"),
    ],
)
def test_a_mistake_is_told_with_what_helps(project: Project, items: str, told: str) -> None:
    """At its line, with exit 2."""
    code, err = listed(project, items)
    assert code == 2
    assert told in err
    assert "specs/playlists/show.yaml:" in err


TRAPS = [
    "*Ownership* explained", "*Ownership", "&Rust rocks", "&Co. KG", "!important", "! wow", "@home", "%d things",
    "`code` here", "> quoted", "| pipe", "- dash", "? why", '"Foo" bar', "[live] talk", "{x} y", "Rust: the book",
    "foo: bar: baz", "http://x.y: z", "ends with colon:", "12:30", "2024-01-01", "007",
]  # fmt: skip
IN_BRACES = ["wow, that", "What is C#, and why", "a ] b", "a } b", "My vlog #12", "C# #3 of 5", "#1 hit", ", so"]


@pytest.mark.parametrize(("text", "is_block"), [*((t, b) for t in TRAPS for b in (1, 0)), *((t, 0) for t in IN_BRACES)])
def test_what_yaml_takes_otherwise_is_told_with_how_it_is_written(
    text: str, is_block: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with file, line and the form in quotes; as a block and in braces. What can be read is a warning."""
    own = f"- video: aaaaaaaaaaa\n  title: x\n  text: {text}\n  part: 1\n"
    if not is_block:
        own = f"- {{video: aaaaaaaaaaa, title: x, text: {text}, part: 1}}\n- {{video: bbbbbbbbbbb, title: y}}\n"
    path = tmp_path / "show.yaml"
    path.write_text(HEAD + own, encoding="utf-8")
    try:
        load_playlist(path, tmp_path)
        assert text == "&Rust rocks"
        said = capsys.readouterr().err
    except SpecError as error:
        [said] = map(str, error.problems)
    assert f"show.yaml:{5 if is_block else 3}: " in said
    assert json.dumps(text) in said
    assert "quotes" in said


@pytest.mark.parametrize(("said", "form"), [("'It's me'", '"It\'s me"'), ('"unclosed', '"unclosed"')])
def test_quotes_that_went_wrong_are_meant_as_quotes(said: str, form: str) -> None:
    """An apostrophe within, an end forgotten."""
    assert quoted(f"  text: {said}") == f"text: {form}"


@given(st.text(st.characters(exclude_categories=("C", "Z")) | st.sampled_from(" :#,*&"), max_size=20))
def test_the_form_that_is_told_says_the_text(text: str) -> None:
    """Whatever the text: what is told to write is read, and says what stands there."""
    said = f"x{text}".strip()
    for line in (f"  title: *{said}", f"- {{video: aaaaaaaaaaa, title: *{said}, part: 1}}"):
        form = quoted(line)
        assert "," in said or "}" in said or yaml_events.read(form).data == {"title": f"*{said}"}
        assert yaml_events.read(form).data["title"].startswith("*")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\x85", "\u2028"])
def test_other_ends_of_lines_hide_nothing_and_break_nothing(tmp_path: Path, end: str) -> None:
    """YAML counts them as lines, an editor does not: a wrong field far down is told all the same."""
    path = tmp_path / "show.yaml"
    path.write_text(f"{HEAD}- {{video: aaaaaaaaaaa, title: x}}{end * 9}- {{video: bbbbbbbbbbb, title: , zzz: 1, so}}\n")
    with pytest.raises(SpecError) as told:
        load_playlist(path, tmp_path)
    assert any("zzz" in str(problem) for problem in told.value.problems)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "  title: plain words",
            "  text: 'it''s'",
            '  text: "a: b"  # note',
            "  text: a, b",
            "  text: |",
            "  part: 1",
        ),
        *("- {title: {box: {x: 1, y: 2}}}", "- {video: a, title: 'a, b', text: \"c: d\"}", "  title: {box: {x: 1}}"),
        *("  text: >-  # x", "  text: C# in a day"),
    ],
)
def test_what_is_right_needs_no_other_form(line: str) -> None:
    """So that nothing wrong is told about a line that only stands beside one."""
    assert quoted(line) == ""


def test_a_title_that_is_all_comment_is_told(project: Project) -> None:
    """YAML reads nothing there."""
    code, err = listed(project, "- video: aaaaaaaaaaa\n  title: #1 hit\n")
    assert code == 2
    assert "'#1 hit' is a comment to YAML; put it in quotes: title: \"#1 hit\"" in err


@pytest.mark.parametrize("field", ["title", "text", "topic", "label"])
def test_a_number_behind_a_hash_is_told(project: Project, field: str) -> None:
    """What YAML takes for a comment was most likely meant."""
    own = "" if field == "title" else "  title: x\n"
    code, err = listed(project, f"- video: aaaaaaaaaaa\n{own}  {field}: My vlog #12\n")
    assert code == 0
    assert f"the {field} is 'My vlog': '#12' is a comment to YAML; put the text in quotes" in err
    assert f"specs/playlists/show.yaml:{5 if own else 4}: the" in err


@pytest.mark.parametrize(
    "text",
    ["'My vlog #12'", '"My vlog #12"', "My vlog#12", "C# in a day", "My vlog # to be done", "|\n    My vlog #12"],
)
def test_what_is_meant_so_is_not_told(project: Project, text: str) -> None:
    """Quotes, no space before it, or words behind it."""
    assert listed(project, f"- video: aaaaaaaaaaa\n  title: {text}\n") == (0, "")


def test_many_are_told_together(project: Project) -> None:
    """Three, and how many more."""
    items = "".join(f"- video: {item(n)['video']}\n  title: Vlog #{n}\n" for n in range(1, 9))
    _, err = listed(project, items)
    assert len(err.splitlines()) == 4
    assert "5 more texts are cut short by YAML" in err
