"""The provider `antigravity`: Google's `agy` CLI, headless. docs/providers/antigravity.md has what was measured.

agy writes the picture into a directory of its own home, named by the conversation's id, and tells no path.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderError, ProviderTimeout
from thumbforge.pixels.kinds import media_type
from thumbforge.providers import process
from thumbforge.providers.antigravity.outcome import conversations, outcome, quota
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.health import TIMEOUT_S, Auth, Health
from thumbforge.providers.params import Choice, Flag, Param, Text, checked
from thumbforge.providers.pictures import prepared
from thumbforge.providers.prompts import whole_prompt
from thumbforge.web.answers import at, count_at, list_at, parsed, quoted, text_at

GRACE_S = 30.0
"""agy has its own time, `--print-timeout`; what outlives it by this much is stopped."""
STDOUT_BYTES = 16 * 1024 * 1024
OLDEST = (1, 1, 8)
SENDS_REFERENCE = ((1, 2, 14), (1, 3))
"""From and below which versions a reference is known to reach the image model; others describe it in words."""
TASK = (
    "Call your image generation tool exactly once and do nothing else: no other tool, no file, no answer in words."
    " Make one widescreen picture with the aspect ratio 16:9, without any text or letters in it."
)
PARAMS: dict[str, Param] = {
    "binary": Text("agy", wanted="the name or path of the program"),
    "model": Text("", r"[A-Za-z0-9][\w .:/()-]{0,99}|", "a name that `agy models` lists"),
    "effort": Choice("", ("", "low", "medium", "high")),
    "reference": Choice("send", ("send", "ignore")),
    "skip_permissions": Flag(False),
}


@dataclass(eq=False, slots=True)
class _Running:
    """A call in flight."""

    is_alone: bool


class AntigravityProvider:
    """One new conversation per picture. Each call takes the user's own subscription quota, so one runs at a time
    unless the profile raises `max_concurrency`."""

    key = "antigravity"

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.own = checked(self.key, PARAMS, params)
        reads = {"prompt", "negative_prompt"} | ({"reference"} if self.own["reference"] == "send" else set())
        self.capabilities = Capabilities(reads=frozenset(reads), max_concurrency=1, hard_limit=4)
        self._lock = threading.Lock()
        self._version: tuple[int, ...] | None = None
        self._late = 0
        self._running: list[_Running] = []

    def generate(self, request: Request, call: Call) -> Answer:
        """A call whose picture did not come in time, twice in a row, is preceded by a look at the quota."""
        call.cancel.check()
        version = self.version(call.cancel, call.scratch)
        if self._late >= 2:
            self._require_quota(call.cancel, call.scratch)
        try:
            answer = self._made(request, call, version)
        except ProviderTimeout:
            self._late += 1
            raise
        self._late = 0
        return answer

    def _made(self, request: Request, call: Call, version: tuple[int, ...]) -> Answer:
        work, refs = _fresh(call.scratch / "work"), _fresh(call.scratch / "refs")
        reference = self._reference(request, refs)
        argv = self._argv(_prompt(request, reference), work, refs, call.timeout_s)
        brain = Path.home() / ".gemini" / "antigravity-cli" / "brain"
        with self._counted() as count:
            before, began = frozenset(conversations(brain)), time.time()
            call.sent()
            ended = self._run(argv, work, call.scratch, call.cancel, call.timeout_s + GRACE_S)
            is_alone = count.is_alone
        taken, envelope = outcome(
            ended, brain, began, before=before if is_alone else None, is_old=(0,) < version < OLDEST
        )
        notes: dict[str, Any] = {"agy": ".".join(map(str, version)), "conversation": taken.conversation}
        if taken.pictures > 1:
            notes["pictures"] = taken.pictures
        sent = reference is not None and SENDS_REFERENCE[0] <= version < SENDS_REFERENCE[1]
        return Answer(
            taken.data, media_type(taken.data), tokens=count_at(envelope, "usage", "total_tokens"),
            reference_ignored=request.reference is not None and not sent, notes=notes,
        )  # fmt: skip

    @contextmanager
    def _counted(self) -> Iterator[_Running]:
        """A call among those that run at once: each knows whether it was alone all the time."""
        with self._lock:
            mine = _Running(not self._running)
            for other in self._running:
                other.is_alone = False
            self._running.append(mine)
        try:
            yield mine
        finally:
            with self._lock:
                self._running.remove(mine)

    def version(self, cancel: Cancel, scratch: Path) -> tuple[int, ...]:
        """agy's version, asked once and for free. ProviderSetup where there is no agy, (0,) where it tells none."""
        with self._lock:
            if self._version is None:
                told = self._run([self.own["binary"], "--version"], scratch, scratch, cancel, TIMEOUT_S)
                found = re.search(r"(\d+)\.(\d+)\.(\d+)", told.stdout)
                self._version = tuple(int(number) for number in found.groups()) if found else (0,)
            return self._version

    def auth_state(self) -> Auth:
        return "unknown"

    def check(self, cancel: Cancel) -> Health:
        """Version, and what is left of the quota by `/usage`; neither takes from it."""
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            version = self.version(cancel, scratch)
            if version < OLDEST:
                return Health("unknown", "agy is too old to be used headless", "update it: >= 1.1.8 is required")
            buckets = self._usage(cancel, scratch)
        if not buckets:
            return Health("unknown", "agy does not tell its quota", "run `agy` once and sign in")
        notes = [f"agy {'.'.join(map(str, version))}", *(f"{name}: {left:.0%} left" for name, left in buckets)]
        plugins = Path.home() / ".gemini" / "config" / "plugins"
        if plugins.is_dir() and any(plugins.iterdir()):
            notes.append("plugins are installed: agy takes them into every call, they cost tokens and can steer it")
        if all(left <= 0 for _, left in buckets):
            return Health("ok", "the quota is used up", "wait for its reset", tuple(notes))
        return Health("ok", notes=tuple(notes))

    def models(self, cancel: Cancel) -> tuple[str, ...]:
        with tempfile.TemporaryDirectory() as folder:
            scratch = Path(folder)
            told = self._run([self.own["binary"], "models"], scratch, scratch, cancel, TIMEOUT_S)
        if told.code != 0:
            raise ProviderError(f"{self.key}: agy models: exit {told.code}: {told.told()}")
        return tuple(quoted(line, limit=100) for line in told.stdout.splitlines() if line.strip())

    def _run(self, argv: list[str], cwd: Path, log: Path, cancel: Cancel, timeout_s: float) -> process.Finished:
        """agy needs the user's home and login, so it gets the whole environment but what is ours."""
        own = {name: value for name, value in os.environ.items() if not name.startswith("THUMBFORGE_")}
        return process.run(
            self.key, argv, cwd=cwd, env={**own, "AGY_CLI_DISABLE_AUTO_UPDATE": "true"}, log=log, cancel=cancel,
            timeout_s=timeout_s, keep=STDOUT_BYTES,
            hint="install the Antigravity CLI, or write its full path as `binary` in the profile",
        )  # fmt: skip

    def _argv(self, prompt: str, work: Path, refs: Path, timeout_s: float) -> list[str]:
        """-p takes the next argument whatever it is, so the prompt follows it at once."""
        argv = [self.own["binary"], "-p", prompt, "--output-format", "json", "--add-dir", str(work)]
        if any(refs.iterdir()):
            argv += ["--add-dir", str(refs)]
        argv += ["--print-timeout", f"{max(int(timeout_s), 1)}s"]
        for name in ("model", "effort"):
            argv += [f"--{name}", self.own[name]] if self.own[name] else []
        return [*argv, "--dangerously-skip-permissions"] if self.own["skip_permissions"] else argv

    def _reference(self, request: Request, refs: Path) -> Path | None:
        """A copy: the agent can open, and change, what it is shown."""
        if request.reference is None or self.own["reference"] == "ignore":
            return None
        sent = prepared(request.reference, 2048)
        copy = refs / sent.name
        copy.write_bytes(sent.data)
        return copy

    def _usage(self, cancel: Cancel, scratch: Path) -> list[tuple[str, float]]:
        """What is left of each quota, as shares; empty where agy does not tell."""
        argv = [self.own["binary"], "-p", "/usage", "--output-format", "json", "--print-timeout", f"{TIMEOUT_S:.0f}s"]
        document = parsed(self._run(argv, scratch, scratch, cancel, TIMEOUT_S).stdout.encode())
        found = []
        for group in list_at(document, "command", "data", "groups"):
            for n, bucket in enumerate(list_at(group, "buckets"), 1):
                left = at(bucket, "remaining_fraction")
                if isinstance(left, (int, float)) and not isinstance(left, bool):
                    name = text_at(bucket, "name") or text_at(group, "name") or f"quota {n}"
                    found.append((quoted(name, limit=60), float(left)))
        return found

    def _require_quota(self, cancel: Cancel, scratch: Path) -> None:
        """agy retries a full quota inside itself, where it looks like a time-out."""
        buckets = self._usage(cancel, scratch)
        if buckets and all(left <= 0 for _, left in buckets):
            raise quota("two calls in a row came to no end, and /usage says that nothing is left")


def _prompt(request: Request, reference: Path | None) -> str:
    prompt = f"{TASK}\n\nThe picture: {whole_prompt(request)}"
    if reference is None:
        return prompt
    how = "Pass this file to the image tool as the reference (ImagePaths), for its style and subject"
    return f"{prompt}\n\n{how}: {reference}"


def _fresh(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700)
    return path.absolute()
