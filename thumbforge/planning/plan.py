"""The plan: for each item, what there is to do and why. Pure: specs and a snapshot in, rows out, no call, no write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from thumbforge.errors import LimitReached, ReplayDivergence
from thumbforge.planning.snapshot import Placed, Snapshot
from thumbforge.planning.wanted import Wanted
from thumbforge.settings import Settings
from thumbforge.specs.locks import Entry
from thumbforge.store.attempts import Art
from thumbforge.store.exports import Export
from thumbforge.store.finals import KnownFinal
from thumbforge.store.iterations import KnownIteration

Action = Literal["skip", "refinish", "retry", "create"]
SHOWN = 48  # characters of a value that a reason shows
MANY_FIELDS = 4  # more layout fields than these are another layout
CURE_EDITED = "move it away to get the new picture"
ACTIONS: tuple[Action, ...] = ("skip", "refinish", "retry", "create")


@dataclass(frozen=True, slots=True)
class Limits:
    """The settings that a plan depends on."""

    max_retries: int
    max_lost: int
    stale_after_s: float

    @classmethod
    def of(cls, settings: Settings, max_retries: int | None = None) -> Limits:
        return cls(
            max_retries=settings.integer("batch.max_retries") if max_retries is None else max_retries,
            max_lost=settings.integer("batch.max_lost"),
            stale_after_s=settings.number("batch.stale_after_s"),
        )


@dataclass(frozen=True, slots=True)
class Change:
    """A field that is not what it was when the item's last picture was made."""

    field: str
    old: Any
    new: Any

    def __str__(self) -> str:
        if self.field == "layout":  # many at once, which nobody would read
            return f"layout: {self.new}"
        old, new = _pair(self.old, self.new)
        return f"painter {self.old} -> {self.new}" if self.field == "painter" else f"{self.field}: {old} -> {new}"


@dataclass(frozen=True, slots=True)
class Row:
    """One item of a plan.

    `status` is what the item is before anything is done: completed, failed, or pending. A `skip` that is not completed
    is a failure that is reported again (tries used up, or a picture that breaks a rule), or, with `busy_in`, an item
    that another live run is making. `restore` names files of ours that are missing and come back without a run.
    `is_locked`: approved by the user, so that what changed is told and not made. `is_stuck`: failed, and nothing
    will be tried until its inputs or max_retries change; `cure`: until the user has done this. `remark` is worth
    telling though the item is completed. `reference_ignored`: the provider did not look at the reference.
    `hint` goes with the error that a failed one is reported again with. `is_chosen`: the lock file names its art.
    `pinned`: what its art and its picture have to be, byte for byte (`batch --locked`). `file`: what the
    picture is called in out/; `moved_from`: until now, where only its name has changed.
    """

    wanted: Wanted
    action: Action
    reason: str
    status: str = "pending"
    changes: tuple[Change, ...] = ()
    take: int = 1
    last_take: int = 1
    iteration_id: str | None = None
    art: Art | None = None
    lost_art: str | None = None
    final: KnownFinal | None = None
    busy_in: str | None = None
    restore: tuple[str, ...] = ()
    is_stuck: bool = False
    is_locked: bool = False
    cure: str = ""
    remark: str = ""
    reference_ignored: bool = False
    hint: str = ""
    is_chosen: bool = False
    pinned: Entry | None = None
    file: str = ""
    moved_from: str = ""

    @property
    def calls(self) -> int:
        """Provider calls that the row will make if all goes well."""
        return int(self.action in {"retry", "create"})

    @property
    def art_key(self) -> str:
        return self.wanted.art_key(self.take)

    @property
    def idle(self) -> bool:
        """Nothing is to be done for the item, not even a file to put back."""
        return self.action == "skip" and not self.restore and self.busy_in is None

    @property
    def is_done(self) -> bool:
        """Up to date: the picture is there, and so is every file of it."""
        return self.idle and self.status == "completed"

    @property
    def is_in_place(self) -> bool:
        """The picture lies in out/, whatever else is to be put back."""
        return self.action == "skip" and self.status == "completed" and "export" not in self.restore

    def retaken(self) -> Row:
        """The same item with a new picture wanted, whatever there is."""
        if self.is_locked:
            return self
        take = max(self.take, self.last_take) + 1
        return replace(self, action="create", reason="a new take", take=take, art=None, final=None, restore=())


def plan(wanted: Iterable[Wanted], snapshot: Snapshot, limits: Limits) -> tuple[Row, ...]:
    """Rows in playlist order."""
    rows = tuple(_hold_locked(_decide(item, snapshot, limits), snapshot) for item in wanted)
    if not rows or rows[0].wanted.series.output.name is None:  # a name with part and video is nobody else's
        return rows
    kept = {export.path.rpartition("/")[2]: key for key, export in snapshot.exports.items() if export.locked}
    return tuple(_leave_locked(row, kept) for row in rows) if kept else rows


def _leave_locked(row: Row, kept: Mapping[str, str]) -> Row:
    """A name that a locked item keeps is not taken from it."""
    name, series = row.wanted.export_name, row.wanted.series.name
    holder = kept.get(name, row.wanted.item_key)
    if row.is_locked or holder == row.wanted.item_key:
        return row
    cure = f"thumbforge takes unlock thumb:{series}:{holder.removeprefix('video:').removesuffix(':1')} gives it up"
    reason = f"out/{series}/{name} is the name of a locked picture; {cure}"
    return replace(row, action="skip", status="failed", reason=reason, cure=cure, restore=(), moved_from="")


def _hold_locked(row: Row, snapshot: Snapshot) -> Row:
    """A locked item keeps the picture it has, whatever the specs say now."""
    export = snapshot.exports.get(row.wanted.item_key)
    if export is None or not export.locked:
        return row
    if row.is_done:
        return replace(row, is_locked=True)
    if export.final_key not in snapshot.finals:
        if row.art and row.wanted.final_key(row.art.picture.sha256) == export.final_key:
            return row  # drawn again as it was
        cure = f"thumbforge takes unlock {row.wanted.task_name} lets it be made anew"
        reason = f"locked, and its picture is gone from the store; {cure}"
        return replace(row, action="skip", status="failed", reason=reason, is_locked=True, cure=cure)
    held = replace(row, action="skip", is_locked=True, is_stuck=False, cure="")
    reason = f"locked, not made: {row.reason}"
    return _stand(partial(replace, held), row.wanted, snapshot.finals[export.final_key], snapshot, reason)


def _decide(wanted: Wanted, snapshot: Snapshot, limits: Limits) -> Row:
    known = snapshot.iterations.get(wanted.key)
    if known and dict(known.key_parts) != wanted.key_parts.as_dict():
        raise ReplayDivergence(
            f"{wanted.item.video}: key {wanted.key[:8]} already stands for other inputs",
            hint="change the prompt or the part a little: their texts run into each other",
        )
    take = snapshot.take_of(wanted)
    art_key = wanted.art_key(take)
    art, entry = snapshot.art.get(art_key), snapshot.chosen.get(wanted.item_key)
    row = partial(
        Row,
        wanted,
        take=take,
        last_take=known.last_take if known else 0,
        iteration_id=known.id if known else None,
        art=art,
        lost_art=snapshot.lost_art.get(art_key),
        reference_ignored=art_key in snapshot.ignoring,
        is_chosen=entry is not None and art is not None and art.picture.sha256 == entry.art,
    )
    if art:
        return _decide_finish(row, wanted, take, art, known, snapshot)
    if damage := snapshot.damaged_art.get(art_key):
        reason = f"asset_damaged: its art {damage.what}; {damage.cure}"
        return row("skip", reason, status="failed", cure=damage.cure)
    changes = _changes(wanted, take, None, snapshot)
    why = _why(changes, "the art that the lock file names is not here" if entry else "new")
    if art_key in snapshot.lost_art:
        why = "its art is gone from the store"
    return _decide_call(partial(row, changes=changes), why, known, snapshot, limits)


def _decide_finish(
    row: Callable[..., Row], wanted: Wanted, take: int, art: Art, known: KnownIteration | None, snapshot: Snapshot
) -> Row:
    """The art is there: no call is needed, at most a drawing."""
    final = snapshot.finals.get(wanted.final_key(art.picture.sha256))
    if final and not final.compliant and known and known.status == "failed":
        return row("skip", known.error_text or "breaks a rule", status="failed", final=final, is_stuck=True)
    if not (final and final.compliant and known and known.status == "completed"):
        changes = _changes(wanted, take, art.picture.sha256, snapshot)
        is_broken = wanted.final_key(art.picture.sha256) in snapshot.broken_finals
        otherwise = "its picture in the store is damaged" if is_broken else "the art is there, the picture is not"
        return row("refinish", _why(changes, otherwise), changes=changes, final=final)
    if wanted.item_key in snapshot.chosen and known.art != art.picture.sha256:
        return row("refinish", f"the lock file has take {take}", final=final)
    return _stand(row, wanted, final, snapshot, "up to date")


def _stand(row: Callable[..., Row], wanted: Wanted, final: KnownFinal, snapshot: Snapshot, reason: str) -> Row:
    """The picture is there: what lies in out/ decides whether anything is to be done, and whether it can be.

    A file that the user made of this very picture is theirs to keep; one that a newer picture should replace is in
    the way of it.
    """
    export, placed = snapshot.exports.get(wanted.item_key), _placed(wanted, snapshot)
    name = wanted.export_name
    if export and export.locked and name:
        name = export.path.rpartition("/")[2]
    row, path = partial(row, action="skip", final=final, file=name), f"out/{wanted.series.name}/{name}"
    is_theirs = placed == "edited" and export is not None and export.final_key == final.final_key
    if is_theirs:
        remark = f"{path} was edited and is left alone"
        return row(reason=f"{reason}; {remark}", status="completed", remark=remark)
    if placed in {"edited", "unreadable"}:
        return row(reason=in_the_way(path, placed), status="failed", cure=CURE_EDITED)
    restore = tuple(_missing(wanted, final, snapshot))
    was = _name_until_now(export, final, path) if "export" in restore else ""
    if restore and reason == "up to date":
        reason = f"renamed from {was}" if was else f"{' and '.join(restore)} restored"
    if "export" in restore and export and export.final_key != final.final_key:
        row = partial(row, changes=_changes(wanted, snapshot.take_of(wanted), None, snapshot))
    return row(reason=reason, status="completed", restore=restore, moved_from=was)


def _name_until_now(export: Export | None, final: KnownFinal, path: str) -> str:
    """What this very picture is called in out/, where that is another name."""
    if export is None or export.final_key != final.final_key or f"out/{export.path}" == path:
        return ""
    return export.path.rpartition("/")[2]


def in_the_way(path: str, placed: str) -> str:
    """Why a picture cannot be put where it belongs."""
    said = "was edited" if placed == "edited" else "cannot be read"
    return f"{path} {said} and is left alone; {CURE_EDITED}"


def _decide_call(
    row: Callable[..., Row], why: str, known: KnownIteration | None, snapshot: Snapshot, limits: Limits
) -> Row:
    """No art: a provider has to be called, unless the item is being made or has been given up."""
    if known is None:
        return row("create", why)
    if known.executor_run_id and _is_alive(known, snapshot.now, limits):
        return row("skip", "running in another run", busy_in=known.executor_run_id)
    if known.lost + bool(known.executor_run_id) >= limits.max_lost:
        return row("skip", f"the process died {limits.max_lost} times in this item", status="failed")
    if known.executor_run_id:
        return row("retry", "the process that made it died")
    if known.status == "failed" and known.tries >= limits.max_retries:
        reason = f"tries used up ({known.tries} of max_retries={limits.max_retries}): {known.error_text}"
        return row("skip", reason, status="failed", is_stuck=True, hint=known.hint)
    if known.was_interrupted:
        return row("retry", known.error_text or "")
    if known.status == "failed":
        return row("retry", f"failed: {known.error_text}", status="failed", hint=known.hint)
    return row("create", "planned in an earlier run, not made yet" if known.status == "pending" else why)


def _is_alive(known: KnownIteration, now: float, limits: Limits) -> bool:
    """Whether somebody is at it: a live lease, or, where none was ever recorded, a start that is not long ago."""
    if known.executor_had_lease:
        return known.executor_is_live
    return known.started_at is not None and now - known.started_at < limits.stale_after_s


def _missing(wanted: Wanted, final: KnownFinal, snapshot: Snapshot) -> Iterator[str]:
    if _placed(wanted, snapshot) == "away":
        yield "export"
    if final.final_key not in snapshot.manifests:
        yield "manifest"


def _placed(wanted: Wanted, snapshot: Snapshot) -> Placed:
    """What is not exported at all (a candidate hero) is where it belongs."""
    return snapshot.placed.get(wanted.item_key, "away") if wanted.export_name else "right"


_LABELS = {
    "spec_hash": "template",
    "provider_profile": "provider profile",
    "reference": "hero",
    "art": "art",
}


_PAINTERS = {"profile", "provider_profile", "look", "side", "mask", "subject", "face", "palette", "hues"}
"""What moves with the number of `local`'s painter: it paints all anew, so what it reads beside is no change of the
user's."""
_FIRST_READS = {"width", "height", "reference"}
"""What painter 1 read; it left no number."""


def _by_a_painter(before: Mapping[str, Any]) -> bool:
    reads = before.get("art", {}).get("reads", {})
    return "painter" in reads or reads.keys() == _FIRST_READS


def _changes(wanted: Wanted, take: int, art_sha256: str | None, snapshot: Snapshot) -> tuple[Change, ...]:
    """Field by field, what differs from the inputs of the item's last picture."""
    before = snapshot.previous.get(wanted.item_key)
    if not before:
        return ()
    now = inputs(wanted, take, art_sha256)
    old = {name: value for group in ("key_parts", "art", "final") for name, value in _flat(before.get(group, {}))}
    new = {name: value for group in ("key_parts", "art", "final") for name, value in _flat(now.get(group, {}))}
    if art_sha256 is None:  # there is no new picture to compare the drawing with yet
        new |= {name: value for name, value in _flat(wanted.final_parts("")) if name != "art"}
    names = [n for n in {**new, **old} if n in new and n != "art" and (old.get(n) or "") != (new[n] or "")]
    if len(names) > 1 and "spec_hash" in names:  # the hash only repeats what the other fields say
        names.remove("spec_hash")
    if "provider_profile" in names and "profile" in names:  # the art key has the same id
        names.remove("profile")
    if "painter" in names and _by_a_painter(before):
        names = [name for name in names if name not in _PAINTERS]
        old.setdefault("painter", 1)
    changes = [Change(_LABELS.get(name, name), old.get(name), new[name]) for name in names]
    layout = [change for change in changes if change.field.startswith("layout.")]
    if len(layout) > MANY_FIELDS:
        rest = [change for change in changes if change not in layout]
        return (*rest, Change("layout", None, f"{len(layout)} fields changed"))
    return tuple(changes)


def inputs(wanted: Wanted, take: int, art_sha256: str | None) -> dict[str, Any]:
    """What a picture is made of, as it stands in its manifest."""
    found: dict[str, Any] = {"key_parts": wanted.key_parts.as_dict(), "art": wanted.art_fields(take)}
    if art_sha256:
        found["final"] = wanted.final_parts(art_sha256)
    return found


def _flat(fields: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, "" if name in {"reads"} else f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _why(changes: Sequence[Change], otherwise: str) -> str:
    return "; ".join(map(str, changes)) if changes else otherwise


def _pair(old: Any, new: Any) -> tuple[str, str]:
    """Both values short enough for a line, cut so that the first difference is in what is left."""
    before, after = _text(old), _text(new)
    same = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = max(0, same - 12) if max(len(before), len(after)) > SHOWN else 0
    return _cut(before, start), _cut(after, start)


def _text(value: Any) -> str:
    text = "" if value is None else str(value).replace("\n", " / ")
    return text[:8] if re.fullmatch(r"[0-9a-f]{32,64}", text) else text


def _cut(text: str, start: int) -> str:
    if not text:
        return "nothing"
    end = start + SHOWN
    return repr(("…" if start else "") + text[start:end] + ("…" if len(text) > end else ""))


def counts(rows: Iterable[Row]) -> dict[Action, int]:
    found = Counter(row.action for row in rows)
    return {action: found[action] for action in ACTIONS}


def check_max_images(rows: Sequence[Row], max_images: int | None) -> None:
    """Raise LimitReached where the plan would make more calls than allowed; nothing has been written yet."""
    calls = sum(row.calls for row in rows)
    if max_images is not None and calls > max_images:
        raise LimitReached(
            f"{calls} pictures are to be made, max_images is {max_images}",
            hint=f"raise it (max_images={calls}), or make some of them (only=…)",
        )
