"""What the specs want for each item, before anybody looks at what exists: request, drawing, identity. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from thumbforge import ids
from thumbforge.errors import Problem, SpecError
from thumbforge.imaging.finalise import Drawing, final_parts, rooms_of_series
from thumbforge.imaging.sheet import PICTURE
from thumbforge.imaging.userfiles import PictureFile
from thumbforge.models import Item, Layout
from thumbforge.pixels.scene import Scene
from thumbforge.planning.pictures import images_of, picture_of
from thumbforge.planning.scenes import scene_of
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import in_series
from thumbforge.providers.base import Capabilities, Reference, Request
from thumbforge.specs.file_names import file_name
from thumbforge.specs.part_names import part_name
from thumbforge.specs.prompts import Prompts
from thumbforge.specs.variables import variables_for


@dataclass(frozen=True, slots=True)
class Wanted:
    """One item as the specs want it. `position` counts from 1 in the playlist; `request` is that of its first take.

    `item_key` names the item in its run: `video:<id>:<occurrence>`, or `ordinal:<n>` for a candidate hero; `part` and
    `seed` are what its key has of them. Keys are asked for several times and digested once.
    """

    series: Series
    item: Item
    position: int
    occurrence: int
    request: Request
    drawing: Drawing
    key: str
    part: str
    seed: str
    reads: frozenset[str]
    export_name: str
    item_key: str
    _keys: dict[object, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def task_name(self) -> str:
        """The doit task's name after `thumb:<series>:`."""
        return self.item.video if self.occurrence == 1 else f"{self.item.video}:{self.occurrence}"

    @property
    def key_parts(self) -> ids.KeyParts:
        """Made when it is asked for: of thousands of items it would hold the prompt once more."""
        return _key_parts(self.series, self.item, self.request, self.part, self.seed)

    def request_for(self, take: int) -> Request:
        return self.request if take == self.request.take else replace(self.request, take=take)

    def art_fields(self, take: int) -> dict[str, Any]:
        return self.request_for(take).art_fields(self.series.profile.id, self.reads)

    def art_key(self, take: int) -> str:
        if take not in self._keys:
            self._keys[take] = ids.art_key(self.art_fields(take))
        return self._keys[take]

    def final_parts(self, art_sha256: str) -> dict[str, Any]:
        return final_parts(art_sha256, self.series.template.layout, self.drawing, self.series.output)

    def final_key(self, art_sha256: str) -> str:
        if art_sha256 not in self._keys:
            self._keys[art_sha256] = ids.final_key(self.final_parts(art_sha256))
        return self._keys[art_sha256]


@dataclass(frozen=True, slots=True)
class Place:
    """An item at its place in the playlist, with the name of its file in out/."""

    item: Item
    position: int
    occurrence: int
    export_name: str


def places(series: Series) -> Iterator[Place]:
    """Every place of the playlist, in order. SpecError, with its line, for a pattern of names that gives two files the
    same."""
    return _places(series) if series.output.name is None else _named(series, series.output.name)


def _named(series: Series, pattern: str) -> Iterator[Place]:
    """By the series' own pattern. Names that differ in capitals alone are one on many disks."""
    suffix = ".jpg" if series.output.format == "jpeg" else ".png"
    taken: dict[str, Place] = {}
    for place in _places(series):
        item = place.item
        text = item.text or item.title
        name = file_name(pattern, part=item.part, position=place.position, video=item.video, text=text)
        again = "" if place.occurrence == 1 else f"-{place.occurrence}"
        named = replace(place, export_name=f"{name}{again}{suffix}")
        first = taken.setdefault(named.export_name.lower(), named)
        if first is not named or named.export_name == PICTURE:
            raise SpecError([_not_unique(series, first, named)], hint="{video} or {part} in it tells them apart")
        yield named


def _not_unique(series: Series, first: Place, second: Place) -> Problem:
    whose = f"items {first.position} and {second.position}" if first is not second else f"item {first.position}"
    what = "would both be" if first is not second else "would be called as the sheet,"
    message = f"{whose} {what} {second.export_name}"
    return in_series(series.root, series.name, ("output", "name"), message)


def _places(series: Series) -> Iterator[Place]:
    """By part or position, and video."""
    seen: Counter[str] = Counter()
    width = _padding(series)
    suffix = ".jpg" if series.output.format == "jpeg" else ".png"
    for position, item in enumerate(series.playlist.items, 1):
        seen[item.video] += 1
        if item.removed:
            continue  # it keeps its place and its edits in the list, and gets no picture
        occurrence = seen[item.video]
        number = f"{item.part if item.part is not None else position:0{width}d}"
        again = "" if occurrence == 1 else f"-{occurrence}"
        yield Place(item, position, occurrence, f"{number}-{item.video}{again}{suffix}")


@dataclass(frozen=True, slots=True)
class _Shown:
    """What all pictures of a series show alike."""

    scene: Scene | None
    images: tuple[tuple[str, PictureFile], ...]
    sizes: tuple[tuple[str, int], ...]


def wanted_items(
    series: Series, capabilities: Capabilities, reference: Reference | None, at: Iterable[Place] | None = None
) -> tuple[Wanted, ...]:
    """What is wanted at each of these places, by default all. SpecError for a prompt that cannot be rendered."""
    prompts = Prompts(series.template)
    found = places(series) if at is None else at
    shown = _Shown(scene_of(series), images_of(series), _sizes(series, prompts))
    return tuple(_wanted(series, prompts, capabilities, reference, shown, place) for place in found)


def _wanted(
    series: Series,
    prompts: Prompts,
    capabilities: Capabilities,
    reference: Reference | None,
    shown: _Shown,
    place: Place,
) -> Wanted:
    item = place.item
    variables = _variables(series, item, place.position, prompts)
    request = Request(
        prompt=f"{prompts.prompt(variables)}\n\n{series.prompt_append}".rstrip(),
        negative_prompt=prompts.negative(variables),
        width=series.output.width,
        height=series.output.height,
        seed=None,
        reference=reference,
        video=item.video,
        scene=shown.scene,
    )
    part, seed = "" if item.part is None else str(item.part), ""
    return Wanted(
        series=series,
        item=item,
        position=place.position,
        occurrence=place.occurrence,
        request=request,
        drawing=_drawing(series, prompts, place, variables, shown),
        key=ids.idempotency_key(_key_parts(series, item, request, part, seed)),
        part=part,
        seed=seed,
        reads=capabilities.reads,
        export_name=place.export_name,
        item_key=ids.item_key(item.video, place.occurrence),
    )


def wanted_heroes(
    series: Series, capabilities: Capabilities, reference: Reference | None, seed: int | None, ordinals: Iterable[int]
) -> tuple[Wanted, ...]:
    """Candidates for the one item of `series`. The ordinal is folded into the seed, or stands for it where the
    provider reads none; it also is the candidate's take, so that no two ask for the same picture."""
    prompts = Prompts(series.template)
    [item] = series.playlist.items
    shown = _Shown(scene_of(series), images_of(series), _sizes(series, prompts))
    base = _wanted(series, prompts, capabilities, reference, shown, Place(item, 1, 1, ""))
    return tuple(_candidate(base, n, seed if "seed" in capabilities.reads else None) for n in ordinals)


def _candidate(base: Wanted, ordinal: int, seed: int | None) -> Wanted:
    own = None if seed is None else seed + ordinal - 1
    request, told = replace(base.request, seed=own, take=ordinal), str(ordinal if own is None else own)
    return replace(
        base,
        position=ordinal,
        request=request,
        key=ids.idempotency_key(_key_parts(base.series, base.item, request, "", told)),
        part="",
        seed=told,
        item_key=f"ordinal:{ordinal}",
    )


def _variables(series: Series, item: Item, position: int, prompts: Prompts) -> Mapping[str, Any]:
    """An item's own vars go before the series', what was typed on the command line goes before both."""
    return variables_for(
        item=item,
        playlist=series.playlist.playlist,
        vars={**series.vars, **item.vars, **series.overrides},
        width=series.output.width,
        height=series.output.height,
        negative_space=series.template.layout.negative_space,
        position=position,
        part_name=_part_name(item, series.playlist.playlist.language) if prompts.names_parts else "",
    )


def _part_name(item: Item, language: str | None) -> str:
    """ "" where what is drawn says its part itself: nobody reads it twice."""
    from thumbforge.sources.part_marks import part_in

    drawn = item.title if item.text is None else item.text
    return "" if item.part is None or part_in(drawn) == item.part else part_name(item.part, language)


def _drawing(series: Series, prompts: Prompts, place: Place, variables: Mapping[str, Any], shown: _Shown) -> Drawing:
    item = place.item
    title = item.title if item.text is None else item.text
    drawing = Drawing(
        title=title,
        part=None,
        language=series.playlist.playlist.language,
        picture=picture_of(series, item, place.position),
        brand=series.identity,
        emoji=series.emoji,
        scene=shown.scene,
        sizes=shown.sizes,
    )
    if not isinstance(series.template.layout, Layout):
        return replace(drawing, texts=prompts.texts({**variables, "text": title}), images=shown.images)
    part, kicker, name = _part(prompts, item, variables), prompts.kicker(variables), prompts.series(variables)
    return replace(drawing, part=part, kicker=kicker, series=name)


def _sizes(series: Series, prompts: Prompts) -> tuple[tuple[str, int], ...]:
    """The size of each text that has one for the whole series, whichever of its items are wanted."""
    if series.sizes is not None:
        return series.sizes
    rooms = rooms_of_series(series.template.layout, series.identity)
    if not rooms:
        return ()
    from thumbforge.imaging.type.common import common_size

    language, said = series.playlist.playlist.language, [dict(_said(series, prompts, p)) for p in _places(series)]
    return tuple(
        (name, common_size([texts[name] for texts in said if name in texts], room, language))
        for name, room in rooms.items()
    )


def _said(series: Series, prompts: Prompts, place: Place) -> Iterable[tuple[str, str]]:
    title = place.item.title if place.item.text is None else place.item.text
    if isinstance(series.template.layout, Layout):
        return [("title", title)]
    return prompts.texts({**_variables(series, place.item, place.position, prompts), "text": title})


def _part(prompts: Prompts, item: Item, variables: Mapping[str, Any]) -> str | None:
    """The badge: the layout's text; an item with a label and no part shows just that."""
    return item.label if item.part is None else prompts.part_text(variables)


def _key_parts(series: Series, item: Item, request: Request, part: str, seed: str) -> ids.KeyParts:
    return ids.KeyParts(
        spec_hash=series.template.spec_hash,
        provider_profile=series.profile.id,
        video=item.video,
        part=part,
        prompt=ids.prompt_text(request.prompt, request.negative_prompt),
        seed=seed,
        reference=request.reference.sha256 if request.reference else "",
    )


def _padding(series: Series) -> int:
    """Digits of the largest number in an export's name, at least two, so that names sort as parts do."""
    numbers = [position if item.part is None else item.part for position, item in enumerate(series.playlist.items, 1)]
    return max(2, len(str(max(numbers, default=0))))
