"""What a YouTube address or id that somebody pasted points to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeGuard
from urllib.parse import parse_qs, unquote, urlsplit

from thumbforge.errors import UsageError
from thumbforge.text import one_line

_HOSTS = re.compile(
    r"(?:(?:www|m|music|gaming|consent|studio)\.)?youtube\.com|(?:www\.)?youtube-nocookie\.com|(?:www\.)?youtubekids\.com"
    r"|(?:www\.)?youtu\.be"
)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_VIDEO = re.compile(r"[A-Za-z0-9_-]{11}")
_LIST = re.compile(r"[A-Za-z0-9_-]{2,64}")
_BARE_LIST = re.compile(r"(?:PL|UU|FL|OL|RD|EC|TL|PU|UL)[A-Za-z0-9_-]{10,62}|WL|LL|LM|HL|RDMM")
_CHANNEL = re.compile(r"UC[A-Za-z0-9_-]{22}")
_HANDLE = re.compile(r"@[\w.·-]{1,60}")
_NAME = re.compile(r"[\w.-]{1,60}")
_VIDEO_FOLDERS = frozenset(("embed", "shorts", "live", "v", "e", "video", "watch"))
_NO_VIDEOS = frozenset(("videoseries", "live_stream"))  # eleven letters, as an id has
_WRAPPERS = {"attribution_link": "u", "m": "continue", "ml": "continue", "oembed": "url"}
TABS = {"": "UU", "videos": "UULF", "shorts": "UUSH", "streams": "UULV"}
"""The tabs of a channel that are lists of videos, "" for all uploads, and how the ids of these lists begin."""
_EVERYTHING = frozenset(("", "featured", "home"))
_STUDIO_TABS = {"upload": "", "short": "shorts", "live": "streams"}
_PLAYLIST_HINT = "open a public or unlisted playlist and copy its address (…/playlist?list=PL…)"
_OWNERS_ONLY = {"WL": "Watch later", "LL": "Liked videos", "LM": "Liked music", "HL": "History"}


@dataclass(frozen=True, slots=True)
class PlaylistLink:
    """`video` is the one that the same address names, "" where it names none."""

    id: str
    video: str = ""

    @property
    def name(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class VideoLink:
    id: str

    @property
    def name(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True)
class ChannelLink:
    """A channel by name: `@handle`, or the plain word of an old `/user/` address, which needs a look-up. `tab` is the
    one of its pages that is meant, "" for all uploads."""

    id: str
    tab: str = ""

    @property
    def name(self) -> str:
        """Another one for each of its tabs."""
        return f"{self.id}-{self.tab}" if self.tab else self.id


@dataclass(frozen=True, slots=True)
class _Named:
    video: str = ""
    playlist: str = ""
    channel: str = ""
    tab: str = ""


def parse_link(text: str) -> PlaylistLink | VideoLink | None:
    """The playlist or video that a YouTube address names, or the playlist of a bare id (PL…, UU…, FL…, OL…).

    An address with both takes the playlist, that of a channel its uploads. None for anything else, other hosts
    included. Raises UsageError for lists that nobody can read (mixes, "Watch later", "Liked videos") and for YouTube
    addresses of neither kind.
    """
    word = text.strip()
    if _BARE_LIST.fullmatch(word):
        return PlaylistLink(_readable(word))
    named = _named(word)
    if named is None:
        return None
    if named.playlist:
        return PlaylistLink(_readable(named.playlist), named.video if _VIDEO.fullmatch(named.video) else "")
    if _VIDEO.fullmatch(named.video):
        return VideoLink(named.video)
    if _CHANNEL.fullmatch(named.channel):
        return PlaylistLink(list_of(named.channel, named.tab))
    raise UsageError(f"{_short(word)} names no playlist and no video", hint=_PLAYLIST_HINT)


def parse_target(text: str) -> PlaylistLink | VideoLink | ChannelLink:
    """What is to be fetched: as `parse_link`, and bare ids of videos and channels, `@handle`, addresses of handles.

    Raises UsageError for everything else.
    """
    word = text.strip()
    if _CHANNEL.fullmatch(word):
        return PlaylistLink(list_of(word))
    if _VIDEO.fullmatch(word):
        return VideoLink(word)
    if _HANDLE.fullmatch(word):
        return ChannelLink(word)
    named = _named(word)
    if named and not (named.playlist or named.video) and named.channel and not _CHANNEL.fullmatch(named.channel):
        return ChannelLink(named.channel, _readable_tab(named.tab))
    if link := parse_link(word):
        return link
    raise UsageError(f"{_short(word)!r} is no file, no YouTube address and no id", hint=_PLAYLIST_HINT)


def video_in(text: str) -> str | None:
    """The video id in a bare id or a YouTube address, whatever list the address is from."""
    word = text.strip()
    named = _Named(video=word) if _VIDEO.fullmatch(word) else _named(word)
    return named.video if named and _VIDEO.fullmatch(named.video) else None


def tab_in(address: str) -> str:
    """The page of a channel that the address is of, "" where it is of none."""
    named = _named(address.strip())
    return named.tab.lower() if named and named.tab.lower() not in _EVERYTHING else ""


def _named(word: str, wrapped: int = 0) -> _Named | None:
    """What is written in a YouTube address; None where it is no such address."""
    address = word.replace("\\", "")  # shells paste \? and \=
    try:
        url = urlsplit(address if _SCHEME.match(address) else f"https://{address}")
        host = (url.hostname or "").lower()
    except ValueError:
        return None
    if url.scheme.lower() not in ("http", "https") or "@" in url.netloc or not _HOSTS.fullmatch(host):
        return None
    query = parse_qs(url.query)
    folders = [unquote(part) for part in url.path.split("/") if part]
    inner = query.get(_WRAPPERS.get(folders[0], ""), [""])[0] if folders else ""
    if inner and wrapped < 3:
        return _named(f"https://www.youtube.com{inner}" if inner.startswith("/") else inner, wrapped + 1)
    video, playlist = query.get("v", [""])[0], query.get("list", [""])[0]
    if folders and host.endswith("youtu.be"):
        video = folders[0]
    if len(folders) > 1 and folders[0] in _VIDEO_FOLDERS and folders[1] not in _NO_VIDEOS:
        video = folders[1]
    if len(folders) > 1 and folders[0] == "browse" and folders[1].startswith("VL"):
        playlist = folders[1].removeprefix("VL")
    if len(folders) > 1 and folders[0] == "playlist":  # as Studio writes it
        playlist = folders[1]
    if host == "studio.youtube.com" and len(folders) > 3 and folders[0] == "channel" and folders[2] == "videos":
        folders = [*folders[:2], _STUDIO_TABS.get(folders[3], folders[3])]
    return _Named(video, playlist, *_channel(folders))


def _channel(folders: list[str]) -> tuple[str, str]:
    """The channel's name or id, and its tab; "" where there is none."""
    if folders and _HANDLE.fullmatch(folders[0]):
        return folders[0], "".join(folders[1:2])
    if len(folders) > 1 and folders[0] == "channel":
        return folders[1], "".join(folders[2:3])
    if len(folders) > 1 and folders[0] == "user" and _NAME.fullmatch(folders[1]):
        return folders[1], "".join(folders[2:3])
    if len(folders) > 1 and folders[0] == "c":
        raise UsageError(
            f"{_short('/'.join(folders[:2]))} is an old kind of name that cannot be looked up",
            hint="open it in a browser, and copy the channel's @handle, or the address of one of its playlists",
        )
    return "", ""


def is_channel(text: object) -> TypeGuard[str]:
    """Whether it is a channel's id."""
    return isinstance(text, str) and _CHANNEL.fullmatch(text) is not None


def list_of(channel: str, tab: str = "") -> str:
    """The playlist that YouTube keeps of a channel's tab: its id with another beginning for UC. UsageError for a tab
    that is no list of videos."""
    return f"{TABS[_readable_tab(tab)]}{channel[2:]}"


def _readable_tab(tab: str) -> str:
    if tab.lower() in _EVERYTHING:
        return ""
    if tab.lower() not in TABS:
        raise UsageError(
            f"the page {_short(tab)} of a channel is no list of videos",
            hint="copy the address of one of its playlists, or take the channel itself, its /videos, /shorts, /streams",
        )
    return tab.lower()


def _readable(playlist: str) -> str:
    if not _LIST.fullmatch(playlist):
        raise UsageError(f"{_short(playlist)} is no playlist id", hint=_PLAYLIST_HINT)
    if playlist.startswith(("RD", "UL")):
        raise UsageError(f"{_short(playlist)} is a mix: YouTube makes it anew for every viewer", hint=_PLAYLIST_HINT)
    if playlist.startswith("TL"):
        raise UsageError(f"{_short(playlist)} is a queue that is gone when its page is closed", hint=_PLAYLIST_HINT)
    if name := _OWNERS_ONLY.get(playlist):
        raise UsageError(f'{playlist} is "{name}", which only its owner can read', hint=_PLAYLIST_HINT)
    return playlist


def _short(text: str) -> str:
    return one_line(text, 81)
