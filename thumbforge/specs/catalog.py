"""The specs of a project by name: its own `specs/` first, then what ships with thumbforge.

A project's template or provider profile takes the place of a built-in one of the same name. Reading one name reads
only the files that it needs; what was read is kept for the life of the catalog.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from thumbforge import log
from thumbforge.durable import read_regular
from thumbforge.errors import NotFound, Problem, SpecError, UsageError
from thumbforge.models import Playlist, Profile, SeriesSpec, Template
from thumbforge.specs import layered
from thumbforge.specs.yaml_file import MAX_BYTES, Document, Problems
from thumbforge.specs.yaml_words import cut_short
from thumbforge.text import nearest

TOLD = 3
"""Texts of one list that are told each by itself."""
MAX_CHAIN = 20
"""Templates that extend one another."""
BUILTIN = Path(__file__).parent / "builtin"
SUFFIXES = (".yaml", ".yml")

if TYPE_CHECKING:
    from thumbforge.layers import AnyTemplate

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

_STEM = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class LoadedPlaylist:
    """A playlist's spec and where it is from; `name` is the file's stem."""

    name: str
    path: Path
    spec: Playlist


@dataclass(frozen=True, slots=True)
class _Source:
    """A template's fields after `extends`; its file, which messages name, and those that it extends."""

    chain: tuple[Document, ...]
    data: dict[str, Any]

    def check(self, problems: Problems) -> AnyTemplate | None:
        if layered.is_layered(self.data):
            return layered.check(self.chain, self.data, problems)
        return problems.check(self.chain[0], Template, self.data)


class Catalog:
    """Specs under `root`/specs. Every method raises NotFound for an unknown name (the nearest ones are in the hint)
    and SpecError, with all problems of the files it read, for a file that is wrong."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._files: dict[str, dict[str, Path]] = {}
        self._models: dict[tuple[str, str], Any] = {}
        self._documents: dict[Path, tuple[Document | None, tuple[Problem, ...]]] = {}
        self._playlists: dict[Path, LoadedPlaylist | SpecError] = {}

    def template_names(self) -> tuple[str, ...]:
        return tuple(self._listing("templates"))

    def template(self, name: str) -> AnyTemplate:
        """The template, what it `extends` merged in: mappings field by field, anything else replaced. `NAME@VERSION` is
        that one only where it is of that version."""
        stem, at, version = name.partition("@")
        found: AnyTemplate = self._kept("templates", stem, self._load_template)
        if at and version != str(found.version):
            hint = f"{stem}@{found.version} is the one, and {stem} whatever it is"
            raise NotFound(f"template {stem} is version {found.version} here, not {version or 'none'}", hint=hint)
        return found

    def profile_names(self) -> tuple[str, ...]:
        return tuple(self._listing("providers"))

    def profile(self, name: str) -> Profile:
        return self._kept("providers", name, lambda path: self._load(path, Profile, named=True))

    def series_names(self) -> tuple[str, ...]:
        return tuple(self._listing("series"))

    def series(self, name: str) -> SeriesSpec:
        return self._kept("series", name, lambda path: self._load(path, SeriesSpec))

    def playlist_names(self) -> tuple[str, ...]:
        return tuple(self._listing("playlists"))

    def playlist_file(self, name: str) -> Playlist:
        """The playlist in specs/playlists whose file stem is `name`."""
        return self.load_playlist(self._path("playlists", name)).spec

    def load_playlist(self, path: Path) -> LoadedPlaylist:
        """A playlist's YAML from anywhere; messages name it from the project's root where it is inside."""
        if path not in self._playlists:
            self._playlists[path] = _loaded(lambda path: load_playlist(path, self.root), path)
        found: LoadedPlaylist = _or_raised(self._playlists[path])
        return found

    def find_playlist(self, word: str) -> tuple[str, Path] | None:
        """The name and file of the playlist with this stem or, failing that, this id. UsageError where two have it.

        Only files that seem to hold the id are read in full.
        """
        files = self._listing("playlists")
        if word in files:
            return word, files[word]
        gives_id = re.compile(rf"\bid[\"']?\s*:\s*[\"']?{re.escape(word)}(?![\w-])".encode())
        hits = [(name, path) for name, path in files.items() if gives_id.search(_bytes(path))]
        hits = [(name, path) for name, path in hits if self.load_playlist(path).spec.playlist.id == word]
        if len(hits) > 1:
            names = " and ".join(name for name, _ in hits)
            raise UsageError(
                f"playlist {word} is in more than one spec: {names}", hint="give one of these names instead"
            )
        return hits[0] if hits else None

    def _listing(self, kind: str) -> dict[str, Path]:
        if kind not in self._files:
            own = _spec_files(self.root / "specs" / kind, Problems(self.root))
            self._files[kind] = dict(sorted({**_spec_files(BUILTIN / kind, Problems()), **own}.items()))
        return self._files[kind]

    def _path(self, kind: str, name: str) -> Path:
        files = self._listing(kind)
        if name not in files:
            raise NotFound(f"no {_SINGULAR[kind]} `{name}`", hint=_nearest(name, files, kind))
        return files[name]

    def _kept(self, kind: str, name: str, load: Callable[[Path], M]) -> M:
        if (kind, name) not in self._models:
            self._models[kind, name] = _loaded(load, self._path(kind, name))
        found: M = _or_raised(self._models[kind, name])
        return found

    def _load(self, path: Path, model: type[M], *, named: bool = False) -> M:
        problems = Problems(self.root)
        found = None
        if document := problems.read(path):
            data = _named(document, path, problems) if named else document.data
            found = problems.check(document, model, data)
        problems.raise_if_any()
        assert found is not None
        return found

    def _load_template(self, path: Path) -> AnyTemplate:
        problems = Problems(self.root)
        source = self._extended(path, problems, ())
        found = source.check(problems) if source else None
        problems.raise_if_any()
        assert found is not None
        return found

    def _extended(self, path: Path, problems: Problems, below: tuple[Path, ...]) -> _Source | None:
        """The file's fields over those of its base; `below` are the files that led here. None where a base is wrong."""
        document = self._read(path, problems)
        if document is None:
            return None
        data = _named(document, path, problems)
        if "extends" not in data:
            return _Source((document,), data)
        name = data.pop("extends")
        base_path = self._base(name, path, below)
        if isinstance(base_path, str):
            problems.add(Problem(document.file, document.place(("extends",)).line, "extends", base_path))
            return None
        base = self._extended(base_path, problems, (*below, path))
        if base is None or base.check(problems) is None:
            return None
        if why := layered.mixed(base.data, data):
            problems.add(Problem(document.file, document.place(("layout",)).line, "layout", f"{name}: {why}"))
            return None
        return _Source((document, *base.chain), _merged(base.data, data))

    def _read(self, path: Path, problems: Problems) -> Document | None:
        """Once, however many templates extend it; what is wrong with it is wrong with each of them."""
        if path not in self._documents:
            own = Problems(self.root)
            self._documents[path] = (own.read(path), own.found)
        document, found = self._documents[path]
        for problem in found:
            problems.add(problem)
        return document

    def _base(self, name: Any, path: Path, below: tuple[Path, ...]) -> Path | str:
        """The file that `extends: name` means, or what is wrong with it. A file of the same name means the built-in."""
        if not isinstance(name, str):
            return "expected the name of a template"
        files = self._listing("templates")
        if name == path.stem and path.parent != BUILTIN / "templates":
            files = _spec_files(BUILTIN / "templates", Problems())
        if name not in files:
            return f"no template `{name}`; {_nearest(name, self._listing('templates'), 'templates')}"
        if len(below) >= MAX_CHAIN:
            return f"more than {MAX_CHAIN} templates extend each other here"
        if files[name] in (*below, path):
            return f"a template cannot extend itself: {' > '.join(p.stem for p in (*below, path, files[name]))}"
        return files[name]


def _loaded(load: Callable[[Path], T], path: Path) -> T | SpecError:
    """What is wrong is kept, too: to find it out may take as long as to read what is right."""
    try:
        return load(path)
    except SpecError as error:
        return error.with_traceback(None)


def _or_raised(found: Any) -> Any:
    if isinstance(found, SpecError):
        raise SpecError(found.problems, hint=found.hint, more=found.more)
    return found


def load_playlist(path: Path, root: Path | None = None) -> LoadedPlaylist:
    """A playlist's YAML. Raises SpecError with every problem of the file; tells texts that end at a `#`."""
    problems = Problems(root)
    document = problems.read(path)
    spec = problems.check(document, Playlist, document.data) if document else None
    problems.raise_if_any()
    assert document is not None
    assert spec is not None
    _tell_cut_short(document)
    return LoadedPlaylist(path.stem, path, spec)


def _tell_cut_short(document: Document) -> None:
    found = list(cut_short(document.text))
    for line, field, read, left, form in found[:TOLD]:
        kind = "a comment" if left.startswith("#") else "a name of its own"
        told = f"the {field} is {read!r}" if read else f"there is no {field}"
        log.warning(f"{document.file}:{line}: {told}: {left!r} is {kind} to YAML; put the text in quotes: {form}")
    if len(found) > TOLD:
        log.warning(f"{document.file}: {len(found) - TOLD} more texts are cut short by YAML")


_SINGULAR = {"templates": "template", "providers": "provider profile", "series": "series", "playlists": "playlist"}


def _spec_files(directory: Path, problems: Problems) -> dict[str, Path]:
    """The YAML files in a directory by stem. Raises SpecError for two of one stem and for stems that are no names."""
    if not directory.is_dir():
        return {}
    found: dict[str, Path] = {}
    for path in sorted(directory.iterdir()):
        if path.suffix not in SUFFIXES or path.name.startswith("."):
            continue
        if not _STEM.fullmatch(path.stem):
            problems.report(path, "the file's name needs letters, digits, dots, - and _ only (at most 64)")
        if path.stem in found:
            problems.report(path, f"{found[path.stem].name} has the same name; keep one of them")
        found[path.stem] = path
    problems.raise_if_any()
    return found


def _named(document: Document, path: Path, problems: Problems) -> dict[str, Any]:
    """The data with its `name`, which is the file's stem whether written or not."""
    data = {"name": path.stem, **document.data}
    if isinstance(data["name"], str) and data["name"] != path.stem:
        message = f"the name is `{data['name']}` but the file is {path.name}; make them the same"
        problems.add(Problem(document.file, document.place(("name",)).line, "name", message))
    return data


def _merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    both = {key: _merged(base[key], value) for key, value in over.items() if _are_mappings(base.get(key), value)}
    return {**base, **over, **both}


def _are_mappings(one: Any, other: Any) -> bool:
    return isinstance(one, dict) and isinstance(other, dict)


def _nearest(name: str, known: Iterable[str], kind: str) -> str:
    names = list(known)
    if not names:
        return f"there are none; add one to specs/{kind}/"
    near = nearest(name, names, most=3, alike=0.5)
    if near:
        return f"did you mean {' or '.join(f'`{n}`' for n in near)}?"
    return f"there are: {', '.join(names[:20])}{', …' if len(names) > 20 else ''}"


def _bytes(path: Path) -> bytes:
    try:
        return read_regular(path, MAX_BYTES)
    except OSError:
        return b""
