"""What every source gives: a playlist, what was left out of it, and what to tell the user."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from thumbforge.errors import SourceError
from thumbforge.models import Playlist

MAX_ENTRIES = 100_000


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry that is no item. `place` counts from 1 in the list as it was given."""

    place: int
    video: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class FetchedPlaylist:
    """A playlist as a source gave it, and what to tell the user about it.

    `missing` is how many entries the source counts and does not list. `has_parts`: the parts are the source's own (a
    CSV with that column), not just 1 to n. `single`: the source was asked for one video, not for a list.
    """

    playlist: Playlist
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    missing: int = 0
    has_parts: bool = False
    single: bool = False


def playlist_id(name: str) -> str:
    """An id for a list that has none, made from a file's name."""
    word = re.sub(r"[^A-Za-z0-9_-]+", "-", unicodedata.normalize("NFC", name)).strip("-")[:64]
    return word if len(word) > 1 else f"list-{word}" if word else "list"


def whole(text: str) -> str:
    """JSON can hold half an emoji (a lone surrogate), which no file or font can."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def nothing_left(name: str, expected: int, skipped: Sequence[Skipped]) -> SourceError:
    """The error for a list in which there is no video to make a picture for."""
    if skipped:
        reasons = Counter(entry.reason for entry in skipped).most_common(3)
        told = "; ".join(f"{n} x {why}" for why, n in reasons)
        message = f"{name}: nothing is left of {len(skipped)} entries ({told})"
    else:
        message = f"{name} says it has {expected} videos but lists none" if expected else f"{name} is an empty playlist"
    return SourceError(message, hint="look at the playlist in a browser, then fetch it anew")
