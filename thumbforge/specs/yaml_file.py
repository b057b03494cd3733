"""One YAML file to one model. Whatever is wrong becomes a `Problem` with its file and line, never a traceback.

problems = Problems(root)
template = problems.parse(path, Template)     # None where something is wrong
problems.raise_if_any()                       # one SpecError with all problems of all files
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from thumbforge import redact
from thumbforge.durable import read_regular
from thumbforge.errors import Problem, SpecError
from thumbforge.specs import complaints, yaml_events
from thumbforge.specs.yaml_words import told_by, with_quotes
from thumbforge.text import printable

MAX_BYTES = 20_000_000
MANY = 1_000
"""Mistakes of one spec; of more the first are looked for."""
HINT = "correct the spec at the line named, then run the command again"

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
Loc = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A file that was read: its name as messages show it, its text, and its data (a mapping)."""

    file: str
    text: str
    data: dict[str, Any]
    flaws: frozenset[yaml_events.Mark] = frozenset()

    def place(self, loc: Loc) -> complaints.Located:
        """The node at `loc`, or the nearest one around it that exists."""
        return complaints.place(self._nodes, loc)

    def where_is(self, mark: yaml_events.Mark) -> str:
        """The path of the key or value that begins at `mark`, "" where there is none."""
        return self._paths.get(mark, "")

    @cached_property
    def _paths(self) -> dict[yaml_events.Mark, str]:
        return complaints.paths(self._nodes)

    @cached_property
    def _nodes(self) -> yaml.Node | None:
        return yaml_events.compose_first(self.text)


class Problems:
    """Collects what is wrong over all files of one command; `root` is the directory that file names are shown from."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._found: dict[tuple[str, int, str], Problem] = {}
        self._more = 0

    def add(self, problem: Problem) -> None:
        """Keep `problem`, unless one is known for the same place. Its texts become one printable line each."""
        where, message = printable(problem.where), printable(problem.message)
        self._found.setdefault((problem.file, problem.line, where), replace(problem, where=where, message=message))

    def report(self, path: Path, message: str) -> None:
        """A problem of a file as a whole."""
        self.add(Problem(shown(path, self._root), 0, "", message))

    @property
    def found(self) -> tuple[Problem, ...]:
        return tuple(self._found.values())

    def raise_if_any(self) -> None:
        if self._found:
            raise SpecError(self._found.values(), hint=HINT, more=self._more)

    def parse(self, path: Path, model: type[M]) -> M | None:
        """The file as a model, or None and at least one problem more."""
        known = len(self._found)
        document = self.read(path)
        found = self.check(document, model, document.data) if document else None
        return found if len(self._found) == known else None

    def read(self, path: Path) -> Document | None:
        """The file's data, which is a mapping; None and a problem where there is none."""
        file, text = shown(path, self._root), ""
        try:
            text = read_text(path)
            reading = yaml_events.read(text)
        except yaml_events.Unreadable as error:
            message = with_quotes(error.message, text, error.line)
            self.add(Problem(file, error.line + 1 if error.line >= 0 else 0, "", message))
            return None
        if not isinstance(reading.data, dict):
            what = "the file is empty" if reading.data is None else "the file is not a mapping of fields"
            self.add(Problem(file, 1, "", f"{what}; a spec looks like `name: value`"))
            return None
        document = Document(file, text, reading.data, frozenset(reading.flaws))
        for mark, message in reading.flaws.items():
            where = document.where_is(mark)
            self.add(Problem(file, mark[0] + 1, where, told_by(message, text, mark[0])))
        self._find_secrets(document, reading.names)
        return document

    def check(self, document: Document, model: type[M], data: dict[str, Any]) -> M | None:
        """`data` (the document's own, or what became of it) as a model. Types are strict: "7" is not a number."""
        try:
            return model.model_validate_json(json.dumps(data, ensure_ascii=False).encode(), strict=True)
        except UnicodeEncodeError:
            self.add(Problem(document.file, 1, "", "a `\\u` escape in this file is half a character"))
        except ValidationError as error:
            for complaint in complaints.of(_few(error, data, model), document.place, data, model):
                if complaint.place.mark not in document.flaws:
                    line = complaint.place.line
                    message = told_by(complaint.message, document.text, line - 1)
                    self.add(Problem(document.file, line, complaint.where, message))
            self._more += max(0, error.error_count() - MANY)
        return None

    def _find_secrets(self, document: Document, names: set[str]) -> None:
        if not any(map(redact.is_secret_name, names)) and not redact.looks_secret(document.text):
            return
        for loc, message in _secrets(document.data):
            place = document.place(loc)
            self.add(Problem(document.file, place.line, place.where, message))


def parse(path: Path, model: type[M], root: Path | None = None) -> M:
    """The file as a model. Raises SpecError with every problem of the file."""
    problems = Problems(root)
    found = problems.parse(path, model)
    problems.raise_if_any()
    assert found is not None
    return found


def gather(loads: Iterable[Callable[[], T]]) -> list[T]:
    """Call each; what they return, or one SpecError with the problems of all that raised one."""
    results: list[T] = []
    problems: dict[Problem, None] = {}
    more = 0
    for load in loads:
        try:
            results.append(load())
        except SpecError as error:
            problems.update(dict.fromkeys(error.problems))
            more += error.more
    if problems:
        raise SpecError(problems, hint=HINT, more=more)
    return results


def _few(error: ValidationError, data: dict[str, Any], model: type[BaseModel]) -> ValidationError:
    """Where a spec is wrong in thousands of places, what is wrong with the first entries of its lists: to say it of all
    takes a minute, and nobody reads it."""
    if error.error_count() <= MANY:
        return error
    first = {name: value[: MANY // 4] if isinstance(value, list) else value for name, value in data.items()}
    try:
        model.model_validate_json(json.dumps(first, ensure_ascii=False).encode(), strict=True)
    except ValidationError as few:
        return few
    return error


def shown(path: Path, root: Path | None) -> str:
    """How messages name a file: from the project's root where it is inside, else in full."""
    full = path.absolute()
    if root is not None and full.is_relative_to(root.absolute()):
        return full.relative_to(root.absolute()).as_posix()
    return str(full)


def read_text(path: Path) -> str:
    """The file's text. Raises `Unreadable`: missing, no file, over 20 MB, not UTF-8, or with NUL bytes."""
    try:
        if path.exists() and not path.is_file():
            raise yaml_events.Unreadable(-1, "this is no file")
        if (size := path.stat().st_size) > MAX_BYTES:
            raise yaml_events.Unreadable(-1, f"{size:,} bytes are more than the {MAX_BYTES:,} that a spec may have")
        raw = read_regular(path, MAX_BYTES)
    except OSError as error:
        raise yaml_events.Unreadable(-1, f"cannot be read: {error.strerror or error}") from None
    if (nul := raw.find(0)) >= 0:
        raise yaml_events.Unreadable(raw.count(b"\n", 0, nul), "holds NUL bytes; a spec is plain text in UTF-8")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start)
        raise yaml_events.Unreadable(line, "is not UTF-8; save the file in that encoding") from None


def _secrets(value: Any, loc: Loc = ()) -> list[tuple[Loc, str]]:
    """Where `value` holds a secret. A title is YouTube's public text, so it may look like a key."""
    if isinstance(value, dict):
        return [hit for key, child in value.items() for hit in _secret_field(key, child, loc)]
    if isinstance(value, list):
        return [hit for n, child in enumerate(value) for hit in _secrets(child, (*loc, n))]
    if isinstance(value, str) and redact.looks_secret(value):
        return [(loc, "this looks like a key; secrets come from the environment, never from a spec")]
    return []


def _secret_field(key: str, value: Any, loc: Loc) -> list[tuple[Loc, str]]:
    if redact.is_secret_name(key):
        return [((*loc, key), f"`{key}` names a secret; secrets come from the environment, never from a spec")]
    return [] if key == "title" else _secrets(value, (*loc, key))
