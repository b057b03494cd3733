"""A video's thumbnail as YouTube shows it now, in the largest size that there is."""

from __future__ import annotations

from functools import partial

from thumbforge.cancel import Cancel
from thumbforge.errors import NotFound, PictureError, SourceError, SourceNetwork
from thumbforge.sources import asking
from thumbforge.sources.api_errors import RETRY_HINT, Again
from thumbforge.web.http import Reply

BASE_URL = "https://i.ytimg.com"
SIZES = ("maxresdefault", "hq720", "sddefault", "hqdefault", "mqdefault")
"""1280x720 twice, then 640x480 and 480x360 with black bars, then 320x180; the last two are there for every video."""
MAX_BYTES = 20 * 2**20
MIN_WIDTH = 320


def download(base_url: str, video: str, retry_base_s: float, cancel: Cancel) -> tuple[str, bytes]:
    """The size's name and the bytes, which are still to be looked at: they may be WebP, or a sign-in page.

    A size that is missing is answered with a small grey picture, mostly but not always with the status 404. Raises
    NotFound where no size is there, SourceNetwork after three tries.
    """
    for size in SIZES:
        url = f"{base_url.rstrip('/')}/vi/{video}/{size}.jpg"
        try:
            reply = asking.with_retries(partial(_ask, url, cancel), retry_base_s, cancel)
        except Again as error:
            raise SourceNetwork(f"{error.message} (tried {asking.TRIES} times)", hint=error.hint) from error
        if reply.status == 200 and not _is_stand_in(reply.body):
            return size, reply.body
        if reply.status not in (200, 404):
            raise SourceError(f"the thumbnail of {video} is answered with {reply.status}", hint=RETRY_HINT)
    raise NotFound(f"YouTube has no thumbnail of {video}", hint="the video may be private or deleted")


def _is_stand_in(data: bytes) -> bool:
    """Whether it is a picture too small to be a thumbnail: the grey one has 120x90, the smallest size 320x180."""
    from thumbforge.pixels.picture import inspect

    try:
        return inspect(data).width < MIN_WIDTH
    except PictureError:
        return False


def _ask(url: str, cancel: Cancel) -> Reply:
    reply = asking.get(url, cancel=cancel, most=MAX_BYTES)
    if reply.status == 429 or reply.status >= 500:
        raise Again(f"the server of thumbnails answers {reply.status}", hint=RETRY_HINT)
    return reply
