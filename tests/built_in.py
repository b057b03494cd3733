"""The templates that ship with thumbforge, by the version of the language that they are written in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from thumbforge import models
from thumbforge.specs.layered import is_layered

FOLDER = Path(models.__file__).parent / "specs" / "builtin" / "templates"


def _layered(path: Path) -> bool:
    data: dict[str, Any] = yaml.safe_load(path.read_text("utf-8"))
    return is_layered(data)


FIRST = tuple(path for path in sorted(FOLDER.glob("*.yaml")) if not _layered(path))
LAYERED = tuple(path.stem for path in sorted(FOLDER.glob("*.yaml")) if _layered(path))
