"""The story of a picture: which item it is of, and what it was made of, from its bytes alone.

A picture is found by its hash: in the lock files, which come with git; in the manifests and records, which the store
has; and in the ledger. Each tells what it knows; what none tells is not said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from thumbforge import ids, log
from thumbforge.durable import read_regular
from thumbforge.errors import NotFound, ThumbforgeError
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.planning.hero_files import hero_files
from thumbforge.planning.lock import find_lock, lock_series
from thumbforge.planning.project import Project, relative
from thumbforge.planning.series import Series, SeriesRequest, resolve
from thumbforge.planning.wanted import wanted_items
from thumbforge.providers.registry import capabilities_of
from thumbforge.specs.locks import Entry, Lock, Named
from thumbforge.store import views, world
from thumbforge.store.database import Database, mapping
from thumbforge.store.witness import Manifest, key_files, manifest_of


@dataclass(frozen=True, slots=True)
class Story:
    """What is known of a picture; None where nobody tells. `kind` is what its bytes are: a final, art without its
    words, or the hero of a series. `found_in` are lock, manifest and ledger, as far as they know it. `at` is in Unix
    seconds; a price is what the ledger has, never what a file says. `current` is whether the item has this picture
    now; None where no lock tells."""

    sha256: str
    kind: str
    found_in: tuple[str, ...]
    why: str = ""
    series: str | None = None
    video: str | None = None
    part: str | None = None
    title: str | None = None
    text: str | None = None
    key: str | None = None
    art_key: str | None = None
    art_sha256: str | None = None
    final_key: str | None = None
    final_sha256: str | None = None
    take: int | None = None
    approved: bool | None = None
    current: bool | None = None
    template: str | None = None
    profile: str | None = None
    provider: str | None = None
    model: str | None = None
    hero_sha256: str | None = None
    hero: str | None = None
    prompt: str | None = None
    run: str | None = None
    at: float | None = None
    cost: str | None = None
    currency: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def explain(project: Project, path: Path, named: str) -> Story:
    """The story of the file `path`; `named` is what messages call it. NotFound where it is none of ours."""
    try:
        sha256 = ids.sha256_hex(read_regular(path, MAX_BYTES))
    except OSError as error:
        raise NotFound(f"{named} cannot be read: {error.strerror or error}", hint="name a picture file") from error
    told = _Teller(project, sha256)
    with project.reading() as database:
        story = told.of_lock() or told.of_hero() or told.of_manifest()
        story = story or (told.of_ledger(database) if database else None)
        if story is None:
            hint = "a picture that was edited, or sent through a service that packs it anew, has other bytes"
            raise NotFound(f"{named} is no picture of this project", hint=hint)
        story = told.with_manifest(story)
        if database:
            story = told.with_ledger(story, database)
    story = told.with_specs(story)
    return replace(story, why=_why(story))


class _Teller:
    """Asks each witness in turn, and lets each add what those before did not know."""

    def __init__(self, project: Project, sha256: str) -> None:
        self._project, self._sha256 = project, sha256

    # The lock files

    def of_lock(self) -> Story | None:
        for series, lock, entry in self._entries():
            if self._sha256 in {entry.final, entry.art}:
                return self._story_of(series, lock, entry)
        return None

    def of_hero(self) -> Story | None:
        for series, lock, _ in self._entries():
            if lock.head.hero == self._sha256:
                return Story(self._sha256, "hero", ("lock",), series=series, hero_sha256=self._sha256)
        return None

    def _entries(self) -> Iterator[tuple[str, Lock, Entry]]:
        for series in lock_series(self._project.root):
            try:
                lock = find_lock(self._project.root, series)
            except ThumbforgeError as error:
                log.warning("a lock file was passed by", series=series, error=f"{error.code}: {error}")
                continue
            for entry in (entry for found in (lock.entries.values() if lock else ()) for entry in found):
                assert lock is not None
                yield series, lock, entry

    def _story_of(self, series: str, lock: Lock, entry: Entry) -> Story:
        return Story(
            sha256=self._sha256,
            kind="final" if self._sha256 == entry.final else "art",
            found_in=("lock",),
            series=series,
            video=entry.video,
            key=entry.key,
            art_key=entry.art_key,
            art_sha256=entry.art,
            final_key=entry.final_key,
            final_sha256=entry.final,
            take=entry.take,
            approved=entry.approved,
            current=True,
            template=_versioned(lock.head.template),
            profile=_versioned(lock.head.profile),
            hero_sha256=lock.head.hero or None,
        )

    # The manifests

    def of_manifest(self) -> Story | None:
        found = next(self._manifests(), None)
        return self._told_by(found) if found else None

    def _manifests(self) -> Iterator[Manifest]:
        store, wanted = self._project.store, self._sha256.encode()
        named = (path for path in key_files(store.manifests) if wanted in read_regular(path))
        told = (manifest_of(store.manifest(path.stem), path.stem) for path in named)
        for found in told:  # one that names the picture may as well have it as its hero
            if found and self._sha256 in {found.final_sha256, found.art_sha256}:
                yield found

    def _told_by(self, found: Manifest) -> Story:
        is_final = self._sha256 == found.final_sha256
        return Story(
            sha256=self._sha256,
            kind="final" if is_final else "art",
            found_in=(),
            video=found.key_parts["video"],
            key=found.key,
            art_key=found.art_key,
            art_sha256=found.art_sha256,
            final_key=found.final_key if is_final else None,
            final_sha256=found.final_sha256 if is_final else None,
            take=int(found.art["take"]),
        )

    def with_manifest(self, story: Story) -> Story:
        """What the picture was made of, where the store still has it in writing."""
        key = story.final_key or ""
        content = self._project.store.manifest(key)
        found = manifest_of(content, key)
        if content is None or found is None:
            return story
        own = _of_parts(found.key_parts)
        text = content["final"].get("title")
        return _more(story, "manifest", **own, text=text if isinstance(text, str) else None)

    # The ledger

    def of_ledger(self, database: Database) -> Story | None:
        row = next(iter(views.finals_of_picture(database, self._sha256)), None)
        if row:
            own = {"final_key": row["final_key"], "final_sha256": row["sha256"]}
            return Story(self._sha256, "final", (), art_sha256=row["art_sha256"], **own)
        if views.attempts_of_art(database, self._sha256):
            return Story(self._sha256, "art", (), art_sha256=self._sha256)
        return None

    def with_ledger(self, story: Story, database: Database) -> Story:
        """Who painted it, in which run, when, and what it cost: the attempt that was a call, not those that took its
        art up."""
        attempts = views.attempts_of_art(database, story.art_sha256 or "")
        if not attempts:
            return story
        row = next((found for found in attempts if found["art_key"] == story.art_key), attempts[0])
        painted = row if row["calls"] else attempts[0]
        parts = mapping(row["key_parts_json"])
        own = _of_parts(parts) if "file" not in parts else {}
        own |= self._recorded_names(database, parts)
        exported = views.series_of_final(database, story.final_key or "")
        return _more(
            story,
            "ledger",
            **own,
            series=exported or row["series"],
            key=row["idempotency_key"],
            art_key=row["art_key"],
            take=row["take"],
            run=painted["run_id"],
            at=painted["closed_at"],
            cost=painted["cost"],
            currency=painted["currency"],
        )

    @staticmethod
    def _recorded_names(database: Database, parts: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if (template := world.find_template(database, parts.get("spec_hash", ""))) is not None:
            found["template"] = f"{template.name}@{template.version}"
        if (profile := world.find_profile(database, parts.get("provider_profile", ""))) is not None:
            model = profile.params.get("model")
            found |= {"profile": f"{profile.name}@{profile.version}", "provider": profile.provider}
            found["model"] = model if isinstance(model, str) else None
        return found

    # The specs, where they are here and can be read

    def with_specs(self, story: Story) -> Story:
        project = self._project
        for path in hero_files(project.root):
            try:
                if story.hero_sha256 == ids.sha256_hex(read_regular(path, MAX_BYTES)):
                    story = replace(story, hero=relative(path, project.root))
                    break
            except OSError:
                continue
        if not story.series or story.series not in project.catalog.series_names():
            return story
        try:
            with project.reading() as database:
                series = resolve(project.lookup(database), SeriesRequest(series=story.series))
        except ThumbforgeError:  # what is wrong with a series is told where it is used
            return story
        item = next((item for item in series.playlist.items if item.video == story.video), None)
        story = self._as_wanted(story, series)
        profile = series.profile if story.profile == f"{series.profile.name}@{series.profile.version}" else None
        model = profile.params.get("model") if profile else None
        return replace(
            story,
            title=story.title or (item.title if item else None),
            part=story.part or (str(item.part) if item and item.part is not None else None),
            provider=story.provider or (profile.provider if profile else None),
            model=story.model or (model if isinstance(model, str) else None),
        )

    def _as_wanted(self, story: Story, series: Series) -> Story:
        """The prompt that the specs give, where they still ask for this very picture; and whether the item has another
        by now."""
        with suppress(ThumbforgeError):
            wanted = wanted_items(series, capabilities_of(series.profile), series.hero.as_reference())
            if (found := next((w for w in wanted if w.key == story.key), None)) and not story.prompt:
                story = replace(story, prompt=found.key_parts.prompt)
        if story.current is None and any(e.video == story.video for s, _, e in self._entries() if s == story.series):
            story = replace(story, current=False)
        return story


def _versioned(found: Named) -> str:
    return f"{found.name}@{found.version}"


def _of_parts(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "video": parts.get("video"),
        "part": parts.get("part") or None,
        "prompt": parts.get("prompt"),
        "hero_sha256": parts.get("reference") or None,
    }


def _more(story: Story, witness: str, **told: Any) -> Story:
    """What was not known before; whoever was asked first is not contradicted."""
    new = {name: value for name, value in told.items() if getattr(story, name) is None and value is not None}
    return replace(story, found_in=(*story.found_in, witness), **new)


def _why(story: Story) -> str:
    """One sentence on what the picture is to its series now."""
    if story.kind == "hero":
        return f"It is the hero that {story.series} is made from."
    item = f"part {story.part}" if story.part else story.video or "an item"
    of = f"{item} of {story.series}" if story.series else item
    take = f"take {story.take}" if story.take else "a take"
    if story.current:
        approved = ", approved" if story.approved else ""
        return f"{'It is' if story.kind == 'final' else 'It is the art of'} what {of} has now: {take}{approved}."
    if story.kind == "art":
        return f"It is the art of {take} of {of}, without its words."
    now = "no lock file has it now" if story.current is None else "the lock file has another now"
    return f"It was made for {of} as {take}; {now}."
