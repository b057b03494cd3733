"""`fetch --thumbnails`: each video's current picture, told by its status and its bytes."""

from __future__ import annotations

import io
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.data_api_server import LIST, DataApi, row, video, wait_for
from tests.fetch_site import Site, make_site
from tests.project import finish

DATA = Path(__file__).parent / "data"
LINK = f"https://www.youtube.com/playlist?list={LIST}"


def jpeg(width: int, height: int, kind: str = "JPEG") -> bytes:
    out = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(out, kind)
    return out.getvalue()


@pytest.fixture
def api() -> Iterator[DataApi]:
    with DataApi() as server:
        server.lists[LIST] = [row(n) for n in (1, 2, 3)]
        server.pictures = {
            (video(1), "maxresdefault"): jpeg(1280, 720),
            (video(2), "hqdefault"): jpeg(480, 360),
            (video(3), "maxresdefault"): (DATA / "images" / "photo.avif").read_bytes(),
        }
        yield server


@pytest.fixture
def site(tmp_path: Path, api: DataApi) -> Site:
    return make_site(tmp_path / "site", **api.environment)


def names(site: Site) -> list[str]:
    return sorted(path.name for path in (site.home / "thumbnails").iterdir())


def test_the_largest_picture_that_is_there_is_stored(site: Site) -> None:
    """A 404 with a picture is a 404: the next size is asked for. The name ends as the bytes are, not as the address."""
    found = site.fetch(LINK, "--thumbnails")["thumbnails"]
    assert [(t["status"], t["size"], t["width"], t["height"]) for t in found[:2]] == [
        ("stored", "maxresdefault", 1280, 720),
        ("stored", "hqdefault", 480, 360),
    ]
    assert names(site) == [f"{video(1)}.jpg", f"{video(2)}.jpg", f"{video(3)}.avif"]
    assert found[0]["path"] == f".thumbforge/thumbnails/{video(1)}.jpg"
    with Image.open(site.root / found[0]["path"]) as picture:
        assert picture.size == (1280, 720)


def test_what_is_stored_is_not_asked_for_again(site: Site, api: DataApi) -> None:
    """Also while the list is fresh; --refresh asks again and replaces what has another suffix now."""
    site.fetch(LINK)
    site.fetch(LINK, "--thumbnails")
    asked = len(api.asked)
    told = site.run("fetch", LINK, "--thumbnails")
    assert "Thumbnails: 0 stored, 3 kept, 0 failed in .thumbforge/thumbnails/" in told.out
    assert len(api.asked) == asked
    api.pictures[video(1), "maxresdefault"] = jpeg(1280, 720, "WEBP")
    assert site.fetch(LINK, "--thumbnails", "--refresh")["thumbnails"][0]["status"] == "stored"
    assert names(site)[0] == f"{video(1)}.webp"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("page", "not a picture we can use: an HTML page"),
        (b'{"error": 1}', "not a picture we can use: JSON"),
        (jpeg(640, 360)[:900], "picture"),
        ("private", "is answered with 403"),
        ("broken", "answers 500 (tried 3 times)"),
        ("grey", f"YouTube has no thumbnail of {video(1)}"),
        (jpeg(120, 90), f"YouTube has no thumbnail of {video(1)}"),
    ],
)
def test_what_is_no_picture_is_told_and_not_stored(answer: bytes | str, says: str, site: Site, api: DataApi) -> None:
    """The other videos get theirs, the playlist is written, and the exit is 6."""
    api.pictures[video(1), "maxresdefault"] = answer
    told = site.run("fetch", LINK, "--thumbnails", "--json")
    assert told.code == 6
    failed, *others = told.document["thumbnails"]
    assert failed["status"] == "failed"
    assert says in failed["error"]
    assert failed["path"] is None
    assert [t["status"] for t in others] == ["stored", "stored"]
    assert f"no thumbnail of {video(1)}" in told.err
    assert len(site.items(LIST)) == 3
    assert len(names(site)) == 2


def test_ctrl_c_ends_the_thumbnails_in_flight(site: Site, api: DataApi) -> None:
    """They are asked for in threads, where no signal arrives: exit 130 all the same, long before their time is over."""
    api.pictures = {(video(n), "maxresdefault"): "slow" for n in (1, 2, 3)}
    process = site.start("fetch", LINK, "--thumbnails")
    wait_for(lambda: sum(path.startswith("/vi/") for path, *_ in api.asked) == 3)
    process.send_signal(signal.SIGINT)
    told = finish(process, 20)
    assert told.code == 130
    assert "Traceback" not in told.err


def test_a_stored_thumbnail_can_be_an_items_picture(site: Site) -> None:
    """Its path, written at the item, survives the next fetch."""
    path = site.fetch(LINK, "--thumbnails")["thumbnails"][0]["path"]
    text = site.yaml(LIST).replace(f'video: "{video(1)}"', f'video: "{video(1)}", picture: {path}')
    (site.root / f"specs/playlists/{LIST}.yaml").write_text(text)
    assert site.fetch(LINK, "--refresh")["changes"] == []
    assert site.items(LIST)[0]["picture"] == path
