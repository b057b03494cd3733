"""Painting and finishing on a Dask cluster. Workers need thumbforge installed; they need no disk in common.

Dask itself runs a task again when its worker dies. For a call that may cost money that is our decision and not its:
each call has one permit (`remote.paint`), a lost call comes back as a failed one, and the retries of this process,
which count and limit them, make the next. docs/adr/0023-a-call-on-a-cluster-is-begun-once.md has the table.
"""

from __future__ import annotations

import logging
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import dask
from distributed import Client, Future, KilledWorker, Queue, Security
from distributed.versions import VersionMismatchWarning

from thumbforge import ids, log, models
from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, ProviderError, ProviderSetup, ThumbforgeError, UsageError
from thumbforge.imaging.finalise import Drawing
from thumbforge.imaging.rules import Report
from thumbforge.making import remote
from thumbforge.making.threads import InThreads, Painter
from thumbforge.providers.base import Answer, Call, Provider, Request
from thumbforge.providers.registry import load_provider
from thumbforge.text import one_line

if TYPE_CHECKING:
    from thumbforge.layers import AnyLayout
    from thumbforge.pixels.picture import PictureInfo

CONNECT_S = 5.0
POLL_S = 0.1
CLOSE_S = 5.0
GATHER_S = 300.0
"""For a picture of some MB on its way here: it is paid for, so a slow line is no reason to give it up."""
MOST_SENT = 20
"""Rounds of "this worker lacks a file": one for each worker that is new, and then it has it."""
LOOK_S = 2.0
DESERTED_S = 60.0
"""A cluster may restart its workers; one that has had none for so long needs somebody."""
_TLS = "set DASK_DISTRIBUTED__COMM__TLS__CA_FILE and …__TLS__CLIENT__CERT and …__CLIENT__KEY"
_FIRST = 10
"""Dask works on what has a higher priority first: a picture that is painted is finished before the next is begun."""


class Gone(Exception):
    """The cluster gives no result. `error` says it to whoever wanted a call."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(str(error))
        self.error = error


class OnCluster:
    """Raises UsageError where there is no scheduler at `address`, no worker, or one with another thumbforge."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._client = _connect(address)
        self._here = InThreads()
        self._has: dict[tuple[str, str], float] = {}
        self._sending = threading.Lock()
        self._looking = threading.Lock()
        self._looked = self._seen = time.monotonic()
        try:
            _check_workers(self._client, address)
        except BaseException:
            self.close()
            raise

    def painter(self, profile: models.Profile) -> Provider:
        return Painter(load_provider(profile), lambda request, call: self._answer(profile, request, call))

    def paint(self, profile: models.Profile, request: Request, call: Call) -> remote.Painted:
        """Have the call made; the same errors as a provider's `generate`."""
        try:
            permit = self._permit()
            try:
                files = request.files
                job = remote.Painting(
                    remote.RELEASE,
                    permit.name,
                    profile,
                    _sent(request),
                    call.timeout_s,
                    call.key,
                    call.attempt_id,
                    call.earlier,
                )
                painted: remote.Painted = self._result(remote.paint, job, files=files, cancel=call.cancel)
            finally:
                permit.close()
        except Gone as gone:
            raise gone.error from gone
        return painted

    def _answer(self, profile: models.Profile, request: Request, call: Call) -> Answer:
        painted = self.paint(profile, request, call)
        for name, text in painted.said.items():
            (call.scratch / Path(name).name).write_bytes(text)
        if painted.error:
            if painted.worker:
                log.info("a call failed on a worker", worker=painted.worker, error=painted.error.code)
            raise painted.error
        assert painted.answer is not None
        return painted.answer

    def inspect(self, data: bytes, width: int, height: int) -> tuple[PictureInfo, tuple[str, ...]]:
        return self._here.inspect(data, width, height)  # the bytes are here, to be staged before anything else

    def finalise(self, art: Path, layout: AnyLayout, drawing: Drawing, output: models.Output, target: Path) -> Report:
        """Drawn on a worker; in this process where the cluster gives nothing, because the art is paid for."""
        own = drawing.picture and _read(drawing.picture.sha256, drawing.picture.path)
        shared = {file.sha256: file.path for file in drawing.files if file is not drawing.picture}
        named = drawing.moved({file.sha256: Path(file.sha256) for file in drawing.files})
        job = remote.Finishing(remote.RELEASE, layout, named, output, tuple(shared))
        try:
            data, report = self._result(remote.finish, job, art.read_bytes(), own, files=shared, priority=_FIRST)
        except Gone:
            return self._here.finalise(art, layout, drawing, output, target)
        target.write_bytes(data)
        found: Report = report
        return found

    def close(self) -> None:
        self._client.close(timeout=CLOSE_S)

    def _permit(self) -> Queue:
        """What a worker takes out before it begins the call: there is one, so the call is begun once at most."""
        try:
            permit = Queue(f"thumbforge-{uuid.uuid4().hex}", client=self._client, maxsize=1)
            permit.put(True)
        except Exception as error:
            raise Gone(self._lost_scheduler(unclear=False)) from error
        return permit

    def _result(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        files: Mapping[str, Path],
        priority: int = 0,
        cancel: Cancel | None = None,
    ) -> Any:
        """What the function returns on a worker, and what it raises. Interrupted once `cancel` is set; Gone.

        Files are sent to the workers that say they lack them, and no task depends on one: Dask prefers a worker that
        has what a task depends on, and would give all calls to the first that got the hero."""
        for _ in range(MOST_SENT):
            asked = time.monotonic()
            found = self._returned(function, arguments, priority, cancel)
            if not isinstance(found, remote.Lacking):
                return found
            self._send(found, files, asked)
        told = f"the worker {found.worker} does not keep the files it is sent"
        raise Gone(ProviderSetup(told, hint="look into its log, and at the disk of its local directory"))

    def _returned(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], priority: int, cancel: Cancel | None
    ) -> Any:
        """However this ends, the task is released: a worker that is still at it sees that and stops."""
        key = f"{function.__name__}-{uuid.uuid4().hex}"
        future = None
        try:
            future = self._client.submit(function, *arguments, key=key, pure=False, priority=priority)
            self._wait_for(future, cancel)
            return future.result(timeout=GATHER_S)
        except (ThumbforgeError, Gone):
            raise
        except Exception as error:
            raise Gone(self._meaning(error)) from error
        finally:
            if future:
                future.release()

    def _send(self, lacking: remote.Lacking, files: Mapping[str, Path], asked: float) -> None:
        """Once to each worker, however many threads were told the same."""
        with self._sending:
            for sha256 in lacking.files:
                place = lacking.worker, sha256
                if self._has.get(place, 0.0) >= asked:
                    continue
                data = _read(sha256, files[sha256])
                try:
                    self._client.run(remote.keep, data, workers=[lacking.worker])
                except Exception as error:  # noqa: BLE001 - it may have died meanwhile; others are asked next
                    log.warning("a worker could not be sent a file", worker=lacking.worker, error=str(error))
                self._has[place] = time.monotonic()

    def _wait_for(self, future: Future, cancel: Cancel | None) -> None:
        ended = threading.Event()
        future.add_done_callback(lambda _: ended.set())
        while not ended.wait(POLL_S):
            if cancel and cancel.is_set():
                raise Interrupted("interrupted")
            if self._client.status != "running":
                raise Gone(self._lost_scheduler(unclear=True))
            self._look_for_workers()

    def _look_for_workers(self) -> None:
        """Raises Gone where there has been none for a minute: a task would wait for one for ever."""
        if time.monotonic() - self._looked < LOOK_S or not self._looking.acquire(blocking=False):
            return
        try:
            has_workers = bool(self._client.nthreads())
            self._looked = time.monotonic()
            if has_workers:
                self._seen = self._looked
        finally:
            self._looking.release()
        if self._looked - self._seen > DESERTED_S:
            raise Gone(_unclear(_no_worker(ProviderSetup, self._address)))

    def _meaning(self, error: Exception) -> ProviderError:
        """Of what Dask raised instead of a result. Nobody knows whether the call was made."""
        if isinstance(error, KilledWorker):
            return remote.lost()
        if isinstance(error, CancelledError) or self._client.status != "running":
            return self._lost_scheduler(unclear=True)
        return _unclear(
            ProviderError(f"the cluster did not make the call: {type(error).__name__}: {one_line(str(error))}")
        )

    def _lost_scheduler(self, *, unclear: bool) -> ProviderError:
        error = ProviderSetup(
            f"the Dask cluster at {self._address} is gone", hint="start it again, then go on with the run"
        )
        return _unclear(error) if unclear else error


def _sent(request: Request) -> Request:
    """No worker sees a path of this machine: files are named by their hash."""
    return request.moved({sha256: Path(sha256) for sha256 in request.files})


def _read(sha256: str, path: Path) -> bytes:
    data = path.read_bytes()
    if ids.sha256_hex(data) != sha256:
        raise UsageError(f"{path.name} changed while the batch ran", hint="run the command again")
    return data


def _unclear(error: ProviderError) -> ProviderError:
    error.unclear = True
    return error


E = TypeVar("E", bound=ThumbforgeError)


def _no_worker(cls: type[E], address: str) -> E:
    return cls(
        f"the Dask cluster at {address} has no worker", hint=f"dask worker {address} --nthreads 8, on each machine"
    )


def _connect(address: str) -> Client:
    for name in [name for name in logging.root.manager.loggerDict if name.startswith(("distributed", "tornado"))]:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters of it comes back as an error
    warnings.simplefilter("ignore", VersionMismatchWarning)
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GiB"})  # a hero, a font, and that is meant
    _check_certificates(address)
    try:
        return Client(address, timeout=CONNECT_S, set_as_default=False)
    except Exception as error:
        hint = "scheduler=tcp://host:8786, as `dask scheduler` prints it"
        raise UsageError(f"no Dask scheduler answers at {address}", hint=hint) from error


def _check_certificates(address: str) -> None:
    """Dask takes them from its own configuration, and says nothing that helps where they are not there."""
    try:
        has_context = bool(Security().get_connection_args("client").get("ssl_context"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the certificates for {address} cannot be used: {error}", hint=_TLS) from error
    if address.startswith(("tls:", "wss:")) and not has_context:
        raise UsageError(f"{address} needs certificates, and Dask's configuration names none", hint=_TLS)


def _check_workers(client: Client, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError as error:
        raise _no_worker(UsageError, address) from error
    try:
        found: dict[str, remote.Release] = client.run(remote.release)
    except Exception as error:
        hint = "install the same version of thumbforge on every worker and restart it"
        raise UsageError(f"a worker cannot load thumbforge: {type(error).__name__}: {error}", hint=hint) from error
    for worker, release in found.items():
        if release != remote.RELEASE:
            raise UsageError(
                f"the worker {worker} {remote.differences(release, remote.RELEASE)}",
                hint="install the same versions on every worker and restart it",
            )
