"""Leases: live, lapsed or of a process that is gone; and slots, which bound calls over all processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.project import wait_until
from thumbforge.settings import LONGEST_TTL_S
from thumbforge.store.database import Database
from thumbforge.store.leases import Slots, is_gone, is_live, new_owner, read_owner

SCRIPT = """
import sys, time
from pathlib import Path
from thumbforge.store.database import Database
from thumbforge.store.leases import Slots, new_owner

mode, path, log = sys.argv[1:]
owner = new_owner()
if mode == "owner":
    print(owner, flush=True)
    sys.stdin.read()
slots = Slots(Database.open(Path(path)), owner, 60)
if mode == "hold":
    print(slots.take("provider:x", 1, 1, time.sleep), flush=True)
    sys.stdin.read()
for _ in range(8):
    slot = slots.take("provider:x", 2, 2, time.sleep)
    with open(log, "a") as file:
        file.write("+\\n")
        file.flush()
        time.sleep(0.01)
        file.write("-\\n")
    slots.free("provider:x", slot)
"""


class Other:
    """Another process that uses the leases of the ledger at `path`."""

    def __init__(self, mode: str, path: Path = Path("-"), log: Path = Path("-")) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, mode, str(path), str(log)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def line(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def kill(self) -> None:
        """SIGKILL; the dead process is not waited for, as its parent may be busy."""
        self.process.kill()
        wait_until(lambda: os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT) is not None)

    def close(self) -> None:
        self.process.communicate("", timeout=30)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite3"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    with closing(Database.open(path)) as opened:
        yield opened


def no_pause(_: float) -> None:
    raise TimeoutError


def test_an_owner_is_this_process(database: Database) -> None:
    """Its own name is never gone, and two names of one process differ."""
    assert not is_gone(new_owner())
    assert new_owner() != new_owner()


def test_a_lease_is_live_until_it_expires() -> None:
    """Without an owner or an end there is none."""
    owner = new_owner()
    assert is_live(owner, 10.0, 9.9)
    assert not is_live(owner, 10.0, 10.0)
    assert not is_live(None, None, 0)
    assert not is_live(owner, None, 0)


def test_the_lease_of_a_killed_process_lapses_at_once() -> None:
    """kill -9 costs no waiting, whether somebody has waited for the dead process or not."""
    other = Other("owner")
    owner = other.line()
    assert is_live(owner, time.time() + 60, time.time())
    other.kill()
    assert is_gone(owner)  # a zombie
    other.close()
    assert is_gone(owner)
    assert not is_live(owner, time.time() + 60, time.time())


def test_a_reused_process_number_is_another_process() -> None:
    """An owner is its number and the time it started."""
    machine, pid, started, random = new_owner().rsplit(" ", 3)
    assert is_gone(f"{machine} {pid} {int(started or 1) - 1} {random}") == bool(started)


@pytest.mark.parametrize("owner", ["elsewhere/12345678/pid:[1] 1 2 abcd", "", "nonsense", "a b c d"])
def test_a_process_of_another_machine_is_never_known_to_be_gone(owner: str) -> None:
    """Of it only the end of the lease tells."""
    assert not is_gone(owner)
    assert is_live(owner, 10.0, 9.0)


def test_a_slot_is_held_until_it_is_freed(database: Database) -> None:
    """One of one is taken: the next has to wait, and gives up when its pause says so."""
    first, second = (Slots(database, new_owner(), 60) for _ in range(2))
    slot = first.take("provider:x", 1, 1, no_pause)
    with pytest.raises(TimeoutError):
        second.take("provider:x", 1, 1, no_pause)
    assert second.take("provider:y", 1, 1, no_pause) == 0
    first.free("provider:x", slot)
    assert second.take("provider:x", 1, 1, no_pause) == slot


def test_a_process_holds_at_most_what_it_may(database: Database) -> None:
    """`concurrency` is a limit of its own below that of the provider."""
    slots = Slots(database, new_owner(), 60)
    assert slots.take("provider:x", 3, 1, no_pause) == 0
    with pytest.raises(TimeoutError):
        slots.take("provider:x", 3, 1, no_pause)


def test_a_lapsed_slot_is_taken_and_a_renewed_one_is_not(database: Database) -> None:
    """The time to live counts from the last renewal."""
    now = [0.0]
    first, second = (Slots(database, new_owner(), 10, lambda: now[0]) for _ in range(2))
    first.take("provider:x", 1, 1, no_pause)
    now[0] = 9.0
    with database.write("beat") as connection:
        first.renew(connection)
    now[0] = 11.0
    with pytest.raises(TimeoutError):
        second.take("provider:x", 1, 1, no_pause)
    now[0] = 19.5
    assert second.take("provider:x", 1, 1, no_pause) == 0
    first.free("provider:x", 0)
    with pytest.raises(TimeoutError):
        Slots(database, new_owner(), 10, lambda: now[0]).take("provider:x", 1, 1, no_pause)


def test_a_lower_limit_counts_the_slots_that_are_held(database: Database) -> None:
    """Where the limit was lowered, live slots of any number fill it."""
    holder, other = (Slots(database, new_owner(), 60) for _ in range(2))
    slots = [holder.take("provider:x", 3, 3, no_pause) for _ in range(3)]
    assert slots == [0, 1, 2]
    holder.free("provider:x", 0)
    with pytest.raises(TimeoutError):
        other.take("provider:x", 2, 2, no_pause)
    holder.free("provider:x", 1)
    assert other.take("provider:x", 2, 2, no_pause) == 0


def test_threads_get_slots_in_the_order_they_asked(database: Database) -> None:
    """Nobody is overtaken within a process."""
    slots = Slots(database, new_owner(), 60)
    held = slots.take("provider:x", 1, 1, no_pause)
    order: list[int] = []
    pausing = [threading.Event() for _ in range(5)]

    def work(n: int) -> None:
        def pause(seconds: float) -> None:
            pausing[n].set()
            time.sleep(seconds)

        slot = slots.take("provider:x", 1, 1, pause)
        order.append(n)
        slots.free("provider:x", slot)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
    for thread, is_pausing in zip(threads, pausing, strict=True):
        thread.start()
        assert is_pausing.wait(10)
    slots.free("provider:x", held)
    for thread in threads:
        thread.join(10)
    assert order == [0, 1, 2, 3, 4]


def test_one_who_gives_up_is_out_of_the_queue(database: Database) -> None:
    """A cancelled wait does not block those behind it."""
    slots = Slots(database, new_owner(), 60)
    held = slots.take("provider:x", 1, 1, no_pause)
    with pytest.raises(TimeoutError):
        slots.take("provider:x", 1, 1, no_pause)
    slots.free("provider:x", held)
    assert slots.take("provider:x", 1, 1, no_pause) == held


def test_the_limit_holds_over_processes(path: Path, tmp_path: Path, database: Database) -> None:
    """Three processes that want two slots are never in more than two calls at once, and all come to their turn."""
    log = tmp_path / "log"
    others = [Other("work", path, log) for _ in range(3)]
    for other in others:
        other.close()
        assert other.process.returncode == 0
    inside = most = 0
    for line in log.read_text().split():
        inside += {"+": 1, "-": -1}[line]
        most = max(most, inside)
    assert log.read_text().count("+") == 24
    assert most <= 2  # on a busy machine they may never meet
    assert database.rows("SELECT * FROM lease") == []


def test_the_slot_of_a_killed_process_is_free_at_once(path: Path, database: Database) -> None:
    """Its lease would run for another minute; it is taken now."""
    other = Other("hold", path)
    assert other.line() == "0"
    slots = Slots(database, new_owner(), 60)
    with pytest.raises(TimeoutError):
        slots.take("provider:x", 1, 1, no_pause)
    other.kill()
    assert slots.take("provider:x", 1, 1, no_pause) == 0
    other.close()


# Clocks


def foreign(expires_in: float) -> bool:
    """Whether a lease of another machine that ends so much later than now is live."""
    return is_live("elsewhere/12345678/pid:[1] 1 2 abcd", 1000 + expires_in, 1000)


def test_an_end_that_no_lease_can_have_is_a_wrong_clock() -> None:
    """Up to the longest lease that can be set, and what clocks differ by, an end is believed."""
    assert foreign(1)
    assert foreign(LONGEST_TTL_S)
    assert not foreign(LONGEST_TTL_S + 120)
    assert not foreign(365 * 86400)
    assert not foreign(0)


@pytest.mark.parametrize("jump", [-2 * 86400, -60, 60, 2 * 86400])
def test_a_clock_that_jumps_robs_no_process_of_this_machine(jump: float) -> None:
    """Whoever is seen to run beats; one that is stopped has only its lease; one that is gone has none."""
    other = Other("owner")
    owner, now = other.line(), time.time()
    assert is_live(owner, now + 30, now + jump)
    os.kill(other.process.pid, signal.SIGSTOP)
    wait_until(lambda: Path(f"/proc/{other.process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    assert not is_live(owner, now - 1, now)
    assert is_live(owner, now + 30, now)
    os.kill(other.process.pid, signal.SIGCONT)
    other.kill()
    assert not is_live(owner, now + 30, now + jump)
    other.close()


def test_an_owner_is_told_by_its_process() -> None:
    """And by its machine, where that is another one."""
    assert str(read_owner(new_owner())) == f"process {os.getpid()}"
    assert str(read_owner("buildbox/deadbeef/pid:[1] 77 12345 aaaa0001")) == "process 77 on buildbox"
    assert read_owner("nonsense") is None
