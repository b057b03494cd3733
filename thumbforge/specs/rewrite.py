"""A playlist's YAML, changed in place: only what has to differ is written anew, so everything a user did survives.

An item is moved as the lines that it stands in, with the comment lines directly above it. A file whose notation leaves
no such lines (aliases between items, comments inside a one-line list) is refused with the place, never half-changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from thumbforge.errors import Problem, SpecError
from thumbforge.models import Item, Playlist
from thumbforge.specs import yaml_events
from thumbforge.specs.splice import Text, applied, changed, flow, scalar, without
from thumbforge.text import one_line

_HINT = "write `items:` as a list of lines that begin with `- `, without anchors and aliases, then try again"
_OURS = ("title", "text", "label", "topic", "part", "picture", "duration", "removed")
"""The fields of an item that are ever changed; the others are the user's."""
_HEAD = ("title", "channel", "url", "language")
_TOP = """\
# {title}, as YouTube lists it.
#
# Yours to edit:
#   text    what is drawn; *word* takes the accent colour, "\\n" breaks the line, without it the title is drawn
#   part    the number on the badge; null or left out means no badge
#   also    label (a badge of your own words), topic (what prompts speak of), vars (values for the template)
# title, video and duration (seconds) are YouTube's; the next fetch brings them up to date and keeps what you edited.
# removed: true is a video that YouTube does not list any more; removed: false is one of your own that it never listed.

playlist:
"""


def new_text(playlist: Playlist) -> str:
    """The YAML of a playlist that has no file yet."""
    head = playlist.playlist.model_dump(exclude_none=True)
    lines = [f"  {name}: {scalar(value)}\n" for name, value in head.items() if value != ""]
    items = [f"  - {_new_item(item)}\n" for item in playlist.items]
    title = one_line(head["title"])
    return _TOP.format(title=title or head["id"]) + "".join([*lines, "\nitems:\n", *items])


def rewritten(text: str, old: Playlist, new: Playlist, file: str) -> str:
    """`text`, which says `old`, changed so that it says `new`. Raises SpecError where that cannot be done in place.

    Every item of `old` has to be in `new`, known by its video and occurrence.
    """
    if old == new:
        return text
    source = Text(text)
    root = yaml_events.compose(text)
    try:
        done = applied(text, [*_head_edits(source, root, old, new), *_item_edits(source, root, old, new)])
        if _says(done) != _plain(new):
            raise _Unfit(_node(root, "items").start_mark.line)
    except _Unfit as error:
        problem = Problem(file, error.line + 1, "items", "this notation cannot be changed without losing something")
        raise SpecError([problem], hint=_HINT) from None
    return done


class _Unfit(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


@dataclass(frozen=True, slots=True)
class _Piece:
    """The lines (or, inside brackets, the words) of one item: offsets in the text."""

    start: int
    end: int
    node: yaml.MappingNode


def _node(root: yaml.Node | None, name: str) -> yaml.Node:
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.value == name:
            found: yaml.Node = value
            return found
    raise _Unfit(0)


def _head_edits(source: Text, root: yaml.Node | None, old: Playlist, new: Playlist) -> list[tuple[int, int, str]]:
    was, now = old.playlist, new.playlist
    values = {name: getattr(now, name) for name in _HEAD if getattr(now, name) != getattr(was, name)}
    head = _node(root, "playlist")
    if not values:
        return []
    if not isinstance(head, yaml.MappingNode):
        raise _Unfit(head.start_mark.line)
    return changed(source, head, values, "id")


def _item_edits(source: Text, root: yaml.Node | None, old: Playlist, new: Playlist) -> list[tuple[int, int, str]]:
    items = _node(root, "items")
    if not isinstance(items, yaml.SequenceNode):
        raise _Unfit(items.start_mark.line)
    if not items.value:
        start, end = source.offset(items.start_mark), source.offset(items.end_mark)
        lines = "".join(f"{source.newline}  - {_new_item(item)}" for item in new.items)
        return [(start, end, lines)]
    pieces = _bracketed(source, items) if items.flow_style else _lines(source, items)
    texts = dict(zip(_keys(old.items), (source.text[p.start : p.end] for p in pieces), strict=True))
    before = dict(zip(_keys(old.items), old.items, strict=True))
    by_key = dict(zip(_keys(old.items), pieces, strict=True))
    now = dict(zip(_keys(new.items), new.items, strict=True))
    for key, item in now.items():
        if key in before:
            edits = _edits_of(source, by_key[key].node, before[key], item)
            texts[key] = applied(texts[key], edits, by_key[key].start)
        else:
            texts[key] = _new_piece(source, items, item)
    joined = _joined(source, items, [texts[key] for key in now])
    return [(pieces[0].start, pieces[-1].end, joined)]


def _edits_of(source: Text, node: yaml.MappingNode, was: Item, item: Item) -> list[tuple[int, int, str]]:
    values = {name: getattr(item, name) for name in _OURS if getattr(item, name) != getattr(was, name)}
    gone = [name for name in values if name not in item.model_fields_set]
    said = {name: value for name, value in values.items() if name not in gone}
    try:
        return [*without(source, node, gone), *changed(source, node, said, "video")]
    except KeyError:  # the video's id, or the value that goes, is an alias
        raise _Unfit(node.start_mark.line) from None


def _keys(items: Iterable[Item]) -> list[tuple[str, int]]:
    seen: Counter[str] = Counter()
    keys = []
    for item in items:
        seen[item.video] += 1
        keys.append((item.video, seen[item.video]))
    return keys


def _lines(source: Text, items: yaml.SequenceNode) -> list[_Piece]:
    """The lines of each item, from the comments above its dash to those above the next one's."""
    column = items.start_mark.column
    dashes = [_dash(source, node, column) for node in items.value]
    stop = _last_line(source, items.value[-1], column) + 1
    floors = [-1, *(max(_content_end(node), dash) for node, dash in zip(items.value, dashes, strict=True))]
    firsts = [_first_line(source, dash, floor, column) for dash, floor in zip(dashes, floors, strict=False)]
    starts = [source.starts[line] for line in firsts]
    ends = [*starts[1:], source.starts[stop] if stop < len(source.starts) else len(source.text)]
    return [_Piece(*piece) for piece in zip(starts, ends, map(_mapping, items.value), strict=True)]


def _first_line(source: Text, dash: int, floor: int, column: int) -> int:
    """The first of the comment lines directly above a dash, below the line `floor`."""
    while dash - 1 > floor and _is_comment(source.line(dash - 1), column):
        dash -= 1
    return dash


def _dash(source: Text, node: yaml.Node, column: int) -> int:
    """The line of an item's dash: its own, or one above where the dash stands alone."""
    for number in range(node.start_mark.line, -1, -1):
        line = source.line(number)
        if line[column : column + 1] == "-" and not line[:column].strip(" "):
            return number
    raise _Unfit(node.start_mark.line)


def _is_comment(line: str, column: int) -> bool:
    indent = len(line) - len(line.lstrip(" "))
    return indent <= column and line[indent : indent + 1] == "#"


def _content_end(node: yaml.Node) -> int:
    """The last line that certainly holds something of the item; the end of a block text is not told exactly."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return max(_content_end(last[1] if isinstance(last, tuple) else last), node.start_mark.line)
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        return int(node.start_mark.line)
    return int(node.end_mark.line)


def _last_line(source: Text, node: yaml.Node, column: int) -> int:
    """The last line of the last item: what is indented deeper than its dash is still its own."""
    last = number = _content_end(node)
    while (number := number + 1) < source.line_count:
        line = source.line(number)
        indent = len(line) - len(line.lstrip(" "))
        if line.strip() and indent <= column:
            break
        last = number if line.strip() else last
    return last


def _bracketed(source: Text, items: yaml.SequenceNode) -> list[_Piece]:
    """The words of each item of `items: [{…}, {…}]`. Between them only commas and spaces may stand."""
    pieces = [_Piece(source.offset(n.start_mark), source.offset(n.end_mark), _mapping(n)) for n in items.value]
    ends = [source.offset(items.start_mark) + 1, *(piece.end for piece in pieces)]
    starts = [*(piece.start for piece in pieces), source.offset(items.end_mark) - 1]
    for end, start in zip(ends, starts, strict=True):
        if source.text[end:start].replace(",", "").strip():
            raise _Unfit(source.line_of(end))
    return pieces


def _mapping(node: yaml.Node) -> yaml.MappingNode:
    if isinstance(node, yaml.MappingNode):
        return node
    raise _Unfit(node.start_mark.line)


def _new_piece(source: Text, items: yaml.SequenceNode, item: Item) -> str:
    if items.flow_style:
        return _new_item(item, is_json=True)
    return f"{' ' * int(items.start_mark.column)}- {_new_item(item)}{source.newline}"


def _joined(source: Text, items: yaml.SequenceNode, texts: Sequence[str]) -> str:
    if items.flow_style:
        first, second = items.start_mark, items.value[0].start_mark
        gap = " " if first.line == second.line else source.newline + " " * int(second.column)
        return f",{gap}".join(texts)
    broken = [text if text.endswith(("\n", "\r")) else text + source.newline for text in texts[:-1]]
    return "".join([*broken, texts[-1]])


def _new_item(item: Item, *, is_json: bool = False) -> str:
    order = ("part", "video", "title", "duration", "label", "text", "topic", "picture", "vars", "removed")
    said = item.model_dump(exclude_defaults=True)
    values: dict[str, Any] = {name: said[name] for name in order if name in said}
    if is_json:
        values = {scalar(name): value for name, value in values.items()}
    return flow(values)


def _says(text: str) -> Any:
    """What a text says, as plain data of a playlist; None where it says no playlist."""
    try:
        return _plain(Playlist.model_validate(yaml_events.read(text).data))
    except (yaml_events.Unreadable, ValueError):
        return None


def _plain(playlist: Playlist) -> Any:
    return playlist.model_dump()
