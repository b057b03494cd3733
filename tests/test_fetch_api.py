"""`thumbforge fetch` from the YouTube Data API, on the real command line against a server on this machine."""

from __future__ import annotations

import json
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data_api_server import KEY, LIST, DataApi, hidden, row, video, wait_for
from tests.fetch_site import Site, make_site, refused
from tests.project import finish, make_project

DATA = Path(__file__).parent / "data"
FILE = f"specs/playlists/{LIST}.yaml"
LINK = f"https://www.youtube.com/playlist?list={LIST}"


@pytest.fixture
def api() -> Iterator[DataApi]:
    with DataApi() as server:
        server.lists[LIST] = [row(n) for n in (1, 2, 3)]
        yield server


@pytest.fixture
def site(tmp_path: Path, api: DataApi) -> Site:
    """An empty project whose YouTube is on this machine."""
    return make_site(tmp_path / "site", **api.environment)


def test_a_link_becomes_a_playlist_that_a_batch_takes(site: Site, api: DataApi) -> None:
    """Head, order, titles and durations are written with parts 1 to n; batch and its dry run find the list by link."""
    api.lists[LIST][0]["duration"] = "PT1H2M3S"
    document = site.fetch(LINK)
    assert (document["playlist"], document["file"], document["source"], document["units"]) == (LIST, FILE, "api", 3)
    assert [(c["kind"], c["part"], c["video"]) for c in document["changes"]] == [
        ("added", n, video(n)) for n in (1, 2, 3)
    ]
    assert [item["duration"] for item in site.items(LIST)] == [3723, 153, 153]
    assert site.yaml(LIST).splitlines()[0] == "# Woodwork for beginners, as YouTube lists it."
    assert 'language: "en"' in site.yaml(LIST)
    shutil.copy(DATA / "images" / "ok_640x360.jpg", site.root / "hero.jpg")
    plan = site.shown("batch", f"playlist={LINK}", "hero=hero.jpg", "--dry-run")["plan"]
    assert [(row["part"], row["video"]) for row in plan] == [(n, video(n)) for n in (1, 2, 3)]


def test_the_key_goes_in_a_header_and_nowhere_else(site: Site, api: DataApi) -> None:
    """No address, file or log holds it."""
    site.fetch(LINK)
    assert {headers["X-Goog-Api-Key"] for _, _, headers in api.asked} == {KEY}
    assert all(KEY not in json.dumps(params) for _, params, _ in api.asked)
    assert all(KEY.encode() not in data for _, data in site.files().values())


def test_a_list_of_1200_is_read_to_its_end(site: Site, api: DataApi) -> None:
    """50 rows and 50 videos a call, so 49 units; in place order, nothing lost or doubled."""
    api.lists[LIST] = [row(n) for n in range(1, 1201)]
    document = site.fetch(LIST)
    assert (document["items"], document["units"]) == (1200, 49)
    assert site.parts(LIST) == [(video(n), n) for n in range(1, 1201)]
    assert {len(call["id"].split(",")) for call in api.calls("videos")} == {50}
    assert {call["maxResults"] for call in api.calls("playlistItems")} == {"50"}


def test_hidden_videos_are_skipped_listed_and_never_numbered(site: Site, api: DataApi) -> None:
    """Private and deleted rows are told by what they lack; a public video called "Private video" is an item."""
    pages = json.loads((DATA / "playlists" / "api_private_deleted.json").read_text())
    api.lists[LIST] = pages["items"]
    document = site.fetch(LINK)
    assert site.parts(LIST) == [("tfVid000201", 1), ("tfVid000204", 2), ("tfVid000205", 3)]
    assert [(s["place"], s["reason"]) for s in document["skipped"]] == [(2, "private video"), (3, "deleted video")]


def test_the_same_video_twice_is_two_items_and_null_rows_do_no_harm(site: Site, api: DataApi) -> None:
    """Each place counts; durations are asked once per video, live ones have none, entities are undone once."""
    api.lists[LIST] = [
        row(1, "Tom &amp; Sam&#39;s &amp;amp; day"),
        row(2),
        row(1, id="row-3"),
        {"kind": "youtube#playlistItem"},
    ]
    api.lists[LIST][1]["duration"] = "P0D"
    document = site.fetch(LINK)
    assert site.parts(LIST) == [(video(1), 1), (video(2), 2), (video(1), 3)]
    assert site.items(LIST)[0]["title"] == "Tom & Sam's &amp; day"
    assert "duration" not in site.items(LIST)[1]
    assert document["skipped"] == [{"place": 4, "video": None, "reason": "is no video"}]
    assert len(api.calls("videos")[0]["id"].split(",")) == 2


@pytest.mark.parametrize(
    ("word", "name", "videos"),
    [
        (f"https://www.youtube.com/watch?v={video(2)}&list={LIST}&index=2", LIST, 3),
        (f"https://youtu.be/{video(2)}", video(2), 1),
        (video(2), video(2), 1),
        ("-tfDash0001", "video--tfDash0001", 1),
        ("https://www.youtube.com/channel/UCtfNeutralChannel00000x", "UUtfNeutralChannel00000x", 2),
        ("UCtfNeutralChannel00000x", "UUtfNeutralChannel00000x", 2),
        ("https://www.youtube.com/@neutral.channel/videos", "UULFtfNeutralChannel00000x", 2),
        ("@neutral.channel", "UUtfNeutralChannel00000x", 2),
        ("https://www.youtube.com/user/neutral", "UUtfNeutralChannel00000x", 2),
    ],
)
def test_every_kind_of_link_is_fetched(word: str, name: str, videos: int, site: Site, api: DataApi) -> None:
    """Playlists, videos (a list of one, without a part) and the uploads of channels, by id, address or handle."""
    dashed = row(4)
    dashed["contentDetails"]["videoId"] = "-tfDash0001"
    api.lists["UUtfNeutralChannel00000x"] = [row(9), row(8)]
    api.lists["UULFtfNeutralChannel00000x"] = [row(9), row(7)]
    api.lists["PLother0000000"] = [dashed]
    api.handles = {"@neutral.channel": "UUtfNeutralChannel00000x", "neutral": "UUtfNeutralChannel00000x"}
    told = site.run("fetch", word)
    assert told.code == 0, told.err
    assert [len(site.items(name)), [p.name for p in (site.root / "specs/playlists").iterdir()]] == [
        videos,
        [f"{name}.yaml"],
    ]
    assert (site.parts(name)[0][1] is None) == (videos == 1)
    assert ("a video and a playlist" in told.err) == ("&list=" in word)
    asked = len(api.asked)
    again = site.fetch(word)
    assert (again["fresh"], len(api.asked)) == (True, asked)
    assert site.run("playlist", "show", word).code == 0


def test_a_list_is_fresh_for_a_day(site: Site, api: DataApi) -> None:
    """Within it nothing is asked, unless --refresh; then what is still the same is not sent again."""
    site.fetch(LINK)
    asked = len(api.asked)
    assert "nothing was asked" in site.run("fetch", LINK).out
    assert len(api.asked) == asked
    assert site.fetch(LINK, "--refresh")["changes"] == []
    assert len(api.asked) == 2 * asked
    assert all("If-None-Match" in headers for _, _, headers in api.asked[asked:])
    state = site.home / "fetch" / f"{LIST}.json"
    state.write_text(json.dumps({**json.loads(state.read_text()), "fetched_at": 1.0}))
    assert site.fetch(LINK)["fresh"] is False
    (site.root / FILE).unlink()
    assert len(site.fetch(LINK)["changes"]) == 3


def test_a_kept_answer_is_used_where_it_still_holds(site: Site, api: DataApi) -> None:
    """A page that did change is read anew."""
    site.fetch(LINK)
    api.lists[LIST].append(row(4))
    changes = site.fetch(LINK, "--refresh")["changes"]
    assert [(c["kind"], c["video"], c["part"]) for c in changes] == [("added", video(4), 4)]


@pytest.mark.parametrize(
    ("answer", "code", "name", "calls", "says"),
    [
        ("key", 1, "source_auth", 1, "API key not valid"),
        ("key_old", 1, "source_auth", 1, "refuses the API key"),
        ("disabled", 1, "source_auth", 1, "is not enabled"),
        ("quota", 1, "source_quota", 1, "quota of the YouTube Data API is used up"),
        ("private", 1, "source_private", 1, "can be read by its owner only"),
        ("absent", 3, "not_found", 1, "YouTube knows no playlist"),
        ("rate", 1, "source_network", 3, "Slow down"),
        ("broken", 1, "source_network", 3, "answers 500: Something broke"),
        ("reset", 1, "source_network", 3, "the connection broke"),
        ("cut", 1, "source_network", 3, "the connection broke"),
        ("html", 1, "source_failed", 1, "answers with a web page"),
        ("half_json", 1, "source_failed", 1, "no whole JSON"),
        ("json_list", 1, "source_failed", 1, "JSON of another shape"),
        ("loop", 1, "source_failed", 2, "its pages have no end"),
    ],
)
def test_each_failure_is_told_apart(
    answer: str, code: int, name: str, calls: int, says: str, site: Site, api: DataApi
) -> None:
    """What may pass is tried three times, the rest once; each has its code, exit and hint; nothing is written."""
    api.plan("playlistItems", *[answer] * 3)
    problem = refused(site.run("fetch", LINK, "--json"), code, name)
    assert says in problem["message"]
    assert "<" not in problem["message"]
    assert len(api.calls("playlistItems")) == calls
    assert not (site.root / "specs").exists()
    assert not (site.home / "ledger.sqlite3").exists()
    if name == "source_quota":
        assert re.search(r"comes back at \d{4}-\d\d-\d\d 0[78]:00 UTC \(in \d+ h \d+ min\)", problem["hint"])


def test_what_was_fetched_before_survives_every_failure(site: Site, api: DataApi) -> None:
    """Page 2 fails for good: the first 50 are never taken for the whole, file and ledger stay as they were."""
    site.fetch(LINK)
    api.lists[LIST] = [row(n) for n in range(1, 101)]
    before = {name: data for name, (_, data) in site.files().items() if not name.endswith((".log", ".jsonl"))}
    for answers in (("ok", "broken", "broken", "broken"), ("ok", "quota")):
        api.plan("playlistItems", *answers)
        assert site.run("fetch", LINK, "--refresh").code == 1
    after = {name: data for name, (_, data) in site.files().items() if not name.endswith((".log", ".jsonl"))}
    assert after == before
    api.plan("playlistItems", "ok", "broken", "reset", "ok")
    api.plan("videos", "broken")
    assert site.fetch(LINK, "--refresh")["items"] == 100


def test_a_stale_page_token_starts_the_list_again(site: Site, api: DataApi) -> None:
    """The owner edited the list while it was read: it is read anew, once."""
    api.lists[LIST] = [row(n) for n in range(1, 61)]
    api.plan("playlistItems", "ok", "token")
    assert site.fetch(LINK)["items"] == 60
    api.plan("playlistItems", "ok", "token", "ok", "token")
    refused(site.run("fetch", LINK, "--refresh", "--json"), 1, "source_failed")


def test_an_unknown_video_and_channel_are_not_found(site: Site, api: DataApi) -> None:
    """Exit 3; YouTube answers 200 with nothing in it."""
    for word in (video(99), "@nobody.here", "UCtfNeutralChannel99999x"):
        refused(site.run("fetch", word, "--json"), 3, "not_found")


def test_an_empty_list_is_an_error_not_a_success(site: Site, api: DataApi) -> None:
    """Empty, nothing left after skipping, and a count without entries: exit 1, and earlier items stay."""
    site.fetch(LINK)
    before = site.yaml(LIST)
    for rows, total, says in (
        ([], 0, "is an empty playlist"),
        ([hidden(1), hidden(2, "Deleted")], 2, "nothing is left of 2 entries"),
        ([], 15, "says it has 15 videos but lists none"),
    ):
        api.lists[LIST], api.totals[LIST] = rows, total
        assert says in refused(site.run("fetch", LINK, "--refresh", "--json"), 1, "source_failed")["message"]
    assert site.yaml(LIST) == before


def test_a_short_list_takes_nothing_away_until_it_is_asked_twice(site: Site, api: DataApi) -> None:
    """206 counted, 100 sent: a warning, and all stay. A --refresh that finds the same again believes it."""
    api.lists[LIST] = [row(n) for n in range(1, 207)]
    site.fetch(LINK)
    before = site.yaml(LIST)
    api.lists[LIST], api.totals[LIST] = api.lists[LIST][:100], 206
    document = site.fetch(LINK, "--refresh")
    assert document["changes"] == []
    assert "106 stored videos are not in this short list and stay" in " ".join(document["warnings"])
    assert site.yaml(LIST) == before
    api.lists[LIST] = [row(n) for n in range(1, 91)]
    assert site.fetch(LINK, "--refresh")["changes"] == []  # another short list is doubted anew
    assert {c["kind"] for c in site.fetch(LINK, "--refresh")["changes"]} == {"removed"}
    assert [len(site.items(LIST)), sum(item.get("removed", False) for item in site.items(LIST))] == [206, 116]
    api.lists[LIST] = [row(n) for n in range(1, 207)]
    assert {c["kind"] for c in site.fetch(LINK, "--refresh")["changes"]} == {"returned"}
    assert site.yaml(LIST) == before


def test_a_list_that_always_counts_hidden_videos_is_whole(site: Site, api: DataApi) -> None:
    """YouTube counts videos that it never lists; where it is no more of them than before, a removal is believed."""
    api.totals[LIST] = 5
    assert "counts 5 videos and lists 3" in " ".join(site.fetch(LINK)["warnings"])
    api.lists[LIST], api.totals[LIST] = [row(1), row(3)], 4
    changes = site.fetch(LINK, "--refresh")["changes"]
    assert [(c["kind"], c["video"]) for c in changes] == [("removed", video(2))]


def test_ctrl_c_stops_a_fetch_at_once(site: Site, api: DataApi) -> None:
    """Exit 130, one line, nothing written, and the next one is as if it had never been."""
    api.plan("playlistItems", "slow")
    process = site.start("fetch", LINK)
    wait_for(lambda: api.calls("playlistItems"))
    time.sleep(0.3)  # by now it waits for the answer, and that is what is interrupted
    process.send_signal(signal.SIGINT)
    told = finish(process)
    assert told.code == 130
    assert told.err.startswith("interrupted: ")
    assert "Traceback" not in told.err
    assert not (site.root / "specs").exists()
    assert site.fetch(LINK)["items"] == 3


def test_a_server_that_does_not_answer_is_given_up(site: Site, api: DataApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """No wait is without an end: after three tries it is told as a network error."""
    monkeypatch.setattr("thumbforge.sources.asking.TIMEOUT_S", 0.1)
    api.plan("playlistItems", "slow", "slow", "slow")
    problem = refused(site.run("fetch", LINK, "--json"), 1, "source_network")
    assert "no whole answer in time (ReadTimeout) (tried 3 times)" in problem["message"]


def test_titles_reach_no_terminal_as_commands(site: Site, api: DataApi) -> None:
    """Escape sequences and direction marks in names from outside are blanks in everything that is printed."""
    api.lists[LIST] = [row(1, "a\x1b[2Jb\u202ec"), hidden(2)]
    api.titles[LIST] = "\x1b]0;x\x07list\u202e"
    api.totals[LIST] = 9
    told = [site.run("fetch", LINK), site.run("playlist", "show", LIST), site.run("playlist", "list")]
    assert all(one.code == 0 for one in told)
    assert not set("".join(one.out + one.err for one in told)) & set("\x1b\x07\u202e")


def test_doit_takes_the_same_words(api: DataApi, tmp_path: Path) -> None:
    """`doit fetch URL`, although doit takes words with = away from its commands."""
    project = make_project(tmp_path / "project", 1, **api.environment)
    told = project.doit("fetch", LINK)
    assert (told.code, "3 added." in told.out) == (0, True), told.err
    assert "PLtfNeutral" in project.doit("playlist", "list").out


@pytest.mark.parametrize(
    ("extra", "words", "code", "name", "says"),
    [
        ({"THUMBFORGE_YOUTUBE_API_URL": "http://example.org/v3"}, [LINK], 2, "usage", "is no https address"),
        ({"THUMBFORGE_YOUTUBE_API_URL": "http://127.0.0.1:9/v3"}, [LINK], 1, "source_network", "cannot be reached"),
        ({"THUMBFORGE_YOUTUBE_API_KEY": "two words\n"}, [LINK], 1, "source_auth", "holds characters that no key has"),
        ({"THUMBFORGE_YOUTUBE_API_KEY": ""}, [LINK, "--source", "api"], 2, "usage", "--source api needs"),
        ({}, [LINK, "--source", "rss"], 2, "usage", "expected api, ytdlp or file"),
        ({}, [LINK, "--parts", "next"], 2, "usage", "expected from-title, position or none"),
        ({}, [LINK, "--refesh"], 2, "usage", "refesh"),
        ({}, [], 2, "usage", "fetch needs a URL|ID|FILE"),
        ({}, [LINK, LIST], 2, "usage", "fetch does not know what to do with"),
        ({}, ["https://vimeo.com/12345"], 2, "usage", "no YouTube address"),
        ({}, ["https://youtube.com.evil.example/playlist?list=" + LIST], 2, "usage", "no YouTube address"),
        ({}, ["../../etc/passwd\x07"], 2, "usage", "no YouTube address"),
        ({}, ["https://www.youtube.com/watch?v=abcdefghijk&list=RDabcdefghijk"], 2, "usage", "is a mix"),
        ({}, ["WL"], 2, "usage", "Watch later"),
        ({}, ["https://www.youtube.com/playlist?list=../../x"], 2, "usage", "is no playlist id"),
        ({}, ["none.json"], 3, "not_found", "there is no file none.json"),
        ({}, [LINK, "--source", "file"], 3, "not_found", "there is no file"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(
    extra: dict[str, str], words: list[str], code: int, name: str, says: str, site: Site
) -> None:
    """Garbage, other hosts, look-alikes, mixes, private lists, wrong options, plain http: nothing written."""
    problem = refused(site.with_environment(**extra).run("fetch", *words, "--json"), code, name)
    assert says in problem["message"]
    assert not (site.root / "specs").exists()
