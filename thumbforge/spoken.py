"""What people read of us: it names the tool that they typed, and nothing in it is obeyed by a terminal.

Messages and hints are written with `thumbforge`, wherever they are made or kept; where they are shown to somebody who
typed `doit`, they say that.
"""

from __future__ import annotations

import re
import sys
from pathlib import PurePath

from thumbforge.text import clean

COMMANDS = frozenset(
    {
        *("audit", "batch", "check", "config", "explain", "fetch", "hero", "init", "playlist", "provider", "prune"),
        *("pull", "push", "repair", "runs", "series", "status", "takes", "template", "watch"),
    }
)
"""Ours, which are typed behind either name."""
OF_DOIT = frozenset({"clean", "forget", "help", "ignore", "info", "list", "run"})
_TYPED = re.compile(rf"\bthumbforge (?=(?:{'|'.join(sorted(COMMANDS | OF_DOIT))})\b)")


def tool() -> str:
    """`doit` where doit's own program runs us, else `thumbforge`."""
    started = PurePath(sys.argv[0] if sys.argv else "")
    return "doit" if started.stem == "doit" or started.parts[-2:] == ("doit", "__main__.py") else "thumbforge"


def spoken(text: str) -> str:
    """The text for a terminal."""
    return clean(as_typed(text))


def as_typed(text: str) -> str:
    """The commands in it, as this user types them."""
    return text if tool() == "thumbforge" else _TYPED.sub("doit ", text)
