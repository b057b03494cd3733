"""The merge of a fetched list into the one that is there: nothing the user wrote is lost, and twice is once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.playlists.merge import ListChange, Merged, Numbering, keyed, merge
from thumbforge.sources.fetched import FetchedPlaylist, Skipped

HEAD = PlaylistHead(id="PLmerge0000000", title="Old wood", channel="Bench")


def video(n: int) -> str:
    return f"tfVid{n:06d}"


def item(n: int, **fields: Any) -> Item:
    return Item(**{"video": video(n), "title": f"Lesson {n}", **fields})


def stored(*items: Item) -> Playlist:
    return Playlist(playlist=HEAD, items=items)


def listed(*items: Item, **fields: Any) -> FetchedPlaylist:
    numbered = [one.model_copy(update={"part": n}) for n, one in enumerate(items, 1)]
    return FetchedPlaylist(Playlist(playlist=HEAD, items=tuple(numbered)), **fields)


def parts(merged: Merged) -> list[tuple[str, int | None]]:
    return [(one.video, one.part) for one in merged.playlist.items]


def kinds(merged: Merged) -> list[tuple[str, str]]:
    return [(change.kind, change.video) for change in merged.changes]


OLD = stored(item(1, part=1, text="*One*"), item(2, part=2, vars={"mood": "calm"}), item(3, part=3))


def test_a_new_list_is_numbered_in_order() -> None:
    """Parts 1 to n for what is listed."""
    merged = merge(None, listed(item(5), item(6)))
    assert parts(merged) == [(video(5), 1), (video(6), 2)]
    assert kinds(merged) == [("added", video(5)), ("added", video(6))]


def test_a_single_video_has_no_part() -> None:
    """Asked for alone it is part of nothing, unless its place is asked to be its part."""
    assert parts(merge(None, listed(item(5), single=True))) == [(video(5), None)]
    assert parts(merge(None, listed(item(5), single=True), "position")) == [(video(5), 1)]


def test_a_new_video_on_top_moves_no_part() -> None:
    """What was A B C is N A B C: A, B and C keep 1, 2 and 3, and nobody is said to have moved."""
    merged = merge(OLD, listed(item(9), item(1), item(2), item(3)))
    assert parts(merged) == [(video(9), 4), (video(1), 1), (video(2), 2), (video(3), 3)]
    assert merged.changes == (ListChange("added", video(9), "Lesson 9", 4, 1),)


@pytest.mark.parametrize(
    ("numbering", "title", "part", "warns"),
    [
        ("position", "Interlude", 4, "would be part 1, which tfVid000001 has: it gets 4"),
        ("none", "Interlude", None, ""),
        ("from-title", "Ep. 07", 7, "the title says 7, its place is 1"),
        ("from-title", "Interlude", None, ""),
        ("from-title", "Ep. 02", None, "would be part 2, which tfVid000002 has: it gets none"),
        ("next", "Ep. 07", 4, "the title says 7, the part is 4"),
        ("next", "Ep. 04", 4, ""),
    ],
)
def test_parts_of_new_videos_can_be_had_in_other_ways(
    numbering: Numbering, title: str, part: int | None, warns: str
) -> None:
    """By place, from the title, or not at all; a part that is given already is never given twice, and that is told."""
    merged = merge(OLD, listed(item(9, title=title), item(1), item(2), item(3)), numbering)
    assert parts(merged)[0] == (video(9), part)
    assert warns in " ".join(merged.warnings)
    assert bool(warns) == bool(merged.warnings)


def test_a_list_without_parts_stays_without() -> None:
    """Where the user has taken all parts away, a new video brings none."""
    assert parts(merge(stored(item(1)), listed(item(1), item(2)))) == [(video(1), None), (video(2), None)]


def test_parts_of_a_spreadsheet_are_its_own() -> None:
    """A CSV with a column `part` numbers its new rows."""
    rows = Playlist(playlist=HEAD, items=(item(1, part=7), item(2)))
    assert parts(merge(None, FetchedPlaylist(rows, has_parts=True))) == [(video(1), 7), (video(2), None)]


def test_what_youtube_says_is_taken_over_and_what_the_user_wrote_stays() -> None:
    """A new title is reported with the old one; a duration that only rounds differently is no change."""
    old = stored(item(1, part=7, title="Old", text="*One*", duration=60, vars={"a": 1}))
    merged = merge(old, listed(item(1, title="New", duration=60.9)))
    assert merged.playlist.items == (item(1, part=7, title="New", text="*One*", duration=60, vars={"a": 1}),)
    assert merged.changes == (ListChange("renamed", video(1), "New", 7, 1, "Old"),)
    assert merge(old, listed(item(1, title="Old", duration=90))).playlist.items[0].duration == 90
    assert merge(old, listed(item(1, title="Old"))).playlist == old


def test_a_removed_video_stays_in_its_place_and_comes_back() -> None:
    """It is marked, keeps part and edits, stands behind the item it stood behind, and loses the mark when listed."""
    gone = merge(OLD, listed(item(1), item(3)))
    assert gone.playlist.items[1] == item(2, part=2, vars={"mood": "calm"}, removed=True)
    assert kinds(gone) == [("removed", video(2))]
    assert parts(merge(gone.playlist, listed(item(1), item(3), item(4))))[3] == (video(4), 4)
    back = merge(gone.playlist, listed(item(1), item(3), item(2)))
    assert [one.model_dump(exclude_unset=True) for one in back.playlist.items][2] == {
        "video": video(2), "title": "Lesson 2", "part": 2, "vars": {"mood": "calm"},
    }  # fmt: skip
    assert ("returned", video(2)) in kinds(back)


def test_an_item_of_the_users_own_is_never_marked() -> None:
    """`removed: false`, written out, keeps a video that YouTube does not list (yet)."""
    old = stored(item(1, part=1), item(8, part=2, removed=False))
    assert merge(old, listed(item(1))).playlist == old


def test_a_list_that_is_not_whole_removes_only_what_it_shows_as_hidden() -> None:
    """A short list proves nothing about what it does not mention."""
    merged = merge(OLD, listed(item(1), skipped=(Skipped(2, video(2), "private video"),)), whole=False)
    assert kinds(merged) == [("removed", video(2))]


def test_the_same_video_twice_has_two_lives() -> None:
    """Places of one video are told apart by which of them they are; the second may go alone."""
    old = stored(item(1, part=1), item(2, part=2), item(1, part=3, label="AGAIN"))
    assert merge(old, listed(item(1), item(2), item(1))).changes == ()
    gone = merge(old, listed(item(1), item(2)))
    assert [one.removed for one in gone.playlist.items] == [False, False, True]
    assert gone.playlist.items[2].label == "AGAIN"


def test_only_who_has_moved_is_said_to_have() -> None:
    """The last one brought to the front is one move, not four."""
    old = stored(*(item(n, part=n) for n in range(1, 6)))
    merged = merge(old, listed(*(item(n) for n in (5, 1, 2, 3, 4))))
    assert merged.changes == (ListChange("moved", video(5), "Lesson 5", 5, 1, 5),)


def test_the_head_follows_youtube_until_the_user_changes_it() -> None:
    """A blank field is filled; a title that is still the last fetch's follows; the user's own title stays."""
    new = FetchedPlaylist(
        Playlist(playlist=PlaylistHead(id=HEAD.id, title="New wood", language="en"), items=(item(1, part=1),))
    )
    kept = merge(stored(item(1, part=1)), new).playlist.playlist
    assert (kept.title, kept.channel, kept.language) == ("Old wood", "Bench", "en")
    followed = merge(stored(item(1, part=1)), new, head_before={"title": "Old wood"}).playlist.playlist
    assert followed.title == "New wood"


def test_no_part_is_above_the_largest() -> None:
    """Behind part 100,000 a new video gets none, and that is told."""
    merged = merge(stored(item(1, part=100_000)), listed(item(1), item(2)))
    assert parts(merged)[1] == (video(2), None)
    assert "100,000 is the largest" in merged.warnings[0]


VIDEOS = st.integers(1, 5)
TITLES = st.sampled_from(["", "Ep. 3", "#12", "Part 2", "Trailer", "第3話"])
WORDS = st.text("aé #:'\"{,-", max_size=4)
EDITS = st.fixed_dictionaries(
    {},
    optional={
        "label": WORDS,
        "text": WORDS,
        "topic": WORDS,
        "picture": st.just("a.jpg"),
        "vars": st.dictionaries(st.sampled_from("abc"), st.integers(-999, 999), max_size=2),
        "removed": st.booleans(),
    },
)


@st.composite
def playlists(draw: st.DrawFn) -> Playlist:
    numbers = draw(st.lists(VIDEOS, max_size=7))
    free = draw(st.permutations(range(1, 20)))
    items = [
        item(n, title=draw(TITLES), part=draw(st.sampled_from((None, free[place]))), **draw(EDITS))
        for place, n in enumerate(numbers)
    ]
    return stored(*items)


@st.composite
def fetches(draw: st.DrawFn) -> FetchedPlaylist:
    numbers = draw(st.lists(VIDEOS, min_size=1, max_size=7))
    hidden = tuple(Skipped(1, video(n), "private video") for n in draw(st.sets(VIDEOS, max_size=2)) - set(numbers))
    rows = (item(n, title=draw(TITLES), duration=draw(st.sampled_from((None, 60.0, 61.0)))) for n in numbers)
    return listed(*rows, skipped=hidden)


NUMBERINGS = st.sampled_from(("next", "from-title", "position", "none"))


@given(playlists() | st.none(), fetches(), NUMBERINGS, st.booleans())
def test_nothing_the_user_wrote_is_ever_lost(
    old: Playlist | None, fetched: FetchedPlaylist, numbering: Numbering, whole: bool
) -> None:
    """Every item stays, with its part, label, text, topic, picture and vars; listed ones stand as listed, unmarked."""
    merged = merge(old, fetched, numbering, whole=whole)
    now = keyed(merged.playlist.items)
    for key, was in keyed(old.items if old else ()).items():
        for name in ("part", "label", "text", "topic", "picture", "vars"):
            assert getattr(now[key], name) == getattr(was, name)
    order = list(keyed(fetched.playlist.items))
    assert [key for key in now if key in order] == order
    assert not any(now[key].removed for key in order)
    taken = [one.part for one in merged.playlist.items if one.part is not None]
    assert len(taken) == len(set(taken))


@given(playlists() | st.none(), fetches(), NUMBERINGS, st.booleans())
def test_the_same_fetch_again_changes_nothing(
    old: Playlist | None, fetched: FetchedPlaylist, numbering: Numbering, whole: bool
) -> None:
    """Merged once or twice, the list is the same, and the second time nothing is reported."""
    first = merge(old, fetched, numbering, whole=whole)
    again = merge(first.playlist, fetched, numbering, whole=whole, held=first.held)
    assert again.playlist == first.playlist
    assert again.changes == ()


@given(playlists(), fetches(), fetches())
def test_a_video_that_was_away_comes_back_as_it_was(
    old: Playlist, first: FetchedPlaylist, second: FetchedPlaylist
) -> None:
    """Two fetches of different lists and then the first again: every item of the first has what it had after it."""
    after_first = merge(old, first).playlist
    after_all = merge(merge(after_first, second).playlist, first).playlist
    for key in keyed(first.playlist.items):
        was, now = keyed(after_first.items)[key], keyed(after_all.items)[key]
        assert (now.part, now.vars, now.text, now.removed) == (was.part, was.vars, was.text, False)
