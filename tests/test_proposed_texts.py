"""`playlist propose-text`: the few words of a title that are drawn, by rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fetch_site import Site, make_site
from thumbforge.models import Item, Playlist, PlaylistHead
from thumbforge.playlists.words import FEWEST, LONGEST, MOST, proposals
from thumbforge.specs.catalog import load_playlist

ROOT = Path(__file__).parents[1]


def proposed(titles: list[str], title: str = "", channel: str = "") -> list[str | None]:
    items = tuple(Item(video=f"video-{n:05d}", title=each) for n, each in enumerate(titles))
    playlist = Playlist(playlist=PlaylistHead(id="PLwords0000000", title=title, channel=channel), items=items)
    return [row.text for row in proposals(playlist).values()]


def test_a_real_list_as_it_was_judged() -> None:
    """Looked at by a person, who would keep 26 of these 28."""
    bundled = load_playlist(ROOT / "specs/playlists/pandas-30.yaml").spec
    assert proposed([item.title for item in bundled.items], bundled.playlist.title) == [
        "What is pandas?", "Read *tabular* data file", "Select Series", None, "*Rename* columns", "Remove columns",
        "*Sort* DataFrame or Series", "Filter rows", "Apply multiple filter *criteria*", "Questions answered",
        "Use the *axis* parameter", "Use string *methods*", "Change data *type*", "Use a *groupby*",
        "*Explore* a Series", "Handle *missing* values", "Pandas index", "Pandas index",
        "Select multiple rows and columns", "Use the *inplace* parameter", "Make DataFrame *smaller* and faster", None,
        "*More* of questions answered", "Create dummy *variables*", "Work with *dates* and times",
        "Find and remove *duplicate* rows", "Avoid a *SettingWithCopyWarning*", "Change *display* options",
        "Create DataFrame", "Apply *function*",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("head", "titles", "texts"),
    [
        (
            ("Tischlern für Anfänger", "Werkstatt Nord"),
            ["Teil 1: Holz richtig auswählen | Werkstatt Nord",
             "Teil 2: Wie man Bretter sauber hobelt | Werkstatt Nord",
             "Teil 3: Zinken von Hand sägen | Werkstatt Nord", "Teil 7: Was ist Furnier? | Werkstatt Nord"],
            ["Holz richtig *auswählen*", "*Bretter* sauber hobelt", "*Zinken* von Hand sägen", "Was ist *Furnier*?"],
        ),
        (
            ("Cuisine facile", "Chez Léa"),
            ["Épisode 1 - La pâte brisée inratable", "Épisode 2 - Comment réussir une crème anglaise",
             "Épisode 3 - Les secrets du pain maison"],
            ["Pâte brisée *inratable*", "Réussir une crème *anglaise*", "*Secrets* du pain maison"],
        ),
        (
            ("Guitarra desde cero", "Luis Toca"),
            ["Guitarra desde cero #1: Cómo afinar la guitarra", "Guitarra desde cero #2: Los primeros acordes",
             "Guitarra desde cero #5: ¿Púa o dedos?"],
            ["Afinar la *guitarra*", "*Primeros* acordes", "Púa o *dedos*"],
        ),
        (
            ("Физика для всех", "Лекторий"),
            ["Урок 1. Что такое скорость?", "Урок 2. Закон сохранения энергии", "Урок 4. Сила трения в природе"],
            ["Что такое *скорость*?", "Закон *сохранения* энергии", "Сила *трения*"],
        ),
        (
            ("はじめての盆栽", "緑の家"),
            ["第1話 道具をそろえる", "第3話 水やりの基本", "第4話 植え替えの時期と土の選び方について詳しく解説します"],
            ["道具をそろえる", "水やりの基本", None],
        ),
        (
            ("Learn Rust", "Crab School"),
            ["Rust Tutorial #4 - Structs", "Rust Tutorial #5 - Enums and Pattern Matching",
             "Rust Tutorial #8 - Traits vs Generics: Which one should you use?",
             "Rust Tutorial #9 - Building a CLI App from Scratch (2024 edition)",
             "Rust Tutorial #10 - 5 Mistakes Every Beginner Makes"],
            [None, "Enums and Pattern *Matching*", "Traits vs *Generics*", "*Building* CLI App",
             "5 *Mistakes* Every Beginner Makes"],
        ),
    ],
    ids=["German", "French", "Spanish", "Russian", "Japanese", "English"],
)  # fmt: skip
def test_lists_in_several_languages(head: tuple[str, str], titles: list[str], texts: list[str | None]) -> None:
    """Part marks, channel, list and what is common are left out; the word that only this title has is marked."""
    assert proposed(titles, *head) == texts


@given(st.lists(st.text(max_size=60), min_size=1, max_size=6), st.text(max_size=20))
def test_whatever_the_titles_a_proposal_is_short_and_says_what_the_title_says(titles: list[str], head: str) -> None:
    """Two to five words of the title in its order, one of them marked at most; else none."""
    for title, text in zip(titles, proposed(titles, head), strict=True):
        if text is None:
            continue
        plain = text.replace("*", "")
        assert text.count("*") in {0, 2}
        assert FEWEST <= len(plain.split()) <= MOST or (len(plain.split()) == 1 and len(plain) <= 12)
        assert len(plain) <= LONGEST
        assert "*" not in title


@pytest.fixture
def site(tmp_path: Path) -> Site:
    made = make_site(tmp_path / "site")
    made.write(
        "specs/playlists/my.yaml",
        "playlist: {id: PLwords0000000, title: Wood}\n"
        "items:\n"
        "  # the first\n"
        "  - {video: tfVid000001, title: How do I sharpen a chisel?, part: 1}   # keep\n"
        "  - {video: tfVid000002, title: How do I plane a board?, part: 2, text: '*Mine*'}\n"
        "  - {video: tfVid000003, title: Glue, part: 3}\n",
    )
    return made


def test_proposals_are_shown_and_written_where_nothing_stands(site: Site) -> None:
    """A text of a person's stays, comments stay, and the second time there is nothing to propose."""
    before = site.yaml("my")
    told = site.run("playlist", "propose-text", "my")
    assert told.out.splitlines()[-1] == (
        "1 text proposed, 1 kept, 1 without a good one. --apply writes them into my.yaml."
    )
    assert site.yaml("my") == before
    assert site.run("playlist", "propose-text", "my", "--apply").code == 0
    assert site.yaml("my") == before.replace("tfVid000001,", 'tfVid000001, text: "*Sharpen* a chisel",')
    assert (
        site.run("playlist", "propose-text", "my", "--apply").out.splitlines()[-1].startswith("0 texts written, 2 kept")
    )
