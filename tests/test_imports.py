"""The house: which module may import which, and what a light command does not load."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import thumbforge

PACKAGE = Path(thumbforge.__file__).parent
ORDER = (
    (
        "ids",
        "errors",
        "faults",
        "models",
        "redact",
        "log",
        "settings",
        "durable",
        "layers",
        "cancel",
        "cores",
        "install",
        "named",
        "spoken",
        "streams",
        "text",
    ),
    ("pixels",),
    ("web",),
    ("specs", "sources", "providers", "imaging", "store"),
    ("planning", "testing"),
    ("playlists",),
    ("making",),
    ("upkeep",),
    ("tasks",),
    ("commands", "build"),
)
RANK = {name: rank for rank, names in enumerate(ORDER) for name in names}
HEAVY = ("pydantic", "jinja2", "PIL", "structlog", "httpx", "rich", "tenacity", "yaml", "uharfbuzz")


def imports() -> Iterator[tuple[str, str, str]]:
    """(file, part it belongs to, part it imports) for every import of thumbforge in thumbforge."""
    for path in sorted(PACKAGE.rglob("*.py")):
        file = path.relative_to(PACKAGE)
        own = file.parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for name in _imported(node):
                yield file.as_posix(), own, name


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module:
        names = [f"{node.module}.{alias.name}" if node.module == "thumbforge" else node.module for alias in node.names]
    else:
        return []
    return [name.split(".")[1] for name in names if name.startswith("thumbforge.")]


def test_every_part_of_the_package_has_its_place() -> None:
    """No module stands outside the order."""
    parts = {path.name.removesuffix(".py") for path in PACKAGE.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert parts - {"__init__", "__pycache__", "typed"} - {"py.typed"} == set(RANK)


def test_imports_point_left() -> None:
    """A module imports only from its own part, from the leaves, or from parts to the left of its own."""
    allowed = {"__version__"}
    wrong = [
        f"{file} imports {target}"
        for file, own, target in imports()
        if target not in allowed and own != "__init__" and target != own and not _may(own, target)
    ]
    assert wrong == []
    assert sum(1 for _ in imports()) > 100  # the walk saw the package


def _may(own: str, target: str) -> bool:
    both_leaves = RANK[own] == 0 and RANK[target] == 0
    return RANK[target] < RANK[own] or both_leaves


def modules() -> dict[str, set[str]]:
    """Each module with all that it imports, late and annotation imports too."""
    files = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts): path for path in PACKAGE.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        named = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        for node in nodes:
            if isinstance(node, ast.ImportFrom) and node.module:
                members = [f"{node.module}.{alias.name}" for alias in node.names]
                named += [member if member in files else node.module for member in members]
        graph[name] = {found for found in named if found in files} - {name}
    return graph


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Whoever opens a module can read what it stands on first."""
    left = modules()
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    assert sorted(left) == []


def test_no_room_holds_more_than_a_reader_can_take_in() -> None:
    """At most 24 modules in one folder."""
    folders = [path.parent for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    assert {str(folder.relative_to(PACKAGE)): n for folder, n in Counter(folders).items() if n > 24} == {}


def test_no_import_is_relative() -> None:
    """A module says in full what it imports."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and node.level), path


def loaded(script: str) -> set[str]:
    code = f"import sys\n{script}\nprint('\\n' + ' '.join(sys.modules), file=sys.stderr)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in told.stderr.split()}


@pytest.mark.parametrize(
    "script",
    [
        "import thumbforge.tasks.backend, thumbforge.tasks.reporter",
        "import thumbforge, thumbforge.tasks, thumbforge.store, thumbforge.making, thumbforge.imaging",
        "import thumbforge.log, thumbforge.settings, thumbforge.errors, thumbforge.ids, thumbforge.redact",
    ],
)
def test_what_doit_loads_for_each_command_is_light(script: str) -> None:
    """doit imports every backend and reporter for each command, in any project of the environment."""
    assert loaded(script).isdisjoint(HEAVY)


def test_the_version_is_told_without_doit() -> None:
    """`thumbforge --version` loads neither doit nor anything heavy."""
    found = loaded("from thumbforge.commands.main import main; main(['--version'])")
    assert found.isdisjoint({*HEAVY, "doit"})


def test_a_plan_loads_no_pillow_and_no_http() -> None:
    """Deciding what is to be done opens no picture and talks to nobody."""
    found = loaded("import thumbforge.planning.plan, thumbforge.planning.snapshot, thumbforge.planning.wanted")
    assert found.isdisjoint({"PIL", "httpx", "rich", "structlog", "tenacity", "uharfbuzz"})
