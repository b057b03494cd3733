"""Logs: one line a happening on stderr and, complete, as JSON lines in `.thumbforge/logs/`.

structlog is imported at the first event, not before: most commands log nothing (0.1 s of start-up saved).
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from thumbforge.durable import append_line
from thumbforge.redact import redact
from thumbforge.spoken import as_typed
from thumbforge.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}

_bound: ContextVar[Mapping[str, Any]] = ContextVar("thumbforge_log", default=MappingProxyType({}))
_lock = threading.Lock()
_IDS = frozenset({"run", "iteration", "attempt"})  # their first eight digits are enough for a person


def _to_stderr(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@dataclass
class _Sinks:
    """Where lines go. `write` is swapped while a progress display is drawn, so that no line tears it; `asked` is the
    level that the command line named, which goes before any other."""

    level: int = LEVELS["warning"]
    asked: str = ""
    file: Path | None = None
    write: Callable[[str], None] = _to_stderr
    logger: Any = None


_sinks = _Sinks()


def configure(*, level: str, file: Path | None) -> None:
    """Lines of `level` and above go to stderr; all go to `file`, when there is one."""
    _sinks.level, _sinks.file, _sinks.logger = LEVELS[_sinks.asked or level], file, None


def insist(level: str) -> None:
    """This level for stderr, whatever `configure` is told before or after."""
    _sinks.level, _sinks.asked = LEVELS[level], level


def is_quiet() -> bool:
    """Whether only errors are wanted on stderr: then nobody draws a bar there or tells a price."""
    return _sinks.level >= LEVELS["error"]


@contextmanager
def through(write: Callable[[str], None]) -> Iterator[None]:
    """While this lasts, lines for stderr go to `write` instead."""
    before = _sinks.write
    _sinks.write = write
    try:
        yield
    finally:
        _sinks.write = before


@contextmanager
def bound(**fields: Any) -> Iterator[None]:
    """Adds `fields` (run, iteration, provider …) to every line of this thread while it lasts."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def debug(event: str, **fields: Any) -> None:
    _log("debug", event, fields)


def info(event: str, **fields: Any) -> None:
    _log("info", event, fields)


def warning(event: str, **fields: Any) -> None:
    _log("warning", event, fields)


def error(event: str, **fields: Any) -> None:
    _log("error", event, fields)


def _log(level: str, event: str, fields: Mapping[str, Any]) -> None:
    if LEVELS[level] < _sinks.level and _sinks.file is None:
        return
    with _lock:
        logger = _sinks.logger = _sinks.logger or _make_logger()
    getattr(logger, level)(event, **{**_bound.get(), **fields})


def _make_logger() -> Any:
    import structlog

    return structlog.wrap_logger(
        _Writer(_sinks.file),
        wrapper_class=structlog.BoundLogger,
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            lambda _logger, _method, event: redact(dict(event)),
            _both(structlog.processors.JSONRenderer(ensure_ascii=False, default=str)),
        ],
        cache_logger_on_first_use=True,
    )


def _both(to_json: Callable[..., Any]) -> Callable[..., Any]:
    def render(
        logger: Any, method: str, event: MutableMapping[str, Any]
    ) -> tuple[tuple[str, str, str], dict[str, Any]]:
        return (event["level"], _plain(event), str(to_json(logger, method, dict(event)))), {}

    return render


def _plain(event: Mapping[str, Any]) -> str:
    """`12:04:31 warning provider call failed  part=3 try=1/3`, one line whatever the values hold."""
    shown = {k: v for k, v in event.items() if k not in {"event", "level", "timestamp", "exception"} and v is not None}
    pairs = " ".join(f"{key}={_word(str(value)[:8] if key in _IDS else value)}" for key, value in shown.items())
    line = f"{event['timestamp'][11:19]} {event['level']} {event['event']}"
    return as_typed(printable(f"{line}  {pairs}" if pairs else line))


def _word(value: Any) -> str:
    text = printable(str(value))
    return f'"{text}"' if " " in text or not text else text


class _Writer:
    """The last stop of a line: stderr if its level is high enough, and the file. A full disk loses log lines only."""

    def __init__(self, file: Path | None) -> None:
        self._file = file

    def _write(self, level: str, plain: str, as_json: str) -> None:
        with _lock:
            if LEVELS[level] >= _sinks.level:
                _sinks.write(plain)
            if self._file is None:
                return
            try:
                self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                append_line(self._file, as_json)
            except OSError:
                self._file = None

    debug = info = warning = error = _write
