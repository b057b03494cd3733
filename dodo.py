"""The tasks of this project: `doit list --all -s`, `doit info thumb:…`, `doit`, `doit batch playlist=… hero=…`."""

from thumbforge.tasks.dodo import DOIT_CONFIG, task_sheet, task_thumb

__all__ = ["DOIT_CONFIG", "task_sheet", "task_thumb"]
