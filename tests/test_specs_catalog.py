"""Specs by name: whose file is read, what `extends` means, how a playlist is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from thumbforge.errors import NotFound, SpecError, UsageError
from thumbforge.specs import catalog as catalog_module
from thumbforge.specs.catalog import Catalog, load_playlist

LAYOUT = """\
layout:
  title: {box: {x: 64, y: 64, w: 800, h: 500}, size: 150}
  part: {box: {x: 64, y: 40, w: 300, h: 90}}
"""
BASE = "name: base\nversion: 2\nprompt: A calm picture of {{ topic }}\n" + LAYOUT
PLAYLIST = "playlist: {id: %s}\nitems:\n  - {video: aaaaaaaaaaa, title: Tools, part: 1}\n"


def write(root: Path, name: str, text: str) -> Path:
    path = root / "specs" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one template, beside a package that ships two."""
    shipped = tmp_path / "shipped"
    for name in ("plain", "badge"):
        path = shipped / "templates" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BASE.replace("base", name))
    monkeypatch.setattr(catalog_module, "BUILTIN", shipped)
    write(tmp_path / "project", "templates/base.yaml", BASE)
    return tmp_path / "project"


def test_names_are_the_projects_and_the_built_in_ones(root: Path) -> None:
    """A project sees its own templates and those that ship, in the order of their names; other files are not specs."""
    write(root, "templates/.hidden.yaml", "?")
    write(root, "templates/notes.txt", "?")
    write(root, "templates/also.yml", BASE.replace("base", "also"))
    found = Catalog(root)
    assert found.template_names() == ("also", "badge", "base", "plain")
    assert (found.series_names(), found.profile_names(), found.playlist_names()) == ((), (), ())
    assert found.template("also").version == 2


def test_a_projects_file_takes_the_place_of_the_built_in_one(root: Path) -> None:
    """A project's template of a built-in's name is the one that counts."""
    write(root, "templates/plain.yaml", BASE.replace("base", "plain").replace("version: 2", "version: 9"))
    assert Catalog(root).template("plain").version == 9
    assert Catalog(root).template("badge").version == 2


def test_the_name_is_the_files_stem(root: Path) -> None:
    """A name may be left out, since the file says it; a different one is a problem with its line."""
    write(root, "templates/short.yaml", BASE.replace("name: base\n", ""))
    assert Catalog(root).template("short").name == "short"
    write(root, "templates/other.yaml", BASE)
    with pytest.raises(
        SpecError, match=r"specs/templates/other\.yaml:1: name: the name is `base` but the file is other"
    ):
        Catalog(root).template("other")


def test_an_unknown_name_is_not_found_and_the_nearest_are_named(root: Path) -> None:
    """A misspelt name is exit 3 and the hint says which names are near, or which there are."""
    found = Catalog(root)
    with pytest.raises(NotFound, match="no template `bass`") as caught:
        found.template("bass")
    assert "`base`" in caught.value.hint
    with pytest.raises(NotFound) as far:
        found.template("../../etc/passwd")
    assert far.value.hint == "there are: badge, base, plain"
    with pytest.raises(NotFound) as none:
        found.series("x")
    assert none.value.hint == "there are none; add one to specs/series/"


def test_reading_one_name_reads_no_other_file(root: Path) -> None:
    """A broken spec hurts only the commands that need it."""
    write(root, "templates/broken.yaml", "a: [")
    write(root, "playlists/broken.yaml", "a: [")
    write(root, "playlists/wood.yaml", PLAYLIST % "PLwood0000001")
    found = Catalog(root)
    assert found.template("base").name == "base"
    assert found.playlist_file("wood").items[0].title == "Tools"
    assert found.find_playlist("PLwood0000001") == ("wood", root / "specs" / "playlists" / "wood.yaml")
    with pytest.raises(SpecError, match=r"specs/templates/broken\.yaml:"):
        found.template("broken")


def test_extends_takes_over_what_is_not_said(root: Path) -> None:
    """A template that extends another says only what differs: mappings are merged, other values replaced."""
    write(root, "templates/small.yaml", "extends: base\nlayout: {title: {size: 90}, part: null}\n")
    base, small = Catalog(root).template("base"), Catalog(root).template("small")
    assert (small.name, small.version, small.prompt) == ("small", 2, base.prompt)
    assert (small.layout.title.size, small.layout.title.box) == (90, base.layout.title.box)
    assert base.layout.part is not None
    assert small.layout.part is None


def test_the_hash_is_taken_over_the_result(root: Path) -> None:
    """A template that extends another without changing prompt or layout has the same hash; a change moves it."""
    write(root, "templates/same.yaml", "extends: base\n")
    write(root, "templates/moved.yaml", "extends: same\nlayout: {title: {size: 140}}\n")
    found = Catalog(root)
    assert found.template("same").spec_hash == found.template("base").spec_hash
    assert found.template("moved").spec_hash != found.template("base").spec_hash


def test_a_project_may_extend_the_built_in_of_the_same_name(root: Path) -> None:
    """A file that extends its own name means the built-in template that it takes the place of."""
    write(root, "templates/plain.yaml", "extends: plain\nlayout: {title: {size: 99}}\n")
    assert Catalog(root).template("plain").layout.title.size == 99


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"a": "extends: nowhere\n"}, "specs/templates/a.yaml:1: extends: no template `nowhere`"),
        ({"a": "extends: [base]\n"}, "specs/templates/a.yaml:1: extends: expected the name of a template"),
        (
            {"a": "version: 1\nextends: b\n", "b": "extends: a\n"},
            "b.yaml:1: extends: a template cannot extend itself: a > b > a",
        ),
        ({"a": "extends: a\n"}, "specs/templates/a.yaml:1: extends: no template `a`"),
        (
            {"a": "extends: base\nlayout:\n  title: {sise: 9}\n"},
            "a.yaml:3: layout.title.sise: unknown field `sise` (did you mean",
        ),
        (
            {"a": "extends: base\nlayout:\n  title:\n    size: 10\n"},
            "a.yaml:3: layout.title: min_size 72 is larger than size 10",
        ),
        ({"a": "extends: b\n", "b": "prompt: x\n"}, "specs/templates/b.yaml:1: layout: missing field `layout`"),
    ],
)
def test_what_is_wrong_with_extends_is_said_where_it_stands(files: dict[str, str], says: str, root: Path) -> None:
    """Unknown bases, loops and wrong fields are problems of the file that has them."""
    for name, text in files.items():
        write(root, f"templates/{name}.yaml", text)
    with pytest.raises(SpecError) as caught:
        Catalog(root).template("a")
    assert says in " ".join(map(str, caught.value.problems))


def test_a_profile_and_a_series_are_read_by_name(root: Path) -> None:
    """Provider profiles and series have the fields of their models; a key in a profile is refused."""
    write(root, "providers/slow.yaml", "provider: fake\nparams: {delay_ms: 5}\n")
    write(root, "series/wood.yaml", "playlist: wood\nhero: hero.jpg\nmax_images: 5\n")
    found = Catalog(root)
    assert (found.profile("slow").name, found.profile("slow").params) == ("slow", {"delay_ms": 5})
    assert (found.series("wood").template, found.series("wood").max_images) == ("series-parts", 5)
    write(root, "providers/paid.yaml", "provider: openai\nparams:\n  api_key: abc\n")
    with pytest.raises(SpecError, match=r"paid\.yaml:3: params\.api_key: .*secrets come from the environment"):
        Catalog(root).profile("paid")


def test_an_empty_mapping_names_every_missing_field(root: Path) -> None:
    """`{}` is a mapping with nothing in it."""
    write(root, "series/none.yaml", "{}\n")
    with pytest.raises(SpecError) as caught:
        Catalog(root).series("none")
    assert [(p.line, p.where) for p in caught.value.problems] == [(1, "hero"), (1, "playlist")]


def test_a_playlist_is_found_by_stem_then_by_id(root: Path) -> None:
    """A playlist's word is first a file's stem, then an id, whatever the file is called and however it is quoted."""
    wood = write(root, "playlists/wood.yaml", PLAYLIST % "PLwood0000001")
    stone = write(root, "playlists/stone.yml", (PLAYLIST % '"PLstone000001"').replace("{id:", '{"id":'))
    found = Catalog(root)
    assert found.find_playlist("wood") == ("wood", wood)
    assert found.find_playlist("PLstone000001") == ("stone", stone)
    assert found.find_playlist("PLstone00000") is None
    assert found.load_playlist(stone).name == "stone"


def test_an_id_in_a_title_finds_nothing(root: Path) -> None:
    """Only the playlist's own id counts, not a text that mentions one."""
    write(root, "playlists/wood.yaml", (PLAYLIST % "PLwood0000001").replace("Tools", '"see id: PLstone000001"'))
    assert Catalog(root).find_playlist("PLstone000001") is None


def test_two_specs_of_one_playlist_must_be_told_apart(root: Path) -> None:
    """An id that two files have is ambiguous; their names are not."""
    for name in ("one", "two"):
        write(root, f"playlists/{name}.yaml", PLAYLIST % "PLwood0000001")
    with pytest.raises(UsageError, match="more than one spec: one and two"):
        Catalog(root).find_playlist("PLwood0000001")
    assert Catalog(root).find_playlist("two") is not None


def test_files_whose_names_cannot_be_names_are_told(root: Path) -> None:
    """Two files of one stem, and stems that could not be task names, are problems."""
    write(root, "series/wood.yaml", "{}")
    write(root, "series/wood.yml", "{}")
    write(root, "series/my series.yaml", "{}")
    with pytest.raises(SpecError) as caught:
        Catalog(root).series_names()
    assert [p.file for p in caught.value.problems] == ["specs/series/my series.yaml", "specs/series/wood.yml"]


def test_a_playlist_outside_the_project_is_read_from_its_path(tmp_path: Path) -> None:
    """A path to YAML anywhere gives the playlist, named after the file."""
    path = tmp_path / "elsewhere.yaml"
    path.write_text(PLAYLIST % "PLwood0000001")
    loaded = load_playlist(path)
    assert (loaded.name, loaded.path, loaded.spec.playlist.id) == ("elsewhere", path, "PLwood0000001")


def test_a_part_given_twice_is_a_problem(root: Path) -> None:
    """Two items cannot have one part."""
    write(root, "playlists/wood.yaml", (PLAYLIST % "PLx1") + "  - {video: bbbbbbbbbbb, title: Joints, part: 1}\n")
    with pytest.raises(SpecError, match=r"wood\.yaml:2: items: part 1 is given to items 1 and 2"):
        Catalog(root).playlist_file("wood")
