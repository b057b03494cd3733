"""The SQLite file under the ledger: opening, migrating, transactions, and one translation of its errors."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from thumbforge import faults
from thumbforge.errors import LedgerError, LedgerTooNew, NotFound, ReplayDivergence
from thumbforge.store.processes import cure_of, holder_of
from thumbforge.text import one_line

SCHEMA_VERSION = 4
BUSY_S = 20.0
_HERE = Path(__file__).parent

# FULL, not NORMAL: in WAL mode NORMAL may lose the last commits at a power cut, and a lost commit after a paid call
# is a second payment (https://www.sqlite.org/pragma.html#pragma_synchronous).
_PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON")

Params = Sequence[Any] | Mapping[str, Any]


@contextmanager
def ledger_errors(path: Path) -> Iterator[None]:
    """Every sqlite3 error leaves as a LedgerError that says what to do."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        message, hint = _explain(path, error)
        raise LedgerError(message, hint=hint) from error


def is_damage(error: LedgerError) -> bool:
    """Whether the file itself is what is wrong, and not who may read it or when."""
    text = str(error.__cause__)
    return isinstance(error.__cause__, sqlite3.DatabaseError) and ("not a database" in text or "malformed" in text)


def _explain(path: Path, error: Exception) -> tuple[str, str]:
    text = str(error)
    if "locked" in text or "busy" in text:
        holder = holder_of(path)
        return f"the ledger stayed locked for {BUSY_S:.0f} s{f' by {holder}' if holder else ''}", cure_of(holder)
    if isinstance(error, PermissionError):
        return f"{path.parent.name}/{path.name}: {error.strerror}", f"{path.parent} belongs to another user, or is shut"
    if "not a database" in text or "malformed" in text:
        anew = "thumbforge repair --rebuild --apply makes a new one from what the store tells"
        return f"{path.name} is damaged: {text}", f"put {path} back from a backup, or {anew}"
    if "readonly" in text or "read-only" in text or "unable to open" in text:
        return f"the ledger cannot be written: {text}", f"check the permissions of {path.parent}"
    if "full" in text or "disk I/O" in text or isinstance(error, OSError):
        return f"the ledger cannot be written: {text}", "free some space, then run the command again: nothing is lost"
    return f"the ledger failed: {text}", ""


def _require_files(path: Path) -> None:
    """SQLite waits at a FIFO for ever, and tells of a folder as if it were a matter of permissions."""
    for file in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        if os.path.lexists(file) and not file.is_file():
            hint = f"move {file} away, then run the command again: what is paid for is in the store too"
            raise LedgerError(f"{file.name} is no regular file", hint=hint)


class Database:
    """One connection, used by all threads of a process in turn."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._lock = threading.RLock()

    @classmethod
    def open(cls, path: Path) -> Database:
        """For reading and writing. Makes the file, private to the user, or migrates it; refuses a newer one."""
        with ledger_errors(path):
            _require_files(path)
            _make_private(path)
            connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            try:
                for pragma in _PRAGMAS:
                    connection.execute(f"PRAGMA {pragma}")
                migrate(connection, path)
            except BaseException:
                connection.close()
                raise
        return cls(path, connection)

    @classmethod
    def open_for_reading(cls, path: Path) -> Database:
        """Without writing a byte, also on a read-only disk. Raises NotFound where there is no ledger yet.

        SQLite would create `-wal` and `-shm` files for a reader. While no `-wal` file exists nobody has the database
        open for writing, and it can be read as an immutable file, which needs neither. An older ledger is read as a
        migrated copy in memory: who only reads leaves the migration to who writes.
        """
        with ledger_errors(path):
            if not path.exists():
                raise NotFound(f"there is no ledger at {path}")
            _require_files(path)
            quiet = not path.with_name(path.name + "-wal").exists()
            address = f"{path.absolute().as_uri()}?{'immutable=1' if quiet else 'mode=ro'}"
            connection = sqlite3.connect(
                address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False
            )
            connection.row_factory = sqlite3.Row
            try:
                _refuse_foreign(connection, path)
                if (version := _version(connection)) == 0:
                    raise NotFound(f"the ledger at {path} is empty")
                if version < SCHEMA_VERSION:
                    connection = _migrated_copy(connection)
            except BaseException:
                connection.close()
                raise
        return cls(path, connection)

    def rows(self, sql: str, params: Params = ()) -> list[sqlite3.Row]:
        with self._lock, ledger_errors(self.path):
            return self._connection.execute(sql, params).fetchall()

    def row(self, sql: str, params: Params = ()) -> sqlite3.Row | None:
        rows = self.rows(sql, params)
        return rows[0] if rows else None

    def counts(self, *tables: str) -> dict[str, int]:
        """How many rows each of these tables has."""
        return {table: self.rows(f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in tables}

    def unsound(self) -> str | None:
        """The first thing that SQLite finds wrong with the file; None where it is whole."""
        [[found]] = self.rows("PRAGMA quick_check(1)")
        return None if found == "ok" else str(found)

    @contextmanager
    def write(self, step: str) -> Iterator[sqlite3.Connection]:
        """A transaction that takes the write lock at once; all of it is durable when the block ends, or none.

        `step` is its name among the fault points.
        """
        with self._lock, ledger_errors(self.path), faults.step(step):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                _roll_back(self._connection)
                raise

    def close(self) -> None:
        with self._lock:
            self._connection.close()


def mapping(text: str) -> dict[str, Any]:
    """The JSON of a column. LedgerError for what is no mapping: a ledger may have come from anywhere."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise LedgerError(
            f"the ledger is damaged: {one_line(text, 40)!r} is not what it must hold",
            hint="put it back from a backup, or thumbforge repair --rebuild --apply makes a new one",
        )
    return found


def insert(connection: sqlite3.Connection, table: str, row: Mapping[str, Any], *, once: str | None = None) -> bool:
    """Insert `row`; with `once` naming its key column(s), a row that exists is left as it is. Whether it was new."""
    conflict = f" ON CONFLICT ({once}) DO NOTHING" if once else ""
    return connection.execute(f"{_insertion(table, row)}{conflict}", row).rowcount == 1


def insert_all(connection: sqlite3.Connection, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert `rows`, which have the same columns."""
    if rows:
        connection.executemany(_insertion(table, rows[0]), rows)


def _insertion(table: str, columns: Iterable[str]) -> str:
    names = list(columns)
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"


def create_once(connection: sqlite3.Connection, table: str, key: str, row: Mapping[str, Any]) -> None:
    """Insert unless a row with this key exists; what exists must agree, or it is a ReplayDivergence.

    Columns that tell when or under which name something was first seen, or last, do not have to agree.
    """
    insert(connection, table, row, once=key)
    stored = connection.execute(f"SELECT * FROM {table} WHERE {key} = ?", (row[key],)).fetchone()
    for name, value in row.items():
        if name not in {"created_at", "name", "title", "version", "seen"} and stored[name] != value:
            raise ReplayDivergence(f"{table} {row[key]} is recorded with another {name}")


def _make_private(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise LedgerError(
            f"the ledger cannot be written: {error.strerror}", hint=f"check the permissions of {path.parent}"
        ) from error


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """A newer thumbforge's database, or another program's."""
    if (version := _version(connection)) > SCHEMA_VERSION:
        raise LedgerTooNew(
            f"{path.name} has schema {version}, this thumbforge knows {SCHEMA_VERSION}", hint="upgrade thumbforge"
        )
    if version == 0 and connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise LedgerError(f"{path.name} is no ledger of thumbforge", hint=f"move {path} away to start anew")


def migrations() -> dict[int, str]:
    """SQL by the schema version it leads to: `migrations/0002_what.sql` leads from 1 to 2."""
    files = sorted((_HERE / "migrations").glob("[0-9]*.sql"))
    return {int(file.name.split("_")[0]): file.read_text(encoding="utf-8") for file in files}


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the schema up to date in one transaction; an older database is copied beside itself first."""
    _refuse_foreign(connection, path)
    version = _version(connection)
    if version == SCHEMA_VERSION:
        return
    if version:
        _back_up(connection, path.with_name(f"{path.name}.schema-{version}"))
    _upgrade(connection)


def _upgrade(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection)  # another process may have been faster
        scripts = [(_HERE / "schema.sql").read_text(encoding="utf-8")] if version == 0 else []
        scripts += [sql for to, sql in sorted(migrations().items()) if 0 < version < to]
        for statement in (s for script in scripts if version < SCHEMA_VERSION for s in _statements(script)):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # a full disk has ended it already
        connection.execute("ROLLBACK")


def _statements(script: str) -> Iterator[str]:
    """One by one, because `executescript` would commit the transaction that it is called in."""
    buffer = ""
    for line in script.splitlines(keepends=True):
        buffer += line
        if sqlite3.complete_statement(buffer):
            yield buffer
            buffer = ""


def _migrated_copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    """The same in memory, with today's schema; the original is closed."""
    copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    with closing(connection):
        connection.backup(copy)
    copy.row_factory = sqlite3.Row
    _upgrade(copy)
    return copy


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    copy = sqlite3.connect(target)
    try:
        connection.backup(copy)
    finally:
        copy.close()
