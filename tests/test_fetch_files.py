"""`thumbforge fetch` from files and through yt-dlp, on the command line; yt-dlp itself is played by a small package."""

from __future__ import annotations

import csv
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.fetch_site import Site, make_site, refused

DATA = Path(__file__).parent / "data" / "playlists"
EXPECT = json.loads((DATA / "expect.json").read_text(encoding="utf-8"))
NEUTRAL = "PLtfNeutral0000000000000000000000x"
WATCHED = "https://www.youtube.com/watch?v=tfVid000001"
UPLOADS = "https://www.youtube.com/playlist?list=UU0123456789abcdefghijkl"
LINK = f"https://www.youtube.com/playlist?list={NEUTRAL}"

FAKE_YTDLP = """
import json, os, pathlib
from . import utils, version

class YoutubeDL:
    def __init__(self, params):
        self.params = params
    def __enter__(self):
        return self
    def __exit__(self, *_):
        return False
    def extract_info(self, url, download=True):
        assert download is False and self.params["extract_flat"] == "in_playlist"
        with open(os.environ["FAKE_YTDLP_LOG"], "a") as log:
            log.write(url + "\\n")
        said = os.environ.get("FAKE_YTDLP_ERROR")
        if said:
            self.params["logger"].error("ERROR: " + said)
            raise utils.DownloadError("ERROR: " + said)
        document = json.loads(pathlib.Path(os.environ["FAKE_YTDLP_FILE"]).read_text())
        if os.environ.get("FAKE_YTDLP_ELSEWHERE") and "tab=1" not in url:
            return {"_type": "url", "url": url + "&tab=1"}
        return document
    @staticmethod
    def sanitize_info(info):
        return info
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """An empty project, no key, no yt-dlp."""
    return make_site(tmp_path / "site")


@pytest.fixture
def tool(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """The same, where `import yt_dlp` finds a package that answers from a file, or with an error."""
    package = tmp_path / "packages" / "yt_dlp"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE_YTDLP)
    (package / "utils.py").write_text("class DownloadError(Exception):\n    pass\n")
    (package / "version.py").write_text("__version__ = '2026.08.19'\n")
    monkeypatch.syspath_prepend(str(package.parent))
    for name in [name for name in sys.modules if name.partition(".")[0] == "yt_dlp"]:
        monkeypatch.delitem(sys.modules, name)
    yield_to = {"FAKE_YTDLP_LOG": str(tmp_path / "ytdlp.log"), "FAKE_YTDLP_FILE": str(DATA / "scikit-learn-9.json")}
    return site.with_environment(**yield_to)


def asked(tmp_path: Path) -> list[str]:
    return (tmp_path / "ytdlp.log").read_text().splitlines()


def saved(site: Site, name: str, content: Any) -> str:
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    (site.root / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


# Files


@pytest.mark.parametrize(
    ("name", "kept", "skipped"),
    [
        (
            "ytdlp_flat_private_deleted_null.json",
            EXPECT["ytdlp_flat_private_deleted_null.json"]["expect"]["kept_ids"],
            6,
        ),
        ("api_private_deleted.json", EXPECT["api_private_deleted.json"]["expect"]["kept_ids"], 2),
        ("api_search_entities.json", ["tfVid000961"], 1),
    ],
)
def test_a_file_is_a_source(name: str, kept: list[str], skipped: int, site: Site) -> None:
    """What yt-dlp -J or the Data API gave is read from disk: hidden entries are skipped, listed and not numbered."""
    document = site.fetch(str(DATA / name))
    assert site.parts(document["name"]) == [(video, n) for n, video in enumerate(kept, 1)]
    assert (document["source"], len(document["skipped"])) == ("file", skipped)
    assert site.fetch(str(DATA / name))["changes"] == []


def test_pages_of_the_data_api_are_one_list(site: Site) -> None:
    """Both pages give parts 1 to 51; the first alone is a short list, which takes nothing away."""
    pages = [json.loads((DATA / f"api_51_page{n}.json").read_text()) for n in (1, 2)]
    assert site.fetch(saved(site, "both.json", pages))["items"] == 51
    assert [part for _, part in site.parts(NEUTRAL)] == list(range(1, 52))
    document = site.fetch(str(DATA / "api_51_page1.json"))
    assert (document["changes"], document["items"]) == ([], 51)
    assert "1 stored videos are not in this short list" in " ".join(document["warnings"])


def test_titles_of_the_data_api_have_their_entities_undone_once(site: Site) -> None:
    """yt-dlp's titles hold none and are left alone."""
    name = site.fetch(str(DATA / "api_search_entities.json"))["name"]
    assert [item["title"] for item in site.items(name)] == ['Tom & Sam\'s "Day"']
    entry = {"id": "tfVid000001", "title": "AT&amp;T", "duration": 3, "channel": "x"}
    name = site.fetch(saved(site, "list.json", {"id": "PLamp0000000", "entries": [entry]}))["name"]
    assert site.items(name)[0]["title"] == "AT&amp;T"


def test_live_and_planned_videos_doubles_and_tabs_are_items(site: Site) -> None:
    """Nothing of this stops a fetch; ids that begin with - or differ in case only are items like others."""
    assert site.fetch(str(DATA / "ytdlp_live_upcoming.json"))["items"] == 8
    (site.root / f"specs/playlists/{NEUTRAL}.yaml").unlink()
    assert site.fetch(str(DATA / "ytdlp_duplicates.json"))["items"] == 13
    assert "-tfDash0001" in [video for video, _ in site.parts(NEUTRAL)]
    (site.root / f"specs/playlists/{NEUTRAL}.yaml").unlink()
    document = site.fetch(str(DATA / "ytdlp_channel_tabs.json"))
    assert [change["title"] for change in document["changes"]].count("Neutral Channel - Videos") == 0


def test_a_list_that_is_turned_around_moves_and_keeps_its_parts(site: Site) -> None:
    """Reversed upstream: the order is YouTube's, the parts stay with their videos."""
    document = json.loads((DATA / "scikit-learn-9.json").read_text())
    name = site.fetch(saved(site, "list.json", document))["name"]
    before = site.parts(name)
    document["entries"].reverse()
    changes = site.fetch(saved(site, "list.json", document))["changes"]
    assert {change["kind"] for change in changes} == {"moved"}
    assert site.parts(name) == before[::-1]


def test_parts_are_read_from_titles_where_that_is_asked(site: Site) -> None:
    """Every mark of the examples, and none where a number is no part; disagreement with the place is told."""
    expected = EXPECT["ytdlp_part_marks.json"]["expect"]["number_in_title"]
    document = site.fetch(str(DATA / "ytdlp_part_marks.json"), "--parts", "from-title")
    seen: set[int] = set()
    for video, part in site.parts(NEUTRAL):
        number = expected[video]
        assert part == (None if number in seen else number), video
        seen |= {number} - {None}
    assert "tfVid000426: the title says 16, its place is 27" in document["warnings"]
    assert any("tfVid000408 would be part 4, which tfVid000401 has: it gets none" in w for w in document["warnings"])


def test_a_badge_that_disagrees_with_its_title_is_told(site: Site) -> None:
    """A trailer in front moves all parts away from what the titles say: one warning with its cure, each in the table
    and in --json, and at the end what to type next."""
    told = site.run("fetch", str(DATA / "ytdlp_trailer_first.json"))
    assert told.err.count("the title says") == 1
    assert "tfVid000502: the title says 1, the part is 2 (and 3 more, " in told.err
    assert f"thumbforge playlist renumber {NEUTRAL} --from-title" in told.err
    assert told.out.splitlines()[-1] == f"Next: thumbforge batch {NEUTRAL} --hero PICTURE"
    rows = site.shown("playlist", "show", NEUTRAL)["entries"]
    assert [row["note"] for row in rows][:3] == [None, "the title says 1", "the title says 2"]
    assert site.run("playlist", "renumber", NEUTRAL, "--from-title").code == 0
    assert [part for _, part in site.parts(NEUTRAL)] == [None, 1, 2, None, 3, 5, None]
    assert [row["note"] for row in site.shown("playlist", "show", NEUTRAL)["entries"]] == [None] * 7


def test_a_list_with_a_series_is_told_that_series_next(site: Site) -> None:
    """The command that makes its pictures, ready to be pasted."""
    site.write("specs/series/mine.yaml", f"playlist: {NEUTRAL}\nhero: me.png\n")
    told = site.run("fetch", str(DATA / "ytdlp_trailer_first.json"))
    assert told.out.splitlines()[-1] == "Next: thumbforge batch series=mine"


def test_a_spreadsheet_brings_its_own_parts_and_texts(site: Site) -> None:
    """Columns part, label, text and topic are taken for new rows; later the YAML's own stay."""
    rows = [("title", "video", "part", "text"), ("A", "tfVid000001", "7", "*a*"), ("B", "tfVid000002", "", "")]
    with (site.root / "my show.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    document = site.fetch("my show.csv")
    assert (document["name"], site.parts("my-show")) == ("my-show", [("tfVid000001", 7), ("tfVid000002", None)])
    (site.root / "my show.csv").write_text("title,video,part,text\nA2,tfVid000001,9,other\nB,tfVid000002,,\n")
    assert [c["kind"] for c in site.fetch("my show.csv")["changes"]] == ["renamed"]
    assert site.items("my-show")[0] == {"part": 7, "video": "tfVid000001", "title": "A2", "text": "*a*"}


BIG = b'{"entries": [' + b" " * 50_000_000 + b"]}"


@pytest.mark.parametrize(
    ("name", "content", "code", "kind", "says"),
    [
        ("a.json", "", 1, "source_failed", "is empty"),
        ("a.json", "<!DOCTYPE html><html>", 1, "source_failed", "is a web page"),
        ("a.json", '{"entries": [', 1, "source_failed", "is cut off"),
        ("a.json", '{"entries": 7}', 1, "source_failed", "has no list `entries`"),
        ("a.json", '{"entries": [1, true, []]}', 1, "source_failed", "nothing is left of 3"),
        ("a.json", '{"entries": [{"id": "../../evil", "title": "x"}]}', 1, "source_failed", "nothing is left of 1"),
        ("a.json", '{"kind": "youtube#playlistItemListResponse"}', 1, "source_failed", "has no list `items`"),
        ("a.json", '{"kind": "youtube#x", "items": {}}', 1, "source_failed", "has no list `items`"),
        ("a.json", '{"kind": "youtube#x", "error": {"code": 403}, "items": []}', 1, "source_failed", "holds an error"),
        ("a.json", "[]", 1, "source_failed", "not what `yt-dlp -J` prints"),
        ("a.json", b'{"a": "\x00"}', 1, "source_failed", "NUL bytes"),
        ("a.json", BIG, 1, "source_failed", "50,000,000 is the most"),
        ("a.json", (DATA / "ytdlp_truncated.json").read_bytes(), 1, "source_failed", "is cut off"),
        ("a.jsonl", (DATA / "ytdlp_flat_lines.jsonl").read_bytes(), 1, "source_failed", "use `-J`"),
        ("a.json", (DATA / "ytdlp_mix.json").read_bytes(), 1, "source_failed", "is a mix"),
        ("a.json", (DATA / "ytdlp_empty.json").read_bytes(), 1, "source_failed", "is an empty playlist"),
        ("a.json", (DATA / "api_empty.json").read_bytes(), 1, "source_failed", "is an empty playlist"),
        ("a.json", (DATA / "ytdlp_all_private.json").read_bytes(), 1, "source_failed", "nothing is left of 3"),
        ("a.csv", "title,video\nx,short\n", 2, "spec_invalid", "is no video id"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_and_nothing_is_written(
    name: str, content: str | bytes, code: int, kind: str, says: str, site: Site
) -> None:
    """One line with a reason, a hint, the right exit; the project is as it was."""
    saved(site, name, content)
    assert says in refused(site.run("fetch", name, "--json"), code, kind)["message"]
    assert not (site.root / "specs").exists()
    assert not (site.home / "ledger.sqlite3").exists()


def test_a_bad_file_leaves_the_earlier_list_alone(site: Site) -> None:
    """A cut file is never a shorter list."""
    document = (DATA / "scikit-learn-9.json").read_text()
    name = site.fetch(saved(site, "list.json", document))["name"]
    before = site.yaml(name)
    refused(site.run("fetch", saved(site, "list.json", document[:900]), "--json"), 1, "source_failed")
    assert site.yaml(name) == before


def test_another_list_in_the_way_is_not_overwritten(site: Site) -> None:
    """A file of the same name that holds another playlist, or one that is wrong, is told and kept."""
    other = "playlist: {id: PLother0000000}\nitems: []\n"
    site.write(f"specs/playlists/{NEUTRAL}.yaml", other)
    problem = refused(site.run("fetch", str(DATA / "ytdlp_duplicates.json"), "--json"), 2, "usage")
    assert "holds playlist PLother0000000" in problem["message"]
    site.write(f"specs/playlists/{NEUTRAL}.yaml", f"playlist: {{id: {NEUTRAL}}}\nitems: [{{vidio: x}}]\n")
    refused(site.run("fetch", str(DATA / "ytdlp_duplicates.json"), "--json"), 2, "spec_invalid")
    assert "vidio" in site.yaml(NEUTRAL)


def test_titles_that_all_change_at_once_are_told_as_another_language(site: Site) -> None:
    """One that changes is an owner's work."""
    titles = {"fr": ["Un", "Deux", "Trois"], "mixed": ["Un", "Deux", "Three"], "en": ["One", "Two", "Drei"]}
    warned = []
    for told in titles.values():
        entries = [{"id": f"tfVid00000{n}", "title": title} for n, title in enumerate(told)]
        path = saved(site, "list.json", {"id": NEUTRAL, "title": "T", "entries": entries})
        warned.append("in another language" in site.run("fetch", path).err)
    assert warned == [False, False, True]


# yt-dlp


def test_without_key_and_ytdlp_the_ways_are_told(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 2, with all three ways in the hint."""
    monkeypatch.setitem(sys.modules, "yt_dlp", None)
    monkeypatch.setattr("thumbforge.sources.ytdlp.is_installed", lambda: False)
    hint = refused(site.run("fetch", LINK, "--json"), 2, "usage")["hint"]
    assert all(word in hint for word in ("THUMBFORGE_YOUTUBE_API_KEY", "[ytdlp]", "yt-dlp -J"))
    hint = refused(site.run("fetch", LINK, "--source", "ytdlp", "--json"), 2, "usage")["hint"]
    assert "[ytdlp]" in hint


@pytest.mark.parametrize(
    ("word", "address"),
    [
        (LINK, LINK),
        ("https://youtu.be/tfVid000001", WATCHED),
        ("@neutral", "https://www.youtube.com/@neutral/videos"),
        ("youtube.com/user/neutral", "https://www.youtube.com/user/neutral/videos"),
    ],
)
def test_ytdlp_is_asked_where_there_is_no_key(word: str, address: str, tool: Site, tmp_path: Path) -> None:
    """In-process, flat, by a clean address; a redirect is followed once; then it is fresh for a day. A channel is
    looked up, and its list is the one that the Data API has."""
    answer = json.loads((DATA / "scikit-learn-9.json").read_text()) | {"channel_id": f"UC{UPLOADS[-22:]}"}
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    tool = tool.with_environment(FAKE_YTDLP_ELSEWHERE="1", FAKE_YTDLP_FILE=str(tmp_path / "answer.json"))
    told = tool.fetch(word)
    assert (told["source"], told["items"]) == ("ytdlp", 9)
    addresses = [address] if address in (LINK, WATCHED) else [address, UPLOADS]
    assert asked(tmp_path) == [each for one in addresses for each in (one, f"{one}&tab=1")]
    if word.startswith("@"):
        assert tool.fetch(word)["fresh"] is True


@pytest.mark.parametrize(
    ("says", "code", "kind", "calls"),
    [
        ("[youtube:tab] PLx: The playlist does not exist.", 3, "not_found", 1),
        ("[youtube] x: Private video. Sign in if you've been granted access", 1, "source_private", 1),
        ("[youtube] x: Sign in to confirm you're not a bot", 1, "source_auth", 1),
        ("[youtube:tab] This playlist type is unviewable.", 1, "source_failed", 1),
        ("Unsupported URL: https://x", 2, "usage", 1),
        ("Unable to download API page: HTTP Error 429: Too Many Requests", 1, "source_network", 3),
        ("Unable to download webpage: [Errno -2] getaddrinfo failed\nmore", 1, "source_network", 3),
        ("something new", 1, "source_failed", 1),
    ],
)
def test_what_ytdlp_says_is_told_apart(says: str, code: int, kind: str, calls: int, tool: Site, tmp_path: Path) -> None:
    """As the Data API's errors are, with yt-dlp's version in the message; only what may pass is tried again."""
    problem = refused(tool.with_environment(FAKE_YTDLP_ERROR=says).run("fetch", LINK, "--json"), code, kind)
    assert "yt-dlp 2026.08.19" in problem["message"]
    assert len(asked(tmp_path)) == calls
    assert not (tool.root / "specs").exists()


def test_an_answer_of_ytdlp_that_is_no_list_is_an_error(tool: Site, tmp_path: Path) -> None:
    """null, which it prints where it failed, and an empty list that says it has 15 videos."""
    for content, says in (
        ("null", "found no list"),
        ('{"entries": [], "playlist_count": 15}', "says it has 15 videos"),
    ):
        (tmp_path / "answer.json").write_text(content)
        site = tool.with_environment(FAKE_YTDLP_FILE=str(tmp_path / "answer.json"))
        assert says in refused(site.run("fetch", LINK, "--json"), 1, "source_failed")["message"]


def test_titles_that_all_change_at_once_are_asked_for(site: Site) -> None:
    """The list in another language: the titles stay, one line says what takes the new ones, and that line works. One
    that changed alone, and a new video beside, follow as ever."""
    rows = {"aaaaaaaaaa1": "Bonjour", "aaaaaaaaaa2": "Le bois"}
    english = {"aaaaaaaaaa1": "Hello", "aaaaaaaaaa2": "Wood", "aaaaaaaaaa3": "New"}

    def write(titles: dict[str, str]) -> None:
        lines = ["title,video", *(f"{title},{video}" for video, title in titles.items())]
        (site.root / "my list.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def titles() -> list[str]:
        return [item["title"] for item in site.items("my-list")]

    write(rows)
    site.fetch("my list.csv")
    write(english)
    told = site.run("fetch", "my list.csv")
    assert (told.code, titles()) == (0, ["Bonjour", "Le bois", "New"])
    assert told.err.count("all 2 titles would change at once") == 1
    assert "at once" in site.run("fetch", "my list.csv").err
    assert titles() == ["Bonjour", "Le bois", "New"]  # also now that the list has a title that agrees
    [command] = re.findall(r"thumbforge (fetch .+) takes the new ones", told.err)
    assert site.run(*shlex.split(command)).code == 0
    assert titles() == list(english.values())
    write({**english, "aaaaaaaaaa1": "Hello again"})
    assert "at once" not in site.run("fetch", "my list.csv").err
    assert titles()[0] == "Hello again"
