"""The door of projects made by 0.1.0: their dodo.py imports `thumbforge.build.dodo`, now `thumbforge.tasks.dodo`."""

import sys

from thumbforge.tasks import dodo

sys.modules[f"{__name__}.dodo"] = dodo
