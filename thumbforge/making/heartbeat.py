"""Keeps the leases of an executing run alive from a thread, and hears what other processes ask of it."""

from __future__ import annotations

import threading

from thumbforge import log
from thumbforge.cancel import Cancel
from thumbforge.errors import LedgerError
from thumbforge.store.leases import Slots
from thumbforge.store.ledger import Fence, Ledger


class Heartbeat:
    """Beats until `stop`. Cancels the run when its lease is lost (`lost`) or a cancel is asked for.

    A beat that fails because the ledger is locked is only logged: each write of the run checks its fence anyway. After
    a suspended laptop wakes up, the next beat prolongs a lapsed lease, unless somebody took the run over meanwhile.
    """

    def __init__(self, ledger: Ledger, fence: Fence, slots: Slots, beat_s: float, cancel: Cancel) -> None:
        self._ledger, self._fence, self._slots, self._beat_s, self._cancel = ledger, fence, slots, beat_s, cancel
        self.lost = False
        self.cancel_requested = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="thumbforge-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._beat_s):
            try:
                beat = self._ledger.beat([self._fence], self._slots.renew)[self._fence.run_id]
            except LedgerError as error:
                log.warning("a heartbeat failed", error=str(error))
                continue
            self.lost = not beat.held
            self.cancel_requested = self.cancel_requested or beat.cancel_requested
            if self.lost or self.cancel_requested or beat.pause_requested:
                self._cancel.set()
            if self.lost:
                return
