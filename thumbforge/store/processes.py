"""Processes of this machine as the system tells of them: whether one runs, and which holds the ledger's write lock."""

from __future__ import annotations

import contextlib
import os
import socket
from functools import cache
from pathlib import Path


@cache
def machine() -> str:
    """Host, boot and process namespace: within one of these a process id means the same process."""
    parts = [socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text()[:8])
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    return "/".join(parts)


_GONE = ("", "gone")


def look(pid: int) -> tuple[str, str]:
    """State and start (clock ticks since boot) of a process as /proc tells them, "" where the system does not tell;
    the start is "gone" where there is no such process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return _GONE if fields[0] in "ZX" else (fields[0], fields[19])  # a zombie is dead, only not yet waited for
    except ProcessLookupError:
        return _GONE
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return _GONE
    except OSError:
        return "", ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return _GONE
    except PermissionError:
        pass
    return "", ""


_WRITE_LOCK = 120
"""The byte of `-shm` that a writer locks while the database is in WAL mode (https://www.sqlite.org/walformat.html)."""


def holder_of(ledger: Path) -> str | None:
    """The process that writes, as `process 4711`, with `stopped` where it does not run; None where nobody can tell."""
    pid = _locking(ledger.with_name(f"{ledger.name}-shm"))
    if pid is None:
        return None
    return f"process {pid}, which is stopped" if look(pid)[0] in {"T", "t"} else f"process {pid}"


def cure_of(holder: str | None) -> str:
    if holder is None:
        return "another thumbforge is writing; run the command again"
    if "stopped" not in holder:
        return f"{holder} is writing; run the command again"
    pid = holder.split()[1].rstrip(",")
    return f"kill -CONT {pid} lets it go on, kill {pid} ends it; then run the command again"


def _locking(path: Path) -> int | None:
    """The process with a lock on the write lock's byte: `1: POSIX  ADVISORY  WRITE 4711 fe:00:2663885 120 120`."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        inode = str(path.stat().st_ino)
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            is_writer = words[1] == "POSIX" and words[3] == "WRITE" and words[5].rpartition(":")[2] == inode
            if is_writer and int(words[6]) <= _WRITE_LOCK and (words[7] == "EOF" or int(words[7]) >= _WRITE_LOCK):
                return int(words[4]) if int(words[4]) > 0 else None
    return None
