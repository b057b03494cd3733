"""From text to glyphs. Everything is measured in em of the asked font, so any size is a multiplication.

A title is set in one display face: the first of the asked font and its stand-ins that has all its Latin, Greek and
Cyrillic letters. Other clusters fall back one by one; a cluster that no font has is left out and named in `missing`.
Fonts are scaled to the capital height of the asked one, so a Cyrillic title is as tall as its Latin neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple
from unicodedata import normalize

import uharfbuzz

from thumbforge.imaging.type import bidi, breaks, clean, fonts, scripts

_APART = {"liga": False, "clig": False}
"""Letters that stand apart make no ligatures."""
_GROW_AT_MOST = 1.22
"""How far a stand-in is enlarged towards the asked font's capitals (Anton 0.859 em, Noto 0.714 em)."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a reader takes for one letter, and the font that has it."""

    text: str
    font: str
    accent: bool


@dataclass(frozen=True, slots=True)
class Glyph:
    """One outline of `font` at pen position x, y (em, y upwards), drawn at `scale` of the text's size; `word` counts
    the words of its line."""

    font: str
    gid: int
    x: float
    y: float
    scale: float
    accent: bool
    word: int = 0


@dataclass(frozen=True, slots=True)
class Shaped:
    """A line ready to draw: glyphs from left to right, and where its ink begins and ends (em from the first pen
    position). Lines are aligned by ink: the space that fonts leave beside letters would show as a crooked edge."""

    glyphs: tuple[Glyph, ...]
    left: float
    right: float

    @property
    def width(self) -> float:
        return self.right - self.left


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The clusters between two newlines with their levels, widths, ink above and below the baseline (em), breaks."""

    clusters: tuple[Cluster, ...]
    levels: tuple[int, ...]
    base: int
    widths: tuple[float, ...]
    tops: tuple[float, ...]
    bottoms: tuple[float, ...]
    breaks: tuple[breaks.Break, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """A whole text as paragraphs. `display` is the face chosen for it, `missing` what no font could draw, `spacing` the
    em added between letters."""

    asked: str
    display: str
    paragraphs: tuple[Paragraph, ...]
    missing: tuple[str, ...]
    spacing: float = 0.0

    @property
    def rtl(self) -> bool:
        return bool(self.paragraphs) and self.paragraphs[0].base == 1


@dataclass(frozen=True, slots=True)
class Speech:
    """What decides fonts and line ends beside the letters: the playlist's language (BCP 47), and a colour emoji font
    that was added to `fonts`."""

    language: str | None = None
    emoji: str | None = None


PLAIN = Speech()


def prepare(text: clean.Text, asked: str, speech: Speech = PLAIN, spacing: float = 0.0) -> Setting:
    """Set `text` in the font `asked` (UsageError when a layout may not use it), with `spacing` em more between letters;
    letters that join, as Arabic's do, stay together."""
    fonts.require(asked)
    display = _display_face(text.chars, asked)
    emoji = (speech.emoji,) if speech.emoji else ()
    chain = _Chain(
        latin=tuple(dict.fromkeys((display, asked, *fonts.DISPLAY))),
        emoji=(*emoji, fonts.EMOJI),
        region=fonts.region(text.chars, speech.language),
    )
    missing: list[str] = []
    paragraphs: list[Paragraph] = []
    place = 0
    for line in text.chars.split("\n"):
        clusters = _settle(line, text.accent[place : place + len(line)], chain, missing)
        place += len(line) + 1
        if clusters:
            paragraphs.append(_paragraph(clusters, asked, chain.region, spacing))
    return Setting(asked, display, tuple(paragraphs), tuple(dict.fromkeys(missing)), spacing)


def shape_line(setting: Setting, paragraph: Paragraph, start: int, end: int, tail: str = "") -> Shaped:
    """Clusters start to end in visual order. `tail` (a hyphen, an ellipsis) follows the last in reading order."""
    clusters = list(paragraph.clusters[start:end])
    levels = list(paragraph.levels[start:end])
    while clusters and breaks.is_space(clusters[-1].text):
        clusters.pop()
        levels.pop()
    if tail:
        clusters.append(Cluster(tail, setting.display, clusters[-1].accent if clusters else False))
        levels.append(paragraph.base)
    runs = _runs(clusters, levels)
    words = list(accumulate(int(breaks.is_space(cluster.text)) for cluster in clusters))
    glyphs: list[Glyph] = []
    pen = 0.0
    for index in bidi.visual_order([levels[first] for first, _ in runs]):
        first, last = runs[index]
        shaped, _ = _shape_run(clusters[first:last], levels[first], setting.asked, setting.spacing)
        for glyph, owner in shaped.placed:
            accent, word = clusters[first + owner].accent, words[first + owner]
            glyphs.append(Glyph(shaped.font, glyph.gid, pen + glyph.x, glyph.y, shaped.scale, accent, word))
        pen += shaped.width
    ink = [
        (g.x + glyph_ink(g.font, g.gid).left * g.scale, g.x + glyph_ink(g.font, g.gid).right * g.scale) for g in glyphs
    ]
    left, right = min((edge for edge, _ in ink), default=0.0), max((edge for _, edge in ink), default=0.0)
    return Shaped(tuple(glyphs), left, right)


def tail_width(setting: Setting, tail: str) -> float:
    return _tail_width(setting.display, setting.asked, tail)


@lru_cache(maxsize=64)
def _tail_width(display: str, asked: str, tail: str) -> float:
    run, _ = _shape_run([Cluster(tail, display, False)], 0, asked)
    return run.width


def _display_face(text: str, asked: str) -> str:
    letters = {ord(char) for char in text if scripts.DISPLAY_LETTER.match(char)}
    order = tuple(dict.fromkeys((asked, *fonts.DISPLAY[1:])))
    return max(order, key=lambda name: (len(letters & fonts.face(name).coverage), -order.index(name)))


@dataclass(frozen=True, slots=True)
class _Chain:
    """Where fonts are looked for: the faces of the title, those of emoji, and the region of Han letters."""

    latin: tuple[str, ...]
    emoji: tuple[str, ...]
    region: str


def _settle(line: str, accents: Sequence[bool], chain: _Chain, missing: list[str]) -> list[Cluster]:
    """Give each cluster a font; one that none has is tried in its compatibility form, then left out."""
    clusters: list[Cluster] = []
    for found in scripts.CLUSTER.finditer(line):
        text = found[0]
        for form in dict.fromkeys((text, normalize("NFKC", text))):
            if font := _font_for(form, chain):
                clusters.append(Cluster(form, font, accents[found.start()]))
                break
        else:
            missing.append(text)
    return _tidy(clusters)


def _tidy(clusters: list[Cluster]) -> list[Cluster]:
    """No double, leading or trailing spaces where something was left out; nothing where only spaces are left."""
    kept: list[Cluster] = []
    for cluster in clusters:
        if cluster.text == " " and (not kept or kept[-1].text == " "):
            continue
        kept.append(cluster)
    while kept and breaks.is_space(kept[-1].text):
        kept.pop()
    return kept


def _font_for(cluster: str, chain: _Chain) -> str | None:
    if scripts.UNDRAWABLE.search(cluster):
        return None
    needed = {ord(char) for char in cluster if not scripts.IGNORABLE.match(char)}
    offered = [name for char in cluster for name in fonts.fallbacks(char, chain.region)]
    order = [*chain.latin, *offered]
    if scripts.EMOJI.match(cluster):
        order = [*chain.emoji, *order]
    elif cluster[0] not in " \u200b" and offered and not cluster[0].isascii():
        order = [*chain.latin[:1], *offered, *chain.latin[1:]]
    return next((name for name in dict.fromkeys(order) if needed <= fonts.face(name).coverage), None)


def _paragraph(clusters: list[Cluster], asked: str, region: str, spacing: float) -> Paragraph:
    texts = [cluster.text for cluster in clusters]
    base, by_char = bidi.levels("".join(texts))
    levels, place = [], 0
    for text in texts:
        levels.append(by_char[place])
        place += len(text)
    size = len(clusters)
    widths, tops, bottoms = [0.0] * size, [0.0] * size, [0.0] * size
    for first, last in _runs(clusters, levels):
        run, advances = _shape_run(clusters[first:last], levels[first], asked, spacing)
        for offset, advance in enumerate(advances):
            widths[first + offset] = advance
        for glyph, owner in run.placed:
            ink = glyph_ink(run.font, glyph.gid)
            tops[first + owner] = max(tops[first + owner], glyph.y + ink.top * run.scale)
            bottoms[first + owner] = max(bottoms[first + owner], -glyph.y + ink.bottom * run.scale)
    ends = breaks.opportunities(texts, region)
    return Paragraph(tuple(clusters), tuple(levels), base, tuple(widths), tuple(tops), tuple(bottoms), tuple(ends))


def _runs(clusters: Sequence[Cluster], levels: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches of one font and one level. The accent colour does not end a run: it changes no glyph."""
    runs: list[tuple[int, int]] = []
    start = 0
    for i in range(1, len(clusters) + 1):
        if i == len(clusters) or (clusters[i].font, levels[i]) != (clusters[start].font, levels[start]):
            runs.append((start, i))
            start = i
    return runs


@dataclass(frozen=True, slots=True)
class _Placed:
    gid: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class _Run:
    """`placed` pairs each glyph (em, from the run's left end) with the index of the cluster that it belongs to."""

    font: str
    scale: float
    placed: tuple[tuple[_Placed, int], ...]
    width: float


def font_scale(name: str, asked: str) -> float:
    """What a font is enlarged by so that its capitals are as tall as those of the asked font."""
    return min(fonts.cap(asked) / fonts.cap(name), _GROW_AT_MOST)


def _shape_run(clusters: Sequence[Cluster], level: int, asked: str, spacing: float = 0.0) -> tuple[_Run, list[float]]:
    """Shape one run; also the advance (em) of each of its clusters."""
    face = fonts.face(clusters[0].font)
    buffer: Any = uharfbuzz.Buffer()
    buffer.add_codepoints([ord(char) for cluster in clusters for char in cluster.text])
    owners = [index for index, cluster in enumerate(clusters) for _ in cluster.text]
    buffer.direction = "rtl" if level % 2 else "ltr"
    buffer.language = "en"  # never the locale's: it would change glyphs from machine to machine
    buffer.guess_segment_properties()
    uharfbuzz.shape(face.hb, buffer, _APART if spacing else None)
    scale = font_scale(face.font.name, asked)
    unit = scale / face.upem
    advances = [0.0] * len(clusters)
    placed: list[tuple[_Placed, int]] = []
    pen, gap, before = 0.0, 0.0, None
    for info, position in zip(buffer.glyph_infos, buffer.glyph_positions, strict=True):
        owner = owners[info.cluster]
        if spacing and owner != before:
            pen, before = pen + gap, owner
            gap = spacing * bool(scripts.SPREAD.match(clusters[owner].text))
            advances[owner] += gap
        if info.codepoint:
            spot = _Placed(info.codepoint, pen + position.x_offset * unit, position.y_offset * unit)
            placed.append((spot, owner))
            pen += position.x_advance * unit
            advances[owner] += position.x_advance * unit
    return _Run(face.font.name, scale, tuple(placed), pen + gap), advances


class GlyphInk(NamedTuple):
    """How far a glyph's ink reaches, in em: above and below the baseline, and from the pen position to both sides."""

    top: float
    bottom: float
    left: float
    right: float


@lru_cache(maxsize=8192)
def glyph_ink(font: str, gid: int) -> GlyphInk:
    face = fonts.face(font)
    found = face.hb.get_glyph_extents(gid)
    if found is None or found.height == 0:
        return GlyphInk(0.0, 0.0, 0.0, 0.0)
    top, bottom = found.y_bearing / face.upem, -(found.y_bearing + found.height) / face.upem
    left, right = found.x_bearing / face.upem, (found.x_bearing + found.width) / face.upem
    return GlyphInk(max(top, 0.0), max(bottom, 0.0), left, right)
