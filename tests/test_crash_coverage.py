"""No durable write without a fault point, no fault point without a test: read from the source.

A write is covered where it stands inside `with store_errors(…)`, `faults.step(…)` or `….write(step)`, or in a function
that is only ever called from such a place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import thumbforge
from tests.test_crash_points import BATCH_STEPS
from tests.test_crash_scenarios import SCENARIO_STEPS
from tests.test_crash_shared import SHARED_STEPS
from thumbforge.faults import STEPS

PACKAGE = Path(thumbforge.__file__).parent
STEP_GIVERS = {"store_errors": 1, "step": 0, "write": 0, "_transaction": 0, "put": 2, "put_file": 2}

# Modules whose files are no part of the store: what is lost of them is made again by the same command.
ROOMS = ("store", "planning", "playlists", "making", "upkeep")
OUTSIDE = {
    "fetch_state.py": "a cache of what was fetched",
    "thumbnails.py": "a cache of YouTube's own pictures",
    "preview.py": "a picture to look at",
    "remote.py": "a cluster worker's own folder: what is lost is sent again",
    "folder.py": "the shared store itself: a name appears whole or not at all, whichever call of it is cut off",
    "cutout.py": "the user's own mask beside a hero: replaced whole by rename, and cut out again at will",
    "consistency.py": "a judgement for the sheet: read anew from the pictures where it is gone",
    "playlist_file.py": "the user's own spec: replaced whole by rename, and fetched again where that did not happen",
    "previews.py": "small pictures for a page, made anew from the stored ones where they are gone",
    "spreadsheet.py": "the user's own copy of a list: replaced whole by rename, and exported again at will",
    "series_file.py": "the user's own spec and the copy of a hero: the same command writes what is not there yet",
}
# Writes that may be lost or left over at any time. Each with the reason why nothing depends on it.
NOT_DURABLE = {
    ("assets.py", "drop_staged", "unlink"): "an answer that has its art row; repair takes what a crash leaves",
    ("assets.py", "_keep_said", "replace"): "what a program has printed, kept for a look",
    ("assets.py", "fsync_directory", "fsync"): "a directory made on the way to a scratch file; nothing is in it yet",
    ("mark.py", "note", "write_whole"): "what a page shows; without it the page is made anew with the next batch",
    ("kept.py", "remove_sheet", "unlink"): "a page to look at; what is left of it the next prune takes",
    ("manifest.py", "remove_manifest", "unlink"): "that of a series that is gone; the next prune takes it",
    ("out.py", "_remove", "unlink"): "a picture nobody wants; its row goes after it, and the next prune drops that",
    ("manifest.py", "keep_manifest", "write_whole"): "what lies in out/: compared and written by each batch",
    ("manifest.py", "_note", "write_whole"): "what a manifest was; without it the manifest is compared again",
    ("manifest.py", "_note", "unlink"): "the same note, of a manifest that could not be written",
    ("cluster.py", "finalise", "write_bytes"): "a scratch file, as a drawing of this process writes one",
    ("cluster.py", "_answer", "write_bytes"): "what a program has printed on a worker, kept for a look",
    ("make.py", "_draw", "unlink"): "our own temporary file; repair takes what a crash leaves",
    ("export.py", "_take_away", "unlink"): "an old name; the item's row still has it, so the next batch puts it right",
    ("export.py", "_takes_files", "unlink"): "an empty file that was only tried",
    ("hero.py", "export_heroes", "copyfile"): "a copy for the user; nothing of ours depends on it",
    ("hero.py", "export_heroes", "in_place_of"): "the same copy, which gets its name when it is whole",
}


@dataclass(frozen=True)
class Place:
    """A call in the source: in which function, and whether a fault point stands around it there."""

    file: str
    function: str
    name: str
    line: int
    covered: bool


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            yield path, ast.parse(path.read_text(encoding="utf-8"))


def name_of(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def gives_a_point(item: ast.withitem) -> bool:
    call: ast.expr = item.context_expr
    return isinstance(call, ast.Call) and name_of(call) in {"store_errors", "step", "write", "_transaction"}


def places(file: str, tree: ast.Module) -> Iterator[Place]:
    def walk(node: ast.AST, function: str, covered: bool) -> Iterator[Place]:
        if isinstance(node, ast.FunctionDef):
            function, covered = node.name, False
        if isinstance(node, ast.With):
            covered = covered or any(gives_a_point(item) for item in node.items)
        if isinstance(node, ast.Call) and is_write(node):
            yield Place(file, function, name_of(node), node.lineno, covered)
        elif isinstance(node, ast.Call):
            yield Place(file, function, f"call {name_of(node)}", node.lineno, covered)
        for child in ast.iter_child_nodes(node):
            yield from walk(child, function, covered)

    yield from walk(tree, "", False)


def is_write(call: ast.Call) -> bool:
    name, method = name_of(call), isinstance(call.func, ast.Attribute)
    if name in {"replace", "rename"} and method:  # str.replace has two arguments
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        return len(call.args) == 1 or (isinstance(owner, ast.Name) and owner.id == "os")
    if name in {"write_durably", "replace_durably", "write_whole", "in_place_of"}:
        return True
    return method and name in {"link", "fsync", "copyfile", "copy", "copy2", "unlink", "write_bytes", "write_text"}


def all_places() -> list[Place]:
    return [place for path, tree in trees() if path.name not in OUTSIDE for place in places(path.name, tree)]


def covered_functions(found: list[Place]) -> set[str]:
    """Functions that are called, and only from within a fault point or from such a function."""
    covered: set[str] = set()
    while True:
        more = {
            name
            for name in {place.name.removeprefix("call ") for place in found if place.name.startswith("call ")}
            if all(p.covered or p.function in covered for p in found if p.name == f"call {name}")
        }
        if more == covered:
            return covered
        covered = more


def test_every_durable_write_of_a_file_has_a_fault_point() -> None:
    """Renames, links, syncs, copies and deletions in store/ and runs/; what needs none is listed with its reason."""
    found = all_places()
    covered = covered_functions(found)
    bare = {
        (place.file, place.function, place.name)
        for place in found
        if not place.name.startswith("call ") and not place.covered and place.function not in covered
    }
    assert bare <= set(NOT_DURABLE)


def test_the_search_sees_a_bare_write() -> None:
    """A rename outside a fault point is found, one inside is not, nor the `replace` of a text."""
    source = """
def bare(path): path.replace(other); text.replace("a", "b")
def pointed(path):
    with store_errors("x", "manifest"):
        path.replace(other)
        inner(path)
def inner(path): os.fsync(path)
"""
    found = list(places("x.py", ast.parse(source)))
    covered = covered_functions(found)
    writes = {(p.function, p.covered or p.function in covered) for p in found if not p.name.startswith("call ")}
    assert writes == {("bare", False), ("pointed", True), ("inner", True)}


def connections(function: ast.FunctionDef) -> set[str]:
    """Names in a function that hold a connection inside a transaction: given, or taken with `write`."""
    given = {arg.arg for arg in [*function.args.args, *function.args.kwonlyargs] if arg.arg == "connection"}
    taken = {
        item.optional_vars.id
        for node in ast.walk(function)
        if isinstance(node, ast.With)
        for item in node.items
        if gives_a_point(item) and isinstance(item.optional_vars, ast.Name)
    }
    return given | taken


def test_every_write_to_the_ledger_is_in_a_transaction_with_a_fault_point() -> None:
    """Statements go through a connection that `Database.write` gave; `rows` and `row` only ever read."""
    wrong = []
    for path, tree in trees():
        if path.name == "database.py":
            continue
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            allowed = connections(function)
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                where = f"{path.name}:{call.lineno} {ast.unparse(call)[:60]}"
                if name_of(call) in {"execute", "executemany", "executescript"}:
                    assert isinstance(call.func, ast.Attribute)
                    if ast.unparse(call.func.value) not in allowed:
                        wrong.append(where)
                elif name_of(call) in {"rows", "row"} and call.args:
                    text = ast.unparse(call.args[0]).upper()
                    if any(word in text for word in ("INSERT ", "UPDATE ", "DELETE ", "REPLACE INTO")):
                        wrong.append(where)
    assert wrong == []


def steps_in_use() -> set[str]:
    found = set()
    for _, tree in trees():
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            given = call.args[STEP_GIVERS.get(name_of(call), len(call.args)) :]
            found |= {str(arg.value) for arg in given[:1] if isinstance(arg, ast.Constant)}
    return found


def test_every_step_is_used_and_every_used_step_is_known() -> None:
    """The list in faults.py is neither too long nor too short."""
    assert steps_in_use() == set(STEPS)


@pytest.mark.parametrize("step", STEPS)
def test_every_step_is_crashed_in_a_test(step: str) -> None:
    """Either on the way of a plain batch or in a scenario of its own."""
    assert step in {*BATCH_STEPS, *SCENARIO_STEPS, *SHARED_STEPS}
    source = Path(__file__).with_name("test_crash_scenarios.py").read_text()
    assert step in {*BATCH_STEPS, *SHARED_STEPS} or source.count(f"{step}") > 1
