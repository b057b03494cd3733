"""What the tests of the provider `antigravity` share: a home with a stand-in for agy."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderError
from thumbforge.providers.antigravity.adapter import AntigravityProvider
from thumbforge.providers.retry import Answered, generate_with_retries
from thumbforge.testing import a_call, a_request

STUB = Path(__file__).parent / "agy.py"


@dataclass(frozen=True)
class Agy:
    """A stand-in for agy with a home of its own."""

    home: Path
    pictures: Path
    binary: str
    setenv: Callable[[str, str], None]

    @property
    def brain(self) -> Path:
        return self.home / ".gemini" / "antigravity-cli" / "brain"

    def plays(self, *cases: str) -> None:
        """The first case for the first call, and so on; the last for ever."""
        script = self.home / "script"
        script.write_text("\n".join(cases))
        self.setenv("STUB_AGY_SCRIPT", str(script))

    def provider(self, **params: Any) -> AntigravityProvider:
        return AntigravityProvider({"binary": self.binary, **params})

    def calls(self) -> list[dict[str, Any]]:
        log = self.home / "agy.jsonl"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def call_in(tmp_path: Path, timeout_s: float = 60, cancel: Cancel | None = None) -> Any:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    return replace(a_call(scratch, cancel), timeout_s=timeout_s)


def failed(agy: Agy, tmp_path: Path, case: str, timeout_s: float = 60) -> ProviderError:
    agy.plays(case)
    with pytest.raises(ProviderError) as caught:
        agy.provider().generate(a_request(), call_in(tmp_path, timeout_s))
    assert "\n" not in caught.value.message
    return caught.value


def tried(provider: AntigravityProvider, tmp_path: Path) -> Answered:
    return generate_with_retries(provider, a_request(), call_in(tmp_path), base_s=0, on_try=lambda _: None)


def require_gone(pid: int) -> None:
    """No process of its group is alive."""
    end = time.monotonic() + 10
    while group_alive(pid):
        assert time.monotonic() < end, "a process is left"
        time.sleep(0.01)


def group_alive(pid: int) -> bool:
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    stats = [path.read_text().rpartition(")")[2].split() for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
    return any(fields[2] == str(pid) and fields[0] != "Z" for fields in stats) if stats else True
