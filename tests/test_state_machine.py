"""Any order of events, against a small model: submit, claim, work, crash, resume, pause, cancel, re-ingest, renumber,
repair, delete. The ledger, the store and the facts are the real ones; only time is made up."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from thumbforge import ids
from thumbforge.errors import LeaseLost, UsageError
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.playlists.ingest import ingest
from thumbforge.store import facts
from thumbforge.store.assets import AssetStore
from thumbforge.store.attempts import Art, Spent
from thumbforge.store.database import Database
from thumbforge.store.deletion import delete_run
from thumbforge.store.leases import new_owner
from thumbforge.store.ledger import Fence, Ledger
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.plans import PlannedItem
from thumbforge.store.runs import NewRun
from thumbforge.store.work import Busy, Work
from thumbforge.store.world import remember_playlist
from thumbforge.upkeep.files import store_files

PLAYLIST = "PLmachine"
TTL_S, MAX_LOST = 30.0, 3
ITEMS = ("a", "b", "c")
# How far an item gets before its process is dropped or asked to stop: the steps of making/make.py in their order.
STEPS = ("claim", "call", "stage", "put", "art", "adopt", "final")
MOVES = {"pause": "paused", "complete": "completed", "fail": "failed", "cancel": "cancelled"}
item_keys = st.sampled_from(ITEMS)


@dataclass
class Executor:
    """A process that executes a run, as far as the ledger knows: its lease and what it has in its hands."""

    ledger: Ledger
    fence: Fence
    work: Work
    hands: dict[str, str] = field(default_factory=dict)


class Machine(RuleBasedStateMachine):
    """`runs` is what each run should be; `paid` counts calls by item, `lost` those that a crash cut off."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.home = Path(tempfile.mkdtemp(prefix="machine-"))
        self.database = Database.open(self.home / "ledger.sqlite3")
        self.store = AssetStore(self.home)
        self.runs: dict[str, str] = {}
        self.executors: dict[str, Executor] = {}
        self.zombies: list[Executor] = []
        self.paid = dict.fromkeys(ITEMS, 0)
        self.cut = dict.fromkeys(ITEMS, 0)
        self.titles: dict[str, str] = {}
        self.parts: dict[str, int] = {}
        self.closed: dict[str, tuple[Any, ...]] = {}
        self.completed: dict[str, tuple[Any, ...]] = {}
        self.orphans: set[Path] = set()

    def teardown(self) -> None:
        self.database.close()
        shutil.rmtree(self.home)

    def clock(self) -> float:
        return self.now

    def ledger(self) -> Ledger:
        return Ledger(self.database, new_owner(), TTL_S, self.clock)

    def rows(self, sql: str, *params: Any) -> list[Any]:
        return self.database.rows(sql, params)

    def executor(self, ledger: Ledger, fence: Fence) -> Executor:
        return Executor(ledger, fence, Work(self.database, fence, self.clock))

    @initialize()
    def a_playlist(self) -> None:
        remember_playlist(self.database, PLAYLIST, "", self.clock())

    # Runs

    @rule(keys=st.sets(item_keys, min_size=1))
    def submit(self, keys: set[str]) -> None:
        """A batch of some items; an item whose key is known is shared with the run that has it."""
        ledger, run_id = self.ledger(), ids.new_run_id()
        planned = [PlannedItem(f"video:{k}:1", f"key-{k}", {"video": k}, "create", "new", {}) for k in sorted(keys)]
        fence = ledger.open_run(NewRun(run_id, "batch", series="s", playlist_id=PLAYLIST), planned)
        self.runs[run_id] = "running"
        self.executors[run_id] = self.executor(ledger, fence)

    def some_run(self, data: st.DataObject, among: dict[str, Any]) -> str:
        return data.draw(st.sampled_from(sorted(among, key=list(among).index)))

    @precondition(lambda self: self.executors)
    @rule(data=st.data(), key=item_keys, upto=st.sampled_from(STEPS))
    def work(self, data: st.DataObject, key: str, upto: str) -> None:
        """An executor brings an item of its run as far as `upto`; a later call goes on from there."""
        run_id = self.some_run(data, self.executors)
        found = self.rows(
            "SELECT iteration_id FROM run_item WHERE run_id = ? AND item_key = ?", run_id, f"video:{key}:1"
        )
        if found:
            self.make(self.executors[run_id], key, found[0]["iteration_id"], upto)

    def make(self, executor: Executor, key: str, iteration: str, upto: str) -> None:
        [row] = self.rows("SELECT status FROM iteration WHERE id = ?", iteration)
        if row["status"] == "completed":
            return
        art = self.take_up(executor, key, iteration)
        if art is None and key not in executor.hands:
            claimed = executor.work.claim(iteration, f"art-{key}", 1, {}, lost_art=None)
            if isinstance(claimed, Busy):
                assert claimed.run_id in self.executors
                return
            if isinstance(claimed, Art):
                art = claimed
            elif art := self.take_up(executor, key, iteration):  # the claim has closed the attempt of a dead process
                executor.work.release(iteration, claimed)
            else:
                executor.hands[key] = claimed
        attempt = executor.hands.get(key)
        if art is None and attempt:
            art = self.paint(executor, key, attempt, upto)
        if art is None or upto in STEPS[: STEPS.index("adopt")]:
            return
        own = executor.work.adopt(iteration, art, f"art-{key}", 1, {})
        if upto == "adopt":
            return
        picture = self.picture(f"final of {key}".encode(), "final.file")
        executor.work.record_final(iteration, own, ids.sha256_hex(key.encode()), picture, {}, None)

    def take_up(self, executor: Executor, key: str, iteration: str) -> Art | None:
        """An answer that a dead process has staged."""
        dead = self.rows(
            "SELECT id FROM attempt WHERE iteration_id = ? AND outcome IN ('lost', 'interrupted')", iteration
        )
        for row in dead:
            if staged := self.store.staged(row["id"]):
                return self.keep(executor, row["id"], staged[0])
        return None

    def paint(self, executor: Executor, key: str, attempt: str, upto: str) -> Art | None:
        [row] = self.rows("SELECT * FROM attempt WHERE id = ?", attempt)
        if row["outcome"] == "ok":
            return Art(attempt, self.stored(row["art_sha256"]))
        if upto == "claim":
            return None
        if row["called_at"] is None:
            executor.work.begin_call(attempt)
            self.paid[key] += 1
        if upto == "call":
            return None
        data = f"art of {key}".encode()
        if self.store.staged(attempt) is None:
            self.store.stage(attempt, data, {})
        if upto == "stage":
            return None
        if upto == "put":
            self.picture(data, "art.file")
            return None
        return self.keep(executor, attempt, data)

    def keep(self, executor: Executor, attempt: str, data: bytes) -> Art:
        art = executor.work.keep_art(attempt, self.picture(data, "art.file"), Spent(calls=1))
        self.store.drop_staged(attempt)
        return art

    def picture(self, data: bytes, step: str) -> StoredPicture:
        return StoredPicture(self.store.put(data, ".jpg", step), ".jpg", "image/jpeg", len(data), 16, 9)

    def stored(self, sha256: str) -> StoredPicture:
        [row] = self.rows("SELECT * FROM asset WHERE sha256 = ?", sha256)
        return StoredPicture(sha256, ".jpg", "image/jpeg", row["bytes"], 16, 9)

    @precondition(lambda self: self.executors)
    @rule(data=st.data(), event=st.sampled_from(sorted(MOVES)))
    def end(self, data: st.DataObject, event: Any) -> None:
        """The executor ends its run; what it had open counts as interrupted, and its answers are found later."""
        run_id = self.some_run(data, self.executors)
        executor = self.executors.pop(run_id)
        self.forget_hands(executor)
        executor.ledger.close_run(executor.fence, event, 0)
        self.runs[run_id] = MOVES[event]

    def forget_hands(self, executor: Executor) -> None:
        """Calls whose answer was not staged may be made again."""
        for key, attempt in executor.hands.items():
            [row] = self.rows("SELECT * FROM attempt WHERE id = ?", attempt)
            if row["called_at"] and row["outcome"] is None and self.store.staged(attempt) is None:
                self.cut[key] += 1

    @precondition(lambda self: self.executors)
    @rule(data=st.data())
    def crash(self, data: st.DataObject) -> None:
        """The process stops writing; its lease runs out. It may wake up later, as a zombie."""
        run_id = self.some_run(data, self.executors)
        executor = self.executors.pop(run_id)
        self.forget_hands(executor)
        self.zombies.append(executor)
        self.beat()
        self.now += TTL_S / 2
        self.beat()
        self.now += TTL_S / 2 + 1
        self.beat()

    @rule()
    def beat(self) -> None:
        """Every live executor prolongs its lease."""
        for executor in self.executors.values():
            beats = executor.ledger.beat([executor.fence], lambda _: None)
            assert beats[executor.fence.run_id].held

    @rule()
    def sweep(self) -> None:
        """The next command marks the dead, and nobody else."""
        dead = {run for run, state in self.runs.items() if state == "running" and run not in self.executors}
        assert set(self.ledger().sweep(MAX_LOST)) == dead
        for run_id in dead:
            self.runs[run_id] = "paused"

    @precondition(lambda self: self.zombies)
    @rule(data=st.data(), key=item_keys)
    def a_zombie_writes(self, data: st.DataObject, key: str) -> None:
        """Once its run is swept, nothing that it does reaches the ledger."""
        zombie = data.draw(st.sampled_from(self.zombies))
        if self.runs.get(zombie.fence.run_id) == "running" and zombie.fence.run_id not in self.executors:
            return  # nobody has noticed yet: it would simply be alive again
        before = self.everything()
        beats = zombie.ledger.beat([zombie.fence], lambda _: None)
        assert not beats[zombie.fence.run_id].held
        for write in (
            lambda: zombie.ledger.close_run(zombie.fence, "complete", 0),
            lambda: zombie.work.begin_call(zombie.hands.get(key, "")),
            lambda: zombie.work.keep_art(zombie.hands.get(key, ""), self.picture(b"late", "art.file"), Spent()),
        ):
            with pytest.raises(LeaseLost):
                write()
        assert self.everything() == before

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        """Only a run that is paused or failed is taken up; any other is a usage error and stays as it is."""
        run_id = self.some_run(data, self.runs)
        ledger = self.ledger()
        if self.runs[run_id] in {"paused", "failed"}:
            self.executors[run_id] = self.executor(ledger, ledger.resume_run(run_id, (), {}))
            self.runs[run_id] = "running"
            return
        before = self.everything()
        with pytest.raises(UsageError):
            ledger.resume_run(run_id, (), {})
        assert self.everything() == before

    @precondition(lambda self: self.runs)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """A live run is asked and hears it at its next beat; one that nobody executes is cancelled; completed is
        refused; cancelled is a no-op."""
        run_id = self.some_run(data, self.runs)
        state, live = self.runs[run_id], run_id in self.executors
        if state == "completed":
            with pytest.raises(UsageError):
                self.ledger().cancel(run_id)
            return
        assert self.ledger().cancel(run_id) == ("requested" if live else "cancelled")
        if live:
            executor = self.executors.pop(run_id)
            assert executor.ledger.beat([executor.fence], lambda _: None)[run_id].cancel_requested
            self.forget_hands(executor)
            executor.ledger.close_run(executor.fence, "cancel", 130)
        self.runs[run_id] = "cancelled"

    @precondition(lambda self: self.runs)
    @rule(data=st.data(), with_assets=st.booleans())
    def delete(self, data: st.DataObject, with_assets: bool) -> None:
        """Refused while it is executed or another run points at its items; else nothing of it is left."""
        run_id = self.some_run(data, self.runs)
        needed = self.rows(
            "SELECT 1 FROM run_item JOIN iteration ON iteration.id = iteration_id"
            " WHERE iteration.run_id = ? AND run_item.run_id <> ?", run_id, run_id,
        )  # fmt: skip
        before = self.everything()
        if needed or run_id in self.executors:
            with pytest.raises(UsageError):
                delete_run(self.database, self.store, run_id, self.now, with_assets=with_assets)
            assert self.everything() == before
            return
        made = {row["idempotency_key"][4:] for row in self.rows("SELECT * FROM iteration WHERE run_id = ?", run_id)}
        delete_run(self.database, self.store, run_id, self.now, with_assets=with_assets)
        del self.runs[run_id]
        self.zombies = [zombie for zombie in self.zombies if zombie.fence.run_id != run_id]
        for key in made:  # a new run pays for it anew
            self.paid[key] = self.cut[key] = 0
            self.completed.pop(f"key-{key}", None)

    # Facts and files

    @rule(titles=st.dictionaries(item_keys, st.sampled_from(["one", "two"]), min_size=1))
    def re_ingest(self, titles: dict[str, str]) -> None:
        """The list as it is now holds afterwards, but for what the user has numbered."""
        self.now += 1
        items = tuple(
            Item(video=f"video-{key * 5}", title=title, part=n) for n, (key, title) in enumerate(titles.items(), 1)
        )
        run_id = ingest(self.ledger(), self.store, Playlist(playlist=PlaylistHead(id=PLAYLIST), items=items))
        if run_id is not None:
            self.titles = titles
            self.parts = {key: part for key, part in self.parts.items() if key in titles}

    @precondition(lambda self: self.titles)
    @rule(data=st.data(), part=st.integers(1, 9))
    def renumber(self, data: st.DataObject, part: int) -> None:
        """The user says which part an item is."""
        key = data.draw(st.sampled_from(sorted(self.titles)))
        self.now += 1
        item = facts.playlist_item_id(PLAYLIST, f"video-{key * 5}", 1)
        with self.database.write("ingest.chunk") as connection:
            known = facts.open_facts(connection, PLAYLIST)
            held = known[item, "part"]
            facts.state(connection, known, item, "part", part, run_id=ids.new_run_id(), at=self.now, origin="user")
        if held.origin == "user" or held.value_json != str(part):
            self.parts[key] = part

    @rule()
    def repair(self) -> None:
        """Files that nothing needs go, whatever else is under way; a staged answer and a row's file never."""
        for file in list(store_files(self.home, self.database)):
            if file.owner is None:
                file.path.unlink()

    # What always holds

    def everything(self) -> list[tuple[Any, ...]]:
        names = [row["name"] for row in self.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        return [tuple(row) for name in sorted(names) for row in self.rows(f"SELECT * FROM {name}")]

    @invariant()
    def each_run_is_what_the_model_says(self) -> None:
        found = {row["id"]: row["status"] for row in self.rows("SELECT id, status FROM run WHERE kind = 'batch'")}
        assert found == self.runs

    @invariant()
    def no_row_lacks_its_file(self) -> None:
        for row in self.rows("SELECT sha256, suffix FROM asset"):
            self.store.verify(row["sha256"], row["suffix"])

    @invariant()
    def one_iteration_per_key_and_one_open_attempt(self) -> None:
        for sql in (
            "SELECT 1 FROM iteration GROUP BY idempotency_key HAVING count(*) > 1",
            "SELECT 1 FROM attempt WHERE closed_at IS NULL GROUP BY iteration_id HAVING count(*) > 1",
            "SELECT 1 FROM attempt WHERE closed_at IS NULL GROUP BY art_key HAVING count(*) > 1",
        ):
            assert self.rows(sql) == []

    @invariant()
    def only_calls_that_were_cut_off_are_repeated(self) -> None:
        for key in ITEMS:
            assert self.paid[key] <= 1 + self.cut[key], key

    @invariant()
    def what_is_completed_stays_as_it_is(self) -> None:
        for row in self.rows("SELECT * FROM iteration WHERE status = 'completed'"):
            assert self.completed.setdefault(row["idempotency_key"], tuple(row)) == tuple(row)

    @invariant()
    def facts_hold_what_was_said_last(self) -> None:
        sql = """SELECT video_id, predicate, value_json FROM item_fact
                 JOIN playlist_item ON playlist_item.id = playlist_item_id WHERE valid_to IS NULL"""
        found = {(row["video_id"][6], row["predicate"]): row["value_json"] for row in self.rows(sql)}
        assert {key for key, _ in found} == set(self.titles)
        for key, title in self.titles.items():
            assert found[key, "title"] == f'"{title}"'
        for key, part in self.parts.items():
            assert found[key, "part"] == str(part)

    @invariant()
    def closed_facts_never_change(self) -> None:
        for row in self.rows("SELECT * FROM item_fact WHERE valid_to IS NOT NULL"):
            assert self.closed.setdefault(row["id"], tuple(row)) == tuple(row)


def check(sequences: int) -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=sequences, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_any_order_of_events() -> None:
    """Whatever happens in whatever order: no second payment, no lost picture, no lie."""
    check(60)


@pytest.mark.soak
def test_any_order_of_events_for_long() -> None:
    """The same over thousands of sequences."""
    check(3000)
