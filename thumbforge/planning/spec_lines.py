"""Where in the specs a value stands: the file and line of a template's field, and of a series' own.

Asked only when there is something to tell, so nothing here is kept.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from thumbforge.errors import Problem
from thumbforge.specs.catalog import BUILTIN, SUFFIXES, Catalog
from thumbforge.specs.yaml_file import Document, Problems


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


def in_series(root: Path, name: str, loc: tuple[str, ...], message: str) -> Problem:
    """A problem at this field of specs/series/<name>.yaml; without a line where there is no such file."""
    for suffix in SUFFIXES:
        path = root / "specs" / "series" / f"{name}{suffix}"
        document = Problems(root).read(path) if path.is_file() else None
        if document:
            place = document.place(loc)
            return Problem(document.file, place.line, ".".join(loc), message)
    return Problem(f"series {name}", 0, ".".join(loc), message)
