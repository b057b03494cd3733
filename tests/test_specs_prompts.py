"""Prompts: what a template sees, that titles are data, and that no template can run long or grow large."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import SpecError
from thumbforge.models import Item, Layout, PlaylistHead, Template
from thumbforge.specs import sandbox
from thumbforge.specs.prompts import Prompts
from thumbforge.specs.variables import variables_for

BOX = {"x": 64, "y": 64, "w": 400, "h": 300}
CODE_LIKE = [
    "{{ 7 * 7 }} and {% raw %}",
    "{% for x in range(3) %}loops{% endfor %} explained",
    "{# is this a comment? #} templates 101",
    "{{ [].__class__.__base__ }} what does this do?",
    "{unbalanced {{ braces } and }} more",
    "f-strings: {name!r:>10} and {0} {} %s %(title)s %d",
    "=HYPERLINK(1)",
    "-rf --help",
    "null",
    "<script>alert('hi')</script> & more",
    "\\1 \\g<0> $HOME `id`",
]


def template(prompt: str, negative: str | None = None, part: str | None = "PART {{ part_number }}") -> Template:
    layout: dict[str, Any] = {"title": {"box": BOX}, "negative_space": {"x": 0, "y": 0, "w": 640, "h": 720}}
    if part is not None:
        layout["part"] = {"box": BOX, "text": part}
    return Template(name="wood", prompt=prompt, negative_prompt=negative, layout=Layout.model_validate(layout))


def variables(**fields: Any) -> dict[str, Any]:
    item = Item.model_validate({"video": "aaaaaaaaaaa", "title": "Tools", "part": 3, "duration": 61, **fields})
    head = PlaylistHead(id="PLabcdefghij", title="Woodwork", channel="Bench", language="en")
    space = template("x").layout.negative_space
    return variables_for(item, head, {"mood": "calm", **item.vars}, 1920, 1080, space, position=4)


def render(prompt: str, **fields: Any) -> str:
    return Prompts(template(prompt)).prompt(variables(**fields))


def failure(prompt: str, **fields: Any) -> SpecError:
    with pytest.raises(SpecError) as caught:
        render(prompt, **fields)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_template_sees_the_names_of_the_design_and_no_others() -> None:
    """The variables of a prompt are a fixed list; what an item lacks is None."""
    assert json.loads(json.dumps({**variables(part=None), "negative_space": None})) == {
        "topic": "Tools",
        "video": {"id": "aaaaaaaaaaa", "title": "Tools", "duration": 61},
        "playlist": {"id": "PLabcdefghij", "title": "Woodwork", "channel": "Bench", "language": "en"},
        "part_number": None,
        "part_label": None,
        "part_name": "",
        "position": 4,
        "vars": {"mood": "calm"},
        "width": 1920,
        "height": 1080,
        "negative_space": None,
    }


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("  \n\nA {{ topic }}\nof {{ playlist.title }}\n\n", "A Tools\nof Woodwork"),
        (
            "{{ video.id }} {{ video['title'] }} {{ width }}x{{ height }} {{ position }}",
            "aaaaaaaaaaa Tools 1920x1080 4",
        ),
        ("keep {{ negative_space }} calm", "keep x 0, y 0, 640 wide, 720 high calm"),
        ("{{ negative_space.w }}", "640"),
        ("[{{ part_label }}]", "[]"),
        ("{% if part_number in (3, 7) %}yes{% else %}no{% endif %}", "yes"),
        ("{{ ['red', 'blue'][part_number % 2] }}", "blue"),
        ("{{ vars.light | default('dusk') }}", "dusk"),
        ("{% if vars.light is defined %}a{% else %}b{% endif %}", "b"),
        (
            "{% for w in topic.split('o') %}{{ loop.index }}{{ w }}{% if not loop.last %},{% endif %}{% endfor %}",
            "1T,2,3ls",
        ),
        ("{% for k, v in vars.items() %}{{ k }}={{ v }}{% endfor %}", "mood=calm"),
        ("{{ 'a' ~ topic | upper ~ 3 }}", "aTOOLS3"),
        ("{{ topic.split('o') | join('-') | replace('T', 'tt') }}", "tt--ls"),
        ("{% raw %}{{ topic }}{% endraw %}", "{{ topic }}"),
        ("no braces at all", "no braces at all"),
    ],
)
def test_prompts_are_jinja2(prompt: str, text: str) -> None:
    """Prompts have Jinja2's expressions, conditions, loops and filters; blank lines around the text are cut off."""
    assert render(prompt) == text


def test_the_topic_is_what_prompts_speak_of() -> None:
    """`topic` is the item's own where it has one, else the video's title."""
    assert render("{{ topic }}", topic="Chisels") == "Chisels"
    assert render("{{ topic }}") == "Tools"


def test_a_var_may_have_any_name() -> None:
    """A variable that is called like a method of a mapping is the variable."""
    assert render("{{ vars.items }} {{ vars.get }}", vars={"items": "nails", "get": "glue"}) == "nails glue"


@pytest.mark.parametrize("title", CODE_LIKE)
def test_titles_are_data(title: str) -> None:
    """A title that looks like a template, a format, markup or an option comes out as it is."""
    assert render("<{{ topic }}|{{ topic ~ video.title }}>", title=title) == f"<{title}|{title}{title}>"


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=200))
def test_every_title_comes_out_unchanged(title: str) -> None:
    """No title changes on its way into a prompt."""
    assert render("<{{ video.title }}>", title=title) == f"<{title}>"


def test_the_negative_prompt_is_a_text_of_its_own() -> None:
    """A template without a negative prompt, or with one that renders to nothing, has none."""
    assert Prompts(template("x", "no {{ topic }}")).negative(variables()) == "no Tools"
    assert Prompts(template("x", "{% if part_number == 9 %}no{% endif %}")).negative(variables()) is None
    assert Prompts(template("x")).negative(variables()) is None


def test_the_badge_needs_a_part_or_a_label() -> None:
    """An item with neither part nor label has no badge, nor has a layout without one."""
    prompts = Prompts(template("x"))
    assert prompts.part_text(variables()) == "PART 3"
    assert prompts.part_text(variables(part=0)) == "PART 0"
    assert prompts.part_text(variables(part=None)) is None
    labelled = Prompts(template("x", part="{{ part_label or part_number }}"))
    assert labelled.part_text(variables(part=None, label="BONUS")) == "BONUS"
    assert Prompts(template("x", part=None)).part_text(variables()) is None


@pytest.mark.parametrize(
    ("prompt", "says", "hint"),
    [
        (
            "a\nb\n{{ vars.light }}",
            "template wood: prompt, line 3: `vars.light` is undefined",
            "set it with var.light=…",
        ),
        ("{{ vars['light'] }}", "prompt, line 1: `vars.light` is undefined", "or in the series' vars"),
        ("{{ titel }}", "`titel` is undefined", "a template sees height, negative_space"),
        ("{{ vars.clear }}", "`vars.clear` is undefined", "var.clear=…"),
        ("{{ video.views }}", "`video.views` is undefined", "a template sees"),
        ("a\n{% if x %}", "prompt, line 2: Unexpected end of template", "Jinja2"),
        ("{{ topic | shout }}", "prompt, line 1: no filter `shout`; there are abs", ""),
        ("{{ 1 / 0 }}", "division by zero", ""),
        ("{{ part_number + 'x' }}", "unsupported operand", ""),
        ("{{ vars }}", "cannot be printed", ""),
        ("{{ topic.upper }}", "cannot be printed", ""),
        ("{{ range(3) ~ 'x' }}", "cannot be printed", ""),
        (" {% if false %}x{% endif %}\n", "is empty for this item", ""),
    ],
)
def test_a_prompt_that_fails_names_template_line_and_remedy(prompt: str, says: str, hint: str) -> None:
    """An undefined name, a syntax error or a failing expression is one line: template, text, line, reason."""
    error = failure(prompt)
    assert says in str(error)
    assert hint in error.hint


@pytest.mark.parametrize(
    "prompt",
    [
        "{{ topic.__class__ }}",
        "{{ topic.__class__.__mro__[1].__subclasses__() }}",
        "{{ ''['__class__'] }}",
        "{{ negative_space.model_dump() }}",
        "{{ negative_space.__init__.__globals__ }}",
        "{{ vars.update({'a': 1}) }}",
        "{{ topic.format(1) }}",
        "{{ '{0.__class__}'.format(1) }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ topic.center(999999999) }}",
        "{% include 'x' %}",
        "{% extends 'x' %}",
        "{% import 'x' as y %}",
        "{% macro a() %}{{ a() }}{% endmacro %}",
        "{% set a %}x{% endset %}",
        "{{ lipsum() }}",
        "{{ self.x() }}",
        "{{ topic | map('upper') }}",
        "{{ topic | _counted }}",
    ],
)
def test_the_sandbox_has_no_way_out(prompt: str) -> None:
    """Nothing leads from a template to Python's insides, to files, or to another template."""
    assert "template wood: prompt, line 1: " in str(failure(prompt))


@pytest.mark.parametrize(
    ("prompt", "says"),
    [
        ("{% for i in range(1000000) %}x{% endfor %}", "`range` gives at most 20,000 numbers"),
        ("{% for i in range(20000) %}{% for j in range(20000) %}{% endfor %}{% endfor %}", "more than 20,000 rounds"),
        (
            "{% set _steps = [9] %}{% for i in range(200) %}{% for j in range(200) %}{% endfor %}{% endfor %}",
            "20,000 rounds",
        ),
        ("{% for i in range(20000) %}xx{% endfor %}", "gives more than 20,000 characters"),
        ("{{ 'x' * 1000000000 }}", "`*` is for numbers only"),
        ("{{ [1] * 1000000000 }}", "`*` is for numbers only"),
        ("{{ '%999999999d' % 1 }}", "`%` is for numbers only"),
        ("{{ 9 ** 999999999 }}", "`pow` is not available"),
        ("{% set a = topic %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}", "grows beyond 20,000 characters"),
        ("{% set a = topic %}" + "{% set a = a + a %}" * 40 + "{{ a }}", "grows beyond 20,000 characters"),
        ("{% set a = [topic] %}{% set a = [a, a] %}", "holds plain values only"),
        ("{% set a = 99999999 %}" + "{% set a = a * a %}" * 40 + "{{ a }}", "a number grows too large"),
        (
            "{{ topic | replace('o', topic) | replace('o', 'x') }}" + "{{ 'o' | replace('o', vars.big) }}",
            "beyond 20,000",
        ),
        ("{{ range(20000) | join('xx') }}", "beyond 20,000"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "nested too deeply"),
        ("{% for i in range(2) %}" * 30 + "x" + "{% endfor %}" * 30, "nested too deeply"),
    ],
)
def test_no_template_runs_long_or_grows_large(prompt: str, says: str) -> None:
    """Loops, repetitions and doublings end at a bound, in an error that says which."""
    assert says in str(failure(prompt, vars={"big": "o" * 20_001}))


def test_a_long_text_is_fine_up_to_the_bound() -> None:
    """20,000 characters are allowed."""
    assert len(render("{% for i in range(10000) %}xx{% endfor %}")) == 20_000


def test_each_rendering_has_the_whole_budget_of_rounds() -> None:
    """What one item's loops use is not missing for the next."""
    prompts = Prompts(template("{% for i in range(15000) %}{% endfor %}x"))
    assert [prompts.prompt(variables()) for _ in range(3)] == ["x", "x", "x"]


@pytest.mark.parametrize("field", ["negative_prompt", "layout.part.text"])
def test_the_other_texts_fail_by_their_own_name(field: str) -> None:
    """A fault in the negative prompt or the badge names that text; a syntax error is found before any item."""
    bad = "{{ nope"
    made = template("x", bad if field == "negative_prompt" else None, bad if field == "layout.part.text" else None)
    with pytest.raises(SpecError, match=f"template wood: {field}, line 1"):
        Prompts(made)


LONG = "word " * 3_000


@pytest.fixture
def a_fifth_of_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text has two; each of these takes all that it gets."""
    assert sandbox.MAX_SECONDS == 2
    monkeypatch.setattr(sandbox, "MAX_SECONDS", 0.2)


@pytest.mark.usefixtures("a_fifth_of_a_second")
@pytest.mark.parametrize(
    "text",
    [
        "{% for i in range(20000) %}{% if (range(20000)|list) %}{% endif %}{% endfor %}x",
        "{% for i in range(20000) %}{% if vars.long|sort|first %}{% endif %}{% endfor %}x",
        "{% for i in range(20000) %}{% if vars.long|title|unique|list|length %}{% endif %}{% endfor %}x",
        "{% for i in range(20000) %}{% if vars.long|wordcount %}{% endif %}{% endfor %}x",
        "{% for i in range(20000) %}{% if 'x' in range(20000) %}{% endif %}{% endfor %}x",
    ],
)
def test_a_text_is_bounded_in_time(text: str) -> None:
    """What a round costs is counted, not only how many there are; where it is too much, the template is told."""
    began = time.thread_time()
    assert "more than 0.2 s" in str(failure(text, vars={"long": LONG}))
    assert time.thread_time() - began < 2


@pytest.mark.usefixtures("a_fifth_of_a_second")
def test_a_playlist_has_one_budget_of_time() -> None:
    """A text that takes a while takes it for a few items, not for ten thousand; a quick one does so for all."""
    slow = Prompts(template("{% for i in range(40) %}{% if (range(20000)|list) %}{% endif %}{% endfor %}x"))
    began = time.thread_time()
    with pytest.raises(SpecError, match=r"more than 0\.2 s"):
        list(map(slow.prompt, [variables()] * 1_000))
    assert time.thread_time() - began < 3
    quick, own = Prompts(template("{{ topic }} {% for i in range(9) %}{{ i }}{% endfor %}")), variables()
    assert {quick.prompt(own) for _ in range(5_000)} == {"Tools 012345678"}


@pytest.mark.parametrize("name", ["self", "super", "caller", "varargs", "kwargs"])
def test_what_jinja_keeps_for_itself_is_refused(name: str) -> None:
    """`{{ self }}` would print an object into a paid prompt."""
    assert f"`{name}` is not available in prompts" in str(failure(f"x {{{{ {name} }}}}"))
