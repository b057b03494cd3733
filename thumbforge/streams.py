"""Standard streams as they are found: closed, full, without a reader, in another encoding. The work goes on."""

from __future__ import annotations

import io
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

_STREAMS = (("stdin", os.O_RDONLY), ("stdout", os.O_WRONLY), ("stderr", os.O_WRONLY))


class _Kept(io.FileIO):
    """A file descriptor that takes what it can; what it cannot take is dropped, and the work goes on."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data) or 0
        except OSError:
            return len(memoryview(data).cast("B"))


def prepare() -> None:
    """Make stdout and stderr safe to write to, whatever they are; to be called before anything else, and again.

    A closed one leads nowhere, and its number is not given to the next file that is opened. Letters that the encoding
    lacks are replaced. Streams that somebody put in their place are only told to replace letters.
    """
    for number, (name, mode) in enumerate(_STREAMS):
        stream = getattr(sys, name)
        if stream is None:
            _fill(number, mode)
            kind = "r" if mode == os.O_RDONLY else "w"
            setattr(sys, name, Path(os.devnull).open(kind, encoding="utf-8"))  # noqa: SIM115 - as long as the process
        elif mode == os.O_WRONLY:
            _make_safe(name, stream)


def replace_letters() -> None:
    """The least that is done for a command of doit's own, which has taken its stream already."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


LOOKS = frozenset({"list", "info", "help", "dumpdb"})
"""doit's commands that only look."""


def end_with_the_reader() -> None:
    """For a command that only looks: where its reader has gone (`doit list | head`), it ends as other tools do."""
    with suppress(ValueError):  # only the main thread may say so
        if hasattr(signal, "SIGPIPE"):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def _fill(number: int, mode: int) -> None:
    """Let no ledger become the process's standard output."""
    try:
        os.fstat(number)
    except OSError:
        found = os.open(os.devnull, mode)
        if found != number:
            os.dup2(found, number)
            os.close(found)


def _make_safe(name: str, stream: Any) -> None:
    if stream is not getattr(sys, f"__{name}__") or not isinstance(stream, io.TextIOWrapper):
        with suppress(AttributeError, ValueError, OSError):
            stream.reconfigure(errors="replace")
        return
    with suppress(ValueError, OSError):
        stream.flush()
        kept = io.BufferedWriter(_Kept(stream.fileno(), "w", closefd=False))
        own = io.TextIOWrapper(kept, stream.encoding, "replace", newline=None, line_buffering=stream.line_buffering)
        setattr(sys, name, own)
