"""What a headless `agy` run has come to: the table of outcomes, in the order in which it must be read.

Most failures exit 0, and a time-out looks like success, so the picture is the only proof. The order is that of the
measurements in docs/providers/antigravity.md.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    ProviderAuth,
    ProviderError,
    ProviderRefused,
    ProviderSetup,
    ProviderTimeout,
    ProviderTransient,
)
from thumbforge.pixels.kinds import described, media_type
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.providers.process import Finished
from thumbforge.web.answers import at, parsed, quoted, text_at
from thumbforge.web.statuses import limited
from thumbforge.web.waits import said_wait

PROVIDER = "antigravity"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
_STAMP = re.compile(r"_(\d{13})\.[a-z]+$")
_LATE = re.compile(r"print timeout after[^\n]*turn in progress")
_QUOTA = re.compile(r"RESOURCE_EXHAUSTED|\b429\b|exhausted your capacity|quota|resets? in\b", re.IGNORECASE)
_PERMISSION = re.compile(r"\bpermission\b", re.IGNORECASE)
_REFUSED = re.compile(r"IMAGE_SAFETY|IMAGE_PROHIBITED_CONTENT|IMAGE_RECITATION")


@dataclass(frozen=True, slots=True)
class Taken:
    """A picture of the conversation. `pictures` is how many there were; the newest is taken."""

    data: bytes
    pictures: int
    conversation: str


def outcome(
    ended: Finished, brain: Path, began: float, *, before: Collection[str] | None = None, is_old: bool = False
) -> tuple[Taken, Any]:
    """The picture and the envelope; or the ProviderError that says what went wrong.

    `brain` is the directory of the conversations, `began` the Unix time at which the run began. `before` are the
    conversations that were there then, None where other calls ran meanwhile: a picture is ours without an envelope
    only where one conversation is new. `is_old`: this version is known to be too old.
    """
    envelope = parsed(ended.stdout.encode("utf-8", "replace"))
    if ended.code is None:
        return _stopped(envelope, brain, began), envelope
    if _LATE.search(ended.stderr):
        raise _timeout("it gave up within its own time")
    if ended.code == 0 and text_at(envelope, "status") == "SUCCESS":
        taken = _taken(envelope, brain, began)
        if taken:
            return taken, envelope
        raise _no_picture(envelope, ended)
    if ended.code == 0 and not isinstance(envelope, dict) and (taken := _unannounced(brain, began, before)):
        return taken, envelope
    raise _failed(envelope, ended, is_old)


def _unannounced(brain: Path, began: float, before: Collection[str] | None) -> Taken | None:
    """The picture of a run whose standard output was lost: the quota is spent, and the file is the proof."""
    new = [] if before is None else [name for name in conversations(brain) if name not in before]
    return _newest(brain, new[0], began) if len(new) == 1 else None


def conversations(brain: Path) -> list[str]:
    """The names of those that there are; none where the directory cannot be read."""
    try:
        return [path.name for path in brain.iterdir() if _ID.fullmatch(path.name)]
    except OSError:
        return []


def _stopped(envelope: Any, brain: Path, began: float) -> Taken:
    """It outlived its time; it may still have answered before (it does not always exit)."""
    taken = _taken(envelope, brain, began) if text_at(envelope, "status") == "SUCCESS" else None
    if taken is None:
        raise _timeout("it had to be stopped")
    return taken


def _timeout(how: str) -> ProviderTimeout:
    return ProviderTimeout(f"{PROVIDER}: no picture in time; {how}", hint="raise timeout_s in the profile")


def _no_picture(envelope: Any, ended: Finished) -> ProviderError:
    """SUCCESS and exit 0, and no picture where it should be."""
    response = text_at(envelope, "response")
    usage = at(envelope, "usage")
    used = isinstance(usage, dict) and any(usage.values())
    if not response and not used:
        return _timeout("it says SUCCESS, but nothing happened")
    if _QUOTA.search(response):
        return quota(response)
    if not response and (at(envelope, "denied_actions") or "no output produced" in ended.stderr):
        return _denied()
    words = response or json.dumps(at(envelope, "structured_output"))
    if found := _REFUSED.search(words):
        return ProviderRefused(f"{PROVIDER}: the picture is refused: {found[0]}", hint="change the item's prompt")
    tool = text_at(envelope, "structured_output", "error")
    return OutputMissing(
        f"{PROVIDER}: SUCCESS without a picture: {quoted(tool or response) or 'no words'}",
        hint="the model did not call its image tool, or the tool failed; try again or change the prompt",
    )


def _denied() -> OutputMissing:
    return OutputMissing(
        f"{PROVIDER}: a tool was denied a permission",
        hint="allow the image tool in agy's permission rules; the picture itself needs no permission",
    )


def _failed(envelope: Any, ended: Finished, is_old: bool) -> ProviderError:
    """Every other way to end."""
    status, words = text_at(envelope, "status"), text_at(envelope, "error")
    if status == "ERROR" and ended.code == 0 and _QUOTA.search(words):
        return quota(words)
    if "AGY_ERROR:" in ended.stderr:
        return _api_error(ended.stderr)
    told = f"{words} {ended.stderr}"
    if "invalid model selection" in told:
        return ProviderSetup(f"{PROVIDER}: {quoted(words or ended.stderr)}", hint="`agy models` lists what there is")
    if "authentication required" in f"{told} {ended.stdout}".lower():
        return ProviderAuth(f"{PROVIDER}: agy is not signed in", hint="run `agy` once and sign in")
    if "VALIDATION_REQUIRED" in f"{told} {ended.stdout}":
        return ProviderAuth(f"{PROVIDER}: the account must be verified", hint="run `agy` once and follow its link")
    if status in ("CANCELED", "INTERRUPTED"):
        return ProviderTransient(f"{PROVIDER}: the run was cancelled from outside ({status})")
    if ended.code == 2:
        return ProviderSetup(
            f"{PROVIDER}: agy does not understand our arguments: {quoted(ended.stderr)}",
            hint="this version of agy is too old or too new; 1.1.8 to 1.2.14 are known to work",
        )
    if isinstance(envelope, dict) and status:
        return ProviderError(f"{PROVIDER}: agy ended as {quoted(status)}: {quoted(words) or 'no words'}")
    if ended.code is not None and ended.code < 0:
        memory = " (memory?)" if ended.code == -9 else ""
        return ProviderError(
            f"{PROVIDER}: agy was killed by signal {-ended.code}{memory}",
            hint="look at the machine's free memory and its log, then run the same command",
        )
    if _PERMISSION.search(f"{ended.stderr}\n{ended.stdout}"):
        return _denied()
    return ProviderError(
        f"{PROVIDER}: exit {ended.code} and {_instead(ended.stdout)} instead of an answer",
        hint="agy >= 1.1.8 is required" if is_old else "run `agy -p hello --output-format json` by hand and look",
    )


def _instead(stdout: str) -> str:
    return described(stdout.encode()) if stdout.strip() else "nothing"


def _api_error(stderr: str) -> ProviderError:
    """The line `AGY_ERROR: {…}`, which comes with exit 3."""
    found = re.search(r"AGY_ERROR:\s*(\{.*\})", stderr)
    error = parsed(found[1].encode()) if found else None
    words = quoted(text_at(error, "short_error") or text_at(error, "status") or stderr)
    if at(error, "error_code") == 429 or text_at(error, "status") == "RESOURCE_EXHAUSTED":
        return quota(f"{words} {text_at(error, 'short_error')}")
    if text_at(error, "status") in ("UNAUTHENTICATED", "PERMISSION_DENIED") or "VALIDATION_REQUIRED" in stderr:
        return ProviderAuth(f"{PROVIDER}: {words}", hint="run `agy` once and sign in")
    kind = ProviderTransient if at(error, "retryable") is True else ProviderError
    return kind(f"{PROVIDER}: {words}")


def quota(words: str) -> ProviderError:
    """Rate limited where the reset is near or unknown; else a quota that is back at a known time."""
    return limited(f"{PROVIDER}: the quota is used up: {quoted(words)}", said_wait(words))


def _taken(envelope: Any, brain: Path, began: float) -> Taken | None:
    """The newest picture directly in the conversation's directory; links and sub-directories are not followed."""
    conversation = text_at(envelope, "conversation_id")
    if not _ID.fullmatch(conversation):
        return None
    return _newest(brain, conversation, began)


def _newest(brain: Path, conversation: str, began: float) -> Taken | None:
    found = _files(brain / conversation, began)
    if not found:
        return None
    data = _read(found[-1])
    if not media_type(data):
        error = OutputUnusable(f"{PROVIDER}: the picture is {described(data)}")
        error.retryable = error.once_more = True
        raise error
    return Taken(data, len(found), conversation)


def _files(folder: Path, began: float) -> list[Path]:
    """Regular picture files of this run, oldest first by the milliseconds in their name, else by their time."""
    try:
        if not stat.S_ISDIR(folder.lstat().st_mode):
            return []
        entries = [(path, path.lstat()) for path in folder.iterdir() if path.suffix.lower() in _SUFFIXES]
    except OSError:
        return []
    own = [(p, s) for p, s in entries if stat.S_ISREG(s.st_mode) and s.st_mtime >= began - 2]
    return [path for path, _ in sorted(own, key=lambda entry: (_stamp(*entry), entry[0].name))]


def _stamp(path: Path, found: os.stat_result) -> float:
    named = _STAMP.search(path.name)
    return int(named[1]) / 1000 if named else found.st_mtime


def _read(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(handle, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise OutputUnusable(f"{PROVIDER}: the picture cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise OutputUnusable(f"{PROVIDER}: the picture has more than {MAX_BYTES // 2**20} MB")
    return data
