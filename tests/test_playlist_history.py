"""A list's history: what it was at any time, and each change once, with when and by what."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fetch_site import Site, make_site
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.playlists.history import Change, changes, entries_at
from thumbforge.playlists.ingest import By, ingest
from thumbforge.playlists.merge import Key, keyed
from thumbforge.store import facts, runs
from thumbforge.store.assets import AssetStore
from thumbforge.store.database import Database
from thumbforge.store.leases import new_owner
from thumbforge.store.ledger import Ledger
from thumbforge.store.world import remember_playlist
from thumbforge.tasks.options import moment

LIST = "PLhistory"


class Clock:
    """Seconds that pass between two runs, and within them."""

    now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


@st.composite
def lists(draw: st.DrawFn) -> Playlist:
    """Up to six entries of five videos, one of them perhaps twice, some removed."""
    videos = draw(st.lists(st.sampled_from("ABCDE"), max_size=6))
    parts = draw(st.permutations([None, None, 1, 2, 3, 4]))
    items = [
        Item(
            video=f"video-{letter * 5}",
            title=draw(st.sampled_from(["One", "Two"])),
            part=part,
            removed=draw(st.sampled_from([False, False, True])),
        )
        for letter, part in zip(videos, parts, strict=False)
    ]
    return Playlist(playlist=PlaylistHead(id=LIST), items=tuple(items))


def there(playlist: Playlist) -> dict[Key, tuple[int, int | None, str]]:
    """What the file says of the entries that are not removed: position, part and title."""
    return {
        key: (position, item.part, item.title)
        for position, (key, item) in enumerate(keyed(playlist.items).items(), 1)
        if not item.removed
    }


# A fetch may not give a part that a user has changed another one; what it makes of the YAML never does.
STEPS = st.lists(st.tuples(st.sampled_from(["edit", "renumber"]), lists()), min_size=1, max_size=8)


@settings(max_examples=40)
@given(STEPS)
def test_at_every_point_the_list_is_what_the_file_was(steps: list[tuple[By, Playlist]]) -> None:
    """Just before, at and after each run; before the first there is none."""
    with TemporaryDirectory() as folder, closing(Database.open(Path(folder) / "ledger.sqlite3")) as database:
        clock = Clock()
        ledger, store = Ledger(database, new_owner(), 30, clock), AssetStore(Path(folder))
        remember_playlist(database, LIST, "", clock())
        was: list[tuple[float, float, Playlist]] = []
        for by, playlist in steps:
            begun = clock()
            ingest(ledger, store, playlist, by)
            was.append((begun, clock(), playlist))
        told, ingests = facts.history(database, LIST), runs.ingests(database, LIST)
    assert entries_at(told, 0) == []
    for (_, ended, playlist), (next_begun, _, _) in zip(was, [*was[1:], (clock.now + 1e9, 0, None)], strict=True):
        for at in (ended, (ended + next_begun) / 2, next_begun):
            assert [(e.position, e.part, e.title) for e in entries_at(told, at)] == list(there(playlist).values())
    said = list(changes(told, ingests))
    assert [(change.by, *what(change)) for change in said] == list(expected(steps))


def what(change: Change) -> tuple[Any, ...]:
    return change.kind, change.video, change.was if change.kind != "moved" else None


def expected(steps: list[tuple[By, Playlist]]) -> Iterator[tuple[Any, ...]]:
    """The changes as one would write them down beside the files; whoever moved is told by the run's own answer."""
    before: dict[Key, tuple[int, int | None, str]] = {}
    known: set[Key] = set()
    for by, playlist in steps:
        now = there(playlist)
        yield from ((by, "removed", key[0], None) for key in before if key not in now)
        moved = fewest_moves(list(before), list(now))
        for key, (_, part, title) in now.items():
            if key not in before:
                yield by, "returned" if key in known else "added", key[0], None
                continue
            if title != before[key][2]:
                yield by, "renamed", key[0], before[key][2]
            if part != before[key][1]:
                yield by, "renumbered", key[0], before[key][1]
            if key in moved:
                yield by, "moved", key[0], None
        before = now
        known |= now.keys()


def fewest_moves(before: list[Key], now: list[Key]) -> set[Key]:
    """Those outside one longest run of entries that kept their order."""
    common = [key for key in now if key in before]
    ends: list[int] = []
    chains: list[list[Key]] = []
    for key in common:
        at = bisect_left(ends, before.index(key))
        chain = [*(chains[at - 1] if at else []), key]
        ends[at : at + 1], chains[at : at + 1] = [before.index(key)], [chain]
    return set(common) - set(chains[-1] if chains else ())


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path / "site")


def csv(site: Site, *rows: str) -> None:
    site.write("list.csv", "\n".join(("video,title", *rows)) + "\n")


def test_fetches_hand_edits_and_renumberings_are_told_apart(site: Site) -> None:
    """Each with its own name, although a fetch is the first to see what a hand has changed."""
    csv(site, "tfVid000001,One", "tfVid000002,Two", "tfVid000003,Three")
    name = site.fetch("list.csv")["name"]
    path = f"specs/playlists/{name}.yaml"
    site.write(path, site.yaml(name).replace("One", "One by hand"))
    csv(site, "tfVid000001,One by hand", "tfVid000003,Three", "tfVid000004,Four")
    site.fetch("list.csv")
    site.run("playlist", "renumber", name, "--start", "10")
    told = site.shown("playlist", "log", name)["changes"]
    assert [(c["by"], c["kind"], c["video"], c["was"]) for c in told[3:]] == [
        ("edit", "renamed", "tfVid000001", "One"),
        ("fetch", "removed", "tfVid000002", None),
        ("fetch", "added", "tfVid000004", None),
        ("renumber", "renumbered", "tfVid000001", 1),
        ("renumber", "renumbered", "tfVid000003", 3),
        ("renumber", "renumbered", "tfVid000004", 4),
    ]
    assert {c["kind"] for c in told[:3]} == {"added"}
    lines = site.run("playlist", "log", name).out.splitlines()
    assert "listed" in lines[1]
    assert "3 videos" in lines[1]
    assert len(lines) == 1 + 1 + 6
    assert [e["video"] for e in site.shown("playlist", "show", name, "--at", "2100-01-01")["entries"]] == [
        "tfVid000001",
        "tfVid000003",
        "tfVid000004",
    ]
    assert site.run("playlist", "log", name, "--since", "2100-01-01").out.startswith("Nothing has changed in")
    assert site.run("playlist", "show", name, "--at", "2001-01-01").out.startswith("Nothing was known of")


def test_runs_list_leaves_out_what_states_a_list(site: Site) -> None:
    """`playlist log` tells it; --kind ingest shows the runs."""
    csv(site, "tfVid000001,One")
    site.fetch("list.csv")
    assert site.shown("runs", "list") == {"runs": []}
    assert [run["kind"] for run in site.shown("runs", "list", "--kind", "ingest")["runs"]] == ["ingest"]


@pytest.mark.parametrize("word", ["yesterday", "2026-13-01", "", "99999-01-01", "1"])
def test_a_date_that_is_none_is_refused(word: str, site: Site) -> None:
    """In one line that shows one."""
    csv(site, "tfVid000001,One")
    name = site.fetch("list.csv")["name"]
    told = site.run("playlist", "log", name, f"--since={word}")
    assert told.code == 2
    assert "expected a date such as 2026-03-07" in told.err


def test_a_day_alone_begins_and_ends() -> None:
    """As `--since` reads it, and as `--at` does; with a zone it is that zone's time."""
    assert moment(is_end=True)("2026-03-07") - moment()("2026-03-07") == pytest.approx(86_400, abs=3_601)
    assert moment()("2026-03-07T18:30:00Z") == 1_772_908_200.0


def test_each_who_has_a_name() -> None:
    """In the table."""
    from thumbforge.commands.playlist import _BY

    assert set(_BY) == set(get_args(By))
