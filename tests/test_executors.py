"""What every executor promises: a picture made in threads, in processes or on a Dask cluster is the same picture, and
what fails there fails as it would here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from tests.test_dask import Cluster
from thumbforge import models
from thumbforge.cancel import Cancel
from thumbforge.errors import Interrupted, PictureError, ProviderError, UsageError
from thumbforge.imaging.finalise import Drawing, finalise
from thumbforge.making.cluster import OnCluster
from thumbforge.making.pool import InProcesses
from thumbforge.making.threads import Executor, InThreads, inspect
from thumbforge.providers.registry import load_provider
from thumbforge.testing import a_call, a_reference, a_request

LOCAL = models.Profile(name="local", provider="local")
FAKE = models.Profile(name="fake", provider="fake")
LAYOUT = models.Layout.model_validate({"title": {"box": {"x": 64, "y": 120, "w": 700, "h": 420}}})
HD = models.Output(width=1280, height=720)


class ExecutorContract:
    @pytest.fixture
    def executor(self) -> Iterator[Executor]:
        raise NotImplementedError

    def test_a_picture_is_the_one_that_the_provider_makes(self, executor: Executor, tmp_path: Path) -> None:
        """Byte for byte, with the same capabilities."""
        painter, provider = executor.painter(LOCAL), load_provider(LOCAL)
        request = a_request(a_reference(tmp_path / "hero.png"))
        assert (painter.key, painter.capabilities) == (provider.key, provider.capabilities)
        found, wanted = painter.generate(request, a_call(tmp_path)), provider.generate(request, a_call(tmp_path))
        assert (found.data, found.media_type) == (wanted.data, wanted.media_type)

    def test_a_drawing_is_the_one_that_is_drawn_here(self, executor: Executor, tmp_path: Path) -> None:
        """The same bytes in the file, and the same report."""
        art = tmp_path / "art.png"
        Image.linear_gradient("L").resize((1280, 720)).convert("RGB").save(art)
        drawing = Drawing("A *title* of two lines", 7)
        told = executor.finalise(art, LAYOUT, drawing, HD, tmp_path / "there.jpg")
        assert told == finalise(art, LAYOUT, drawing, HD, tmp_path / "here.jpg")
        assert (tmp_path / "there.jpg").read_bytes() == (tmp_path / "here.jpg").read_bytes()

    def test_art_is_judged_as_here(self, executor: Executor, tmp_path: Path) -> None:
        """What it is, what is odd about it, and what is none."""
        Image.linear_gradient("L").resize((640, 640)).convert("RGB").save(tmp_path / "square.png")
        data = (tmp_path / "square.png").read_bytes()
        assert executor.inspect(data, 1280, 720) == inspect(data, 1280, 720)
        with pytest.raises(PictureError) as caught:
            executor.inspect(b"<html>", 1280, 720)
        with pytest.raises(PictureError, match="HTML") as wanted:
            inspect(b"<html>", 1280, 720)
        assert (caught.value.message, caught.value.hint) == (wanted.value.message, wanted.value.hint)

    @pytest.mark.parametrize(("word", "retryable"), [("[[FAIL_TRANSIENT]]", True), ("[[FAIL_PERMANENT]]", False)])
    def test_a_failure_is_the_providers_own(
        self, executor: Executor, tmp_path: Path, word: str, retryable: bool
    ) -> None:
        """With its code, its words and whether it may be tried again."""
        errors = []
        for provider in (executor.painter(FAKE), load_provider(FAKE)):
            with pytest.raises(ProviderError) as caught:
                provider.generate(a_request(prompt=word), a_call(tmp_path))
            errors.append(caught.value)
        there, here = errors
        assert (type(there), there.code, there.message, there.hint) == (type(here), here.code, here.message, here.hint)
        assert there.retryable is retryable

    def test_a_call_that_is_cancelled_is_not_begun(self, executor: Executor, tmp_path: Path) -> None:
        """Wherever it would have been made."""
        cancel = Cancel()
        cancel.set()
        with pytest.raises(Interrupted):
            executor.painter(FAKE).generate(a_request(), a_call(tmp_path, cancel))

    def test_a_profile_that_cannot_be_is_refused_before_anything_is_made(self, executor: Executor) -> None:
        """As `load_provider` refuses it."""
        with pytest.raises(UsageError, match="lok"):
            executor.painter(models.Profile(name="x", provider="local", params={"lok": "card"}))

    def test_it_can_be_closed_twice(self, executor: Executor) -> None:
        """A run that ends in a hurry does."""
        executor.close()
        executor.close()


class TestThreads(ExecutorContract):
    @pytest.fixture
    def executor(self) -> Iterator[Executor]:
        found = InThreads()
        yield found
        found.close()


class TestProcesses(ExecutorContract):
    @pytest.fixture
    def executor(self) -> Iterator[Executor]:
        found = InProcesses(1)
        yield found
        found.close()


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    found = Cluster.begin(tmp_path_factory.mktemp("dask"), 1)
    yield found
    found.end()


class TestDask(ExecutorContract):
    @pytest.fixture
    def executor(self, workers: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Executor]:
        monkeypatch.setattr("thumbforge.making.cluster.CONNECT_S", 60)
        found = OnCluster(workers.address)
        yield found
        found.close()
