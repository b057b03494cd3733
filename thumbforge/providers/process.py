"""A child process for one call: no shell, nothing on stdin, a group of its own, and an end that is certain.

Its output goes to files, so no pipe can fill up, and a grandchild that holds one open delays nobody.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderBadRequest, ProviderError, ProviderSetup
from thumbforge.redact import redact
from thumbforge.web.answers import QUOTED, quoted

MAX_OUTPUT = 256 * 1024 * 1024
"""Bytes on stdout and stderr together, after which a child is stopped: it must not fill the disk."""
TAIL = 64 * 1024
"""Bytes of each that are kept."""
LOOK_S = 0.1
TERM_S = 0.3
"""Time that a group has between SIGTERM and SIGKILL; Ctrl-C is over within a second."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a child ended. `code` is None where we stopped it, negative after a signal; the texts are clean tails."""

    code: int | None
    stdout: str
    stderr: str

    def told(self) -> str:
        """Its last words, short, for a message."""
        words = self.stderr.strip() or self.stdout.strip()
        return quoted(words[-QUOTED:])


def run(
    provider: str,
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    log: Path,
    cancel: Cancel,
    timeout_s: float,
    hint: str,
    secrets: Sequence[str] = (),
    keep: int = TAIL,
) -> Finished:
    """Run it to its end, or until the time is over or the run is cancelled; its whole group is gone afterwards.

    Tails of `keep` bytes stay in `log`/stdout.txt and stderr.txt. Raises Interrupted; ProviderSetup where the program
    cannot be started at all, ProviderBadRequest where its arguments are too long.
    """
    out, err = log / "stdout.txt", log / "stderr.txt"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        child = _start(provider, argv, cwd, env, stdout.fileno(), stderr.fileno(), hint)
        try:
            code = _awaited(provider, child, (out, err), cancel, timeout_s)
        finally:
            stop_group(child)
    return Finished(code, _kept(out, keep, secrets), _kept(err, keep, secrets))


def _start(
    provider: str, argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdout: int, stderr: int, hint: str
) -> subprocess.Popen[bytes]:
    name = Path(argv[0]).name
    try:
        return subprocess.Popen(  # noqa: S603 - an argv list from the user's own profile
            list(argv), cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
            start_new_session=True, close_fds=True,
        )  # fmt: skip
    except FileNotFoundError as error:
        raise ProviderSetup(f"{provider}: there is no program {name}", hint=hint) from error
    except OSError as error:
        if error.errno == errno.E2BIG:
            raise ProviderBadRequest(
                f"{provider}: the prompt is too long for an argument",
                hint="shorten it, or give it by {prompt_file} where that can be",
            ) from error
        raise ProviderSetup(f"{provider}: {name} cannot be run: {error.strerror or error}", hint=hint) from error


def _awaited(
    provider: str, child: subprocess.Popen[bytes], files: tuple[Path, Path], cancel: Cancel, timeout_s: float
) -> int | None:
    ends = time.monotonic() + timeout_s
    while True:
        cancel.check()
        try:
            return child.wait(LOOK_S)
        except subprocess.TimeoutExpired:
            if time.monotonic() >= ends:
                return None
        if sum(path.stat().st_size for path in files) > MAX_OUTPUT:
            raise ProviderError(f"{provider}: it wrote more than {MAX_OUTPUT // 2**20} MB of messages and was stopped")


def stop_group(child: subprocess.Popen[bytes]) -> None:
    """End the child and all that it started: SIGTERM, then SIGKILL. No helper of one that ended by itself stays."""
    if child.poll() is None:
        _signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(TERM_S)
    _signal_group(child, getattr(signal, "SIGKILL", signal.SIGTERM))
    child.wait()


def _signal_group(child: subprocess.Popen[bytes], number: int) -> None:
    """The group outlives its leader while a grandchild is in it; where there is nobody left, all is well."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, number)
        elif child.poll() is None:
            child.send_signal(number)


def _kept(path: Path, keep: int, secrets: Sequence[str]) -> str:
    """The last `keep` bytes, decoded with replacement and without secrets; the file is cut to them."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - keep, 0))
        text = file.read(keep).decode("utf-8", "replace")
    text = str(redact(text, *secrets))
    path.write_text(text, encoding="utf-8")
    return text
