"""The largest size at which a text fits its box, and its lines. Pure arithmetic on em widths; nothing is drawn.

Order: binary search on whole sizes with breaks at words; where that finds none, up to a tenth below the smallest size;
then, at the smallest, words that are too wide are cut by cluster; what still does not fit is cut with an ellipsis. Then
lines are balanced: the narrowest width that keeps their number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from thumbforge.imaging.type import scripts
from thumbforge.imaging.type.breaks import Break, is_space
from thumbforge.imaging.type.shape import Paragraph, Setting, tail_width

ELLIPSIS = "…"
HYPHEN = "-"
_LINE_GAP = 0.07
"""Em that stay free between the ink of two lines whatever the line height: Khmer and stacked accents need it."""
_EVEN_AT_MOST = 48
"""Places to break up to which lines are balanced; longer texts fill their lines anyway."""
_HANGING = 0.04
"""What a one- or two-letter word at a line's end costs in squared line widths."""
_EVEN_WORTH = 0.88
"""Share of the size that even lines may cost: the words that then stand first and last may be taller."""
_BROKEN_PHRASE = 0.3
"""What a line's end inside a phrase costs, in squared line widths."""
_PHRASES_WORTH = 0.7
"""Share of the size that whole phrases may cost."""
_BELOW = 0.9
"""Share of the smallest size that may be gone below for whole words."""
_TRIMMED = frozenset(" ,.;:|(-–—")


@dataclass(frozen=True, slots=True)
class Line:
    """Clusters start to end of one paragraph; `tail` is a hyphen or an ellipsis that follows them."""

    paragraph: int
    start: int
    end: int
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Space:
    """Where a text goes: pixels, and sizes in pixels an em. `outline` is the stroke's width in em."""

    width: float
    height: float
    size: float
    min_size: float
    max_lines: int
    line_height: float
    outline: float
    cap: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """`pitch` is the em between baselines; `top` and `bottom` the ink of the first and the last line; `cut` the text
    that an ellipsis stands for."""

    size: int
    lines: tuple[Line, ...]
    pitch: float
    top: float
    bottom: float
    cut: str = ""

    @property
    def height(self) -> float:
        """Em from the top of the first line's ink to the bottom of the last line's."""
        return self.top + (len(self.lines) - 1) * self.pitch + self.bottom


def fit(setting: Setting, space: Space) -> Fitted | None:
    """None where there is nothing to draw. At the smallest size something always fits: one cut line at worst.

    Japanese is broken between phrases and Korean between words unless that costs more than 30 % of the size.
    """
    if not setting.paragraphs:
        return None
    if not any(Break.LOOSE in paragraph.breaks for paragraph in setting.paragraphs):
        return _Fit(setting, space, Break.SOFT).run()
    kept, loose = _Fit(setting, space, Break.SOFT).whole(), _Fit(setting, space, Break.LOOSE).run()
    return kept if kept and kept.size >= _PHRASES_WORTH * loose.size else loose


def lines_within(setting: Setting, space: Space, size: int, widths: Sequence[float]) -> Fitted | None:
    """As many lines as there are widths (em), none wider than its own, as even as they can be, at one size; None where
    the text has no such breaks or its lines do not fit the height."""
    least = Break.SOFT if not any(Break.LOOSE in p.breaks for p in setting.paragraphs) else Break.LOOSE
    return _Fit(setting, space, least).within(size, widths)


def line_width(setting: Setting, line: Line) -> float:
    """Em from the first letter's pen position to the end of the last letter."""
    paragraph = setting.paragraphs[line.paragraph]
    end = line.end
    while end > line.start and is_space(paragraph.clusters[end - 1].text):
        end -= 1
    return sum(paragraph.widths[line.start : end]) + (tail_width(setting, line.tail) if line.tail else 0.0)


def line_top(setting: Setting, line: Line, space: Space) -> float:
    """Em of a line's ink above its baseline, at least that of capitals."""
    return max(space.cap, *setting.paragraphs[line.paragraph].tops[line.start : line.end], 0.0)


class _Fit:
    """One search; lines end at breaks of kind `least` or better."""

    def __init__(self, setting: Setting, space: Space, least: Break) -> None:
        self.setting, self.space, self.least = setting, space, least
        self.sums = [tuple(accumulate(p.widths, initial=0.0)) for p in setting.paragraphs]

    def run(self) -> Fitted:
        smallest, _ = self._sizes()
        return self.whole() or self._below(smallest) or self._at(smallest, cut_words=True) or self._shortened(smallest)

    def _below(self, smallest: int) -> Fitted | None:
        """A little under the floor rather than a word in two."""
        for size in range(smallest - 1, int(smallest * _BELOW) - 1, -1):
            if found := self._at(size, cut_words=False):
                return self._balanced(found)
        return None

    def whole(self) -> Fitted | None:
        """The largest size at which the whole text fits without a cut word."""
        smallest, largest = self._sizes()
        best = self._at(smallest, cut_words=False)
        if best is None:
            return None
        while smallest < largest:
            middle = (smallest + largest + 1) // 2
            found = self._at(middle, cut_words=False)
            if found:
                best, smallest = found, middle
            else:
                largest = middle - 1
        return self._balanced(best)

    def _sizes(self) -> tuple[int, int]:
        """Whole pixels; the smallest gives way where not even one line would fit the box."""
        one_line = self.space.height / (self._line_ink + 2 * self.space.outline)
        largest = max(int(min(self.space.size, one_line)), 1)
        return max(min(round(self.space.min_size), largest), 1), largest

    @cached_property
    def _line_ink(self) -> float:
        tops = [max(p.tops) for p in self.setting.paragraphs]
        bottoms = [max(p.bottoms) for p in self.setting.paragraphs]
        return max(*tops, self.space.cap) + max(bottoms)

    def _measure(self, size: int) -> float:
        return self.space.width / size - 2 * self.space.outline

    def _at(self, size: int, *, cut_words: bool) -> Fitted | None:
        lines = self._wrap(self._measure(size), cut_words=cut_words)
        if lines is None or len(lines) > self.space.max_lines:
            return None
        fitted = self._stack(size, lines)
        return fitted if self._fits_height(fitted) else None

    def _fits_height(self, fitted: Fitted) -> bool:
        return (fitted.height + 2 * self.space.outline) * fitted.size <= self.space.height

    def _stack(self, size: int, lines: list[Line], cut: str = "") -> Fitted:
        tops = [max(self._of(line).tops[line.start : line.end], default=0.0) for line in lines]
        bottoms = [max(self._of(line).bottoms[line.start : line.end], default=0.0) for line in lines]
        apart = self.space.outline + _LINE_GAP
        needed = [below + above + apart for below, above in zip(bottoms, tops[1:], strict=False)]
        pitch = max(self.space.line_height, *needed, 0.0)
        return Fitted(size, tuple(lines), pitch, max(tops[0], self.space.cap), bottoms[-1], cut)

    def _of(self, line: Line) -> Paragraph:
        return self.setting.paragraphs[line.paragraph]

    def _wrap(self, width: float, *, cut_words: bool) -> list[Line] | None:
        lines: list[Line] = []
        for number, paragraph in enumerate(self.setting.paragraphs):
            start = 0
            while start < len(paragraph.clusters):
                line = self._line_from(number, start, width, cut_words=cut_words)
                if line is None:
                    return None
                lines.append(line)
                start = line.end
                while start < len(paragraph.clusters) and is_space(paragraph.clusters[start].text):
                    start += 1
        return lines

    def _line_from(self, number: int, start: int, width: float, *, cut_words: bool) -> Line | None:
        """The longest line that begins at `start`; None where a word is too wide and must not be cut."""
        paragraph, sums = self.setting.paragraphs[number], self.sums[number]
        count = len(paragraph.clusters)
        soft = hard = 0
        for end in range(start + 1, count + 1):
            seen = sums[self._trimmed(paragraph, start, end)] - sums[start]
            if seen > width:
                break
            if end == count or paragraph.breaks[end] >= self.least:
                soft = end
            elif paragraph.breaks[end] is not Break.NEVER and seen + self._hyphen(paragraph, end)[1] <= width:
                hard = end
        if soft:
            return Line(number, start, soft)
        if not cut_words:
            return None
        end = hard or start + 1
        return Line(number, start, end, self._hyphen(paragraph, end)[0])

    def _trimmed(self, paragraph: Paragraph, start: int, end: int) -> int:
        while end > start and is_space(paragraph.clusters[end - 1].text):
            end -= 1
        return end

    def _hyphen(self, paragraph: Paragraph, end: int) -> tuple[str, float]:
        if end >= len(paragraph.clusters):
            return "", 0.0
        beside = (paragraph.clusters[end - 1].text, paragraph.clusters[end].text)
        if not all(scripts.HYPHENATED.match(text) for text in beside):
            return "", 0.0
        return HYPHEN, tail_width(self.setting, HYPHEN)

    def _balanced(self, fitted: Fitted) -> Fitted:
        """The same number of lines with widths as even as can be: no lone short word, no "a" left at an end."""
        wide = self._measure(fitted.size)
        lines: list[Line] = []
        for number in range(len(self.setting.paragraphs)):
            own = [line for line in fitted.lines if line.paragraph == number]
            lines += self._even(number, len(own), wide) or own
        for size in range(fitted.size, int(fitted.size * _EVEN_WORTH), -1):
            tried = self._stack(size, lines)
            if self._fits_height(tried):
                return tried
        return fitted

    def within(self, size: int, widths: Sequence[float]) -> Fitted | None:
        best: dict[tuple[int, int], tuple[float, list[Line]]] = {(0, 0): (0.0, [])}
        for width in widths:
            longer: dict[tuple[int, int], tuple[float, list[Line]]] = {}
            for (number, start), (cost, lines) in best.items():
                if number == len(self.setting.paragraphs):
                    continue
                for line, price in self._one_more(number, start, width):
                    whole = line.end == len(self.setting.paragraphs[number].clusters)
                    after = (number + 1, 0) if whole else (number, line.end)
                    if after not in longer or cost + price < longer[after][0]:
                        longer[after] = cost + price, [*lines, line]
            best = longer
        found = best.get((len(self.setting.paragraphs), 0))
        fitted = self._stack(size, found[1]) if found else None
        return fitted if fitted and self._fits_height(fitted) else None

    def _one_more(self, number: int, start: int, width: float) -> Iterator[tuple[Line, float]]:
        """Every line of a paragraph that can begin at `start`, with its price; spaces before it are left out."""
        paragraph = self.setting.paragraphs[number]
        count = len(paragraph.clusters)
        while start < count and is_space(paragraph.clusters[start].text):
            start += 1
        for end in range(start + 1, count + 1):
            if end < count and paragraph.breaks[end] < self.least:
                continue
            price = self._price(number, start, end, width)
            if price is None:
                return
            yield Line(number, start, end), price

    def _even(self, number: int, count: int, width: float) -> list[Line] | None:
        """Split one paragraph in `count` lines so that the sum of squared widths is least; None where it has too many
        places to break for that (or too few lines to gain by it)."""
        paragraph = self.setting.paragraphs[number]
        ends = [end for end, kind in enumerate(paragraph.breaks) if kind >= self.least]
        ends.append(len(paragraph.clusters))
        if count < 2 or len(ends) > _EVEN_AT_MOST:
            return None
        best: dict[int, tuple[float, list[Line]]] = {0: (0.0, [])}
        for _ in range(count):
            longer: dict[int, tuple[float, list[Line]]] = {}
            for start, (cost, lines) in best.items():
                for end in ends:
                    if end > start and (price := self._price(number, start, end, width)) is not None:
                        total = cost + price
                        if end not in longer or total < longer[end][0]:
                            longer[end] = (total, [*lines, Line(number, start, end)])
            best = longer
        return best[ends[-1]][1] if ends[-1] in best else None

    def _price(self, number: int, start: int, end: int, width: float) -> float | None:
        paragraph, sums = self.setting.paragraphs[number], self.sums[number]
        last = self._trimmed(paragraph, start, end)
        seen = sums[last] - sums[start]
        if seen > width:
            return None
        short = last - start > 2 and any(is_space(paragraph.clusters[last - back].text) for back in (2, 3))
        inside = end < len(paragraph.clusters)
        cost = _HANGING if inside and short else 0.0
        if inside and paragraph.breaks[end] is Break.LOOSE:
            cost = _BROKEN_PHRASE
        return seen * seen + cost * width * width

    def _shortened(self, size: int) -> Fitted:
        """As many lines as fit, the last one cut at a cluster and ended with an ellipsis."""
        width = self._measure(size)
        lines = self._wrap(width, cut_words=True) or []
        keep = min(self.space.max_lines, len(lines))
        while keep > 1 and not self._fits_height(self._stack(size, lines[:keep])):
            keep -= 1
        if keep == len(lines):
            return self._stack(size, lines)
        last = self._ended(lines[keep - 1], width)
        kept = [*lines[: keep - 1], last]
        return self._stack(size, kept, self._text_after(last))

    def _ended(self, line: Line, width: float) -> Line:
        paragraph, sums = self._of(line), self.sums[line.paragraph]
        end = line.end
        room = width - tail_width(self.setting, ELLIPSIS)
        while end > line.start + 1 and sums[end] - sums[line.start] > room:
            end -= 1
        while end > line.start + 1 and paragraph.clusters[end - 1].text in _TRIMMED:
            end -= 1
        return Line(line.paragraph, line.start, end, ELLIPSIS)

    def _text_after(self, line: Line) -> str:
        rest = [
            self._of(line).clusters[line.end :],
            *(p.clusters for p in self.setting.paragraphs[line.paragraph + 1 :]),
        ]
        return " ".join("".join(cluster.text for cluster in clusters) for clusters in rest).strip()
