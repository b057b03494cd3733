"""What a batch writes down before its first item: world rows, the hero's lineage, and the frozen plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thumbforge import ids
from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.planning.reference import Hero
from thumbforge.planning.series import Series
from thumbforge.store.database import insert
from thumbforge.store.ledger import Ledger
from thumbforge.store.plans import PlannedItem

if TYPE_CHECKING:
    from thumbforge.pixels.picture import PictureInfo


def remember_world(ledger: Ledger, series: Series) -> None:
    """Rows for the template, the profile and the playlist, once each whatever runs use them."""
    template, profile, head = series.template, series.profile, series.playlist.playlist
    ledger.remember(
        "template",
        "spec_hash",
        {
            "spec_hash": template.spec_hash,
            "name": template.name,
            "version": template.version,
            "content_json": ids.canonical_json(
                {
                    "prompt": template.prompt,
                    "negative_prompt": template.negative_prompt,
                    "layout": template.layout.content,
                }
            ),
        },
    )
    ledger.remember(
        "provider_profile",
        "id",
        {
            "id": profile.id,
            "name": profile.name,
            "provider": profile.provider,
            "version": profile.version,
            "params_json": ids.canonical_json(profile.params),
        },
    )
    ledger.remember("playlist", "youtube_id", {"youtube_id": head.id, "title": head.title})


def planned_item(row: Row, is_work: bool) -> PlannedItem:
    """A row of the frozen plan. With the run's params and template it is enough to make the item without any spec."""
    wanted = row.wanted
    return PlannedItem(
        item_key=wanted.item_key,
        idempotency_key=wanted.key,
        key_parts=wanted.key_parts.as_dict() if is_work else None,
        action=row.action,
        reason=row.reason,
        plan={
            "item": wanted.item.model_dump(mode="json", exclude_defaults=True),
            "position": wanted.position,
            "occurrence": wanted.occurrence,
            "export": wanted.export_name,
            "take": row.take,
        },
    )


def run_params(planned: PlannedSeries) -> dict[str, object]:
    """What a run is about, beside its template, profile and items."""
    series = planned.series
    return {
        "series": series.name,
        "playlist": series.playlist_name,
        "playlist_head": series.playlist.playlist.model_dump(mode="json", exclude_defaults=True),
        "hero": series.hero.iteration_id,
        "reference": series.reference,
        "seed": planned.seed,
        "prompt_append": series.prompt_append,
        "vars": dict(series.vars),
        "overrides": dict(series.overrides),
        "staging": series.staging.recorded(),
        "brand": series.brand.model_dump(mode="json", exclude_defaults=True) if series.brand else None,
        "output": series.output.model_dump(mode="json"),
        "max_images": series.max_images,
        "max_cost": None if series.max_cost is None else str(series.max_cost),
        "price": series.profile.price and series.profile.price.model_dump(mode="json"),
        "max_retries": planned.limits.max_retries,
    }


def record_file_hero(ledger: Ledger, hero: Hero, info: PictureInfo) -> None:
    """A picture file as a completed hero run of one picked iteration, so that lineage always has the same shape.

    All ids derive from the file's sha256: the same file is the same hero on every machine and in every batch.
    """
    if ledger.database.row("SELECT 1 FROM run WHERE id = ?", (hero.run_id,)):
        return
    now = ledger.now()
    times = {"created_at": now, "started_at": now, "finished_at": now, "updated_at": now}
    attempt_id = ids.attempt_id(hero.iteration_id, 1)
    final_key = ids.digest("hero-file", {"sha256": hero.sha256})
    asset = {
        "sha256": hero.sha256,
        "suffix": info.suffix,
        "media_type": info.media_type,
        "bytes": hero.path.stat().st_size,
        "width": info.width,
        "height": info.height,
        "created_at": now,
    }
    run = {"id": hero.run_id, "kind": "hero", "status": "completed", "params_json": "{}", "exit_code": 0, **times}
    iteration = {
        "id": hero.iteration_id,
        "run_id": hero.run_id,
        "item_key": "ordinal:1",
        "idempotency_key": final_key[:32],
        "key_parts_json": ids.canonical_json({"file": hero.sha256}),
        "status": "pending",
        **times,
    }
    attempt = {
        "id": attempt_id,
        "iteration_id": hero.iteration_id,
        "n": 1,
        "art_key": ids.art_key({"hero-file": hero.sha256}),
        "executor_run_id": hero.run_id,
        "lease_epoch": 0,
        "request_json": "{}",
        "opened_at": now,
        "closed_at": now,
        "outcome": "ok",
        "art_sha256": hero.sha256,
    }
    final = {
        "final_key": final_key,
        "iteration_id": hero.iteration_id,
        "art_sha256": hero.sha256,
        "sha256": hero.sha256,
        "compliant": 1,
        "report_json": "{}",
        "created_at": now,
    }
    with ledger.database.write("hero.row") as connection:
        insert(connection, "asset", asset, once="sha256")
        for table, row in (("run", run), ("iteration", iteration), ("attempt", attempt), ("final", final)):
            insert(connection, table, row, once="final_key" if table == "final" else "id")
        connection.execute(
            "UPDATE iteration SET status = 'completed', attempt_id = ?, final_key = ? WHERE id = ?",
            (attempt_id, final_key, hero.iteration_id),
        )
        connection.execute("UPDATE run SET picked_iteration_id = ? WHERE id = ?", (hero.iteration_id, hero.run_id))
