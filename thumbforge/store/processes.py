"""Processes of this machine as the system tells of them."""

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
