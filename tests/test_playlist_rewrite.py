"""Changing a playlist's YAML in place: what is not changed keeps its bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.test_fetch_merge import fetches, item, listed, playlists, video
from thumbforge.errors import SpecError
from thumbforge.models import Item, Playlist
from thumbforge.playlists.merge import keyed, merge
from thumbforge.sources.fetched import FetchedPlaylist
from thumbforge.specs.catalog import load_playlist
from thumbforge.specs.rewrite import new_text, rewritten
from thumbforge.specs.yaml_file import Problems

ROOT = Path(__file__).parents[1]

MINE = """\
# my list

playlist: {id: PLmerge0000000, title: 'Old wood'}   # the workshop
items:
  # season one
  - {part: 1,   video: tfVid000001,  title: "Lesson 1",  text: "*One*"}   # the best

  - video: 'tfVid000002'
    title: >
      Lesson 2
    vars:
      mood: calm     # as ever
    part: 2
    # not yet sure
  # season two
  # (a comment of two lines)
  - video: tfVid000003
    title: "Lesson 3"
    text: |
      THREE
      # no comment

  -
    title: Lesson 4
    video: tfVid000004
    part: # none

# the end
"""


def said(text: str) -> Playlist:
    data = yaml.safe_load(text)
    return Playlist.model_validate(data)


def changed(text: str, new: Playlist) -> str:
    done = rewritten(text, said(text), new, "my.yaml")
    assert said(done).model_dump() == new.model_dump()
    return done


def merged(text: str, *numbers: int, **titles: str) -> str:
    """The text after a fetch that lists these videos, with these titles or those that it has."""
    old = said(text)
    known = {one.video: one.title for one in old.items}
    names = {n: titles.get(f"t{n}") or known.get(video(n), f"Lesson {n}") for n in numbers}
    return changed(text, fetched_into(old, *(item(n, title=name) for n, name in names.items())))


def fetched_into(old: Playlist, *rows: Item) -> Playlist:
    """What a fetch of these rows makes of a playlist whose head is as YouTube has it."""
    return merge(old, FetchedPlaylist(Playlist(playlist=old.playlist, items=rows))).playlist


def test_nothing_to_change_changes_no_byte() -> None:
    """The text comes back as it was."""
    assert changed(MINE, said(MINE)) == MINE


def test_a_new_video_is_one_new_line() -> None:
    """All other lines are the same bytes; it stands where it is listed, in front of what is behind it."""
    line = '  - {part: 3, video: "tfVid000009", title: "Lesson 9"}\n'
    assert merged(MINE, 1, 2, 3, 4, 9).replace(line, "") == MINE
    first = merged(MINE, 1, 9, 2, 3, 4)
    assert first.replace(line, "") == MINE
    assert first.index(line) < first.index("tfVid000002")


def test_a_new_title_changes_only_the_title() -> None:
    """Also a title in a block text; the comments beside it stay."""
    assert merged(MINE, 1, 2, 3, 4, t1='New "one"') == MINE.replace('"Lesson 1"', '"New \\"one\\""')
    assert merged(MINE, 1, 2, 3, 4, t2="New: two") == MINE.replace("title: >\n      Lesson 2\n", 'title: "New: two"\n')


def test_items_move_with_their_lines_and_comments() -> None:
    """A comment directly above an item is the item's; what stands at the end of the file stays there."""
    done = merged(MINE, 3, 1, 2, 4)
    assert "the workshop\nitems:\n  # season two\n" in done
    assert done.endswith("    part: # none\n\n# the end\n")
    assert sorted(done.splitlines()) == sorted(MINE.splitlines())
    place = done.index("  # season two\n  # (a comment of two lines)\n  - video: tfVid000003")
    assert place < done.index("  # season one\n  - {part: 1,   video: tfVid000001")
    assert "      mood: calm     # as ever\n    part: 2\n    # not yet sure\n" in done


def test_the_mark_of_a_removed_video_comes_and_goes() -> None:
    """`removed: true` is added behind the video, and taken away again without a trace."""
    gone = merged(MINE, 4)
    assert '- {part: 1,   video: tfVid000001, removed: true,  title: "Lesson 1",  text: "*One*"}   # the best' in gone
    assert "  - video: 'tfVid000002'\n    removed: true\n    title: >\n" in gone
    assert merged(gone, 1, 2, 3, 4) == MINE


@pytest.mark.parametrize(
    ("text", "was", "now"),
    [
        ("{video: tfVid000001, title: a, removed: true}", True, "{video: tfVid000001, title: a}"),
        ("{removed: true, video: tfVid000001, title: a}", True, "{video: tfVid000001, title: a}"),
        ("{video: tfVid000001, removed: true, title: a}", True, "{video: tfVid000001, title: a}"),
        ("{video: tfVid000001, title: a, removed: true ,}", True, "{video: tfVid000001, title: a ,}"),
        ("removed: true # why\n    video: tfVid000001\n    title: a", True, None),
        ("video: tfVid000001\n    removed: true # why\n    title: a", True, None),
        ("video: tfVid000001\n    title: a\n    removed: true", True, "video: tfVid000001\n    title: a"),
    ],
)
def test_the_mark_is_found_wherever_it_stands(text: str, was: bool, now: str | None) -> None:
    """First, last, with a comma behind it, with a comment of the user's, which stays."""
    whole = f"playlist: {{id: PLmerge0000000}}\nitems:\n  - {text}\n"
    assert said(whole).items[0].removed is was
    done = changed(whole, fetched_into(said(whole), item(1, title="a")))
    assert ("# why" in text) == ("# why" in done)
    assert now is None or done == whole.replace(text, now)


@pytest.mark.parametrize(
    "text",
    [
        "playlist: {id: PLmerge0000000}\nitems: []\n",
        "playlist: {id: PLmerge0000000}\nitems: [] # none yet\n",
        "items: []\nplaylist:\n  id: PLmerge0000000\n",
        "playlist: {id: PLmerge0000000}\nitems: [{video: tfVid000002, title: b, part: 1}]\n",
        "playlist: {id: PLmerge0000000}\nitems:\n  [\n    {video: tfVid000002, title: b, part: 1},\n  ]\n",
        '{"playlist": {"id": "PLmerge0000000"}, "items": [{"video": "tfVid000002", "title": "b", "part": 1}]}',
        "playlist: {id: PLmerge0000000}\nitems:\n- {video: tfVid000002, title: b, part: 1}",
        "playlist: {id: PLmerge0000000}\r\nitems:\r\n- video: tfVid000002\r\n  part: 1\r\n  title: b\r\n",
        "items:\n- {video: tfVid000002, title: b, part: 1}\nplaylist:\n  id: PLmerge0000000\n",
        '---\nplaylist: {id: PLmerge0000000}\nitems:\n-   part: 1\n    title: "b\u2028"\n    video: tfVid000002\n...\n',
        "playlist: {id: PLmerge0000000}\nitems:\n  - {? video : tfVid000002, title: 'b''c', part: 1}\n",
        "playlist: {id: PLmerge0000000}\nitems:\n  - {video: tfVid000002, title: 'two\n    lines', part: 1}\n",
    ],
)
def test_every_notation_takes_new_items_in_any_order(text: str) -> None:
    """Brackets, JSON, no line break at the end, Windows line ends, items first, quotes over lines."""
    old = said(text)
    rows = [item(1), *(one.model_copy(update={"title": "new"}) for one in old.items), item(3)]
    done = changed(text, merge(old, listed(*rows)).playlist)
    assert ("\r\n" in text) == ("\r\n" in done)
    assert "\n" not in done.replace("\r\n", "") or "\r\n" not in text
    gone = changed(done, merge(said(done), listed(item(3))).playlist)
    changed(gone, merge(said(gone), listed(*reversed(rows))).playlist)


@pytest.mark.parametrize(
    "text",
    [
        "playlist: {id: PLmerge0000000}\nitems:\n  - &a {video: tfVid000002, title: b}\n  - *a\n",
        "playlist: {id: PLmerge0000000}\nitems:\n  - {video: &v tfVid000002, title: b}\n  - {video: *v, title: c}\n",
        "playlist: {id: PLmerge0000000}\nitems: [{video: tfVid000002, title: b}, #\n {video: tfVid000003, title: c}]",
    ],
)
def test_what_cannot_be_changed_without_a_loss_is_refused(text: str) -> None:
    """Aliases that a move would break, comments between brackets: a SpecError with the line, and a hint."""
    old = said(text)
    with pytest.raises(SpecError, match=r"my.yaml:\d+: items: this notation cannot be changed") as caught:
        rewritten(text, old, merge(old, listed(item(3), item(2, title="new"))).playlist, "my.yaml")
    assert "without anchors" in caught.value.hint


def test_the_bundled_playlist_keeps_its_columns() -> None:
    """A renamed video and a removed one in specs/playlists/pandas-30.yaml touch two lines of it."""
    path = ROOT / "specs" / "playlists" / "pandas-30.yaml"
    text, old = path.read_text(encoding="utf-8"), load_playlist(path).spec
    rows = [one.model_copy(update={"title": "New"}) if n == 4 else one for n, one in enumerate(old.items) if n != 7]
    done = rewritten(text, old, merge(old, listed(*rows)).playlist, "x")
    pairs = zip(text.splitlines(), done.splitlines(), strict=True)
    assert sum(before != after for before, after in pairs) == 2


def test_titles_are_data_in_the_yaml(tmp_path: Path) -> None:
    """Every title of the hard ones is read back as it is, and no control or direction character stands in the file."""
    lines = (Path(__file__).parent / "data" / "titles.txt").read_text(encoding="utf-8").splitlines()
    titles = [line.partition("\t")[2] for line in lines if "\t" in line] + [
        "a\x00b\x1b[31m",
        "{{ x }}",
        "\u202etxt.exe",
    ]
    rows = tuple(item(n, title=title[:1000]) for n, title in enumerate(titles))
    playlist = Playlist(playlist={"id": "PLmerge0000000", "title": "x\n# y: \u202e"}, items=rows)
    path = tmp_path / "t.yaml"
    path.write_text(new_text(playlist), encoding="utf-8")
    assert len(rows) > 100
    assert load_playlist(path).spec == playlist
    assert not set(path.read_text(encoding="utf-8")) & set("\x00\x1b\u202e\u2028\ufeff")


STYLES = st.sampled_from(("flow", "block", "dash", "json"))


def written(draw: st.DrawFn, playlist: Playlist) -> str:
    """A playlist as a person might have written it: notations and comments mixed."""
    lines = ["# top", "playlist:", "  id: PLmerge0000000", "", "items:" if playlist.items else "items: []"]
    for number, one in enumerate(playlist.items):
        fields = one.model_dump(exclude_unset=True)
        flow = yaml.safe_dump(
            fields, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False
        ).strip()
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from(("", f"  # above {number}", f"  # far above {number}\n"))))
        block = yaml.safe_dump(fields, default_flow_style=False, allow_unicode=True, sort_keys=draw(st.booleans()))
        indented = block.rstrip("\n").replace("\n", "\n    ")
        lines.append(
            {
                "flow": f"  -   {flow}  # beside {number}",
                "json": f"  - {flow}",
                "block": f"  - {indented}",
                "dash": f"  -\n    {indented}\n    # below {number}",
            }[draw(STYLES)]
        )
    return "\n".join(lines) + draw(st.sampled_from(("\n", "\n\n# end\n", "")))


@given(st.data(), playlists(), fetches())
def test_any_merge_can_be_written_and_no_comment_is_lost(data: st.DataObject, old: Playlist, fetched: Any) -> None:
    """Whatever the notation: the file says what the merge says, has every comment that it had, and is a valid spec."""
    text = data.draw(st.composite(written)(old))
    assert said(text).model_dump()["items"] == old.model_dump()["items"]
    merged = merge(said(text), fetched)
    new = merged.playlist
    done = changed(text, new)
    comments = [line.strip() for line in text.splitlines() if "above " in line or "# below" in line]
    assert all(done.count(comment) == text.count(comment) for comment in comments)
    assert done.count("# beside") == text.count("# beside")
    for key, one in keyed(new.items).items():
        assert keyed(said(done).items)[key] == one
    assert rewritten(done, new, merge(new, fetched, held=merged.held).playlist, "x") == done


def test_a_written_file_is_strictly_valid(tmp_path: Path) -> None:
    """The spec's own reader, which is stricter than YAML, finds nothing wrong in what is written."""
    new = merge(said(MINE), listed(item(7, duration=61.5), item(2), item(8))).playlist
    path = tmp_path / "mine.yaml"
    path.write_text(changed(MINE, new), encoding="utf-8")
    problems = Problems(tmp_path)
    assert problems.parse(path, Playlist) == new
    problems.raise_if_any()
    assert video(7) in path.read_text(encoding="utf-8")
