"""Every error that thumbforge raises on purpose: a code, an exit status, a message and a hint.

    ThumbforgeError
    ├── UsageError                 2  the command line asks for something that cannot be
    │   ├── SpecError              2  YAML that does not say what it must; carries every problem at once
    │   │   └── LockDiffers        2  specs and lock file do not say the same of an item
    │   └── LimitReached           2  max_images or a similar ceiling, before anything was written
    ├── NotFound                   3  a playlist, hero, series, template, run … that does not exist
    ├── SourceError                1  playlist metadata could not be read
    │   ├── SourceAuth             1  the key is missing or refused, or the service is not enabled for it
    │   ├── SourceQuota            1  the day's quota is used up, until `resets_at`
    │   ├── SourcePrivate          1  a list that only its owner may read
    │   └── SourceNetwork          1  no answer, or none that is whole, after all tries
    ├── PictureError               1  bytes that are no picture we can use: what they are instead, or what is wrong
    ├── StoreError                 1  the asset store
    │   ├── AssetDamaged           1  bytes that are not what their name says
    │   ├── ExportBlocked          1  a picture's place in out/ is taken; the others are not met by it
    │   ├── LockUnmet              1  a picture that the lock file names cannot be had here as it is
    │   └── RemoteError            1  the shared store cannot be used now; the work goes on without it
    │       └── RemoteDenied       1  it refuses us: the keys in the environment
    ├── LedgerError                1  the run ledger: not a database, locked, read-only, full
    │   ├── LedgerTooNew           1  written by a newer thumbforge
    │   ├── ReplayDivergence       1  a redo does not agree with what is recorded
    │   └── LeaseLost              1  another process has taken the run over; write nothing more
    ├── ProviderError              4  a provider did not make a picture
    │   ├── ProviderTransient         try again soon                       (retryable)
    │   │   ├── ProviderTimeout       no answer in time; perhaps billed
    │   │   └── ProviderRateLimited   try again after `retry_after_s`
    │   ├── ProviderAuth              key missing or refused               (meets every item)
    │   ├── ProviderQuota             money or the day's quota is used up  (meets every item)
    │   ├── ProviderSetup             unknown model, missing node, account (meets every item)
    │   ├── ProviderRefused           the service refuses this content
    │   ├── ProviderBadRequest        the service does not understand the request
    │   ├── OutputMissing             "success" without a picture
    │   └── OutputUnusable            bytes that are no usable picture
    └── Interrupted              130  Ctrl-C or SIGTERM

Each class is a different *action* for whoever catches it. Messages are one line; `hint` says what to do next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum

from thumbforge.text import clean

SHOWN_PROBLEMS = 100
"""So many problems of specs are told at once; who mends them asks again."""


class Exit(IntEnum):
    """Exit statuses of every thumbforge command (section "Exit codes" of the README)."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    NOT_FOUND = 3
    NOTHING_COMPLETED = 4
    COMPLIANCE = 5
    PARTIAL = 6
    INTERRUPTED = 130


class ThumbforgeError(Exception):
    """Base of all errors meant for the user: `str(error)` is one line, `hint` may be empty."""

    code = "unexpected"
    exit_code = Exit.UNEXPECTED

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Callable[..., ThumbforgeError], tuple[object, ...]]:
        """All of it goes along to another process; an exception by itself would forget its keywords."""
        return _copied, (type(self), str(self), self.__dict__)


def _copied(cls: type[ThumbforgeError], text: str, own: dict[str, object]) -> ThumbforgeError:
    error = cls.__new__(cls, text)
    error.__dict__.update(own)
    return error


class UsageError(ThumbforgeError):
    code, exit_code = "usage", Exit.USAGE


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in one spec. `line` counts from 1; 0 means the file as a whole."""

    file: str
    line: int
    where: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.where}: {self.message}" if self.where else f"{place}: {self.message}"


class SpecError(UsageError):
    """All problems of all specs that were read, in file and line order; `more` were counted and not looked at."""

    code = "spec_invalid"

    def __init__(self, problems: Iterable[Problem], *, hint: str = "", more: int = 0) -> None:
        self.problems = tuple(sorted(problems, key=lambda p: (p.file, p.line, p.where)))
        self.more = more
        count = len(self.problems) + more
        head = str(self.problems[0]) if count == 1 else f"{count} problems in the specs"
        super().__init__(head, hint=hint)


class LockDiffers(SpecError):
    code = "lock_differs"


class LimitReached(UsageError):
    code = "limit_reached"


class NotFound(ThumbforgeError):
    code, exit_code = "not_found", Exit.NOT_FOUND


class SourceError(ThumbforgeError):
    code = "source_failed"


class SourceAuth(SourceError):
    code = "source_auth"


class SourceQuota(SourceError):
    """`resets_at` (Unix seconds) is when the quota comes back, None where that is not known."""

    code = "source_quota"

    def __init__(self, message: str, *, hint: str = "", resets_at: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.resets_at = resets_at


class SourcePrivate(SourceError):
    code = "source_private"


class SourceNetwork(SourceError):
    code = "source_network"


class PictureError(ThumbforgeError):
    code = "picture_unusable"


class StoreError(ThumbforgeError):
    code = "store_failed"


class AssetDamaged(StoreError):
    code = "asset_damaged"


class ExportBlocked(StoreError):
    code = "export_blocked"


class LockUnmet(StoreError):
    code = "lock_unmet"


class RemoteError(StoreError):
    code = "remote_failed"


class RemoteDenied(RemoteError):
    code = "remote_denied"


class LedgerError(ThumbforgeError):
    code = "ledger_failed"


class LedgerTooNew(LedgerError):
    code = "ledger_too_new"


class ReplayDivergence(LedgerError):
    code = "replay_divergence"


class LeaseLost(LedgerError):
    code = "lease_lost"


class ProviderError(ThumbforgeError):
    """A provider made no picture.

    `retryable`: the same request may succeed now; `once_more`: try it a single time. `unclear`: the call may have been
    billed although no answer came. `meets_every_item`: any other request would fail alike, so a run had better pause.
    The first three may be set on an instance too.
    """

    code, exit_code = "provider_failed", Exit.NOTHING_COMPLETED
    retryable = False
    once_more = False
    unclear = False
    meets_every_item = False


class ProviderTransient(ProviderError):
    code = "provider_transient"
    retryable = True


class ProviderTimeout(ProviderTransient):
    code = "provider_timeout"
    unclear = True


class ProviderRateLimited(ProviderTransient):
    """`retry_after_s` (seconds) is the wait that the service asked for, None when it named none."""

    code = "provider_rate_limited"

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class ProviderAuth(ProviderError):
    code = "provider_auth"
    meets_every_item = True


class ProviderQuota(ProviderError):
    """`resets_at` (Unix seconds) is when the quota comes back, None where that is not known or never happens.

    A known time ends the message, as the user's clock will show it: `; back at 2026-12-01 09:00 CET`.
    """

    code = "provider_quota"
    meets_every_item = True

    def __init__(self, message: str, *, hint: str = "", resets_at: float | None = None) -> None:
        super().__init__(message if resets_at is None else f"{message}{_back_at(resets_at)}", hint=hint)
        self.resets_at = resets_at


def _back_at(resets_at: float) -> str:
    """To the next full minute, so that nobody comes back seconds early; "" for a time that no calendar has."""
    with suppress(ValueError, OverflowError, OSError):
        return f"; back at {datetime.fromtimestamp(-(-resets_at // 60) * 60).astimezone():%Y-%m-%d %H:%M %Z}"
    return ""


class ProviderSetup(ProviderError):
    code = "provider_setup"
    meets_every_item = True


class ProviderRefused(ProviderError):
    code = "provider_refused"


class ProviderBadRequest(ProviderError):
    code = "provider_bad_request"


class OutputMissing(ProviderError):
    code = "output_missing"


class OutputUnusable(ProviderError):
    code = "output_unusable"


class Interrupted(ThumbforgeError):
    """`left_behind` is where a job may go on because it could not be stopped in time, "" where none does."""

    code, exit_code = "interrupted", Exit.INTERRUPTED
    left_behind = ""


def describe(error: ThumbforgeError) -> str:
    """`code: message`, each problem on a line of its own where there are several, then the hint. Whatever a spec or a
    service put into it, there is nothing in it that a terminal would obey, and no more than a screen or two."""
    lines = [f"{error.code}: {error.message}"]
    if isinstance(error, SpecError) and len(error.problems) > 1:
        lines += [f"  {problem}" for problem in error.problems[:SHOWN_PROBLEMS]]
        if (left := error.more + max(0, len(error.problems) - SHOWN_PROBLEMS)) > 0:
            lines.append(f"  and {left:,} more")
    if error.hint:
        lines.append(f"hint: {error.hint}")
    return clean("\n".join(lines))


def split_hint(text: str) -> tuple[str, str]:
    """What `describe` says of an error, taken apart: its line, and the hint, "" where there is none."""
    line, _, hint = text.partition("\nhint: ")
    return line, hint


def error_classes() -> tuple[type[ThumbforgeError], ...]:
    """Every error class, base first; the documentation test walks this."""
    found: list[type[ThumbforgeError]] = [ThumbforgeError]
    for cls in found:
        found.extend(cls.__subclasses__())
    return tuple(found)
