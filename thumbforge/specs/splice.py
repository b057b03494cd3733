"""A YAML text in pieces: where its lines, its mappings' fields and its sequence's entries begin and end.

Places come from PyYAML's marks and are turned into offsets in the text, so that everything that is not replaced keeps
its bytes: comments, quotes, blank lines, the alignment of columns.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

Edit = tuple[int, int, str]
"""Start, end, and what stands there from now on."""

# What libyaml takes for the end of a line.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_COMMA = re.compile(r"\s*,[ \t]*")
# Outside of YAML's printable characters, or able to make a line read in another way than it is stored.
_ESCAPED = re.compile("[\x7f-\xa0\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\uffff\ud800-\udfff]")


class Text:
    """The text with its line starts. `newline` is what its first line ends with."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        first = _BREAK.search(text)
        self.newline = first[0] if first and first[0] == "\r\n" else "\n"

    def offset(self, mark: yaml.Mark) -> int:
        """PyYAML's end may be on a line behind the last one, where that has no line break."""
        if mark.line >= len(self.starts):
            return len(self.text)
        return self.starts[mark.line] + int(mark.column)

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def line(self, number: int) -> str:
        """A line with its end."""
        end = self.starts[number + 1] if number + 1 < len(self.starts) else len(self.text)
        return self.text[self.starts[number] : end]

    @property
    def line_count(self) -> int:
        """Lines that hold something: a text that ends with a line break has none after it."""
        return len(self.starts) - (self.starts[-1] == len(self.text))


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a mapping: offsets of its key and of its value; `node` is the value."""

    key_start: int
    value_start: int
    value_end: int
    node: yaml.Node


def fields(text: Text, mapping: yaml.MappingNode) -> dict[str, Field]:
    """The fields by name, without those whose value is an alias to something elsewhere."""
    found = {}
    end = text.offset(mapping.end_mark)
    for key, value in mapping.value:
        after_key, start = text.offset(key.end_mark), text.offset(value.start_mark)
        if after_key <= start <= end:
            found[str(key.value)] = Field(text.offset(key.start_mark), start, _end_of(text, value), value)
    return found


def changed(text: Text, mapping: yaml.MappingNode, values: dict[str, Any], anchor: str) -> list[Edit]:
    """The edits that give these fields these values; a new one goes behind the field `anchor`."""
    known = fields(text, mapping)
    edits = []
    added = []
    for name, value in values.items():
        if name in known:
            at = known[name]
            gap = " " if at.value_start and text.text[at.value_start - 1] == ":" else ""
            edits.append((at.value_start, at.value_end, gap + scalar(value)))
        else:
            added.append(f"{name}: {scalar(value)}")
    if added:
        edits.append(_insertion(text, mapping, known[anchor], added))
    return edits


def without(text: Text, mapping: yaml.MappingNode, names: Collection[str]) -> list[Edit]:
    """The edits that take these fields away, with their lines where they have some of their own, or with a comma.
    KeyError where one of them is an alias."""
    known = fields(text, mapping)
    if not mapping.flow_style:
        return [_without_lines(text, known[name]) for name in names]
    kept = [at.key_start for name, at in known.items() if name not in names]
    return [_without_comma(text, known[name], is_first=not kept or known[name].key_start < min(kept)) for name in names]


def _without_lines(text: Text, at: Field) -> Edit:
    whole, first = text.text, text.line_of(at.key_start)
    last = text.line_of(max(at.key_start, at.value_end - 1))
    start, end = text.starts[first], text.starts[last] + len(text.line(last))
    is_alone = not whole[start : at.key_start].strip() and not whole[at.value_end : end].strip()
    return (start, end, "") if is_alone else (at.key_start, at.value_end, "")


def _without_comma(text: Text, at: Field, *, is_first: bool) -> Edit:
    """Of the first fields the comma behind, so that no comma is taken twice."""
    whole = text.text
    ahead = whole[: at.key_start].rstrip()
    if ahead.endswith(",") and not is_first:
        return len(ahead) - 1, at.value_end, ""
    after = _COMMA.match(whole, at.value_end)
    return at.key_start, after.end() if after else at.value_end, ""


def applied(text: str, edits: Iterable[Edit], start: int = 0) -> str:
    """The text with its edits, whose offsets count from `start`."""
    for first, last, new in sorted(edits, reverse=True):
        text = text[: first - start] + new + text[last - start :]
    return text


def scalar(value: Any) -> str:
    """A value on one line. Texts are in double quotes whatever they look like; nothing in them is active."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)
    return str(value)


def flow(values: dict[str, Any]) -> str:
    """A mapping on one line, one level deep."""
    inner = (f"{k}: {flow(v) if isinstance(v, dict) else scalar(v)}" for k, v in values.items())
    return "{" + ", ".join(inner) + "}"


def _insertion(text: Text, mapping: yaml.MappingNode, anchor: Field, added: Sequence[str]) -> Edit:
    if mapping.flow_style:
        return anchor.value_end, anchor.value_end, "".join(f", {pair}" for pair in added)
    line = text.line_of(anchor.value_end)
    column = anchor.key_start - text.starts[text.line_of(anchor.key_start)]
    end = text.starts[line] + len(text.line(line))
    is_last = not _BREAK.search(text.line(line))
    lines = "".join(" " * column + pair + text.newline for pair in added)
    return end, end, text.newline + lines if is_last else lines


def _end_of(text: Text, value: yaml.Node) -> int:
    """Where a value ends. PyYAML ends a block text behind the blank lines that follow it: they are not part of it."""
    end = text.offset(value.end_mark)
    if not isinstance(value, yaml.ScalarNode) or value.style not in ("|", ">"):
        return end
    start = text.offset(value.start_mark)
    return start + len(text.text[start:end].rstrip())
