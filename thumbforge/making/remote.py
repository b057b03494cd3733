"""The part of a batch that a cluster's workers do: paint one picture, or finish one. They import this module.

It knows no project, no ledger and no store. Files come as bytes and are put into the worker's own folder under the
hash of their content, so that the hero is sent once however many pictures are painted from it.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from distributed import Queue, Worker, get_worker, secede
from distributed.worker import WORKER_ANY_RUNNING

from thumbforge import __version__, models
from thumbforge.cancel import Cancel
from thumbforge.cores import usable_cores
from thumbforge.durable import write_whole
from thumbforge.errors import Interrupted, ProviderError, ProviderSetup, ProviderTransient, ThumbforgeError
from thumbforge.imaging import libraries
from thumbforge.imaging.finalise import FINALISER_VERSION, Drawing, finalise
from thumbforge.imaging.rules import Report
from thumbforge.providers.base import Answer, Call, Request
from thumbforge.providers.registry import kept_provider
from thumbforge.providers.retry import answer_of

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout

WATCH_S = 0.5
_room = threading.BoundedSemaphore(usable_cores())
"""As in `executor.InThreads`: more pictures than cores are drawn no sooner, and each takes 20 MB."""
_DISK = "look at the disk of the workers' local directory"
MAX_SAID = 1_000_000
"""Bytes of each file that a provider's program left behind."""

Release = tuple[str, ...]
RELEASE: Release = (
    f"thumbforge {__version__}",
    f"finaliser {FINALISER_VERSION}",
    *(f"{name} {version}" for name, version in libraries.versions().items()),
)
"""What a worker must have in common with the batch: anything else draws other pixels under the same key."""


def differences(worker: Release, batch: Release) -> str:
    """What the two have not in common, as a sentence."""
    theirs = ", ".join(line for line in worker if line not in batch)
    return f"has {theirs}, this batch {', '.join(line for line in batch if line not in worker)}"


@dataclass(frozen=True, slots=True)
class Painting:
    """A call to make. `permit` is the name of the queue that its one permit is taken from."""

    release: Release
    permit: str
    profile: models.Profile
    request: Request
    timeout_s: float
    key: str
    attempt_id: str
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Painted:
    """An answer or an error, the texts that a program left in its scratch directory, by file name, and by whom."""

    answer: Answer | None = None
    error: ThumbforgeError | None = None
    said: Mapping[str, bytes] = field(default_factory=dict)
    worker: str = ""


@dataclass(frozen=True, slots=True)
class Lacking:
    """Nothing was begun: the worker with this address must be sent these files first, by their hashes."""

    worker: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finishing:
    """A drawing to make. `files` are the hashes of what it shares with others."""

    release: Release
    layout: AnyLayout
    drawing: Drawing
    output: models.Output
    files: tuple[str, ...]


def paint(job: Painting) -> Painted | Lacking:
    """Make the call, where its permit is still there. Where it is not, a worker has begun the call and died, or the
    batch has given it up: a call is never made twice unasked."""
    if job.release != RELEASE:
        return Painted(error=_other_release(job.release))
    worker, cancel, request = get_worker(), Cancel(), job.request
    try:
        folder = _folder(worker)
        places = {name: folder / name for name in request.files}
        if missing := tuple(name for name, path in places.items() if not path.is_file()):
            return Lacking(worker.address, missing)
        request = request.moved(places)
        with (
            TemporaryDirectory(prefix="call-", dir=folder, ignore_cleanup_errors=True) as scratch,
            _watched(worker, cancel),
        ):
            if not _take(job.permit):
                return Painted(error=lost())
            call = Call(cancel, job.timeout_s, job.key, job.attempt_id, Path(scratch), earlier=job.earlier)
            return replace(_called(job.profile, request, call), worker=worker.address)
    except OSError as error:
        return Painted(error=ProviderSetup(f"a worker cannot write: {error.strerror or error}", hint=_DISK))


def _called(profile: models.Profile, request: Request, call: Call) -> Painted:
    try:
        answer = answer_of(kept_provider(profile), request, call)
    except Interrupted:
        return Painted(error=lost())  # the batch is not there to hear it, or this worker is being stopped
    except ThumbforgeError as error:
        return Painted(error=_sendable(error), said=_said(call.scratch))
    return Painted(replace(answer, notes=dict(answer.notes)), said=_said(call.scratch))


def finish(job: Finishing, art: bytes, picture: bytes | None) -> tuple[bytes, Report] | Lacking:
    """The finished file and its report; what `finalise` raises. `picture` is the item's own, which is not kept."""
    if job.release != RELEASE:
        raise _other_release(job.release)
    worker = get_worker()
    folder = _folder(worker)
    places = {name: folder / name for name in job.files}
    if missing := tuple(name for name, path in places.items() if not path.is_file()):
        return Lacking(worker.address, missing)
    secede()  # a thread is for a call: the next one begins while this is drawn
    with _room, TemporaryDirectory(prefix="final-", dir=folder, ignore_cleanup_errors=True) as scratch:
        source, own, target = (Path(scratch, name) for name in ("art", "picture", "final"))
        source.write_bytes(art)
        if job.drawing.picture and picture is not None:
            own.write_bytes(picture)
            places[job.drawing.picture.sha256] = own
        report = finalise(source, job.layout, job.drawing.moved(places), job.output, target)
        return target.read_bytes(), report


def keep(data: bytes, dask_worker: Worker) -> None:
    """A file that many pictures need. It stays until this worker ends, and Dask deletes its local directory. Dask fills
    in the worker, which is not to be had otherwise outside of a task."""
    path = _folder(dask_worker) / sha256(data).hexdigest()
    write_whole(path, data)


def release() -> Release:
    """What this worker has, once it has loaded all that a picture needs: the first would wait for it otherwise."""
    from thumbforge.imaging import compose, encode, rules  # noqa: F401
    from thumbforge.pixels import picture  # noqa: F401

    return RELEASE


def lost() -> ProviderError:
    error = ProviderTransient("the worker that made the call died", hint="look into the worker's own log")
    error.unclear = True
    return error


# The worker's own


def _take(permit: str) -> bool:
    """Whether the permit was there. The scheduler has it, and gives it to one only. Where it cannot be asked, nobody
    knows who has it, and nobody calls."""
    try:
        queue = Queue(permit, maxsize=1)
        try:
            return bool(queue.get(batch=True))
        finally:
            queue.close()
    except OSError:
        return False


@contextmanager
def _watched(worker: Worker, cancel: Cancel) -> Iterator[None]:
    """Set `cancel` as soon as nobody wants the result any more: the batch is stopped or dead, or this worker ends.

    The scheduler takes a task back from its worker when the client that wanted it is gone. Dask lets the function run
    on all the same, so it looks for itself.
    """
    task, ended = worker.get_current_task(), threading.Event()

    def watch() -> None:
        while not ended.wait(WATCH_S):
            known = worker.state.tasks.get(task)
            if known is None or known.state != "executing" or worker.status not in WORKER_ANY_RUNNING:
                cancel.set()
                return

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _folder(worker: Worker) -> Path:
    folder = Path(worker.local_directory) / "thumbforge"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _said(scratch: Path) -> dict[str, bytes]:
    found: Sequence[Path] = [path for path in scratch.iterdir() if path.suffix in {".txt", ".log"} and path.is_file()]
    return {path.name: path.read_bytes()[:MAX_SAID] for path in found}


def _sendable(error: ThumbforgeError) -> ThumbforgeError:
    """The error, or where a plugin's own cannot travel, what of it decides what happens next."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    except Exception:  # noqa: BLE001 - whatever a plugin hangs on its error
        plain = ProviderError(str(error), hint=error.hint)
        for name in ("retryable", "once_more", "unclear", "meets_every_item"):
            setattr(plain, name, getattr(error, name, False))
        return plain
    return error


def _other_release(theirs: Release) -> ProviderError:
    return ProviderSetup(
        f"a worker {differences(RELEASE, theirs)}",
        hint="install the same versions on every worker and restart it",
    )
