"""What yt-dlp 2026.10.26 printed, file by file, and what is read of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from thumbforge.errors import SourceError
from thumbforge.sources.files import read_file

RECORDED = Path(__file__).parent / "data" / "recorded" / "ytdlp"
LIST = "PLmadeup000000000000000000000000"
OWNER = "aaaaaaaaaaaaaaaaaaaaaa"
READ: dict[str, tuple[str, list[int], str]] = {
    "list_flat.json": (LIST, [1, 3, 5, 6], ""),
    "list_flat_reversed.json": (LIST, [6, 5, 3, 1], ""),
    "list_flat_range_3_6.json": (LIST, [3, 5, 6], "holds videos 3 to 6 of the list's 6"),
    "list_flat_range_1_and_5.json": (LIST, [1, 5], "holds videos 1, 5 of the list's 6"),
    "list_full_ignore_errors.json": (LIST, [1, 3, 5, 6], ""),
    "channel.json": (f"UU{OWNER}", [1, 2, 11, 12], ""),
    "channel_videos.json": (f"UULF{OWNER}", [1, 2], ""),
    "channel_shorts.json": (f"UUSH{OWNER}", [11, 12], ""),
    "channel_streams.json": (f"UULV{OWNER}", [21, 22], ""),
    "video.json": ("tfMade00001", [1], ""),
    "video_flat.json": ("tfMade00001", [1], ""),
}
"""File: the list's id, the numbers of its videos in order, and what is told."""
REFUSED = {
    "list_flat_lines.jsonl": "use `-J`",
    "list_flat_range_beyond.json": "holds none of the list's 6 videos",
    "list_full_stops.json": "is empty",
    "channel_playlists.json": "is a page of playlists",
    "channel_playlists_full.json": "is a page of playlists",
    "two_addresses.jsonl": "save each address in a file of its own",
    "video_private.json": "yt-dlp failed",
    "video_private_ignored.json": "yt-dlp failed",
}


def test_every_recorded_file_is_here() -> None:
    """No file is left out."""
    assert {path.name for path in RECORDED.iterdir()} == READ.keys() | REFUSED.keys()


@pytest.mark.parametrize("name", READ)
def test_a_recorded_list_is_read(name: str) -> None:
    """Its videos in order, without the private ones; each tab of a channel as a list of its own."""
    own, videos, told = READ[name]
    found = read_file(RECORDED / name)
    assert found.playlist.playlist.id == own
    assert [item.video for item in found.playlist.items] == [f"tfMade{n:05d}" for n in videos]
    assert any(told in warning for warning in found.warnings) is bool(told)


@pytest.mark.parametrize("name", REFUSED)
def test_a_recorded_file_that_is_no_list_says_what_it_is(name: str) -> None:
    """In one line, with what to do."""
    with pytest.raises(SourceError) as caught:
        read_file(RECORDED / name)
    assert REFUSED[name] in caught.value.message
    assert caught.value.hint
