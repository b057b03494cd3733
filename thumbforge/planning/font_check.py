"""Font files that a plan would draw with: drawable, or told with their line while nothing is paid."""

from __future__ import annotations

from collections.abc import Iterator

from thumbforge.errors import Problem, UsageError
from thumbforge.imaging.type import fonts
from thumbforge.imaging.userfiles import FontFile
from thumbforge.planning.series import Series
from thumbforge.planning.spec_lines import in_series


def font_file_problems(series: Series) -> Iterator[Problem]:
    """Every font file of the brand and of the settings that cannot be drawn with."""
    own = series.identity
    named = {"title": own.title_font, "label": own.label_font} if own else {}
    for field, font in named.items():
        if isinstance(font, FontFile) and (message := _undrawable(font)):
            yield in_series(series.root, series.name, ("brand", "fonts", field), message)
    if series.emoji and (message := _undrawable(series.emoji)):
        yield Problem("thumbforge.toml", 0, "output.emoji_font", message)


def _undrawable(font: FontFile) -> str:
    """What keeps this file from being drawn with, "" where nothing does."""
    try:
        fonts.face(fonts.add(font))
    except UsageError as error:
        return f"{error.message}; {error.hint}"
    return ""
