"""A real batch that pauses: the day's quota is used up in the middle, or Ctrl-C while everything is in flight."""

from __future__ import annotations

import json
import re
import signal
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.project import Project, Told, finish, item, wait_until
from tests.recorded_server import Play, RecordedServer, Respond, answer, in_turn, stalled
from tests.stubs.antigravity_kit import group_alive
from tests.stubs.batch_kit import Metered, Service, agy_in, item_of, over, over_agy
from tests.tiers import soak
from thumbforge.errors import ProviderQuota, ProviderRateLimited
from thumbforge.web.statuses import by_status
from thumbforge.web.waits import next_pacific_midnight

BACK_AT = re.compile(r"; back at (\d{4}-\d\d-\d\d \d\d:\d\d) \w+")
HOURS = 3600
ITEMS = 12

# The day's quota

DAY = answer(
    {"error": {"message": "Rate limit reached for images per day: limit 100.", "code": "rate_limit_exceeded"}},
    429,
    Retry_After=str(5 * HOURS),
)
GEMINI_DAY = answer(
    {
        "error": {
            "code": 429,
            "message": "Daily quota is used up.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [
                {"@type": "x.QuotaFailure", "violations": [{"quotaId": "RequestsPerDayPerModel", "quotaValue": "100"}]},
                {"@type": "x.RetryInfo", "retryDelay": "30s"},
            ],
        }
    },
    429,
)
SERVICES: dict[str, tuple[Respond, Play]] = {
    "openai": (Service("openai", {}), DAY),
    "gemini": (Service("gemini", {}), GEMINI_DAY),
    "comfyui": (Service("comfyui", {}), DAY),  # it has no quota itself; the gateway before it may
}
EACH = ["openai", *soak("gemini", "comfyui")]


def back_at(name: str) -> float:
    return next_pacific_midnight(time.time()) if name == "gemini" else time.time() + 5 * HOURS


def metered(name: str, left: int) -> Metered:
    return Metered(name, *SERVICES[name], left)


def require_paused(told: Told, project: Project, code: int, done: int) -> str:
    """The run's id. What is done stays, and the rest is as it was but for what was refused."""
    assert told.code == code, told.err
    [run] = project.query("SELECT * FROM run WHERE kind = 'batch'")
    assert (run["status"], run["exit_code"]) == ("paused", code)
    assert len(project.out()) == done
    return str(run["id"])


def require_told(text: str, expected: float) -> None:
    """One line says when the quota is back, by the clock on the user's wall, within two minutes."""
    [line] = [line for line in text.splitlines() if line.startswith("Paused: run ")]
    found = BACK_AT.search(line)
    assert found, line
    assert abs(datetime.strptime(found[1], "%Y-%m-%d %H:%M").timestamp() - expected) <= 120


@pytest.mark.parametrize("name", EACH)
def test_a_day_quota_in_the_middle(tmp_path: Path, name: str) -> None:
    """After five pictures the run is paused, exit 6, and says when the quota is back; only what was in flight is
    refused beside. Resumed when it is back, the run is completed, and no item was drawn twice."""
    service = metered(name, left=5)
    with RecordedServer(service) as server:
        project = over(tmp_path, server, name)
        told = project.batch("-n", "4")
        run = require_paused(told, project, 6, done=5)
        require_told(told.out, back_at(name))
        assert 1 <= service.refused <= 4
        service.left = ITEMS
        again = project.run("runs", "resume", run)
        assert again.code == 0, again.err
    assert sorted(service.made) == list(range(1, ITEMS + 1))
    assert len(project.out()) == ITEMS


@pytest.mark.parametrize("name", EACH)
def test_a_day_quota_at_once(tmp_path: Path, name: str) -> None:
    """One call, and nothing is done: exit 4. With --json the time is in the failed item's error, in the run's own, and
    in the line on stderr; stdout is one document."""
    service = metered(name, left=0)
    with RecordedServer(service) as server:
        project = over(tmp_path, server, name)
        told = project.batch("-n", "4", "--json")
    run = require_paused(told, project, 4, done=0)
    require_told(told.err, back_at(name))
    [failed] = [entry for entry in told.document["items"] if entry["status"] == "failed"]
    assert failed["error"].startswith("provider_quota: ")
    assert BACK_AT.search(failed["error"])
    assert BACK_AT.search(project.shown("runs", "show", run)["run"]["error"])
    assert (service.refused, service.made) == (1, [])


def test_a_quota_of_agy_in_the_middle(tmp_path: Path) -> None:
    """It hides in the prose of a success. The run is paused and says the time; resumed, nothing is asked for twice."""
    script = tmp_path / "script"
    script.write_text("ok ok ok quota_prose")
    project = over_agy(tmp_path, STUB_AGY_SCRIPT=str(script))
    told = project.batch("-n", "4")
    run = require_paused(told, project, 6, done=3)
    require_told(told.out, time.time() + 2 * HOURS + 20 * 60)
    refused = asked_of_agy(project)[-1]
    assert len(asked_of_agy(project)) == 4
    script.write_text("ok")
    again = project.run("runs", "resume", run)
    assert again.code == 0, again.err
    asked = asked_of_agy(project)
    asked.remove(refused)
    assert sorted(asked) == list(range(1, ITEMS + 1))


def asked_of_agy(project: Project) -> list[int]:
    lines = (project.root.parent / "home" / "log").read_text().splitlines()
    return [item_of(" ".join(json.loads(line)["argv"]).encode()) for line in lines]


def test_a_wait_that_no_call_keeps_is_a_quota() -> None:
    """Up to two minutes are waited for; beyond that every item would wait alike, so the run is paused with the time."""
    assert isinstance(by_status("x", 429, "slow", wait_s=120), ProviderRateLimited)
    found = by_status("x", 429, "slow", wait_s=121)
    assert isinstance(found, ProviderQuota)
    assert found.resets_at is not None
    assert abs(found.resets_at - time.time() - 121) < 60


def test_a_reset_is_told_to_the_next_minute_and_in_the_local_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody who comes back then comes early. Where no time is known, or none that a calendar has, none is told."""
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        assert str(ProviderQuota("x: used up", resets_at=1_796_036_401)) == "x: used up; back at 2026-11-30 16:31 IST"
        assert str(ProviderQuota("x: used up", resets_at=1_796_036_400)) == "x: used up; back at 2026-11-30 16:30 IST"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert str(ProviderQuota("x: used up")) == "x: used up"
    assert [str(ProviderQuota("x", resets_at=at)) for at in (1e30, float("nan"), float("inf"))] == ["x"] * 3


# A bad key, and a refusal

BAD_KEY = {
    "openai": answer({"error": {"message": "Incorrect API key.", "code": "invalid_api_key"}}, 401),
    "gemini": answer({"error": {"message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}, 400),
    "comfyui": answer({"error": "unauthorized"}, 401),
}
REFUSAL = {
    "openai": answer({"error": {"message": "no", "code": "moderation_blocked"}}, 400),
    "gemini": answer({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
}


@pytest.mark.parametrize("name", EACH)
def test_a_bad_key_is_told_once(tmp_path: Path, name: str) -> None:
    """Twelve items, four at once: one call, the run is paused, exit 4."""
    service = Metered(name, SERVICES[name][0], BAD_KEY[name], left=0)
    with RecordedServer(service) as server:
        project = over(tmp_path, server, name)
        told = project.batch("-n", "4")
    require_paused(told, project, 4, done=0)
    assert "(11 pending, 1 failed): provider_auth: " in told.out
    assert service.refused == 1


def test_an_agy_that_is_not_signed_in_is_told_once(tmp_path: Path) -> None:
    """One call, exit 4."""
    project = over_agy(tmp_path, STUB_AGY_CASE="auth")
    told = project.batch("-n", "4")
    require_paused(told, project, 4, done=0)
    assert "provider_auth: antigravity: agy is not signed in" in told.out
    assert len(asked_of_agy(project)) == 1


@pytest.mark.parametrize("name", ["openai", *soak("gemini")])
def test_a_refusal_fails_one_of_twelve(tmp_path: Path, name: str) -> None:
    """The others are made, it is not tried again, exit 6."""
    with RecordedServer(Service(name, {"Lesson 5": REFUSAL[name]})) as server:
        project = over(tmp_path, server, name)
        told = project.batch("-n", "4", "--json")
        assert len(server.requests) == ITEMS
    require_one_refused(told)


def test_a_refusal_of_agy_fails_one_of_twelve(tmp_path: Path) -> None:
    """It too comes as a success without a picture."""
    script = tmp_path / "script"
    script.write_text("ok ok refused ok")
    project = over_agy(tmp_path, STUB_AGY_SCRIPT=str(script))
    told = project.batch("-n", "4", "--json")
    require_one_refused(told)
    assert sorted(asked_of_agy(project)) == list(range(1, ITEMS + 1))


def require_one_refused(told: Told) -> None:
    assert told.code == 6, told.err
    [failed] = [entry for entry in told.document["items"] if entry["status"] != "completed"]
    assert failed["error"].startswith("provider_refused: ")


# Ctrl-C


def test_ctrl_c_with_calls_and_children_in_flight(tmp_path: Path) -> None:
    """Two batches of one project at once, four calls of one and two child processes of the other in flight: all
    sockets are closed and no process is left, neither a child nor what it had started; both runs are paused, 130."""
    home = tmp_path / "home"
    with RecordedServer(in_turn(stalled())) as server:
        paid = over(tmp_path, server, "openai", count=8)
        project = paid.with_environment(**agy_in(home), STUB_AGY_CASE="hang")
        binary = {"binary": str(home / "agy")}
        project.profile("agy", provider="antigravity", params=binary, max_concurrency=2)
        project.playlist([item(n) for n in range(21, 25)], "other")
        project.series("other", playlist="other", provider="agy")
        batches = [project.start("batch", f"series={name}", "-n", "4") for name in ("show", "other")]
        wait_until(lambda: server.open == 4 and len(children(home)) == 2)
        assert all(group_alive(pid) for pid in children(home))
        for batch in batches:
            batch.send_signal(signal.SIGINT)
        wait_until(lambda: all(batch.poll() is not None for batch in batches), timeout_s=5)
        wait_until(lambda: server.open == 0 and not any(map(group_alive, children(home))), timeout_s=5)
        told = [finish(batch) for batch in batches]
        assert (len(server.requests), len(children(home))) == (4, 2)
    assert [each.code for each in told] == [130, 130], [each.err for each in told]
    assert all("Interrupted: run " in each.out for each in told)
    states = project.query("SELECT status, exit_code FROM run WHERE kind = 'batch'")
    assert [tuple(row) for row in states] == [("paused", 130)] * 2
    assert project.count("lease") == 0


def children(home: Path) -> list[int]:
    """Process ids of the calls that agy's stand-in began; each leads a group of its own."""
    log = home / "log"
    return [json.loads(line)["pid"] for line in log.read_text().splitlines()] if log.exists() else []
