"""The documentation says what the program does: commands, options, codes, settings, fields and shapes are compared."""

from __future__ import annotations

import importlib
import json
import re
import shlex
import subprocess
import sys
import tomllib
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from thumbforge import errors, models, settings
from thumbforge.imaging import fonts
from thumbforge.providers import registry
from thumbforge.providers.base import Capabilities, Request
from thumbforge.specs.catalog import Catalog
from thumbforge.specs.prompts import variables_for

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = (README, ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md")))
MODELS = tuple(
    cls
    for cls in vars(models).values()
    if isinstance(cls, type) and issubclass(cls, models.Model) and cls not in {models.Model, models.NegativeSpace}
)
"""Every model of a spec, named in docs/specs.md by a comment before its table; a NegativeSpace is told as a Box."""

SECTION = re.compile(r"<!-- model: (\w+) -->\n+((?:\|.*\n)+)")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SPEC = re.compile(r"# specs/(playlists|templates|providers|series)/([\w.-]+)\.yaml\b")


def text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def table(markdown: str) -> list[list[str]]:
    """The cells of every table row that is neither a head's rule nor the head."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    rule = [n for n, row in enumerate(rows) if set("".join(row)) <= set("-: ")]
    return [row for n, row in enumerate(rows) if n not in rule and n + 1 not in rule]


def bare(cell: str) -> str:
    return cell.strip("`")


def sections(markdown: str, level: int = 2) -> dict[str, str]:
    """Text by heading; code fences may hold lines that look like one."""
    plain = FENCE.sub(lambda match: match[0].replace("\n#", "\n\0#"), markdown)
    pieces = re.split(rf"^{'#' * level} (.+)$", plain, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], (piece.replace("\0", "") for piece in pieces[2::2]), strict=True))


def fenced_lines(markdown: str) -> list[tuple[str, str]]:
    """Each line of each code block, with its block."""
    return [(line, block) for _, block in FENCE.findall(markdown) for line in block.splitlines()]


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


@pytest.mark.parametrize("page", ["README.md", "docs/commands.md"])
def test_the_table_of_exit_codes_is_the_programs(page: str) -> None:
    """Every exit code of errors.Exit stands once in the table, and no other."""
    body = sections((ROOT / page).read_text(encoding="utf-8"))["Exit codes"]
    assert [int(bare(row[0])) for row in table(body)] == [int(code) for code in errors.Exit]


# Commands


def commands() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {name: load(value) for name, value in project["entry-points"]["doit.COMMAND"].items()}


def load(entry_point: str) -> Any:
    module, _, attribute = entry_point.partition(":")
    return getattr(importlib.import_module(module), attribute)


def test_every_command_has_a_section_with_every_option() -> None:
    """docs/commands.md has a section for each registered command, and names each of its options in it."""
    found = sections(text("commands.md"))
    missing = [name for name in commands() if f"`{name}`" not in found]
    for name, command in commands().items():
        body = found.get(f"`{name}`", "")
        wanted = [f"--{option['long']}" for option in command.cmd_options]
        wanted += [f"-{option['short']}" for option in command.cmd_options if option.get("short")]
        missing += [f"{name} {option}" for option in wanted if not re.search(rf"`{option}(?![\w-])", body)]
    assert not missing


def test_every_option_in_the_commands_page_exists() -> None:
    """No section of docs/commands.md names an option that its command does not take."""
    for name, command in commands().items():
        known = {f"--{option['long']}" for option in command.cmd_options}
        body = sections(text("commands.md"))[f"`{name}`"]
        assert set(re.findall(r"^\| `(--[a-z-]+)", body, flags=re.MULTILINE)) <= known, name


def test_a_page_tells_which_names_other_projects_lose() -> None:
    """docs/doit.md lists every plugin name, because none of them can be a task's name any more."""
    paragraph = sections(text("doit.md"))["Names that are taken"]
    assert {f"`{name}`" for name in commands()} <= set(re.findall(r"`\w+`", paragraph))


# Errors and settings


def test_every_error_code_is_explained() -> None:
    """docs/errors.md has one row per code, with the exit code that the program ends with."""
    rows = {bare(row[0]): row for row in table(text("errors.md"))}
    ours = [cls for cls in errors.error_classes() if cls.__module__ == errors.__name__]
    known = {cls.code: cls for cls in ours}
    assert rows.keys() == known.keys()
    assert {code: int(row[1]) for code, row in rows.items()} == {c: int(cls.exit_code) for c, cls in known.items()}
    assert all(len(row) == 4 and row[2] and row[3] for row in rows.values())


def test_every_setting_is_listed_with_its_variable_and_default() -> None:
    """docs/settings.md has one row per setting, in the program's order."""
    rows = [(bare(row[0]), bare(row[1]), bare(row[2])) for row in table(sections(text("settings.md"))["All settings"])]
    assert rows == [(name, settings.variable(name), found.default) for name, found in settings.SETTINGS.items()]


# Specs


def test_every_field_of_every_spec_is_listed_with_type_and_default() -> None:
    """The tables of docs/specs.md say what the models say; what a field means is for people to write."""
    found = {(name, *row[:3]) for name, body in SECTION.findall(text("specs.md")) for row in table(body)}
    wanted = {(model.__name__, *row) for model in MODELS for row in fields(model)}
    assert sorted(wanted - found) == []
    assert sorted(found - wanted) == []


def fields(model: type[BaseModel]) -> Iterator[list[str]]:
    hints = typing.get_type_hints(model, include_extras=True)
    for name, field in model.model_fields.items():
        null = ", or null" if type(None) in typing.get_args(hints[name]) else ""
        yield [f"`{name}`", kind(hints[name]) + limits(field) + null, default(name, field)]


WORDS: Mapping[Any, str] = {
    models.Name: "name",
    models.VideoId: "video id",
    models.PlaylistId: "playlist id",
    models.Colour: "colour",
    models.Part: "whole number, from 0 to 100000",
    str: "text",
    int: "whole number",
    float: "number",
    models.Box: "[Box](#box)",
    models.NegativeSpace: "[Box](#box)",
    tuple[float, float]: "two numbers",
}


def kind(hint: Any) -> str:
    """A type in the words of docs/specs.md."""
    if hint in WORDS:
        return WORDS[hint]
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin is dict:
        return "mapping"
    if origin is tuple:
        return f"list of {kind(arguments[0])}"
    return kind(arguments[0])  # what is annotated, or may be null


def limits(field: FieldInfo) -> str:
    """Numbers only: the length of a text surprises nobody."""
    found = {name: getattr(m, name) for m in field.metadata for name in ("ge", "gt", "le") if hasattr(m, name)}
    words = {"ge": "from", "gt": "above", "le": "to"}
    return "," * bool(found) + "".join(f" {words[name]} {number}" for name, number in found.items())


def default(name: str, field: FieldInfo) -> str:
    if name == "name":
        return "the file's name"
    if field.is_required():
        return "required"
    value = field.default
    if value is None:
        return "null"
    if isinstance(value, BaseModel):
        return "its defaults"
    return "empty" if value in ({}, (), "") else f"`{json.dumps(value) if isinstance(value, tuple) else value}`"


def test_every_variable_that_a_template_sees_is_listed() -> None:
    """The table of docs/templates.md is what a prompt can name, no more and no less."""
    item = models.Item(video="aaaaaaaaaaa", title="Title")
    seen = variables_for(item, models.PlaylistHead(id="PL1"), {}, 1, 1, None, 1)
    assert {bare(row[0]) for row in table(sections(text("templates.md"))["Variables"])} == {
        *(name for name in seen if name not in {"video", "playlist"}),
        *(f"video.{name}" for name in seen["video"]),
        *(f"playlist.{name}" for name in seen["playlist"]),
    }


def test_every_built_in_provider_has_a_section_with_its_parameters() -> None:
    """A page says of each provider that we ship what its parameters are and what they default to."""
    found = sections(text("providers.md"))
    for name, value in registry.BUILT_IN.items():
        params = importlib.import_module(value.partition(":")[0]).PARAMS
        body = found.get(f"`{name}`") or sections(text(f"providers/{name}.md"))["Parameters"]
        rows = {bare(row[0]): bare(row[2]) for row in table(body)}
        assert rows == {n: worded(param.default) for n, param in params.items()}, name


def worded(value: Any) -> str:
    """A default as the tables of docs/providers.md write it."""
    if value in (None, "", (), {}):
        return "none"
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_what_a_provider_declares_and_is_asked_is_listed() -> None:
    """docs/providers.md names every field of Capabilities and of Request, for those who write one."""
    page = text("providers.md")
    names = [*Capabilities.__dataclass_fields__, *Request.__dataclass_fields__]
    assert [name for name in names if f"`{name}`" not in page] == []


def test_the_fonts_of_a_layout_are_listed() -> None:
    """docs/templates.md names the fonts that a layout may use."""
    rows = table(sections(text("templates.md"))["Fonts"])
    assert tuple(bare(row[0]) for row in rows) == fonts.DISPLAY


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


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("json")
    (root / "list.csv").write_text("title,video,part\nHello,aaaaaaaaaaa,1\n", encoding="utf-8")
    (root / "hero.jpg").write_bytes((ROOT / "specs/heroes/pandas.jpg").read_bytes())
    return root


def thumbforge(project: Path, *words: str) -> Any:
    code = "import sys; from thumbforge.build.main import main; sys.exit(main(sys.argv[1:]))"
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=project, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_json_page_shows_the_shapes_that_are_printed(project: Path) -> None:
    """Each document in docs/json.md has the keys that the command prints, at every level."""
    batch = ("batch", "list.csv", "--hero", "hero.jpg", "--provider", "fake", "--json")
    printed = {
        "`batch --dry-run --json`": thumbforge(project, *batch, "--dry-run"),
        "`batch --json`": thumbforge(project, *batch),
        "`runs list --json`": thumbforge(project, "runs", "list", "--json"),
    }
    run = printed["`batch --json`"]["run"]
    printed["`runs show --json`"] = thumbforge(project, "runs", "show", run, "--json")
    found = sections(text("json.md"))
    for title, document in printed.items():
        [shown] = [json.loads(block) for language, block in FENCE.findall(found[title]) if language == "json"]
        assert shape(shown) == shape(document), title


FREE = frozenset({"params", "report", "request", "response", "notes"})
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


def test_the_workflow_is_valid_and_its_actions_are_pinned_by_major_version() -> None:
    """The workflow for people who make thumbnails in CI parses, keeps the ledger, and always shows what there is."""
    workflow = yaml.safe_load((ROOT / ".github/workflows/thumbnails.yml").read_text(encoding="utf-8"))
    [job] = workflow["jobs"].values()
    uses = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w./-]+@v\d+", action) for action in uses)
    kept = [step for step in job["steps"] if "cache/" in step.get("uses", "")]
    assert {step["with"]["path"].strip() for step in kept} == {".thumbforge/"}
    assert all("always()" in step["if"] for step in job["steps"] if re.search("save|upload", step.get("uses", "")))


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
    files += [path for path in ROOT.iterdir() if path.suffix in TEXT and not path.name.startswith(".doit.db")]
    named = [path for path in files if path.is_file() and FOREIGN.search(path.read_text("utf-8", errors="replace"))]
    assert named == []
