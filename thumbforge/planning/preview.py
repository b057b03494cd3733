"""A template tried on one video of a playlist, or on a sample: its texts, or one picture. No ledger is written, and no
provider but `local` is asked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thumbforge.cancel import Cancel
from thumbforge.durable import in_place_of
from thumbforge.errors import NotFound, StoreError, UsageError
from thumbforge.imaging.finalise import finalise
from thumbforge.imaging.rules import Report
from thumbforge.models import Item, Output, Playlist, PlaylistHead, Profile
from thumbforge.planning.project import Project
from thumbforge.planning.reference import NO_HERO, check_hero, find_hero
from thumbforge.planning.series import Lookup, Series, SeriesRequest, default_output, find_playlist, resolve
from thumbforge.planning.staging import beside
from thumbforge.planning.wanted import Place, Wanted, places, wanted_items
from thumbforge.providers.base import Call
from thumbforge.providers.registry import load_provider
from thumbforge.specs.catalog import LoadedPlaylist
from thumbforge.text import nearest

if TYPE_CHECKING:
    from thumbforge.layers import AnyTemplate

TRIAL = Output(width=1280, height=720)
OUTPUT = Output(width=1280, height=720, format="png", max_bytes=50_000_000)
LOCAL = Profile(name="local", provider="local")
SAMPLE = LoadedPlaylist(
    name="sample",
    path=Path(),
    spec=Playlist(
        playlist=PlaylistHead(id="PLsample", title="A sample series", channel="A sample channel", language="en"),
        items=(
            Item(
                video="sample-0007",
                title="Seven ideas that changed everything",
                text="Seven ideas that *changed* everything",
                part=7,
                duration=754,
            ),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What a template is tried on. Without playlist and video that is the sample.

    `part` chooses among a playlist's items; a named video, or the sample, is shown as that part.
    """

    template: str
    playlist: str | None = None
    video: str | None = None
    part: int | None = None
    hero: str | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)


def texts(project: Project, trial: Trial) -> Wanted:
    """The template's texts for the item, as a batch would have them. SpecError for one that cannot be rendered."""
    with project.reading() as database:
        series = _series(project.lookup(database), trial)
    return wanted_on(series, _item_place(series, trial))


def wanted_on(series: Series, at: Place) -> Wanted:
    capabilities = load_provider(series.profile).capabilities
    [wanted] = wanted_items(series, capabilities, series.hero.as_reference(), at=[at])
    return wanted


def draw(wanted: Wanted, target: Path) -> Report:
    """Write a PNG of 1280x720 to `target`, whole or not at all. AssetDamaged for a hero that is no picture."""
    series = replace(wanted.series, output=OUTPUT)
    if series.hero.exists:
        check_hero(series.hero)
        if target.exists() and target.samefile(series.hero.path):
            raise UsageError(f"{target} is the hero", hint="name another file with --out")
    request = replace(wanted.request, width=OUTPUT.width, height=OUTPUT.height)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with in_place_of(target) as part, tempfile.TemporaryDirectory(prefix="thumbforge-") as scratch:
            call = Call(Cancel(), 60, "", "", Path(scratch))
            art = Path(scratch) / "art"
            art.write_bytes(load_provider(series.profile).generate(request, call).data)
            report = finalise(art, series.template.layout, wanted.drawing, OUTPUT, part)
    except OSError as error:
        raise StoreError(f"{target} could not be written: {error.strerror}", hint="name a file with --out") from error
    return report if series.hero.exists else _without_subject(report)


TEXTS = {
    "the shortest text": "Go",
    "the longest text": "The complete guide to *reading*, cleaning and plotting all that your laptop ever wrote, 2026",
    "a right-to-left text": "كيف أرتّب *جدولاً* كبيراً من البيانات؟",
}
"""What `template validate` draws a template on; YouTube's titles end at 100 characters."""


def on_texts(series: Series) -> Iterator[tuple[str, Report]]:
    """A template drawn with each of `TEXTS`, and what its rules say. `series` is one of `on_sample`; the ground is the
    scene that stands in for a hero, painted once."""
    [at] = places(series)
    [first] = wanted_items(series, load_provider(series.profile).capabilities, None, at=[at])
    request = replace(first.request, width=OUTPUT.width, height=OUTPUT.height)
    with tempfile.TemporaryDirectory(prefix="thumbforge-") as scratch:
        art, target = Path(scratch) / "art", Path(scratch) / "final.jpg"
        call = Call(Cancel(), 60, "", "", Path(scratch))
        art.write_bytes(load_provider(series.profile).generate(request, call).data)
        for what, text in TEXTS.items():
            own = replace(at, item=at.item.model_copy(update={"text": text, "title": text}))
            drawing = wanted_on(series, own).drawing
            report = finalise(art, series.template.layout, drawing, TRIAL, target)
            yield what, _without_subject(report)
            target.unlink()


def _without_subject(report: Report) -> Report:
    """The scene that stands in for a hero holds nobody, so what a guess finds in it is worth no word."""
    return replace(report, checks=tuple(check for check in report.checks if not check.rule.startswith("subject.")))


def on_sample(project: Project, template: AnyTemplate, given: Mapping[str, Any]) -> Series:
    """A series of the sample alone."""
    return _bare(project.lookup(None), SAMPLE, template, given)


def _series(lookup: Lookup, trial: Trial) -> Series:
    """The declared series of the playlist with this template; where there is none, one of defaults without a hero."""
    playlist = _playlist(lookup, trial)
    declared = _declared(lookup, playlist, trial.template) if playlist is not SAMPLE else None
    if declared:
        asked = SeriesRequest(series=declared, template=trial.template, hero=trial.hero, vars=trial.vars)
        series = resolve(lookup, asked)
        return series if series.profile.provider == "local" else replace(series, profile=LOCAL)
    series = _bare(lookup, playlist, lookup.catalog.template(trial.template), trial.vars)
    if trial.hero is None:
        return series
    hero = find_hero(trial.hero, lookup.cwd, lookup, "final")
    return replace(series, hero=hero, staging=beside(hero))


def _bare(lookup: Lookup, playlist: LoadedPlaylist, template: AnyTemplate, given: Mapping[str, Any]) -> Series:
    return Series(
        name=playlist.name,
        playlist_name=playlist.name,
        playlist=playlist.spec,
        hero=NO_HERO,
        template=template,
        profile=LOCAL,
        reference="final",
        vars=given,
        overrides=given,
        max_images=None,
        output=default_output(lookup.settings),
        root=lookup.root,
    )


def _playlist(lookup: Lookup, trial: Trial) -> LoadedPlaylist:
    if trial.playlist is not None:
        return find_playlist(lookup, trial.playlist, lookup.cwd)
    if trial.video is None:
        return SAMPLE
    found = {name: lookup.catalog.find_playlist(name) for name in lookup.catalog.playlist_names()}
    loaded = [lookup.catalog.load_playlist(hit[1]) for hit in found.values() if hit]
    having = [playlist for playlist in loaded if any(item.video == trial.video for item in playlist.spec.items)]
    if len(having) > 1:
        names = " or ".join(f"--playlist {playlist.name}" for playlist in having)
        raise UsageError(f"{len(having)} playlists have the video {trial.video}", hint=names)
    if not having:
        known = [item.video for playlist in loaded for item in playlist.spec.items]
        raise NotFound(f"no playlist has a video {trial.video}", hint=_nearest(trial.video, known))
    return having[0]


def _declared(lookup: Lookup, playlist: LoadedPlaylist, template: str) -> str | None:
    """Of the series on this playlist the one of its name, else the only one with the template, else the only one."""
    specs = {name: lookup.catalog.series(name) for name in sorted(lookup.catalog.series_names())}
    same = [name for name, spec in specs.items() if spec.playlist in {playlist.name, playlist.spec.playlist.id}]
    groups = (
        [name for name in same if name == playlist.name],
        [name for name in same if specs[name].template == template],
        same,
    )
    return next((group[0] for group in groups if len(group) == 1), None)


def _item_place(series: Series, trial: Trial) -> Place:
    name = series.playlist_name
    found = [at for at in places(series) if trial.video in {None, at.item.video}]
    if not found and trial.video:
        known = [item.video for item in series.playlist.items]
        raise NotFound(f"playlist {name} has no video {trial.video}", hint=_nearest(trial.video, known))
    if not found:
        raise UsageError(f"playlist {name} has no items")
    if trial.part is None:
        return found[0]
    if exact := [at for at in found if at.item.part == trial.part]:
        return exact[0]
    if trial.playlist and not trial.video:
        raise NotFound(f"playlist {name} has no part {trial.part}", hint="name a --video to see it as that part")
    return replace(found[0], item=found[0].item.model_copy(update={"part": trial.part}))


def _nearest(video: str, known: list[str]) -> str:
    near = nearest(video, known)
    return f"did you mean {near[0]}?" if near else "thumbforge playlist show lists the videos of a playlist"
