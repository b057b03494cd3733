"""Settings: a default, `thumbforge.toml` in the project directory, then the environment; each value knows its origin.

`batch.concurrency` is `[batch] concurrency = 4` in the file and `THUMBFORGE_BATCH__CONCURRENCY` in the environment.
`THUMBFORGE_CONFIG` names another file to read instead (`--config` on the command line).
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from thumbforge.durable import read_regular
from thumbforge.errors import NotFound, Problem, SpecError, UsageError
from thumbforge.text import nearest

FILE = "thumbforge.toml"
MAX_FILE_BYTES = 1_000_000
PREFIX = "THUMBFORGE_"
FILE_VARIABLE = "THUMBFORGE_CONFIG"


@dataclass(frozen=True, slots=True)
class Setting:
    """`read` turns text into the value or raises ValueError; `default` is a text too, so all origins read alike."""

    default: str
    read: Callable[[str], float | int | str]
    about: str


def _number(kind: type[int] | type[float], low: float, high: float) -> Callable[[str], float | int]:
    def read(text: str) -> float | int:
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(f"expected {'a whole number' if kind is int else 'a number'}") from None
        if not low <= value <= high:
            raise ValueError(f"expected {_plain(low)} to {_plain(high)}")
        return value

    return read


def _plain(number: float) -> str:
    """Without an exponent."""
    return f"{number:,.0f}" if number >= 10_000 else f"{number:g}"


def _auto_or(low: int, high: int) -> Callable[[str], str]:
    number = _number(int, low, high)

    def read(text: str) -> str:
        return text if text == "auto" else str(number(text))

    return read


def _money(text: str) -> str:
    if text and not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise ValueError("expected an amount such as 2.50")
    return text


def _choice(*names: str) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"expected one of {', '.join(names)}")
        return text

    return read


def _language(text: str) -> str:
    if text and not re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", text):
        raise ValueError("expected a language such as en, de or pt-BR")
    return text


_SHARED = ("s3", "gs", "az", "file")


def _place(text: str) -> str:
    """An address without anything that is nobody's business to write into a file: a name, a password, a signature."""
    scheme, mark, rest = text.partition("://")
    if not mark:
        return text
    if scheme not in _SHARED:
        raise ValueError(f"expected {', '.join(f'{known}://…' for known in _SHARED)}, or a folder")
    if re.search(r"[@?#\s]", rest):
        raise ValueError("keys, questions and spaces do not belong into an address: keys come from the environment")
    if not rest.strip("/") or (scheme == "file") != rest.startswith("/"):
        raise ValueError("expected file:///folder" if scheme == "file" else f"expected {scheme}://bucket/prefix")
    return text


LONGEST_TTL_S = 3600
"""No lease lasts longer, whatever a machine is set to."""

SETTINGS: Mapping[str, Setting] = {
    "batch.concurrency": Setting("4", _number(int, 1, 64), "items made at once where -n is not given"),
    "batch.executor": Setting("local", _choice("local", "dask"), "where pictures are made: here, or on a Dask cluster"),
    "batch.scheduler": Setting("", str, "address of the Dask cluster's scheduler, such as tcp://host:8786"),
    "batch.processes": Setting(
        "auto", _auto_or(0, 64), "processes that draw; auto: one for each core where there is much to draw, else none"
    ),
    "batch.max_retries": Setting("2", _number(int, 0, 100), "tries of an item across invocations"),
    "batch.max_cost": Setting("", _money, "the most that the calls of one run may cost, by the profile's price"),
    "budget.day": Setting("", _money, "the most that the calls of all runs of one day may cost, by local time"),
    "batch.max_lost": Setting(
        "3", _number(int, 1, 1_000_000), "times a process may die in one item before it is given up"
    ),
    "batch.stale_after_s": Setting("900", _number(float, 0, 1e9), "age of a running item without any lease, seconds"),
    "fetch.language": Setting("", _language, "language that titles are fetched in, where they are translated"),
    "retry.base_s": Setting("2", _number(float, 0, 60), "first back-off of a provider call, seconds; 0 waits never"),
    "lease.ttl_s": Setting("30", _number(float, 0.2, LONGEST_TTL_S), "life of a lease without a heartbeat, seconds"),
    "lease.beat_s": Setting("10", _number(float, 0.05, 1200), "time between heartbeats, seconds"),
    "repair.grace_s": Setting(
        "3600", _number(float, 0, 1e9), "age of an unreferenced file before repair removes it, seconds"
    ),
    "output.width": Setting("1920", _number(int, 1280, 7680), "pixels"),
    "output.height": Setting("1080", _number(int, 720, 4320), "pixels; 16:9 with the width"),
    "output.format": Setting("jpeg", _choice("jpeg", "png"), "file format of finals"),
    "output.max_bytes": Setting("2000000", _number(int, 20_000, 50_000_000), "size that the encoder stays under"),
    "output.emoji_font": Setting("", str, "a colour emoji font (COLR) to draw emoji with; a path in the project"),
    "series.template": Setting("series-parts", str, "template of a series, or of a hero run, that names none"),
    "series.provider": Setting("local", str, "provider profile of a series, or of a hero run, that names none"),
    "store.remote": Setting(
        "", _place, "a store that several machines share: s3://bucket/prefix, gs://…, az://…, file:///…, or a folder"
    ),
    "store.mode": Setting(
        "read", _choice("read", "write", "off"), "what is done there; write counts in the environment only"
    ),
    "store.required": Setting(
        "no", _choice("yes", "no"), "yes: while it cannot be asked nothing is paid for; a batch stops instead"
    ),
    "store.timeout_s": Setting("30", _number(float, 0.1, 3600), "longest wait for one answer of it, seconds"),
    "log.level": Setting("auto", _choice("auto", "debug", "info", "warning", "error"), "of the lines on stderr"),
}


class Settings:
    """Values by dotted name. `origin(name)` is "default", the file's name, or the environment variable's."""

    def __init__(self, values: Mapping[str, float | int | str], origins: Mapping[str, str]) -> None:
        self._values, self._origins = values, origins

    def integer(self, name: str) -> int:
        value = self._values[name]
        assert isinstance(value, int)
        return value

    def number(self, name: str) -> float:
        return float(self._values[name])

    def text(self, name: str) -> str:
        return str(self._values[name])

    def origin(self, name: str) -> str:
        return self._origins[name]


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + name.upper().replace(".", "__")


def file_of(root: Path, environ: Mapping[str, str] = os.environ) -> Path:
    """The settings file of the project at `root`: its own, which may be missing, or the one that was named instead.
    Raises NotFound where that one is no file."""
    named = environ.get(FILE_VARIABLE)
    if not named:
        return root / FILE
    path = Path(named).absolute()
    if not path.is_file():
        raise NotFound(f"there is no settings file {named}", hint="--config and THUMBFORGE_CONFIG name a TOML file")
    return path


def load(root: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """All settings of the project at `root`. Raises SpecError or UsageError for an unknown name or a bad value."""
    values = {name: setting.read(setting.default) for name, setting in SETTINGS.items()}
    origins = dict.fromkeys(SETTINGS, "default")
    for name, text, origin in (*_from_file(file_of(root, environ)), *_from_environment(environ)):
        try:
            values[name] = SETTINGS[name].read(text)
        except ValueError as error:
            raise UsageError(f"{origin}: {name} is {text!r}: {error}") from None
        origins[name] = origin
    if values["output.width"] * 9 != values["output.height"] * 16:
        raise UsageError(
            f"output.width x output.height is {values['output.width']}x{values['output.height']}, not 16:9"
        )
    if values["store.mode"] == "write" and origins["store.mode"] != variable("store.mode"):
        raise UsageError(
            f"{origins['store.mode']}: store.mode is write: a project's file does not decide what leaves a machine",
            hint=f"{variable('store.mode')}=write in the environment of the machines that push",
        )
    beat, ttl = values["lease.beat_s"], values["lease.ttl_s"]
    if float(beat) >= float(ttl):
        raise UsageError(
            f"lease.beat_s {beat} is not below lease.ttl_s {ttl}: leases would lapse",
            hint="set lease.ttl_s to three times lease.beat_s",
        )
    return Settings(values, origins)


def _from_environment(environ: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """Only names with a double underscore are settings; THUMBFORGE_HOME and API keys are not."""
    names = {variable(name): name for name in SETTINGS}
    found = []
    for var in sorted(environ):
        if not var.startswith(PREFIX) or "__" not in var:
            continue
        if var not in names:
            raise UsageError(f"{var} is no setting", hint=_nearest(var, names))
        found.append((names[var], environ[var], var))
    return found


def _from_file(path: Path) -> list[tuple[str, str, str]]:
    try:
        data = tomllib.loads(read_regular(path, MAX_FILE_BYTES).decode())
    except FileNotFoundError:
        return []
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise SpecError([Problem(path.name, 0, "", f"cannot be read: {error}")]) from None
    found, problems = [], []
    for table, entries in data.items():
        if not isinstance(entries, dict):
            problems.append(Problem(path.name, 0, table, "expected a table such as [batch]"))
            continue
        for key, value in entries.items():
            name = f"{table}.{key}"
            if name in SETTINGS:
                found.append((name, str(value), path.name))
            else:
                problems.append(Problem(path.name, 0, name, f"unknown setting. {_nearest(name, SETTINGS)}"))
    if problems:
        raise SpecError(problems)
    return found


def _nearest(word: str, names: Mapping[str, object]) -> str:
    near = nearest(word, names)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"
