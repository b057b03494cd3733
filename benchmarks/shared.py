"""(j) What `pull` takes beside the bare loop of the library: 1,000 objects of 2 kB, half of them pictures, half
records, from a bucket on the loopback into an empty store. Ours hashes, syncs and names each of them, which the bare
loop does not; a bucket as far away as one in the same town is what it is for."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.bucket import BUCKET
from benchmarks.clock import take_turns, timed
from benchmarks.figure import Figure, at_least, seconds

ARTS = 500
SIZE = 2000
TARGET = at_least(0.5)
AWAY_MS = 5
_WHAT = f"`pull` of {2 * ARTS:,} objects {{}} ms away against a bare loop of obstore, as speed"


def measure(*, quick: bool = False) -> list[Figure]:
    try:
        import obstore  # noqa: F401
    except ImportError:
        return [Figure(letter="j", what=_WHAT.format(AWAY_MS), figure="obstore is not installed")]
    return [_against(0, quick=quick), _against(AWAY_MS, quick=quick)]


def _against(away_ms: int, *, quick: bool) -> Figure:
    with tempfile.TemporaryDirectory() as folder, _bucket(Path(folder), away_ms) as names:
        measures = {"bare": _bare(Path(folder), names), "ours": _ours(Path(folder))}
        rounds = take_turns({name: timed(run) for name, run in measures.items()}, 3 if quick else 7)
    return Figure(
        letter="j",
        what=_WHAT.format(away_ms),
        figure=f"{seconds(rounds.median('ours'))}, bare {seconds(rounds.median('bare'))}",
        ratio=rounds.ratio("bare", "ours"),
        of="the bare loop",
        target=TARGET if away_ms else None,
    )


@contextmanager
def _bucket(root: Path, away_ms: int) -> Iterator[list[str]]:
    """Serves arts with their records while it lasts; the environment leads there. The names of all."""
    from thumbforge import ids
    from thumbforge.store.assets import json_bytes
    from thumbforge.store.shared.parcels import asset_name, record_name
    from thumbforge.store.witness import record_of

    found: dict[str, bytes] = {}
    for n in range(ARTS):
        data = n.to_bytes(8, "big") * (SIZE // 8)
        sha256 = ids.sha256_hex(data)
        fields = {"profile": "bench", "video": f"video-{n:05d}", "take": 1, "reads": {"prompt": "x" * 1200}}
        found[asset_name(sha256, ".png")] = data
        found[record_name(ids.art_key(fields))] = json_bytes(record_of(fields, sha256, ".png", "fake", None))
    for name, data in found.items():
        path = root / "served" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    words = (sys.executable, "-m", "benchmarks.bucket", str(root / "served"), str(away_ms))
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    own = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{process.stdout.readline().strip()}",
        "AWS_ACCESS_KEY_ID": "bench",
        "AWS_SECRET_ACCESS_KEY": "bench",
        "THUMBFORGE_STORE__REMOTE": f"s3://{BUCKET}",
    }
    before = {name: os.environ.get(name) for name in own}
    os.environ.update(own)
    try:
        yield list(found)
    finally:
        process.kill()
        process.wait()
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _bare(root: Path, names: list[str]) -> Callable[[], object]:
    def run() -> None:
        import obstore
        from obstore.store import from_url

        store: Any = from_url(f"s3://{BUCKET}", client_options={"allow_http": True})
        shutil.rmtree(root / "bare", ignore_errors=True)
        for name in names:
            path = root / "bare" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(obstore.get(store, name).bytes())

    return run


def _ours(root: Path) -> Callable[[], object]:
    def run() -> None:
        from thumbforge.cancel import Cancel
        from thumbforge.planning.project import Project
        from thumbforge.store.shared.hands import unseen
        from thumbforge.store.shared.place import open_remote
        from thumbforge.upkeep.shared import pull

        shutil.rmtree(root / "ours", ignore_errors=True)
        project = Project(root / "ours")
        remote = open_remote(project.settings, project.root)
        passed = pull(project, remote, None, Cancel(), unseen, dry_run=False)
        assert (passed.arts, passed.failed) == (ARTS, {})

    return run
