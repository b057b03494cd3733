"""Many errors as one, so that all of them are told at once."""

from __future__ import annotations

from collections.abc import Mapping

from thumbforge.errors import Problem, SpecError, ThumbforgeError


def together(faults: Mapping[str, ThumbforgeError]) -> ThumbforgeError:
    """The one error, or a SpecError with the problems of all. `faults` are named by what they are of ("series mine");
    there is at least one."""
    if len(faults) == 1:
        return next(iter(faults.values()))
    problems: dict[Problem, None] = {}
    more = 0
    for name, error in faults.items():
        own = error.problems if isinstance(error, SpecError) else (Problem(name, 0, "", str(error)),)
        problems |= dict.fromkeys(own)
        more = max(more, error.more) if isinstance(error, SpecError) else more  # a list is told with its series again
    return SpecError(problems, hint=next((error.hint for error in faults.values() if error.hint), ""), more=more)
