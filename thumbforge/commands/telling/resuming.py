"""Going on with a run, for `runs resume` and `batch --resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thumbforge.commands.verbs import Arguments
    from thumbforge.planning.project import Project


def resume(project: Project, prefix: str, arguments: Arguments) -> int:
    """The run whose id begins with `prefix`, from its own plan; its exit code."""
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.running import configure_logging, make_and_tell
    from thumbforge.making.executor import Placement
    from thumbforge.making.resume import plan_resume
    from thumbforge.tasks.session import Session, start, tell_cost

    as_json = arguments.as_json
    configure_logging(project, as_json=as_json)
    resumption = plan_resume(project, prefix, arguments.vars, arguments.options["max-cost"])
    planned = resumption.planned
    if planned.kind == "batch" and not as_json:
        tell_cost(planned, planned.rows)
    if resumption.planned.kind != "batch":
        from thumbforge.commands.telling.candidates import make

        return make(project, resumption.planned, arguments, resumption)
    placement = Placement.of(project.settings, arguments.options["executor"], arguments.options["scheduler"])
    session = start(Session(project, Cancel(), resumption=resumption, placement=placement))
    return make_and_tell(session, resumption.planned, resumption.planned.rows, arguments)
