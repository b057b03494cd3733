"""The same work for other build tools: `hero.jpg` and `keys/<n>.json` give `out/<n>.jpg`, and all of it is made.

Each function brings a directory into the finished state and returns its `Peer`. Where a tool's own first run would take
minutes the state is made in the cheapest way that the tool accepts, which each function tells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.commands import DOIT, idle, told, tool
from benchmarks.sample import scratch

PICTURE = 2000
"""Bytes of a target."""


@dataclass(frozen=True, slots=True)
class Peer:
    """`argv` does nothing in `root`, and says so in words of which `says` approves."""

    root: Path
    argv: tuple[str, ...]
    says: Callable[[str], bool]

    def measure(self) -> Callable[[], float]:
        return idle(self.root, *self.argv, says=self.says)


def _inputs(name: str, items: int, *, made: bool) -> Path:
    """The sources, and with `made` the targets, which are younger."""
    root = scratch() / f"{name}-{items}"
    for folder in ("keys", "out"):
        (root / folder).mkdir(parents=True)
    (root / "hero.jpg").write_bytes(b"hero" * 50_000)
    for n in range(items):
        (root / f"keys/{n}.json").write_text(f'{{"n": {n}}}')
    for n in range(items if made else 0):
        (root / f"out/{n}.jpg").write_bytes(b"%d " % n * (PICTURE // 5))
    return root


_DODO = """
from pathlib import Path

DOIT_CONFIG = {"default_tasks": ["thumb"], "backend": "dbm"}


def make(n):
    Path(f"out/{n}.jpg").write_bytes(b"x" * 2000)


def task_thumb():
    for n in range(%d):
        yield {
            "name": str(n),
            "actions": [(make, [n])],
            "file_dep": ["hero.jpg", f"keys/{n}.json"],
            "targets": [f"out/{n}.jpg"],
            "uptodate": [True],
        }
"""


@cache
def raw_doit(items: int) -> Path:
    """doit alone, with as many tasks, file dependencies and targets as ours; made by its own first run."""
    root = _inputs("doit", items, made=False)
    (root / "dodo.py").write_text(_DODO % items)
    told(root, *DOIT)
    return root


def make(program: str, items: int) -> Peer:
    """GNU make: the files are there, the targets younger."""
    root = _inputs("make", items, made=True)
    names = " ".join(f"out/{n}.jpg" for n in range(items))
    rules = "".join(f"out/{n}.jpg: hero.jpg keys/{n}.json\n\thead -c {PICTURE} $< > $@\n" for n in range(items))
    (root / "Makefile").write_text(f"all: {names}\n.PHONY: all\n{rules}")
    return Peer(root, (program, "-j2"), lambda said: "Nothing to be done" in said)


_SNAKEFILE = """
rule all:
    input: expand("out/{n}.jpg", n=range(%d))


rule thumb:
    input: "hero.jpg", "keys/{n}.json"
    output: "out/{n}.jpg"
    shell: "head -c 2000 {input[0]} > {output}"
"""


def snakemake(program: str, items: int) -> Peer:
    """Snakemake: the files are there, the targets younger. Without records of its own it compares times alone, which
    is the least that it ever does."""
    root = _inputs("snakemake", items, made=True)
    (root / "Snakefile").write_text(_SNAKEFILE % items)
    return Peer(root, (program, "-c2"), lambda said: "Nothing to be done" in said)


_STAGES = """
stages:
  thumb:
    matrix:
      n: [%s]
    cmd: head -c 2000 hero.jpg > out/${item.n}.jpg
    deps: [hero.jpg, "keys/${item.n}.json"]
    outs: ["out/${item.n}.jpg"]
"""


def dvc(program: str, items: int) -> Peer:
    """DVC: the files are there, and `dvc commit` takes their hashes into its lock file and cache."""
    root = _inputs("dvc", items, made=True)
    (root / "dvc.yaml").write_text(_STAGES % ", ".join(map(str, range(items))))
    told(root, program, "init", "--quiet", "--no-scm")
    told(root, program, "config", "core.analytics", "false")
    told(root, program, "config", "core.check_update", "false")
    told(root, program, "commit", "--quiet", "--force")
    return Peer(root, (program, "repro"), lambda said: "pipelines are up to date" in said)


_FLOW = """
import os

import luigi


class Thumb(luigi.Task):
    n = luigi.IntParameter()

    def output(self):
        return luigi.LocalTarget(f"out/{self.n}.jpg")

    def complete(self):
        try:
            made = os.stat(self.output().path).st_mtime
        except FileNotFoundError:
            return False
        return all(os.stat(path).st_mtime <= made for path in ("hero.jpg", f"keys/{self.n}.json"))


class All(luigi.WrapperTask):
    def requires(self):
        return [Thumb(n=n) for n in range(%d)]
"""


def luigi(program: str, items: int) -> Peer:
    """Luigi: the files are there. It would look for the targets alone; `complete` compares times as make does."""
    root = _inputs("luigi", items, made=True)
    (root / "flow.py").write_text(_FLOW % items)
    argv = ("env", "PYTHONPATH=.", program, "--module", "flow", "All", "--local-scheduler")
    return Peer(root, argv, lambda said: "Did not run any tasks" in said and "1 complete ones" in said)


PEERS: Mapping[str, tuple[str, Callable[[str, int], Peer], int]] = {
    "GNU make": ("make", make, 10_000),
    "Snakemake": ("snakemake", snakemake, 10_000),
    "DVC": ("dvc", dvc, 1000),  # at 10,000 its finished state alone takes minutes
    "Luigi": ("luigi", luigi, 10_000),
}
"""By name: its program, what brings it to the finished state, and the most items that it is asked for."""


@cache
def peer(name: str, items: int) -> Peer | None:
    """None where its program is not installed, or does not come this far."""
    program, finish, most = PEERS[name]
    found = tool(program)
    return finish(found, items) if found and items <= most else None
