"""`template`: look at templates, begin one, check it, and try it without a call, a ledger or a surprise."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from PIL import Image

from tests.project import Project, Told, item, make_project, video
from tests.tiers import soak
from thumbforge.commands.template_text import as_yaml, starter
from thumbforge.specs.catalog import Catalog

FAULTY = """\
extends: series-parts
version: 1
prompt: |
  The first line.
  A picture of {{ topik }}.
negative_prompt: "no {{ vars.unwanted }}"
layout:
  title:
    box: {x: 64, y: 188, w: 1000, h: 468}
    font: comic
  part: {text: "PART {{ part_numbr }}"}
"""
BUILT_IN = Catalog(Path()).template_names()


@pytest.fixture(scope="module")
def show(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Three items and a series with a variable; nothing was made. For tests that leave it as it is."""
    made = make_project(tmp_path_factory.mktemp("templates") / "project", 3)
    made.template("moody", prompt="A {{ vars.mood }} picture about {{ topic }}.\nPart {{ part_number }}.")
    made.series(template="moody", vars={"mood": "calm"})
    return made


@contextmanager
def untouched(project: Project) -> Iterator[None]:
    before = project.files()
    yield
    assert project.files() == before


def refused(told: Told, code: int, kind: str) -> str:
    """What was said on stderr by a command that did nothing."""
    assert (told.code, told.out, told.err.split(":")[0]) == (code, "", kind)
    assert "Traceback" not in told.err
    return told.err


# list, show


def test_the_templates_are_listed(show: Project) -> None:
    """Each with its version, where it is from, the start of its hash and what it extends; nothing is written."""
    with untouched(show):
        told = show.run("template", "list")
        rows = show.shown("template")["templates"]
    lines = [line.split() for line in told.out.splitlines()]
    assert lines[0] == ["name", "version", "from", "hash", "extends", "problem"]
    assert [line[0] for line in lines[1:]] == [row["name"] for row in rows] == sorted({*BUILT_IN, "plain", "moody"})
    [moody] = [row for row in rows if row["name"] == "moody"]
    assert ["moody", "1", "project", moody["spec_hash"][:8], "series-parts"] in lines
    assert {row["origin"] for row in rows if row["name"] in BUILT_IN} == {"built-in"}


def test_a_broken_template_does_not_hide_the_others(project: Project) -> None:
    """It is listed with what is wrong with it."""
    project.write("specs/templates/broken.yaml", {"extends": "nowhere"})
    found = {row["name"]: row for row in project.shown("template", "list")["templates"]}
    assert "no template `nowhere`" in found["broken"]["problem"]
    assert (found["broken"]["spec_hash"], found["plain"]["problem"]) == (None, None)


def test_what_is_shown_is_the_template(show: Project, tmp_path: Path) -> None:
    """Merged with all that it extends, as YAML which, saved under its name, has the same hash."""
    with untouched(show):
        told = show.run("template", "show", "moody")
        document = show.shown("template", "show", "moody")
    assert told.code == 0
    assert f"# spec_hash: {document['spec_hash']}" in told.out.splitlines()
    saved = tmp_path / "specs" / "templates" / "moody.yaml"
    saved.parent.mkdir(parents=True)
    saved.write_text(told.out, encoding="utf-8")
    assert Catalog(tmp_path).template("moody").spec_hash == document["spec_hash"]
    assert yaml.safe_load(told.out) == document["template"]
    assert (document["extends"], document["file"]) == ("series-parts", "specs/templates/moody.yaml")


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_template_survives_being_written_down(name: str, tmp_path: Path) -> None:
    """Its YAML text is the same template again."""
    template = Catalog(tmp_path).template(name)
    saved = tmp_path / "specs" / "templates" / f"{name}.yaml"
    saved.parent.mkdir(parents=True)
    saved.write_text(as_yaml(template), encoding="utf-8")
    assert Catalog(tmp_path).template(name).spec_hash == template.spec_hash


# new


def test_a_new_template_is_its_base_until_it_is_changed(project: Project) -> None:
    """It extends the base, looks the same, is valid, and is there only once."""
    assert project.run("template", "new", "loud", "--from", "minimal").out.splitlines()[0].split() == [
        "made",
        "specs/templates/loud.yaml",
    ]
    rows = {row["name"]: row for row in project.shown("template", "validate", "loud", "minimal")["templates"]}
    assert rows["loud"]["spec_hash"] == rows["minimal"]["spec_hash"]
    with untouched(project):
        assert "is there already" in refused(project.run("template", "new", "loud"), 2, "usage")


@pytest.mark.parametrize("base", BUILT_IN)
def test_the_commented_examples_work(base: str, tmp_path: Path) -> None:
    """With every # taken away from its examples a new template still loads, and is another one."""
    catalog = Catalog(tmp_path)
    text = starter("mine", catalog.template(base), 1)
    used = re.sub(r"^#(?! [A-Z`])", "", text, flags=re.MULTILINE)
    path = tmp_path / "specs" / "templates" / "mine.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(used, encoding="utf-8")
    assert used.count("\n#") < text.count("\n#") - 10
    assert Catalog(tmp_path).template("mine").spec_hash != catalog.template(base).spec_hash


@pytest.mark.parametrize("name", ["2024", "yes", "null", "1.5", "2024-01-01", "a.b"])
def test_a_name_may_look_like_something_else_to_yaml(name: str, tmp_path: Path) -> None:
    """It is still text in the new file."""
    path = tmp_path / "specs" / "templates" / f"{name}.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(starter(name, Catalog(tmp_path).template("minimal"), 1), encoding="utf-8")
    assert Catalog(tmp_path).template(name).name == name


def test_a_new_template_may_take_the_place_of_a_built_in_one(project: Project) -> None:
    """It starts from that one, with the next version."""
    assert project.run("template", "new", "minimal").code == 0
    [row] = [row for row in project.shown("template", "list")["templates"] if row["name"] == "minimal"]
    assert (row["version"], row["origin"], row["extends"]) == (3, "project", "minimal")


@pytest.mark.parametrize("name", ["../out", "", "loud.yaml"])
def test_a_bad_name_makes_nothing(show: Project, name: str) -> None:
    """Exit 2, and no file anywhere."""
    with untouched(show):
        refused(show.run("template", "new", "--", name), 2, "usage")


# validate


def test_every_problem_is_told_at_once_with_its_line(project: Project) -> None:
    """Unknown fonts, undefined variables of each text, and boxes under YouTube's marks, of all templates."""
    project.write("specs/templates/faulty.yaml", FAULTY)
    project.write("specs/templates/lost.yaml", "extends: nowhere\n")
    with untouched(project):
        told = project.run("template", "validate", "--json")
    refused_at = [problem.split(": ")[:3] for problem in told.problem["problems"]]
    faulty = "specs/templates/faulty.yaml"
    assert told.code == 2
    assert [place[:2] for place in refused_at] == [
        [f"{faulty}:5", "prompt"],
        [f"{faulty}:6", "negative_prompt"],
        [f"{faulty}:9", "layout.title.box"],
        [f"{faulty}:10", "layout.title.font"],
        [f"{faulty}:11", "layout.part.text"],
        ["specs/templates/lost.yaml:1", "extends"],
    ]
    assert "`topik` is undefined" in told.problem["problems"][0]
    assert "var.unwanted=" in told.problem["problems"][1]


def test_what_is_no_file_is_told(project: Project) -> None:
    """A folder with a template's name, a link to nowhere: one line each, and the list still shows the rest."""
    (project.root / "specs/templates/folder.yaml").mkdir()
    (project.root / "specs/templates/gone.yaml").symlink_to("nowhere.yaml")
    told = refused(project.run("template", "validate"), 2, "spec_invalid")
    assert "  specs/templates/folder.yaml: this is no file\n" in told
    assert "  specs/templates/gone.yaml: cannot be read: No such file or directory\n" in told
    assert len(project.shown("template", "list")["templates"]) == len(BUILT_IN) + 3


def test_a_fault_of_a_base_is_told_where_it_stands(project: Project) -> None:
    """The file and line are those of the template that is extended."""
    project.write("specs/templates/base.yaml", "extends: minimal\nprompt: 'About {{ nobody }}'\n")
    project.write("specs/templates/upper.yaml", "extends: base\nversion: 3\n")
    told = refused(project.run("template", "validate", "upper"), 2, "spec_invalid")
    assert told.startswith("spec_invalid: specs/templates/base.yaml:2: prompt: `nobody` is undefined")


def test_variables_of_a_series_count_as_given(show: Project) -> None:
    """What a series with this template sets, or the command line, is no undefined variable."""
    with untouched(show):
        assert show.run("template", "validate").code == 0
        assert show.run("template", "validate", "moody", "var.mood=wild").code == 0


def test_a_file_anywhere_is_checked(project: Project, tmp_path: Path) -> None:
    """A path counts from where the user stands."""
    (tmp_path / "aside.yaml").write_text("extends: plain\nversion: 4\n", encoding="utf-8")
    with untouched(project):
        [row] = project.shown("template", "validate", "../aside.yaml")["templates"]
    assert (row["name"], row["version"]) == ("aside", 4)


@pytest.mark.parametrize("names", [("series-parts", "news-bar", "guest", "versus"), *soak(BUILT_IN)])
def test_the_built_in_templates_are_valid(show: Project, names: tuple[str, ...]) -> None:
    """Also their text boxes, none of which lies where YouTube draws, and what they look like on three texts."""
    told = show.run("template", "validate", *names)
    assert (told.code, told.out.count(" ok\n")) == (0, len(names)), told.err


def test_a_version_that_was_used_stays_what_it_was(done: Project) -> None:
    """Other content under the same name and version is refused, with the next version in the message; then it is
    raised, or taken back."""
    assert done.run("template", "validate").code == 0
    done.template(prompt="Something else about {{ topic }}.")
    with untouched(done):
        told = refused(done.run("template", "validate", "plain"), 2, "spec_invalid")
    assert "version 1 of plain was used with other content; raise it to 2" in told
    assert "hint: pictures were made with this version" in told
    done.template(prompt="Something else about {{ topic }}.", version=2)
    assert done.run("template", "validate").code == 0
    done.template()
    assert done.run("template", "validate").code == 0


# render


def test_the_texts_of_a_video_are_printed(show: Project) -> None:
    """Prompt, negative prompt and badge, as a batch of the playlist's series would have them; nothing is called."""
    with untouched(show):
        found = show.shown("template", "render", "moody", "--playlist", "show", "--part", "2")
        [_, planned, _] = show.plan()
        told = show.run("template", "render", "moody", f"video={video(2)}", "playlist=show")
    assert found["prompt"] == "A calm picture about Lesson 2.\nPart 2."
    assert planned["key_parts"]["prompt"] == f"{found['prompt']}\n\nNegative: {found['negative_prompt']}"
    assert (found["badge"], found["video"], found["position"]) == ("PART 2", video(2), 2)
    assert "  A calm picture about Lesson 2.\n  Part 2.\n" in told.out
    assert re.search(r"^badge +PART 2$", told.out, flags=re.MULTILINE)


def test_a_video_is_found_in_any_playlist_and_shown_as_any_part(show: Project) -> None:
    """By its link; --var goes before the series' own."""
    link = f"https://youtu.be/{video(3)}"
    found = show.shown("template", "render", "moody", "--video", link, "--part", "40", "--var", "mood=wild")
    assert found["prompt"] == "A wild picture about Lesson 3.\nPart 40."


def test_a_video_id_may_begin_with_a_dash(project: Project) -> None:
    """It is no option."""
    project.playlist([item(1, video="-abcdefghij")])
    assert project.shown("template", "render", "plain", "--video", "-abcdefghij")["video"] == "-abcdefghij"


def test_without_a_video_there_is_a_sample(show: Project) -> None:
    """Templates can be tried before there is any playlist."""
    found = show.shown("template", "render", "plain")
    assert (found["prompt"], found["badge"]) == ("A calm picture about Seven ideas that changed everything.", "PART 7")


def test_an_undefined_variable_is_named_with_template_and_line(show: Project) -> None:
    """And with what would set it."""
    told = refused(show.run("template", "render", "moody"), 2, "spec_invalid")
    assert told.splitlines()[0] == "spec_invalid: template moody: prompt, line 1: `vars.mood` is undefined"
    assert "var.mood=" in told.splitlines()[1]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nope"], 3),
        (["plain", "--playlist", "nope"], 3),
        (["plain", "--video", "nosuchvid00"], 3),
        (["plain", "--playlist", "show", "--part", "77"], 3),
        (["plain", "--part", "100001"], 2),
        (["plain", "--out", "x.png"], 2),
        ([], 2),
    ],
)
def test_what_cannot_be_rendered_is_refused(show: Project, words: list[str], code: int) -> None:
    """One line and a hint at most, and the exit code of its kind."""
    with untouched(show):
        refused(show.run("template", "render", *words), code, "not_found" if code == 3 else "usage")


@pytest.mark.parametrize("words", [["dance"], ["list", "--video", "x"], ["show", "minimal", "var.x=1"]])
def test_what_template_does_not_know_is_refused(show: Project, words: list[str]) -> None:
    """Exit 2."""
    refused(show.run("template", *words), 2, "usage")


def test_a_video_of_two_playlists_needs_its_playlist(project: Project) -> None:
    """The hint names both."""
    project.playlist([item(1)], name="other")
    told = refused(project.run("template", "render", "plain", "--video", video(1)), 2, "usage")
    assert "--playlist other or --playlist show" in told


# preview


def test_a_preview_is_one_png(project: Project) -> None:
    """In out/ of the project, with its path printed; no ledger, no call, and the next preview takes its place."""
    before = set(project.files())
    told = project.run("template", "preview", "plain", "--playlist", "show", "--part", "2")
    assert (told.code, told.out) == (0, "out/preview-plain.png\n"), told.err
    assert set(project.files()) - before == {"out", "out/preview-plain.png"}
    assert project.calls == 0
    with Image.open(project.root / "out/preview-plain.png") as picture:
        assert (picture.format, picture.size, picture.mode) == ("PNG", (1280, 720), "RGB")
    first = project.files()["out/preview-plain.png"][1]
    assert project.shown("template", "preview", "plain", "--video", video(2))["violations"] == []
    assert project.files()["out/preview-plain.png"][1] == first


def test_a_preview_takes_another_hero(project: Project) -> None:
    """A picture file; without any, the sample has a picture of its own."""
    own = project.shown("template", "preview", "plain")["path"]
    hero = project.shown("template", "preview", "plain", "--out", "mine/look.png", "--hero", "specs/heroes/hero.png")[
        "path"
    ]
    assert hero == "mine/look.png"
    assert project.files()[own][1] != project.files()[hero][1]


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["--out", "x.jpg"], 2, "usage"),
        (["--hero", "specs/heroes/hero.png", "--out", "specs/heroes/hero.png"], 2, "usage"),
        (["--hero", "dodo.py"], 1, "picture_unusable"),
        (["--hero", "none.png"], 3, "not_found"),
        (["--out", "dodo.py/x.png"], 1, "store_failed"),
    ],
)
def test_a_preview_that_cannot_be_leaves_nothing(show: Project, words: list[str], code: int, kind: str) -> None:
    """No half a file, and no picture of the user's overwritten."""
    with untouched(show):
        refused(show.run("template", "preview", "plain", *words), code, kind)
