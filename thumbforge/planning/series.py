"""From the words a user typed, or a series YAML, to one resolved series: everything that a plan needs."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from thumbforge import log
from thumbforge.errors import NotFound, Problem, SpecError, UsageError
from thumbforge.imaging.brand import Identity, identity
from thumbforge.imaging.userfiles import FontFile, font_file
from thumbforge.models import Brand, Output, Playlist, Profile, SeriesSpec
from thumbforge.named import as_written, elsewhere, inside
from thumbforge.planning.hero_files import hero_file
from thumbforge.planning.prices import ceiling
from thumbforge.planning.profile_check import usable
from thumbforge.planning.reference import Hero, find_hero
from thumbforge.planning.spec_lines import in_series
from thumbforge.planning.staging import UNSAID, Staging, second_hero, staging
from thumbforge.providers.registry import profile_hint
from thumbforge.settings import FILE, Settings
from thumbforge.specs.catalog import Catalog, LoadedPlaylist
from thumbforge.specs.yaml_file import gather
from thumbforge.text import nearest

if TYPE_CHECKING:
    from thumbforge.layers import AnyTemplate
    from thumbforge.sources.links import PlaylistLink, VideoLink
    from thumbforge.store.database import Database


@dataclass(frozen=True, slots=True)
class SeriesRequest:
    """What was asked for on the command line; None where nothing was said. `vars` override the series' own."""

    series: str | None = None
    playlist: str | None = None
    hero: str | None = None
    template: str | None = None
    provider: str | None = None
    reference: str | None = None
    max_images: int | None = None
    max_cost: Decimal | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names_one(self) -> bool:
        return bool(self.series or self.playlist or self.hero)


@dataclass(frozen=True, slots=True)
class Series:
    """A declared batch with everything looked up. `vars` are the series' with the command's on top; `prompt_append`
    is what a refinement of a hero adds to the rendered prompt. `identity` is the brand with its files found; an
    item's picture counts from `root`. `is_declared`: it stands in specs/series. `sizes` are what a run recorded of
    texts with one size for the whole series; None: they are reckoned from all its items."""

    name: str
    playlist_name: str
    playlist: Playlist
    hero: Hero
    template: AnyTemplate
    profile: Profile
    reference: str
    vars: Mapping[str, Any]
    overrides: Mapping[str, Any]
    max_images: int | None
    output: Output
    max_cost: Decimal | None = None
    prompt_append: str = ""
    brand: Brand | None = None
    identity: Identity | None = None
    emoji: FontFile | None = None
    root: Path = Path()
    staging: Staging = UNSAID
    consistency: str = "warn"
    is_declared: bool = False
    sizes: tuple[tuple[str, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where words are looked up: the project, the user's directory, the settings, and the ledger if there is one."""

    root: Path
    cwd: Path
    home: Path
    catalog: Catalog
    settings: Settings
    database: Database | None


def resolve(lookup: Lookup, request: SeriesRequest) -> Series:
    """The one series that the request names.

    Raises UsageError where it names none or several, NotFound for an unknown word, SpecError for bad YAML.
    """
    if request.series:
        if request.playlist:
            raise UsageError("series= and playlist= both name a playlist", hint="leave one of them out")
        spec = lookup.catalog.series(request.series)
        catalog = lookup.catalog
        _stay_inside(lookup, request.series, "playlist", spec.playlist)
        gather(  # so that the problems of all three are told at once; each is read only once
            (
                lambda: find_playlist(lookup, spec.playlist, lookup.root),
                lambda: catalog.template(request.template or look_of(spec, "template", lookup.settings)),
                lambda: find_profile(catalog, request.provider or look_of(spec, "provider", lookup.settings)),
            )
        )
        return _build(lookup, request.series, find_playlist(lookup, spec.playlist, lookup.root), spec, request)
    if not request.playlist:
        raise UsageError("no playlist was named", hint=_what_to_name(lookup.catalog.series_names()))
    playlist = find_playlist(lookup, request.playlist, lookup.cwd, request.hero or "PICTURE")
    own = _series_of(lookup, playlist, request)
    if own:
        return _build(lookup, own, playlist, lookup.catalog.series(own), request)
    if not request.hero:
        raise UsageError(f"playlist {playlist.name} has no hero", hint="hero=<picture, run or iteration>")
    return _build(lookup, playlist.name, playlist, SeriesSpec(playlist=playlist.name, hero=request.hero), request)


def _what_to_name(series: tuple[str, ...]) -> str:
    few = [f"series={name}" for name in sorted(series)[:3]]
    return " or ".join([*few, "playlist=… hero=…"])


def look_of(spec: SeriesSpec, field: Literal["template", "provider"], settings: Settings) -> str:
    """The template's or the profile's name: what the series says, else what the settings say."""
    said: str = getattr(spec, field)
    return said if field in spec.model_fields_set else settings.text(f"series.{field}")


def all_series(lookup: Lookup, overrides: Mapping[str, Any]) -> tuple[list[Series], dict[str, NotFound]]:
    """Every series of specs/series, in name order, with `var.…` of the command line for all of them; and those that
    name something that is not here, such as a hero run of another machine, with what that is: the others can be made
    without it."""
    lost: dict[str, NotFound] = {}

    def found(name: str) -> Series | None:
        try:
            return resolve(lookup, SeriesRequest(series=name, vars=overrides))
        except NotFound as error:
            lost[name] = error
            return None

    names = sorted(lookup.catalog.series_names())
    return [series for series in gather([partial(found, name) for name in names]) if series], lost


def _series_of(lookup: Lookup, playlist: LoadedPlaylist, request: SeriesRequest) -> str | None:
    """The declared series that a bare `playlist=` means: the one of the playlist's name, else the only one on it."""
    names = lookup.catalog.series_names()
    if playlist.name in names:
        return playlist.name
    if request.hero:
        return None
    same = [
        name
        for name in sorted(names)
        if lookup.catalog.series(name).playlist in {playlist.name, playlist.spec.playlist.id}
    ]
    if len(same) > 1:
        raise UsageError(f"{len(same)} series use playlist {playlist.name}", hint="series=" + " or series=".join(same))
    return same[0] if same else None


def _build(lookup: Lookup, name: str, playlist: LoadedPlaylist, spec: SeriesSpec, request: SeriesRequest) -> Series:
    reference = request.reference or spec.reference
    if reference not in {"final", "raw"}:
        raise UsageError(f"reference={reference}: expected final or raw")
    base = lookup.cwd if request.hero else lookup.root
    if not request.hero:
        _stay_inside(lookup, name, "hero", spec.hero)
    hero = find_hero(request.hero or spec.hero, base, lookup, reference)
    profile = find_profile(lookup.catalog, request.provider or look_of(spec, "provider", lookup.settings))
    return Series(
        name=name,
        playlist_name=playlist.name,
        playlist=playlist.spec,
        hero=hero,
        template=lookup.catalog.template(request.template or look_of(spec, "template", lookup.settings)),
        profile=profile,
        reference=reference,
        vars={**spec.vars, **request.vars},
        overrides=dict(request.vars),
        max_images=spec.max_images if request.max_images is None else request.max_images,
        output=_output(spec.output, lookup.settings),
        max_cost=ceiling(request.max_cost, spec.max_cost, lookup.settings, profile),
        brand=spec.brand,
        staging=_staged(lookup, name, spec, hero),
        consistency=spec.consistency,
        is_declared=name in lookup.catalog.series_names(),
        **look(spec.brand, lookup.root, lookup.settings, name),
    )


def _stay_inside(lookup: Lookup, name: str, field: str, word: str) -> None:
    """Refuse a file of the series that leads out of the project; `word` may as well be a name or an id."""
    path = hero_file(word, lookup.root, lookup.root) if field == "hero" else lookup.root / word
    try:
        if path and path.is_file():
            inside(lookup.root, str(path))
    except UsageError as error:
        raise SpecError([in_series(lookup.root, name, (field,), error.message)], hint=error.hint) from error


def _staged(lookup: Lookup, name: str, spec: SeriesSpec, hero: Hero) -> Staging:
    try:
        own = staging(spec, hero, lookup.root)
    except UsageError as error:
        raise SpecError([in_series(lookup.root, name, ("mask",), error.message)], hint=error.hint) from error
    try:
        return replace(own, second=second_hero(spec, lookup.root))
    except UsageError as error:
        raise SpecError([in_series(lookup.root, name, ("second_hero",), error.message)], hint=error.hint) from error


def look(brand: Brand | None, root: Path, settings: Settings, name: str = "") -> dict[str, Any]:
    """What the brand and the settings add to every picture of the series `name`, read and hashed once. SpecError for
    files that cannot be used."""
    try:
        found = identity(brand, root) if brand else None
    except SpecError as error:
        own = [in_series(root, name, tuple(p.where.split(".")), p.message) for p in error.problems]
        raise SpecError(own, hint=error.hint) from error
    return {"identity": found, "emoji": _emoji(root, settings), "root": root}


def _emoji(root: Path, settings: Settings) -> FontFile | None:
    named = settings.text("output.emoji_font")
    if not named:
        return None
    if settings.origin("output.emoji_font") != FILE:  # the user's own environment may point anywhere
        return font_file(root / named)
    try:
        return font_file(inside(root, named))
    except UsageError as error:
        problem = Problem(FILE, 0, "output.emoji_font", f"{error.message}; {error.hint}")
        raise SpecError([problem], hint="paths count from the project's directory") from error


def _output(own: Output | None, settings: Settings) -> Output:
    """The series' own; where that has a name alone, the settings' under that name."""
    if own is None or own.model_fields_set == {"name"}:
        return default_output(settings).model_copy(update={"name": own.name if own else None})
    return own


def default_output(settings: Settings) -> Output:
    return Output.model_validate(
        {
            "width": settings.integer("output.width"),
            "height": settings.integer("output.height"),
            "format": settings.text("output.format"),
            "max_bytes": settings.integer("output.max_bytes"),
        }
    )


def find_profile(catalog: Catalog, name: str) -> Profile:
    """A profile by name that can be used; NotFound says where the name is that of a provider, which has none by
    itself."""
    try:
        profile = catalog.profile(name)
    except NotFound as error:
        error.hint = profile_hint(name) or error.hint
        raise
    usable(catalog.root, profile)
    return profile


_FILE_LIKE = re.compile(r"[/\\]|\.(ya?ml|json|csv)$", re.IGNORECASE)


def find_playlist(lookup: Lookup, word: str, base: Path, hero: str = "PICTURE") -> LoadedPlaylist:
    """A playlist by id, YouTube URL, spec name, or a path (YAML, `yt-dlp -J` JSON, CSV) that counts from `base`. What
    is to be fetched first is told with the line that does it, for this hero."""
    link = None if word in lookup.catalog.playlist_names() else _link(word)
    wanted = link.id if link else word
    if found := lookup.catalog.find_playlist(wanted):
        return lookup.catalog.load_playlist(found[1])
    path = as_written(base / word)
    if path.is_file():
        return _from_file(lookup, path)
    from thumbforge.sources.links import VideoLink

    brought = f"thumbforge series new {shlex.quote(word)} --hero {shlex.quote(hero)} --batch"
    if isinstance(link, VideoLink):
        raise UsageError(f"{word} names a video, not a playlist", hint=f"{brought} makes a series of it")
    if link:
        raise NotFound(f"playlist {wanted} is not in specs/playlists", hint=f"{brought} brings it")
    if _FILE_LIKE.search(word):
        raise NotFound(f"there is no file {word}", hint=elsewhere(word, base))
    near = nearest(word, lookup.catalog.playlist_names(), most=3)
    known = near or sorted(lookup.catalog.playlist_names())[:5]
    hint = (
        f"did you mean {' or '.join(known)}?" if known else "specs/playlists is empty; a YAML, JSON or CSV file will do"
    )
    raise NotFound(f"unknown playlist {word}", hint=hint)


def _link(word: str) -> PlaylistLink | VideoLink | None:
    """Asked only of what is no spec's name: most words are one."""
    from thumbforge.sources.links import parse_link

    return parse_link(word)


def _from_file(lookup: Lookup, path: Path) -> LoadedPlaylist:
    if path.suffix.lower() in {".yaml", ".yml"}:
        return lookup.catalog.load_playlist(path)
    from thumbforge.sources.files import read_file

    name = re.sub(r"[^A-Za-z0-9._-]+", "-", unicodedata.normalize("NFC", path.stem)).strip("-._") or "playlist"
    found = read_file(path)
    for entry in found.skipped:
        log.warning("an entry was skipped", file=path.name, place=entry.place, video=entry.video, reason=entry.reason)
    for text in found.warnings:
        log.warning(text, file=path.name)
    return LoadedPlaylist(name=name[:64], path=path, spec=found.playlist)
