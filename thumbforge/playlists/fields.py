"""What a person says of an item in a list: the fields that are theirs, whether a value may stand there, and the item
with it. Nothing is read or written here but the picture that is looked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from thumbforge.errors import NotFound, UsageError
from thumbforge.models import Item, Playlist
from thumbforge.named import elsewhere, inside
from thumbforge.playlists.merge import Key, keyed
from thumbforge.redact import looks_secret

OWN = tuple(name for name in Item.model_fields if name not in {"video", "title", "duration", "vars", "removed"})
"""The fields of an item that are a person's and hold one value; the others are YouTube's, or hold several."""

Values = Mapping[str, str | int | None]
"""By field what stands there from now on; None is a field that is taken away."""


def faults(values: Values, root: Path) -> dict[str, str]:
    """By field why a value may not stand in a list of the project at `root`."""
    found = {name: why for name, value in values.items() if (why := _unfit(name, value))}
    try:
        Item.model_validate({"video": "aaaaaaaaaaa", "title": "any", **_said(values)})
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            found.setdefault(str(detail["loc"][0]), _message(detail["type"], detail.get("ctx", {}), detail["msg"]))
    if isinstance(picture := values.get("picture"), str) and "picture" not in found:
        try:
            if not inside(root, picture).is_file():
                found["picture"] = f"there is no file {picture}; {elsewhere(picture, root)}"
        except UsageError as error:
            found["picture"] = f"{error.message}; {error.hint}"
    return found


def with_values(item: Item, values: Values) -> Item:
    """The item with these, which `faults` has found none in."""
    said = {**item.model_dump(exclude_unset=True), **values}
    return Item.model_validate({name: value for name, value in said.items() if name not in values or value is not None})


def with_item(playlist: Playlist, key: Key, item: Item) -> Playlist:
    """The list with another item in this one's place. UsageError where its part is another's."""
    items = keyed(playlist.items)
    items[key] = item
    others = [video for (video, n), one in items.items() if one.part == item.part and (video, n) != key]
    if item.part is not None and others:
        hint = f"thumbforge playlist set {playlist.playlist.id} {others[0]} part= takes it away there"
        raise UsageError(f"part {item.part} is {others[0]}'s", hint=f"{hint}; playlist renumber numbers all anew")
    return Playlist(playlist=playlist.playlist, items=tuple(items.values()))


def item_named(playlist: Playlist, word: str) -> Key:
    """The item that a word means: a part, `#` and a position, or a video's id with, where it is listed again, `:2`; a
    number is a position where the item there has no part. NotFound where it means none, UsageError where several."""
    items = keyed(playlist.items)
    found = [key for position, (key, item) in enumerate(items.items(), 1) if word in _names(key, item, position)]
    if len(found) == 1:
        return found[0]
    if found:
        hint = f"name it by its video: {' or '.join(_written(key) for key in found)}"
        raise UsageError(f"{word} is a part and a position", hint=hint)
    parts = [item.part for item in items.values() if item.part is not None]
    known = [f"a part from {min(parts)} to {max(parts)}"] if parts else []
    known += [f"a position from #1 to #{len(items)}", f"a video id, such as {next(iter(items))[0]}"] if items else []
    raise NotFound(f"{playlist.playlist.id} has no item {word}", hint=", ".join(known) or "the playlist is empty")


def _names(key: Key, item: Item, position: int) -> set[str]:
    return {_written(key), f"#{position}", str(position if item.part is None else item.part)}


def _written(key: Key) -> str:
    """As a task's name ends: the second place of a video has its number."""
    video, occurrence = key
    return video if occurrence == 1 else f"{video}:{occurrence}"


def _said(values: Values) -> dict[str, str | int]:
    return {name: value for name, value in values.items() if value is not None}


def _unfit(name: str, value: str | int | None) -> str:
    """Why a text may not stand in any spec."""
    if not isinstance(value, str):
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        return "is no text in UTF-8"
    is_secret = name != "title" and looks_secret(value)
    return "this looks like a key; secrets come from the environment, never from a spec" if is_secret else ""


def _message(kind: str, context: Mapping[str, object], message: str) -> str:
    told = {
        "string_too_long": "is longer than {max_length} characters",
        "string_too_short": "is empty",
        "less_than_equal": "is above {le}",
        "greater_than_equal": "is below {ge}",
    }
    return told[kind].format(**context) if kind in told else message
