"""What the last fetch of a list left behind: when, from where, how whole it was, and answers to ask with by ETag.

`.thumbforge/fetch/<id>.json`, a cache: deleting it costs a fetch, and nothing that a user wrote.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from thumbforge.durable import read_regular, write_whole
from thumbforge.sources.links import ChannelLink, PlaylistLink, VideoLink

FRESH_S = 24 * 3600.0
MAX_ANSWERS_BYTES = 50_000_000


@dataclass(frozen=True, slots=True)
class FetchState:
    """`fetched_at` is in Unix seconds. `missing` entries were counted but not listed when the list was last believed,
    `doubted` in a shorter list that was not; `head` is the list's head as the source gave it, `held`
    are its titles, by item, that were not taken over."""

    playlist: str = ""
    source: str = ""
    fetched_at: float = 0.0
    missing: int = 0
    doubted: int | None = None
    head: Mapping[str, Any] = field(default_factory=dict)
    held: Mapping[str, str] = field(default_factory=dict)

    def is_fresh(self, now: float, source: str) -> bool:
        """A clock that was set back does not make a list fresh for ever."""
        return self.source == source and 0 <= now - self.fetched_at < FRESH_S


def state_of(home: Path, name: str) -> FetchState:
    """The state of a list, or of a channel's handle; an empty one where there is none or it is damaged."""
    known = _read(_path(home, name))
    try:
        return FetchState(**known) if isinstance(known.get("head"), dict) else FetchState()
    except TypeError:
        return FetchState()


def keep_state(home: Path, state: FetchState, link: PlaylistLink | VideoLink | ChannelLink | None) -> None:
    """Write it down, for a channel's handle too. A full disk loses it, and the next fetch is not spared."""
    names = {state.playlist, link.name} if isinstance(link, ChannelLink) else {state.playlist}
    for name in names:
        _write(_path(home, name), asdict(state))


def answers_of(home: Path, name: str) -> Mapping[str, Any]:
    """Answers of the Data API by request."""
    return _read(_path(home, f"{name}.answers"))


def keep_answers(home: Path, name: str, answers: Mapping[str, Any]) -> None:
    if answers:
        _write(_path(home, f"{name}.answers"), answers)


def exported_of(home: Path, name: str) -> Mapping[str, Any]:
    """What the list said when its export was written or came back last."""
    return _read(_path(home, f"{name}.export"))


def keep_exported(home: Path, name: str, said: Mapping[str, Any]) -> None:
    _write(_path(home, f"{name}.export"), said)


def _path(home: Path, name: str) -> Path:
    return home / "fetch" / f"{name}.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(read_regular(path, MAX_ANSWERS_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return known if isinstance(known, dict) else {}


def _write(path: Path, content: Mapping[str, Any]) -> None:
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, json.dumps(content, ensure_ascii=False).encode())
