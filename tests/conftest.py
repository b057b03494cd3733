"""What holds for every test: no network, no settings from outside, no time limits of hypothesis on a busy machine."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.project import Project, make_project
from thumbforge import log
from thumbforge.specs import sandbox

settings.register_profile("thumbforge", deadline=None, max_examples=60)
settings.load_profile("thumbforge")

_LOOPBACK = ("127.", "::1", "localhost")
_connect = socket.socket.connect


def _refuse(self: socket.socket, address: Any) -> Any:
    if self.family != socket.AF_UNIX and not str(address[0]).startswith(_LOOPBACK):
        raise AssertionError(f"a test wants to reach {address[0]}")
    return _connect(self, address)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that leaves this machine is refused."""
    monkeypatch.setattr(socket.socket, "connect", _refuse)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting and no key of whoever runs the tests reaches them."""
    for name in [name for name in os.environ if name.startswith(("THUMBFORGE_", "DOIT_"))]:
        monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def quiet_log() -> Iterator[None]:
    """Whatever a test configured, the next one finds the log as it is at the start of a process."""
    yield
    log.configure(level="warning", file=None)


@pytest.fixture(autouse=True)
def fresh_budget() -> None:
    """Templates have a budget of time for a command; a test is one."""
    sandbox.ALL_SPENT.set([0.0])


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Three items, nothing made yet."""
    return make_project(tmp_path / "project", 3)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Twelve items, all made. For tests that only read; others take a copy of it."""
    made = make_project(tmp_path_factory.mktemp("finished") / "project", 12)
    assert made.batch().code == 0
    return made


@pytest.fixture
def done(finished: Project, tmp_path: Path) -> Project:
    """Twelve items, all made, to do with as one likes; no call is in its log yet."""
    return finished.copy(tmp_path / "project")
