"""Tricks that Git does not hold: what each makes of a good project. `outside` is the user's own, beside it."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import struct
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from PIL import Image

from tests.project import Project, item

Trick = Callable[[Project, Path], object]
EVIL = "x\x1b]52;c;aGk=\x07\x9b31m\u202ey"
HERO = "specs/heroes/hero.png"
SPECS = (
    "specs/playlists/show.yaml", "specs/series/show.yaml", "specs/templates/plain.yaml", "specs/providers/fake.yaml",
    "thumbforge.toml", HERO,
)  # fmt: skip


def _in_place_of(name: str, make: Callable[[Path], object]) -> Trick:
    def trick(project: Project, outside: Path) -> None:
        path = project.root / name
        path.unlink(missing_ok=True)
        make(path)

    return trick


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(3 * 2**30)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _holding(name: str, data: Callable[[], bytes]) -> Trick:
    return _in_place_of(name, lambda path: path.write_bytes(data()))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _png(width: int, height: int, *chunks: bytes, rows: bytes = b"") -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


def _swollen_text() -> bytes:
    """A comment of 300 MB in 300 kB."""
    return _png(1280, 720, _chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(300_000_000), 9)))


def _swollen_profile() -> bytes:
    return _png(1280, 720, _chunk(b"iCCP", b"p\0\0" + zlib.compress(bytes(100_000_000), 9)))


def _as_large_as_allowed() -> bytes:
    made = io.BytesIO()
    picture = Image.new("RGB", (9400, 5288), "#306090")
    picture.paste((200, 60, 40), (4000, 1000, 7000, 4000))
    picture.save(made, "PNG", compress_level=1)
    return made.getvalue()


def _many_frames() -> bytes:
    """One frame, three hundred times."""
    made = io.BytesIO()
    Image.new("P", (1280, 720)).save(made, "GIF")
    whole = made.getvalue()
    start = whole.index(b"\x2c\0\0\0\0")
    return whole[:start] + whole[start:-1] * 300 + b";"


def _svg() -> bytes:
    return b'<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'


def many_problems(project: Project, outside: Path) -> None:
    """90,000 of them."""
    wrong = "".join(f"- {{video: v{n}, titel: x, part: a}}\n" for n in range(30_000))
    project.write("specs/playlists/show.yaml", f"playlist: {{id: PLshow0000000000}}\nitems:\n{wrong}")


def deep(project: Project, outside: Path) -> None:
    project.write("specs/playlists/show.yaml", f"playlist: {'[' * 200_000}")


def deep_mappings(project: Project, outside: Path) -> None:
    project.write("specs/series/show.yaml", "".join(f"{' ' * n}a:\n" for n in range(3000)))


def long_key(project: Project, outside: Path) -> None:
    project.write("specs/series/show.yaml", f"playlist: show\n{'k' * 3_000_000}: 1\n")


def long_chain(project: Project, outside: Path) -> None:
    """Templates that extend each other 1,500 deep."""
    for n in range(1500):
        project.write(f"specs/templates/t{n}.yaml", f"extends: t{n + 1}\n")
    project.write("specs/templates/t1500.yaml", "extends: series-parts\n")
    project.write("specs/templates/plain.yaml", "extends: t0\n")


def names_with_escapes(project: Project, outside: Path) -> None:
    for folder in ("series", "templates", "providers", "playlists"):
        (project.root / f"specs/{folder}").mkdir(parents=True, exist_ok=True)
        (project.root / f"specs/{folder}/{EVIL.replace('/', '')}.yaml").write_text("bad: 1\n", encoding="utf-8")


def unreadable_name(project: Project, outside: Path) -> None:
    """A name that is no UTF-8."""
    (Path(os.fsdecode(os.fsencode(project.root / "specs/series") + b"/\xff\xfe.yaml"))).write_text("playlist: show\n")


def _link(name: str, to: str) -> Trick:
    def trick(project: Project, outside: Path) -> None:
        path = project.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(outside / to)

    return trick


def brand_files(project: Project, outside: Path) -> None:
    os.mkfifo(project.root / "f.ttf")
    _sparse(project.root / "logo.png")
    (project.root / "guest.png").symlink_to("/dev/zero")
    project.template(extends="corner-card")
    project.playlist([item(1, picture="guest.png")])
    project.series(brand={"logo": "logo.png", "fonts": {"title": "f.ttf", "label": "/dev/urandom"}}, mask="f.ttf")


def made(project: Project, outside: Path) -> None:
    """What the others of a store begin with."""
    assert project.batch().code == 0


def foreign_ledger(project: Project, outside: Path) -> None:
    """Rows that name files of the user's as assets and exports, and money that is none."""
    made(project, outside)
    with closing(sqlite3.connect(project.home / "ledger.sqlite3")) as connection, connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("INSERT INTO asset VALUES (?, '', 'x', 1, 1, 1, 0, NULL)", (str(outside / "diary.txt"),))
        connection.execute("UPDATE export SET path = '../../outside/diary.txt'")
        connection.execute("UPDATE attempt SET cost = '-1e999', currency = ?, error_text = ?", (EVIL, EVIL))
        connection.execute("UPDATE run SET error_text = ?, series = '../../outside'", (EVIL,))
        connection.execute("INSERT INTO spending VALUES ('a', '2026-12-01', 'USD', '-9999', 1, NULL)")


def nonsense_in_the_ledger(project: Project, outside: Path) -> None:
    """JSON that is none, or has other types than it must."""
    made(project, outside)
    with closing(sqlite3.connect(project.home / "ledger.sqlite3")) as connection, connection:
        connection.execute("UPDATE run SET params_json = '[]'")
        connection.execute("UPDATE run_item SET plan_json = '7'")
        connection.execute("UPDATE iteration SET key_parts_json = '{'")
        connection.execute("UPDATE final SET report_json = ?", ("[" * 100_000,))


def ledger_of_another_kind(project: Project, outside: Path) -> None:
    project.home.mkdir()
    (project.home / "ledger.sqlite3").write_bytes(b"SQLite format 3\x00" + bytes(4000))


def fifo_as_ledger(project: Project, outside: Path) -> None:
    project.home.mkdir()
    os.mkfifo(project.home / "ledger.sqlite3")


def manifests(project: Project, outside: Path) -> None:
    """By-products of the tool that say what they like."""
    made(project, outside)
    for path in [*(project.home / "keys").rglob("*.json")]:
        path.chmod(0o644)
        path.write_text("[" * 100_000)
    sheets = project.home / "sheets"
    sheets.mkdir(exist_ok=True)
    (sheets / "show.shown").write_text(json.dumps({"../../../outside/diary.txt": "x", "sheet-2.html": "x"}))
    (sheets / "show.likeness").write_text('{"made_by": 1, "signatures": 7, "unlike": {"a": {}}}')
    (project.home / "keys" / f"{'ab' * 32}.json").write_text('{"final_sha256": "../../../outside/diary.txt"}')
    (project.home / "keys" / "art").mkdir(exist_ok=True)
    (project.home / "keys" / "art" / f"{'cd' * 32}.json").write_text('{"sha256": "../../outside/diary.txt"}')


def fifos_of_the_tool(project: Project, outside: Path) -> None:
    made(project, outside)
    for name in ("sheets/show.shown", "sheets/show.likeness", "logs/thumbforge.jsonl"):
        path = project.home / name
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
    [answer] = [*(project.home / "assets").rglob("*.jpg")][:1]
    answer.unlink()
    os.mkfifo(answer)


def fetch_lists(project: Project, outside: Path) -> None:
    """Lists for `fetch` that lie: ids with paths, a gzip in JSON's place, and a hundred thousand brackets."""
    entries = [{"id": "../../outside", "title": EVIL}, {"id": "aaaaaaaaaa1", "title": EVIL * 100, "duration": -1e308}]
    listed = {"_type": "playlist", "id": "../../../outside/diary", "title": EVIL, "entries": entries}
    project.write("theirs.json", json.dumps(listed))
    project.write("deep.json", "[" * 100_000)
    (project.root / "packed.json").write_bytes(gzip.compress(bytes(50_000_000)))
    project.write("theirs.csv", f"title,video,part\n{EVIL},aaaaaaaaaa1,1\n=cmd(),../../outside,2\n")


MADE: dict[str, Trick] = {
    **{f"a FIFO as {Path(name).name}": _in_place_of(name, os.mkfifo) for name in SPECS},
    **{f"3 GB as {Path(name).name}": _in_place_of(name, _sparse) for name in SPECS},
    **{f"a device as {Path(name).name}": _in_place_of(name, _device) for name in SPECS},
    "a bomb as hero": _holding(HERO, lambda: _png(60_000, 60_000, rows=bytes(1000))),
    "a swollen comment": _holding(HERO, _swollen_text),
    "a swollen colour profile": _holding(HERO, _swollen_profile),
    "a hero as large as is allowed": _holding(HERO, _as_large_as_allowed),
    "a hero of many frames": _holding(HERO, _many_frames),
    "an SVG as hero": _holding(HERO, _svg),
    "a bomb as mask": _holding("specs/heroes/hero.mask.png", lambda: _png(60_000, 60_000, rows=bytes(1000))),
    "many problems": many_problems,
    "deep brackets": deep,
    "deep mappings": deep_mappings,
    "a long key": long_key,
    "a long chain": long_chain,
    "names with escapes": names_with_escapes,
    "a name that is no UTF-8": unreadable_name,
    "out/ leads out": _link("out", "kept"),
    "a series' folder leads out": _link("out/show", "kept"),
    "the store leads out": _link(".thumbforge", "kept"),
    "the store's pictures lead out": _link(".thumbforge/assets", "kept"),
    "the ledger is the user's database": _link(".thumbforge/ledger.sqlite3", "contacts.sqlite"),
    "doit's file is the user's database": _link(".doit.db", "contacts.sqlite"),
    "the log is the user's diary": _link(".thumbforge/logs/thumbforge.jsonl", "diary.txt"),
    "a playlist is the user's": _link("specs/playlists/show.yaml", "list.yaml"),
    "a template is the user's diary": _link("specs/templates/plain.yaml", "diary.txt"),
    "the lists lead out": _link("specs/playlists/more", "kept"),
    "files of a brand": brand_files,
    "a foreign ledger": foreign_ledger,
    "nonsense in the ledger": nonsense_in_the_ledger,
    "a ledger of another kind": ledger_of_another_kind,
    "a FIFO as ledger": fifo_as_ledger,
    "manifests that lie": manifests,
    "FIFOs of the tool": fifos_of_the_tool,
    "lists that lie": fetch_lists,
}
FILES = Path(__file__).parent / "files"


def names() -> list[str]:
    return [*sorted(path.name for path in FILES.iterdir()), *MADE]


def play(name: str, project: Project, outside: Path, port: int) -> None:
    """Do this trick to a project. `@PORT@` in a file is where the stranger listens."""
    if name in MADE:
        MADE[name](project, outside)
        return
    folder = FILES / name
    for path in (path for path in folder.rglob("*") if path.is_file()):
        text = path.read_text(encoding="utf-8").replace("@PORT@", str(port))
        project.write(path.relative_to(folder).as_posix(), text)
