"""A list in a spreadsheet and back: `playlist export`, and `fetch` of the file that it wrote."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch_site import Site, make_site, refused
from tests.project import make_project
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.playlists.fields import with_values
from thumbforge.playlists.spreadsheet import COLUMNS, csv_text, exported, taken_back
from thumbforge.sources.cells import plain, read, written
from thumbforge.sources.files import table_in
from thumbforge.specs import yaml_events
from thumbforge.specs.rewrite import rewritten
from thumbforge.specs.splice import scalar

WOOD = """\
# the workshop
playlist: {id: PLwood0000000, title: Wood}
items:
  - {video: "-tfDash0001", title: "=1+1", part: 1,  text: "'quoted'"}   # keep

  # the second
  - video: tfVid000002
    title: '@home, "the" tools; and =more'
    text: |
      Two
      lines
    part: 2
  - {title: '1984', video: "12345E67890", text: March 2024, label: true story}
  - {video: tfVid000004, title: Gone, part: 4, removed: true}
  - {video: tfVid000002, title: Again Ω, part: 9}
"""
Rows = list[list[str]]


def _saved(rows: Rows, encoding: str, delimiter: str, *, all_quoted: bool = False, end: str = "\r\n") -> bytes:
    """Quotes stand around what needs them, as every program has it."""

    def cell(text: str) -> str:
        is_quoted = all_quoted or any(char in text for char in f'{delimiter}"\r\n')
        return '"' + text.replace('"', '""') + '"' if is_quoted else text

    return "".join(delimiter.join(map(cell, row)) + end for row in rows).encode(encoding, "replace")


def _bare(rows: Rows) -> Rows:
    """Google Sheets takes an apostrophe in front for the mark of a text and keeps it to itself."""
    return [[cell.removeprefix("'") for cell in row] for row in rows]


PROGRAMS: Mapping[str, Callable[[Rows], bytes]] = {
    "as it was": lambda rows: _saved(rows, "utf-8-sig", ",", all_quoted=True),
    "Excel, CSV UTF-8": lambda rows: _saved(rows, "utf-8-sig", ","),
    "Excel in Europe, CSV UTF-8": lambda rows: _saved(rows, "utf-8-sig", ";"),
    "Excel with sep=": lambda rows: b"sep=;\r\n" + _saved(rows, "utf-8", ";"),
    "Excel, Unicode text": lambda rows: _saved(rows, "utf-16", "\t"),
    "LibreOffice": lambda rows: _saved(rows, "utf-8", ",", end="\n"),
    "Google Sheets": lambda rows: _saved(_bare(rows), "utf-8", ",").rstrip(b"\r\n"),
}
LOSSY = {"Excel, CSV of Windows": lambda rows: _saved(rows, "cp1252", ";")}


def cells_of(text: str) -> Rows:
    return [*csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = make_site(tmp_path / "site")
    made.write("specs/playlists/wood.yaml", WOOD)
    return made


def export(site: Site) -> Rows:
    assert site.run("playlist", "export", "wood", "wood.csv").code == 0
    return cells_of((site.root / "wood.csv").read_text(encoding="utf-8"))


def save(site: Site, rows: Rows, program: str = "LibreOffice") -> None:
    (site.root / "wood.csv").write_bytes({**PROGRAMS, **LOSSY}[program](rows))


@pytest.mark.parametrize("program", [*PROGRAMS, *LOSSY])
def test_a_file_that_nobody_changed_changes_no_byte(program: str, site: Site) -> None:
    """Whatever program saved it, and however it sorted the rows; comments, order and quotes stay."""
    head, *rows = export(site)
    save(site, [head, *reversed(rows)], program)
    assert site.fetch("wood.csv")["edits"] == []
    assert site.yaml("wood") == WOOD


@pytest.mark.parametrize("program", [*PROGRAMS, *LOSSY])
def test_a_cell_that_says_otherwise_changes_its_value_alone(program: str, site: Site) -> None:
    """Whatever program saved it. An emptied cell takes the field away; what begins like a formula is a text."""
    rows = export(site)
    text, part, label = (rows[0].index(name) for name in ("text", "part", "label"))
    rows[1][text] = "=2+2"
    rows[2][text] = ""
    rows[3][part], rows[3][label] = "07", ""
    rows[4][text] = "Not\nagain"
    save(site, rows, program)
    told = site.fetch("wood.csv")
    assert [(e["position"], e["field"], e["was"], e["now"]) for e in told["edits"]] == [
        (1, "text", "'quoted'", "=2+2"),
        (2, "text", "Two\nlines\n", None),
        (3, "part", None, 7),
        (3, "label", "true story", None),
        (5, "text", None, "Not\nagain"),
    ]
    expected = WOOD.replace("\"'quoted'\"", '"=2+2"').replace("    text: |\n      Two\n      lines\n", "")
    expected = expected.replace(", label: true story", "").replace('"12345E67890"', '"12345E67890", part: 7')
    expected = expected.replace("{video: tfVid000002, title: A", '{video: tfVid000002, text: "Not\\nagain", title: A')
    assert site.yaml("wood") == expected
    assert site.fetch("wood.csv")["edits"] == []


def test_no_cell_is_a_formula_a_number_or_a_date(site: Site) -> None:
    """What a spreadsheet would take for one has an apostrophe in front; an id as well."""
    export(site)
    text = (site.root / "wood.csv").read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    for cell in ("'=1+1", "'@home", "'-tfDash0001", "'12345E67890", "'1984", "'March 2024", "''quoted'"):
        assert f'"{cell}'.encode() in text


@given(st.text(max_size=12) | st.from_regex(r"\A['=+@\uff1d\t\r-]?[0-9.,/ ]*[a-z']*\Z"))
def test_a_text_in_a_cell_is_read_back_as_it_was(text: str) -> None:
    """And nothing but an apostrophe stands where a formula might begin."""
    cell = written(text)
    assert read(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r"))
    assert cell in {text, f"'{text}"}


TEXTS = st.text(max_size=20) | st.sampled_from(["", " ", "'", "''=x", "-1", "May 5", "a\r\nb", 'a"b', "TRUE", ";,\t"])


@given(
    st.lists(st.tuples(TEXTS, TEXTS, st.none() | TEXTS), min_size=1, max_size=5),
    st.sampled_from(sorted(PROGRAMS)),
    st.data(),
)
def test_what_goes_through_any_program_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str, str | None]],
    program: str,
    data: st.DataObject,
) -> None:
    """Whatever the texts: unchanged cells change nothing, a changed one its own value alone."""
    path = tmp_path_factory.getbasetemp() / "list.csv"
    head = PlaylistHead(id="PLwood0000000")
    items = tuple(
        Item(video="tfVid000001", title=f"A{title}", text=text, label=label, part=n)
        for n, (title, text, label) in enumerate(texts)
    )
    playlist = Playlist(playlist=head, items=items)
    base = exported(playlist)
    rows = cells_of(csv_text(base))
    path.write_bytes(PROGRAMS[program](rows))
    table = table_in(path)
    assert table
    for known in (base, {}):
        assert taken_back(playlist, table, known, path.parent).playlist == playlist
    at = data.draw(st.integers(0, len(items) - 1))
    words = data.draw(st.text(st.characters(categories=("L", "N", "S")), min_size=1, max_size=9))
    rows[at + 1][COLUMNS.index("text")] = written(words)
    path.write_bytes(PROGRAMS[program](rows))
    table = table_in(path)
    assert table
    now = taken_back(playlist, table, base, path.parent).playlist
    same = plain(words) == plain(items[at].text or "")
    changed = items[at] if same else with_values(items[at], {"text": plain(words)})
    assert now.items == (*items[:at], changed, *items[at + 1 :])


def test_thirty_texts_in_three_commands(tmp_path: Path) -> None:
    """Export, fetch, batch: all are drawn again, none is painted."""
    site = Site(make_project(tmp_path / "project", 5).root)
    assert site.batch().code == 0
    assert site.run("playlist", "export", "show").out.splitlines()[-1] == "Next: thumbforge fetch show.csv"
    rows = cells_of((site.root / "show.csv").read_text(encoding="utf-8"))
    for row in rows[1:]:
        row[rows[0].index("text")] = f"Short {row[0]}"
    (site.root / "show.csv").write_bytes(PROGRAMS["Excel, Unicode text"](rows))
    told = site.run("fetch", "show.csv").out.splitlines()
    assert told[-2:] == ["5 fields of 5 items written; all else is as it was.", "Next: thumbforge batch series=show"]
    calls = site.calls
    assert "5 drawn again" in site.batch().out
    assert site.calls == calls


def test_what_the_list_has_learned_since_stays(site: Site) -> None:
    """A cell that says what it was given changes nothing, though the YAML says otherwise by now."""
    rows = export(site)
    site.write("specs/playlists/wood.yaml", WOOD.replace("1984", "1985").replace("March 2024", "April"))
    rows[3][rows[0].index("label")] = "Mine"
    save(site, rows)
    assert [edit["field"] for edit in site.fetch("wood.csv")["edits"]] == ["label"]
    assert "1985" in site.yaml("wood")
    assert "April" in site.yaml("wood")


def test_rows_and_columns_that_are_gone_take_nothing_away(site: Site) -> None:
    """A video without a row stays, and is told; so does a field without a column."""
    head, *rows = export(site)
    save(site, [[row[0], row[1], row[3]] for row in (head, rows[3])])
    told = site.run("fetch", "wood.csv")
    assert told.code == 0
    assert "3 videos of the list without a row in the file, left as in the list: -tfDash0001" in told.err
    assert site.yaml("wood") == WOOD


def test_the_second_place_of_a_video_is_told_by_its_position(site: Site) -> None:
    """Also where the row of the first place is gone, and where something stands in front of both by now."""
    head, *rows = export(site)
    site.write("specs/playlists/wood.yaml", WOOD.replace("items:\n", "items:\n  - {video: tfVid000009, title: New}\n"))
    rows[3][head.index("text")] = "Second"
    save(site, [head, rows[3]])
    assert [edit["position"] for edit in site.fetch("wood.csv")["edits"]] == [6]


def test_every_wrong_row_is_told_with_its_line_and_nothing_is_lost(site: Site) -> None:
    """All at once; not a byte is changed."""
    head, *rows = export(site)
    part, title, picture, text = (head.index(name) for name in ("part", "title", "picture", "text"))
    stranger, double, bad = ([*rows[0]] for _ in range(3))
    stranger[1], bad[1] = "tfVid000077", "1.23457E+10"
    rows[0][text] = "A change that would be right"
    rows[1][part], rows[2][part], rows[3][title], rows[2][picture] = "7,0", "1", "", "nosuch.png"
    save(site, [head, *rows, stranger, double, bad])
    problem = refused(site.run("fetch", "wood.csv", "--json"), 2, "spec_invalid")
    places = [line.removeprefix(str(site.root / "wood.csv")) for line in problem["problems"]]
    assert places == [
        ":3: part: expected a whole number up to 100000, got `7,0`",
        ":6: picture: there is no file nosuch.png; paths count from " + str(site.root),
        ":7: title: is empty",
        ":8: video: tfVid000077 is not in the list; fetch its address to bring it",
        ":9: video: -tfDash0001 stands in line 2 already",
        ":10: video: `1.23457E+10` is no video id (11 letters, digits, - or _) and no YouTube address;"
        " the spreadsheet took it for a number: make the column text",
    ]
    assert site.yaml("wood") == WOOD


def test_letters_that_are_a_guess_are_not_written(site: Site) -> None:
    """Excel's plain CSV is in the code page of its Windows: what was changed to other letters than ASCII's is told."""
    rows = export(site)
    rows[1][rows[0].index("text")] = "Größe"
    save(site, rows, "Excel, CSV of Windows")
    problem = refused(site.run("fetch", "wood.csv", "--json"), 2, "spec_invalid")
    assert "`Größe` may be other letters than were typed: save it as UTF-8" in problem["message"]


def test_a_workbook_is_told_as_one(site: Site) -> None:
    """With what to save instead, whatever it is called."""
    for name in ("wood.xlsx", "wood.csv"):
        (site.root / name).write_bytes(b"PK\x03\x04\x14\0\x06\0")
        problem = refused(site.run("fetch", name, "--json"), 1, "source_failed")
        assert problem["message"] == f"{name} is a workbook or an archive, not a table of text"
        assert "CSV UTF-8" in problem["hint"]


def test_a_part_is_given_once(site: Site) -> None:
    """Two may change places; a part that another has is told at the line that gave it."""
    head, *rows = export(site)
    part = head.index("part")
    rows[0][part], rows[1][part] = rows[1][part], rows[0][part]
    save(site, [head, *rows])
    assert len(site.fetch("wood.csv")["edits"]) == 2
    rows[2][part] = "9"
    save(site, [head, *rows])
    problem = refused(site.run("fetch", "wood.csv", "--json"), 2, "spec_invalid")
    assert "part 9 is already in line 7" in problem["message"]


def test_a_file_of_another_name_says_which_list_it_is_of(site: Site) -> None:
    """Without the name the command that has it is told; with it the file goes back."""
    told = site.run("playlist", "export", "wood", "for-anna.csv")
    assert told.out.splitlines()[-1] == "Next: thumbforge fetch for-anna.csv name=wood"
    problem = refused(site.run("fetch", "for-anna.csv", "--json"), 2, "usage")
    assert problem["hint"] == "thumbforge fetch for-anna.csv name=wood"
    assert site.fetch("for-anna.csv", "name=wood")["name"] == "wood"
    assert site.yaml("wood") == WOOD
    assert [path.name for path in (site.root / "specs/playlists").iterdir()] == ["wood.yaml"]


def test_a_file_in_which_somebody_worked_is_not_written_over(site: Site) -> None:
    """Until it has come back."""
    rows = export(site)
    export(site)
    rows[1][rows[0].index("text")] = "Mine"
    save(site, rows)
    assert "is there already" in refused(site.run("playlist", "export", "wood", "--json"), 2, "usage")["message"]
    site.fetch("wood.csv")
    assert export(site) == rows


def test_what_is_written_in_a_file_is_a_persons_word(site: Site) -> None:
    """The history says by what."""
    rows = export(site)
    rows[3][rows[0].index("part")] = "7"
    save(site, rows)
    site.fetch("wood.csv")
    last = site.shown("playlist", "log", "wood")["changes"][-1]
    assert (last["by"], last["kind"], last["part"]) == ("file", "renumbered", 7)
    assert ("12345E67890", 7, "user") in site.facts("part")


def test_an_export_can_begin_a_list_elsewhere(site: Site, tmp_path: Path) -> None:
    """In a project that has none of its videos it is a list, with all its words."""
    export(site)
    other = make_site(tmp_path / "other")
    shutil.copy(site.root / "wood.csv", other.root / "mine.csv")
    other.fetch("mine.csv", "name=ours")
    assert [(i["video"], i["title"], i.get("text")) for i in other.items("ours")[:3]] == [
        ("-tfDash0001", "=1+1", "'quoted'"),
        ("tfVid000002", '@home, "the" tools; and =more', "Two\nlines"),
        ("12345E67890", "1984", "March 2024"),
    ]


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")
@pytest.mark.parametrize("saved", ["44,34,76,1,,1033,false,true,false", "59,34,76,1,,1031,false,true,false"])
def test_libreoffice_gives_back_what_it_got(saved: str, site: Site, tmp_path: Path) -> None:
    """The real program, which looks for numbers and dates as it opens a file."""
    export(site)
    kind = "Text - txt - csv (StarCalc)"
    words = [f"--infilter={kind}:44,34,76,1,,1031,false,true", "--convert-to", f"csv:{kind}:{saved}"]
    home = f"-env:UserInstallation=file://{tmp_path}/office"
    at = ["--outdir", str(tmp_path / "saved"), str(site.root / "wood.csv")]
    subprocess.run(["soffice", home, "--headless", *words, *at], check=True, capture_output=True, timeout=120)
    assert site.fetch(str(tmp_path / "saved" / "wood.csv"), "name=wood")["edits"] == []
    assert site.yaml("wood") == WOOD


def _quoted(text: str, how: int) -> str:
    """A text as YAML lets people write it."""
    single = "'" + text.replace("'", "''") + "'"
    return single if how and text.isprintable() else scalar(text)


@st.composite
def notations(draw: st.DrawFn) -> str:
    """A list in somebody's own hand: blocks and braces, quotes of both kinds, comments, fields in any order."""
    lines = ["# mine\n", "playlist: {id: PLwood0000000}\n", "items:\n"]
    for n in range(draw(st.integers(1, 4))):
        fields = {
            "video": f"tfVid00000{n}",
            "part": str(n),
            "title": _quoted(f"A{draw(TEXTS)}", draw(st.integers(0, 1))),
        }
        for name in draw(st.lists(st.sampled_from(["text", "label", "topic"]), unique=True)):
            fields[name] = _quoted(draw(TEXTS), draw(st.integers(0, 1)))
        pairs = [f"{name}: {fields[name]}" for name in draw(st.permutations(list(fields)))]
        note = draw(st.sampled_from(["", "   # a note", "\n  # below\n"]))
        if draw(st.booleans()):
            lines.append(f"  - {{{',  '.join(pairs)}}}{note}\n")
        else:
            lines.append("  - " + "\n    ".join(pairs) + f"{note}\n")
    return "".join(lines)


@given(notations(), st.sampled_from(sorted(PROGRAMS)), st.data())
def test_the_yaml_keeps_every_byte_that_nobody_changed(
    tmp_path_factory: pytest.TempPathFactory, text: str, program: str, data: st.DataObject
) -> None:
    """However it is written, and whatever program saved the file: with no change it is the same text, with one the
    same but for a piece of that item."""
    path = tmp_path_factory.getbasetemp() / "list.csv"
    old = Playlist.model_validate(yaml_events.read(text).data)
    base = exported(old)
    rows = cells_of(csv_text(base))

    def back() -> str:
        path.write_bytes(PROGRAMS[program](rows))
        table = table_in(path)
        assert table
        return rewritten(text, old, taken_back(old, table, base, path.parent).playlist, "list.yaml")

    assert back() == text
    at = data.draw(st.integers(0, len(old.items) - 1))
    rows[at + 1][COLUMNS.index("text")] = "New words"
    pieces, now = text.split("  - "), back().split("  - ")
    assert [*pieces[: at + 1], *pieces[at + 2 :]] == [*now[: at + 1], *now[at + 2 :]]
    assert '"New words"' in now[at + 1]
