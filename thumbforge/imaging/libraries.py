"""The libraries that pictures are drawn with and that may be newer than ours: their versions explain other pixels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import metadata

DRAWN_WITH: Mapping[str, str] = {"pillow": "13.0.0", "uharfbuzz": "0.57.0"}
"""Those that the pixels of this FINALISER_VERSION were looked at with. Written anew where that is raised, never alone:
what differs from it enters the final key."""


@cache
def versions() -> Mapping[str, str]:
    """The installed ones. Read without importing a library and without a mail parser, which takes 10 ms of a start."""
    found = {}
    for name in DRAWN_WITH:
        text = metadata.distribution(name).read_text("METADATA") or ""
        version = re.search(r"^Version: *(\S+)", text, re.MULTILINE)
        found[name] = version[1] if version else "unknown"
    return found


@cache
def others() -> Mapping[str, str] | None:
    """Those that are not `DRAWN_WITH`; None where all are."""
    return {name: version for name, version in versions().items() if version != DRAWN_WITH[name]} or None
