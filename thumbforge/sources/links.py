"""What a YouTube address or id that somebody pasted points to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from thumbforge.errors import UsageError

_HOSTS = re.compile(r"(?:(?:www|m|music|gaming)\.)?youtube\.com|(?:www\.)?youtube-nocookie\.com|(?:www\.)?youtu\.be")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_VIDEO = re.compile(r"[A-Za-z0-9_-]{11}")
_LIST = re.compile(r"[A-Za-z0-9_-]{2,64}")
_BARE_LIST = re.compile(r"(?:PL|UU|FL|OL|RD)[A-Za-z0-9_-]{10,62}|WL|LL")
_VIDEO_FOLDERS = frozenset(("embed", "shorts", "live", "v", "e"))
_PLAYLIST_HINT = "open a public or unlisted playlist and copy its address (…/playlist?list=PL…)"


@dataclass(frozen=True, slots=True)
class PlaylistLink:
    id: str


@dataclass(frozen=True, slots=True)
class VideoLink:
    id: str


def parse_link(text: str) -> PlaylistLink | VideoLink | None:
    """The playlist or video that a YouTube address names, or the playlist of a bare id (PL…, UU…, FL…, OL…).

    An address with both takes the playlist. None for anything else, other hosts included. Raises UsageError for lists
    that nobody can read (mixes, "Watch later", "Liked videos") and for YouTube addresses of neither kind.
    """
    word = text.strip()
    if _BARE_LIST.fullmatch(word):
        return PlaylistLink(_readable(word))
    named = _named(word)
    if named is None:
        return None
    video, playlist = named
    if playlist:
        return PlaylistLink(_readable(playlist))
    if _VIDEO.fullmatch(video):
        return VideoLink(video)
    raise UsageError(f"{_short(word)} names no playlist and no video", hint=_PLAYLIST_HINT)


def video_in(text: str) -> str | None:
    """The video id in a bare id or a YouTube address, whatever list the address is from."""
    word = text.strip()
    named = (word, "") if _VIDEO.fullmatch(word) else _named(word)
    return named[0] if named and _VIDEO.fullmatch(named[0]) else None


def _named(word: str) -> tuple[str, str] | None:
    """Video and list as written in a YouTube address, "" where absent; None where it is no such address."""
    address = word.replace("\\", "")  # shells paste \? and \=
    try:
        url = urlsplit(address if _SCHEME.match(address) else f"https://{address}")
    except ValueError:
        return None
    if url.scheme.lower() not in ("http", "https") or not _HOSTS.fullmatch((url.hostname or "").lower()):
        return None
    query = parse_qs(url.query)
    playlist = query.get("list", [""])[0]
    video = query.get("v", [""])[0]
    folders = [part for part in url.path.split("/") if part]
    if folders and url.hostname and url.hostname.lower().endswith("youtu.be"):
        video = folders[0]
    if len(folders) > 1 and folders[0] in _VIDEO_FOLDERS and folders[1] != "videoseries":
        video = folders[1]
    if len(folders) > 1 and folders[0] == "browse" and folders[1].startswith("VL"):
        playlist = folders[1].removeprefix("VL")
    return video, playlist


def _readable(playlist: str) -> str:
    if not _LIST.fullmatch(playlist):
        raise UsageError(f"{_short(playlist)} is no playlist id", hint=_PLAYLIST_HINT)
    if playlist.startswith("RD"):
        raise UsageError(f"{_short(playlist)} is a mix: YouTube makes it anew for every viewer", hint=_PLAYLIST_HINT)
    if playlist in ("WL", "LL"):
        name = "Watch later" if playlist == "WL" else "Liked videos"
        raise UsageError(f'{playlist} is "{name}", which only its owner can read', hint=_PLAYLIST_HINT)
    return playlist


def _short(text: str) -> str:
    line = "".join(char if char.isprintable() else " " for char in text)
    return line if len(line) <= 80 else f"{line[:80]}…"
