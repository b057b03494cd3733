"""An executor that paints and draws nothing: every picture is a copy of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from thumbforge import models
from thumbforge.imaging.finalise import Drawing
from thumbforge.imaging.rules import Report
from thumbforge.making.executor import Placement
from thumbforge.making.threads import Executor, InThreads
from thumbforge.pixels.picture import PictureInfo, inspect
from thumbforge.providers.base import Answer, Call, Provider, Request
from thumbforge.providers.registry import load_provider


@dataclass(frozen=True, slots=True)
class Copied(Placement):
    """Where a batch finds this executor."""

    picture: bytes = b""

    def executor(self, pictures: int) -> Executor:
        return Copies(self.picture)


class Copies(InThreads):
    def __init__(self, picture: bytes) -> None:
        super().__init__()
        self._picture, self._info = picture, inspect(picture)

    def painter(self, profile: models.Profile) -> Provider:
        return _Painter(Answer(self._picture, self._info.media_type), load_provider(profile))

    def inspect(self, data: bytes, width: int, height: int) -> tuple[PictureInfo, tuple[str, ...]]:
        return self._info, ()

    def finalise(
        self, art: Path, layout: models.Layout, drawing: Drawing, output: models.Output, target: Path
    ) -> Report:
        target.write_bytes(self._picture)
        return Report((), self._info.width, self._info.height, len(self._picture), self._info.media_type)


class _Painter:
    def __init__(self, answer: Answer, provider: Provider) -> None:
        self.key, self.capabilities, self._answer = provider.key, provider.capabilities, answer

    def generate(self, request: Request, call: Call) -> Answer:
        return self._answer
