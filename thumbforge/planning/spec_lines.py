"""Where in the specs a value stands: the file and line of a template's field, and of a series' own.

Asked only when there is something to tell, so nothing here is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import yaml

from thumbforge.errors import Problem, SpecError
from thumbforge.specs.catalog import BUILTIN, SUFFIXES, Catalog
from thumbforge.specs.yaml_file import Document, Problems

_WHERE = re.compile(r"([\w.-]+)(?:, line (\d+))?")
_SINGULAR = {"series": "series", "playlists": "playlist", "providers": "profile"}


def template_file(catalog: Catalog, name: str) -> Path:
    """The file of a listed template: the project's own goes before the built-in one."""
    folders = (catalog.root / "specs" / "templates", BUILTIN / "templates")
    files = (folder / f"{name}{suffix}" for folder in folders for suffix in SUFFIXES)
    return next(path for path in files if path.exists() or path.is_symlink())  # what is no file is told when it is read


def chain_of(catalog: Catalog, path: Path) -> list[Document]:
    """The file of a template that loads, the one that it extends, and so on."""
    found: list[Document] = []
    while document := Problems(catalog.root).read(path):
        found.append(document)
        base = document.data.get("extends")
        if base is None:
            break
        path = BUILTIN / "templates" / f"{base}.yaml" if base == path.stem else template_file(catalog, base)
    return found


def placed_at(chain: list[Document], loc: tuple[str, ...], message: str, text_line: int = 0) -> Problem:
    """A problem at the field `loc` of the first file that has it."""
    where = ".".join(loc)
    found = [(document, document.place(loc)) for document in chain]
    document, place = next(((d, p) for d, p in found if p.where == where), found[0])
    line = place.line
    if text_line and isinstance(place.node, yaml.ScalarNode) and place.node.style == "|":
        line = place.node.start_mark.line + 1 + text_line
    return Problem(document.file, line, where, message)


def placed_text(problem: Problem, hint: str, chain: list[Document]) -> Problem:
    """A fault in one of a template's texts, at the line of the file; of a text that is no literal block, at its first
    line."""
    match = _WHERE.fullmatch(problem.where)
    message = f"{problem.message}; {hint}" if hint else problem.message
    if match is None:
        return replace(problem, file=chain[0].file, message=message)
    return placed_at(chain, tuple(match[1].split(".")), message, int(match[2] or 0))


@contextmanager
def at_template_lines(root: Path, name: str) -> Iterator[None]:
    """Faults in the texts of this template, told at their lines where it has a file; one of a run that is resumed may
    be gone."""
    try:
        yield
    except SpecError as error:
        catalog, own = Catalog(root), f"template {name}"
        if name not in catalog.template_names() or not any(problem.file == own for problem in error.problems):
            raise
        chain = chain_of(catalog, template_file(catalog, name))
        problems = [placed_text(problem, "", chain) if problem.file == own else problem for problem in error.problems]
        raise SpecError(problems, hint=error.hint) from error


def in_template(root: Path, name: str, loc: tuple[str, ...], message: str) -> Problem:
    """A problem at this field of a template; without a line where its file is gone."""
    catalog = Catalog(root)
    if name not in catalog.template_names():
        return Problem(f"template {name}", 0, ".".join(loc), message)
    return placed_at(chain_of(catalog, template_file(catalog, name)), loc, message)


def in_series(root: Path, name: str, loc: tuple[str, ...], message: str) -> Problem:
    """A problem at this field of specs/series/<name>.yaml; without a line where there is no such file."""
    return in_spec(root, "series", name, loc, message)


def in_spec(root: Path, kind: str, name: str, loc: tuple[str, ...], message: str) -> Problem:
    """The same of specs/<kind>/<name>.yaml."""
    where = ".".join(loc)
    for suffix in SUFFIXES:
        path = root / "specs" / kind / f"{name}{suffix}"
        document = Problems(root).read(path) if path.is_file() else None
        if document:
            place = document.place(loc)
            return Problem(document.file, place.line, where, message)
    return Problem(f"{_SINGULAR[kind]} {name}", 0, where, message)
