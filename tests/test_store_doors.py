"""The ledger's house: its SQL stands in the store alone, and each of its tables is written in one place."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import thumbforge

PACKAGE = Path(thumbforge.__file__).parent
STORE = PACKAGE / "store"
OWN_FILE = {"tasks/backend.py"}  # doit's cache, .doit.db: a database of its own
SQL = re.compile(r"\b(SELECT|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM|PRAGMA)\b")
TABLES = set(re.findall(r"^CREATE TABLE (\w+)", (STORE / "schema.sql").read_text(encoding="utf-8"), re.MULTILINE))


def texts(path: Path) -> Iterator[str]:
    """Every text in a module, those within formatted ones too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def inserts(path: Path) -> Iterator[str]:
    """The table of each row that a module makes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"insert", "insert_all", "create_once"}
            and isinstance(node.args[1], ast.Constant)
        ):
            yield str(node.args[1].value)


def modules() -> dict[str, Path]:
    return {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}


def test_sql_stands_in_the_store_alone() -> None:
    """Whoever asks the ledger asks by a name: a new column is a change in one room."""
    found = {name for name, path in modules().items() if any(SQL.search(text) for text in texts(path))}
    assert {name for name in found if not name.startswith("store/")} == OWN_FILE
    assert len(found) > 10  # the walk saw the store


def test_each_table_is_inserted_in_one_place() -> None:
    """Its columns are spelled out once."""
    assert Counter(table for path in modules().values() for table in inserts(path)) == Counter(TABLES)
    by_hand = re.compile(r"INSERT (OR \w+ )?INTO \w")
    found = {name for name, path in modules().items() if any(by_hand.search(text) for text in texts(path))}
    assert found == OWN_FILE


def test_a_state_changes_in_one_place() -> None:
    """No statement sets a status but that of `states.change`, which asks whether it may."""
    by_hand = re.compile(r"SET [^?]*\bstatus = ")
    assert [name for name, path in modules().items() if any(by_hand.search(text) for text in texts(path))] == []
