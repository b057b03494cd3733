"""`thumbforge playlist list | show | renumber` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fetch_site import Site, make_site, refused
from tests.project import make_project

DATA = Path(__file__).parent / "data" / "playlists"
WOOD = """\
# the workshop
playlist: {id: PLwood0000000, title: Wood}
items:
  - {video: tfVid000001, title: Trailer, part: 1}   # the trailer
  # begins here
  - {video: "-tfDash0001", title: "Joints, Part 1", part: 2, text: "*JOINTS*"}
  - video: tfVid000003
    title: Glue
  - {video: tfVid000004, title: Gone, part: 3, removed: true}
  - {video: tfVid000001, title: Trailer, part: 9}
"""


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = make_site(tmp_path / "site")
    made.write("specs/playlists/wood.yaml", WOOD)
    return made


def parts(site: Site) -> list[int | None]:
    return [part for _, part in site.parts("wood")]


def test_playlists_are_listed(site: Site) -> None:
    """Name, id, title, items, parts and when it was fetched; --json says the same with numbers."""
    fetched = site.fetch(str(DATA / "scikit-learn-9.json"))
    rows = site.shown("playlist", "list")["playlists"]
    assert rows[1] == {
        "name": "wood", "id": "PLwood0000000", "title": "Wood", "items": 4, "removed": 1, "parts": "1-9",
        "fetched_at": None,
    }  # fmt: skip
    assert (rows[0]["name"], rows[0]["fetched_at"]) == (fetched["name"], fetched["fetched_at"])
    table = site.run("playlist").out
    assert table.splitlines()[0].split() == ["name", "id", "title", "items", "parts", "fetched"]
    assert "4 (1 removed)" in table


def test_an_empty_project_has_no_playlists(tmp_path: Path) -> None:
    """One line that says how to get one."""
    empty = make_site(tmp_path / "empty")
    assert "thumbforge fetch" in empty.run("playlist", "list").out
    assert empty.shown("playlist", "list") == {"playlists": []}


@pytest.mark.parametrize("word", ["wood", "PLwood0000000", "https://www.youtube.com/playlist?list=PLwood0000000"])
def test_a_playlist_is_shown_by_name_id_or_address(word: str, site: Site) -> None:
    """Position, part, video, title, text, removed, and where the title says another number."""
    document = site.shown("playlist", "show", word)
    assert document["name"] == "wood"
    assert [(e["position"], e["part"], e["removed"]) for e in document["entries"]] == [
        (1, 1, False), (2, 2, False), (3, None, False), (4, 3, True), (5, 9, False),
    ]  # fmt: skip
    assert document["entries"][1]["note"] == "the title says 1"
    assert "*JOINTS*" in site.run("playlist", "show", word).out


def test_renumber_by_place_keeps_everything_else(site: Site) -> None:
    """From N on, without what is skipped or removed; comments, texts and the order of fields stay."""
    told = site.run("playlist", "renumber", "wood", "--start", "5", "--skip", "tfVid000001")
    assert told.code == 0, told.err
    assert told.out.splitlines()[0].split() == ["position", "before", "after", "video", "title"]
    assert "4 of 5 parts change." in told.out
    assert site.yaml("wood") == WOOD.replace("part: 1}", "part: null}").replace("part: 2,", "part: 5,").replace(
        "video: tfVid000003\n", "video: tfVid000003\n    part: 6\n"
    ).replace("part: 9", "part: null")


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ([], [1, 2, 3, None, 4]),
        (["--start", "0"], [0, 1, 2, None, 3]),
        (["--skip=-tfDash0001,tfVid000003"], [1, None, None, 3, 2]),
        (["--skip", "-tfDash0001"], [1, None, 2, None, 3]),
        (["--from-title"], [None, 1, None, 3, None]),
    ],
)
def test_the_new_parts_are_shown_before_they_are_written(words: list[str], after: list[int | None], site: Site) -> None:
    """--dry-run writes nothing. A removed video keeps its part, unless another has it now."""
    document = site.shown("playlist", "renumber", "wood", "--dry-run", *words)
    assert [row["before"] for row in document["items"]] == [1, 2, None, 3, 9]
    assert [row["after"] for row in document["items"]] == after
    assert document["dry_run"] is True
    assert site.yaml("wood") == WOOD
    assert not site.home.exists()
    assert site.shown("playlist", "renumber", "wood", *words)["items"] == document["items"]
    assert parts(site) == after
    again = site.shown("playlist", "renumber", "wood", *words)
    assert again["changed"] == 0


def test_parts_survive_the_next_fetch_as_the_users_word(site: Site) -> None:
    """In the file, and in the ledger, where no ingest overrides what a user said."""
    name = site.fetch(str(DATA / "scikit-learn-9.json"))["name"]
    site.run("playlist", "renumber", name, "--start", "21", "--skip", "elojMnjn4kk")
    before = site.parts(name)
    document = json.loads((DATA / "scikit-learn-9.json").read_text())
    document["entries"].reverse()
    document["entries"][0]["title"] = "New title"
    (site.root / "again.json").write_text(json.dumps(document))
    assert {c["kind"] for c in site.fetch("again.json")["changes"]} == {"moved", "renamed"}
    assert site.parts(name) == before[::-1]
    facts = site.facts("part")
    assert [(video, part) for video, part, _ in facts] == before[::-1]
    assert {origin for *_, origin in facts} == {"user"}
    site.execute("UPDATE run SET checkpoint_json = '{}'")  # the next ingest states everything once more
    site.fetch("again.json")
    assert site.facts("part") == facts


def test_a_batch_takes_the_new_parts(tmp_path: Path) -> None:
    """Renumbering draws again and paints nothing."""
    site = Site(make_project(tmp_path / "project", 3).root)
    assert site.batch().code == 0
    assert site.run("playlist", "renumber", "show", "--start", "4").code == 0
    assert [row["action"] for row in site.plan()] == ["refinish"] * 3
    assert site.batch().code == 0
    assert (site.calls, [name[:2] for name in site.out() if name[0] == "0"]) == (3, ["04", "05", "06"])


@pytest.mark.parametrize(
    ("words", "code", "kind", "says"),
    [
        (["show", "iron"], 3, "not_found", "no playlist iron"),
        (["show"], 2, "usage", "playlist show needs a NAME; there"),
        (["show", "wood", "iron"], 2, "usage", "playlist show does not know what to do with 'iron'"),
        (["list", "wood"], 2, "usage", "playlist list does not know what to do with 'wood'"),
        (["destroy", "wood"], 2, "usage", "playlist does not know 'destroy'"),
        (["renumber", "wood", "--start", "-1"], 2, "usage", "expected a whole number from 0"),
        (["renumber", "wood", "--start", "1.5"], 2, "usage", "expected a whole number from 0"),
        (["renumber", "wood", "--start", "100000"], 2, "usage", "would be above 100,000"),
        (["renumber", "wood", "--start", "2", "--from-title"], 2, "usage", "both say the numbers"),
        (["renumber", "wood", "--skip", "tfVid000099"], 3, "not_found", "tfVid000099 is not in the playlist"),
        (["renumber", "../../etc/passwd"], 3, "not_found", "no playlist"),
        (["show", "wood", "part=3"], 2, "usage", "playlist show takes no part=…"),
        (["show", "wood", "colour=3"], 2, "usage", "unknown variable colour"),
    ],
)
def test_what_is_not_meant_is_refused(words: list[str], code: int, kind: str, says: str, site: Site) -> None:
    """One line, a hint, nothing changed."""
    assert says in refused(site.run("playlist", *words, "--json"), code, kind)["message"]
    assert site.yaml("wood") == WOOD


def test_an_option_of_another_verb_is_refused(site: Site) -> None:
    """What has no meaning is not ignored."""
    told = site.run("playlist", "show", "wood", "--start", "3")
    assert (told.code, told.err.splitlines()[0]) == (2, "usage: playlist show takes no --start")


def test_two_titles_with_one_number_are_told(site: Site) -> None:
    """Nothing is written; the hint names the way out."""
    site.write("specs/playlists/wood.yaml", WOOD.replace("title: Glue", "title: Part 1 again"))
    problem = refused(site.run("playlist", "renumber", "wood", "--from-title", "--json"), 2, "usage")
    assert problem["message"] == "the titles of -tfDash0001 and tfVid000003 both say 1"
    assert "--skip tfVid000003" in problem["hint"]


def test_a_wrong_yaml_is_told_with_its_line(site: Site) -> None:
    """Exit 2, for each verb."""
    site.write("specs/playlists/wood.yaml", WOOD.replace("title: Glue", "titel: Glue"))
    for words in (["list"], ["show", "wood"], ["renumber", "wood"]):
        told = site.run("playlist", *words)
        assert (told.code, "Traceback" in told.err) == (2, False)
        assert "specs/playlists/wood.yaml:" in told.err
