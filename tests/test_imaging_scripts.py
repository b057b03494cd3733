"""Chinese, Japanese, Korean, Thai and Turkish: the face of a region, line ends inside text without spaces, capitals."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thumbforge.imaging.type import clean, fit, fonts, scripts, shape
from thumbforge.imaging.type.breaks import Break, opportunities

SPACE = fit.Space(width=750, height=470, size=148, min_size=66, max_lines=4, line_height=1.1, outline=0.05, cap=0.859)


def broken(text: str, language: str | None = None) -> str:
    """The text with | where a line may end, and · where it may only if that makes the letters much larger."""
    clusters = [found[0] for found in scripts.CLUSTER.finditer(text)]
    marks = {Break.SOFT: "|", Break.LOOSE: "·"}
    ends = opportunities(clusters, fonts.region(text, language))
    return "".join(marks.get(end, "") + cluster for cluster, end in zip(clusters, ends, strict=True))


def rows(text: str, language: str | None = None) -> list[str]:
    setting = shape.prepare(clean.marked(text, "none"), "anton", shape.Speech(language))
    found = fit.fit(setting, SPACE)
    assert found
    return [
        "".join(c.text for c in setting.paragraphs[line.paragraph].clusters[line.start : line.end]).strip() + line.tail
        for line in found.lines
    ]


@pytest.mark.parametrize(
    ("text", "language", "region"),
    [
        ("骨と直", None, "jp"),
        ("骨", "ja", "jp"),
        ("骨", "ja-JP", "jp"),
        ("骨", "ko", "kr"),
        ("한글 漢字", "zh", "kr"),
        ("骨", None, "sc"),
        ("骨", "zh", "sc"),
        ("骨", "zh-Hans", "sc"),
        ("骨", "zh-TW", "tc"),
        ("骨", "zh_Hant", "tc"),
        ("骨", "zh-HK", "hk"),
        ("骨", "zh-Hant-HK", "hk"),
        ("骨", "yue", "hk"),
        ("骨", "en", "sc"),
        ("ラーメン", "zh", "jp"),
        ("王・李", "zh", "sc"),
    ],
)
def test_the_region_of_han_letters(text: str, language: str | None, region: str) -> None:
    """Kana mean Japan and hangul Korea whatever the playlist says; else its language decides, else mainland China."""
    assert fonts.region(text, language) == region


def test_the_face_of_han_letters_follows_the_language() -> None:
    """The same letter is another glyph in Japan and in China, and another final key."""

    def glyphs(language: str) -> tuple[str, tuple[int, ...]]:
        setting = shape.prepare(clean.marked("直", "none"), "anton", shape.Speech(language))
        shaped = shape.shape_line(setting, setting.paragraphs[0], 0, 1)
        return shaped.glyphs[0].font, tuple(glyph.gid for glyph in shaped.glyphs)

    assert glyphs("ja")[0] == "noto-sans-cjk-jp"
    assert glyphs("zh")[0] == "noto-sans-cjk-sc"
    assert glyphs("ja")[1] != glyphs("zh")[1]
    assert "noto-sans-cjk-jp" in fonts.usable("anton", "直", "ja")
    assert "noto-sans-cjk-jp" not in fonts.usable("anton", "直", "zh")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ラーメンを食べに行こう", "ラー·メ·ン·を|食·べ·に|行·こ·う"),
        ("東京。です", "東·京。|で·す"),
        ("第十二回『星空の下で』", "第十二回|『星·空·の|下·で』"),
        ("【完结】三天学会（第5集）", "【完结】|三天·学会|（第5集）"),
        ("東京編 | Ep. 4", "東京|編 | |Ep. 4"),
        ("三天学会做面包", "三天·学会|做·面包"),
        ("초보자를 위한", "초·보·자·를 |위·한"),
        ("เรียนทำอาหารไทย", "เรียน|ทำ|อาหาร|ไทย"),
        ("ភាសាខ្មែរ រៀនធ្វើ", "ភាសាខ្មែរ |រៀន|ធ្វើ"),
        ("မြန်မာစာ", "မြန်မာ|စာ"),
    ],
)
def test_text_without_spaces_breaks_where_a_reader_would(text: str, expected: str) -> None:
    """Phrases in Japanese and Chinese, words in Thai, Khmer and Burmese, nothing inside a Korean word, a number stays
    with what it counts; no line begins with small kana, ー or a closing mark."""
    assert broken(text) == expected


def test_phrases_stay_whole_where_that_costs_little() -> None:
    """Japanese lines end between phrases, Korean ones between words."""
    assert rows("ラーメンを食べに行こう！東京編") == ["ラーメンを", "食べに", "行こう！", "東京編"]
    assert rows("다크 소울 공략 첫 번째 보스") == ["다크 소울", "공략 첫", "번째 보스"]


def test_a_phrase_gives_way_where_it_would_make_the_letters_small() -> None:
    """A line of one long phrase is broken inside rather than shrunk."""
    text = "とても" + "あ" * 24
    found = rows(text)
    assert len(found) > 1
    assert "".join(found) == text


@pytest.mark.parametrize(
    ("text", "language", "capitals"),
    [
        ("bir gece istanbul", "tr", "BİR GECE İSTANBUL"),
        ("ısı iğdır", "tr-TR", "ISI İĞDIR"),
        ("bakı şəhəri", "az", "BAKI ŞƏHƏRİ"),
        ("bir gece", "en", "BIR GECE"),
        ("bir gece", None, "BIR GECE"),
        ("trick", "trv", "TRICK"),
        ("iPhone ile", "tr", "iPhone İLE"),
    ],
)
def test_turkish_capitals_keep_the_dot(text: str, language: str | None, capitals: str) -> None:
    """i becomes İ in Turkish and Azerbaijani, by the playlist's language alone."""
    assert clean.marked(text, "upper", language).chars == capitals


def test_a_plain_title_loads_no_dictionary_and_no_large_font() -> None:
    """An ASCII title is set without ICU, BudouX or the 32 MB of CJK; a Japanese one uses them."""
    code = (
        "import sys\nfrom thumbforge.imaging.type import clean, fonts, shape\n"
        "def loaded():\n    return sorted({'icu4py', 'budoux', 'manimgx_fonts_cjk'} & set(sys.modules))\n"
        "shape.prepare(clean.marked('How to sort 10 tables', 'upper'), 'anton')\nprint(loaded())\n"
        "shape.prepare(clean.marked('東京へ行こう', 'upper'), 'anton')\nprint(loaded())\n"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert found == "[]\n['budoux', 'icu4py', 'manimgx_fonts_cjk']\n"


LETTERS = "aé ЖёΩ東京。『あーっン한국어ไทยง่ๆكتاب אבגक्षித벬বাం🇯🇵👨‍👩‍👧🔥️⃣7#*-–|/?!\n\u200b"


@settings(max_examples=1000, deadline=None)
@given(st.text(alphabet=LETTERS, max_size=60), st.sampled_from(["anton", "inter"]), st.sampled_from([None, "ja", "tr"]))
def test_any_mixture_of_scripts_is_set_inside_its_box(text: str, font: str, language: str | None) -> None:
    """A thousand mixed titles: inside the box, at most a tenth below the smallest size or cut and recorded, and every
    cluster is either drawn, left out by name, or part of what the ellipsis stands for."""
    setting = shape.prepare(clean.marked(text, "upper", language), font, shape.Speech(language))
    found = fit.fit(setting, SPACE)
    if found is None:
        assert not setting.paragraphs
        return
    assert (found.height + 0.1) * found.size <= SPACE.height
    assert found.size >= int(0.9 * SPACE.min_size) or len(found.lines) == 1
    assert len(found.lines) <= SPACE.max_lines
    for line in found.lines:
        paragraph = setting.paragraphs[line.paragraph]
        assert line.end > line.start
        assert all(
            ord(c) in fonts.face(x.font).coverage or scripts.IGNORABLE.match(c)
            for x in paragraph.clusters
            for c in x.text
        )
    drawn = sum(line.end - line.start for line in found.lines)
    everything = sum(len(paragraph.clusters) for paragraph in setting.paragraphs)
    spaces = sum(c.text in " \u200b" for paragraph in setting.paragraphs for c in paragraph.clusters)
    assert found.cut or drawn >= everything - spaces
