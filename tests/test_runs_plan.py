"""The plan, decided on a snapshot made by hand: what there is to do for an item, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import item, video
from thumbforge.errors import LimitReached, ReplayDivergence, UsageError
from thumbforge.models import Item, Output, Playlist, Profile, Template
from thumbforge.planning.plan import (
    Change,
    Limits,
    Row,
    check_max_images,
    counts,
    inputs,
    plan,
)
from thumbforge.planning.reference import Hero
from thumbforge.planning.selection import parse_only, select
from thumbforge.planning.series import Series
from thumbforge.planning.snapshot import Damage, Snapshot
from thumbforge.planning.staging import Staging
from thumbforge.planning.wanted import Wanted, wanted_items
from thumbforge.providers.base import READABLE, Capabilities, Reference
from thumbforge.store.attempts import Art
from thumbforge.store.exports import Export
from thumbforge.store.finals import KnownFinal
from thumbforge.store.iterations import KnownIteration
from thumbforge.store.pictures import StoredPicture

NOW = 10_000.0
LIMITS = Limits(max_retries=2, max_lost=3, stale_after_s=900)
ALL = Capabilities(reads=READABLE, max_concurrency=4, hard_limit=4)
ART = StoredPicture("a" * 64, ".jpg", "image/jpeg", 1000, 1280, 720)
FINAL = replace(ART, sha256="f" * 64)
HERO = Hero(Path("hero.png"), "c" * 64, "run", "iteration", from_file=True)
TEMPLATE: dict[str, Any] = {
    "name": "plain",
    "prompt": "About {{ topic }}, {{ vars.mood }}",
    "layout": {
        "title": {"box": {"x": 0, "y": 0, "w": 600, "h": 400}},
        "part": {"box": {"x": 0, "y": 500, "w": 300, "h": 90}},
    },
}


def series(*items: Mapping[str, Any], mood: str = "calm", hero: Hero = HERO, **template: Any) -> Series:
    return Series(
        name="show",
        playlist_name="show",
        playlist=Playlist.model_validate({"playlist": {"id": "PLshow"}, "items": list(items)}),
        hero=hero,
        template=Template.model_validate({**TEMPLATE, **template}),
        profile=Profile(name="fake", provider="fake"),
        reference="final",
        vars={"mood": mood},
        overrides={},
        max_images=None,
        output=Output(width=1280, height=720),
    )


def wanted(one: Mapping[str, Any], capabilities: Capabilities = ALL, **fields: Any) -> Wanted:
    """What the specs want for a playlist of this one item."""
    made = series(one, **fields)
    return wanted_items(made, capabilities, Reference(made.hero.sha256, made.hero.path, ""))[0]


ONE = wanted(item(1))


def known(want: Wanted = ONE, status: str = "completed", **fields: Any) -> KnownIteration:
    own: dict[str, Any] = {
        "id": "it-1", "run_id": "run-1", "status": status, "error_text": None, "key_parts": want.key_parts.as_dict(),
        "take": 1, "last_take": 1, "tries": 0, "lost": 0, "started_at": NOW - 100, "executor_run_id": None,
        "executor_is_live": False, "executor_had_lease": False,
    }  # fmt: skip
    return KnownIteration(**{**own, **fields})


def made(want: Wanted = ONE, **fields: Any) -> Snapshot:
    """Everything is there for `want`: iteration, art, final, export, manifest."""
    key = want.final_key(ART.sha256)
    whole: dict[str, Any] = {
        "iterations": {want.key: known(want)},
        "art": {want.art_key(1): Art("attempt-1", ART)},
        "finals": {key: KnownFinal(key, FINAL, True, "{}")},
        "exports": {want.item_key: Export(f"show/{want.export_name}", key, FINAL.sha256)},
        "placed": {want.item_key: "right"},
        "manifests": frozenset([key]),
        "previous": {want.item_key: inputs(want, 1, ART.sha256)},
    }
    return Snapshot(NOW, **{**whole, **fields})


def decide(want: Wanted, snapshot: Snapshot, limits: Limits = LIMITS) -> Row:
    [row] = plan([want], snapshot, limits)
    return row


def unmade(iteration: KnownIteration) -> Snapshot:
    """The iteration exists, its art does not."""
    return Snapshot(NOW, iterations={ONE.key: iteration})


# No call


def test_an_item_that_is_there_is_skipped() -> None:
    """Art, final, export and manifest in place: up to date, nothing to do, no call."""
    row = decide(ONE, made())
    assert (row.action, row.status, row.reason, row.calls, row.idle) == ("skip", "completed", "up to date", 0, True)
    assert row.changes == ()


@pytest.mark.parametrize(
    ("missing", "restored"),
    [
        ({"placed": {ONE.item_key: "away"}}, ("export",)),
        ({"placed": {}}, ("export",)),
        ({"manifests": frozenset()}, ("manifest",)),
        ({"placed": {}, "manifests": frozenset()}, ("export", "manifest")),
    ],
)
def test_a_file_of_ours_that_is_missing_is_put_back(missing: dict[str, Any], restored: tuple[str, ...]) -> None:
    """It is a skip without a run, but not idle; the reason names what comes back."""
    row = decide(ONE, made(**missing))
    assert (row.action, row.status, row.restore, row.idle) == ("skip", "completed", restored, False)
    assert row.reason == f"{' and '.join(restored)} restored"


def test_an_edited_picture_is_the_users_to_keep() -> None:
    """Where it was made of the very picture that is wanted the item is done, with a remark on every plan."""
    row = decide(ONE, made(placed={ONE.item_key: "edited"}))
    assert (row.action, row.status, row.is_done, row.restore) == ("skip", "completed", True, ())
    assert row.remark == f"out/show/{ONE.export_name} was edited and is left alone"
    assert row.remark in row.reason


@pytest.mark.parametrize("placed", ["edited", "unreadable"])
def test_a_users_file_in_the_way_of_a_new_picture_fails_the_item(placed: str) -> None:
    """What is wanted is not in out/, so it is not completed; the line names the file and the cure."""
    row = decide(ONE, made(placed={ONE.item_key: placed}, exports={}))
    assert (row.action, row.status, row.calls, row.restore) == ("skip", "failed", 0, ())
    assert row.reason.startswith(f"out/show/{ONE.export_name} ")
    assert row.reason.endswith(row.cure)
    assert row.cure == "move it away to get the new picture"


def test_damaged_art_fails_its_item_and_names_the_cure() -> None:
    """No call is made while the file lies there: it may come back from a backup."""
    row = decide(ONE, made(art={}, damaged_art={ONE.art_key(1): Damage("aa.jpg holds other bytes", "mend it")}))
    assert (row.action, row.status, row.calls) == ("skip", "failed", 0)
    assert (row.reason, row.cure) == ("asset_damaged: its art aa.jpg holds other bytes; mend it", "mend it")


def test_a_damaged_final_is_drawn_again() -> None:
    """From its art, without a call."""
    row = decide(ONE, made(finals={}, broken_finals=frozenset([ONE.final_key(ART.sha256)])))
    assert (row.action, row.calls, row.reason) == ("refinish", 0, "its picture in the store is damaged")


def test_a_change_of_the_layout_costs_no_call() -> None:
    """The art stays, the picture is drawn anew, and the reason names the field with its old and new value."""
    layout = {**TEMPLATE["layout"], "part": {"box": {"x": 0, "y": 500, "w": 310, "h": 90}}}
    now = wanted(item(1), layout=layout)
    row = decide(now, made())
    assert now.key != ONE.key
    assert (row.action, row.calls, row.reason) == ("refinish", 0, "layout.part.box.w: '300' -> '310'")


def test_a_changed_text_is_told_with_both_texts() -> None:
    """What was drawn, and what is to be drawn."""
    now = wanted(item(1, text="New *words*"))
    row = decide(now, made())
    assert row.changes == (Change("title", "Lesson 1", "New *words*"),)
    assert row.reason == "title: 'Lesson 1' -> 'New *words*'"


def test_a_renumbered_item_adopts_its_art() -> None:
    """Where the provider does not read what changed, the new key takes up the picture that was paid for."""
    local = Capabilities(reads=frozenset({"reference", "width", "height"}), max_concurrency=1, hard_limit=1)
    before, now = wanted(item(1), local), wanted({**item(1), "part": 4}, local)
    assert before.key != now.key
    row = decide(now, made(before))
    assert (row.action, row.calls, row.iteration_id) == ("refinish", 0, None)
    assert row.art == Art("attempt-1", ART)
    assert {change.field for change in row.changes} == {"part"}


def test_a_hero_that_the_provider_does_not_read_costs_no_call() -> None:
    """Another hero is another key; the art is the same."""
    blind = Capabilities(reads=frozenset({"prompt"}), max_concurrency=1, hard_limit=1)
    before = wanted(item(1), blind)
    now = wanted(item(1), blind, hero=replace(HERO, sha256="d" * 64))
    assert (decide(now, made(before)).action, before.key == now.key) == ("refinish", False)


def test_art_without_its_picture_is_finished() -> None:
    """A process that died between call and drawing leaves a refinish."""
    row = decide(ONE, made(iterations={ONE.key: known(status="running")}, finals={}, exports={}, previous={}))
    assert (row.action, row.reason) == ("refinish", "the art is there, the picture is not")


def test_a_picture_that_breaks_a_rule_is_told_again_and_not_drawn_again() -> None:
    """Until what it is made of changes; no try is charged for it."""
    key = ONE.final_key(ART.sha256)
    broken = made(
        finals={key: KnownFinal(key, FINAL, False, "{}")},
        iterations={ONE.key: known(status="failed", error_text="text.glyphs: no font has U+E000")},
    )
    row = decide(ONE, broken)
    assert (row.action, row.status, row.is_stuck) == ("skip", "failed", True)
    assert "U+E000" in row.reason
    again = wanted(item(1, text="Plain"))
    changed = replace(broken, iterations={again.key: known(again, "failed")}, art={again.art_key(1): Art("a", ART)})
    assert decide(again, changed).action == "refinish"


def test_a_locked_item_keeps_its_picture() -> None:
    """Up to date it is a plain skip; with another text or prompt it is not made, and the reason tells it."""
    snapshot = made()
    [export] = snapshot.exports.values()
    locked = replace(snapshot, exports={ONE.item_key: replace(export, locked=True)})
    assert (decide(ONE, locked).action, decide(ONE, locked).is_locked) == ("skip", True)
    for now in (wanted(item(1, text="New")), wanted(item(1), mood="wild")):
        row = decide(now, locked)
        assert (row.action, row.status, row.calls, row.is_locked) == ("skip", "completed", 0, True)
        assert row.reason.startswith("locked, not made: ")


def test_a_locked_picture_that_is_gone_is_told() -> None:
    """As it was it is drawn again; other specs do not take its place."""
    snapshot = made(finals={})
    [export] = snapshot.exports.values()
    locked = replace(snapshot, exports={ONE.item_key: replace(export, locked=True)})
    assert decide(ONE, locked).action == "refinish"
    row = decide(wanted(item(1, text="New")), locked)
    assert (row.action, row.status, row.calls) == ("skip", "failed", 0)
    assert "thumbforge takes unlock" in row.reason


# A call


def test_a_new_item_is_created() -> None:
    """Nothing is known of it: one call."""
    row = decide(ONE, Snapshot(NOW))
    assert (row.action, row.status, row.reason, row.calls, row.iteration_id) == ("create", "pending", "new", 1, None)


def test_a_changed_prompt_is_a_call_that_says_what_changed() -> None:
    """The reason names the prompt with its old and new text."""
    row = decide(wanted(item(1), mood="wild"), made())
    assert (row.action, row.calls) == ("create", 1)
    assert row.reason == "prompt: 'About Lesson 1, calm' -> 'About Lesson 1, wild'"


def test_an_item_that_was_planned_and_not_begun_is_created() -> None:
    """A run that stopped early leaves it pending."""
    row = decide(ONE, unmade(known(status="pending")))
    assert (row.action, row.iteration_id) == ("create", "it-1")
    assert row.reason == "planned in an earlier run, not made yet"


@pytest.mark.parametrize("tries", [0, 1])
def test_a_failed_item_is_tried_again(tries: int) -> None:
    """Under max_retries, in the iteration that it has."""
    row = decide(ONE, unmade(known(status="failed", tries=tries, error_text="no answer")))
    assert (row.action, row.iteration_id, row.calls) == ("retry", "it-1", 1)
    assert row.reason == "failed: no answer"


@pytest.mark.parametrize("tries", [2, 3])
def test_a_failed_item_without_tries_left_stays_failed(tries: int) -> None:
    """It is reported again without a call, and the reason names the setting."""
    row = decide(ONE, unmade(known(status="failed", tries=tries, error_text="no answer")))
    assert (row.action, row.status, row.calls, row.is_stuck) == ("skip", "failed", 0, True)
    assert row.reason == f"tries used up ({tries} of max_retries=2): no answer"


def test_more_retries_may_be_allowed() -> None:
    """A higher max_retries makes it a retry again."""
    row = decide(ONE, unmade(known(status="failed", tries=2)), replace(LIMITS, max_retries=3))
    assert row.action == "retry"


def test_art_whose_file_is_gone_is_made_again() -> None:
    """A completed item whose asset vanished needs a call, and says so."""
    row = decide(ONE, made(art={}, lost_art={ONE.art_key(1): ART.sha256}, finals={}))
    assert (row.action, row.reason, row.lost_art) == ("create", "its art is gone from the store", ART.sha256)


def test_a_later_take_is_the_one_that_counts() -> None:
    """The art of the take in use is looked for, not that of the first."""
    second = made(iterations={ONE.key: known(take=2)}, art={ONE.art_key(2): Art("attempt-2", ART)})
    assert decide(ONE, second).action == "skip"
    assert ONE.art_key(1) != ONE.art_key(2)


# Being made elsewhere


def running(**fields: Any) -> KnownIteration:
    return known(status="running", executor_run_id="run-2", **fields)


def test_an_item_that_a_live_run_is_making_is_left_to_it() -> None:
    """No call, and the row names the run to wait for."""
    row = decide(ONE, unmade(running(executor_is_live=True, executor_had_lease=True)))
    assert (row.action, row.status, row.busy_in, row.calls, row.idle) == ("skip", "pending", "run-2", 0, False)


def test_an_item_of_a_dead_executor_is_taken_over() -> None:
    """A lapsed lease is a dead process, however short ago it began."""
    row = decide(ONE, unmade(running(executor_had_lease=True, started_at=NOW - 1)))
    assert (row.action, row.reason) == ("retry", "the process that made it died")


@pytest.mark.parametrize(("age", "action"), [(899, "skip"), (900, "retry"), (None, "retry")])
def test_without_any_lease_age_decides(age: float | None, action: str) -> None:
    """A running item of which no lease was ever recorded is dead when it is older than stale_after_s."""
    row = decide(ONE, unmade(running(started_at=None if age is None else NOW - age)))
    assert row.action == action


@pytest.mark.parametrize(
    ("lost", "open_attempt", "action"),
    [(1, True, "retry"), (2, True, "skip"), (2, False, "create"), (3, False, "skip")],
)
def test_an_item_in_which_processes_die_is_given_up(lost: int, open_attempt: bool, action: str) -> None:
    """Three calls in which a process died, the open one included, and it fails without another."""
    iteration = known(
        status="running" if open_attempt else "pending",
        lost=lost,
        executor_run_id="run-2" if open_attempt else None,
        executor_had_lease=True,
    )
    row = decide(ONE, unmade(iteration))
    assert row.action == action
    if action == "skip":
        assert (row.status, row.reason) == ("failed", "the process died 3 times in this item")


def test_a_key_that_stands_for_other_inputs_is_a_divergence() -> None:
    """Part 1 with "2 tips" and part 12 with " tips" have one key; none of them gets the other's picture."""
    one = wanted({**item(1), "part": 1}, prompt="2 tips")
    other = wanted({**item(1), "part": 12}, prompt=" tips")
    parts = other.key_parts.as_dict() | {"spec_hash": one.key_parts.spec_hash, "part": "12", "prompt": " tips"}
    snapshot = Snapshot(NOW, iterations={one.key: known(one, key_parts=parts)})
    with pytest.raises(ReplayDivergence, match="already stands for other inputs") as caught:
        decide(one, snapshot)
    assert "change the prompt" in caught.value.hint


# Limits and selection


def rows(*items: Mapping[str, Any]) -> tuple[Row, ...]:
    found = wanted_items(series(*items), ALL, Reference(HERO.sha256, HERO.path, ""))
    return plan(found, Snapshot(NOW), LIMITS)


def test_a_plan_has_a_row_for_each_item_in_order() -> None:
    """Counted by action, absent actions as 0."""
    made_rows = rows(*(item(n) for n in (3, 1, 2)))
    assert [row.wanted.item.part for row in made_rows] == [3, 1, 2]
    assert counts(made_rows) == {"skip": 0, "refinish": 0, "retry": 0, "create": 3}


@pytest.mark.parametrize("limit", [None, 3, 4])
def test_a_plan_within_max_images_passes(limit: int | None) -> None:
    """Without a limit, and up to it."""
    check_max_images(rows(*(item(n) for n in (1, 2, 3))), limit)


@pytest.mark.parametrize("limit", [0, 2])
def test_a_plan_beyond_max_images_is_refused(limit: int) -> None:
    """Calls count, skips do not; the hint names the number that would do."""
    three = rows(*(item(n) for n in (1, 2, 3)))
    with pytest.raises(LimitReached, match=f"3 pictures are to be made, max_images is {limit}") as caught:
        check_max_images((*three, decide(ONE, made())), limit)
    assert "max_images=3" in caught.value.hint


RANGES = st.lists(
    st.tuples(st.integers(0, 999_999), st.integers(0, 999_999)).map(lambda pair: tuple(sorted(pair))),
    min_size=1,
    max_size=5,
)


@given(RANGES, st.sampled_from(["", " "]))
def test_only_reads_back_what_was_written(ranges: list[tuple[int, int]], space: str) -> None:
    """Numbers and ranges with both ends, separated by commas; blanks around them do not matter."""
    text = ",".join(f"{space}{low}" if low == high else f"{space}{low}-{high}{space}" for low, high in ranges)
    assert parse_only(f"failed,{text}") == (("failed",), tuple(range(low, high + 1) for low, high in ranges))


@given(st.text(alphabet="0123456789,- x", max_size=8))
def test_only_is_read_or_refused_never_guessed(text: str) -> None:
    """Any text gives one range that is not empty for each of its words, or a UsageError."""
    try:
        _, found = parse_only(text)
    except UsageError:
        return
    assert all(len(numbers) > 0 for numbers in found)
    assert len(found) == text.count(",") + 1


@pytest.mark.parametrize("text", ["", ",", "3,", "9-7", "a", "1-", "-1", "1--2", "1.5", "1;2", "1234567", "½"])
def test_what_is_no_number_or_range_is_refused(text: str) -> None:
    """Also ranges that go down."""
    with pytest.raises(UsageError):
        parse_only(text)


def test_only_selects_by_part() -> None:
    """The part's number counts, not the place."""
    chosen = select(rows(item(30), item(20), item(10)), "10,25-35")
    assert [row.wanted.item.part for row in chosen] == [30, 10]


def test_only_selects_an_item_without_part_by_its_position() -> None:
    """Its place in the playlist counts, from 1."""
    mixed = rows({"video": video(9), "title": "Trailer"}, item(7), {"video": video(8), "title": "Credits"})
    assert [row.wanted.item.title for row in select(mixed, "1,7")] == ["Trailer", "Lesson 7"]
    assert [row.wanted.item.title for row in select(mixed, "3")] == ["Credits"]


def test_without_only_all_are_selected() -> None:
    """None is not an empty text."""
    three = rows(*(item(n) for n in (1, 2, 3)))
    assert select(three, None) == three


@pytest.mark.parametrize(
    ("items", "only", "why"), [([item(1)], "2", "only=2 selects no item"), ([], None, "has no items")]
)
def test_selecting_nothing_is_an_error(items: list[dict[str, Any]], only: str | None, why: str) -> None:
    """A batch about nothing is a mistake of whoever typed it."""
    with pytest.raises(UsageError, match=why):
        select(rows(*items), only)


def test_an_items_key_does_not_know_its_position() -> None:
    """A video added on top moves every position and no key."""
    before = wanted_items(series(item(1), item(2)), ALL, Reference(HERO.sha256, HERO.path, ""))
    after = wanted_items(series(item(9), item(1), item(2)), ALL, Reference(HERO.sha256, HERO.path, ""))
    assert [want.key for want in after[1:]] == [want.key for want in before]


def test_a_second_place_of_a_video_is_an_item_of_its_own() -> None:
    """With its own name and file, and, without a part, the same key: one picture for both."""
    twice = {"video": video(1), "title": "Lesson 1"}
    first, second = wanted_items(series(twice, twice), ALL, Reference(HERO.sha256, HERO.path, ""))
    assert (first.key, first.art_key(1)) == (second.key, second.art_key(1))
    assert first.item_key != second.item_key
    assert (first.export_name, second.export_name) == (f"01-{video(1)}.jpg", f"02-{video(1)}-2.jpg")


@pytest.mark.parametrize(
    ("parts", "names"), [([1, 2], ["01", "02"]), ([9, 100], ["009", "100"]), ([None, 7], ["01", "07"])]
)
def test_export_names_sort_as_parts_do(parts: list[int | None], names: list[str]) -> None:
    """Numbers are padded to the largest, at least two digits; without a part the position is it."""
    items = [{"video": video(n), "title": "x", "part": part} for n, part in enumerate(parts)]
    found = wanted_items(series(*items), ALL, Reference(HERO.sha256, HERO.path, ""))
    assert [want.export_name.split("-")[0] for want in found] == names


def test_a_line_break_in_a_title_is_no_line_break_in_a_reason() -> None:
    """Reasons are one line."""
    now = wanted({**item(1), "text": "one\ntwo"})
    assert "\n" not in decide(now, made()).reason
    assert Item.model_validate({**item(1), "text": "one\ntwo"}).text == "one\ntwo"


def by_local(one: Wanted) -> Wanted:
    """The same item, painted by `local` from its hero."""
    local = replace(one.series, profile=Profile(name="local", provider="local"))
    reference = Reference(local.hero.sha256, local.hero.path, "")
    return wanted_items(local, LOCAL, reference)[0]


LOCAL = Capabilities(reads=frozenset({"width", "height", "reference"}), max_concurrency=1, hard_limit=64)


def test_a_new_painter_paints_anew_and_says_only_that() -> None:
    """Art without a painter's number is painter 1's: everything else that the new one reads is no change of the
    user's. A locked item keeps its picture, and the plan says what it does not get."""
    now = by_local(ONE)
    before = inputs(now, 1, ART.sha256)
    before["art"]["reads"] = {name: before["art"]["reads"][name] for name in ("width", "height", "reference")}
    row = decide(now, Snapshot(NOW, previous={now.item_key: before}))
    assert (row.action, row.reason) == ("create", "painter 1 -> 2")


def test_what_local_is_told_of_a_layout_is_its_free_side_alone() -> None:
    """A text, a part or the colour of letters makes no other art; words that move to another side do."""
    one = by_local(ONE)
    text = by_local(wanted(item(1, text="Other words", part=9)))
    colour = by_local(
        wanted(item(1), layout={**TEMPLATE["layout"], "title": {**TEMPLATE["layout"]["title"], "color": "#FF0000"}})
    )
    moved = by_local(wanted(item(1), layout={"title": {"box": {"x": 680, "y": 0, "w": 600, "h": 400}}}))
    assert one.art_fields(1)["reads"]["side"] == "right"
    assert text.art_key(1) == one.art_key(1) == colour.art_key(1)
    assert moved.art_fields(1)["reads"]["side"] == "left"
    assert moved.art_key(1) != one.art_key(1)


def test_what_is_known_of_a_hero_moves_no_other_providers_art() -> None:
    """subject, face, mask and look are `local`'s alone: a paid picture is not painted anew for them."""
    told = replace(ONE.series, staging=Staging(subject=(0.1, 0.1, 0.5, 0.9), look="split"))
    again = wanted_items(told, ALL, Reference(told.hero.sha256, told.hero.path, ""))[0]
    assert again.art_key(1) == ONE.art_key(1)
    assert again.key == ONE.key
    assert by_local(again).art_key(1) != by_local(ONE).art_key(1)
