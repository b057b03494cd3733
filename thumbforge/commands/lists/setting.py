"""`doit playlist set NAME ITEM text=…`: a word of one item, without an editor."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import print_json
from thumbforge.commands.lists.known import batch_of, find
from thumbforge.commands.operands import PLAYLIST
from thumbforge.commands.verbs import Arguments, Verb, Word
from thumbforge.errors import Exit, UsageError
from thumbforge.tasks.options import Option, whole

if TYPE_CHECKING:
    from thumbforge.planning.project import Project


def _line(text: str) -> str | None:
    """`\\n` typed as two characters is a line break, as in the YAML; nothing takes the field away."""
    return re.sub(r"\\n", "\n", text) if text.strip() else None


def _name(text: str) -> str | None:
    return text if text.strip() else None


def _part(text: str) -> int | None:
    return int(whole(0, 100_000)(text)) if text.strip() else None


def _set(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import print_table, write
    from thumbforge.playlists.setting import set_fields

    name, item = arguments.words
    if not arguments.given:
        fields = " ".join(f"{option.pair}=…" for option in SET.options if not option.is_flag)
        raise UsageError("playlist set needs what is to be set", hint=f"thumbforge playlist set {name} {item} {fields}")
    loaded = find(project, name)
    done = set_fields(project, loaded.spec.playlist.id, item, arguments.given)
    changed = {field: (getattr(done.was, field), getattr(done.now, field)) for field in arguments.given}
    changed = {field: (was, now) for field, (was, now) in changed.items() if was != now}
    if arguments.as_json:
        told: dict[str, Any] = {"position": done.position, "part": done.now.part, "video": done.now.video}
        print_json(
            {
                "playlist": loaded.spec.playlist.id,
                "name": loaded.name,
                **told,
                "title": done.now.title,
                "changed": [{"field": field, "was": was, "now": now} for field, (was, now) in changed.items()],
                "exit_code": Exit.DONE,
            }
        )
        return Exit.DONE
    if not changed:
        write(f"Nothing has changed: {done.now.title} says that already.")
        return Exit.DONE
    write(f"{done.now.title} ({done.now.video}), {loaded.name}.yaml\n")
    print_table(("field", "says", "was"), [(field, _shown(now), _shown(was)) for field, (was, now) in changed.items()])
    only = str(done.position if done.now.part is None else done.now.part)
    write(f"Next: {batch_of(project, loaded.name, loaded.spec.playlist.id, only)}")
    return Exit.DONE


def _shown(value: str | int | None) -> str:
    return "" if value is None else str(value).replace("\n", " / ")


SET = Verb(
    "set",
    (PLAYLIST, Word("ITEM", names="item")),
    _set,
    "what is drawn of one video, written into the YAML, where all else stays; an empty value takes a field away",
    (
        Option("text", "what is drawn instead of the title; *word* is the accent, \\n breaks the line", _line),
        Option("label", "a badge of your own words", _line),
        Option("topic", "what prompts speak of instead of the title", _line),
        Option("part", "the number on the badge", _part, "N"),
        Option("picture", "the item's own picture, from the project's directory", _name, "FILE"),
    ),
)
