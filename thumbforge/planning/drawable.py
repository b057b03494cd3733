"""What would fail a drawing and can be known before a call is paid for: every way to a run passes here, and `check`."""

from __future__ import annotations

from collections.abc import Iterable

from thumbforge.errors import SpecError
from thumbforge.planning.layout_check import font_file_problems, layout_problems_of
from thumbforge.planning.picture_check import picture_problems
from thumbforge.planning.plan import Row
from thumbforge.planning.reference import check_hero
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import at_template_lines, in_spec
from thumbforge.planning.wanted import Wanted, wanted_items
from thumbforge.providers.registry import capabilities_of

HINT = "correct these lines; thumbforge check tells of all series at once"


def check_drawable(series: Series, rows: Iterable[Row]) -> None:
    """Raises SpecError, with each place in the specs, for fonts, layouts and pictures that these rows would need and
    that cannot be drawn with. Nothing is checked where nothing is to be drawn."""
    _check(series, [row.wanted for row in rows if row.action != "skip"])


def check_series(series: Series) -> None:
    """The same for all items, whether they are done or not, with all that a plan would refuse. Raises what a batch of
    a series of which nothing is made would raise."""
    with at_template_lines(series.root, series.template.name):
        wanted = wanted_items(series, capabilities_of(series.profile), series.hero.as_reference())
    require_items(series, wanted)
    check_hero(series.hero)
    _check(series, wanted)


def require_items(series: Series, found: Iterable[object]) -> None:
    """Raises SpecError for a playlist that nothing is to be made of."""
    if not any(True for _ in found):
        raise SpecError(
            [in_spec(series.root, "playlists", series.playlist_name, ("items",), "the playlist has no items")],
            hint="thumbforge fetch brings a list; an item that is `removed` gets no picture",
        )


def _check(series: Series, wanted: Iterable[Wanted]) -> None:
    drawn = list(wanted)
    if not drawn:
        return
    problems = [*layout_problems_of(series), *font_file_problems(series), *picture_problems(series, drawn)]
    if problems:
        raise SpecError(problems, hint=HINT)
