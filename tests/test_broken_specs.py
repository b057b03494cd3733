"""What one command refuses, all refuse: one table of broken specs, none of which gets as far as a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from tests.project import Project, item, make_hero, make_project

FONT = Path(__file__).parent / "data" / "fonts"
SAYS = "A calm picture about {{ topic }}."


@dataclass(frozen=True)
class Broken:
    """`breaks` does it to a project; `says` is in each refusal. `template`: `template validate` refuses it too."""

    breaks: Callable[[Project], object]
    says: str
    template: bool = False
    code: int = 2


def layout(**fields: object) -> Callable[[Project], object]:
    return lambda project: project.template(layout=fields)


def series(**fields: object) -> Callable[[Project], object]:
    return lambda project: project.series(**fields)


def prompt(text: str) -> Callable[[Project], object]:
    return lambda project: project.template(prompt=text)


def spec(name: str, text: str) -> Callable[[Project], object]:
    return lambda project: project.write(name, text)


def cut_font(project: Project) -> None:
    """The magic of a font, and nothing behind it."""
    (project.root / "specs/cut.ttf").write_bytes(b"\x00\x01\x00\x00" + bytes(40))
    project.series(brand={"fonts": {"title": "specs/cut.ttf"}})


def emoji(project: Project) -> None:
    (project.root / "cut.ttf").write_bytes(b"\x00\x01\x00\x00" + bytes(40))
    project.write("thumbforge.toml", '[output]\nwidth = 1280\nheight = 720\nemoji_font = "cut.ttf"\n')


def own_picture(text: bytes | None) -> Callable[[Project], object]:
    """An item's picture that is not there, or holds these bytes, in a template that shows it."""

    def breaks(project: Project) -> None:
        if text is not None:
            (project.root / "guest.png").write_bytes(text)
        project.playlist([item(1), item(2, picture="guest.png")])
        project.template(extends="corner-card")

    return breaks


def logo(project: Project) -> None:
    (project.root / "logo.png").write_bytes(b"no picture")
    project.template(extends="corner-card")
    project.series(brand={"logo": "logo.png"})


def hero(data: bytes) -> Callable[[Project], object]:
    return lambda project: (project.root / "specs/heroes/hero.png").write_bytes(data)


def cut_hero(project: Project) -> None:
    path = project.root / "specs/heroes/hero.png"
    path.write_bytes(path.read_bytes()[:2000])


def out_of_the_project(project: Project) -> None:
    make_hero(project.root.parent / "elsewhere.png")
    (project.root / "specs/heroes/link.png").symlink_to(project.root.parent / "elsewhere.png")
    project.series(hero="specs/heroes/link.png")


def empty_hero(project: Project) -> None:
    Image.new("RGBA", (1280, 720), (0, 0, 0, 0)).save(project.root / "specs/heroes/hero.png")


TABLE = {
    "an unknown font": Broken(layout(title={"font": "comic"}), "layout.title.font", template=True),
    "an unknown font in the badge": Broken(layout(part={"font": "comic"}), "layout.part.font", template=True),
    "words under the duration mark": Broken(
        layout(title={"box": {"x": 700, "y": 500, "w": 500, "h": 200}}), "YouTube's duration mark", template=True
    ),
    "a box outside the canvas": Broken(
        layout(title={"box": {"x": 1200, "y": 0, "w": 500, "h": 200}}), "reaches outside", template=True
    ),
    "a size below the smallest": Broken(layout(title={"size": 2}), "layout.title.size", template=True),
    "a slot there is not": Broken(layout(subtitle={"font": "inter"}), "layout.subtitle", template=True),
    "a colour that is none": Broken(layout(title={"color": "reddish"}), "layout.title.color", template=True),
    "a variable nobody gives": Broken(prompt("About {{ vars.nosuch }}"), "vars.nosuch", template=True),
    "a variable nobody gives, in a slot": Broken(
        layout(kicker={"text": "{{ vars.nosuch }}", "box": {"x": 96, "y": 40, "w": 400, "h": 60}}),
        "nosuch",
        template=True,
    ),
    "a prompt that is no template": Broken(prompt("About {{ topic"), "plain.yaml", template=True),
    "a prompt that runs long": Broken(
        prompt("{% for a in range(99999) %}{{ a }}{% endfor %}"), "plain.yaml", template=True
    ),
    "a template that extends itself": Broken(
        lambda p: (
            p.write("specs/templates/plain.yaml", "extends: round\n"),
            p.write("specs/templates/round.yaml", "extends: plain\n"),
        ),
        "extend itself",
        template=True,
    ),
    "a template that extends nothing there is": Broken(
        spec("specs/templates/plain.yaml", "extends: nosuch\n"), "nosuch", template=True
    ),
    "a font file that is cut": Broken(cut_font, "specs/series/show.yaml"),
    "a font that is no file": Broken(series(brand={"fonts": {"title": "specs/nosuch.ttf"}}), "brand.fonts.title"),
    "an emoji font that is cut": Broken(emoji, "output.emoji_font"),
    "an item's picture that is not there": Broken(own_picture(None), "guest.png"),
    "an item's picture that is none": Broken(own_picture(b"no picture"), "guest.png"),
    "a logo that is none": Broken(logo, "logo.png"),
    "a hero that is not there": Broken(series(hero="specs/heroes/nosuch.png"), "nosuch.png", code=3),
    "a hero that is no picture": Broken(hero(b"no picture"), "hero.png", code=1),
    "a hero that is cut": Broken(cut_hero, "hero.png", code=1),
    "a hero without anything": Broken(empty_hero, "hero.png", code=1),
    "a hero out of the project": Broken(out_of_the_project, "leads out of the project"),
    "a mask that is not there": Broken(series(mask="specs/nosuch.png"), "specs/series/show.yaml:5: mask"),
    "a template there is not": Broken(series(template="nosuch"), "nosuch", code=3),
    "a profile there is not": Broken(series(provider="nosuch"), "nosuch", code=3),
    "a provider there is not": Broken(
        spec("specs/providers/fake.yaml", "provider: nosuch\n"), "specs/providers/fake.yaml"
    ),
    "a parameter there is not": Broken(
        spec("specs/providers/fake.yaml", "provider: fake\nparams: {nosuch: 1}\n"), "specs/providers/fake.yaml:2"
    ),
    "more calls at once than the provider takes": Broken(
        spec("specs/providers/fake.yaml", "provider: fake\nmax_concurrency: 9999\n"), "specs/providers/fake.yaml:2"
    ),
    "a size that is not 16:9": Broken(series(output={"width": 1280, "height": 800}), "16:9"),
    "a list without items": Broken(lambda project: project.playlist([]), "specs/playlists/show.yaml"),
    "a part given twice": Broken(lambda project: project.playlist([item(1), item(2, part=1)]), "part 1 is given"),
    "a field there is not": Broken(series(surprise=1), "surprise"),
    "settings there are not": Broken(spec("thumbforge.toml", "[output]\nsurprise = 1\n"), "surprise"),
}


@pytest.mark.parametrize("name", list(TABLE))
def test_what_is_broken_is_refused_by_all_before_any_call(tmp_path: Path, name: str) -> None:
    """`check`, `batch`, its dry run, plain runs and, for a template, `template validate`: each names the place."""
    project, broken = make_project(tmp_path / "project", 2), TABLE[name]
    project.profile("fake")
    broken.breaks(project)
    ways = [("check",), ("batch", "series=show", "--dry-run"), ("batch", "series=show")]
    if name != "a list without items":  # plain runs make what there is: nothing
        ways.append(("run",))
    if broken.template:
        ways.append(("template", "validate", "plain"))
    for way in ways:
        told = project.run(*way)
        assert broken.says in told.out + told.err, way
        assert told.code == broken.code, (way, told)
        assert "Traceback" not in told.err
    assert project.calls == 0
    if project.home.exists():
        assert project.count("run") == 0


def test_what_is_in_order_is_taken_by_all(tmp_path: Path) -> None:
    """The project that the table breaks."""
    project = make_project(tmp_path / "project", 2)
    project.profile("fake")
    for way in (("check",), ("template", "validate"), ("batch", "series=show", "--dry-run"), ("batch", "series=show")):
        assert project.run(*way).code == 0


def test_many_places_are_told_at_once(tmp_path: Path) -> None:
    """Fonts, layout and pictures of a series stand in one answer."""
    project = make_project(tmp_path / "project", 2)
    own_picture(b"no picture")(project)
    project.template(extends="corner-card", layout={"series": {"font": "comic"}})
    cut_font(project)
    for way in (("check",), ("batch", "series=show")):
        problems = project.run(*way, "--json").problem["problems"]
        assert [any(word in problem for problem in problems) for word in ("guest.png", "comic", "cut.ttf")] == [
            True
        ] * 3
