"""The text of a lock file: what is written is read again, nonsense is refused with its line, a merge is joined, or
refused by the item's name."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from thumbforge.errors import SpecError
from thumbforge.specs.locks import FIELDS, Entry, Head, Lock, Named, entry_line, lock_text, read_lock

FILE = "specs/locks/show.yaml"
HEAD = Head(Named("plain", 1, "a" * 64), Named("fake", 2, "b" * 32), "c" * 64, {"finaliser": "4", "pillow": "13.0.0"})


def hexes(length: int) -> st.SearchStrategy[str]:
    return st.text("0123456789abcdef", min_size=length, max_size=length)


letters = st.characters(exclude_characters="/\\", exclude_categories=("Cc", "Cs"))
counts = st.integers(1, 999_999)
entries = st.builds(
    Entry,
    video=st.from_regex(r"[A-Za-z0-9_-]{11}", fullmatch=True),
    place=counts,
    key=hexes(32),
    art_key=hexes(64),
    art=hexes(64),
    take=counts,
    approved=st.booleans(),
    final_key=hexes(64),
    final=hexes(64),
    name=st.text(letters, min_size=1, max_size=40).filter(lambda text: not text.startswith(".")),
)


def entry(n: int = 1, **fields: object) -> Entry:
    own = Entry(f"video-{n:05d}", 1, "1" * 32, "2" * 64, "3" * 64, 1, False, "4" * 64, "5" * 64, f"{n:02d}.jpg")
    return own._replace(**fields)  # type: ignore[arg-type]


def read(text: str) -> Lock:
    return read_lock(text, FILE, "show")


def refused(text: str) -> SpecError:
    with pytest.raises(SpecError) as caught:
        read(text)
    return caught.value


@given(st.lists(entries, max_size=4, unique_by=lambda e: (e.video, e.place)), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_read_again_whatever_an_export_is_called(found: list[Entry], end: str) -> None:
    """Also where git turned the line ends, and also by a reader that knows nothing but YAML."""
    text = lock_text(HEAD, found)
    lock = read(text.replace("\n", end))
    assert lock.head == HEAD
    assert lock.entries == {(e.video, e.place): (e,) for e in found}
    assert not lock.is_merged
    told = yaml.safe_load(text)
    assert [tuple(item.values()) for item in told["items"] or []] == [tuple(e) for e in sorted(found)]


def test_the_order_is_by_video_so_that_a_renumbering_moves_no_line() -> None:
    """One line an item: what changes in one changes one line."""
    before = lock_text(HEAD, [entry(1), entry(2), entry(3)])
    after = lock_text(HEAD, [entry(3), entry(2, take=2), entry(1)])
    apart = [pair for pair in zip(before.splitlines(), after.splitlines(), strict=True) if pair[0] != pair[1]]
    assert len(apart) == 1


def test_a_line_that_somebody_wrote_otherwise_says_the_same() -> None:
    """Other blanks, another order of the fields, a remark, an empty line: it is YAML and JSON all the same."""
    line = entry_line(entry(1))
    other = line.replace('": ', '":').replace(", ", " ,  ").replace("video-00001", "video\\u002d00001")
    assert other != line
    assert read(lock_text(HEAD, []) + "\n# mine\n" + other).entries == read(lock_text(HEAD, [entry(1)])).entries


WRONG = {
    "video": ["x", 5, "../../etc/pass", None],
    "place": [0, -1, "1", 1.5, True, 10**9],
    "key": ["1" * 31, "G" * 32, 7],
    "art_key": ["2" * 63, "/" * 64],
    "art_sha256": ["../" + "3" * 61, None],
    "take": [0, "1", False],
    "approved": ["true", 1, None],
    "final_key": ["4" * 65],
    "final_sha256": ["X" * 64],
    "name": ["../x.jpg", "a/b.jpg", ".hidden", "a\\b", "", "a\nb", 3],
}


@pytest.mark.parametrize("name", FIELDS)
def test_nonsense_is_refused_with_file_line_and_field(name: str) -> None:
    """Text of a lock file becomes a path only once it has the shape of ours."""
    import json

    values = dict(zip(FIELDS, entry(2), strict=True))
    for wrong in WRONG[name]:
        text = lock_text(HEAD, [entry(1)]) + f"- {json.dumps({**values, name: wrong})}\n"
        [problem] = refused(text).problems
        assert (problem.file, problem.line, problem.where) == (FILE, 9, name), wrong
    missing = {key: value for key, value in values.items() if key != name}
    assert f"{name}: is missing" in str(refused(lock_text(HEAD, []) + f"- {json.dumps(missing)}\n"))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("items:", "things:", "a line `items:` is missing"),
        ("format: 1", "format: 2", "this thumbforge reads 1"),
        ("format: 1\n", "", "format: is missing"),
        ('hero: "c', 'hero: "x', "hero: expected a sha256"),
        ('"version": 1', '"version": "1"', "template: expected a name, a version and a hash"),
        ("drawn_with: {", "drawn_with: [{", "drawn_with: cannot be read"),
        ('"13.0.0"', '"; rm"', "drawn_with: expected versions by name"),
        ("items:", "mine: 1\nitems:", "mine: is no field of a lock file"),
        ("items:\n- {", "items:\n  {", "expected `- {…}` with one item"),
        ("items:\n", "items:\n- [1]\n", "expected `- {…}` with one item"),
        ("items:\n", "items:\n- {" + "[" * 9000 + "\n", "expected `- {…}` with one item"),
    ],
)
def test_a_head_or_a_line_that_is_none_is_refused(before: str, after: str, said: str) -> None:
    """In one line, with the file and the line, and with how to get a right one."""
    error = refused(lock_text(HEAD, [entry(1)]).replace(before, after, 1))
    assert said in str(error)
    assert re.match(rf"{FILE}:\d+: ", str(error.problems[0]))
    assert "git checkout" in error.hint or "use the thumbforge" in error.hint


def marked(ours: list[Entry], theirs: list[Entry], base: list[Entry] | None = None) -> str:
    middle = "" if base is None else "||||||| merged\n" + "".join(map(entry_line, base))
    sides = "".join(map(entry_line, ours)), "".join(map(entry_line, theirs))
    return lock_text(HEAD, [entry(9)]) + f"<<<<<<< HEAD\n{sides[0]}{middle}=======\n{sides[1]}>>>>>>> theirs\n"


@pytest.mark.parametrize("base", [None, [entry(1), entry(2)]])
def test_a_merge_that_git_left_open_is_refused_with_its_line_and_what_to_type(base: list[Entry] | None) -> None:
    """Where only texts changed any side will do; which art is right only a person knows, so the item is named."""
    error = refused(marked([entry(1, final="6" * 64), entry(2)], [entry(1), entry(2, final="7" * 64)], base))
    assert str(error) == f"{FILE}:9: a merge is not finished"
    assert f"git checkout --ours {FILE}" in error.hint
    assert f"git checkout --theirs {FILE}" in error.hint
    error = refused(marked([entry(1, take=2, art="6" * 64)], [entry(1, take=3, art="7" * 64)], base))
    assert str(error) == f"{FILE}:9: a merge is not finished; its sides chose different art for video-00001"
    assert error.exit_code == 2


def test_a_merge_that_kept_the_lines_of_both_sides_is_joined() -> None:
    """`merge=union`: the same art is one choice, approved if one side approved it; finals follow from the specs. The
    file is to be written anew."""
    text = lock_text(HEAD, [entry(1), entry(2)]) + entry_line(entry(1, final="6" * 64, approved=True))
    lock = read(text)
    assert lock.is_merged
    found = lock.of("video-00001", 1, lambda take: "2" * 64)
    assert found is not None
    assert (found.art, found.approved) == ("3" * 64, True)
    assert lock.of("video-00002", 1, lambda take: "2" * 64) == entry(2)


def test_of_two_requests_in_a_merge_the_specs_tell_which() -> None:
    """One side changed what the picture is of, and so its art key."""
    lock = read(lock_text(HEAD, [entry(1)]) + entry_line(entry(1, art_key="8" * 64, art="9" * 64)))
    assert lock.is_merged
    for art_key, art in (("2" * 64, "3" * 64), ("8" * 64, "9" * 64)):
        found = lock.of("video-00001", 1, lambda take, key=art_key: key)  # type: ignore[misc]
        assert found is not None
        assert found.art == art
    assert lock.of("video-00001", 1, lambda take: "0" * 64) is None


@pytest.mark.parametrize("fields", [{"art": "6" * 64}, {"take": 2, "art_key": "7" * 64, "art": "6" * 64}])
def test_two_choices_of_art_in_a_merge_are_refused_by_the_items_name(fields: dict[str, object]) -> None:
    """Which of the two is right nobody can tell from the file."""
    error = refused(lock_text(HEAD, [entry(1), entry(2)]) + entry_line(entry(2, **fields)))
    assert str(error) == (
        f"{FILE}:10: items: the sides of a merge chose different art for video-00002: keep line 9 or line 10"
    )
