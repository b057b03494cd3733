"""One change to what lies on the disk, then a batch: either everything is right and it says so with exit 0, or it does
not end with 0 and names the file. Nothing hangs, and nothing is paid again whose art is there."""

from __future__ import annotations

import os
import shutil
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


# A few always; all of them on request

EXPORT, FINAL, ART, MANIFEST, HERO, LOG = "export", "final", "art", "manifest", "hero", "log"


def place(project: Project, what: str) -> Path:
    """The file that one item has of this kind."""
    query = "SELECT export.*, art_sha256 FROM export JOIN final USING (final_key) ORDER BY path LIMIT 1"
    [row] = project.query(query)
    assets = project.home / "assets"
    return {
        EXPORT: project.root / "out" / row["path"],
        FINAL: assets / row["sha256"][:2] / f"{row['sha256']}.jpg",
        ART: next((assets / row["art_sha256"][:2]).glob(f"{row['art_sha256']}.*")),
        MANIFEST: project.home / "keys" / f"{row['final_key']}.json",
        HERO: project.root / "specs/heroes/hero.png",
        LOG: project.home / "logs/thumbforge.jsonl",
    }[what]


@pytest.mark.parametrize(
    ("what", "change"),
    [
        *((EXPORT, change) for change in (remove, empty, replace, full_folder, dead_link, fifo)),
        *((FINAL, change) for change in (flip, full_folder, fifo)),
        *((ART, change) for change in (remove, flip, fifo)),
        *((MANIFEST, change) for change in (truncate, fifo)),
        (HERO, remove),
        (LOG, fifo),
    ],
)
def test_one_change_is_put_right_or_told(
    made: Project, tmp_path: Path, what: str, change: Callable[[Path], None]
) -> None:
    """For one file of each kind, the changes that are told apart."""
    project = made.copy(tmp_path / "project")
    assert wrong_after(project, place(project, what), change) == []


@pytest.mark.soak
@pytest.mark.parametrize("change", CHANGES)
def test_any_change_is_put_right_or_told(made: Project, tmp_path: Path, change: Callable[[Path], None]) -> None:
    """For every file under .thumbforge/ and out/, and the hero."""
    wrong = {}
    for number, path in enumerate(files(made)):
        if is_ledger(path):
            continue
        project = made.copy(tmp_path / str(number) / "project")
        if found := wrong_after(project, project.root / path, change):
            wrong[str(path)] = found
        shutil.rmtree(project.root)
    assert wrong == {}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["ledger.sqlite3", "ledger.sqlite3-wal", "ledger.sqlite3-shm"])
def test_a_changed_ledger_pays_nothing_again(
    made: Project, tmp_path: Path, name: str, change: Callable[[Path], None]
) -> None:
    """Whatever becomes of the file, or of what SQLite keeps beside it: the batch makes everything right without a call,
    or names the ledger; then the hint is followed, and everything is right."""
    project = made.copy(tmp_path / "project")
    right, path = pictures(project), project.home / name
    if not path.exists():
        path.write_bytes(b"what a crash may have left here" * 200)
    change(path)
    with at_most(MOST_S):
        told = project.batch()
        if told.code:
            assert "ledger.sqlite3" in told.err
            assert "Traceback" not in told.err
            follow(told.err, project, path)
            assert project.batch().code == 0
    assert (pictures(project), project.calls) == (right, 0)
    assert project.batch().out.startswith("Nothing to do")


def follow(told: str, project: Project, path: Path) -> None:
    """What the hint says."""
    if "repair --rebuild --apply" in told:
        assert project.run("repair", "--rebuild", "--apply").code == 0
        return
    assert f"move {path} away" in told or "make it a folder or a file of the project" in told
    path.rename(project.root / "aside")


# What each of them comes to


def test_both_faces_and_every_look_agree(made: Project, tmp_path: Path) -> None:
    """A dead link in an export's place: `list`, `info`, the plan and the audit see it; plain doit puts it back."""
    project = made.copy(tmp_path / "project")
    path = place(project, EXPORT)
    dead_link(path)
    task = f"thumb:show:{video(1)}"
    assert project.statuses()[video(1)] == "R"
    assert project.doit("info", task).code == 1
    [planned] = [row for row in project.plan() if row["part"] == 1]
    assert (planned["action"], planned["reason"]) == ("skip", "export restored")
    assert f"out/show/{path.name}" in project.run("audit").out
    assert project.doit("run", task).code == 0
    assert path.is_file()
    assert not path.is_symlink()
    assert project.batch().out.startswith("Nothing to do")


@pytest.mark.parametrize("blocked", ["out", "out/show"])
def test_out_that_takes_no_file_fails_what_is_not_there(made: Project, tmp_path: Path, blocked: str) -> None:
    """Exit 1, every item failed in the table and the document, no run row, and the line says what is wrong."""
    project = made.copy(tmp_path / "project")
    shutil.rmtree(project.root / blocked)
    (project.root / blocked).symlink_to("gone/drive")
    runs = project.count("run")
    told = project.batch("--json")
    assert told.code == told.document["exit_code"] == 1
    assert told.document["run"] is None
    assert {item["status"] for item in told.document["items"]} == {"failed"}
    assert all(f"{blocked} is no folder" in item["error"] for item in told.document["items"])
    assert project.count("run") == runs
    (project.root / blocked).unlink()
    assert (project.batch().code, len(project.out()), project.calls) == (0, len(ITEMS), 0)


def test_damaged_art_fails_its_item_alone(made: Project, tmp_path: Path) -> None:
    """The others are drawn; the cure that the line names leads to one call."""
    project = made.copy(tmp_path / "project")
    truncate(place(project, ART))
    project.playlist({**entry, "text": f"Other {entry['part']}"} for entry in project.items())
    told = project.batch("--json")
    assert told.code == 6
    assert [item["status"] for item in told.document["items"]] == ["failed", "completed"]
    assert "repair --damaged --apply" in told.document["items"][0]["error"]
    assert project.run("repair", "--damaged", "--apply").code == 0
    assert (project.batch().code, project.calls) == (0, 1)


def test_a_picture_of_ours_may_be_replaced_wherever_it_lies(made: Project, tmp_path: Path) -> None:
    """Another item's picture under an export's name is not the user's: it is in the store."""
    project = made.copy(tmp_path / "project")
    first, second = (project.root / "out/show" / f"{n:02d}-{video(n)}.jpg" for n in ITEMS)
    right = first.read_bytes()
    shutil.copyfile(second, first)
    assert (project.batch().code, first.read_bytes() == right) == (0, True)


def test_what_was_read_is_remembered_by_a_batch_alone(made: Project, tmp_path: Path) -> None:
    """A copy has other inodes: `list` reads and writes nothing, a batch notes what it read, the next one reads no
    picture."""
    project = made.copy(tmp_path / "project")
    before = project.files()
    assert project.doit("list", "--all", "-s").code == 0
    assert {n: f for n, f in project.files().items() if n.startswith(".thumbforge")} == {
        name: found for name, found in before.items() if name.startswith(".thumbforge")
    }
    assert project.batch().code == 0
    for row in project.query("SELECT asset.seen AS a, export.seen AS e FROM export JOIN asset USING (sha256)"):
        assert row["a"]
        assert row["e"]
    for path in (project.home / "assets").rglob("*.jpg"):
        stat = path.stat()
        flip(path)  # with the size, time and inode that it had: nobody looks
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert project.batch().out.startswith("Nothing to do")
    assert "asset-damaged" in project.run("audit").out


def test_a_changed_list_is_recorded_where_nothing_is_to_be_drawn(made: Project, tmp_path: Path) -> None:
    """An item's line is gone: its membership ends now, and the sheet no longer shows it; both faces do it once."""
    for number, command in enumerate((Project.batch, Project.doit)):
        project = made.copy(tmp_path / str(number) / "project")
        ingests = "SELECT id FROM run WHERE kind = 'ingest'"
        before = len(project.query(ingests))
        project.playlist(project.items()[:1])
        assert command(project).code == 0
        open_members = "SELECT id FROM item_fact WHERE predicate = 'member' AND valid_to IS NULL"
        assert (len(project.query(open_members)), len(project.query(ingests))) == (1, before + 1)
        assert (
            f"?v={video(2)}" not in (project.root / "out/show/sheet.html").read_text()
        )  # its file is not of the series
        assert command(project).code == 0
        assert len(project.query(ingests)) == before + 1
