"""One thumbnail, from its plan row to the file in out/: THE straight line, each step durable before the next begins.

    claim -> attempt row opened -> provider slot -> is it shared already? -> provider call -> answer staged -> art and
    its record in the store -> art row, attempt closed -> shared -> finalise -> final in the store -> final row + report
    -> completed -> exported

A crash between any two leaves a state that the next run continues from; only a crash inside the provider call can cost
a second call. docs/adr/0002-one-straight-line.md has the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from thumbforge import faults, log
from thumbforge.cancel import Cancel
from thumbforge.durable import read_regular
from thumbforge.errors import (
    AssetDamaged,
    ExportBlocked,
    Interrupted,
    LimitReached,
    LockUnmet,
    OutputUnusable,
    PictureError,
    ProviderError,
    ThumbforgeError,
    describe,
)
from thumbforge.making.brake import Brake
from thumbforge.making.export import Exporter
from thumbforge.making.sharing import Sharing
from thumbforge.making.threads import Executor
from thumbforge.models import Profile
from thumbforge.planning.plan import Row, inputs
from thumbforge.planning.project import relative
from thumbforge.providers.base import Answer, Call, Provider, Reference, Request
from thumbforge.providers.retry import TryFailed, generate_with_retries, tally_of
from thumbforge.store.assets import AssetStore
from thumbforge.store.attempts import Art, Spent, cut_short
from thumbforge.store.database import Database
from thumbforge.store.deletion import unlink_ours
from thumbforge.store.finals import failed_checks
from thumbforge.store.leases import Slots
from thumbforge.store.looks import mark_of
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.spending import Allowance
from thumbforge.store.witness import record_of
from thumbforge.store.work import Busy, Work

Status = Literal["completed", "failed", "pending", "interrupted"]
EARLIER = 3
"""Attempts at the same request that a provider is told of: what they began may still be taken up."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one item. `error` is one line, `hint` what to do about it; `warnings` are worth telling though the
    item is completed."""

    status: Status
    final: StoredPicture | None = None
    final_key: str = ""
    compliant: bool | None = None
    error: str | None = None
    warnings: tuple[str, ...] = ()
    hint: str = ""
    left_behind: str = ""
    """Where its job may go on although the item was interrupted."""


@dataclass(frozen=True, slots=True)
class Workshop:
    """Everything that all items of a run share. `max_concurrency` bounds the provider's calls over all processes,
    `concurrency` those of this one; `allowance` is what a call costs, where that is known."""

    root: Path
    database: Database
    store: AssetStore
    work: Work
    slots: Slots
    provider: Provider
    executor: Executor
    profile: Profile
    max_concurrency: int
    concurrency: int
    reference: Reference | None
    exporter: Exporter
    cancel: Cancel
    brake: Brake
    sharing: Sharing
    retry_base_s: float
    allowance: Allowance | None = None


def make(row: Row, iteration_id: str, shop: Workshop) -> Outcome | Busy:
    """Bring one item to completed, or to a failure that is recorded; Busy where a live run is at it."""
    recorded = row.art if row.art and not row.art.attempt_id else None
    art = (None if recorded else row.art) or _staged_art(row, shop)
    if art is None:
        only = recorded.picture.sha256 if recorded else None
        request = _recorded(row, shop)
        claimed = shop.work.claim(iteration_id, row.art_key, row.take, request, lost_art=row.lost_art, only=only)
        if isinstance(claimed, Busy):
            return claimed
        art = claimed if isinstance(claimed, Art) else None
        if isinstance(claimed, str) and (art := _staged_art(row, shop)):  # of the dead process that was claimed from
            shop.work.release(iteration_id, claimed)
        elif isinstance(claimed, str):
            if recorded:
                got = _take_up(row, recorded, iteration_id, claimed, shop)
            else:
                got = _paint(row, iteration_id, claimed, shop)
            if isinstance(got, Outcome):
                return got
            art = got
    assert art is not None
    art = shop.sharing.first(row, iteration_id, art, _recorded(row, shop), shop.work, shop.executor)
    own = shop.work.adopt(iteration_id, art, row.art_key, row.take, _recorded(row, shop))
    return _finish(row, iteration_id, own, shop)


def _staged_art(row: Row, shop: Workshop) -> Art | None:
    """An answer to the same request that was staged when its process died, for whichever item. Where the lock file has
    chosen its art, that one stays staged: it is another."""
    if row.is_chosen:
        return None
    for attempt in cut_short(shop.database, row.art_key):
        if staged := shop.store.staged(attempt):
            log.info("a staged answer is taken up", attempt=attempt)
            try:
                return _keep(row, attempt, *staged, shop)
            except OutputUnusable:
                shop.store.drop_staged(attempt)
    return None


def _take_up(row: Row, recorded: Art, iteration_id: str, attempt_id: str, shop: Workshop) -> Art | Outcome:
    """Art that its record or the lock file alone tells of: judged like a provider's answer, and given its rows without
    a call. One that does not pass fails the item, because no call was planned; its record goes, so that the next plan
    has one."""
    found, wanted = recorded.picture, row.wanted.request_for(row.take)
    try:
        data = read_regular(shop.store.verify(found.sha256, found.suffix))
        info, warnings = shop.executor.inspect(data, wanted.width, wanted.height)
    except (PictureError, AssetDamaged) as error:
        if row.is_chosen:
            text = f"{error.code}: the art that the lock file names is not usable: {error}"
        else:
            unlink_ours(shop.store.home, shop.store.record_path(row.art_key))
            text = f"{error.code}: the art that a record names is not usable: {error}; the next batch paints it anew"
        shop.work.fail(iteration_id, attempt_id, "interrupted", text, Spent())
        return Outcome("failed", error=text)
    is_shared = row.art_key in shop.sharing.brought
    by = "lock" if row.is_chosen else "shared store" if is_shared else "record"
    log.info(f"art is taken up by the {by}", art=found.sha256[:12])
    seen = shop.store.seen(found.sha256, found.suffix)
    picture = StoredPicture(found.sha256, found.suffix, info.media_type, len(data), info.width, info.height, seen)
    response = {"warnings": list(warnings), "adopted_from": by}
    return shop.work.keep_art(attempt_id, picture, Spent(), response, is_shared=is_shared)


def _paint(row: Row, iteration_id: str, attempt_id: str, shop: Workshop) -> Art | Outcome:
    """Wait for the provider, call it, and keep what it made."""
    name = f"provider:{shop.profile.provider}"
    spent: Spent | None = None
    try:
        slot = shop.slots.take(name, shop.max_concurrency, shop.concurrency, shop.brake.wait)
        try:
            shared = shop.sharing.find(row, shop.executor)
            if shared is None:
                shop.brake.before_call()
                _begin_call(attempt_id, shop)
        except BaseException:
            shop.slots.free(name, slot)
            raise
    except Interrupted:
        shop.work.release(iteration_id, attempt_id)
        return Outcome("pending")
    if shared:
        shop.slots.free(name, slot)
        return _take_up(row, shared, iteration_id, attempt_id, shop)
    try:
        try:
            data, header = _call(row, attempt_id, shop)
        finally:
            shop.slots.free(name, slot)
        spent = Spent(**header["spent"])
        shop.brake.after_call(spent.calls)
        return _keep(row, attempt_id, data, header, shop)
    except Interrupted as error:
        where = error.left_behind
        text = f"interrupted; its job may still be on {where}" if where else "interrupted"
        shop.work.fail(iteration_id, attempt_id, "interrupted", text, _spent_by(error))
        return Outcome("interrupted", error=text, left_behind=where)
    except ProviderError as error:
        spent = spent or _spent_by(error)
        shop.brake.after_failure(error, spent.calls)
        shop.work.fail(iteration_id, attempt_id, _outcome(error), describe(error), spent)
        shop.store.drop_staged(attempt_id)
        return Outcome("failed", error=f"{error.code}: {error}", hint=error.hint)


def _begin_call(attempt_id: str, shop: Workshop) -> None:
    """Set the price of a call aside in the transaction that begins it. Raises Interrupted, with the brake pulled, where
    the day's budget has not as much left."""
    try:
        shop.work.begin_call(attempt_id, shop.allowance)
    except LimitReached as error:
        error.hint = f"thumbforge runs resume {shop.work.run_id[:8]} goes on, tomorrow or with a higher budget.day"
        shop.brake.pull(error)
        raise Interrupted("paused") from error


def _call(row: Row, attempt_id: str, shop: Workshop) -> tuple[bytes, dict[str, Any]]:
    """The provider's bytes, staged, with the header that they were staged under."""
    request = replace(row.wanted.request_for(row.take), reference=shop.reference)
    if shop.reference:
        request = request.moved({shop.reference.sha256: shop.reference.path})

    def on_try(failed: TryFailed) -> None:
        log.warning(
            "provider call failed", part=row.wanted.item.part, video=row.wanted.item.video,
            **{"try": f"{failed.n} of {failed.of}"}, wait_s=failed.wait_s, error=f"{failed.error.code}: {failed.error}",
        )  # fmt: skip
        if failed.wait_s is not None:
            shop.brake.before_retry()
            if shop.allowance:
                _begin_call(attempt_id, shop)

    with shop.store.scratch_directory(attempt_id) as scratch:
        earlier = tuple(cut_short(shop.database, row.art_key)[:EARLIER])
        call = Call(shop.cancel, shop.profile.timeout_s, row.wanted.key, attempt_id, scratch, shop.brake.sent, earlier)
        with faults.step("call"):
            outcome = generate_with_retries(shop.provider, request, call, base_s=shop.retry_base_s, on_try=on_try)
        spent = _spent(outcome.answer, shop.profile, outcome.calls, outcome.perhaps_billed)
        header = _header(outcome.answer, request, spent)
        shop.store.stage(attempt_id, outcome.answer.data, header)
    return outcome.answer.data, header


def _outcome(error: ProviderError) -> str:
    """What would have met every item is no fault of this one: it is not charged against max_retries."""
    if error.meets_every_item:
        return "interrupted"
    return "transient" if error.retryable else "permanent"


def _spent_by(error: ThumbforgeError) -> Spent:
    tally = tally_of(error)
    return Spent(calls=tally.calls, perhaps_billed=tally.perhaps_billed)


def _header(answer: Answer, request: Request, spent: Spent) -> dict[str, Any]:
    """What must survive with the staged bytes."""
    return {
        "width": request.width,
        "height": request.height,
        "spent": {name: getattr(spent, name) for name in Spent.__slots__},
        "reference_ignored": answer.reference_ignored,
        "notes": dict(answer.notes),
    }


def _keep(row: Row, attempt_id: str, data: bytes, header: Mapping[str, Any], shop: Workshop) -> Art:
    """Judge a staged answer, put it into the store, leave word of it there, and give it a row. OutputUnusable where it
    is no picture."""
    try:
        info, warnings = shop.executor.inspect(data, header["width"], header["height"])
    except PictureError as error:
        raise OutputUnusable(str(error), hint=error.hint) from error
    sha256 = shop.store.put(data, info.suffix, "art.file")
    seen = shop.store.seen(sha256, info.suffix)
    picture = StoredPicture(sha256, info.suffix, info.media_type, len(data), info.width, info.height, seen)
    spent = Spent(**header["spent"])
    price = spent.cost and f"{spent.cost} {spent.currency}"
    record = record_of(row.wanted.art_fields(row.take), sha256, info.suffix, shop.profile.provider, price)
    shop.store.write_record(row.art_key, record)
    response = {"warnings": list(warnings), "reference_ignored": header["reference_ignored"], "notes": header["notes"]}
    art = shop.work.keep_art(attempt_id, picture, spent, response)
    shop.store.drop_staged(attempt_id)
    return art


def _spent(answer: Answer, profile: Profile, calls: int, perhaps_billed: int) -> Spent:
    """The service's own figure, else the profile's price per picture; None where nobody knows."""
    if answer.cost is not None:
        cost, currency = str(answer.cost), answer.currency
    elif profile.price:
        cost, currency = profile.price.amount, profile.price.currency
    else:
        cost, currency = None, None
    return Spent(calls=calls, perhaps_billed=perhaps_billed, cost=cost, currency=currency, tokens=answer.tokens)


def _recorded(row: Row, shop: Workshop) -> dict[str, Any]:
    """The request as the ledger keeps it; the reference by hash and by its path in the project."""
    request = row.wanted.request_for(row.take)
    return {
        "prompt": request.prompt,
        "negative_prompt": request.negative_prompt,
        "width": request.width,
        "height": request.height,
        "seed": request.seed,
        "video": request.video,
        "take": request.take,
        "reference": shop.reference
        and {"sha256": shop.reference.sha256, "path": relative(shop.reference.path, shop.root)},
    }


def _finish(row: Row, iteration_id: str, art: Art, shop: Workshop) -> Outcome:
    """Draw the text, judge the file, record and export it."""
    wanted = row.wanted
    final_key = wanted.final_key(art.picture.sha256)
    _require_pinned("art", row.pinned and row.pinned.art, art.picture)
    if row.final and row.final.final_key == final_key:
        picture, report = row.final.picture, row.final.report
    else:
        picture, report = _draw(row, art, shop)
    _require_pinned("picture", row.pinned and row.pinned.final, picture)
    violations, warnings = _joined(failed_checks(report, "error")), failed_checks(report, "warning")
    manifest = mark_of(write_manifest(shop.store, row, art, picture))
    shop.work.record_final(iteration_id, art, final_key, picture, report, violations, manifest)
    if violations:
        return Outcome("failed", picture, final_key, False, violations, warnings)
    if wanted.export_name:
        try:
            shop.exporter.export(wanted, final_key, picture)
        except ExportBlocked as error:
            return Outcome("failed", picture, final_key, True, f"{error.code}: {error}", warnings)
    return Outcome("completed", picture, final_key, True, None, warnings)


def _require_pinned(what: str, sha256: str | None, picture: StoredPicture) -> None:
    """Raises LockUnmet where the lock file has other bytes: another platform or other libraries painted them."""
    if sha256 and picture.sha256 != sha256:
        hint = "another platform or other libraries made it; copy the store of whoever wrote the lock"
        raise LockUnmet(f"its {what} has other bytes here than the lock file's ({sha256[:8]})", hint=hint)


def write_manifest(store: AssetStore, row: Row, art: Art, picture: StoredPicture) -> Path:
    """What the picture was made of, in a file that explains it without the ledger; returns where it is."""
    wanted = row.wanted
    final_key = wanted.final_key(art.picture.sha256)
    return store.write_manifest(
        final_key,
        {
            "format": 1,
            "key": wanted.key,
            "art_key": row.art_key,
            "final_key": final_key,
            "final_sha256": picture.sha256,
            **inputs(wanted, row.take, art.picture.sha256),
        },
    )


def _draw(row: Row, art: Art, shop: Workshop) -> tuple[StoredPicture, dict[str, Any]]:
    wanted = row.wanted
    suffix = ".jpg" if wanted.series.output.format == "jpeg" else ".png"
    source = shop.store.verify(art.picture.sha256, art.picture.suffix)
    target = shop.store.scratch_file(suffix)
    hero = {shop.reference.sha256: shop.reference.path} if shop.reference else {}
    drawing = replace(wanted.drawing, scene=wanted.drawing.scene and wanted.drawing.scene.moved(hero))
    try:
        report = shop.executor.finalise(source, wanted.series.template.layout, drawing, wanted.series.output, target)
        sha256 = shop.store.put_file(target, suffix, "final.file")
    finally:
        target.unlink(missing_ok=True)
    seen = shop.store.seen(sha256, suffix)
    picture = StoredPicture(sha256, suffix, report.media_type, report.bytes, report.width, report.height, seen)
    return picture, report.as_dict()


def _joined(violations: tuple[str, ...]) -> str | None:
    return "; ".join(violations) or None
