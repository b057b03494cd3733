"""From a title to lines of glyphs: cleaning, capitals, emphasis, direction, breaking, fonts, fitting."""

from __future__ import annotations

import json
import unicodedata
from hashlib import sha256
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import UsageError
from thumbforge.imaging import draw
from thumbforge.imaging.type import bidi, clean, fit, fonts, shape
from thumbforge.imaging.type.breaks import Break, opportunities

ROWS = [
    line.split("\t")
    for line in (Path(__file__).parent / "data" / "titles.txt").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
TITLES = {row[0]: json.loads(row[1]) for row in ROWS}
SPACE = fit.Space(width=750, height=470, size=148, min_size=66, max_lines=4, line_height=1.1, outline=0.05, cap=0.859)


def lines(setting: shape.Setting, fitted: fit.Fitted) -> list[str]:
    found = []
    for line in fitted.lines:
        clusters = setting.paragraphs[line.paragraph].clusters[line.start : line.end]
        found.append("".join(cluster.text for cluster in clusters).strip() + line.tail)
    return found


def fitted(text: str, space: fit.Space = SPACE, font: str = "anton") -> tuple[list[str], fit.Fitted]:
    setting = shape.prepare(clean.marked(text, "none"), font)
    found = fit.fit(setting, space)
    assert found
    return lines(setting, found), found


REGIONS = ("jp", "kr", "sc", "tc", "hk")


# --- cleaning ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "drawn"),
    [
        ("Invoice\u202egpj.exe", "Invoicegpj.exe"),
        ("\u202eReversed title\u202c and normal tail", "Reversed title and normal tail"),
        ("\ufeffBOM at the start", "BOM at the start"),
        ("Soft\u00adhyphen", "Softhyphen"),
        ("many      inner\tspaces ", "many inner spaces"),
        ("\u3164\u3164", ""),
        ("\u200b\u200d\ufe0f", ""),
        ("   ", ""),
        ("e\u0301", "é"),
        ("\u0301\u0302 starts", "starts"),
        ("Za\u0334\u0328\u031b\u033a\u032d", "Zą\u0334\u031b"),
        ("one\r\ntwo\u2028three", "one\ntwo\nthree"),
        ("a\x00b\x1b[31mc", "ab[31mc"),
        ("nonchar \ufffe\U0001ffff!", "nonchar !"),
        ("lone \ud83d surrogate", "lone surrogate"),
        ("𝗛𝗼𝘄 𝓟𝓪𝓻𝓽", "How Part"),
        ("5 idées\u202f: oui", "5 idées\xa0: oui"),
    ],
)
def test_only_what_can_be_seen_is_drawn(raw: str, drawn: str) -> None:
    """Control, bidi-override, invisible and stacked characters are gone; spaces are single; blank text is empty."""
    assert clean.plain(raw) == drawn


@given(st.text(max_size=80))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    """The clean form is a fixed point in NFC without control characters."""
    once = clean.plain(text)
    assert clean.plain(once) == once
    assert not any(unicodedata.category(char) in ("Cc", "Cs") and char != "\n" for char in once)


@pytest.mark.parametrize(
    ("raw", "accented"),
    [
        ("the *merge* method", "merge"),
        ("**two words** here", "two words"),
        ("*a* and *b*", "ab"),
        ("5 * 3 * 2", ""),
        ("2*3*4 is 24", ""),
        ("f(*args, **kwargs)", ""),
        ("one * alone", ""),
        ("*no end", ""),
        ("*over\nlines*", ""),
    ],
)
def test_only_paired_asterisks_are_emphasis(raw: str, accented: str) -> None:
    """*word* has the accent colour and loses its marks; an asterisk without a partner stays."""
    text = clean.marked(raw, "none")
    assert "".join(c for c, on in zip(text.chars, text.accent, strict=True) if on) == accented
    assert accented or text.chars == raw


@pytest.mark.parametrize(
    ("raw", "capitals"),
    [
        ("Straße für größere", "STRASSE FÜR GRÖSSERE"),
        ("Παίζοντας στα Μετέωρα", "ΠΑΙΖΟΝΤΑΣ ΣΤΑ ΜΕΤΕΩΡΑ"),
        ("μαΐου άυλος ρολόι", "ΜΑΪΟΥ ΑΫΛΟΣ ΡΟΛΟΪ"),
        ("μία ή δύο", "ΜΙΑ Ή ΔΥΟ"),
        ("ქართული ენა", "ქართული ენა"),
        ("my iPhone at https://a.example/Path", "MY iPhone AT https://a.example/Path"),
        ("use read_csv now", "USE read_csv NOW"),
        ("ﬁne Đường phố", "FINE ĐƯỜNG PHỐ"),
        ("ёлки", "ЁЛКИ"),
    ],
)
def test_capitals_follow_each_script(raw: str, capitals: str) -> None:
    """Capitals are those a poster would have: no Greek tonos, no capital Georgian, no broken names and addresses."""
    assert clean.marked(raw, "upper").chars == capitals


# --- direction --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "base", "levels"),
    [
        ("abc", 0, "000"),
        ("אבג", 1, "111"),
        ("ab אב", 0, "00011"),
        ("אב ab", 1, "11122"),
        ("אב 12", 1, "11122"),
        ("אב-10", 1, "11122"),
        ("قناة (a) 7", 1, "1111112112"),
        ("a (אב) b", 0, "00011000"),
        ("אב (ab) א", 1, "111122111"),
        ("12%", 0, "000"),
        ("א 5%", 1, "1122"),
        ("ا 1,2", 1, "11222"),
        ("ا 1-2", 1, "11212"),
        ("א 1-2", 1, "11222"),
        ("12 אב", 1, "22111"),
        ("אב!", 1, "111"),
        ("ab!", 0, "000"),
    ],
)
def test_levels_follow_the_bidirectional_algorithm(text: str, base: int, levels: str) -> None:
    """Numbers, brackets, terminators and neutrals get the levels of Unicode Standard Annex 9."""
    assert bidi.levels(text) == (base, [int(level) for level in levels])


def test_runs_are_reversed_from_the_highest_level_down() -> None:
    """L2: embedded numbers stay readable inside a reversed line."""
    assert bidi.visual_order([0, 0]) == [0, 1]
    assert bidi.visual_order([1, 2, 1]) == [2, 1, 0]
    assert bidi.visual_order([0, 1, 2, 1, 0]) == [0, 3, 2, 1, 4]
    assert bidi.visual_order([]) == []


@given(st.text(alphabet="ab אבگ12٣.,-+%()[]! \u200d\u0301", max_size=40))
def test_every_character_has_a_level_that_can_be_ordered(text: str) -> None:
    """Levels are the base level or up to two above, and the visual order is a permutation."""
    base, levels = bidi.levels(text)
    assert len(levels) == len(text)
    assert all(base <= level <= 2 for level in levels)
    assert sorted(bidi.visual_order(levels)) == list(range(len(text)))


# --- breaking ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("one two", "one |two"),
        ("a well-known fact", "a |well-|known |fact"),
        ("1990-1999", "1990-1999"),
        ("and/or", "and/|or"),
        ("Let's | go", "Let's | |go"),
        ("« ici »", "« ici »"),
        ("BOSS 😱", "BOSS 😱"),
        ("Ep. 07 now", "Ep. 07 |now"),
        ("東京。です", "東京。|です"),
        ("-rf --help", "-rf |--help"),
        ("zero\u200bwidth", "zero\u200b|width"),
    ],
)
def test_lines_end_only_where_a_reader_expects_it(text: str, broken: str) -> None:
    """Lines break at spaces, hyphens between letters and phrases; lone marks and emoji stay with their word."""
    found = opportunities(list(text))
    assert "".join(("|" if at is Break.SOFT else "") + char for char, at in zip(text, found, strict=True)) == broken


# --- fonts ------------------------------------------------------------------------------------------------------


def test_font_files_are_the_pinned_ones() -> None:
    """Every font of the table is installed with the bytes that final keys are made of."""
    for font in fonts.FONTS.values():
        data = resources.files(font.package).joinpath(font.file).read_bytes()
        assert sha256(data).hexdigest() == font.sha256, font.name


def test_every_font_of_a_block_exists_and_blocks_ascend() -> None:
    """The fallback table is sorted, disjoint, and names fonts of the registry."""
    flat = [edge for first, last, _ in fonts.BLOCKS for edge in (first, last)]
    assert flat == sorted(flat)
    named = {name for first, _, _ in fonts.BLOCKS for region in REGIONS for name in fonts.fallbacks(chr(first), region)}
    assert named <= set(fonts.FONTS)
    assert {f"noto-sans-cjk-{region}" for region in REGIONS} <= named


def test_display_faces_have_all_of_ascii() -> None:
    """An English title depends on the asked font alone."""
    for name in fonts.FACES:
        assert set(range(0x20, 0x7F)) | {ord("…")} <= fonts.face(name).coverage
    assert fonts.usable("anton", "Plain title") == ("anton",)


def test_capital_heights_are_the_fonts_own() -> None:
    """The cap heights of the table are those of the letter H."""
    for name in fonts.FACES:
        face = fonts.face(name)
        extents = face.hb.get_glyph_extents(face.hb.get_nominal_glyph(ord("H")))
        assert extents.y_bearing / face.upem == pytest.approx(fonts.FONTS[name].cap, abs=0.002)


def test_an_unknown_font_names_the_choices() -> None:
    """A layout that asks for another font is told which there are."""
    with pytest.raises(UsageError, match="comic") as caught:
        fonts.usable("comic", "x")
    assert "roboto-condensed" in caught.value.hint


@pytest.mark.parametrize(
    ("title", "face"),
    [
        ("Đường phố Sài Gòn", "anton"),
        ("Ремонт кухни", "roboto-condensed"),
        ("Ταξίδι στα Μετέωρα", "roboto-condensed"),
        ("ΌΛΑ ẞ", "inter"),
        ("שלום", "anton"),
    ],
)
def test_the_display_face_is_chosen_by_title(title: str, face: str) -> None:
    """A title is set in the first face that has all its letters, never letter by letter."""
    setting = shape.prepare(clean.marked(title, "none"), "anton")
    assert setting.display == face
    assert not setting.missing


@pytest.mark.parametrize("key", sorted(TITLES))
@pytest.mark.parametrize("case", ["none", "upper"])
def test_every_title_of_the_collection_is_set(key: str, case: str) -> None:
    """Each real title is shaped without a missing-glyph box; only letters that no font has are named as missing."""
    setting = shape.prepare(clean.marked(TITLES[key], case), "anton")  # type: ignore[arg-type]
    assert bool(setting.missing) == (key in {"t072", "t073"})
    used = {cluster.font for paragraph in setting.paragraphs for cluster in paragraph.clusters}
    assert used <= set(fonts.usable("anton", clean.plain(TITLES[key]) + clean.upper(clean.plain(TITLES[key]))))
    for paragraph in setting.paragraphs:
        shaped = shape.shape_line(setting, paragraph, 0, len(paragraph.clusters))
        assert shaped.width > 0
        assert all(glyph.gid for glyph in shaped.glyphs)


def test_scripts_are_shaped_not_spelled() -> None:
    """Conjuncts join, Arabic letters take their joined forms, an emoji family is one picture."""

    def gids(text: str) -> list[int]:
        setting = shape.prepare(clean.marked(text, "none"), "anton")
        paragraph = setting.paragraphs[0]
        return [glyph.gid for glyph in shape.shape_line(setting, paragraph, 0, len(paragraph.clusters)).glyphs]

    assert len(gids("क्ष")) < 3
    assert gids("بب") != gids("ب") * 2
    assert len(gids("👨\u200d👩\u200d👧\u200d👦")) == 1
    assert len(gids("🇯🇵")) == 1


def test_right_to_left_text_runs_from_the_right() -> None:
    """The first letter of a Hebrew line is its rightmost glyph, a number inside keeps its order."""
    setting = shape.prepare(clean.marked("אב 12", "none"), "anton")
    shaped = shape.shape_line(setting, setting.paragraphs[0], 0, 5)
    by_font = [glyph.font for glyph in shaped.glyphs]
    assert setting.rtl
    assert by_font[:2] == ["anton", "anton"]
    assert by_font[-2:] == ["noto-sans-hebrew", "noto-sans-hebrew"]


def ink(text: str, align: str) -> tuple[draw.Ink, list[tuple[int, int]]]:
    """`text` in a box from 100 to 900, and where each of its two lines begins and ends."""
    setting = shape.prepare(clean.marked(text, "none"), "noto-sans")
    space = fit.Space(800, 400, 90, 40, 2, 1.3, 0.0, 0.714)
    found = fit.fit(setting, space)
    assert found
    block = draw.rasterise(setting, found, space, draw.Frame(100, 100, 800, 400, align, "middle"))
    assert block
    middle, rows = block.plain.height // 2, []
    for top, bottom in ((0, middle), (middle, block.plain.height)):
        left, _, right, _ = block.plain.crop((0, top, block.plain.width, bottom)).getbbox() or (0, 0, 0, 0)
        rows.append((left + block.at[0], right + block.at[0]))
    return block, rows


@pytest.mark.parametrize("align", ["left", "right", "center"])
@pytest.mark.parametrize("text", ["ממיינים טבלה\nלפי", "كيف أقرأ الملف\nفي", "Sort the table\nby"])
def test_a_block_stands_where_the_layout_puts_it(text: str, align: str) -> None:
    """Whatever its direction, a text stands at the side of its box that the layout names, so a series in two scripts
    keeps its arrangement and the subject stays free; docs/adr/0022."""
    block, _ = ink(text, align)
    left, right = block.box[0] - 100, 900 - block.box[2]
    if align == "center":
        assert abs(left - right) <= 2
    else:
        assert abs({"left": left, "right": right}[align]) <= 2
        assert {"left": right, "right": left}[align] > 100


@pytest.mark.parametrize("align", ["left", "right"])
def test_right_to_left_lines_are_even_at_their_right(align: str) -> None:
    """At whichever side a block stands, Hebrew lines end evenly at the right; Latin ones at the side of the layout."""
    _, hebrew = ink("ממיינים טבלה\nלפי", align)
    _, latin = ink("Sort the table\nby", align)
    assert abs(hebrew[0][1] - hebrew[1][1]) <= 2
    assert abs(hebrew[0][0] - hebrew[1][0]) > 50
    edge = {"left": 0, "right": 1}[align]
    assert abs(latin[0][edge] - latin[1][edge]) <= 2


# --- fitting ----------------------------------------------------------------------------------------------------


def test_a_short_title_gets_the_largest_size() -> None:
    """Nothing is shrunk that fits."""
    assert fitted("PANDAS")[1].size == 148


def test_a_longer_title_is_smaller_and_balanced() -> None:
    """Lines are about equally wide, and no short word is left alone."""
    rows, found = fitted("HOW DO I SELECT A PANDAS SERIES FROM A DATAFRAME?")
    assert 66 < found.size < 148
    assert rows == ["HOW DO I SELECT", "A PANDAS", "SERIES FROM", "A DATAFRAME?"]


def test_a_newline_breaks_the_line() -> None:
    """A forced break holds although one line would do."""
    assert fitted("ONE\nTWO")[0] == ["ONE", "TWO"]


def test_a_word_wider_than_a_line_is_cut_at_the_smallest_size_only() -> None:
    """An 80-letter word is hyphenated at the smallest size and nothing of it is lost."""
    word = TITLES["t136"]
    rows, found = fitted(word)
    assert found.size == 66
    assert "".join(row.removesuffix("-") for row in rows) == word
    assert not found.cut


def test_what_does_not_fit_is_ellipsised_and_named() -> None:
    """At the smallest size the rest is cut with an ellipsis, after no punctuation, and kept in the report."""
    text = "every word, of a very long title " * 12
    rows, found = fitted(text)
    assert len(rows) == 4
    assert rows[-1].endswith("…")
    assert rows[-1][-2] not in " ,.;:|(-–"
    assert found.cut
    assert text.strip().endswith(found.cut)


@given(
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=120),
    st.integers(40, 1200),
    st.integers(20, 500),
    st.integers(1, 5),
)
def test_any_text_fits_any_box(text: str, width: int, height: int, most: int) -> None:
    """Whatever the title and the box: no exception, at most the allowed lines, inside the box in height."""
    setting = shape.prepare(clean.marked(text, "upper"), "anton")
    space = fit.Space(width, height, 148, 40, most, 1.1, 0.05, 0.859)
    found = fit.fit(setting, space)
    if found is None:
        assert not setting.paragraphs
        return
    assert 1 <= len(found.lines) <= most
    assert (found.height + 0.1) * found.size <= height or found.size == 1


def _advance(text: str, spacing: float) -> float:
    setting = shape.prepare(clean.marked(text, "none"), "inter", spacing=spacing)
    return sum(setting.paragraphs[0].widths)


@pytest.mark.parametrize("text", ["SPACED", "ДАЛЬШЕ", "office", "日本語", "שלום"])
def test_letters_stand_apart_by_so_many_em(text: str) -> None:
    """Each letter is followed by the spacing; no two melt into one."""
    assert _advance(text, 0.2) >= _advance(text, 0.0) + 0.19 * len(text)
    setting = shape.prepare(clean.marked(text, "none"), "inter", spacing=0.2)
    line = shape.shape_line(setting, setting.paragraphs[0], 0, len(text))
    assert len(line.glyphs) >= len(text)
    assert line.width == pytest.approx(_advance(text, 0.2) - 0.2, abs=0.2)


@pytest.mark.parametrize("text", ["مرحبا", "नमस्ते"])
def test_letters_that_join_stay_together(text: str) -> None:
    """Spacing would tear Arabic and Devanagari words apart, so they have none."""
    assert _advance(text, 0.3) == _advance(text, 0.0)


def test_a_serif_draws_greek_and_cyrillic_itself() -> None:
    """A title in the serif keeps it beyond Latin."""
    for text in ("Headline", "Заголовок", "Τίτλος"):
        assert shape.prepare(clean.marked(text, "none"), "source-serif").display == "source-serif"
