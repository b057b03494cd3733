"""Words as their language writes them: emphasis, quotation marks, what a part is called, words that stay whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.project import Project
from thumbforge.imaging.type import clean, fit, fonts, quotes, shape
from thumbforge.specs.part_names import part_name


@pytest.mark.parametrize(
    ("title", "accented"),
    [
        ("学习*Python*编程", "Python"),
        ("Python*编程*教程", "编程"),
        ("**重要**的事", "重要"),
        ("わかる*ディープ*学習", "ディープ"),
        ("*파이썬*을 배우자", "파이썬"),
        ("เรียน*ภาษา*ไทย", "ภาษา"),
        ("ຮຽນ*ພາສາ*ລາວ", "ພາສາ"),
        ("រៀន*ភាសា*ខ្មែរ", "ភាសា"),
        ("မြန်မာ*စာ*သင်", "စာ"),
        ("Sort *data* now", "data"),
        ("2*3*4 is 24", ""),
        ("说2*3*4", ""),
        ("*args and **kwargs", ""),
        ("f*oo*bar", ""),
    ],
)
def test_emphasis_needs_no_spaces_where_the_script_has_none(title: str, accented: str) -> None:
    """And a product stays a product."""
    found = clean.marked(title, "none")
    assert "".join(char for char, accent in zip(found.chars, found.accent, strict=True) if accent) == accented
    assert ("*" in found.chars) == (not accented)


@pytest.mark.parametrize(
    ("language", "title", "expected"),
    [
        ("en", 'What is "sorting"?', "What is “sorting”?"),
        ("de-AT", 'Was ist "Python"?', "Was ist „Python“?"),
        ("fr", 'Le "web" d\'hier', "Le «\u202fweb\u202f» d’hier"),
        ("ru", 'Что такое "файл"', "Что такое «файл»"),
        ("sv", 'Vad är "data"', "Vad är ”data”"),
        ("ja", '"配列"とは', "「配列」とは"),
        ("zh-Hant-TW", '什麼是"資料"', "什麼是「資料」"),
        ("zh", '什么是"数据"吗', "什么是“数据”吗"),
        ("xx", '"*All*" of it', "“*All*” of it"),
        ("en", "Don't say 'no' in the '90s", "Don’t say ‘no’ in the ’90s"),
        ("en", 'a 5" screen', 'a 5" screen'),
        ("en", 'a 5" and a 7" screen', 'a 5" and a 7" screen'),
        (None, "nothing to do", "nothing to do"),
    ],
)
def test_quotation_marks_are_those_of_the_language(language: str | None, title: str, expected: str) -> None:
    """Only pairs, and apostrophes inside words; inches stay inches."""
    assert quotes.quoted(title, language) == expected


@given(st.text(), st.sampled_from(["en", "de", "fr", "ja", "ar", None]))
def test_quoting_loses_no_letter(text: str, language: str | None) -> None:
    """Whatever the text: what is no quotation mark stays, in its order, and a second time changes nothing."""
    marks = set("\"'\u202f“”‘’„‚«»‹›「」『』")
    once = quotes.quoted(text, language)
    assert [c for c in once if c not in marks] == [c for c in text if c not in marks]
    assert quotes.quoted(once, language) == once or "'" in once or '"' in once


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "Part 12"),
        ("de", "Teil 12"),
        ("ru", "Часть 12"),
        ("zh-CN", "第12集"),
        ("ja", "第12回"),
        ("ko", "제12부"),
        ("hu", "12. rész"),
        ("ar", "الجزء ١٢"),
        ("ar-u-nu-latn", "الجزء 12"),
        ("fa", "قسمت ۱۲"),
        ("xx", "Part 12"),
        (None, "Part 12"),
    ],
)
def test_a_part_is_called_as_the_language_does(language: str | None, expected: str) -> None:
    """In its own digits, or in Latin ones where the tag asks for them; in English where the language is not known."""
    assert part_name(12, language) == expected


def test_a_badge_is_not_said_twice(project: Project) -> None:
    """Where the drawn text names its part itself, `part_name` is empty, and the badge with it."""
    project.template(layout={"part": {"text": "{{ part_name }}"}})
    list_ = {"id": "PLshow0000000000", "title": "A small show", "language": "ru"}
    items = [
        {"video": "aaaaaaaaaa1", "title": "Часть 5. Хлеб", "part": 5},
        {"video": "aaaaaaaaaa2", "title": "Часть 6. Сыр", "text": "Сыр", "part": 6},
    ]
    project.write("specs/playlists/show.yaml", {"playlist": list_, "items": items})
    badges = [
        project.shown("template", "render", "plain", "--playlist=show", f"--part={part}")["badge"] for part in (5, 6)
    ]
    assert badges == [None, "Часть 6"]


def test_a_word_is_whole_a_little_below_the_floor() -> None:
    """A tenth below the smallest size is better than a word in two; more than that is not gone below."""

    def fitted(width: float) -> fit.Fitted:
        setting = shape.prepare(clean.marked("கற்றுக்கொள்வோம்", "none"), "inter", shape.Speech("ta"))
        space = fit.Space(width, 400, 120, 100, 3, 1.1, 0.0, fonts.cap("inter"))
        found = fit.fit(setting, space)
        assert found
        return found

    setting = shape.prepare(clean.marked("கற்றுக்கொள்வோம்", "none"), "inter", shape.Speech("ta"))
    em = fit.line_width(setting, fit.Line(0, 0, len(setting.paragraphs[0].clusters)))
    assert (fitted(em * 101.5).size, len(fitted(em * 101.5).lines)) == (101, 1)
    assert (fitted(em * 92.5).size, len(fitted(em * 92.5).lines)) == (92, 1)
    assert fitted(em * 85).size == 100
    assert len(fitted(em * 85).lines) == 2
