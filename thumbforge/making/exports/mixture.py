"""A folder of out/ that holds pictures of two kinds: some as the specs are, some as they were before. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from thumbforge.planning.plan import Row
from thumbforge.text import counted

_FEW = 10


def older(rows: Sequence[Row]) -> list[Row]:
    """The items whose file is of other specs than today's, where others' are of these. A locked one is meant so."""
    changed = [row for row in rows if row.changes and not row.is_locked and not row.is_in_place]
    return changed if changed and any(row.is_in_place for row in rows) else []


def told(series: str, rows: Sequence[Row]) -> str:
    """One line; "" where the folder is no mixture."""
    if not (found := older(rows)):
        return ""
    fields = list(dict.fromkeys(change.field.partition(".")[0] for row in found for change in row.changes))
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    parts = ", ".join(number(row) for row in found[:_FEW])
    are = "is" if len(found) == 1 else "are"
    return (
        f"out/{series}/ is a mixture: {counted(len(found), 'file')} {are} as before ({', '.join(fields[:4])}):"
        f" part {parts}{more}"
    )


def renamed(rows: Sequence[Row]) -> int:
    """How many files have their old name until the next batch."""
    return sum(bool(row.moved_from) for row in rows)


def number(row: Row) -> str:
    part = row.wanted.item.part
    return f"#{row.wanted.position}" if part is None else str(part)
