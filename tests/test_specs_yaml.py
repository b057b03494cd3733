"""YAML files: what is refused, how it is said, and that every problem has its line."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from thumbforge import models
from thumbforge.errors import Problem, SpecError
from thumbforge.specs import yaml_events, yaml_file

GOOD = """\
playlist: {id: PLabcdefghij, title: Woodwork, channel: Bench, language: en}
items:
  - {video: aaaaaaaaaaa, title: Tools, part: 1, duration: 754, text: "*TOOLS*", vars: {mood: calm, level: 2}}
  - video: bbbbbbbbbbb
    title: Joints
    part: 2
    label: null
"""
HEAD = "playlist: {id: PLabcdefghij}\nitems:\n"


def problems_of(text: str | bytes, tmp_path: Path, model: type[Any] = models.Playlist) -> tuple[Problem, ...]:
    path = tmp_path / "specs" / "playlists" / "wood.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(SpecError) as caught:
        yaml_file.parse(path, model, tmp_path)
    assert caught.value.hint
    assert all("\n" not in str(problem) for problem in caught.value.problems)
    return caught.value.problems


def only(text: str | bytes, tmp_path: Path, model: type[Any] = models.Playlist) -> Problem:
    found = problems_of(text, tmp_path, model)
    assert len(found) == 1, found
    return found[0]


def item(fields: str) -> str:
    return f"{HEAD}  - {{{fields}}}\n"


def test_a_good_file_becomes_its_model(tmp_path: Path) -> None:
    """A file that says what it must is read as it stands, also with a byte order mark in front."""
    path = tmp_path / "wood.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.encode())
    playlist = yaml_file.parse(path, models.Playlist, tmp_path)
    assert [entry.part for entry in playlist.items] == [1, 2]
    assert playlist.items[0].vars == {"mood": "calm", "level": 2}
    assert playlist.items[1].label is None


@pytest.mark.parametrize(
    ("text", "line", "where", "says"),
    [
        ("", 1, "", "the file is empty"),
        ("- a\n- b\n", 1, "", "not a mapping"),
        ("just words\n", 1, "", "not a mapping"),
        ("a: 1\n---\nb: 2\n", 2, "", "second document"),
        ("a: [1, 2\n", 2, "", "not valid YAML"),
        ("playlist: {}\ntitle: Part 1: tools\n", 2, "", "needs quotes"),
        ("playlist:\n\tid: x\n", 2, "", "a tab"),
        ("a: *nowhere\n", 1, "", "`*nowhere`"),
        ("a: &x [*x]\n", 1, "", "inside the anchor"),
        ('a: "\\ud83e"\n', 1, "", "not valid YAML"),
        ("ok: 1\nbad: \x07\n", 2, "", "may not stand in YAML"),
        ("[" * 5_000, 1, "", "deeper than 40"),
        ("a: " + "[" * 60 + "]" * 60, 1, "", "deeper than 40"),
        (b"ok: 1\nbad: \xff\n", 2, "", "not UTF-8"),
        (b"ok: 1\nbad: \x00\n", 2, "", "NUL"),
        ("ok: 1\n".encode("utf-16-le"), 1, "", "NUL"),
    ],
)
def test_unreadable_text_is_one_problem_with_its_line(
    text: str | bytes, line: int, where: str, says: str, tmp_path: Path
) -> None:
    """Text that cannot be read as one YAML mapping is a problem with a line, never a traceback."""
    found = only(text, tmp_path)
    assert (found.file, found.line, found.where) == ("specs/playlists/wood.yaml", line, where)
    assert says in found.message


@pytest.mark.parametrize(
    ("fields", "where", "says"),
    [
        (
            "video: aaaaaaaaaaa, title: 2024",
            "items[1].title",
            '`2024`, which YAML reads as a number; put it in quotes: "2024"',
        ),
        ("video: aaaaaaaaaaa, title: on", "items[1].title", 'YAML reads as true or false; put it in quotes: "on"'),
        ("video: aaaaaaaaaaa, title: 2024-01-01", "items[1].title", "as a date; put it in quotes"),
        ("video: aaaaaaaaaaa, title: 0012", "items[1].title", "put it in quotes"),
        ("video: aaaaaaaaaaa, title: 12:30", "items[1].title", "base 60"),
        ("video: aaaaaaaaaaa, title: .nan", "items[1].title", "no finite number"),
        ("video: aaaaaaaaaaa, title: 1.0e+999", "items[1].title", "no finite number"),
        ("video: aaaaaaaaaaa, title: ~", "items[1].title", "expected text, got nothing"),
        (
            "video: aaaaaaaaaaa, title: [Private video]",
            "items[1].title",
            "got a list; a text that begins with [ or { needs",
        ),
        ("video: 12345678901, title: x", "items[1].video", 'put it in quotes: "12345678901"'),
        (
            "video: short, title: x",
            "items[1].video",
            "expected a YouTube video id (11 letters, digits, - or _; of an address what stands behind `v=` or "
            "`youtu.be/`), got `short`",
        ),
        ("video: aaaaaaaaaaa, titel: x", "items[1].titel", "unknown field `titel` (did you mean `title`?)"),
        ("video: aaaaaaaaaaa, title: x, zzz: 1", "items[1].zzz", "the fields here are video, title"),
        ("video: aaaaaaaaaaa", "items[1].title", "missing field `title`"),
        ("video: aaaaaaaaaaa, title: x, part: 010", "items[1].part", "spelling that misleads"),
        ("video: aaaaaaaaaaa, title: x, part: '7'", "items[1].part", "expected a whole number, got the text `7`"),
        ("video: aaaaaaaaaaa, title: x, part: on", "items[1].part", "expected a whole number, got `on`"),
        ("video: aaaaaaaaaaa, title: x, part: 7.5", "items[1].part", "expected a whole number, got `7.5`"),
        ("video: aaaaaaaaaaa, title: x, part: -1", "items[1].part", "expected at least 0, got `-1`"),
        ("video: aaaaaaaaaaa, title: x, part: " + "9" * 5000, "items[1].part", "too long for a number"),
        (
            "video: aaaaaaaaaaa, title: x, vars: {a: [1]}",
            "items[1].vars.a",
            "expected text, a whole number, a number or true or",
        ),
        ("video: aaaaaaaaaaa, title: x, vars: {a b: 1}", "items[1].vars.a b", "begins with no digit, got `a b`"),
        ("video: aaaaaaaaaaa, title: x, vars: {1: 2}", "items[1].vars.1", "the name `1` is read by YAML as a number"),
        (
            "video: aaaaaaaaaaa, title: x, vars: {on: 2}",
            "items[1].vars.on",
            "the name `on` is read by YAML as yes or no",
        ),
        ("video: aaaaaaaaaaa, title: x, title: y", "items[1].title", "`title` is given twice"),
        ("video: aaaaaaaaaaa, title: x, <<: {part: 1}", "items[1].<<", "merging with `<<` is not supported"),
        (
            "video: aaaaaaaaaaa, title: !!python/name:os.system x",
            "items[1].title",
            "`!!python/name:os.system` is not supported",
        ),
        ("video: aaaaaaaaaaa, title: !mine x", "items[1].title", "the tag `!mine` is not supported"),
        ("video: aaaaaaaaaaa, title: x, [1, 2]: y", "", "a name must be a text"),
        (
            "video: aaaaaaaaaaa, title: x, vars: {api_key: y}",
            "items[1].vars.api_key",
            "secrets come from the environment",
        ),
        (
            "video: aaaaaaaaaaa, title: x, vars: {a: sk-abcdefghijklmnopqrst}",
            "items[1].vars.a",
            "this looks like a key; secrets come from the environment",
        ),
    ],
)
def test_a_wrong_field_is_named_with_its_line_and_path(fields: str, where: str, says: str, tmp_path: Path) -> None:
    """A wrong field is named by file, line and path, and the message says what stands there and what is expected."""
    problem = next(p for p in problems_of(item(fields), tmp_path) if p.where == where)
    assert (problem.file, problem.line) == ("specs/playlists/wood.yaml", 3)
    assert says in problem.message


def test_every_problem_of_a_file_is_reported_at_once(tmp_path: Path) -> None:
    """One reading names all that is wrong, each in its own line and in the order of the file."""
    text = (
        GOOD.replace("title: Joints", "titel: Joints").replace("label: null", "label: 7").replace("part: 1", "part: 01")
    )
    found = problems_of(text, tmp_path)
    assert [(p.line, p.where) for p in found] == [
        (3, "items[1].part"),
        (4, "items[2].title"),
        (5, "items[2].titel"),
        (7, "items[2].label"),
    ]


def test_all_problems_of_all_files_are_one_error(tmp_path: Path) -> None:
    """A command that reads several files reports the problems of all of them together."""
    (tmp_path / "a.yaml").write_text("items: []\n")
    (tmp_path / "b.yaml").write_text("playlist: {id: PLabcdefghij}\n")
    problems = yaml_file.Problems(tmp_path)
    assert problems.parse(tmp_path / "a.yaml", models.Playlist) is None
    assert problems.parse(tmp_path / "b.yaml", models.Playlist) is None
    with pytest.raises(SpecError) as caught:
        problems.raise_if_any()
    assert [(p.file, p.where) for p in caught.value.problems] == [("a.yaml", "playlist"), ("b.yaml", "items")]
    loads = [
        lambda name=name: yaml_file.parse(tmp_path / name, models.Playlist, tmp_path) for name in ("a.yaml", "b.yaml")
    ]
    with pytest.raises(SpecError) as gathered:
        yaml_file.gather(loads)
    assert gathered.value.problems == caught.value.problems


def test_gathering_good_files_returns_them_in_order(tmp_path: Path) -> None:
    """Where nothing is wrong, gathering gives every result."""
    assert yaml_file.gather([lambda: 1, lambda: 2]) == [1, 2]


def test_an_alias_bomb_is_refused_without_being_expanded(tmp_path: Path) -> None:
    """Nested aliases that would expand to billions of values are refused, as are more than a thousand of any kind."""
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 30)
    )
    assert "expand to more" in only(bomb, tmp_path).message
    assert "expand to more" in only("a: &a x\nb: [" + "*a, " * 1_001 + "]\n", tmp_path).message


def test_a_few_aliases_are_read(tmp_path: Path) -> None:
    """Anchors and aliases in moderation save typing."""
    path = tmp_path / "wood.yaml"
    path.write_text(HEAD + "  - {video: aaaaaaaaaaa, title: &t Tools, text: *t}\n")
    assert yaml_file.parse(path, models.Playlist).items[0].text == "Tools"


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A file over 20 MB is refused by its size alone."""
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(yaml_file.MAX_BYTES + 1)
    with pytest.raises(SpecError, match=r"big\.yaml: 20,000,001 bytes are more than the 20,000,000"):
        yaml_file.parse(path, models.Playlist, tmp_path)


def test_what_is_no_file_is_a_problem(tmp_path: Path) -> None:
    """A missing file and a directory are problems like any other."""
    with pytest.raises(SpecError, match=r"none\.yaml: cannot be read: No such file"):
        yaml_file.parse(tmp_path / "none.yaml", models.Playlist, tmp_path)
    with pytest.raises(SpecError, match="this is no file"):
        yaml_file.parse(tmp_path, models.Playlist)


def test_a_file_outside_the_project_is_named_in_full(tmp_path: Path) -> None:
    """Files of the project are named from its root, others by their whole path."""
    assert yaml_file.shown(tmp_path / "specs" / "a.yaml", tmp_path) == "specs/a.yaml"
    assert yaml_file.shown(tmp_path / "a.yaml", tmp_path / "project") == str(tmp_path / "a.yaml")


def test_a_secret_is_never_repeated_in_a_message(tmp_path: Path) -> None:
    """A message about a field that holds a key does not print the key."""
    key = "sk-abcdefghijklmnopqrst"
    found = problems_of(item(f"video: {key}, title: x, vars: {{token: {key}}}"), tmp_path)
    assert {p.where for p in found} == {"items[1].video", "items[1].vars.token"}
    assert key not in " ".join(map(str, found))


def test_a_title_may_look_like_a_key(tmp_path: Path) -> None:
    """Titles are YouTube's public text; one that has the shape of a key is a title."""
    path = tmp_path / "wood.yaml"
    path.write_text(item("video: aaaaaaaaaaa, title: sk-learn-crash-course"))
    assert yaml_file.parse(path, models.Playlist).items[0].title == "sk-learn-crash-course"


def test_a_price_in_digits_is_told_to_be_quoted(tmp_path: Path) -> None:
    """Amounts are decimal texts, so that no cent is lost to a float."""
    found = only("name: x\nprovider: fake\nprice:\n  amount: 0.04\n", tmp_path, models.Profile)
    assert (found.line, found.where) == (4, "price.amount")
    assert 'put it in quotes: "0.04"' in found.message


def test_both_parsers_read_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the C library the same text gives the same data and the same refusals."""
    fast = yaml_events.read(GOOD)
    monkeypatch.setattr(yaml_events, "_Loader", yaml.SafeLoader)
    assert yaml_events.read(GOOD) == fast
    for text in ("[" * 5_000, "a: &x [*x]", "a: \x07", "a: [1"):
        with pytest.raises(yaml_events.Unreadable):
            yaml_events.read(text)


# Not the three line ends that YAML 1.1 knows beside \n: PyYAML writes them unescaped, and reading folds them.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
        lambda v: st.lists(v, max_size=4) | st.dictionaries(TEXT, v, max_size=4),
        max_leaves=12,
    )
)
def test_what_yaml_writes_is_read_back(value: Any) -> None:
    """Whatever PyYAML's safe dumper writes is read as the same data, titles of every script included."""
    text = yaml.safe_dump({"k": value}, allow_unicode=True)
    reading = yaml_events.read(text)
    assert (reading.data, reading.flaws) == ({"k": value}, {})


VALUES = st.sampled_from(
    [None, True, 0, -3, 2.5, "", "x", "2024-01-01", [], ["x"], {}, {"a": 1}, "{{ x }}", "sk-abcdefghijklmnopqrst"]
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid playlist with some of its fields dropped, renamed or given another value, at any depth."""
    data = copy.deepcopy(yaml.safe_load(GOOD))
    for _ in range(draw(st.integers(1, 4))):
        spots = list(_spots(data))
        if not spots:
            break
        holder, key = draw(st.sampled_from(spots))
        change = draw(st.sampled_from(["drop", "rename", "retype"]))
        if change == "retype":
            holder[key] = copy.deepcopy(draw(VALUES))
        elif change == "drop" or isinstance(holder, list):
            del holder[key]
        else:
            holder[draw(st.sampled_from([f"{key}s", str(key)[:-1], "password", "a.b", "0"]))] = holder.pop(key)
    return data


def _spots(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _spots(value[key])


@settings(max_examples=300, deadline=None)
@given(mutated(), st.booleans(), st.text(alphabet="[]{}:-*&!?|>\"'% \n\t#,", max_size=4), st.integers(0, 400))
def test_a_mutated_playlist_is_a_model_or_problems_with_lines(data: Any, flow: bool, noise: str, at: int) -> None:
    """However a valid playlist is damaged, the answer is a model or problems that name a file and a line."""
    text = yaml.safe_dump(data, default_flow_style=flow)
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        (root / "p.yaml").write_text(text[:at] + noise + text[at:])
        problems = yaml_file.Problems(root)
        if problems.parse(root / "p.yaml", models.Playlist) is not None:
            problems.raise_if_any()
            return
        for problem in _found(problems):
            assert problem.line > 0
            assert (root / problem.file).is_file()
            assert problem.message


def _found(problems: yaml_file.Problems) -> tuple[Problem, ...]:
    """The problems of a failed reading; it fails here where there are none."""
    with pytest.raises(SpecError) as caught:
        problems.raise_if_any()
    return caught.value.problems
