"""What a user did to the YAML, and what a crash does: nothing is lost, nothing is there twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data_api_server import LIST, DataApi, row, video, wait_for
from tests.fetch_site import Site, make_site
from tests.project import finish, make_project
from tests.tiers import soak
from thumbforge.playlists import playlist_file
from thumbforge.specs.catalog import load_playlist

LINK = f"https://www.youtube.com/playlist?list={LIST}"


@pytest.fixture
def api() -> Iterator[DataApi]:
    with DataApi() as server:
        server.lists[LIST] = [row(n) for n in (1, 2, 3)]
        yield server


@pytest.fixture
def site(tmp_path: Path, api: DataApi) -> Site:
    return make_site(tmp_path / "site", **api.environment)


def test_edits_survive_a_changed_list_and_the_changes_are_told(site: Site, api: DataApi) -> None:
    """A comment, a part, a text, vars, an order of fields: all there after added, removed, renamed and moved."""
    site.fetch(LINK)
    path = site.root / f"specs/playlists/{LIST}.yaml"
    mine = f"""# mine
playlist: {{id: {LIST}, title: My own title}}
items:
  # the first one
  - {{video: {video(1)}, title: "Lesson 1", part: 11, text: "*ONE*"}}   # keep
  - title: Lesson 2
    video: {video(2)}
    part: null   # a trailer
    vars: {{mood: calm}}
  - {{video: {video(3)}, title: 'Lesson 3', part: 3}}
"""
    path.write_text(mine)
    api.lists[LIST] = [row(4), row(3), row(1, "Lesson one")]
    told = site.run("fetch", LINK, "--refresh")
    assert told.code == 0, told.err
    assert "1 added, 1 removed, 1 renamed, 1 moved." in told.out
    assert "playlist renumber" in told.out
    assert (
        path.read_text()
        == f"""# mine
playlist: {{id: {LIST}, channel: "Neutral Channel", url: "{LINK}", language: "en", title: My own title}}
items:
  - {{part: 12, video: "{video(4)}", title: "Lesson 4", duration: 153}}
  - {{video: {video(3)}, duration: 153, title: 'Lesson 3', part: 3}}
  # the first one
  - {{video: {video(1)}, duration: 153, title: "Lesson one", part: 11, text: "*ONE*"}}   # keep
  - title: Lesson 2
    video: {video(2)}
    removed: true
    part: null   # a trailer
    vars: {{mood: calm}}
"""
    )
    assert site.fetch(LINK, "--refresh")["changes"] == []
    assert site.facts("part") == [(video(4), 12, "ingest"), (video(3), 3, "ingest"), (video(1), 11, "user")]


def test_a_file_of_another_name_is_the_one_that_is_changed(site: Site) -> None:
    """The list is known by its id."""
    site.write("specs/playlists/wood.yaml", {"playlist": {"id": LIST}, "items": []})
    assert site.fetch(LINK)["file"] == "specs/playlists/wood.yaml"
    assert [part for _, part in site.parts("wood")] == [1, 2, 3]
    assert not (site.root / f"specs/playlists/{LIST}.yaml").exists()


def test_a_byte_order_mark_a_mode_and_a_link_stay(site: Site, api: DataApi, tmp_path: Path) -> None:
    """The file behind a symbolic link is changed, with the bits and the mark that it had."""
    real = site.root / "real.yaml"
    site.root.mkdir(exist_ok=True)
    real.write_bytes(b"\xef\xbb\xbf" + f"playlist: {{id: {LIST}}}\r\nitems: []\r\n".encode())
    real.chmod(0o640)
    (site.root / "specs/playlists").mkdir(parents=True)
    (site.root / "specs/playlists/wood.yaml").symlink_to(real)
    site.fetch(LINK)
    assert (site.root / "specs/playlists/wood.yaml").is_symlink()
    assert real.read_bytes().startswith(b"\xef\xbb\xbfplaylist")
    assert real.read_bytes().count(b"\n") == real.read_bytes().count(b"\r\n") > 3
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_link_that_leads_out_is_not_written_through(site: Site, api: DataApi, tmp_path: Path) -> None:
    """It may have come with a clone; the file there stays as it is."""
    real = tmp_path / "real.yaml"
    real.write_text(f"playlist: {{id: {LIST}}}\nitems: []\n", encoding="utf-8")
    (site.root / "specs/playlists").mkdir(parents=True)
    (site.root / "specs/playlists/wood.yaml").symlink_to(real)
    told = site.run("fetch", LINK)
    assert (told.code, told.err.splitlines()[0]) == (2, "usage: specs/playlists/wood.yaml leads out of the project")
    assert real.read_text(encoding="utf-8").endswith("items: []\n")


def test_an_edit_in_the_very_moment_of_writing_is_not_overwritten(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is read again, and the change worked out on what it says then."""
    site.fetch(LINK)
    path = site.root / f"specs/playlists/{LIST}.yaml"
    edits = iter((b"# an editor was here\n", b"# twice\n"))
    real = playlist_file._data

    def slow(*args: object) -> bytes:
        if (edit := next(edits, None)) is not None:
            path.write_bytes(edit + path.read_bytes())
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(playlist_file, "_data", slow)
    told = site.run("playlist", "renumber", LIST, "--start", "5")
    assert told.code == 0, told.err
    assert site.yaml(LIST).startswith("# twice\n# an editor was here\n# Woodwork")
    assert [part for _, part in site.parts(LIST)] == [5, 6, 7]


def test_what_cannot_be_written_is_one_line_and_changes_nothing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk: exit 1, the file is as it was, no scrap stays."""
    site.fetch(LINK)
    before = site.yaml(LIST)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    told = site.run("playlist", "renumber", LIST, "--start", "5")
    assert (told.code, told.err.splitlines()[0]) == (
        1,
        f"store_failed: {LIST}.yaml could not be written: No space left on device",
    )
    assert site.yaml(LIST) == before
    assert [p.name for p in (site.root / "specs/playlists").iterdir()] == [f"{LIST}.yaml"]


def test_only_what_a_fetch_changed_is_to_be_made(api: DataApi, tmp_path: Path) -> None:
    """After a fetch with one new title and one new video, `doit list -s` shows just these to run; nobody is painted
    anew for a new place. A removed video is not made, and up to date when it is back."""
    project = make_project(tmp_path / "project", 3, **api.environment)
    project.playlist([])
    site = Site(project.root, project.extra)
    id_of = f"PLshow{'0' * 10}"
    api.lists[id_of] = [row(n) for n in (1, 2, 3)]
    link = f"https://www.youtube.com/playlist?list={id_of}"
    assert site.fetch(link)["file"] == "specs/playlists/show.yaml"
    assert site.batch().code == 0
    assert site.calls == 3
    api.lists[id_of] = [row(4), row(1), row(2, "Another title"), row(3)]
    site.fetch(link, "--refresh")
    assert site.statuses() == {video(1): "U", video(2): "R", video(3): "U", video(4): "R"}
    api.lists[id_of] = [row(4), row(1), row(2, "Another title")]
    site.fetch(link, "--refresh")
    assert site.statuses() == {video(1): "U", video(2): "R", video(4): "R"}
    api.lists[id_of].append(row(3))
    site.fetch(link, "--refresh")
    assert site.statuses()[video(3)] == "U"


@pytest.fixture(scope="module")
def long_list(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A project that has fetched 1,200 videos."""
    with DataApi() as server:
        server.lists[LIST] = [row(n) for n in range(1, 1201)]
        site = make_site(tmp_path_factory.mktemp("long") / "site", **server.environment)
        assert site.run("fetch", LINK).code == 0
    return site


@pytest.mark.parametrize(
    "point",
    [
        *soak("snapshot.file.after:kill"),
        *soak("ingest.chunk.before:kill:3"),
        "ingest.chunk.after:kill:3",
    ],
)
def test_kill_9_in_the_middle_of_an_ingest_of_1200(point: str, long_list: Site, api: DataApi, tmp_path: Path) -> None:
    """Run again: no item lost, none twice, no fact stated twice, no close time moved, one run that went on."""
    shutil.copytree(long_list.root, tmp_path / "site")
    site = Site(tmp_path / "site", api.environment)
    api.lists[LIST] = [row(n, f"New {n}") for n in range(2, 1202)]
    process = site.with_environment(THUMBFORGE_FAULT=point).start("fetch", LINK, "--rename")
    assert finish(process).code == -signal.SIGKILL
    closed = site.query("SELECT id, valid_to FROM item_fact WHERE valid_to IS NOT NULL")
    assert len(load_playlist(site.root / f"specs/playlists/{LIST}.yaml").spec.items) == 1201
    time.sleep(0.01)
    document = site.fetch(LINK, "--rename")
    assert (document["items"], document["changes"]) == (1200, [])
    assert [value for _, value, _ in site.facts("title")] == [f"New {n}" for n in range(2, 1202)]
    assert [(v, p) for v, p, _ in site.facts("part")] == [(video(n), n) for n in range(2, 1202)]
    assert site.query("SELECT count(*) FROM item_fact WHERE valid_to IS NULL")[0][0] == 4 * 1200
    assert site.query("SELECT count(*) FROM item_fact WHERE predicate = 'title'")[0][0] == 1200 + 1200
    times = dict(map(tuple, site.query("SELECT id, valid_to FROM item_fact")))
    assert all(times[row["id"]] == row["valid_to"] for row in closed)
    runs = site.query("SELECT status FROM run WHERE kind = 'ingest' ORDER BY created_at")
    assert [row["status"] for row in runs] == ["completed", "completed"]


def test_kill_9_at_any_moment_leaves_a_whole_file(site: Site, api: DataApi) -> None:
    """Whenever it is killed, the YAML is the old one or the new one, and the next fetch completes it."""
    site.fetch(LINK)
    random.seed(7)
    for turn in range(4):
        api.lists[LIST] = [row(n, f"Turn {turn} lesson {n}") for n in range(1, 300)]
        seen = len(api.asked)
        process = site.start("fetch", LINK, "--rename")
        wait_for(lambda seen=seen: len(api.asked) >= seen + 13 or process.poll() is not None)  # noqa: B023
        time.sleep(random.random() * 0.15)
        process.kill()
        process.communicate()
        load_playlist(site.root / f"specs/playlists/{LIST}.yaml")
    site.fetch(LINK, "--rename")
    assert [item["title"] for item in site.items(LIST)] == [f"Turn 3 lesson {n}" for n in range(1, 300)]
    assert len(site.facts("title")) == 299


def test_two_fetches_at_once_do_no_harm(site: Site, api: DataApi) -> None:
    """Both end well; one list, each item once."""
    api.lists[LIST] = [row(n) for n in range(1, 121)]
    for process in [site.start("fetch", LINK, "--rename") for _ in range(2)]:
        told = finish(process)
        assert told.code == 0, told.err
    assert site.parts(LIST) == [(video(n), n) for n in range(1, 121)]
    assert len(site.facts("member")) == 120


def test_a_list_that_another_process_brings_meanwhile_is_gone_on_with(
    site: Site, api: DataApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the same list, not another one that has its name."""
    api.lists[LIST] = [row(1), row(2)]
    real, read = playlist_file._bytes, []

    def brought(path: Path) -> bytes | None:
        if not read:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"playlist: {{id: {LIST}}}\nitems: [{{video: {video(1)}, title: Lesson 1, part: 7}}]\n")
        read.append(path)
        return real(path)

    monkeypatch.setattr(playlist_file, "_bytes", brought)
    assert [change["kind"] for change in site.fetch(LINK)["changes"]] == ["added"]
    assert site.parts(LIST) == [(video(1), 7), (video(2), 8)]


def test_a_damaged_note_of_the_last_fetch_costs_a_fetch(site: Site, api: DataApi) -> None:
    """Whatever stands in .thumbforge/fetch, or when the folder is gone: the list is asked for again."""
    site.fetch(LINK)
    state = site.home / "fetch" / f"{LIST}.json"
    for damage in ("", "{", "[1]", '{"head": {}, "new": 1}', json.dumps({"head": 7})):
        state.write_text(damage)
        (site.home / "fetch" / f"{LIST}.answers.json").write_text('{"x": 1, "playlists": ' + damage + "}")
        document = site.fetch(LINK)
        assert (document["fresh"], document["changes"]) == (False, [])
    shutil.rmtree(site.home)
    assert site.fetch(LINK)["changes"] == []
