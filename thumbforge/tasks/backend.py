"""doit's state database, as a cache that is always true: written through at once, rebuilt from the ledger.

doit's own backends write only when the process ends, so after SIGKILL every finished task would run again. Here a
record that is absent is made from what the ledger says, unless it was removed on purpose (a tombstone: `doit forget`,
or a failure). The file may be deleted, cut or filled with garbage at any time; it costs nothing.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

from thumbforge.tasks import session

# The last thing that doit sets for a success, and the only thing for `doit ignore`: the record is complete then.
_LAST = frozenset({"deps:", "ignore:"})
_ALL = "*"


class LedgerBackend:
    """The interface of doit.dependency.SqliteDB. Opens its file at the first use; never fails, at worst it forgets."""

    desc = "SQLite, written through at once, rebuilt from the run ledger"

    def __init__(self, name: str, codec: Any, *, module_name: str | None = None) -> None:
        self.name, self.codec = name, codec
        self._file: sqlite3.Connection | None = None
        self._records: dict[str, dict[str, Any] | None] | None = None

    def get(self, task_id: str, dependency: str) -> Any:
        record = self._record(task_id)
        return record.get(dependency) if record else None

    def set(self, task_id: str, dependency: str, value: Any) -> None:
        record = self._record(task_id) or {}
        record[dependency] = value
        self._load()[task_id] = record
        if dependency in _LAST:
            self._write(task_id, json.dumps(record))

    def in_(self, task_id: str) -> bool:
        return bool(self._record(task_id))

    def remove(self, task_id: str) -> None:
        """Also by doit where a task failed; a new take that failed or was refused leaves the old picture as it was."""
        if session.was_retaken(task_id):
            return
        self._load()[task_id] = None
        self._write(task_id, None)

    def remove_all(self) -> None:
        self._load().clear()
        self._load()[_ALL] = None
        self._execute("DELETE FROM doit")
        self._write(_ALL, None)

    def dump(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _record(self, task_id: str) -> dict[str, Any] | None:
        records = self._load()
        if task_id not in records:
            records[task_id] = None if _ALL in records else session.rebuilt_record(task_id)
        return records[task_id]

    def _load(self) -> dict[str, dict[str, Any] | None]:
        """All records, read once: one query is cheaper than one for each of thousands of tasks."""
        if self._records is None:
            self._records = {}
            with contextlib.suppress(sqlite3.Error, ValueError, OSError):
                self._records = self._read()
        return self._records

    def _read(self) -> dict[str, dict[str, Any] | None]:
        path = Path(self.name)
        if not path.is_file() or not path.stat().st_size:
            return {}
        quiet = not path.with_name(path.name + "-wal").exists()
        address = f"{path.absolute().as_uri()}?{'immutable=1' if quiet else 'mode=ro'}"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            rows = connection.execute("SELECT task_id, task_data FROM doit").fetchall()
        records = {task_id: json.loads(data) if data else None for task_id, data in rows}
        return {task_id: record for task_id, record in records.items() if record != {}}

    def _write(self, task_id: str, data: str | None) -> None:
        self._execute("INSERT OR REPLACE INTO doit (task_id, task_data) VALUES (?, ?)", (task_id, data))

    def _execute(self, sql: str, params: tuple[Any, ...] = ()) -> None:
        """A cache that cannot be written is no reason to fail: the ledger has the truth."""
        with contextlib.suppress(sqlite3.OperationalError, OSError):
            self._file = self._file or self._open()
            with self._file:
                self._file.execute(sql, params)

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:  # not a database: put aside, begin anew
            Path(self.name).replace(f"{self.name}.damaged")
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.name, timeout=10, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # losing the cache costs a look into the ledger
            connection.execute("CREATE TABLE IF NOT EXISTS doit (task_id TEXT PRIMARY KEY, task_data TEXT)")
        except BaseException:
            connection.close()
            raise
        return connection
