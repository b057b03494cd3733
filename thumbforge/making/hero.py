"""Heroes: candidates for one video, refinements of a picked one, the pick itself, and copies to take along."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from thumbforge import ids
from thumbforge.durable import in_place_of, read_regular
from thumbforge.errors import NotFound, StoreError, UsageError
from thumbforge.making.batch import Batch
from thumbforge.making.resume import frozen
from thumbforge.making.rollup import Result
from thumbforge.models import Item, Playlist
from thumbforge.named import inside
from thumbforge.planning.decide import PlannedSeries, decided
from thumbforge.planning.plan import Limits
from thumbforge.planning.prices import ceiling
from thumbforge.planning.project import Project, relative
from thumbforge.planning.reference import NO_HERO, find_hero
from thumbforge.planning.series import Series, default_output, find_profile, look
from thumbforge.planning.spec_lines import at_template_lines
from thumbforge.planning.wanted import wanted_heroes
from thumbforge.playlists.series_file import write_new
from thumbforge.providers.registry import capabilities_of
from thumbforge.sources.links import VideoLink, parse_link
from thumbforge.specs.catalog import LoadedPlaylist
from thumbforge.store import heroes
from thumbforge.store.heroes import Candidate, candidates
from thumbforge.store.ledger import Ledger
from thumbforge.store.views import find_run
from thumbforge.text import nearest

SHORTEST_ID = 4


@dataclass(frozen=True, slots=True)
class HeroRequest:
    """What `hero generate` was asked for. `seed` goes to the first candidate, the next number to the next; template
    and provider are the settings' where they are None."""

    video: str
    count: int = 4
    playlist: str | None = None
    template: str | None = None
    provider: str | None = None
    seed: int | None = None
    max_cost: Decimal | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)


def plan_heroes(project: Project, request: HeroRequest) -> PlannedSeries:
    """Candidates for one video. Asking for the same ones again finds them; a larger count adds to them."""
    playlist, item = find_video(project, request.video, request.playlist)
    profile = find_profile(project.catalog, request.provider or project.settings.text("series.provider"))
    series = Series(
        name="",
        playlist_name=playlist.name,
        playlist=Playlist(playlist=playlist.spec.playlist, items=(item,)),
        hero=NO_HERO,
        template=project.catalog.template(request.template or project.settings.text("series.template")),
        profile=profile,
        reference="final",
        vars=request.vars,
        overrides=request.vars,
        max_images=None,
        max_cost=ceiling(request.max_cost, None, project.settings, profile),
        output=default_output(project.settings),
        **look(None, project.root, project.settings),
    )
    return _planned(project, series, "hero", None, request.seed, request.count)


def plan_refinement(
    project: Project, word: str, prompt_append: str, count: int, max_cost: Decimal | None = None
) -> PlannedSeries:
    """Candidates that start from the art of a picked one (a run's pick, or an iteration) as their reference."""
    with project.reading() as database:
        if database is None:
            raise NotFound(f"there is no run or iteration {word}", hint="thumbforge hero generate makes one")
        hero = find_hero(word, project.cwd, project.lookup(database), "raw")
        if hero.from_file:
            raise UsageError(f"{word} is a file", hint="hero generate makes candidates that can be refined")
        parent = find_run(database, hero.run_id)
        if parent["spec_hash"] is None:
            raise UsageError(f"{word} is an imported picture: there is no prompt to refine")
        before = frozen(project, database, parent)
    append = "\n\n".join(filter(None, (before.series.prompt_append, prompt_append)))
    most = ceiling(max_cost, None, project.settings, before.series.profile)
    series = replace(before.series, hero=hero, prompt_append=append, max_cost=most)
    return _planned(project, series, "iterate", hero.run_id, before.seed, count)


def _planned(
    project: Project, series: Series, kind: Any, parent_run_id: str | None, seed: int | None, count: int
) -> PlannedSeries:
    capabilities = capabilities_of(series.profile)
    with at_template_lines(series.root, series.template.name):
        wanted = wanted_heroes(series, capabilities, series.hero.as_reference(), seed, range(1, count + 1))
    limits = Limits.of(project.settings)
    return decided(project, PlannedSeries(series, capabilities, limits, wanted, (), kind, parent_run_id, seed))


def find_video(project: Project, word: str, playlist: str | None) -> tuple[LoadedPlaylist, Item]:
    """A video of a playlist in specs/playlists, by id or link, or by its part where the playlist is named or is the
    only one. NotFound where no playlist (or not this one) has it."""
    link = parse_link(word)
    video = link.id if isinstance(link, VideoLink) else word
    names = project.catalog.playlist_names() if playlist is None else (playlist,)
    titles: dict[str, str] = {}
    for name in names:
        found = project.catalog.find_playlist(name)
        if found is None:
            raise NotFound(f"unknown playlist {name}", hint=f"there are: {', '.join(project.catalog.playlist_names())}")
        loaded = project.catalog.load_playlist(found[1])
        for item in loaded.spec.items:
            if item.video == video or (len(names) == 1 and not item.removed and str(item.part) == word):
                return loaded, item
            titles[item.video] = item.title
    near = nearest(video, titles)
    hint = f"did you mean {near[0]} ({titles[near[0]]})?" if near else "thumbforge fetch brings its playlist"
    raise NotFound(f"no playlist has a video {video}", hint=hint)


def make_heroes(batch: Batch, concurrency: int) -> Result:
    """Make every candidate of a batch that was opened for them, in threads."""
    with ThreadPoolExecutor(concurrency) as pool:
        list(pool.map(batch.outcome, [wanted.item_key for wanted in batch.planned.wanted]))
    return batch.close({})


def pick(ledger: Ledger, run: sqlite3.Row, word: str) -> Candidate:
    """Make a candidate the run's one pick, by its number or the start of its iteration's id. NotFound where there is
    none, UsageError where it is not completed."""
    found = candidates(ledger.database, run)
    named = [c for c in found if str(c.ordinal) == word]
    if len(word) >= SHORTEST_ID:  # a shorter one is a number, not what an iteration's id happens to begin with
        named = named or [c for c in found if c.iteration_id.startswith(word)]
    if len(named) != 1:
        hint = f"thumbforge hero show {run['id'][:8]} shows them"
        raise NotFound(f"run {run['id'][:8]} has candidates 1 to {len(found)}, not {word}", hint=hint)
    [chosen] = named
    if chosen.status != "completed":
        raise UsageError(
            f"candidate {chosen.ordinal} is {chosen.status}, not completed", hint="pick another, or resume the run"
        )
    heroes.pick(ledger.database, run["id"], chosen.iteration_id, ledger.now())
    return replace(chosen, picked=True)


def save_pick(project: Project, chosen: Candidate, named: str) -> str:
    """The art of a candidate, without its words, as a file that a series can name and git can carry; its path from the
    project's directory. What is there is never replaced.

    Raises UsageError for a place outside the project, for another suffix than the art's, and where another picture has
    the name.
    """
    if chosen.art is None:
        raise UsageError(f"candidate {chosen.ordinal} is {chosen.status}: there is nothing to save")
    sha256, suffix = chosen.art
    target = project.cwd / named
    if not target.suffix:
        target = target.with_suffix(suffix)
    if target.suffix != suffix:
        right = target.with_suffix(suffix).name
        raise UsageError(f"the art is a {suffix[1:].upper()}, {named} is named as another", hint=f"call it {right}")
    path = inside(project.root, relative(target, project.root))
    source = project.store.verify(sha256, suffix)
    if path.exists():
        if path.is_dir() or ids.sha256_hex(read_regular(path)) != sha256:
            raise UsageError(f"{named} is there and is another picture", hint="give it another name")
    else:
        write_new(path, read_regular(source))
    return relative(path, project.root)


def export_heroes(project: Project, run_id: str, chosen: Iterable[Candidate], to: Path, *, raw: bool) -> list[Path]:
    """Copies under stable names, `hero-<run>-<n>`. Raises UsageError, before anything is copied, where a file of that
    name holds another picture."""
    copies: list[tuple[Path, Path]] = []
    for candidate in chosen:
        picture = candidate.art if raw else candidate.final
        if picture is None:
            raise UsageError(f"candidate {candidate.ordinal} is {candidate.status}: there is nothing to export")
        kind = "-raw" if raw else ""
        copies.append((project.store.verify(*picture), to / f"hero-{run_id[:8]}-{candidate.ordinal}{kind}{picture[1]}"))
    for source, target in copies:
        if target.exists() and ids.sha256_hex(target.read_bytes()) != source.stem:
            raise UsageError(f"{target} exists and is another picture", hint="name another directory")
    try:
        to.mkdir(parents=True, exist_ok=True)
        for source, target in copies:
            with in_place_of(target) as part:
                shutil.copyfile(source, part)
    except OSError as error:
        raise StoreError(f"{to} cannot be written: {error.strerror}") from error
    return [target for _, target in copies]
