"""The shared store on the way of one thumbnail: asked before a call is paid, told after one was.

It is a help and never a condition: where it cannot be used that is said once, the work goes on with what is here, and
what waits in the outbox is sent by a later command. docs/adr/0030-a-shared-store-by-content.md.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from thumbforge import ids, log
from thumbforge.cancel import Cancel
from thumbforge.durable import read_regular
from thumbforge.errors import AssetDamaged, Interrupted, PictureError, RemoteError, ThumbforgeError, UsageError
from thumbforge.planning.prices import calls_to_a_service
from thumbforge.store.assets import AssetStore
from thumbforge.store.attempts import Art
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.shared import outbox, parcels
from thumbforge.store.shared.hands import Bar, at_once, one, unseen
from thumbforge.store.shared.outbox import Waiting
from thumbforge.store.shared.place import has_remote, may_write, open_remote
from thumbforge.store.witness import told_art

if TYPE_CHECKING:
    from thumbforge.making.threads import Executor
    from thumbforge.models import Profile
    from thumbforge.planning.plan import Row
    from thumbforge.planning.project import Project
    from thumbforge.store.database import Database
    from thumbforge.store.shared.remote import Remote
    from thumbforge.store.work import Work

S = TypeVar("S")
T = TypeVar("T")
MOST_TAKES = 100
"""Takes of one request that are looked through for a free one."""
_AWAY = (RemoteError, UsageError)
"""It cannot be used as a whole: not there, no key, no library for it."""
_UNFIT = (AssetDamaged, PictureError)
"""One thing in it is not what it should be."""
_NOT_USED = "what the shared store has is not used"


class Sharing:
    """The shared store as one command uses it. None of its methods raises for what is wrong there, but with the setting
    `store.required` those that look for a picture: the RemoteError or UsageError that keeps it from being asked."""

    def __init__(self, project: Project, cancel: Cancel, bar: Bar = unseen) -> None:
        self._project, self._cancel, self._store, self._bar = project, cancel, project.store, bar
        self.is_on, self.writes = has_remote(project.settings), may_write(project.settings)
        self._is_required = project.settings.text("store.required") == "yes"
        self._away: ThumbforgeError | None = None
        self._is_told, self._sends = False, self.writes
        self._lock = threading.Lock()
        self._remote: Remote | None = None
        self.brought: set[str] = set()
        """Art keys of what came from there."""

    def shares(self, profile: Profile) -> bool:
        """Whether what this profile makes is sent: `local` paints again for nothing."""
        return self.writes and calls_to_a_service(profile, 1) > 0

    def ask(self, question: Callable[[Remote], T], *, before_paying: bool = False) -> T | None:
        """What it says; None where it cannot be used, or has something under a name that is not what it should be.
        Raises Interrupted."""
        if not self._may_ask(before_paying):
            return None
        try:
            return one(lambda: question(self._opened()), self._cancel)
        except Interrupted:
            raise
        except _UNFIT as error:
            log.warning(_NOT_USED, error=f"{error.code}: {error}")
        except _AWAY as error:
            self._put_off(error, before_paying)
        return None

    def _may_ask(self, before_paying: bool) -> bool:
        if before_paying and self._away and self._is_required:
            raise self._away
        return self.is_on if before_paying else self.is_on and self._sends

    def _opened(self) -> Remote:
        with self._lock:
            self._remote = self._remote or open_remote(self._project.settings, self._project.root)
            return self._remote

    def _put_off(self, error: ThumbforgeError, before_paying: bool) -> None:
        """Send nothing more and, where that is what failed, ask it no more; say why, once. Raises the error where
        nothing is to be paid for unasked."""
        with self._lock:
            is_news, later = not self._is_told, "; what is made is sent later" if self.writes else ""
            self._is_told = True
            self._sends = False
            if before_paying:
                self.is_on, self._away = False, error
        if before_paying and self._is_required:
            raise error
        if is_news:
            log.warning(f"the work goes on without the shared store{later}", error=f"{error.code}: {error}")

    def find(self, row: Row, executor: Executor) -> Art | None:
        """The art of a row's request that somebody has shared, brought here: to be judged and taken up like any that a
        record tells of. What costs nothing is not asked for."""
        if not calls_to_a_service(row.wanted.series.profile, 1):
            return None
        wanted = row.wanted.request_for(row.take)

        def check(data: bytes) -> None:
            executor.inspect(data, wanted.width, wanted.height)

        told = self.ask(lambda remote: parcels.bring_art(self._store, remote, row.art_key, check), before_paying=True)
        if told is None:
            return None
        self.brought.add(row.art_key)
        return Art("", StoredPicture(*told, media_type="", bytes=0, width=0, height=0))

    def first(
        self, row: Row, iteration_id: str, art: Art, request: dict[str, Any], work: Work, executor: Executor
    ) -> Art:
        """Share art that waits for it. The art to go on with: ours, or that of whoever was first, and ours is kept as a
        further take."""
        if not (self._may_ask(before_paying=False) and work.is_unsent(row.art_key)):
            return art
        record = self._store.record(row.art_key)
        if record is None or record.get("sha256") != art.picture.sha256:
            return art
        try:
            told = self.ask(lambda remote: parcels.send_art(self._store, remote, record))
            there = told[0] if told else None
            if there and there["sha256"] == art.picture.sha256:
                work.sent(row.art_key)
            elif there and (theirs := self.ask(lambda remote: self._judged(remote, row, there, executor))):
                return self._yielded(row, iteration_id, art, record, there, theirs, request, work)
        except Interrupted:  # it is paid, kept and waits in the outbox: what is left of the item takes no time
            pass
        return art

    def _judged(self, remote: Remote, row: Row, there: dict[str, Any], executor: Executor) -> StoredPicture:
        """The picture of a record, here and looked at like a provider's answer."""
        told, wanted = told_art(there, row.art_key), row.wanted.request_for(row.take)
        found = parcels.bring_picture(self._store, remote, *told) if told else None
        if found is None:
            raise AssetDamaged(f"{parcels.record_name(row.art_key)} there names a picture that is not there")
        data = read_regular(self._store.path(*found))
        info, _ = executor.inspect(data, wanted.width, wanted.height)
        seen = self._store.seen(*found)
        return StoredPicture(*found, info.media_type, len(data), info.width, info.height, seen)

    def _yielded(
        self,
        row: Row,
        iteration_id: str,
        ours: Art,
        record: dict[str, Any],
        there: dict[str, Any],
        theirs: StoredPicture,
        request: dict[str, Any],
        work: Work,
    ) -> Art:
        moved = self.ask(lambda remote: send_as_take(remote, self._store, record, row.last_take + 1))
        if moved is None:
            return ours
        self._store.write_record(moved["art_key"], moved)
        take = int(moved["art"]["take"])
        now = work.yield_art(iteration_id, ours, take, moved["art_key"], theirs, request)
        if now != ours:
            self._store.write_record(row.art_key, there)
            log.warning(
                f"somebody else's picture was there first and is used; yours is kept as take {take}",
                part=row.wanted.item.part, video=row.wanted.item.video, price=record.get("price") or "not known",
            )  # fmt: skip
        return now

    def ask_of(self, things: Sequence[S], question: Callable[[S, Remote], T]) -> list[tuple[S, T]]:
        """Many things at once, each with what it says; those are left out of which it says nothing that can be used.
        Raises Interrupted."""
        found: list[tuple[S, T]] = []
        if not self._may_ask(before_paying=True):
            return found
        with self._bar("asking the shared store", len(things)) as advance:
            for thing, said in at_once(lambda thing: question(thing, self._opened()), things, self._cancel):
                advance()
                if not isinstance(said, ThumbforgeError):
                    found.append((thing, said))
                elif isinstance(said, _AWAY):
                    self._put_off(said, before_paying=True)
                    return found
                elif isinstance(said, _UNFIT):
                    log.warning(_NOT_USED, error=f"{said.code}: {said}")
                else:
                    raise said
        return found

    def flush(self, database: Database) -> int:
        """Send what waits in the outbox, arts before finals; how many are there now. What cannot be sent stays."""
        if not self._may_ask(before_paying=False):
            return 0
        sent, waiting = 0, outbox.waiting(database)
        try:
            for kind in ("art", "final"):
                those = [each for each in waiting if each.kind == kind]
                for each, found in at_once(self._send, those, self._cancel):
                    if isinstance(found, _AWAY):
                        self._put_off(found, before_paying=False)
                        return sent
                    if isinstance(found, ThumbforgeError):
                        log.warning("not shared", error=f"{found.code}: {found}")
                    if not isinstance(found, ThumbforgeError) or isinstance(found, _UNFIT):  # no later try mends that
                        outbox.sent(database, each)
                        sent += 1
        except Interrupted:
            pass
        return sent

    def _send(self, each: Waiting) -> None:
        if each.kind == "art":
            share_art(self._opened(), self._store, each.key)
        else:
            parcels.send_final(self._store, self._opened(), each.key)


def share_art(remote: Remote, store: AssetStore, art_key: str) -> Literal["sent", "there", "first"]:
    """Have an art there whose record is here. Where somebody else's was `first`, ours goes there as a further take;
    what is in use here stays until somebody chooses."""
    record = store.record(art_key)
    if record is None or told_art(record, art_key) is None:
        return "there"  # it was taken away here since
    there, is_new = parcels.send_art(store, remote, record)
    if there["sha256"] == record["sha256"]:
        return "sent" if is_new else "there"
    moved = send_as_take(remote, store, record, _take(record) + 1)
    if store.record(moved["art_key"]) is None:
        store.write_record(moved["art_key"], moved)
    log.warning(
        f"somebody else's picture of the same request was there first; yours is shared as take {moved['art']['take']}",
        video=record["art"].get("video"), price=record.get("price") or "not known",
    )  # fmt: skip
    return "first"


def send_as_take(remote: Remote, store: AssetStore, record: dict[str, Any], take: int) -> dict[str, Any]:
    """Share art as the first take from this number on that nobody else has; the record that stands for it there."""
    for number in range(take, take + MOST_TAKES):
        fields = {**record["art"], "take": number}
        moved = {**record, "art_key": ids.art_key(fields), "art": fields}
        there, _ = parcels.send_art(store, remote, moved)
        if there["sha256"] == record["sha256"]:
            return moved
    raise RemoteError(f"{remote.shown} has {MOST_TAKES} other takes of this request")


def _take(record: Mapping[str, Any]) -> int:
    found = record["art"].get("take")
    return found if isinstance(found, int) else 1
