"""What a finished thumbnail must be, and the report that says whether it is.

Rules about the file are judged on the written file, opened again. Numbers: width and shape from YouTube's help page on
thumbnails (answer 72431); how many bytes is the output's own setting; 4.5 and 3 are WCAG 2.2's contrasts. Text
is also judged at 168x94, the size of the column beside a video.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from thumbforge import models
from thumbforge.imaging import zones
from thumbforge.text import one_line

Level = Literal["error", "warning"]

MIN_WIDTH = 1280
MIN_CAPITAL = 46
"""Pixels of a 1280x720 picture; shown 168 wide this is 6 pixels, the smallest that was readable when looked at."""
MIN_DENSE = 54
"""Beside letters of many strokes, such as Han, Devanagari and Thai: Han letters are then 61 pixels high, shown 8."""
_SHORTEN = "set a shorter `text` for this item"


@dataclass(frozen=True, slots=True)
class Check:
    """One rule and whether it holds; `detail` is one line with the figures. `share` and `face` are those of a subject
    and of its face, where the rule judges one; `known` is how well that is known."""

    rule: str
    level: Level
    ok: bool
    detail: str
    share: float | None = None
    face: float | None = None
    known: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {"rule": self.rule, "level": self.level, "ok": self.ok, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Report:
    """All checks of one finished file, and what the file is."""

    checks: tuple[Check, ...]
    width: int
    height: int
    bytes: int
    media_type: str

    @property
    def ok(self) -> bool:
        return not self.violations

    @property
    def violations(self) -> tuple[str, ...]:
        return self._failed("error")

    @property
    def warnings(self) -> tuple[str, ...]:
        return self._failed("warning")

    def _failed(self, level: Level) -> tuple[str, ...]:
        return tuple(f"{c.rule}: {c.detail}" for c in self.checks if not c.ok and c.level == level)

    def as_dict(self) -> dict[str, Any]:
        """JSON of the whole report."""
        return {
            "ok": self.ok,
            "width": self.width,
            "height": self.height,
            "bytes": self.bytes,
            "media_type": self.media_type,
            "checks": [check.as_dict() for check in self.checks],
            "subject": self.subject,
        }

    @property
    def subject(self) -> dict[str, Any] | None:
        """JSON of what is covered and cut of the subject, as shares; `known` is sure, guess, none or unknown. None
        where nobody looked for one."""
        found = {check.rule.removeprefix("subject."): check for check in self.checks if check.known}
        if not found:
            return None
        figures: dict[str, Any] = {"known": found["covered"].known}
        for name in ("covered", "cut"):
            check = found.get(name)
            figures |= {name: check and _rounded(check.share), f"face_{name}": check and _rounded(check.face)}
        return figures


def contrast(rule: str, ratio: float, small: float | None, ground: str, wanted: float = 4.5) -> Check:
    """Under two thirds of the contrast wanted (3 of 4.5) an error, under it a warning; `small` is the contrast at
    168x94, of which 3 is wanted (None for a text that need not be read there). `ground` says what was laid under the
    letters."""
    ok = ratio >= wanted and (small is None or small >= min(3, wanted))
    level: Level = "error" if ratio < wanted * 2 / 3 or ok else "warning"
    seen = "" if small is None else f" {small:.2f} at 168x94, {min(3, wanted):.2g} wanted;"
    return Check(rule, level, ok, f"{ratio:.2f} to 1 at its worst place, {wanted:.2g} wanted;{seen} {ground}")


def height(rule: str, pixels: float, *, dense: bool) -> Check:
    """`pixels` of a 1280x720 picture; `dense`: beside letters of many strokes."""
    wanted = MIN_DENSE if dense else MIN_CAPITAL
    ok = pixels >= wanted
    figures = f"capitals are {pixels:.0f} px of 720 high, {wanted} wanted; {pixels * 94 / 720:.1f} px at 168x94"
    return Check(rule, "warning", ok, figures if ok or rule != "text.height" else f"{figures}: {_SHORTEN}")


def truncated(cut: str, name: str = "text") -> Check:
    detail = f"left out: {one_line(cut, 160)!r}: {_SHORTEN}" if cut else "whole text drawn"
    return Check(f"{name}.truncated", "warning", not cut, detail)


def hidden(rule: str, share: float, letter: float, limits: tuple[float, float], most: float) -> Check:
    """How much of a text lies under what is drawn over it, and of the letter that loses most: more than the first limit
    or `most` of a letter is a warning, more than the second an error."""
    ok = share <= limits[0] and letter <= most
    detail = f"{share:.0%} of the letters, {letter:.0%} of one, lie under other elements; {limits[0]:.0%} at most"
    return Check(rule, "error" if share > limits[1] else "warning", ok, detail)


def glyphs(missing: tuple[str, ...]) -> Check:
    if not missing:
        return Check("text.glyphs", "error", True, "every letter drawn")
    codes = list(dict.fromkeys(f"U+{ord(char):04X}" for cluster in missing for char in cluster))
    more = f" and {len(codes) - 12} more" if len(codes) > 12 else ""
    return Check("text.glyphs", "error", False, f"no font has {' '.join(codes[:12])}{more}")


def subject(
    what: Literal["covered", "cut"],
    share: float,
    face: float | None,
    limits: tuple[float, float],
    face_limits: tuple[float, float],
    *,
    sure: bool,
) -> Check:
    """How much of the subject, and of its face where that is known, is covered or cut. `limits` are shares above which
    it is a warning and an error. Where the face is known it is judged: a person may be cut below it, and much of the
    body under words is a warning. A subject that is only guessed may be another, so it only warns."""
    whole = "covered by words" if what == "covered" else "cut off"
    found = f"{share:.0%} of the subject is {whole}, at most {limits[0]:.0%} wanted"
    if face is not None:
        found = f"{face:.0%} of the face, {share:.0%} of the subject is {whole}, at most {face_limits[0]:.0%} of a face"
    judged, allowed = (face, face_limits) if face is not None else (share, limits)
    ok = judged <= allowed[0] and (what == "cut" or share <= limits[1])
    level: Level = "error" if sure and judged > allowed[1] else "warning"
    known = "sure" if sure else "guess"
    return Check(f"subject.{what}", level, ok, found if sure else f"{found} (a guess)", share, face, known)


def unknown_subject() -> Check:
    """No subject is found, so nobody knows whether words cover it."""
    return Check("subject.covered", "warning", False, "unknown: no subject is found in the art", known="unknown")


def no_subject() -> Check:
    return Check("subject.covered", "warning", True, "the hero has no subject: it is a ground", known="none")


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 3)


def overlay(boxes: list[tuple[int, int, int, int]]) -> Check:
    """Ink boxes in pixels of 1280x720 that should keep clear of YouTube's own marks."""
    hit = dict.fromkeys(name for box in boxes for name in zones.covered(box))
    detail = f"text under the {' and the '.join(hit)}" if hit else "text keeps clear of YouTube's marks"
    return Check("text.overlay", "warning", not hit, detail)


def judge(target: Path, output: models.Output, drawn: tuple[Check, ...]) -> Report:
    """Open the finished file again and judge it; `drawn` are the checks that only the drawing could make."""
    from thumbforge.pixels import picture

    found = picture.probe(target)
    size = target.stat().st_size
    limit, fits = output.max_bytes, size <= output.max_bytes
    wide = found.width * 9
    shape = f"{found.width}x{found.height}"
    good_colour = found.mode == "RGB" and found.srgb
    checks = (
        Check("size.aspect", "error", abs(wide - found.height * 16) <= 16, f"{shape}, 16:9 wanted"),
        Check("size.width", "error", found.width >= MIN_WIDTH, f"{found.width} px wide, {MIN_WIDTH} wanted"),
        Check("file.format", "error", found.format in ("JPEG", "PNG"), f"{found.format}, JPEG or PNG wanted"),
        Check("file.bytes", "error", fits, f"{size} bytes, at most {limit}{'' if fits else _smaller(found.format)}"),
        Check(
            "color.mode", "error", good_colour, f"{found.mode}{'' if found.srgb else ', not sRGB'}, RGB in sRGB wanted"
        ),
    )
    return Report((*checks, *drawn), found.width, found.height, size, found.media_type)


def _smaller(kind: str) -> str:
    """What makes a file smaller than the encoder could."""
    return ": set output.format to jpeg" if kind == "PNG" else ": set output.max_bytes higher, or output.width lower"
