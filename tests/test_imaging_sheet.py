"""The sheet of a series: a page that can be read by everybody, offline, and a contact sheet."""

from __future__ import annotations

import base64
import hashlib
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from PIL import Image

from thumbforge.imaging import contact, sheet_page
from thumbforge.imaging.contact import write_contact
from thumbforge.imaging.sheet import Picture, Sheet, SheetItem, Stray, Take
from thumbforge.imaging.sheet_page import clock, page, write_page
from thumbforge.pixels import colour

PARTS = Path(sheet_page.__file__).with_name("page")
STYLE, SCRIPT = (PARTS / "sheet.css").read_text("utf-8"), (PARTS / "sheet.js").read_text("utf-8")


class Page(HTMLParser):
    """Tags in order, and what a reader sees."""

    VOID = frozenset({"meta", "link", "img", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.words.append(data)

    def all(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag == name]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def sample(tmp_path: Path) -> Sheet:
    (tmp_path / "finals").mkdir()
    path = tmp_path / "finals" / "01 a#b%.jpg"
    Image.new("RGB", (1920, 1080), "#A03020").save(path)
    return Sheet(
        title="Tables & <charts>",
        channel="A channel",
        facts=(("Template", "series-parts 1"), ("Cost", "0.12 USD")),
        items=(
            SheetItem(
                "What is a table?", "Part 1", path, key="k" * 32, cost="0.04 USD", status="up to date", duration=754
            ),
            SheetItem(
                "<script>alert('x')</script> & more",
                "Part 2",
                None,
                status="failed",
                reason='text: "a" -> "b"',
                notes=("text.truncated: left out: 'x'",),
                good=False,
            ),
            SheetItem("שלום *עולם*", picture=path, alt="A table in red", status="up to date", duration=7),
        ),
    )


def test_the_page_shows_everything_that_is_known(sample: Sheet, tmp_path: Path) -> None:
    """Title, part, key, cost, status, the reason it is out of date, and the report's notes are on the page."""
    text = Page(page(sample, tmp_path)).text
    for words in (
        "Tables & <charts>",
        "A channel",
        "3 thumbnails",
        "2 up to date",
        "1 failed",
        "Template: series-parts 1",
        "Part 1 · What is a table?",
        "0.04 USD",
        "k" * 32,
        'Reason: text: "a" -> "b"',
        "text.truncated: left out: 'x'",
        "12:34",
    ):
        assert words in text


@pytest.mark.parametrize(
    "title", ["<script>alert('x')</script> & more", "</script><img src=x onerror=alert(1)>", "{{ 7 * 7 }}"]
)
def test_titles_are_never_markup(title: str, sample: Sheet, tmp_path: Path) -> None:
    """Whatever titles say, there is one script and one style, ours, and the policy names both by their hash; nothing is
    loaded from elsewhere, and the only addresses are those of the video."""
    item = replace(sample.items[0], title=title, text=title, video="abc_DEF-123", names="abc_DEF-123", reason=title)
    written = page(replace(sample, title=title, series="series=show", items=(item,)), tmp_path)
    found = Page(written)
    assert found.text.count(title) >= 3
    assert [tag for tag, _ in found.tags if tag in {"script", "style", "img", "iframe"}] == ["style", "img", "script"]
    assert not any(name.startswith("on") or name == "style" for _, attrs in found.tags for name in attrs)
    assert not re.search(r"@import|url\(|src=.//", written)
    assert set(re.findall(r"https?://[^\"]*", written)) == {
        "https://www.youtube.com/watch?v=abc_DEF-123",
        "https://studio.youtube.com/video/abc_DEF-123/edit",
    }
    policy = next(str(a["content"]) for a in found.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    for part in (STYLE, SCRIPT):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" in policy
        assert f">{part}</" in written
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_each_picture_is_loaded_once_and_leads_to_its_file(sample: Sheet, tmp_path: Path) -> None:
    """The size at which it is shown is a choice of the reader, so that a page of hundreds loads each once, and not
    before it is seen; the room for it is kept. Where there is none yet, that is said. The duration is on each."""
    found = Page(page(sample, tmp_path))
    images = found.all("img")
    assert [image["alt"] for image in images] == ["Thumbnail: Part 1 · What is a table?", "A table in red"]
    assert all(image["loading"] == "lazy" and image["width"] and image["height"] for image in images)
    assert [link["href"] for link in found.all("a") if link.get("class") == "shot"] == [i["src"] for i in images]
    [missing] = [attrs for tag, attrs in found.tags if tag == "span" and attrs.get("role") == "img"]
    assert "no picture yet" in str(missing["aria-label"])
    assert len([attrs for tag, attrs in found.tags if attrs.get("class") == "mark"]) == 3
    assert {f"size-{place.id}" for place in sheet_page.SURFACES} <= {str(i.get("id")) for i in found.all("input")}
    assert all(f"--width: {place.width}px" in STYLE for place in sheet_page.SURFACES)


def test_what_changes_an_item_stands_beside_it(tmp_path: Path) -> None:
    """Commands can be pasted as they are, whatever is in the text; each has a button, and what fits an item's state
    comes first."""
    item = SheetItem("A title", text="It's *new*\nand\\so on", status="completed", names="v:2", place="#9", number="9")
    sheet = Sheet("A show", (item,), series="series=show", playlist="my-list")

    def lines(**fields: object) -> list[str]:
        found = sheet_page.commands(sheet, replace(item, **fields))  # type: ignore[arg-type]
        return [command.line for command in found]

    words = "thumbforge playlist set my-list '#9'"
    assert shlex.split(lines()[0]) == [*shlex.split(words), "text=It's *new*\\nand\\so on"]
    assert lines()[1:] == ["thumbforge batch series=show only=9 retake=yes", "thumbforge takes lock v:2 series=show"]
    assert lines(is_locked=True)[1:] == ["thumbforge takes unlock v:2 series=show"]
    assert lines(status="failed")[0] == "thumbforge batch series=show only=9"
    found = Page(page(sheet, tmp_path))
    assert len(found.all("code")) == len([b for b in found.all("button") if b.get("class") == "copy"]) == 3


def test_an_item_is_found_by_how_it_stands() -> None:
    """Changed, failed, out of date, warned: an item may be several; a filter that shows nothing is not offered."""
    assert sheet_page.states(SheetItem("a", is_changed=True, notes=("n",), status="completed")) == ("changed", "warned")
    assert sheet_page.states(SheetItem("a", is_old=True, status="failed")) == ("failed", "open")
    assert sheet_page.states(SheetItem("a", status="completed")) == ()
    items = (SheetItem("a", status="failed"), SheetItem("b", status="completed"))
    buttons = Page(page(Sheet("t", items), Path("/"))).all("button")
    assert [(b["data-show"], b["aria-pressed"]) for b in buttons] == [("all", "true"), ("failed", "false")]


def test_before_takes_and_what_is_not_of_the_series_are_shown(sample: Sheet, tmp_path: Path) -> None:
    """Each with its picture; a take that is not in use has the command that brings it back."""
    path = sample.items[0].picture
    assert path
    old = Picture(path, "0" * 64)
    takes = (Take(1, old, False), Take(2, old, True))
    item = SheetItem("One", picture=path, before=old, takes=takes, names="v", take=2, status="completed")
    strays = (Stray("02-old.jpg", old), Stray("notes.txt"))
    found = Page(page(Sheet("t", (item,), series="series=show", strays=strays), tmp_path))
    assert [str(image["alt"]) for image in found.all("img")] == [
        "Thumbnail: One",
        "Before: One",
        "Take 1 of One",
        "Take 2 of One",
        "02-old.jpg",
    ]
    assert "thumbforge takes use v 1 series=show" in found.text
    assert "takes use v 2" not in found.text
    assert "Not of this series" in found.text
    assert "notes.txt" in found.text


def test_a_packed_sheet_needs_no_other_file(sample: Sheet) -> None:
    """All pages in one, its pictures in it, no address that leads to a file."""
    found = Page(
        sheet_page.packed(replace(sample, items=sample.items * 300), lambda picture: "data:image/webp;base64,AA")
    )
    assert {image["src"] for image in found.all("img")} == {"data:image/webp;base64,AA"}
    assert len(found.all("article")) == 900
    hrefs = {str(link["href"]) for link in found.all("a")}
    assert all(href.startswith(("#", "https://")) for href in hrefs)
    policy = next(str(a["content"]) for a in found.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert "img-src data:;" in policy


def test_nothing_of_the_page_is_wider_than_a_phone() -> None:
    """Widths of more than 320 pixels give way: each is in a min() or beside a max-width."""
    for rule in re.findall(r"[^{}]*\{[^{}]*\}", STYLE):
        for width in map(int, re.findall(r"(?<!max-)(?<!--)width: (\d+)px", rule)):
            assert width <= 320 or "max-width: 100%" in rule, rule
    assert "minmax(min(100%," in STYLE


def test_pictures_are_named_relative_to_the_page(sample: Sheet, tmp_path: Path) -> None:
    """The folder can be moved: an address is relative and quoted, and leads to the file."""
    (tmp_path / "out" / "deep").mkdir(parents=True)
    target = tmp_path / "out" / "deep" / "sheet.html"
    write_page(sample, target)
    address = str(Page(target.read_text("utf-8")).all("img")[0]["src"])
    assert address == "../../finals/01%20a%23b%25.jpg"
    assert (target.parent / unquote(address)).resolve() == sample.items[0].picture
    assert sorted(path.name for path in target.parent.iterdir()) == ["sheet.html"]


def test_headings_are_in_order_and_sections_have_names(sample: Sheet, tmp_path: Path) -> None:
    """One h1, never a level skipped; each section is named by its heading; links inside the page lead somewhere."""
    found = Page(page(sample, tmp_path))
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    names = [attrs["id"] for _, attrs in found.tags if attrs.get("id")]
    assert len(names) == len(set(names))
    assert all(attrs["aria-labelledby"] in names for attrs in (*found.all("section"), *found.all("article")))
    assert all(str(a["href"])[1:] in names for a in found.all("a") if str(a["href"]).startswith("#"))
    assert found.all("html")[0]["lang"] == "en"


def test_choices_work_by_keyboard_and_without_script(sample: Sheet, tmp_path: Path) -> None:
    """Size, theme and marks are radio buttons with labels around them; one of each is chosen. What needs the script is
    not there without it."""
    found = Page(page(sample, tmp_path))
    buttons = found.all("input")
    assert {button["name"] for button in buttons} == {"size", "theme", "marks"}
    assert all(button["type"] == "radio" for button in buttons)
    assert len([button for button in buttons if "checked" in button]) == 3
    assert len(found.all("label")) == len(buttons)
    assert set(re.findall(r"#([a-z-]+):checked", STYLE)) <= {str(button["id"]) for button in buttons}
    assert "outline: 3px" in STYLE
    [filters] = [attrs for _, attrs in found.tags if attrs.get("class") == "filters"]
    assert "hidden" in filters
    assert ".copy { display: none" in STYLE


def test_the_pages_own_colours_have_enough_contrast() -> None:
    """Every text colour of both themes has 4.5 or more on both grounds."""
    themes = re.findall(r"color-scheme: (light|dark);([^}]*)\}", STYLE)
    assert {name for name, _ in themes} == {"light", "dark"}
    for _, body in themes:
        raw = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{3,6})", body))
        tones = {
            name: colour.luminance(
                colour.from_hex("#" + (value[1:] if len(value) == 7 else "".join(c * 2 for c in value[1:])))
            )
            for name, value in raw.items()
        }
        for ground in ("ground", "raised"):
            for ink in ("ink", "soft", "link", "good", "bad"):
                assert colour.ratio(tones[ink], tones[ground]) >= 4.5, (ink, ground)
        assert colour.ratio(tones["line"], tones["ground"]) >= 3


@pytest.mark.parametrize(
    ("seconds", "shown"), [(7, "0:07"), (59.6, "1:00"), (754, "12:34"), (3723, "1:02:03"), (None, "--:--"), (0, "0:00")]
)
def test_durations_are_written_as_youtube_does(seconds: float | None, shown: str) -> None:
    """Minutes and seconds, hours only where there are some, dashes where it is unknown."""
    assert clock(seconds) == shown


def test_a_sheet_of_nothing_is_a_page_too(tmp_path: Path) -> None:
    """A series without an item gives a whole page and a picture with its title."""
    empty = Sheet("Nothing yet", ())
    assert "0 thumbnails" in Page(page(empty, tmp_path)).text
    write_contact(empty, tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as opened:
        assert opened.format == "PNG"


def test_the_contact_sheet_shows_each_thumbnail_large_and_small(sample: Sheet, tmp_path: Path) -> None:
    """Each is there at 336x189 and 168x94; a failed one is framed; a missing or damaged file is an empty place."""
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff broken")
    broken = SheetItem("Broken", picture=tmp_path / "broken.jpg")
    target = tmp_path / "sheet.png"
    write_contact(Sheet(sample.title, (*sample.items, broken)), target)
    with Image.open(target) as opened:
        image = opened.convert("RGB")
    left, top = 24, 64
    cell = contact.LARGE[0] + 10 + 168 + 20

    def tone(x: int, y: int) -> tuple[int, int, int]:
        return image.getpixel((x, y))  # type: ignore[return-value]

    assert abs(tone(left + 100, top + 90)[0] - 0xA0) < 4
    assert abs(tone(left + 346 + 80, top + 47)[0] - 0xA0) < 4
    assert tone(left + cell + 100, top + 90) == (46, 48, 54)
    assert tone(left + cell - 2, top + 90) == (255, 138, 128)
    assert tone(left + 2 * cell + 346 + 167, top + 93)[0] > 0x90
    assert tone(left + 100, top + 189 + 56 + 10 + 90) == (46, 48, 54)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken.jpg", "finals", "sheet.png"]


def test_captions_are_drawn_in_every_script_and_as_they_are(tmp_path: Path) -> None:
    """A caption has ink for Japanese and Hebrew, and an asterisk in it is an asterisk."""

    def ink(title: str) -> bytes:
        page_image = contact.contact_sheet(Sheet("", (SheetItem(title),)))
        return page_image.crop((24, 64 + 189, 500, 64 + 189 + 30)).tobytes()

    blank = ink("\u200b")
    assert len({blank, ink("東京"), ink("שלום"), ink("*a*"), ink("a")}) == 5


def test_the_same_sheet_gives_the_same_files(sample: Sheet, tmp_path: Path) -> None:
    """Page and picture are the same bytes when nothing changed."""
    for name in ("one", "two"):
        write_page(sample, tmp_path / f"{name}.html")
        write_contact(sample, tmp_path / f"{name}.png")
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_a_long_series_has_several_pages_that_name_one_another(tmp_path: Path) -> None:
    """500 items to a page, numbered on; each page links to all and says which it is."""
    items = tuple(SheetItem(title=f"Title {n}", part=str(n), status="completed") for n in range(1, 1002))
    long = Sheet(title="A long series", items=items)
    assert long.page_names == ("sheet.html", "sheet-2.html", "sheet-3.html")
    second = page(long, tmp_path, 2)
    assert re.findall(r'<h3 id="item-(\d+)"', second) == [str(n) for n in range(501, 1001)]
    assert re.findall(r'<a href="(sheet[^"]*)"', second) == list(long.page_names)
    assert '<a href="sheet-2.html" aria-current="page">Page 2</a>' in second
    assert "<li>1001 thumbnails</li>" in second
    assert 'data-show="all" aria-pressed="true">\nAll <span class="count">500</span>' in second
    assert "Page 1" not in page(Sheet(title="A short one", items=items[:500]), tmp_path)
