"""`hero look` and `hero cutout`: what is understood of a picture file, and a mask for it.

rembg stands in as a package of three lines: what is tested is what thumbforge makes of its answer.
"""

from __future__ import annotations

import io
import json
import re
import sys
import types
from pathlib import Path
from typing import get_args

import pytest
from PIL import Image, ImageDraw

from tests.project import Project
from thumbforge import ids
from thumbforge.errors import ProviderSetup, UsageError
from thumbforge.making.cutout import cleaned, cut_out
from thumbforge.models import LookName
from thumbforge.pixels import masks

SKIN = (208, 150, 120)


@pytest.fixture
def hero(tmp_path: Path) -> Path:
    """A person before a blue wall."""
    picture = Image.new("RGB", (640, 480), (40, 60, 120))
    draw = ImageDraw.Draw(picture)
    draw.rounded_rectangle((200, 260, 440, 520), 60, fill=(30, 30, 34))
    draw.ellipse((260, 80, 380, 250), fill=SKIN)
    path = tmp_path / "me.png"
    picture.save(path)
    return path


def rembg(monkeypatch: pytest.MonkeyPatch, answer: Image.Image | Exception) -> list[str]:
    """A stand-in: `remove` gives this mask; the models that were asked for are returned."""
    asked: list[str] = []
    module = types.ModuleType("rembg")

    def remove(data: bytes, session: str, only_mask: bool) -> bytes:
        assert Image.open(io.BytesIO(data)).size == (640, 480)
        assert only_mask
        if isinstance(answer, Exception):
            raise answer
        made = io.BytesIO()
        answer.save(made, "PNG")
        return made.getvalue()

    def new_session(model: str) -> str:
        asked.append(model)
        return model

    module.remove, module.new_session = remove, new_session  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rembg", module)
    return asked


def person() -> Image.Image:
    """The mask that a model would give: soft, with haze around and a speck beside."""
    mask = Image.new("L", (640, 480), 20)
    draw = ImageDraw.Draw(mask)
    draw.rounded_rectangle((200, 260, 440, 520), 60, fill=250)
    draw.ellipse((260, 80, 380, 250), fill=250)
    draw.ellipse((20, 20, 34, 34), fill=240)
    return mask


def test_a_mask_is_written_beside_the_hero(hero: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grey, of the hero's shape, without haze and dust, with facts in its text; the hero's bytes stay."""
    asked = rembg(monkeypatch, person())
    before = hero.read_bytes()
    made = cut_out(hero, None, tmp_path / "preview.png", "u2netp")
    assert (asked, made.mask.name, made.remark) == (["u2netp"], "me.mask.png", "")
    assert hero.read_bytes() == before
    with Image.open(made.mask) as mask:
        assert (mask.mode, mask.size) == ("L", (640, 480))
        assert mask.getpixel((27, 27)) == 0
        assert mask.getpixel((600, 400)) == 0
        assert mask.getpixel((320, 160)) == 255
        facts = json.loads(mask.info["thumbforge"])
    assert facts["source"] == ids.sha256_hex(before)
    assert facts["face"] == list(made.face or ())
    x, y, w, h = made.face or (0, 0, 0, 0)
    assert 0.35 < x + w / 2 < 0.65
    assert 0.1 < y + h / 2 < 0.55
    assert (tmp_path / "preview.png").is_file()


def test_a_transparent_copy_can_be_had_instead(hero: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --to the subject's own pixels come as a PNG that is clear around it; no mask is written."""
    rembg(monkeypatch, person())
    made = cut_out(hero, tmp_path / "cut.png", tmp_path / "preview.png", None)
    with Image.open(made.mask) as picture:
        assert picture.mode == "RGBA"
        assert picture.getpixel((320, 160)) == (*SKIN, 255)
        assert picture.getpixel((600, 100))[3] == 0  # type: ignore[index]
    assert not (tmp_path / "me.mask.png").exists()


def test_what_goes_wrong_is_one_line(hero: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing found, a model that is not there, an answer that is no picture."""
    rembg(monkeypatch, Image.new("L", (640, 480), 12))
    with pytest.raises(UsageError, match="no subject was found"):
        cut_out(hero, None, tmp_path / "p.png", None)
    rembg(monkeypatch, ValueError("No session class\nfound"))
    with pytest.raises(ProviderSetup, match="rembg failed: No session class found"):
        cut_out(hero, None, tmp_path / "p.png", "nix")
    assert not (tmp_path / "me.mask.png").exists()


def test_without_rembg_it_says_how_to_get_it(hero: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line names the extra, and that any tool's transparent PNG will do."""
    monkeypatch.setitem(sys.modules, "rembg", None)
    with pytest.raises(ProviderSetup, match="rembg is not installed") as caught:
        cut_out(hero, None, tmp_path / "p.png", None)
    assert "cutout" in (caught.value.hint or "")
    assert "transparent PNG" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "print('No onnxruntime backend found.\\nPlease install'); raise SystemExit(1)",
            "No onnxruntime backend found.",
        ),
        ("import a_library_that_is_gone", "No module named 'a_library_that_is_gone'"),
        ("raise OSError('libgomp.so.1: cannot open\\nshared object file')", "libgomp.so.1: cannot open shared object"),
    ],
)
def test_rembg_that_does_not_start_is_one_line(
    hero: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    body: str,
    told: str,
) -> None:
    """It is there, but not what it needs; it may even end the process. Why is told once, by us."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/rembg.py").write_text(body, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "rembg", raising=False)
    with pytest.raises(ProviderSetup, match=f"^rembg is there but does not start: {re.escape(told)}") as caught:
        cut_out(hero, None, tmp_path / "p.png", None)
    assert "cutout" in (caught.value.hint or "")
    assert capsys.readouterr() == ("", "")
    assert not (tmp_path / "me.mask.png").exists()


def test_what_is_nearly_subject_is_all_of_it() -> None:
    """Haze below 0.45 goes, what is above 0.87 is solid."""
    mask = Image.new("L", (400, 400))
    ImageDraw.Draw(mask).rectangle((100, 100, 299, 299), fill=225)
    clean = cleaned(mask)
    assert clean.getpixel((200, 200)) == 255
    assert masks.body(clean)[0] == pytest.approx(0.25, abs=0.02)


def test_hero_look_tells_and_draws(project: Project) -> None:
    """The subject, the look, a row for each look and template, and one PNG of all; nothing is recorded."""
    dusk = Image.linear_gradient("L").resize((960, 540))  # of few colours it would be a slide, which is a ground
    picture = Image.merge("RGB", [dusk.point(lambda level, k=k: 30 + level * k // 8) for k in (1, 2, 3)])
    ImageDraw.Draw(picture).ellipse((380, 120, 600, 520), fill=(230, 190, 60))
    picture.save(project.root / "thing.png")
    told = project.run("hero", "look", "thing.png", "--json")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["subject"]["kind"] == "found"
    assert {row["look"] for row in found["shown"]} == set(get_args(LookName))
    assert {"bold-title", "news-bar", "split-panel"} <= {row["template"] for row in found["shown"]}
    with Image.open(project.root / found["sheet"]) as sheet:
        assert sheet.width > 1200
    missing = project.run("hero", "look", "nix.png")
    assert missing.code == 3
