"""What a batch writes down before its first item: world rows, the hero's lineage, and the frozen plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thumbforge.planning.decide import PlannedSeries
from thumbforge.planning.plan import Row
from thumbforge.planning.reference import Hero
from thumbforge.planning.series import Series
from thumbforge.store import heroes, world
from thumbforge.store.ledger import Ledger
from thumbforge.store.pictures import StoredPicture
from thumbforge.store.plans import PlannedItem

if TYPE_CHECKING:
    from thumbforge.pixels.picture import PictureInfo


def remember_world(ledger: Ledger, series: Series) -> None:
    """Rows for the template, the profile and the playlist, once each whatever runs use them."""
    template, profile, head = series.template, series.profile, series.playlist.playlist
    content = {
        "prompt": template.prompt,
        "negative_prompt": template.negative_prompt,
        "layout": template.layout.content,
    }
    used = world.TemplateRow(template.spec_hash, name=template.name, version=template.version, content=content)
    world.remember_template(ledger.database, used, ledger.now())
    painter = world.ProfileRow(
        profile.id, name=profile.name, provider=profile.provider, version=profile.version, params=profile.params
    )
    world.remember_profile(ledger.database, painter, ledger.now())
    world.remember_playlist(ledger.database, head.id, head.title, ledger.now())


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
        "sizes": dict(planned.wanted[0].drawing.sizes) if planned.wanted else {},
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
    picture = StoredPicture(
        sha256=hero.sha256,
        suffix=info.suffix,
        media_type=info.media_type,
        bytes=hero.path.stat().st_size,
        width=info.width,
        height=info.height,
    )
    heroes.record_file(ledger.database, hero.run_id, hero.iteration_id, picture, ledger.now())
