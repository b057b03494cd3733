"""What the tests of the provider `command` share."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderError
from thumbforge.providers.command import CommandProvider
from thumbforge.testing import a_call, a_request

GEN = Path(__file__).parent / "gen.py"
IMAGES = Path(__file__).parents[1] / "data" / "images"
PAINTER = """
import sys, zlib
from PIL import Image
out, width, height, *words = sys.argv[1:]
words = [open(word, 'rb').read() if word.endswith(('.png', '.jpg')) else word.encode() for word in words]
seeds = [zlib.crc32(b"|".join([bytes([n]), width.encode(), height.encode(), *words])) for n in range(20)]
ground = bytes(64 + (seed >> shift) % 160 for seed in seeds for shift in (0, 8, 16))
Image.frombytes('RGB', (5, 4), ground).resize((int(width), int(height))).save(out)
"""


def gen(case: str, *words: str, **params: Any) -> CommandProvider:
    argv = [sys.executable, "-S", "-E", str(GEN), case, *words, "--out={output}"]
    return CommandProvider({"argv": argv, **params})


def call_in(tmp_path: Path, timeout_s: float = 30, cancel: Cancel | None = None) -> Any:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    return replace(a_call(scratch, cancel), timeout_s=timeout_s)


def failed(provider: CommandProvider, tmp_path: Path, timeout_s: float = 30) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        provider.generate(a_request(), call_in(tmp_path, timeout_s))
    assert "\n" not in caught.value.message
    return caught.value


def failed_with(provider: CommandProvider, tmp_path: Path, prompt: str) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        provider.generate(a_request(prompt=prompt), call_in(tmp_path))
    return caught.value


def require_gone(record: Path) -> None:
    """The process of that id, or what is left of it, has ended."""
    pid = int(record.read_text())
    end = time.monotonic() + 10
    while alive(pid):
        assert time.monotonic() < end, "a process is left"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """A zombie that nobody has waited for yet is not alive."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
