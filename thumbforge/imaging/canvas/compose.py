"""One thumbnail of a layout in version 2, drawn from back to front. What could not be drawn as asked comes back as
checks.

Texts that follow one another in the order are drawn together: all their grounds are calmed before the first letter, so
none is taken for the ground of another. Each is judged on the finished picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from PIL import Image, ImageChops

from thumbforge import models
from thumbforge.imaging import compose as first
from thumbforge.imaging import contrast, crop, ground, rules, subject, tones
from thumbforge.imaging.canvas import fills, forms, pieces, wording
from thumbforge.imaging.canvas.forms import Form
from thumbforge.imaging.canvas.order import brought_forward, inside, present
from thumbforge.imaging.canvas.pieces import Canvas, Laid
from thumbforge.imaging.canvas.wording import Wording
from thumbforge.imaging.surfaces import Surfaces
from thumbforge.imaging.type import shape
from thumbforge.layers import SUBJECT, Layers
from thumbforge.pixels.placed import GAP, Placed

TITLE = "title"
"""The text whose rules are called `text.…`, as in version 1."""
_INTO = (0.09, 0.06)
"""Shares of the width that letters are let behind a subject before the usual one, if none of them is lost."""
_SHADE, _SHADED = 0.012, 0.75
"""Sigma of a subject's shadow on letters behind it, as a share of the width; and its opacity."""
_HALF = 0.4
"""Share of one letter that a text behind the subject may lose."""
_LOST = 0.3
"""Share of a text's ink under other elements that is an error."""


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What goes into texts and images (RGBA), by name; what is not there leaves its element out."""

    texts: Mapping[str, str]
    images: Mapping[str, Image.Image] = field(default_factory=dict)
    speech: shape.Speech = field(default=shape.PLAIN)


def compose(
    art: Image.Image, layout: Layers, content: Content, output: models.Output, placed: Placed | None = None
) -> tuple[Image.Image, tuple[rules.Check, ...]]:
    """The finished RGB picture at the output's size, and the checks on its elements."""
    picture = crop.cover(art, output.width, output.height, layout.focus)
    picture = art.copy() if picture is art else picture
    return _Drawing(picture, layout, content, output, placed).drawn()


class _Drawing:
    """One picture while it is drawn."""

    def __init__(
        self, picture: Image.Image, layout: Layers, content: Content, output: models.Output, placed: Placed | None
    ) -> None:
        self.picture, self.layout, self.content, self.output, self.placed = picture, layout, content, output, placed
        self.scale = output.width / layout.canvas.width
        self.seen = subject.known(picture, placed)
        self.tones = tones.Tones(picture, placed.taken(*contrast.TINY) if placed else None)
        self.canvas = Canvas(picture, layout, self.tones, self.scale)
        self.names = present(layout, {*content.texts, *content.images})
        self.cover = self._cover() if SUBJECT in self.names else None
        self.bare = picture.copy() if self.cover else picture
        self.laid: dict[str, Laid] = {}
        self.missing: list[str] = []
        self.front: list[str] = []
        self.blocks = self._blocks()
        self.names = brought_forward(self.names, self.front)
        self.standing: list[first.Standing] = []

    def drawn(self) -> tuple[Image.Image, tuple[rules.Check, ...]]:
        for are_texts, group in groupby(self.names, lambda name: name in self.layout.texts):
            if are_texts:
                self._texts([name for name in group if name in self.blocks])
                continue
            for name in group:
                self._piece(name)
        return self.picture, tuple(self._checks())

    def _cover(self) -> Image.Image | None:
        """The subject with its outline, where its shape is known: what hides all that stands before it."""
        wide = self.seen.size[0]
        outline = subject.OUTLINE * wide / 1280 if self.placed and self.placed.look == "cutout" else 0
        return subject.behind(self.seen, outline)

    def _blocks(self) -> dict[str, Wording]:
        found: dict[str, Wording] = {}
        for name in self.names:
            if name in self.layout.texts:
                block = self._block(name)
                if block:
                    found[name] = block
        return found

    def _block(self, name: str) -> Wording | None:
        """A text in its box, beside the subject where it is told to; or a little behind it, if no letter is lost by
        it. Where there is no room beside, it comes to the front."""
        text = self.layout.texts[name]
        behind = self.cover and text.beside and name in self.names[: self.names.index(SUBJECT)]
        wide = self.seen.size[0]
        for into in (*_INTO, subject.INTO) if behind else ():
            block, missing = self._set(name, into * wide + GAP / 1280 * wide)
            if block and self._is_seen(block):
                self.missing += missing
                return block
        block, missing = self._set(name, 0.0)
        self.missing += missing
        if behind and block and not self._is_seen(block):
            self.front.append(name)
        return block

    def _is_seen(self, block: Wording) -> bool:
        assert self.cover
        share, letter = subject.hidden(block.ink, self.cover)
        return share <= first.HIDDEN and letter <= _HALF

    def _set(self, name: str, into: float) -> tuple[Wording | None, tuple[str, ...]]:
        text = self.layout.texts[name]
        makes_room = text.beside and not self._on_panel(name)
        beside = first.beside(self.seen.placed, into) if makes_room else None
        rule = "text" if name == TITLE else name
        return wording.words(
            rule, text, self.content.texts[name], self.content.speech, self.tones, self.layout, self.scale, beside
        )

    def _on_panel(self, name: str) -> bool:
        """Whether a text stands on a shape that hides what of the subject is there: it has no room to make."""
        box, before = self.layout.texts[name].box, self.names[: self.names.index(name)]
        if self.cover:
            before = before[before.index(SUBJECT) :] if SUBJECT in before else ()
        panels = (self.layout.shapes[other].panel for other in before if other in self.layout.shapes)
        return any(panel and inside(box, panel) for panel in panels)

    def _piece(self, name: str) -> None:
        if name == SUBJECT:
            if self.cover:
                self._shade_letters(self.cover)
                self.picture.paste(self.bare, (0, 0), self.cover)
            return
        if name in self.layout.shapes:
            self.laid[name] = pieces.shape(self.canvas, self.layout.shapes[name], self._spared(name))
        elif found := pieces.image(self.canvas, self.layout.images[name], self.content.images[name]):
            self.laid[name] = found

    def _shade_letters(self, cover: Image.Image) -> None:
        """The subject's shadow on letters that it stands before: white ones would melt into its outline."""
        before = self.names[: self.names.index(SUBJECT)]
        inks = [block.ink for name, block in self.blocks.items() if name in before]
        if not any(subject.hidden(ink, cover)[0] for ink in inks):
            return
        soft, at = fills.soft(Form(cover, (0, 0)), _SHADE * self.picture.width)
        for ink in inks:
            box = (ink.at[0] - at[0], ink.at[1] - at[1])
            near = soft.crop((*box, box[0] + ink.plain.width, box[1] + ink.plain.height))
            self.picture.paste((0, 0, 0), ink.at, fills.dimmed(ImageChops.multiply(near, ink.whole), _SHADED))

    def _spared(self, name: str) -> Image.Image | None:
        """Where a shade that stands before the subject does not lie."""
        if not self.placed or SUBJECT not in self.names or self.names.index(name) > self.names.index(SUBJECT):
            return None
        return self.placed.spared()

    def _texts(self, names: list[str]) -> None:
        blocks: list[Wording] = [self.blocks[name] for name in names]
        if not blocks:
            return
        solids = [laid.form for laid in self.laid.values() if laid.solid]
        surfaces = Surfaces(self.picture.size, [(form.mask, form.at) for form in solids])
        taken = self._elsewhere(names)
        found = first.standing_on(self.picture, list(blocks), surfaces, self.tones, self.seen, taken)
        for stood in found:
            ground.lay(self.picture, stood.ground, surfaces)
        for name, stood in zip(names, found, strict=True):
            assert isinstance(stood.block, Wording)
            clip = self.canvas.clip_of(self.layout.texts[name])
            wording.paint(self.picture, stood.block, self.tones, self.layout, self.scale, clip)
        self.standing += found

    def _elsewhere(self, names: list[str]) -> Image.Image | None:
        """What is no ground of these texts: other texts, and what will be laid beside or over them; a mask of the
        picture."""
        after = self.names[max(self.names.index(name) for name in names) + 1 :]
        inks = [block.ink for name, block in self.blocks.items() if name not in names]
        found = [Form(ink.whole, ink.at) for ink in inks]
        found += [form for name in after if (form := self._form(name))]
        if not found:
            return None
        whole = Image.new("L", self.picture.size)
        for form in found:
            whole.paste(ImageChops.lighter(whole.crop(form.box), form.mask), form.at)
        return whole

    def _form(self, name: str) -> Form | None:
        """Where an element that is not drawn yet will lie."""
        if name == SUBJECT:
            return Form(self.cover, (0, 0)) if self.cover else None
        if shape_ := self.layout.shapes.get(name):
            return forms.of_shape(shape_, self.scale, self.picture.size)
        if image := self.layout.images.get(name):
            return forms.rectangle(image.box, image.corner, image.rotate, self.scale, self.picture.size)
        return None

    def _checks(self) -> Iterator[rules.Check]:
        yield rules.glyphs(tuple(dict.fromkeys(self.missing)))
        if not self.blocks:
            yield rules.Check("text.title", "warning", False, "no text is drawn: nothing of it can be seen")
        tiny = self.picture.resize(contrast.TINY, Image.Resampling.BOX, reducing_gap=2.0)
        tone = contrast.tones(contrast.in_patches(self.picture))
        for stood in self.standing:
            yield from self._judged(stood, tone, tiny)
        yield from subject.checks(self.seen, self._ink(), self.layout.subject)
        boxes = [stood.block.box for stood in self.standing]
        logos = [name for name, image in self.layout.images.items() if image.source == "logo" and name in self.laid]
        boxes += [self.laid[name].form.box for name in logos]
        yield rules.overlay([first.at_720(box, self.output) for box in boxes])

    def _judged(self, stood: first.Standing, tone: Image.Image, tiny: Image.Image) -> Iterator[rules.Check]:
        block, letters = stood.block, stood.stand.letters
        assert isinstance(block, Wording)
        name, text = block.name, block.text
        small = None if text.fine_print else contrast.seen_small(tiny, stood.stand)
        if block.plate:
            ratio, laid = contrast.on_plain(letters, block.plate[1]), "on a plate"
        else:
            ratio, laid = contrast.measured(tone, stood.stand, stood.ground.plates), str(stood.ground)
        yield rules.contrast(f"{name}.contrast", ratio, small, laid, letters.enough)
        if not text.fine_print:
            pixels = block.capital * 1280 / self.picture.width
            yield rules.height(f"{name}.height", pixels, dense=block.dense and name == "text")
        if name == "text" or block.cut:
            yield rules.truncated(block.cut, name)
        if found := self._hidden(stood):
            yield found

    def _hidden(self, stood: first.Standing) -> rules.Check | None:
        """How much of a text lies under what is drawn after it."""
        own = TITLE if stood.block.name == "text" else stood.block.name
        after = self.names[self.names.index(own) + 1 :]
        over = Image.new("L", self.picture.size)
        found = False
        for name in after:
            if name == SUBJECT and self.cover:
                over, found = ImageChops.lighter(over, self.cover), True
            elif name in self.laid and self.laid[name].solid:
                form = self.laid[name].form
                over.paste(ImageChops.lighter(over.crop(form.box), form.mask), form.at)
                found = True
        if not found:
            return None
        share, letter = subject.hidden(stood.block.ink, over)
        return rules.hidden(f"{stood.block.name}.hidden", share, letter, (first.HIDDEN, _LOST), first.LOST)

    def _ink(self) -> Image.Image:
        """All that lies over the subject, at a quarter of the size."""
        size = self.picture.size
        over = self.names[self.names.index(SUBJECT) + 1 :] if self.cover else self.names
        solids = [
            subject.quarter(self.laid[name].form.mask, self.laid[name].form.at, size, self.laid[name].opacity)
            for name in over
            if name in self.laid and self.laid[name].solid
        ]
        drawn = [self.blocks[name] for name in over if name in self.blocks]
        named = {block.name for block in drawn}
        plates = [box for stood in self.standing if stood.block.name in named for box in stood.ground.plates.values()]
        plates += [block.box for block in drawn if block.plate]
        for left, top, right, bottom in plates:
            mask = Image.new("L", (max(right - left, 1), max(bottom - top, 1)), 255)
            solids.append(subject.quarter(mask, (left, top), size))
        return subject.ink_of([(b.ink, b.style.outline) for b in drawn if not b.plate], solids, size)
