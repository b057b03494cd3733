"""docs/walkthrough.md is what its commands print."""

from __future__ import annotations

from pathlib import Path

from tests.walkthrough import ROOT, typed


def test_the_walkthrough_is_what_its_commands_print(tmp_path: Path) -> None:
    """Typed anew; `python -m tests.walkthrough --into docs/walkthrough.md` writes it."""
    assert typed(tmp_path) == (ROOT / "docs/walkthrough.md").read_text(encoding="utf-8")
