"""Going on with a run, for `runs resume` and `batch --resume`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from thumbforge import log

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.planning.project import Project


def resume(project: Project, prefix: str, arguments: Arguments) -> int:
    """The run whose id begins with `prefix`, from its own plan; its exit code."""
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import configure_logging, make_and_tell
    from thumbforge.making.executor import Placement
    from thumbforge.making.resume import plan_resume
    from thumbforge.planning.prices import estimate
    from thumbforge.tasks.session import Session, start

    as_json = arguments.as_json
    configure_logging(project, as_json=as_json)
    resumption = plan_resume(project, prefix, arguments.vars, arguments.options["max-cost"])
    profile, calls = resumption.planned.series.profile, sum(row.calls for row in resumption.planned.rows)
    if profile.price and calls and not as_json and not log.is_quiet():
        sys.stderr.write(f"{estimate(profile, calls)}, {resumption.planned.spent} spent before\n")
    if resumption.planned.kind != "batch":
        from thumbforge.commands.telling.candidates import make

        return make(project, resumption.planned, arguments, resumption)
    placement = Placement.of(project.settings, arguments.options["executor"], arguments.options["scheduler"])
    session = start(Session(project, Cancel(), resumption=resumption, placement=placement))
    return make_and_tell(session, resumption.planned, resumption.planned.rows, arguments)
