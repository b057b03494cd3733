"""What every provider promises, as tests that anybody's provider can run; needs pytest.

class TestMine(ProviderContract):
    profile = models.Profile(name="mine", provider="mine")
    wrong_params = {"size": "huge", "sped": 3}

docs/providers/your-own.md says how a provider is written and how its service is played.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from PIL import Image

from thumbforge import ids, models
from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, UsageError
from thumbforge.providers.base import READABLE, Answer, Call, Provider, Reference, Request
from thumbforge.providers.registry import load_provider

ATTEMPT = "0b7a4c3e-5a7d-5c1e-9d55-3d0f0f7f2a11"


def a_reference(path: Path, subject: tuple[int, int, int, int] = (190, 40, 280, 150)) -> Reference:
    """A hero file with a bright block on the right, recorded as the ledger would."""
    picture = Image.new("RGB", (320, 180), "#203050")
    picture.paste("#c06030", subject)
    picture.save(path, "PNG")
    return Reference(hashlib.sha256(path.read_bytes()).hexdigest(), path, "image/png")


def a_request(reference: Reference | None = None, **changes: Any) -> Request:
    plain = Request(
        prompt="a calm picture",
        negative_prompt=None,
        width=640,
        height=360,
        seed=None,
        reference=reference,
        video="dQw4w9WgXcQ",
    )
    return replace(plain, **changes)


def a_call(scratch: Path, cancel: Cancel | None = None) -> Call:
    return Call(cancel or Cancel(), timeout_s=60, key="k" * 32, attempt_id=ATTEMPT, scratch=scratch)


class CancelledAfter(Cancel):
    """Says stop once it has been asked `asked` times: a Ctrl-C in the middle of a picture, without a clock."""

    def __init__(self, asked: int) -> None:
        super().__init__()
        self.left = asked

    def check(self) -> None:
        self._count()
        super().check()

    def wait(self, seconds: float) -> None:
        self._count()
        super().wait(seconds)

    def _count(self) -> None:
        if self.left == 0:
            self.set()
        self.left -= 1


class ProviderContract:
    profile: ClassVar[models.Profile]
    wrong_params: ClassVar[Mapping[str, Any]]
    """At least two parameters that are unknown or wrong; the message must name each."""

    deterministic = True
    """The same request gives the same bytes."""

    tells_videos_apart = True
    """Another video or take gives other bytes for the same words; False for a service that is not told of them."""

    cancelled_at = 0
    """How often the provider asks whether to go on, before the ask at which the test cancels;
    negative where the provider waits in other ways."""

    @pytest.fixture
    def provider(self) -> Provider:
        return load_provider(self.profile)

    @pytest.fixture
    def reference(self, tmp_path: Path) -> Reference:
        return a_reference(tmp_path / "hero.png")

    def other_values(self, tmp_path: Path) -> dict[str, Any]:
        """For each readable field a value other than that of `a_request`."""
        return {
            "prompt": "a lively picture",
            "negative_prompt": "rain",
            "width": 704,
            "height": 396,
            "seed": 7,
            "reference": a_reference(tmp_path / "other.png", (210, 60, 250, 170)),
        }

    def test_its_name_is_that_of_its_profile(self, provider: Provider) -> None:
        """A provider's key is the name it is registered under."""
        assert provider.key == self.profile.provider

    def test_its_capabilities_make_sense(self, provider: Provider) -> None:
        """A provider reads only what a request has, and runs between one call and its hard limit at once."""
        own = provider.capabilities
        assert own.reads <= READABLE
        assert 1 <= own.max_concurrency <= own.hard_limit

    def test_the_art_key_is_made_of_what_it_reads(self, provider: Provider, reference: Reference) -> None:
        """The art key lists exactly the declared fields, beside the profile, the video and the take."""
        fields = a_request(reference).art_fields(self.profile.id, provider.capabilities.reads)
        assert set(fields) == {"profile", "video", "take", "reads"}
        assert set(fields["reads"]) == provider.capabilities.reads

    @pytest.mark.parametrize("size", [(640, 360), (1280, 720)])
    def test_it_returns_a_picture_of_the_asked_shape(
        self, provider: Provider, reference: Reference, tmp_path: Path, size: tuple[int, int]
    ) -> None:
        """The answer decodes, is of the type it says, is not one flat colour, and is about as wide for its height."""
        answer = provider.generate(a_request(reference, width=size[0], height=size[1]), a_call(tmp_path))
        with Image.open(io.BytesIO(answer.data)) as picture:
            picture.load()
            assert Image.MIME[picture.format or ""] == answer.media_type
            assert picture.width / picture.height == pytest.approx(size[0] / size[1], rel=0.05)
            levels = picture.convert("L").tobytes()
            assert max(levels) - min(levels) > 40

    def test_it_paints_without_a_reference(self, provider: Provider, tmp_path: Path) -> None:
        """A request without a hero gives a picture too."""
        assert provider.generate(a_request(), a_call(tmp_path)).data

    def test_the_same_request_gives_the_same_bytes(
        self, provider: Provider, reference: Reference, tmp_path: Path
    ) -> None:
        """A provider that claims to be deterministic is so, also when it is set up anew."""
        if not self.deterministic:
            pytest.skip("makes no such claim")
        request, call = a_request(reference), a_call(tmp_path)
        assert provider.generate(request, call) == load_provider(self.profile).generate(request, call)

    @pytest.mark.parametrize("field", sorted(READABLE))
    def test_only_what_it_reads_changes_the_picture(
        self, provider: Provider, reference: Reference, tmp_path: Path, field: str
    ) -> None:
        """A declared field changes the picture; one that is not declared never does, so it may cost no repaint."""
        if not self.deterministic:
            pytest.skip("every picture is another one")
        request = a_request(reference)
        changed = replace(request, **{field: self.other_values(tmp_path)[field]})
        one, other = (provider.generate(each, a_call(tmp_path)).data for each in (request, changed))
        assert (one != other) == (field in provider.capabilities.reads)

    @pytest.mark.parametrize("change", [{"video": "aaaaaaaaaaa"}, {"take": 2}])
    def test_each_video_and_take_has_a_picture_of_its_own(
        self, provider: Provider, reference: Reference, tmp_path: Path, change: dict[str, Any]
    ) -> None:
        """Another video or another take of the same video is another picture."""
        if not self.tells_videos_apart:
            pytest.skip("the service is not told which video it is")
        request = a_request(reference)
        one, other = (provider.generate(each, a_call(tmp_path)).data for each in (request, replace(request, **change)))
        assert one != other

    def test_a_cancelled_run_makes_no_picture(self, provider: Provider, reference: Reference, tmp_path: Path) -> None:
        """A call that begins after Ctrl-C raises Interrupted."""
        cancel = Cancel()
        cancel.set()
        with pytest.raises(Interrupted):
            provider.generate(a_request(reference), a_call(tmp_path, cancel))

    def test_a_call_in_flight_stops(self, provider: Provider, reference: Reference, tmp_path: Path) -> None:
        """A call that is cancelled in the middle raises Interrupted instead of finishing."""
        if self.cancelled_at < 0:
            pytest.skip("tested with a service that does not answer")
        with pytest.raises(Interrupted):
            provider.generate(a_request(reference), a_call(tmp_path, CancelledAfter(self.cancelled_at)))

    def test_it_is_safe_from_several_threads(self, provider: Provider, reference: Reference, tmp_path: Path) -> None:
        """Pictures made at the same time are the pictures made one after the other."""
        if not self.deterministic:
            pytest.skip("nothing to compare with")
        requests = [a_request(reference, video=f"video{number:06}") for number in range(6)] * 2
        with ThreadPoolExecutor(6) as pool:
            calls = [_apart(tmp_path / str(n)) for n in range(len(requests))]
            together = [answer.data for answer in pool.map(provider.generate, requests, calls)]
        alone = [load_provider(self.profile).generate(request, a_call(tmp_path)).data for request in requests[:6]]
        assert together == alone * 2

    def test_wrong_parameters_are_refused_together(self) -> None:
        """Every parameter that is unknown or wrong is named in one UsageError."""
        with pytest.raises(UsageError) as caught:
            load_provider(self.profile.model_copy(update={"params": dict(self.wrong_params)}))
        for name in self.wrong_params:
            assert name in caught.value.message
        assert caught.value.hint


def _apart(scratch: Path) -> Call:
    """The call of an attempt of its own, as each of several at the same time is."""
    scratch.mkdir()
    return replace(a_call(scratch), attempt_id=str(uuid.uuid4()))


def stops_in_flight(provider: Provider, request: Request, call: Call) -> bool:
    """Whether a call that is waiting raises Interrupted once the run is cancelled, in ten seconds on any machine."""
    stopped = threading.Event()

    def run() -> None:
        with pytest.raises(Interrupted):
            provider.generate(request, call)
        stopped.set()

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    call.cancel.set()
    return stopped.wait(10)


def same_in_another_process(profile: models.Profile, request: Request, answer: Answer) -> bool:
    """Whether a fresh interpreter with another hash seed makes the same bytes."""
    program = (
        "import hashlib, sys; from pathlib import Path; from thumbforge import models;"
        "from thumbforge.providers.base import *; from thumbforge.providers.registry import load_provider;"
        "profile = models.Profile.model_validate_json(sys.argv[1]); path = Path(sys.argv[2]);"
        "r = Reference(hashlib.sha256(path.read_bytes()).hexdigest(), path, 'image/png');"
        f"q = Request({request.prompt!r}, None, {request.width}, {request.height}, None, r, {request.video!r});"
        "a = load_provider(profile).generate(q, Call(Cancel(), 60, 'k', 'a', path.parent));"
        "print(hashlib.sha256(a.data).hexdigest())"
    )
    assert request.reference
    argv = [sys.executable, "-c", program, profile.model_dump_json(), str(request.reference.path)]
    root = Path(__file__).parents[1]  # where thumbforge is imported from
    env = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": str(root), "TZ": "Asia/Tokyo"}
    done = subprocess.run(argv, capture_output=True, text=True, env=env, check=True)  # noqa: S603 - our own program
    return done.stdout.strip() == ids.sha256_hex(answer.data)
