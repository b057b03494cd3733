"""The provider `antigravity` against a stand-in for `agy`: the contract, each outcome, one call at a time."""

from __future__ import annotations

import stat
import sys
import time
from pathlib import Path
from typing import ClassVar

import pytest

from tests.recorded_server import painted
from tests.stubs.antigravity_kit import STUB, Agy, call_in, failed, require_gone, tried
from thumbforge import models
from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    ProviderAuth,
    ProviderError,
    ProviderQuota,
    ProviderRateLimited,
    ProviderRefused,
    ProviderSetup,
    ProviderTimeout,
    ProviderTransient,
)
from thumbforge.pixels.picture import inspect
from thumbforge.providers.antigravity import adapter as antigravity
from thumbforge.providers.antigravity.adapter import AntigravityProvider
from thumbforge.providers.antigravity.outcome import quota
from thumbforge.testing import ProviderContract, a_request


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    sizes = {"wide": (1376, 768), "square": (1024, 1024), "odd": (1264, 848), "other": (1376, 768)}
    for name, size in sizes.items():
        (folder / f"{name}.jpg").write_bytes(painted(name, size=size, kind="JPEG"))
    (folder / "wide.png").write_bytes(painted("wide", size=(1376, 768)))
    return folder


@pytest.fixture
def agy(tmp_path: Path, pictures: Path, monkeypatch: pytest.MonkeyPatch) -> Agy:
    home = tmp_path / "home"
    home.mkdir()
    program = home / "agy"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{STUB}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("STUB_AGY_LOG", str(home / "agy.jsonl"))
    monkeypatch.setenv("STUB_AGY_PICTURES", str(pictures))
    monkeypatch.setattr(antigravity, "GRACE_S", 1.0)
    return Agy(home, pictures, str(program), monkeypatch.setenv)


class TestContract(ProviderContract):
    wrong_params: ClassVar = {"binary": "", "effort": "huge", "skip_permissions": "yes", "modell": "x"}
    deterministic = False
    tells_videos_apart = False
    cancelled_at = 1

    @pytest.fixture(autouse=True)
    def service(self, agy: Agy) -> None:
        type(self).profile = models.Profile(name="agy", provider="antigravity", params={"binary": agy.binary})
        return


# Pictures


@pytest.mark.parametrize(
    ("case", "size"),
    [
        ("ok", (1376, 768)),
        ("ok_square", (1024, 1024)),
        ("ok_odd", (1264, 848)),
        ("ok_noise", (1376, 768)),
        ("huge", (1376, 768)),
    ],
)
def test_a_picture_is_found_by_its_conversation(agy: Agy, tmp_path: Path, case: str, size: tuple[int, int]) -> None:
    """Whatever the prose says, however long it is, and whatever shape comes back."""
    agy.plays(case)
    found = agy.provider().generate(a_request(), call_in(tmp_path))
    info = inspect(found.data)
    assert (found.media_type, info.media_type, (info.width, info.height)) == ("image/jpeg", "image/jpeg", size)
    assert found.notes["agy"] == "1.2.6"
    assert found.tokens == 67200
    assert (agy.brain / found.notes["conversation"]).is_dir()


def test_the_newest_of_two_pictures_is_taken(agy: Agy, tmp_path: Path) -> None:
    """By the milliseconds in its name, not by its words; that there were two is written down."""
    agy.plays("ok_two")
    found = agy.provider().generate(a_request(), call_in(tmp_path))
    assert found.data == (agy.pictures / "wide.jpg").read_bytes()
    assert found.notes["pictures"] == 2


def test_the_kind_is_told_by_content(agy: Agy, tmp_path: Path) -> None:
    """A PNG named .jpg is a PNG."""
    agy.plays("png_named_jpg")
    assert agy.provider().generate(a_request(), call_in(tmp_path)).media_type == "image/png"


def test_the_original_stays_where_it_is(agy: Agy, tmp_path: Path) -> None:
    """It is copied, never moved: agy's home is not ours."""
    agy.provider().generate(a_request(), call_in(tmp_path))
    assert len(list(agy.brain.glob("*/*.jpg"))) == 1


def test_one_that_answered_and_never_ended_is_used(agy: Agy, tmp_path: Path) -> None:
    """agy does not always exit after its answer; it is stopped and the picture taken."""
    agy.plays("answered_then_hang")
    assert agy.provider().generate(a_request(), call_in(tmp_path, timeout_s=1)).data
    require_gone(agy.calls()[-1]["pid"])


# The table of outcomes


@pytest.mark.parametrize(
    ("case", "error", "says"),
    [
        ("ok_scratch_only", OutputMissing, "SUCCESS without a picture"),
        ("symlink_out", OutputMissing, "SUCCESS without a picture"),
        ("old_file", OutputMissing, "SUCCESS without a picture"),
        ("bad_id", OutputMissing, "SUCCESS without a picture"),
        ("no_id", OutputMissing, "SUCCESS without a picture"),
        ("corrupt", OutputUnusable, "text"),
        ("timeout_silent", ProviderTimeout, "nothing happened"),
        ("quota_prose", ProviderQuota, "exhausted your capacity"),
        ("quota_soon", ProviderRateLimited, "resets in 45s"),
        ("quota_error", ProviderQuota, "Resets in 76h3m46s"),
        ("quota_exit3", ProviderRateLimited, "no more"),
        ("api_exit3", ProviderTransient, "no more"),
        ("denied", OutputMissing, "permission"),
        ("no_image_text", OutputMissing, "I can't create that."),
        ("refused", ProviderRefused, "IMAGE_SAFETY"),
        ("missing_ref", OutputMissing, "failed to read image file"),
        ("bad_model", ProviderSetup, "invalid model selection"),
        ("auth", ProviderAuth, "not signed in"),
        ("verify", ProviderAuth, "verified"),
        ("canceled", ProviderTransient, "CANCELED"),
        ("interrupted", ProviderTransient, "INTERRUPTED"),
        ("invalid", ProviderError, "INVALID"),
        ("waiting", ProviderError, "WAITING"),
        ("running", ProviderError, "RUNNING"),
        ("empty", ProviderError, "nothing instead of an answer"),
        ("garbage", ProviderError, "text instead of an answer"),
        ("json_list", ProviderError, "JSON instead of an answer"),
        ("lost_output_two", ProviderError, "nothing instead of an answer"),
        ("denied_prose", OutputMissing, "a tool was denied a permission"),
        ("killed", ProviderError, "killed by signal 9 (memory?)"),
    ],
)
def test_an_outcome_is_what_the_table_says(
    agy: Agy, tmp_path: Path, case: str, error: type[ProviderError], says: str
) -> None:
    """Most failures exit 0; each is told apart, and none is a picture."""
    found = failed(agy, tmp_path, case)
    assert type(found) is error
    assert says in found.message
    assert found.retryable is (isinstance(found, ProviderTransient) or case == "corrupt")
    assert found.meets_every_item is isinstance(found, (ProviderAuth, ProviderQuota, ProviderSetup))


@pytest.mark.parametrize("case", ["timeout_empty", "timeout_partial"])
def test_a_timeout_that_looks_like_success_is_one(agy: Agy, tmp_path: Path, case: str) -> None:
    """agy says SUCCESS and exits 0; the line on stderr is the sign."""
    assert type(failed(agy, tmp_path, case, timeout_s=1)) is ProviderTimeout


def test_one_that_never_ends_is_stopped_with_its_children(agy: Agy, tmp_path: Path) -> None:
    """After its own time and a grace."""
    assert type(failed(agy, tmp_path, "hang", timeout_s=1)) is ProviderTimeout
    require_gone(agy.calls()[-1]["pid"])


def test_a_picture_that_is_none_is_tried_once_more(agy: Agy, tmp_path: Path) -> None:
    """A corrupt file may be an accident; two are not."""
    agy.plays("corrupt", "ok")
    assert tried(agy.provider(), tmp_path).calls == 2
    agy.plays("corrupt")
    before = len(agy.calls())
    with pytest.raises(OutputUnusable):
        tried(agy.provider(), tmp_path)
    assert len(agy.calls()) - before == 2


def test_two_late_calls_are_followed_by_a_look_at_the_quota(agy: Agy, tmp_path: Path) -> None:
    """agy retries a full quota inside itself, where it looks like a time-out: a third call would wait in vain."""
    agy.plays("timeout_silent")
    agy.setenv("STUB_AGY_LEFT", "0")
    with pytest.raises(ProviderRateLimited, match="nothing is left"):
        tried(agy.provider(), tmp_path)
    assert len(agy.calls()) == 2
    agy.setenv("STUB_AGY_LEFT", "0.5")
    agy.plays("timeout_silent", "timeout_silent", "ok")
    assert tried(agy.provider(), tmp_path).calls == 3


@pytest.mark.parametrize(
    ("words", "wait_s"),
    [("429", None), ("resets in 2 minutes", 120), ("Resets in 0h1m5s", 65), ("please wait", None)],
)
def test_a_near_reset_is_waited_for(words: str, wait_s: float | None) -> None:
    """Or one of which nothing is known."""
    found = quota(words)
    assert isinstance(found, ProviderRateLimited)
    assert found.retry_after_s == wait_s


def test_a_far_reset_stops_the_run_and_says_when() -> None:
    """Nobody waits for two hours and twenty minutes."""
    before = time.time()
    found = quota("It resets in approximately 2 hours and 20 minutes.")
    assert isinstance(found, ProviderQuota)
    assert found.resets_at is not None
    assert before + 8400 <= found.resets_at <= time.time() + 8400


def test_there_is_no_agy(tmp_path: Path) -> None:
    """With what to do about it."""
    with pytest.raises(ProviderSetup, match="there is no program agy-of-nobody") as caught:
        AntigravityProvider({"binary": "agy-of-nobody"}).generate(a_request(), call_in(tmp_path))
    assert "install" in caught.value.hint


@pytest.mark.parametrize("case", ["lost_output", "two_lines"])
def test_a_fresh_picture_counts_although_the_output_was_lost(agy: Agy, tmp_path: Path, case: str) -> None:
    """The quota is spent, and exactly one conversation is new: the file is the proof."""
    agy.plays(case)
    found = agy.provider().generate(a_request(), call_in(tmp_path))
    assert found.media_type == "image/jpeg"
    assert (agy.brain / found.notes["conversation"]).is_dir()


def test_a_picture_without_an_answer_is_nobodys_while_several_calls_run(agy: Agy, tmp_path: Path) -> None:
    """It could be the other's."""
    provider = agy.provider()
    with provider._counted():
        agy.plays("lost_output")
        with pytest.raises(ProviderError, match="nothing instead of an answer"):
            provider.generate(a_request(), call_in(tmp_path))


def test_only_an_old_version_is_told_to_be_one(agy: Agy, tmp_path: Path) -> None:
    """Output that is no answer has other causes, too."""
    assert ">= 1.1.8" not in failed(agy, tmp_path, "garbage").hint
    agy.setenv("STUB_AGY_VERSION", "1.1.7")
    assert ">= 1.1.8" in failed(agy, tmp_path, "garbage").hint
