"""`docs/walkthrough.md`: ten commands with what they print, typed by this script in a project of its own.

`python -m tests.walkthrough` prints the page, `--into docs/walkthrough.md` writes it. What differs from machine to
machine (ids, sizes, where the project lies) is made the same.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from tests.project import Project

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests/data/playlists/scikit-learn-9.json"
HERO = ROOT / "specs/heroes/pandas.jpg"
HEAD = """\
# Ten commands

From a list to thumbnails that are watched over, with what each command prints. The list is a real one, as yt-dlp writes
it; an address takes its place where you have a key or yt-dlp ([fetch](fetch.md)).
This page is written by `python -m tests.walkthrough`, which types it.
"""
SAME = (
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{12}\b"), "5eed0a7e2026"),
    (re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{8}\b"), "5eed0a7e"),
    (re.compile(r"\d+ kB"), "240 kB"),
    (re.compile(r"\d\.\d MB"), "1.9 MB"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(:\d\dZ)?"), "2026-12-01 12:00"),
)


class Step(NamedTuple):
    title: str
    why: str
    line: str
    most: int = 40
    """Lines of what it prints that are shown."""


STEPS = (
    Step(
        "Everything in one line",
        "A list and a picture; the directory becomes a project where it is none.",
        "thumbforge series new scikit-learn.json --hero me.jpg --name ml --batch",
        26,
    ),
    Step("Where things stand", "Without a word, `thumbforge` says it, and what to type next.", "thumbforge"),
    Step(
        "Shorter words",
        "Nobody reads a whole title on a phone. Two to five words are proposed; `--apply` writes them.",
        "thumbforge playlist propose-text ml",
        14,
    ),
    Step(
        "A text of your own",
        "Written into the YAML in place; `playlist export` and `fetch` do all of them in a spreadsheet.",
        "thumbforge playlist set ml 2 text='Set *up* in ten minutes'",
    ),
    Step("What would happen", "Nothing is written and nobody is called.", "thumbforge batch series=ml --dry-run", 18),
    Step(
        "Make what changed", "The background is kept, only the letters are drawn again.", "thumbforge batch series=ml"
    ),
    Step("Another picture for one", "A take. Earlier ones stay.", "thumbforge batch series=ml only=3 retake=yes"),
    Step("Choose between takes", "The first is put back; nothing is painted.", "thumbforge takes use 3 1"),
    Step(
        "Why is it as it is", "What a picture was made of, and what it cost.", "thumbforge explain out/ml/03-*.jpg", 24
    ),
    Step("Is everything there", "Ledger, store and `out/` compared, file by file.", "thumbforge audit"),
)


def typed(folder: Path) -> str:
    """The page."""
    project = Project(folder / "my-channel")
    project.root.mkdir(parents=True)
    shutil.copy(LIST, project.root / "scikit-learn.json")
    shutil.copy(HERO, project.root / "me.jpg")
    project = project.with_environment(COLUMNS="118")
    return HEAD + "".join(_step(project, number, step) for number, step in enumerate(STEPS, 1))


def _step(project: Project, number: int, step: Step) -> str:
    words = [_file(project, word) for word in shlex.split(step.line)[1:]]
    told = project.run(*words)
    assert told.code == 0, (step.line, told)
    lines = [_same(line.rstrip(), project) for line in told.out.strip().splitlines()]
    if len(lines) > step.most:
        lines = [*lines[: step.most - 5], "…", *lines[-4:]]
    screen = "\n".join(lines)
    return f"\n## {number}. {step.title}\n\n{step.why}\n\n```console\n$ {step.line}\n{screen}\n```\n"


def _file(project: Project, word: str) -> str:
    """What a shell makes of a pattern."""
    found = sorted(project.root.glob(word)) if "*" in word and "=" not in word else []
    return str(found[0].relative_to(project.root)) if found else word


def _same(line: str, project: Project) -> str:
    for pattern, text in SAME:
        line = pattern.sub(text, line)
    return line.replace(str(project.root), "~/my-channel")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--into", type=Path)
    into = parser.parse_args().into
    with tempfile.TemporaryDirectory() as folder:
        page = typed(Path(folder))
    into.write_text(page, encoding="utf-8") if into else sys.stdout.write(page)


if __name__ == "__main__":
    main()
