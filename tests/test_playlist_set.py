"""`playlist set`: one word of one item, written into the YAML, where all else keeps its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch_site import Site, make_site, refused
from tests.project import make_project
from tests.test_playlist_rewrite import MINE, changed, said
from thumbforge.commands.lists.setting import SET
from thumbforge.models import Playlist
from thumbforge.playlists.fields import OWN, with_values
from thumbforge.playlists.merge import keyed

WOOD = """\
# the workshop
playlist: {id: PLwood0000000, title: Wood}
items:
  - {video: tfVid000001, title: Trailer, part: 1}   # the trailer
  - {label: 'New', text: "*JOINTS*", video: "-tfDash0001", title: "Joints", part: 2}
  - video: tfVid000003
    text: |
      GLUE
      and clamps

    title: Glue
  - {video: tfVid000004, title: Gone, part: 3, removed: true}
  - {video: tfVid000001, title: Trailer, part: 9}
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = make_site(tmp_path / "site")
    made.write("specs/playlists/wood.yaml", WOOD)
    made.write("specs/heroes/h.png", "a file")
    return made


@pytest.mark.parametrize(
    ("words", "was", "now"),
    [
        (("1", "text=*Two*: #1"), "01, title: Trailer, part: 1", '01, text: "*Two*: #1", title: Trailer, part: 1'),
        (("tfVid000001", r"topic=A\nB"), "01, title: Trailer, part: 1", r'01, topic: "A\nB", title: Trailer, part: 1'),
        (("2", "text="), ', text: "*JOINTS*"', ""),
        (("-tfDash0001", "label=", "text=New"), "label: 'New', text: \"*JOINTS*\"", 'text: "New"'),
        (("2", "label=", "text="), "label: 'New', text: \"*JOINTS*\", ", ""),
        (("tfVid000003", "text="), "    text: |\n      GLUE\n      and clamps\n", ""),
        (("#3", "part=7"), "  - video: tfVid000003\n", "  - video: tfVid000003\n    part: 7\n"),
        (("#4", "picture=specs/heroes/h.png"), "tfVid000004, ", 'tfVid000004, picture: "specs/heroes/h.png", '),
        (("9", "part="), ", part: 9", ""),
        (("tfVid000001:2", "part=10"), "part: 9", "part: 10"),
    ],
)
def test_what_is_set_is_all_that_changes(words: tuple[str, ...], was: str, now: str, site: Site) -> None:
    """By part, by video (a second place with its number), by position; an empty value takes the field away."""
    assert site.shown("playlist", "set", "wood", *words)["changed"]
    assert site.yaml("wood") == WOOD.replace(was, now, 1)


def test_it_says_what_was_what_is_and_what_comes_next(tmp_path: Path) -> None:
    """The batch of this item alone draws it again, without a call."""
    site = Site(make_project(tmp_path / "project", 2).root)
    assert site.batch().code == 0
    told = site.run("playlist", "set", "show", "2", "text=Short").out.splitlines()
    assert told[-1] == "Next: thumbforge batch series=show only=2"
    assert told[-2].split() == ["text", "Short"]
    assert "1 drawn again" in site.run(*told[-1].split()[2:]).out
    assert site.calls == 2
    assert site.run("playlist", "set", "show", "2", "text=Short").out.startswith("Nothing has changed")


def test_a_part_that_is_set_is_a_persons_word(site: Site) -> None:
    """The history says by what, and the fact says by whom."""
    assert site.run("playlist", "set", "wood", "#3", "part=7").code == 0
    last = site.shown("playlist", "log", "wood")["changes"][-1]
    assert (last["by"], last["kind"], last["part"], last["was"]) == ("set", "renumbered", 7, None)
    assert ("tfVid000003", 7, "user") in site.facts("part")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["wood", "1"], 2, "needs what is to be set"),
        (["wood", "77", "text=x"], 3, "no item 77"),
        (["wood", "#3", "part=2"], 2, "part 2 is -tfDash0001's"),
        (["wood", "1", "part=x"], 2, "expected a whole number"),
        (["wood", "1", "part=100001"], 2, "expected a whole number"),
        (["wood", "1", f"label={'x' * 101}"], 2, "label: is longer than 100 characters"),
        (["wood", "1", "picture=nosuch.png"], 2, "there is no file nosuch.png"),
        (["wood", "1", "picture=../../x.png"], 2, "leads out of the project"),
        (["wood", "1", "text=sk-proj-ABCdefghijklmnopqrstuvwxyz0123456789"], 2, "looks like a key"),
        (["wood", "1", "title=Mine"], 2, "unknown variable title"),
        (["iron", "1", "text=x"], 3, "no playlist iron"),
    ],
)
def test_what_may_not_stand_there_is_refused(words: list[str], code: int, says: str, site: Site) -> None:
    """One line, a hint, and not a byte changed."""
    problem = refused(site.run("playlist", "set", *words, "--json"), code, "usage" if code == 2 else "not_found")
    assert says in problem["message"]
    assert site.yaml("wood") == WOOD


def test_a_number_that_is_a_part_and_a_position_is_asked_about(site: Site) -> None:
    """The item at position 3 has no part, another has part 3."""
    problem = refused(site.run("playlist", "set", "wood", "3", "text=x", "--json"), 2, "usage")
    assert problem["hint"] == "name it by its video: tfVid000003 or tfVid000004"


def test_the_fields_are_those_of_the_model() -> None:
    """What the model gives a person to say of an item can be set."""
    assert {option.pair for option in SET.options if not option.is_flag} == set(OWN)


@given(
    st.integers(0, 3), st.dictionaries(st.sampled_from(OWN), st.none() | st.text(max_size=30), min_size=1), st.data()
)
def test_whatever_is_set_says_that_and_the_rest_keeps_its_bytes(
    at: int, values: dict[str, str | int | None], data: st.DataObject
) -> None:
    """Every line that is not the item's own is there as it was; taken away again, no trace of what was not there."""
    if "part" in values:
        values["part"] = data.draw(st.none() | st.integers(10, 99))
    values = {name: value or None for name, value in values.items()}
    old = said(MINE)
    key = [*keyed(old.items)][at]
    item = with_values(old.items[at], values)
    new = Playlist(playlist=old.playlist, items=tuple(item if k == key else o for k, o in keyed(old.items).items()))
    done = changed(MINE, new)
    others = [o for o in MINE.split("  - ") if key[0] not in o]
    assert all(other in done for other in others)
    back = with_values(item, {name: getattr(old.items[at], name) for name in values})
    assert (
        said(changed(done, Playlist(playlist=old.playlist, items=tuple(back if o is item else o for o in new.items))))
        == old
    )
