"""Where pictures are painted and finished: in the threads of this process, in processes beside it, or on a cluster.

An executor gets a request or a drawing and gives a picture back. Ledger, leases, provider slots and the store stay with
the one process that runs the batch, and so do the order of its durable steps and every retry: a picture made elsewhere
is kept exactly as one that was made here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thumbforge import install, log
from thumbforge.cores import usable_cores
from thumbforge.errors import UsageError
from thumbforge.making.threads import Executor, InThreads

if TYPE_CHECKING:
    from thumbforge.settings import Settings

WORTH_PROCESSES = 24
"""Pictures for each core from which on processes are started: two of them draw an eighth faster than two threads, more
of them more than that, and they begin half a second later."""


EXECUTORS = ("local", "dask")
_ADDRESS = re.compile(r"((tcp|tls|ws|wss)://)?[^\s/]+:[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Placement:
    """What was asked for. `processes` is None where the number of pictures decides; `scheduler` is the address of a
    Dask cluster that does it all."""

    processes: int | None = None
    scheduler: str | None = None

    @classmethod
    def of(cls, settings: Settings, executor: str | None = None, scheduler: str | None = None) -> Placement:
        """From the settings, where the command line names nothing else. UsageError where the two do not fit."""
        kind = executor or ("dask" if scheduler else settings.text("batch.executor"))
        address = scheduler or settings.text("batch.scheduler")
        if kind not in EXECUTORS:
            raise UsageError(f"executor={kind}: expected {' or '.join(EXECUTORS)}")
        if kind == "dask" and not address:
            raise UsageError("executor=dask needs the cluster's address", hint="scheduler=tcp://host:8786")
        if kind == "local" and scheduler:
            raise UsageError("scheduler=… is for executor=dask", hint="leave out executor=local")
        if kind == "dask" and not _ADDRESS.fullmatch(address):
            raise UsageError(f"scheduler={address} is no address", hint="scheduler=tcp://host:8786")
        asked = settings.text("batch.processes")
        return cls(None if asked == "auto" else int(asked), address if kind == "dask" else None)

    def processes_for(self, pictures: int) -> int:
        """Processes of this machine for a run that has so many pictures to draw."""
        if self.scheduler:
            return 0
        if self.processes is not None:
            return self.processes
        cores = usable_cores()
        return cores if cores > 1 and pictures >= cores * WORTH_PROCESSES else 0

    def executor(self, pictures: int) -> Executor:
        """UsageError where a cluster was asked for and is not there."""
        if self.scheduler:
            return _cluster(self.scheduler)
        processes = self.processes_for(pictures)
        return _processes(processes) if processes else InThreads()


def _processes(count: int) -> Executor:
    from thumbforge.making.pool import InProcesses

    try:
        return InProcesses(count)
    except (OSError, NotImplementedError) as error:  # no semaphores, no more processes: some containers have neither
        log.warning("no processes can be started, so threads draw", error=str(error))
        return InThreads()


def _cluster(scheduler: str) -> Executor:
    try:
        from thumbforge.making.cluster import OnCluster
    except ImportError as error:
        hint = f"{install.command('dask')}, here and on every worker"
        raise UsageError("executor=dask needs Dask's package distributed", hint=hint) from error
    return OnCluster(scheduler)
