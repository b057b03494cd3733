"""What `local` is told of a series' hero: where its subject is, where it is to go, and in which colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thumbforge.errors import PictureError
from thumbforge.models import Brand
from thumbforge.pixels.scene import File, Scene
from thumbforge.pixels.sides import STEPS, Free, free_side
from thumbforge.planning.series import Series
from thumbforge.providers.local import LocalParams

if TYPE_CHECKING:
    from thumbforge.pixels.placed import Chosen


def scene_of(series: Series) -> Scene | None:
    """What `local` paints by, and what the finaliser keeps words away from; None where another provider paints."""
    if series.profile.provider != "local":
        return None
    params = LocalParams.of(series.profile.params)
    own, hero = series.staging, series.hero
    palette = own.palette or params.palette or ("brand" if _brand_colours(series.brand) else "hero")
    return Scene(
        hero=File(hero.path, hero.sha256) if hero.exists else None,
        mask=own.mask,
        subject=own.subject,
        face=own.face,
        look=own.look or params.look,
        free=_goes(params.subject, free_side(series.template.layout)),
        palette=_colours(palette, series.brand),
        hues=own.hues or params.hues or ("" if palette != "hero" else "wheel"),
    )


def look_taken(series: Series) -> Chosen | None:
    """What `look: auto` takes for a series that `local` paints, and why; None where a look is named, there is no hero,
    or the hero cannot be opened, which whoever paints with it tells."""
    from thumbforge.pixels.heroes import open_hero
    from thumbforge.pixels.placed import Chosen, chosen_look, drawn_as

    scene = scene_of(series)
    if scene is None or scene.look != "auto":
        return None
    try:
        hero = open_hero(scene, series.output.width, series.output.height)
    except PictureError:
        return None
    if hero is None:
        return None
    found = chosen_look(hero, scene.free)
    drawn = drawn_as(found.look, hero, scene.free)
    return found if drawn == found.look else Chosen(drawn, f"{found.look} does not go with the template's words")


def _goes(side: str, free: Free) -> Free:
    """The layout's free side, or where a profile puts the subject whatever the layout."""
    if side == "auto" or side == free.side:
        return free
    if side == "center":
        return free if free.across else Free("middle", STEPS // 2)
    return Free("left" if side == "left" else "right")


def _colours(palette: str | tuple[str, ...], brand: Brand | None) -> tuple[str, ...]:
    if palette == "brand":
        return _brand_colours(brand)
    return () if isinstance(palette, str) else palette


def _brand_colours(brand: Brand | None) -> tuple[str, ...]:
    """Those of a brand that a ground can have, the first of which it has if there is to be one."""
    if brand is None:
        return ()
    own = (brand.colors.panel, brand.colors.accent, brand.colors.badge)
    return tuple(dict.fromkeys(colour for colour in own if colour and colour.startswith("#")))
