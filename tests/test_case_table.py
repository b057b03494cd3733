"""The table of cases: the page has every case, and a case that is wrong or has no test is told so."""

from __future__ import annotations

import re
from pathlib import Path

from tests.case_table import Case, cases, plain, table

PAGE = Path(__file__).parents[1] / "docs" / "cases.md"


def test_the_page_has_every_case_and_none_is_wrong() -> None:
    """Made anew with `python -m tests.case_table --into docs/cases.md` whenever a case comes along."""
    rows = re.findall(r"^\| `(.*)` \| .* \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in rows] == [plain(case.name) for case in cases()]
    assert [name for name, got in rows if not got.startswith("right (")] == []


def test_a_wrong_case_and_one_without_a_test_are_told() -> None:
    """Neither counts as right."""
    found = [
        Case("a", "one", "x", ("m",), {"t"}),
        Case("a", "two", "x", ("m",)),
        Case("a", "six", "x", ("m",), {"t"}, {"t"}),
    ]
    assert "| a | 1 | 3 |" in table(found)
    assert [case.got for case in found] == ["right (1 test)", "no test", "wrong: t"]
