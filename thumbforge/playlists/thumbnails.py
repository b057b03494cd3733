"""The videos' own thumbnails under `.thumbforge/thumbnails/<video id>.<suffix>`, judged by their content."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from thumbforge.cancel import Cancel
from thumbforge.durable import write_whole
from thumbforge.errors import StoreError, ThumbforgeError
from thumbforge.models import Playlist
from thumbforge.sources.thumbnails import BASE_URL, download

IMAGES_URL = "THUMBFORGE_YOUTUBE_IMAGE_URL"
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """What became of one video's. `size` is YouTube's name of it, "" where none was asked for; `width` and `height` are
    pixels of the file."""

    video: str
    status: Literal["stored", "kept", "failed"]
    path: Path | None = None
    size: str = ""
    width: int = 0
    height: int = 0
    error: str = ""


def stored(home: Path, video: str) -> Path | None:
    """The file with this video's thumbnail, None where it was never stored."""
    folder = home / "thumbnails"
    found = (folder / f"{video}{suffix}" for suffix in (".jpg", ".png", ".webp", ".gif", ".avif", ".bmp"))
    return next((path for path in found if path.is_file()), None)


def store_thumbnails(
    home: Path, playlist: Playlist, *, refresh: bool, retry_base_s: float, base_url: str | None = None
) -> tuple[Thumbnail, ...]:
    """One for each video that is listed, four at once. What is there already is kept, unless `refresh`. A video whose
    thumbnail cannot be had is reported, never fatal; StoreError where nothing can be written."""
    videos = dict.fromkeys(item.video for item in playlist.items if not item.removed)
    have = {video: path for video in videos if not refresh and (path := stored(home, video))}
    wanted = [video for video in videos if video not in have]
    made: dict[str, Thumbnail] = {}
    if wanted:
        cancel = Cancel()
        store = partial(_one, cancel, base_url or BASE_URL, home, retry_base_s)
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            made = dict(zip(wanted, pool.map(store, wanted), strict=True))
        finally:
            cancel.set()  # Ctrl-C: those in flight end, the others do not begin
            pool.shutdown(cancel_futures=True)
    return tuple(made[video] if video in made else Thumbnail(video, "kept", have[video]) for video in videos)


def failures(thumbnails: Iterable[Thumbnail]) -> list[Thumbnail]:
    return [thumbnail for thumbnail in thumbnails if thumbnail.status == "failed"]


def _one(cancel: Cancel, base_url: str, home: Path, retry_base_s: float, video: str) -> Thumbnail:
    from thumbforge.pixels.picture import inspect

    try:
        size, data = download(base_url, video, retry_base_s, cancel)
        info = inspect(data)
    except ThumbforgeError as error:
        return Thumbnail(video, "failed", error=error.message)
    path = home / "thumbnails" / f"{video}{info.suffix}"
    _write(path, data)
    return Thumbnail(video, "stored", path, size, info.width, info.height)


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all; what the video had in another format goes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, data)
        for other in path.parent.glob(f"{path.stem}.*"):
            if other != path:
                other.unlink(missing_ok=True)
    except OSError as error:
        message = f"thumbnail {path.name} could not be written: {error.strerror or error}"
        raise StoreError(message, hint="check free space and permissions") from error
