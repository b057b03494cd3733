"""Where this installation came from, and the line that installs it again, with what an extra brings.

The name `thumbforge` on the package index belongs to another project, so no line of ours may say it: the distribution
is `doit-thumbforge`. What pip wrote down as it installed (PEP 610, `direct_url.json`) says whence the same comes again.
"""

from __future__ import annotations

import json
import shlex
from importlib import metadata
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "doit-thumbforge"
FORMER = "thumbforge"


def requirement(extra: str = "") -> str:
    """One line of a requirements file that brings what runs here: from the index, a repository, a wheel or a folder."""
    named = f"{DISTRIBUTION}[{extra}]" if extra else DISTRIBUTION
    try:
        found = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError:  # run from a clone that is only on the path
        return _folder(Path(__file__).parent.parent, extra)
    text = found.read_text("direct_url.json")
    if text is None:
        return f"{named}=={found.version}"
    origin: dict[str, Any] = json.loads(text)
    if vcs := origin.get("vcs_info"):
        return f"{named} @ {vcs['vcs']}+{origin['url']}@{vcs['commit_id']}"
    if "dir_info" in origin:
        return _folder(Path(unquote(urlsplit(origin["url"]).path)), extra)
    return f"{named} @ {origin['url']}"


def _folder(path: Path, extra: str) -> str:
    return f"-e {path}[{extra}]" if extra else f"-e {path}"


def is_here_only(line: str) -> bool:
    """Whether a `requirement` names something of this machine, which another machine does not have."""
    return line.startswith("-e ") or "@ file:" in line


def command(extra: str = "") -> str:
    """What to type to get an extra into this environment."""
    line = requirement(extra)
    words = line.split(" ", 1) if line.startswith("-e ") else [line]
    return f"pip install {shlex.join(words)}"


def namesake() -> str:
    """A line about another distribution here that owns the same folder and command, "" where there is none."""
    try:
        found = metadata.distribution(FORMER)
    except metadata.PackageNotFoundError:
        return ""
    if any(entry.group == "doit.COMMAND" for entry in found.entry_points):
        return (
            f"{FORMER} {found.version}, the former name of {DISTRIBUTION}, is installed here too: pip uninstall "
            f"{FORMER}, then install {DISTRIBUTION} again"
        )
    return (
        f"another project's package {FORMER} {found.version} is installed here too; both own the folder thumbforge/ "
        f"and the command: uninstall both, then install {DISTRIBUTION} alone"
    )
