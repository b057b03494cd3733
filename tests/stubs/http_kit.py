"""What the tests of the HTTP client share."""

from __future__ import annotations

import time

import pytest

from tests.recorded_server import (
    Play,
    RecordedServer,
    in_turn,
    message,
)
from thumbforge.cancel import Cancel
from thumbforge.errors import (
    OutputUnusable,
    ProviderError,
)
from thumbforge.web.http import Http, Reply

OK = message(200, b'{"fine": true}')
SOON_S = 1.0


"""Ctrl-C is felt within this."""


def ask(play: Play, *, timeout_s: float = 20, cancel: Cancel | None = None) -> Reply:
    with RecordedServer(in_turn(play)) as server:
        http = Http("test", "look at the server")
        return http.exchange(
            "POST", f"{server.url}/a?b=1", cancel=cancel or Cancel(), timeout_s=timeout_s, json={"x": 1}
        )


def failing(play: Play, timeout_s: float = 20) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(play, timeout_s=timeout_s)
    assert caught.value.__cause__ is not None or isinstance(caught.value, OutputUnusable)
    return caught.value


def until(condition: object, timeout_s: float = 10) -> None:
    end = time.monotonic() + timeout_s
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.01)
