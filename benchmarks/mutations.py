"""`python -m benchmarks.mutations`: takes away, one at a time, what the promises rest on, and runs the tests for it.

Each mutation is made in a scratch copy of the tree. It is caught when the tests named beside it fail; one that
survives, or whose text is not in the source any more, makes this command fail. `--only WORD` runs those whose name has
the word.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Mutation:
    """`old` becomes `new` at its `nth` place in a file of the package; `tests` are what pytest is given."""

    name: str
    file: str
    old: str
    new: str
    tests: str
    nth: int = 1


FENCE, SYNC, ONCE, CREATE = "fence", "fsync", "once", "create-only"
LEDGER, RACES, INGEST, DISK, UPKEEP, FACTS, DATABASE, ASSETS, LEASES = (
    f"tests/test_{name}.py"
    for name in (
        "store_ledger", "races", "ingest", "crash_disk", "upkeep", "facts", "store_database", "store_assets",
        "store_leases",
    )
)  # fmt: skip
CHECK = "            fence.check(connection)\n"

MUTATIONS = (
    # Fences: who lost the lease writes nothing.
    Mutation(
        f"{FENCE}: each write of an item", "store/work.py", "            self._fence.check(connection)\n", "", LEDGER
    ),
    Mutation(
        f"{FENCE}: the owner",
        "store/ledger.py",
        'AND lease_owner = ? AND lease_epoch = ?"',
        "AND ? <> '' AND lease_epoch = ?\"",
        LEDGER,
    ),
    Mutation(
        f"{FENCE}: the epoch",
        "store/ledger.py",
        'AND lease_owner = ? AND lease_epoch = ?"',
        'AND lease_owner = ? AND ? > -9"',
        LEDGER,
    ),
    Mutation(
        f"{FENCE}: the state",
        "store/ledger.py",
        "WHERE id = ? AND status = 'running' AND lease_owner = ? AND lease_epoch = ?\"",
        'WHERE id = ? AND (lease_owner = ? AND lease_epoch = ? OR lease_owner IS NULL)"',
        LEDGER,
    ),
    Mutation(f"{FENCE}: the end of a run", "store/ledger.py", CHECK, "", LEDGER),
    Mutation(f"{FENCE}: the result of a job", "store/ledger.py", CHECK, "", f"{UPKEEP} -k lost", 2),
    Mutation(f"{FENCE}: a chunk of an ingest", "playlists/ingest.py", CHECK, "", f"{INGEST} -k lost"),
    Mutation(
        f"{FENCE}: the removals of an ingest",
        "playlists/ingest.py",
        "            fence.check(connection)\n            _close",
        "            _close",
        f"{INGEST} -k lost",
    ),
    Mutation(
        f"{FENCE}: the epoch of a heartbeat",
        "store/ledger.py",
        '" AND lease_epoch = ? RETURNING',
        '" AND ? > -9 RETURNING',
        LEDGER,
    ),
    Mutation(
        f"{FENCE}: a second look of the sweep",
        "store/ledger.py",
        'if row is None or is_live(row["lease_owner"], row["lease_expires_at"], now):',
        "if row is None:",
        f"{RACES} -k prolonged",
    ),
    Mutation(
        f"{FENCE}: a live executor is left alone",
        "store/work.py",
        'if is_live(attempt["lease_owner"], attempt["lease_expires_at"], now):',
        "if False:",
        LEDGER,
    ),
    Mutation(
        f"{FENCE}: a live slot is left alone",
        "store/leases.py",
        'if is_live(row["owner"], row["expires_at"], now)}',
        "if False}",
        LEASES,
    ),
    Mutation(
        f"{FENCE}: repair looks again",
        "upkeep/repair.py",
        "            return False\n",
        "            pass\n",
        f"{UPKEEP} -k again",
    ),
    # fsync: what is done survives a power cut.
    Mutation(
        f"{SYNC}: a new file",
        "durable.py",
        "        file.flush()\n        os.fsync(file.fileno())\n",
        "        file.flush()\n",
        DISK,
    ),
    Mutation(
        f"{SYNC}: a file drawn in place", "store/assets.py", "                os.fsync(file.fileno())\n", "", DISK
    ),
    Mutation(f"{SYNC}: the name of an asset", "store/assets.py", "        fsync_directory(final.parent)\n", "", DISK),
    Mutation(
        f"{SYNC}: the name of a staged answer, of a manifest",
        "durable.py",
        "    fsync_directory(target.parent)\n",
        "",
        DISK,
    ),
    Mutation(
        f"{SYNC}: the name of a record", "store/assets.py", "            fsync_directory(path.parent)\n", "", DISK
    ),
    Mutation(
        f"{SYNC}: commits of the ledger",
        "store/database.py",
        '"synchronous = FULL"',
        '"synchronous = NORMAL"',
        DATABASE,
    ),
    # ON CONFLICT and unique indexes: once is once.
    Mutation(
        f"{ONCE}: the clause itself",
        "store/database.py",
        'f" ON CONFLICT ({once}) DO NOTHING" if once else ""',
        '""',
        DATABASE,
    ),
    Mutation(
        f"{ONCE}: an existing row wins",
        "store/database.py",
        "DO NOTHING",
        "DO UPDATE SET {once} = excluded.{once}, created_at = excluded.created_at",
        LEDGER,
    ),
    Mutation(
        f"{ONCE}: world rows and assets",
        "store/database.py",
        "insert(connection, table, row, once=key)",
        "insert(connection, table, row)",
        LEDGER,
    ),
    Mutation(
        f"{ONCE}: what is recorded must agree", "store/database.py", "and stored[name] != value:", "and False:", LEDGER
    ),
    Mutation(f"{ONCE}: a final", "store/finals.py", ', once="final_key")', ")", LEDGER),
    Mutation(f"{ONCE}: a video", "store/facts.py", ', once="youtube_id")', ")", INGEST),
    Mutation(f"{ONCE}: an entry of a playlist", "store/facts.py", ', once="id")', ")", INGEST),
    Mutation(
        f"{ONCE}: a hero's rows",
        "store/heroes.py",
        "            return  # another process was faster\n",
        "            pass\n",
        f"{RACES} -k hero",
    ),
    Mutation(
        f"{ONCE}: an iteration of a key",
        "store/schema.sql",
        "idempotency_key TEXT NOT NULL UNIQUE,",
        "idempotency_key TEXT NOT NULL,",
        f"{RACES} -k refuses",
    ),
    Mutation(
        f"{ONCE}: an open attempt",
        "store/schema.sql",
        "CREATE UNIQUE INDEX one_open_attempt",
        "CREATE INDEX one_open_attempt",
        f"{RACES} -k refuses",
    ),
    Mutation(
        f"{ONCE}: a call for an art key",
        "store/schema.sql",
        "CREATE UNIQUE INDEX one_call_per_art",
        "CREATE INDEX one_call_per_art",
        f"{RACES} -k refuses",
    ),
    Mutation(
        f"{ONCE}: an open fact",
        "store/schema.sql",
        "CREATE UNIQUE INDEX one_open_fact",
        "CREATE INDEX one_open_fact",
        FACTS,
    ),
    Mutation(
        f"{ONCE}: the time of a closed fact",
        "store/facts.py",
        "WHERE id = ? AND valid_to IS NULL",
        "WHERE id = ?",
        FACTS,
    ),
    Mutation(
        f"{ONCE}: a fact that the run has stated",
        "store/facts.py",
        "        return  # this run has stated it before\n",
        "        pass\n",
        FACTS,
    ),
    # Create-only: nothing that has its name is written into.
    Mutation(
        f"{CREATE}: a new file",
        "durable.py",
        "os.O_CREAT | os.O_EXCL | os.O_WRONLY",
        "os.O_CREAT | os.O_TRUNC | os.O_WRONLY",
        DISK,
    ),
    Mutation(
        f"{CREATE}: the name of an asset",
        "store/assets.py",
        "            os.link(temporary, final)\n",
        "            temporary.replace(final)\n",
        ASSETS,
    ),
    Mutation(
        f"{CREATE}: a record of the same art",
        "store/assets.py",
        '        if before and before.get("sha256") == content["sha256"]:\n',
        "        if False:\n",
        "tests/test_records.py -k same_art",
    ),
    Mutation(
        f"{CREATE}: a damaged one is replaced",
        "store/assets.py",
        "            if found.is_right:\n",
        "            if True:\n",
        ASSETS,
    ),
)


def mutated(text: str, mutation: Mutation) -> str | None:
    """The text with the mutation, None where its place is not found."""
    parts = text.split(mutation.old)
    if len(parts) <= mutation.nth:
        return None
    return mutation.old.join(parts[: mutation.nth]) + mutation.new + mutation.old.join(parts[mutation.nth :])


def run(tree: Path, tests: str) -> subprocess.CompletedProcess[str]:
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        *tests.split(" ", 2),
    ]
    environ = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(words, cwd=tree, env=environ, capture_output=True, text=True, check=False)


def verdict(tree: Path, mutation: Mutation) -> str:
    """The test that turned red, or why there is none."""
    path = tree / "thumbforge" / mutation.file
    text = path.read_text(encoding="utf-8")
    changed = mutated(text, mutation)
    if changed is None:
        return "NOT FOUND in the source"
    path.write_text(changed, encoding="utf-8")
    try:
        told = run(tree, mutation.tests)
    finally:
        path.write_text(text, encoding="utf-8")
    red: list[str] = re.findall(r"^FAILED [^:]*::(.*?)(?: - |$)", told.stdout, re.MULTILINE)
    if told.returncode == 1 and red:
        return red[0]
    return "SURVIVED" if told.returncode == 0 else f"pytest ended with {told.returncode}: {told.stdout[-300:]}"


def copy_of(root: Path, to: Path) -> Path:
    ignored = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", ".hypothesis", "out", ".thumbforge")
    return Path(shutil.copytree(root, to, ignore=ignored))


def measure(mutations: Sequence[Mutation]) -> int:
    """Prints a table row for each; returns how many were not caught."""
    alive = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copy_of(ROOT, Path(folder) / "tree")
        for tests in sorted({mutation.tests for mutation in mutations}):
            if (told := run(tree, tests)).returncode:
                raise SystemExit(f"{tests} fails without a mutation:\n{told.stdout[-2000:]}")
        print("| taken away | in | turns red |\n|---|---|---|", flush=True)
        for mutation in mutations:
            found = verdict(tree, mutation)
            alive += not found.startswith("test_")
            print(f"| {mutation.name} | `{mutation.file}` | {found} |", flush=True)
    return alive


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    chosen = [mutation for mutation in MUTATIONS if options.only in mutation.name]
    if alive := measure(chosen):
        raise SystemExit(f"{alive} of {len(chosen)} were not caught")
    print(f"{len(chosen)} of {len(chosen)} caught")


if __name__ == "__main__":
    main()
