"""The documentation as a whole: what can be pasted, what is linked, which specs in it load, which shapes it shows."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.pages import DOCS, FENCE, LINK, PAGES, README, ROOT, fenced_lines, sections, text
from tests.project import Project, item
from thumbforge.specs.catalog import Catalog

SPEC = re.compile(r"# specs/(playlists|templates|providers|series)/([\w.-]+)\.yaml\b")


# README


@pytest.mark.parametrize("word", ["doit batch", "pytest"])
def test_each_of_the_two_commands_is_one_line_in_a_block_of_its_own(word: str) -> None:
    """The first line that makes thumbnails, and the first that runs the tests, can each be pasted as they are."""
    line, block = next(found for found in fenced_lines(README.read_text(encoding="utf-8")) if word in found[0])
    assert block == line + "\n"
    assert line.startswith("python3 -m venv .venv && .venv/bin/pip install ")


def test_the_first_command_names_files_that_are_in_the_repository() -> None:
    """The main job of the README runs on the bundled playlist and hero."""
    lines = fenced_lines(README.read_text(encoding="utf-8"))
    line = next(line for line, _ in lines if "doit batch" in line)
    pairs = dict(word.split("=", 1) for word in shlex.split(line) if "=" in word)
    assert (ROOT / "specs" / "playlists" / f"{pairs['playlist']}.yaml").is_file()
    assert (ROOT / pairs["hero"]).is_file()


def test_the_ci_script_runs_the_test_command_of_the_readme() -> None:
    """`.ci/run` takes the line from the README, so that there is one test command."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "README.md" in script
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


# Specs


def spec_blocks() -> list[Any]:
    found = []
    for page in PAGES:
        for language, block in FENCE.findall(page.read_text(encoding="utf-8")):
            if language == "yaml" and (named := SPEC.match(block)):
                found.append(pytest.param(named[1], named[2], block, id=f"{page.name}-{named[2]}"))
    return found


@pytest.mark.parametrize(("folder", "name", "block"), spec_blocks())
def test_a_spec_in_the_documentation_loads(folder: str, name: str, block: str, tmp_path: Path) -> None:
    """A YAML block that begins with its path under specs/ is a spec that works."""
    path = tmp_path / "specs" / folder / f"{name}.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(block, encoding="utf-8")
    catalog = Catalog(tmp_path)
    read = {
        "playlists": catalog.playlist_file,
        "templates": catalog.template,
        "providers": catalog.profile,
        "series": catalog.series,
    }[folder]
    assert read(name)


def test_there_is_an_example_of_each_kind_of_spec() -> None:
    """Playlist, template, provider profile and series are all shown by an example that loads."""
    assert {param.values[0] for param in spec_blocks()} == {"playlists", "templates", "providers", "series"}


# JSON


SHOWN = {
    "batch": ("batch", "list.csv", "--hero", "hero.jpg", "--provider", "fake"),
    "batch --dry-run": ("batch", "list.csv", "--hero", "hero.jpg", "--provider", "fake", "--dry-run"),
    "fetch": ("fetch", "list.csv"),
    "playlist list": ("playlist", "list"),
    "playlist show": ("playlist", "show", "list"),
    "playlist show --at": ("playlist", "show", "list", "--at", "2100-01-01"),
    "playlist log": ("playlist", "log", "list"),
    "playlist set": ("playlist", "set", "list", "1", "text=Hi"),
    "playlist export": ("playlist", "export", "list", "exported.csv"),
    "playlist propose-text": ("playlist", "propose-text", "list"),
    "playlist renumber": ("playlist", "renumber", "list", "--start", "3"),
    "hero list": ("hero", "list"),
    "hero show": ("hero", "generate", "aaaaaaaaaaa", "--count", "1", "--provider", "fake"),
    "hero pick": ("hero", "pick", "{hero}", "1"),
    "hero export": ("hero", "export", "{hero}", "--to", "picks"),
    "hero import": ("hero", "import", "hero.jpg"),
    "takes list": ("takes", "list", "aaaaaaaaaaa", "playlist=list.csv", "hero=hero.jpg", "provider=fake"),
    "takes lock": ("takes", "lock", "aaaaaaaaaaa", "playlist=list.csv", "hero=hero.jpg", "provider=fake"),
    "explain": ("explain", "out/list/01-aaaaaaaaaaa.jpg"),
    "status": ("status", "shown"),
    "series list": ("series", "list"),
    "series show": ("series", "show", "shown"),
    "series sheet": ("series", "sheet", "shown"),
    "check": ("check",),
    "runs list": ("runs", "list", "--kind", "batch"),
    "runs show": ("runs", "show", "{batch}"),
    "runs cost": ("runs", "cost", "{batch}"),
    "runs cost --by series": ("runs", "cost", "--by", "series"),
    "runs delete": ("runs", "delete", "{batch}", "--assets"),
    "provider list": ("provider", "list"),
    "provider check": ("provider", "check", "fake"),
    "template list": ("template", "list"),
    "template show": ("template", "show", "series-parts"),
    "template new": ("template", "new", "loud"),
    "template validate": ("template", "validate", "loud"),
    "template render": ("template", "render", "loud"),
    "template preview": ("template", "preview", "loud"),
    "config show": ("config", "show"),
    "config path": ("config", "path"),
    "repair": ("repair", "--apply"),
    "audit": ("audit",),
    "push": ("push", "--dry-run"),
    "pull": ("pull", "series=shown"),
}
"""By the command that heads a section of docs/json.md: what to say for it, in this order, in a project with a list and
a picture. `{batch}` and `{hero}` are the runs that the first ones made."""


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("json")
    (root / "list.csv").write_text("title,video,part\nHello,aaaaaaaaaaa,1\n", encoding="utf-8")
    (root / "specs" / "heroes").mkdir(parents=True)
    (root / "specs/heroes/own.jpg").write_bytes((ROOT / "specs/heroes/pandas.jpg").read_bytes())
    (root / "hero.jpg").write_bytes((ROOT / "specs/heroes/pandas.jpg").read_bytes())
    Project(root).series("shown", playlist="shown", hero="own", template="minimal", provider="local")
    Project(root).playlist([item(1)], name="shown")
    (root / "thumbforge.toml").write_text("[repair]\ngrace_s = 0\n[store]\nremote = 'there'\n", encoding="utf-8")
    (root / "there").mkdir()
    found: dict[str, Any] = {}
    for title, words in SHOWN.items():
        if title == "repair":
            for left in (f"assets/ab/{'ab' * 32}.jpg", "assets/img"):
                (root / ".thumbforge" / left).parent.mkdir(exist_ok=True)
                (root / ".thumbforge" / left).write_bytes(b"left behind")
        runs = {"batch": found.get("batch", {}).get("run"), "hero": found.get("hero show", {}).get("run")}
        found[title] = Project(root).shown(*(word.format(**runs) for word in words))
    return found


@pytest.mark.parametrize("title", SHOWN)
def test_the_json_page_shows_the_shape_that_is_printed(title: str, documents: dict[str, Any]) -> None:
    """Each document in docs/json.md has the keys that the command prints, at every level."""
    body = sections(text("json.md"))[f"`{title} --json`"]
    [shown] = [json.loads(block) for language, block in FENCE.findall(body) if language == "json"]
    assert shape(shown) == shape(documents[title])


FREE = frozenset({"params", "report", "request", "response", "notes", "money", "outcomes", "template"})
"""Values that differ from provider to provider and release to release."""


def shape(value: Any, name: str = "") -> Any:
    """The keys of a document, at every level; of a list those of its first element."""
    if isinstance(value, dict) and name not in FREE:
        return {key: shape(child, key) for key, child in value.items()}
    if isinstance(value, list) and name not in FREE:
        return [shape(value[0])] if value else []
    return None


# The whole


def headings(page: Path) -> set[str]:
    """Anchors as GitHub makes them."""
    plain = FENCE.sub("", page.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", plain, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link names a file of the repository and, behind a `#`, a heading of it."""
    broken = []
    for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in headings(target)):
            broken.append(link)
    assert not broken


def test_every_page_can_be_reached() -> None:
    """From the README a reader comes to every page of docs/, by links alone."""
    reached, waiting = set(), [README]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8"))
        paths = (link.partition("#")[0] for link in links if not re.match(r"[a-z]+:", link))
        waiting += [(page.parent / path).resolve() for path in paths if path]
    assert set(PAGES) <= reached


@pytest.mark.parametrize("name", ["Status", "Context", "Decision", "Consequences"])
def test_a_decision_record_is_whole(name: str) -> None:
    """Every record of docs/adr has its four sections."""
    records = sorted((DOCS / "adr").glob("0*.md"))
    assert records
    assert [page.name for page in records if not sections(page.read_text(encoding="utf-8")).get(name, "").strip()] == []


TEXT = frozenset({".py", ".md", ".toml", ".yaml", ".yml", ".sql", ".txt", ".json", ".csv", ".example", ""})
FOREIGN = re.compile(
    "|".join(
        ("/ho" + "me/", "/Us" + "ers/", "/wo" + "rk/", r"(?<!\w)/ro" + "ot/", "pypi" + r"\.org", "python" + "hosted")
    )
)


def test_the_repository_names_no_machine() -> None:
    """No text of the repository holds a path of somebody's machine or the host of a package index."""
    folders = ("thumbforge", "tests", "docs", "specs", "benchmarks", ".ci", ".github")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in TEXT]
    files += [path for path in ROOT.iterdir() if path.suffix in TEXT and not path.name.startswith((".doit.db", ".git"))]
    named = [path for path in files if path.is_file() and FOREIGN.search(path.read_text("utf-8", errors="replace"))]
    assert named == []
