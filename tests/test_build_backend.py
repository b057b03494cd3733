"""doit's records: written through at once, rebuilt from the ledger, and never a reason to fail."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from doit.dependency import JSONCodec

from thumbforge.tasks import session
from thumbforge.tasks.backend import LedgerBackend
from thumbforge.tasks.checker import ContentChecker

RECORD = {"_values_:": {"final": "x"}, "checker:": "ContentChecker", "deps:": ["a"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".doit.db"


@pytest.fixture
def ledger(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """What the ledger would say of a task."""
    known: dict[str, dict[str, Any]] = {}
    monkeypatch.setattr(session, "rebuilt_record", known.get)
    return known


def backend(path: Path) -> LedgerBackend:
    return LedgerBackend(str(path), JSONCodec())


def save(to: LedgerBackend, task: str, record: Mapping[str, Any] = RECORD) -> None:
    for name, value in record.items():
        to.set(task, name, value)


def test_a_success_is_there_before_doit_ends(path: Path) -> None:
    """Another process sees it although nothing was closed: kill -9 loses no record."""
    writing = backend(path)
    save(writing, "thumb:a")
    reading = backend(path)
    assert {name: reading.get("thumb:a", name) for name in RECORD} == RECORD
    writing.dump()


def test_half_a_record_is_no_record(path: Path) -> None:
    """Until doit has set the last field nothing is written."""
    writing = backend(path)
    save(writing, "thumb:a", {"_values_:": {}, "checker:": "C"})
    assert not backend(path).in_("thumb:a")
    assert writing.get("thumb:a", "checker:") == "C"


def test_an_absent_record_is_rebuilt(path: Path, ledger: dict[str, dict[str, Any]]) -> None:
    """What the ledger says is done counts as done, and no file is made by asking."""
    ledger["thumb:a"] = dict(RECORD)
    reading = backend(path)
    assert reading.in_("thumb:a")
    assert reading.get("thumb:a", "deps:") == ["a"]
    assert not reading.in_("thumb:b")
    assert reading.get("thumb:b", "deps:") is None
    reading.dump()
    assert not path.exists()


def test_a_removed_record_stays_removed(path: Path, ledger: dict[str, dict[str, Any]]) -> None:
    """`forget` and a failure are not undone by the ledger, also not in the next process."""
    ledger["thumb:a"] = dict(RECORD)
    writing = backend(path)
    writing.remove("thumb:a")
    assert not writing.in_("thumb:a")
    writing.dump()
    assert not backend(path).in_("thumb:a")
    later = backend(path)
    save(later, "thumb:a")
    later.dump()
    assert backend(path).in_("thumb:a")


def test_all_removed_are_all_removed(path: Path, ledger: dict[str, dict[str, Any]]) -> None:
    """`forget --all` holds for tasks that doit had no record of, too, until they are made."""
    ledger.update({"thumb:a": dict(RECORD), "thumb:b": dict(RECORD)})
    writing = backend(path)
    save(writing, "thumb:a")
    writing.remove_all()
    writing.dump()
    later = backend(path)
    assert not later.in_("thumb:a")
    assert not later.in_("thumb:b")
    save(later, "thumb:b")
    later.dump()
    assert [backend(path).in_(name) for name in ("thumb:a", "thumb:b")] == [False, True]


def test_an_ignored_task_is_ignored_next_time(path: Path) -> None:
    """It is the one field of such a record."""
    writing = backend(path)
    writing.set("thumb:a", "ignore:", "1")
    assert backend(path).get("thumb:a", "ignore:") == "1"
    writing.dump()


@pytest.mark.parametrize("content", [b"", b"garbage" * 300, b"SQLite format 3\x00" + b"\xff" * 900])
def test_a_spoilt_file_is_an_empty_one(path: Path, ledger: dict[str, dict[str, Any]], content: bytes) -> None:
    """It is read as nothing and written anew; garbage is put aside, not deleted."""
    path.write_bytes(content)
    ledger["thumb:a"] = dict(RECORD)
    writing = backend(path)
    assert writing.in_("thumb:a")
    assert path.read_bytes() == content
    save(writing, "thumb:b")
    writing.dump()
    assert backend(path).in_("thumb:b")
    aside = path.with_name(".doit.db.damaged")
    assert not aside.exists() or aside.read_bytes() == content


def test_a_file_that_cannot_be_written_is_no_failure(tmp_path: Path, ledger: dict[str, dict[str, Any]]) -> None:
    """The ledger has the truth; within the process the record counts."""
    folder = tmp_path / ".doit.db"
    folder.mkdir()
    writing = backend(folder)
    save(writing, "thumb:a")
    assert writing.in_("thumb:a")
    writing.remove("thumb:a")
    writing.remove_all()
    writing.dump()
    assert list(folder.iterdir()) == []


# File states


def test_a_file_counts_by_its_content(tmp_path: Path) -> None:
    """A file that was only touched has not changed; one with other bytes has."""
    path = tmp_path / "hero.png"
    path.write_bytes(b"one")
    state = ContentChecker().get_state(str(path), None)
    path.touch()
    assert ContentChecker().get_state(str(path), state) is None
    assert not ContentChecker().check_modified(str(path), path.stat(), state)
    path.write_bytes(b"two")
    assert ContentChecker().check_modified(str(path), path.stat(), state)
    assert ContentChecker().get_state(str(path), state) not in {None, state}


def test_a_file_named_after_its_content_is_not_read(tmp_path: Path) -> None:
    """Its state is its name."""
    path = tmp_path / f"{'a' * 64}.json"
    path.write_bytes(b"")
    assert ContentChecker().get_state(str(path), None) == path.name


def test_a_shared_file_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many tasks depend on it; a change during the process is seen."""
    path = tmp_path / "hero.png"
    path.write_bytes(b"one")
    reads: list[Path] = []
    read_bytes = Path.read_bytes

    def counted(self: Path) -> bytes:
        reads.append(self)
        return read_bytes(self)

    monkeypatch.setattr(Path, "read_bytes", counted)
    checker = ContentChecker()
    first = [checker.get_state(str(path), None) for _ in range(5)]
    assert (len(set(first)), len(reads)) == (1, 1)
    path.write_bytes(b"twice")
    assert checker.get_state(str(path), first[0]) is not None
    assert len(reads) == 2
