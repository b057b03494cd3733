"""What a pasted YouTube address or id means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import UsageError
from thumbforge.sources.links import ChannelLink, PlaylistLink, VideoLink, parse_link, parse_target, video_in

LIST = "PL5-da3qGB5ICCsgW1MxlZ0Hq8LL5U3u9y"
VIDEO = "-Ov1N1_FbP8"


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        f"  {LIST}\n",
        f"https://www.youtube.com/playlist?list={LIST}",
        f"http://youtube.com/playlist?list={LIST}&si=abc",
        f"youtube.com/playlist?list={LIST}",
        f"www.youtube.com/playlist?app=desktop&list={LIST}#top",
        f"HTTPS://M.YouTube.com/playlist?list={LIST}",
        f"https://music.youtube.com/playlist?list={LIST}",
        f"https://music.youtube.com/browse/VL{LIST}",
        f"https://www.youtube.com/watch?v={VIDEO}&list={LIST}&index=7&t=10s",
        f"https://youtu.be/{VIDEO}?list={LIST}",
        f"https://www.youtube.com/embed/{VIDEO}?list={LIST}",
        f"https://www.youtube.com/embed/videoseries?list={LIST}",
        f"https://www.youtube-nocookie.com/embed/videoseries?list={LIST}",
        f"https://www.youtube.com/playlist\\?list\\={LIST}",
        f"https://www.youtubekids.com/playlist?list={LIST}",
        f"https://www.youtube.com/oembed?url=https%3A%2F%2Fwww.youtube.com%2Fplaylist%3Flist%3D{LIST}&format=json",
        f"https://consent.youtube.com/m?continue=https%3A%2F%2Fwww.youtube.com%2Fplaylist%3Flist%3D{LIST}&hl=en",
        f"https://www.youtube.com/attribution_link?a=x&u=%2Fplaylist%3Flist%3D{LIST}%26feature%3Dshare",
    ],
)
def test_every_form_of_a_playlist_address_gives_its_id(text: str) -> None:
    """A playlist is taken from any YouTube address that names it; a watch address with a list is that list."""
    link = parse_link(text)
    assert isinstance(link, PlaylistLink)
    assert link.id == LIST
    assert link.video == (VIDEO if VIDEO in text else "")


CHANNEL = "UC0123456789_-abcdefghij"


@pytest.mark.parametrize(
    ("text", "link"),
    [
        (CHANNEL, PlaylistLink(f"UU{CHANNEL[2:]}")),
        (f"https://www.youtube.com/channel/{CHANNEL}/videos", PlaylistLink(f"UULF{CHANNEL[2:]}")),
        (f"https://www.youtube.com/channel/{CHANNEL}", PlaylistLink(f"UU{CHANNEL[2:]}")),
        (f"https://studio.youtube.com/channel/{CHANNEL}/videos/short?x=1", PlaylistLink(f"UUSH{CHANNEL[2:]}")),
        (f"https://studio.youtube.com/channel/{CHANNEL}/videos/upload", PlaylistLink(f"UU{CHANNEL[2:]}")),
        (f"https://studio.youtube.com/playlist/{LIST}/videos", PlaylistLink(LIST)),
        (f"https://studio.youtube.com/video/{VIDEO}/edit", VideoLink(VIDEO)),
        ("https://www.youtube.com/@%E6%97%A5%E6%9C%AC/shorts", ChannelLink("@日本", "shorts")),
        (VIDEO, VideoLink(VIDEO)),
        (f"youtu.be/{VIDEO}", VideoLink(VIDEO)),
        ("@some.body-1", ChannelLink("@some.body-1")),
        ("https://www.youtube.com/@some.body-1/videos?view=0", ChannelLink("@some.body-1", "videos")),
        ("https://www.youtube.com/@some.body-1/featured", ChannelLink("@some.body-1")),
        ("m.youtube.com/user/somebody", ChannelLink("somebody")),
        ("https://www.youtube.com/@some.body-1/shorts", ChannelLink("@some.body-1", "shorts")),
        ("https://www.youtube.com/@some.body-1/Streams?x=1", ChannelLink("@some.body-1", "streams")),
        (f"https://www.youtube.com/channel/{CHANNEL}/shorts", PlaylistLink(f"UUSH{CHANNEL[2:]}")),
        (f"https://www.youtube.com/channel/{CHANNEL}/streams", PlaylistLink(f"UULV{CHANNEL[2:]}")),
        (f"https://www.youtube.com/@somebody?list={LIST}", PlaylistLink(LIST)),
    ],
)
def test_a_target_may_also_be_a_channel_or_a_bare_id(text: str, link: object) -> None:
    """A channel's id means the list of its uploads (UU for UC); a handle or an old user name needs a look-up."""
    assert parse_target(text) == link


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pandas-30",
        "@",
        "@a/b",
        "https://www.youtube.com/c/somebody",
        "https://user@www.youtube.com/watch?v=" + VIDEO,
    ],
)
def test_a_target_that_names_nothing_is_refused(text: str) -> None:
    """Names, custom addresses that nobody can look up, and addresses with a user in them."""
    with pytest.raises(UsageError) as caught:
        parse_target(text)
    assert "playlist" in caught.value.hint


@pytest.mark.parametrize("channel", ["@somebody", f"channel/{CHANNEL}", "user/somebody"])
@pytest.mark.parametrize("tab", ["playlists", "search", "community", "podcasts", "about", "nonsense"])
def test_a_page_of_a_channel_that_is_no_list_is_refused(channel: str, tab: str) -> None:
    """Never all uploads in its place, without a word."""
    with pytest.raises(UsageError, match=f"the page {tab} of a channel is no list of videos"):
        parse_target(f"https://www.youtube.com/{channel}/{tab}?query=x")


def test_an_old_custom_name_is_refused_with_what_to_copy() -> None:
    """Nothing can look it up."""
    with pytest.raises(UsageError, match="c/Somebody is an old kind of name") as caught:
        parse_target("https://www.youtube.com/c/Somebody/videos")
    assert "@handle" in caught.value.hint


@pytest.mark.parametrize("prefix", ["PL", "UU", "FL", "OL"])
def test_bare_ids_of_lists_are_known_by_their_beginning(prefix: str) -> None:
    """A bare id of at least 12 characters is a playlist; a shorter word is not."""
    assert parse_link(f"{prefix}0123456789") == PlaylistLink(f"{prefix}0123456789")
    assert parse_link(f"{prefix}012345678") is None


@pytest.mark.parametrize(
    "text",
    [
        f"https://www.youtube.com/watch?v={VIDEO}",
        f"youtu.be/{VIDEO}",
        f"https://youtu.be/{VIDEO}?si=abc#t=3",
        f"https://www.youtube.com/embed/{VIDEO}?rel=0",
        f"https://www.youtube.com/shorts/{VIDEO}",
        f"https://m.youtube.com/live/{VIDEO}?feature=share",
        f"https://www.youtube.com/v/{VIDEO}",
    ],
)
def test_an_address_of_a_video_alone_is_a_video(text: str) -> None:
    """Without a list, the address is of a video."""
    assert parse_link(text) == VideoLink(VIDEO)
    assert video_in(text) == VIDEO


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pandas-30",
        "specs/playlists/pandas-30.yaml",
        VIDEO,
        f"https://vimeo.com/playlist?list={LIST}",
        f"https://youtube.com.example.org/playlist?list={LIST}",
        f"https://www.youtube.com@example.org/playlist?list={LIST}",
        f"ftp://www.youtube.com/playlist?list={LIST}",
        "https://[::1/playlist",
        "file:///etc/passwd",
    ],
)
def test_anything_else_is_no_link(text: str) -> None:
    """Names, paths, bare video ids and other hosts are left to the caller."""
    assert parse_link(text) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f"https://www.youtube.com/watch?v={VIDEO}&list=RD{VIDEO}", "is a mix"),
        (f"RD{VIDEO}", "is a mix"),
        ("https://www.youtube.com/playlist?list=WL", '"Watch later", which only its owner can read'),
        ("WL", "Watch later"),
        ("https://www.youtube.com/playlist?list=LL", "Liked videos"),
        ("https://www.youtube.com/@somebody", "names no playlist and no video"),
        ("https://www.youtube.com/channel/UCshort/videos", "names no playlist and no video"),
        ("https://www.youtube.com/embed/live_stream", "names no playlist and no video"),
        ("HL", "History"),
        (f"https://www.youtube.com/watch?v={VIDEO}&list=TLGGabcdefghijklm", "is a queue"),
        ("TLPQabcdefghijklm", "is a queue"),
        ("RDMM", "is a mix"),
        ("https://www.youtube.com/playlist", "names no playlist and no video"),
        ("https://www.youtube.com/watch?v=tooshort", "names no playlist and no video"),
        ("https://www.youtube.com/playlist?list=../../x", "is no playlist id"),
    ],
)
def test_what_nobody_can_read_is_refused_with_a_reason(text: str, reason: str) -> None:
    """Mixes, private lists and YouTube addresses of something else are usage errors that say what to paste."""
    with pytest.raises(UsageError, match=reason) as caught:
        parse_link(text)
    assert "playlist" in caught.value.hint


def test_a_video_is_found_whatever_list_it_is_from() -> None:
    """The video of a watch address is its own, also inside a mix."""
    assert video_in(f"https://www.youtube.com/watch?v={VIDEO}&list=RD{VIDEO}") == VIDEO
    assert video_in(VIDEO) == VIDEO
    assert video_in("https://example.org/watch?v=" + VIDEO) is None
    assert video_in("../../evil") is None


@given(st.text(max_size=60) | st.text(max_size=40).map(lambda tail: f"https://youtube.com/{tail}"))
def test_no_text_breaks_the_reading(text: str) -> None:
    """Any text is a link, no link, or refused in one line."""
    try:
        link = parse_link(text)
    except UsageError as error:
        link = None
        refused = str(error)
    else:
        refused = ""
    assert "\n" not in refused
    assert link is None or len(link.id) >= 2
