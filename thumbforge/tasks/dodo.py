"""What a dodo.py imports: the tasks, and the configuration that doit needs to run them well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from thumbforge import settings
from thumbforge.errors import ThumbforgeError
from thumbforge.tasks.checker import ContentChecker
from thumbforge.tasks.tasks import task_sheet, task_thumb


def _concurrency() -> int:
    """A wrong setting is reported when the tasks are made, where doit turns errors into one line."""
    try:
        return settings.load(Path.cwd()).integer("batch.concurrency")
    except ThumbforgeError:
        return 1


DOIT_CONFIG: dict[str, Any] = {
    "default_tasks": ["thumb", "sheet"],
    "continue": True,  # one bad item never stops the rest
    "par_type": "thread",  # results come from the ledger, and processes would need picklable tasks
    "num_process": _concurrency(),
    "backend": "thumbforge",
    "reporter": "thumbforge",
    "check_file_uptodate": ContentChecker,
    "sort": "definition",  # playlist order
}

__all__ = ["DOIT_CONFIG", "task_sheet", "task_thumb"]
