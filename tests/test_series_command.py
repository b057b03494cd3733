"""`thumbforge series`: from a link or a file and a picture to a series, and to its pictures, in one line."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.data_api_server import LIST, DataApi, row
from tests.fetch_site import Site, make_site, refused
from tests.project import make_hero
from thumbforge.playlists.series_file import slug

LINK = f"https://www.youtube.com/playlist?list={LIST}&si=x"
CSV = "title,video\nRust - Part 2,aaaaaaaaaaa\nTrailer,bbbbbbbbbbb\nRust - Part 1,ccccccccccc\n"
SMALL = {"THUMBFORGE_OUTPUT__WIDTH": "1280", "THUMBFORGE_OUTPUT__HEIGHT": "720"}


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """An empty folder; a list and a photo lie elsewhere."""
    (tmp_path / "rust.csv").write_text(CSV, encoding="utf-8")
    make_hero(tmp_path / "me.png")
    return make_site(tmp_path / "site", **SMALL)


@pytest.fixture
def api() -> Iterator[DataApi]:
    with DataApi() as server:
        server.lists[LIST] = [row(n) for n in (1, 2)]
        yield server


def series(site: Site, name: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load((site.root / f"specs/series/{name}.yaml").read_text(encoding="utf-8"))
    return found


def test_one_line_in_an_empty_folder_makes_project_list_series_and_pictures(site: Site) -> None:
    """Each step is told; the parts are the titles'; the pictures lie in out/; the same line again has nothing to do."""
    line = ("series", "new", "../rust.csv", "--hero", "../me.png", "--batch", "-n", "2")
    told = site.run(*line)
    assert told.code == 0, told.err
    steps = [text.split()[0] for text in told.out.split("\n\n")[0].splitlines()]
    assert steps == ["fetched", "project", "playlist", "parts", "hero", "series"]
    assert "1-2 as the titles say; 1 without: Trailer" in told.out
    assert site.out("rust") == ["01-ccccccccccc.jpg", "02-aaaaaaaaaaa.jpg", "02-bbbbbbbbbbb.jpg"]
    own = {"playlist": "rust", "hero": "specs/heroes/me.png", "template": "series-parts", "provider": "local"}
    assert series(site, "rust") == own
    assert {"dodo.py", ".gitignore", "requirements.txt"} <= {path.name for path in site.root.iterdir()}
    before = {name: data for name, (_, data) in site.files().items() if name.startswith("specs")}
    again = site.run(*line)
    assert (again.code, "Nothing to do: all 3 thumbnails of rust are up to date." in again.out) == (0, True)
    assert {name: data for name, (_, data) in site.files().items() if name.startswith("specs")} == before


def test_without_batch_the_next_step_is_told_and_works(site: Site) -> None:
    """What stands behind Next: can be typed as it is."""
    told = site.run("series", "new", "../rust.csv", "--hero", "../me.png", "--name", "my.Rust")
    [command] = re.findall(r"^Next: thumbforge (.+)$", told.out, re.MULTILINE)
    assert (told.code, command, site.out("my.Rust")) == (0, "batch series=my.Rust", [])
    assert (site.root / "specs/playlists/my.Rust.yaml").is_file()
    assert "1 videos" not in told.out
    assert site.run(*shlex.split(command)).code == 0
    assert len(site.out("my.Rust")) == 3


def test_a_link_that_batch_does_not_know_is_told_with_the_line_that_brings_it(tmp_path: Path, api: DataApi) -> None:
    """Quoted for a shell, with the hero that was given; typed as it is it makes the pictures."""
    site = make_site(tmp_path / "site", **SMALL, **api.environment)
    make_hero(site.root / "my face.png")
    told = site.run("batch", LINK, "--hero", "my face.png")
    assert told.code == 3
    [command] = re.findall(r"^hint: thumbforge (.+) brings it$", told.err, re.MULTILINE)
    assert f"'{LINK}'" in command
    done = site.run(*shlex.split(command))
    assert done.code == 0, done.err
    assert len(site.out("woodwork-for-beginners")) == 2
    assert series(site, "woodwork-for-beginners")["hero"] == "my face.png"


def test_titles_that_say_one_number_twice_number_nothing(site: Site) -> None:
    """The parts are by place then, and the one warning names the cure."""
    (site.root.parent / "rust.csv").write_text(CSV.replace("Part 1", "Part 2"), encoding="utf-8")
    told = site.run("series", "new", "../rust.csv", "--hero", "../me.png")
    assert "parts     1-3 by place" in told.out
    assert told.err.count("warning") == 1
    assert "thumbforge playlist renumber rust --from-title" in told.err


def test_parts_of_the_file_go_before_those_of_titles(site: Site) -> None:
    """A CSV with a column `part` says its own."""
    (site.root.parent / "rust.csv").write_text("title,video,part\nPart 2,aaaaaaaaaaa,7\nPart 1,bbbbbbbbbbb,9\n")
    told = site.run("series", "new", "../rust.csv", "--hero", "../me.png")
    assert "parts     7-9 as the file says" in told.out


def test_a_series_that_is_there_is_never_changed(site: Site) -> None:
    """With comments of its user it stays byte for byte; where it says something else, exit 2 and two ways out."""
    line = ("series", "new", "../rust.csv", "--hero", "../me.png")
    assert site.run(*line).code == 0
    file = site.root / "specs/series/rust.yaml"
    file.write_text(file.read_text() + "# mine\nmax_images: 7\n")
    before = file.read_bytes()
    assert "which was there and stays as it is" in site.run(*line).out
    told = site.run(*line, "--template", "minimal")
    assert (told.code, told.err.splitlines()[0]) == (2, "usage: specs/series/rust.yaml is another series")
    assert file.read_bytes() == before
    assert site.run(*line, "--template", "minimal", "--name", "rust-2").code == 0
    assert series(site, "rust-2")["playlist"] == "rust"


def test_another_list_of_the_same_title_does_not_take_the_files(site: Site) -> None:
    """Nothing of the first is changed."""
    assert site.run("series", "new", "../rust.csv", "--hero", "../me.png").code == 0
    before = site.files()
    other = site.root.parent / "other.json"
    other.write_text('{"_type": "playlist", "id": "PLother", "title": "Rust", "entries": [{"id": "ddddddddddd"}]}')
    problem = refused(site.run("series", "new", "../other.json", "--hero", "../me.png", "--json"), 2, "usage")
    assert "--name rust-2" in problem["hint"]
    assert {name for name in site.files() if name.startswith("specs")} == {
        name for name in before if name.startswith("specs")
    }


def test_a_picture_from_elsewhere_is_copied_with_its_mask_and_replaces_none(site: Site) -> None:
    """Where another picture has its name it is called as the series is; where that is taken, too, exit 2."""
    make_hero(site.root.parent / "me.mask.png", "#000000")
    assert site.run("series", "new", "../rust.csv", "--hero", "../me.png").code == 0
    assert (site.root / "specs/heroes/me.mask.png").read_bytes() == (site.root.parent / "me.mask.png").read_bytes()
    for colour, name, code in (("#aa3311", "second", 0), ("#11aa33", "second", 2), ("#11aa33", "third", 0)):
        make_hero(site.root.parent / "me.png", colour)
        line = ("series", "new", "../rust.csv", "--hero", "../me.png", "--name", name)
        assert site.run(*line).code == code
    assert series(site, "third")["hero"] == "specs/heroes/third.png"
    make_hero(site.root.parent / "me.png", "#3311aa")
    shutil.copy(site.root / "specs/heroes/second.png", site.root / "specs/heroes/fourth.png")
    told = site.run("series", "new", "../rust.csv", "--hero", "../me.png", "--name", "fourth")
    assert (told.code, "specs/heroes holds another picture called me.png" in told.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--hero", "../none.png"], 3, "there is no hero ../none.png"),
        (["--hero", "../rust.csv"], 1, "hero rust.csv"),
        (["--hero", "../me.png", "--template", "minimum"], 3, "no template `minimum`"),
        (["--hero", "../me.png", "--provider", "locl"], 3, "no provider profile `locl`"),
        (["--hero", "../me.png", "--name", "a/b"], 2, "--name a/b: expected letters, digits"),
        (["--hero", "../me.png", "--provider", "paid", "--batch"], 2, "provider paid costs money"),
        ([], 2, "series new needs --hero PICTURE"),
    ],
)
def test_what_is_wrong_is_found_before_anything_is_asked_or_written(
    words: list[str], code: int, said: str, site: Site
) -> None:
    """No list is fetched, no file is made."""
    if "paid" in words:
        site.profile("paid", price={"amount": "0.04"})
    before = site.files()
    told = site.run("series", "new", "../rust.csv", *words)
    assert (told.code, said in told.err) == (code, True), told.err
    assert "hint: " in told.err
    assert {name for name in site.files() if not name.startswith(".thumbforge")} == set(before)


def test_what_costs_money_is_made_under_a_ceiling(site: Site) -> None:
    """The price is told first, and the ceiling of the line holds; without --batch the next step carries one."""
    site.profile("paid", price={"amount": "0.04"})
    line = ("series", "new", "../rust.csv", "--hero", "../me.png", "--provider", "paid")
    told = site.run(*line)
    assert "It takes 3 calls of provider paid, about 0.12 USD." in told.out
    assert "Next: thumbforge batch series=rust max_cost=0.12" in told.out
    assert (site.run(*line, "--batch", "--max-cost", "0.05").code, site.calls) == (2, 0)
    done = site.run(*line, "--batch", "max_cost=0.12")
    assert (done.code, site.calls, "3 provider calls, about 0.12 USD" in done.err) == (0, 3, True)


def test_series_are_listed_and_shown(site: Site) -> None:
    """By what their files say, and by what that comes to; one that cannot be read leaves the others there."""
    assert site.run("series").out.startswith("No series yet.\nNext: thumbforge series new 'https")
    made = site.shown("series", "new", "../rust.csv", "--hero", "../me.png")
    assert site.shown("series", "show", "rust") == made
    assert (made["hero"]["named"], made["standing"]["create"]) == ("specs/heroes/me.png", 3)
    site.write("specs/series/broken.yaml", "playlist: rust\nheroe: x\n")
    told = site.run("series", "list")
    assert (told.code, "spec_invalid" in told.err, "rust" in told.out) == (2, True, True)
    assert "there are broken, rust" in site.run("series", "show").err
    assert "did you mean `rust`" in site.run("series", "show", "rsut").err


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Rust for Pythonistas", "rust-for-pythonistas"),
        ("  C++ & Größe: l'été!  ", "c-grosse-l-ete"),
        ("Smørrebrød", "smorrebrod"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full-width"),
        ("日本語の入門", ""),
        ("Уроки Rust", ""),
        ("x" * 80, "x" * 60),
        ("word " * 20, "-".join(["word"] * 12)),
        ("../../etc/passwd", "etc-passwd"),
        ("", ""),
    ],
)
def test_a_title_as_a_name(title: str, name: str) -> None:
    """Nothing, where most of the title would be lost: then a list goes by its id."""
    assert slug(title) == name


@given(st.text())
def test_a_name_is_safe_whatever_the_title(title: str) -> None:
    """And the name of a name is itself."""
    name = slug(title)
    assert not name or re.fullmatch(r"(?=.{2,60}$)[a-z0-9]+(-[a-z0-9]+)*", name)
    assert slug(name) == name
