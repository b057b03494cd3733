"""Bidirectional levels of one paragraph (Unicode Standard Annex 9) for text without explicit controls.

Titles come here cleaned: embedding, override and isolate characters are gone, so the rules X1 to X8 have nothing to do
and one level run spans the paragraph. P2, P3, W1 to W7, N0 to N2, I1, I2, L1 and L2 are done in full.
"""

from __future__ import annotations

from unicodedata import bidirectional

_PAIRS = {"(": ")", "[": "]", "{": "}", "⟨": "⟩", "⟪": "⟫", "⟦": "⟧", "⁅": "⁆", "❨": "❩", "❪": "❫", "❲": "❳", "❴": "❵"}
_PAIRS |= {
    "〈": "〉",
    "《": "》",
    "「": "」",
    "『": "』",
    "【": "】",
    "〔": "〕",
    "（": "）",
    "［": "］",
    "｛": "｝",
    "｢": "｣",
}
_CLOSERS = {closer: opener for opener, closer in _PAIRS.items()}
_NEUTRAL = frozenset({"B", "S", "WS", "ON"})
_IGNORED = frozenset({"BN", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})
_MAX_OPEN = 63
"""Brackets that may be open at once before N0 gives up (BD16)."""


def base_level(text: str) -> int:
    """0 for left to right, 1 for right to left: the first strong character decides, 0 where there is none."""
    for char in text:
        kind = bidirectional(char)
        if kind in ("L", "R", "AL"):
            return int(kind != "L")
    return 0


def levels(text: str) -> tuple[int, list[int]]:
    """The base level of a paragraph (no newline in it) and the level of each character."""
    base = base_level(text)
    kinds = [bidirectional(char) or "L" for char in text]
    if base == 0 and not any(kind in ("R", "AL", "AN") for kind in kinds):
        return 0, [0] * len(text)
    seen = [place for place, kind in enumerate(kinds) if kind not in _IGNORED]
    resolved = _resolve([text[place] for place in seen], [kinds[place] for place in seen], base)
    result = [base] * len(text)
    by_place = dict(zip(seen, resolved, strict=True))
    for place in range(len(text)):
        # Joiners and selectors go with the letter before them, or families of emoji would fall apart.
        result[place] = by_place.get(place, result[place - 1] if place else base)
    for place in reversed(range(len(text))):
        if kinds[place] not in ("WS", "B", "S") and kinds[place] not in _IGNORED:
            break
        result[place] = base
    return base, result


def visual_order(levels_of_runs: list[int]) -> list[int]:
    """L2: the order, left to right, in which runs with these levels are shown."""
    order = list(range(len(levels_of_runs)))
    odd = [level for level in levels_of_runs if level % 2]
    for level in range(max(levels_of_runs, default=0), min(odd, default=1) - 1, -1):
        start = 0
        while start < len(order):
            end = start
            while end < len(order) and levels_of_runs[order[end]] >= level:
                end += 1
            order[start:end] = reversed(order[start:end])
            start = end + 1
    return order


def _resolve(chars: list[str], kinds: list[str], base: int) -> list[int]:
    side = "R" if base else "L"
    work = _weak(kinds, side)
    _brackets(chars, kinds, work, side)
    _neutral(work, side)
    return [_implicit(kind, base) for kind in work]


def _implicit(kind: str, base: int) -> int:
    if base == 0:
        return {"L": 0, "R": 1}.get(kind, 2)
    return 1 if kind == "R" else 2


def _weak(kinds: list[str], side: str) -> list[str]:
    work = list(kinds)
    before, strong = side, side
    for i, kind in enumerate(kinds):  # W1, W2, W3
        now = before if kind == "NSM" else kind
        before = now
        if now in ("L", "R", "AL"):
            strong = now
        work[i] = {"AL": "R"}.get(now, "AN" if now == "EN" and strong == "AL" else now)
    for i in range(1, len(work) - 1):  # W4
        left, right = work[i - 1], work[i + 1]
        if left == right and ((work[i] == "ES" and left == "EN") or (work[i] == "CS" and left in ("EN", "AN"))):
            work[i] = left
    _terminators(work)
    strong = side
    for i, kind in enumerate(work):  # W6, W7
        if kind in ("L", "R"):
            strong = kind
        if kind in ("ES", "ET", "CS"):
            work[i] = "ON"
        if kind == "EN" and strong == "L":
            work[i] = "L"
    return work


def _terminators(work: list[str]) -> None:
    """W5: a row of terminators ($, %) beside a number belongs to it."""
    i = 0
    while i < len(work):
        end = i
        while end < len(work) and work[end] == "ET":
            end += 1
        if end > i and "EN" in (work[i - 1] if i else "", work[end] if end < len(work) else ""):
            work[i:end] = ["EN"] * (end - i)
        i = max(end, i + 1)


def _strong(kind: str) -> str:
    return "R" if kind in ("EN", "AN") else kind


def _brackets(chars: list[str], kinds: list[str], work: list[str], side: str) -> None:
    """N0: both brackets of a pair take the direction of what they hold, or of what stands before them."""
    for opener, closer in sorted(_bracket_pairs(chars, work)):
        inside = {_strong(kind) for kind in work[opener + 1 : closer]} & {"L", "R"}
        if not inside:
            continue
        chosen = side
        if side not in inside:
            before = next((_strong(k) for k in reversed(work[:opener]) if _strong(k) in ("L", "R")), side)
            chosen = before
        for place in (opener, closer):
            work[place] = chosen
            follow = place + 1
            while follow < len(work) and kinds[follow] == "NSM":
                work[follow] = chosen
                follow += 1


def _bracket_pairs(chars: list[str], work: list[str]) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    open_: list[tuple[str, int]] = []
    for place, char in enumerate(chars):
        if work[place] != "ON":
            continue
        if char in _PAIRS:
            if len(open_) == _MAX_OPEN:
                return pairs
            open_.append((char, place))
        elif char in _CLOSERS:
            depth = next((d for d in reversed(range(len(open_))) if open_[d][0] == _CLOSERS[char]), None)
            if depth is not None:
                pairs.append((open_[depth][1], place))
                del open_[depth:]
    return pairs


def _neutral(work: list[str], side: str) -> None:
    """N1, N2: neutrals between equal directions take it, others the paragraph's."""
    i = 0
    while i < len(work):
        end = i
        while end < len(work) and work[end] in _NEUTRAL:
            end += 1
        if end > i:
            left = _strong(work[i - 1]) if i else side
            right = _strong(work[end]) if end < len(work) else side
            work[i:end] = [left if left == right else side] * (end - i)
        i = max(end, i + 1)
