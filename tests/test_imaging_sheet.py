"""The sheet of a series: a page that can be read by everybody, offline, and a contact sheet."""

from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from PIL import Image

from thumbforge.imaging import contact, sheet_page
from thumbforge.imaging.contact import write_contact
from thumbforge.imaging.sheet import Sheet, SheetItem, clock, page, write_page
from thumbforge.pixels import colour

CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)


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
        if "style" not in self.open:
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
        'Out of date text: "a" -> "b"',
        "text.truncated: left out: 'x'",
        "12:34",
    ):
        assert words in text


def test_titles_are_never_markup(sample: Sheet, tmp_path: Path) -> None:
    """There is no script on the page, whatever titles say, and nothing comes from elsewhere."""
    written = page(sample, tmp_path)
    found = Page(written)
    assert found.all("script") == []
    assert "<script>alert('x')</script> & more" in found.text
    assert not re.search(r"https?:|//[a-z]|@import|url\(", written)
    assert not any(name.startswith("on") for _, attrs in found.tags for name in attrs)
    policy = next(a["content"] for a in found.all("meta") if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in str(policy)


def test_every_picture_is_shown_at_every_size_with_words_for_it(sample: Sheet, tmp_path: Path) -> None:
    """Each thumbnail is there at the home, search, sidebar (168x94), mobile and TV sizes and in its details, with an
    alternative text; where there is none yet, that is said. The duration mark is on each."""
    found = Page(page(sample, tmp_path))
    images = found.all("img")
    assert len(images) == 2 * (len(sheet_page.SURFACES) + 1)
    assert all(image["alt"] for image in images)
    assert {image["alt"] for image in images} == {"Thumbnail: Part 1 · What is a table?", "A table in red"}
    sizes = {(image["width"], image["height"]) for image in images}
    assert {("360", "202"), ("168", "94"), ("120", "68"), ("560", "315")} <= sizes
    missing = [attrs for tag, attrs in found.tags if tag == "span" and attrs.get("role") == "img"]
    assert len(missing) == len(sheet_page.SURFACES) + 1
    assert all("no picture yet" in str(attrs["aria-label"]) for attrs in missing)
    marks = [attrs for tag, attrs in found.tags if tag == "span" and attrs.get("class") == "mark"]
    assert len(marks) == 3 * (len(sheet_page.SURFACES) + 1)


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
    assert all(str(link["href"])[1:] in names for link in found.all("a"))
    assert found.all("html")[0]["lang"] == "en"


def test_choices_work_by_keyboard_and_without_script(sample: Sheet, tmp_path: Path) -> None:
    """Theme and marks are radio buttons with labels around them; one of each is chosen."""
    found = Page(page(sample, tmp_path))
    buttons = found.all("input")
    assert {button["name"] for button in buttons} == {"theme", "marks"}
    assert all(button["type"] == "radio" for button in buttons)
    assert len([button for button in buttons if "checked" in button]) == 2
    assert len(found.all("label")) == len(buttons)
    assert {"theme-system", "theme-dark", "marks-all", "marks-none"} == set(
        re.findall(r"#([a-z-]+):checked", sheet_page.STYLE)
    )
    assert "outline: 3px" in sheet_page.STYLE


def test_the_pages_own_colours_have_enough_contrast() -> None:
    """Every text colour of both themes has 4.5 or more on both grounds."""
    themes = re.findall(r"color-scheme: (light|dark);([^}]*)\}", sheet_page.STYLE)
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


PROBE = """<iframe id=f src="sheet.html"></iframe><pre id=o></pre><script>
f.onload = () => { const d = f.contentDocument; const found = [];
const root = d.documentElement;
for (const w of [360, 1024, 1920]) { f.width = w; found.push(w + ":" + (root.scrollWidth - root.clientWidth)); }
const ground = () => f.contentWindow.getComputedStyle(d.body).backgroundColor;
for (const id of ["theme-dark", "theme-light"]) { d.getElementById(id).click(); found.push(ground()); }
d.getElementById("marks-none").click();
found.push(f.contentWindow.getComputedStyle(d.querySelector(".mark")).display);
const shot = [...d.querySelectorAll("#sidebar ~ ul .shot")][0].getBoundingClientRect();
found.push(shot.width + "x" + shot.height); o.textContent = found.join(" "); };
</script>"""


@pytest.mark.soak
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_real_browser_shows_the_page(sample: Sheet, tmp_path: Path) -> None:
    """In Chromium nothing scrolls sideways at 360, 1024 and 1920 pixels, the choices work, the sidebar's thumbnail is
    168x94.5, no error is on the console, and a screenshot of each width and theme can be looked at."""
    assert CHROMIUM
    write_page(sample, tmp_path / "sheet.html")
    (tmp_path / "probe.html").write_text(PROBE)
    base = [CHROMIUM, "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files", "--enable-logging=stderr"]
    probe = [*base, "--dump-dom", "--virtual-time-budget=4000", (tmp_path / "probe.html").as_uri()]
    ran = subprocess.run(probe, capture_output=True, text=True, timeout=120, check=True)
    found = re.search("<pre id=.o.>(.*?)</pre>", ran.stdout)
    assert found
    expected = "360:0 1024:0 1920:0 rgb(15, 15, 15) rgb(255, 255, 255) none 168x94.5"
    assert found[1] == expected
    assert "CONSOLE" not in ran.stderr
    for theme in ("1", "0"):
        for width in (360, 1024, 1920):
            shot = tmp_path / f"{width}-{theme}.png"
            options = [f"--window-size={width},1600", f"--blink-settings=preferredColorScheme={theme}"]
            command = [*base, "--hide-scrollbars", *options, f"--screenshot={shot}", (tmp_path / "sheet.html").as_uri()]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
            assert "CONSOLE" not in ran.stderr
            with Image.open(shot) as seen:
                assert seen.convert("RGB").getpixel((2, 2)) == ((15, 15, 15) if theme == "0" else (255, 255, 255))


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
    assert "Page 1" not in page(Sheet(title="A short one", items=items[:500]), tmp_path)
