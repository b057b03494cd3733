"""One change to what lies on the disk, then a batch: either everything is right and it says so with exit 0, or it does
not end with 0 and names the file. Nothing hangs, and nothing is paid again whose art is there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from tests.project import Project, make_project, video

ITEMS = (1, 2)
MOST_S = 60
"""Seconds after which a command hangs."""


def remove(path: Path) -> None:
    path.unlink()


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    """As many bytes, but others."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)


def replace(path: Path) -> None:
    path.write_bytes(b"these are other bytes altogether")


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def full_folder(path: Path) -> None:
    folder(path)
    (path / "mine.txt").write_text("mine")


def dead_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def link_to_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


CHANGES = (remove, truncate, empty, flip, replace, folder, full_folder, dead_link, link_to_device, fifo)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two items, all made, and looked at once. To be copied."""
    project = make_project(tmp_path_factory.mktemp("made") / "project", len(ITEMS))
    assert project.batch().code == 0
    return project


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """A command that waits for a FIFO or for itself fails here."""

    def hangs(number: int, frame: FrameType | None) -> None:
        raise AssertionError(f"it hangs: {frame}")

    before = signal.signal(signal.SIGALRM, hangs)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def pictures(project: Project) -> dict[str, bytes]:
    """The exports that are regular files, by their names."""
    paths = ((project.root / "out/show" / f"{n:02d}-{video(n)}.jpg") for n in ITEMS)
    return {path.name: path.read_bytes() for path in paths if path.is_file() and not path.is_symlink()}


def art_of(project: Project) -> set[str]:
    return {row["art_sha256"] for row in project.query("SELECT art_sha256 FROM attempt WHERE art_sha256 IS NOT NULL")}


def names_it(told: str, path: Path) -> bool:
    """By its name, or by the first digits of its hash."""
    return path.name in told or path.name[:12] in told


def wrong_after(project: Project, path: Path, change: Callable[[Path], None]) -> list[str]:
    """What does not hold after a change and a batch."""
    right, art = pictures(project), art_of(project)
    change(path)
    with at_most(MOST_S):
        told = project.batch()
    said = told.out + told.err
    is_export, is_art = path.name in right, path.stem in art
    wrong = []
    if "this is a bug" in said or "Traceback" in said:
        wrong.append(said)
    if told.code == 0 and pictures(project) != right and not (is_export and names_it(said, path)):
        wrong.append(f"exit 0, and out/ is not right: {sorted(pictures(project))}")
    if told.code != 0 and not names_it(said, path):
        wrong.append(f"exit {told.code}, and nothing names {path.name}: {said}")
    may_pay = is_art or path.parent.name == "heroes"
    if project.calls and not may_pay:
        wrong.append(f"{project.calls} calls")
    with at_most(MOST_S):
        again = project.batch("--dry-run", "--json")
    if told.code == 0 and again.code == 0 and {row["action"] for row in again.document["plan"]} != {"skip"}:
        wrong.append(f"exit 0, and the next plan has work: {again.out}")
    return wrong


def files(project: Project) -> list[Path]:
    """Every file that a batch keeps, and the hero."""
    found = [path for name in (".thumbforge", "out") for path in (project.root / name).rglob("*") if path.is_file()]
    return sorted(path.relative_to(project.root) for path in (*found, project.root / "specs/heroes/hero.png"))


def is_ledger(path: Path) -> bool:
    return path.name.startswith("ledger.sqlite3")
