"""The first mistakes in a list's YAML are told in the words of who writes titles, and no text is lost silently."""

from __future__ import annotations

import pytest

from tests.project import Project, item

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
        ("- {video: aaaaaaaaaaa, title: Rust: the book}\n", "holds `: `, a comma or a bracket needs quotes"),
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
    assert "5 more texts end at a `#`" in err
