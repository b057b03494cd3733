"""Every table command on screens of 40, 80, 120 and 200 columns, as golden text.

What differs from run to run (ids, times, sizes, where the project lies) is made the same before a table is laid out.
`WRITE_GOLDEN=1 pytest tests/test_screens.py` writes tests/golden/screens anew: look at the difference.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

import pytest
from rich.cells import cell_len

from tests.project import ALL_MARKED, Project, item, make_project, video
from thumbforge.commands.telling import view
from thumbforge.commands.telling.table import lay_out

GOLDEN = Path(__file__).parent / "golden" / "screens"
WIDTHS = (40, 80, 120, 200)
LONG = "A title as long as titles of videos on this site usually are when nobody cuts them"
SAME = (
    (re.compile(r"\b[0-9a-f]{64}\b"), "0" * 64),
    (re.compile(r"\b[0-9a-f]{12}\b"), "0" * 12),
    (re.compile(r"\bassets/[0-9a-f]{2}\b"), "assets/00"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "00000000-0000-0000-0000-000000000000"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b"), "0" * 8),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?=:\d\dZ)?"), "2026-12-01 12:00"),
    (re.compile(r"(?<=:)\d\dZ"), "00Z"),
    (re.compile(r"\d+ kB"), "99 kB"),
    (re.compile(r"\b2\d{3}-\d\d\b(?!-)"), "2026-12"),
)
SCREENS: dict[str, tuple[str, ...]] = {
    "status": ("status",),
    "batch": ("batch", "series=show", "only=1-4"),
    "batch-dry-run": ("batch", "series=show", "--dry-run"),
    "runs-list": ("runs", "list"),
    "runs-show": ("runs", "show", "{batch}"),
    "runs-cost": ("runs", "cost"),
    "takes-list": ("takes", "list", "2", "series=show"),
    "series-list": ("series", "list"),
    "playlist-list": ("playlist", "list"),
    "playlist-show": ("playlist", "show", "show"),
    "playlist-show-at": ("playlist", "show", "show", "--at", "2100-01-01T00:00Z"),
    "playlist-log": ("playlist", "log", "show"),
    "playlist-propose-text": ("playlist", "propose-text", "show"),
    "playlist-renumber": ("playlist", "renumber", "show", "--start", "9", "--dry-run"),
    "playlist-set": ("playlist", "set", "show", "5", "text=" + LONG, "label=New"),
    "hero-list": ("hero", "list"),
    "hero-show": ("hero", "show", "{hero}"),
    "provider-list": ("provider", "list"),
    "template-list": ("template", "list"),
    "template-show": ("template", "show", "plain"),
    "config-show": ("config", "show"),
    "fetch": ("fetch", "list.csv"),
    "fetch-back": ("fetch", "back.csv", "name=show"),
    "audit": ("audit",),
    "prune": ("prune", "--keep", "0"),
}
"""By the golden file what is typed, in this order; `{batch}` and `{hero}` are runs."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two series; of one an item is made, one changed, one failed, one new, one without a part."""
    project = make_project(tmp_path_factory.mktemp("screens") / "project", 3)
    project.template(prompt=ALL_MARKED)
    project.series(vars={"fail": ""})
    project.series("another-series-with-a-longer-name", template="series-parts", provider="local")
    rows = [item(1), item(2, title=LONG), item(3, vars={"fail": "[[FAIL_PERMANENT]]"}), item(4), item(5, part=None)]
    project.playlist(rows)
    assert project.batch("only=1-3").code == 6
    project.playlist([*rows[:1], {**rows[1], "text": "Shorter"}, *rows[2:]])
    assert project.run("batch", "series=show", "only=1", "retake=yes").code == 0
    run = project.shown("hero", "generate", video(1), "--count", "2", "provider=fake", "template=minimal")["run"]
    assert project.run("hero", "pick", run, "2").code == 0
    (project.root / "list.csv").write_text(f"title,video\nOne,dQw4w9WgXcQ\n{LONG},aaaaaaaaaaa\n", encoding="utf-8")
    back = f"video,label,topic\n{video(1)},New,{LONG}\n{video(4)},,Short\n"
    (project.root / "back.csv").write_text(back, encoding="utf-8")
    (project.home / "assets" / "img").mkdir()
    (project.home / "assets" / "img" / "not-ours.txt").write_text("x")
    return project


@pytest.fixture(scope="module")
def screens(project: Project) -> dict[str, str]:
    return dict(_screens(project))


def _screens(project: Project) -> Iterator[tuple[str, str]]:
    def same(text: str) -> str:
        text = text.replace(str(project.root), "/project")
        for pattern, instead in SAME:
            text = pattern.sub(instead, text)
        return text

    def at_every_width(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        cells = [[same(cell) for cell in row] for row in rows]
        for width in WIDTHS:
            sys.stdout.write(f"-- {width} --\n")
            for line in lay_out(columns, cells, width):
                sys.stdout.write("".join(span.text for span in line) + "\n")
        sys.stdout.write("--\n")

    with mock.patch.object(view, "_print_in_full", at_every_width):
        for name, words in SCREENS.items():
            runs = {
                kind: project.query("SELECT id FROM run WHERE kind = ? ORDER BY created_at", kind)[-1]["id"]
                for kind in ("batch", "hero")
            }
            told = project.run(*(word.format(**runs) for word in words))
            assert told.out, told.err
            yield name, same(told.out)


@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_it_was_looked_at(name: str, screens: dict[str, str]) -> None:
    """At each width; a change is seen by whoever makes it."""
    file = GOLDEN / f"{name}.txt"
    if os.environ.get("WRITE_GOLDEN"):
        file.write_text(screens[name], encoding="utf-8")
    assert screens[name] == file.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SCREENS)
def test_no_line_of_a_table_is_wider_than_its_screen(name: str, screens: dict[str, str]) -> None:
    """Unless it is one cell that has to be whole: then it stands alone."""
    width = 0
    for line in screens[name].splitlines():
        if found := re.fullmatch(r"-- (\d+) --", line):
            width = int(found[1])
        elif line == "--":
            width = 0
        elif width and cell_len(line) > width:
            assert re.fullmatch(r" *(\S+ )?\S+", line), line
