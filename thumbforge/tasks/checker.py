"""How doit sees whether a file dependency changed: by content, each file read at most once per process."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Any

from doit.dependency import FileChangedChecker

_ADDRESS = re.compile(r"[0-9a-f]{64}\.[a-z0-9]{2,5}")


class ContentChecker(FileChangedChecker):  # type: ignore[misc]
    """A state is a text. That of a file named after its content (a stored asset, a manifest) is its name; it is never
    read. That of any other file is the sha256 of its bytes: stock md5 reads a shared reference once per task."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, int, int, int], str] = {}

    def check_modified(self, file_path: str, file_stat: os.stat_result, state: Any) -> bool:
        return bool(self._state(file_path, file_stat) != state)

    def get_state(self, dep: str, current_state: Any) -> str | None:
        state = self._state(dep, None)
        return None if state == current_state else state

    def _state(self, file_path: str, stat: os.stat_result | None) -> str:
        name = os.path.basename(file_path)  # noqa: PTH119
        if _ADDRESS.fullmatch(name):
            return name
        stat = stat or os.stat(file_path)  # noqa: PTH116 - once per task and dependency
        key = (file_path, stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if key not in self._seen:
            self._seen[key] = hashlib.sha256(Path(file_path).read_bytes()).hexdigest()
        return self._seen[key]
