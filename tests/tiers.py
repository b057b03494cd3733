"""Which values of a test the gate has: the others run with `-m soak`."""

from __future__ import annotations

from typing import Any

import pytest


def soak(*values: object) -> list[Any]:
    """Single values that a short run leaves out, for `parametrize`."""
    return [pytest.param(value, marks=pytest.mark.soak) for value in values]
