"""The sheet in a real headless browser: how soon it is there, how wide, and that a keyboard is enough.

Opt-in (`-m browser`): needs Chromium, and the extra `browser`. SHEET_SHOTS names a folder for screenshots.
"""

from __future__ import annotations

import base64
import os
import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from thumbforge.imaging.sheet import Command, Picture, Sheet, SheetItem, Stray, Take
from thumbforge.imaging.sheet_page import packed, write_page
from thumbforge.pixels.small import preview

pytestmark = pytest.mark.browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
ITEMS = 300


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sheet of 300 items with grainy pictures of their own, some failed, changed, warned, with takes and before."""
    root = tmp_path_factory.mktemp("sheet")
    (root / "sheet.files").mkdir()
    grain = random.Random(1)
    for number in range(24):
        small = Image.frombytes("RGB", (96, 54), grain.randbytes(96 * 54 * 3))
        small.resize((1920, 1080), Image.Resampling.BICUBIC).save(root / f"{number:02}.jpg", quality=90)
        (root / f"sheet.files/{number:02}.webp").write_bytes(preview(root / f"{number:02}.jpg"))
    write_page(sheet(root), root / "sheet.html", small=lambda picture: f"sheet.files/{picture.path.stem}.webp")
    return root


def sheet(root: Path) -> Sheet:
    def picture(number: int) -> Picture:
        return Picture(root / f"{number % 24:02}.jpg", str(number))

    def item(number: int) -> SheetItem:
        plain = SheetItem(
            f"Lesson {number}: why the longest word of all is Donaudampfschifffahrtsgesellschaftskapitän",
            part=f"PART {number}",
            picture=picture(number).path,
            video=f"video-{number:05}",
            key="0123abcd",
            status="completed",
            file=f"{number:03}-video-{number:05}.jpg",
            text=f"Lesson *{number}*",
            names=f"video-{number:05}",
            place=f"video-{number:05}",
            number=str(number),
        )
        if number % 50 == 1:
            return replace(plain, is_changed=True, before=picture(number + 1))
        if number % 50 == 2:
            takes = (Take(1, picture(number + 2), False), Take(2, picture(number + 3), True))
            return replace(plain, takes=takes, take=2, notes=("text.truncated: left out: 'x'",), good=False)
        if number % 50 == 3:
            return replace(plain, status="failed", reason="the service said no", picture=None, good=False)
        return plain

    strays = (Stray("notes.txt"), Stray("99-old.jpg", picture(3)))
    items = tuple(item(number) for number in range(1, ITEMS + 1))
    return Sheet("A show <b>&</b> more", items, "A channel", (("template", "plain v1"),), "series=show", "show", strays)


@pytest.fixture
def page(browser: Any, folder: Path) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    opened.complaints = []
    opened.on("console", lambda message: opened.complaints.append(message.text))
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.goto((folder / "sheet.html").as_uri())
    yield opened
    assert opened.complaints == []
    context.close()


def test_a_page_of_300_is_there_at_once_and_loads_what_is_seen(browser: Any, folder: Path) -> None:
    """The first view within 2 s, all that is loaded for it within 8 MB; nothing from elsewhere."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    loaded: list[str] = []
    tab.on("requestfinished", lambda request: loaded.append(request.url))
    tab.goto((folder / "sheet.html").as_uri(), wait_until="load")
    took = tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert took < 2000
    files = [folder / url.removeprefix(f"{folder.as_uri()}/") for url in loaded]
    assert sum(file.stat().st_size for file in files) < 8_000_000
    assert len(files) < 40 + 24  # of 300 items those in or near the view; each file once
    assert tab.evaluate("document.querySelectorAll('.item').length") == ITEMS
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_nothing_scrolls_sideways(browser: Any, folder: Path, width: int, scheme: str) -> None:
    """At any width and in each size of the pictures; the theme is the system's. A screenshot can be looked at."""
    context = browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=scheme)
    tab = context.new_page()
    tab.goto((folder / "sheet.html").as_uri())
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(15, 15, 15)" if scheme == "dark" else "rgb(255, 255, 255)"
    )
    tab.locator("summary").first.click()
    for size in ("tv", "mobile", "sidebar", "search", "home"):
        tab.locator(f"#size-{size}").check()
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    if shots := os.environ.get("SHEET_SHOTS"):
        tab.screenshot(path=f"{shots}/{width}-{scheme}.png")
    context.close()


def test_each_size_is_that_of_youtube(page: Any) -> None:
    """168 by 94.5 beside a video, 560 by 315 on a television."""
    page.locator("summary").first.click()
    for size, width in (("sidebar", 168), ("tv", 560), ("home", 360)):
        page.locator(f"#size-{size}").check()
        box = page.locator(".shot").first.bounding_box()
        assert (box["width"], box["height"]) == (width, width * 9 / 16)


def test_filters_show_what_they_say(page: Any) -> None:
    """And say it to those who do not see it."""
    for name, count in (("changed", 6), ("failed", 6), ("warned", 6), ("all", ITEMS)):
        page.locator(f"[data-show={name}]").click()
        shown = page.evaluate("[...document.querySelectorAll('.item')].filter(one => one.offsetParent !== null).length")
        assert shown == count
        pressed = page.evaluate("[...document.querySelectorAll('[aria-pressed=true]')].map(one => one.dataset.show)")
        assert pressed == [name]


def test_a_keyboard_is_enough(page: Any) -> None:
    """From the top: the skip link, each filter, and of an item the picture, video, Studio and the button that copies,
    each with a focus that is seen."""
    reached = []
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
                " return [e.className || e.dataset.show || e.textContent.trim().split('\\n')[0],"
                " s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2]; })()"
            )
        )
    names = [name for name, _ in reached]
    assert names[:6] == ["skip", "all", "changed", "failed", "warned", "Size and theme"]
    for name in ("shot", "Video of", "Studio page of", "copy"):
        assert any(found.startswith(name) for found in names), (name, names)
    assert all(is_seen for _, is_seen in reached), reached
    page.locator("[data-show=failed]").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.filter") == "failed"


def test_a_command_is_copied_as_it_stands(page: Any) -> None:
    """Into the clipboard, or, where that is refused, it is marked; either is told to a screen reader."""
    page.locator("[data-show=failed]").click()
    item = page.locator(".item:visible").first
    item.locator(".copy").first.focus()
    page.keyboard.press("Enter")
    line = "thumbforge batch series=show only=3"
    page.wait_for_function("document.getElementById('told').textContent !== ''")
    assert page.locator("#told").inner_text() == f"Copied: {line}"
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.keyboard.press("Enter")
    page.wait_for_function("document.getElementById('told').textContent.startsWith('Marked')")
    assert page.evaluate("getSelection().toString()") == line


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, folder: Path, scheme: str) -> None:
    """Names, contrasts, roles: with all that can be opened open."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    tab = context.new_page()
    tab.goto((folder / "sheet.html").as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    tab.evaluate("[...document.querySelectorAll('.item')].slice(12).forEach(one => one.remove())")
    found = axe.Axe().run(tab).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found if rule["impact"] in {"serious", "critical"}] == []
    context.close()


def test_a_packed_sheet_shows_its_pictures_alone(browser: Any, folder: Path, tmp_path: Path) -> None:
    """From another place, with nothing beside it and under its own policy."""

    def small(picture: Picture) -> str:
        data = (folder / f"sheet.files/{picture.path.stem}.webp").read_bytes()
        return f"data:image/webp;base64,{base64.b64encode(data).decode()}"

    first = sheet(folder)
    few = replace(first, items=first.items[:6], strays=())
    (tmp_path / "packed.html").write_text(packed(few, small), encoding="utf-8")
    tab, asked = browser.new_page(), []
    tab.on("request", lambda request: asked.append(request.url.partition(":")[0]))
    tab.goto((tmp_path / "packed.html").as_uri())
    tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    tab.evaluate("document.querySelectorAll('img').forEach(one => one.loading = 'eager')")
    tab.wait_for_function("[...document.images].every(one => one.complete && one.naturalWidth === 640)")
    assert set(asked) <= {"file", "data"}
    assert asked.count("file") == 1
    tab.close()


def test_a_hero_run_is_picked_from_its_page(browser: Any, folder: Path, tmp_path: Path) -> None:
    """A candidate has its command without a series."""
    item = SheetItem(
        "Candidate 1", picture=folder / "01.jpg", commands=(Command("Pick it", "thumbforge hero pick r 1"),)
    )
    write_page(Sheet("Hero run", (item,)), tmp_path / "hero.html")
    tab = browser.new_page()
    tab.goto((tmp_path / "hero.html").as_uri())
    assert tab.locator("code").inner_text() == "thumbforge hero pick r 1"
    assert tab.locator(".copy").is_visible()
    tab.close()
