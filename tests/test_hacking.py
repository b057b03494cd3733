"""HACKING.md: the map has every room, and what it names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "thumbforge"
TEXT = (ROOT / "HACKING.md").read_text(encoding="utf-8")
PATHS = sorted({word for word in re.findall(r"`([\w./<>-]+)`", TEXT) if "/" in word or word.endswith(".py")})


def test_the_map_has_every_room() -> None:
    """In the table, and in the order that the tests of imports hold."""
    from tests.test_imports import ORDER

    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file()}
    assert set(re.findall(r"^\| `(\w+)/` \|", TEXT, re.MULTILINE)) == rooms
    [line] = [line for line in TEXT.splitlines() if line.strip().startswith("leaves <- ")]
    told = [set(step.split()) for step in line.split("<-")][1:]
    assert told == [set(names) & rooms for names in ORDER[1:]]


@pytest.mark.parametrize("name", [name for name in PATHS if "<" not in name and "*" not in name])
def test_a_file_that_is_named_is_there(name: str) -> None:
    """From the root, the package, the room that is spoken of, or the tests."""
    places = [ROOT, PACKAGE, *(folder for folder in PACKAGE.iterdir() if folder.is_dir()), PACKAGE / "providers"]
    assert any((place / name.rstrip("/")).exists() for place in places), name


def test_what_is_loaded_late_is_what_the_tests_call_heavy() -> None:
    """Each library by its own name."""
    from tests.test_imports import HEAVY

    names = {"PIL": "Pillow", "jinja2": "Jinja2", "yaml": "YAML", "uharfbuzz": "HarfBuzz"}
    late = TEXT.partition("## Late imports")[2].partition("\n## ")[0]
    assert [name for name in HEAVY if names.get(name, name) not in late] == []
