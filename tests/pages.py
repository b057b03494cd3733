"""The pages of the documentation, and how the tests read Markdown."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = (README, ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md")))

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def table(markdown: str) -> list[list[str]]:
    """The cells of every table row that is neither a head's rule nor the head."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rule = [n for n, row in enumerate(rows) if set("".join(row)) <= set("-: ")]
    return [row for n, row in enumerate(rows) if n not in rule and n + 1 not in rule]


def bare(cell: str) -> str:
    return cell.strip("`")


def sections(markdown: str, level: int = 2) -> dict[str, str]:
    """Text by heading; code fences may hold lines that look like one."""
    plain = FENCE.sub(lambda match: match[0].replace("\n#", "\n\0#"), markdown)
    pieces = re.split(rf"^{'#' * level} (.+)$", plain, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], (piece.replace("\0", "") for piece in pieces[2::2]), strict=True))


def fenced_lines(markdown: str) -> list[tuple[str, str]]:
    """Each line of each code block, with its block."""
    return [(line, block) for _, block in FENCE.findall(markdown) for line in block.splitlines()]
