"""A whole command in this process, so that a test does not pay for an interpreter: everything that a process has of
its own is set before, and is again as it was after.

A fault may kill, so a command that comes by one is run in a fork. A signal, an exit of the interpreter and whatever is
read when a module is imported need a process from its start.
"""

from __future__ import annotations

import contextvars
import gc
import importlib
import io
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import _lru_cache_wrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO
from unittest import mock

import doit.cmd_run
import doit.doit_cmd
import doit.loader
from doit.globals import Globals
from PIL import Image

from tests.drawn_once import drawn_once
from thumbforge import faults, log
from thumbforge.commands import main as script
from thumbforge.imaging.type import fonts
from thumbforge.tasks import session

FAULT = "THUMBFORGE_FAULT"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)


@dataclass(frozen=True)
class Told:
    """What a finished command told: its exit code and its two streams."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def problem(self) -> Any:
        """The one JSON object that a failed `--json` command leaves on stderr."""
        return json.loads(self.err)


def _doit() -> int:
    return int(doit.doit_cmd.DoitMain().run(sys.argv[1:]) or 0)


MAINS: Mapping[str, Callable[[], int]] = {"doit": _doit, "thumbforge": script.main}


def runs_here(environ: Mapping[str, str]) -> bool:
    """Whether a command with these variables can be had without a new interpreter."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if FAULT in environ and sys.platform != "linux":  # elsewhere not everything survives a fork
        return False
    return all(os.environ.get(name) == value for name, value in environ.items() if name.startswith("PYTHON"))


def forks_here(environ: Mapping[str, str]) -> bool:
    """Whether a process can begin as a copy of this one; elsewhere than on Linux not everything survives that."""
    return sys.platform == "linux" and all(
        os.environ.get(name) == value for name, value in environ.items() if name.startswith("PYTHON")
    )


def run_here(tool: str, words: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> Told:
    """The command line `tool words`, as a process would answer it that is started in `cwd` with `environ`."""
    with TemporaryFile() as out, TemporaryFile() as err:
        run = _forked if FAULT in environ else _run
        code = run(tool, words, cwd, environ, out, err)
        return Told(code, *(_text(stream) for stream in (out, err)))


def _forked(
    tool: str, words: Sequence[str], cwd: Path, environ: Mapping[str, str], out: BinaryIO, err: BinaryIO
) -> int:
    """A process that dies as the fault wants it, with the modules of this one. Its lease dies with it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which the fork does not have
        child = os.fork()
    if not child:
        code = 1
        try:
            with mock.patch.object(faults, "_fault", faults._armed(environ[FAULT])):
                code = _run(tool, words, cwd, environ, out, err)
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def started_here(tool: str, words: Sequence[str], cwd: Path, environ: Mapping[str, str]) -> subprocess.Popen[str]:
    """A process of its own that begins as a copy of this one, with all that is imported here. It is sent signals, runs
    beside others and may be killed as any other; but its interpreter is neither started nor ended, and SQLite takes
    what this process has open for its own."""

    def become() -> None:
        """Instead of the program that a child is to run: it never comes back from here."""
        code = 1
        try:
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            gc.enable()  # subprocess stops it for the fork
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            del subprocess.Popen.__del__  # the other processes of this test are not ours to miss
            faults._fault = faults._armed(environ.get(FAULT))
            with os.fdopen(1, "wb", closefd=False) as out, os.fdopen(2, "wb", closefd=False) as err:
                code = _run(tool, words, cwd, environ, out, err)
        finally:
            os._exit(code)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which the fork does not have
        return subprocess.Popen(
            [sys.executable], preexec_fn=become, cwd=cwd, text=True, encoding="utf-8",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip


def _run(tool: str, words: Sequence[str], cwd: Path, environ: Mapping[str, str], out: BinaryIO, err: BinaryIO) -> int:
    with ExitStack() as stack:
        for own in (_streams(out, err), _place(cwd, environ), _modules(), _handlers(), _state()):
            stack.enter_context(own)
        stack.enter_context(mock.patch.object(sys, "argv", [tool, *words]))
        return contextvars.Context().run(_ended, MAINS[tool])


def _ended(main: Callable[[], int]) -> int:
    """The exit code that the interpreter would give."""
    try:
        return main()
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        sys.stderr.write(f"{ended.code}\n")
    except Exception:
        traceback.print_exc()
    return 1


def _text(stream: BinaryIO) -> str:
    stream.seek(0)
    return stream.read().decode()


@contextmanager
def _streams(out: BinaryIO, err: BinaryIO) -> Iterator[None]:
    """Files, not terminals. doit takes one of them when it is imported."""
    nothing = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with (
        open(out.fileno(), "w", encoding="utf-8", closefd=False) as said,
        open(err.fileno(), "w", encoding="utf-8", closefd=False) as complained,
        mock.patch.multiple(sys, stdin=nothing, stdout=said, stderr=complained),
        mock.patch.dict(doit.cmd_run.opt_outfile, default=said),
    ):
        complained.reconfigure(write_through=True)
        yield


@contextmanager
def _place(cwd: Path, environ: Mapping[str, str]) -> Iterator[None]:
    before, mask = Path.cwd(), os.umask(0o022)
    os.umask(mask)
    try:
        os.chdir(cwd)
        with mock.patch.dict(os.environ, environ, clear=True):
            yield
    finally:
        os.chdir(before)
        os.umask(mask)


@contextmanager
def _modules() -> Iterator[None]:
    """A project's modules go with it, `dodo` above all, and nothing is compiled into its folder."""
    ours, known = [Path(entry).absolute() for entry in sys.path], set(sys.modules)
    importlib.invalidate_caches()
    with mock.patch.multiple(sys, path=sys.path.copy(), dont_write_bytecode=True):
        try:
            yield
        finally:
            for name in sys.modules.keys() - known:
                file = getattr(sys.modules[name], "__file__", None)
                if file and not any(Path(file).is_relative_to(folder) for folder in ours):
                    del sys.modules[name]


@contextmanager
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    threshold = gc.get_threshold()
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        for number, handler in before.items():
            signal.signal(number, handler)


def _forget() -> None:
    """Clear what is cached, above all what a file held before. Fonts stay, unless a user's are among them: they are
    dear to open, and the same for every command."""
    has_own = bool(fonts._OWN)
    fonts._OWN.clear()
    for name in [name for name in sys.modules if name.startswith("thumbforge.")]:
        if has_own or not name.startswith("thumbforge.imaging.type"):
            for value in vars(sys.modules[name]).values():
                if isinstance(value, _lru_cache_wrapper):
                    value.cache_clear()


@contextmanager
def _state() -> Iterator[None]:
    """What doit and thumbforge keep for the length of a process; a warning is an error."""
    _forget()
    with (
        mock.patch.object(log, "_sinks", log._Sinks()),
        mock.patch.object(session, "_current", None),
        mock.patch.object(Globals, "dep_manager", None),
        mock.patch.object(doit.doit_cmd, "_CMDLINE_VARS", None),
        mock.patch.object(doit.loader, "initial_workdir", None),
        mock.patch.object(doit.doit_cmd.DoitMain, "BIN_NAME", "doit"),
        drawn_once(),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)  # as thumbforge.pixels does
        yield
