"""What would fail a drawing and can be known before a call is paid for: every way to a run passes here."""

from __future__ import annotations

from collections.abc import Iterable

from thumbforge.planning.font_check import check_fonts
from thumbforge.planning.picture_check import check_pictures
from thumbforge.planning.plan import Row
from thumbforge.planning.series import Series


def check_drawable(series: Series, rows: Iterable[Row]) -> None:
    """Raises SpecError, with each place in the specs, for fonts and pictures that these rows would need and that cannot
    be drawn with. Nothing is checked where nothing is to be drawn."""
    drawn = [row for row in rows if row.action != "skip"]
    if drawn:
        check_fonts(series)
        check_pictures(drawn)
