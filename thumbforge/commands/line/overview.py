"""The first page of help: our commands by task, doit's own apart, and one first step; and the word that was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from thumbforge.errors import UsageError
from thumbforge.text import nearest

TASKS: Mapping[str, tuple[str, ...]] = {
    "Make": ("status", "batch", "watch", "takes", "runs", "explain"),
    "The picture that sets the style": ("hero",),
    "The look": ("template", "provider"),
    "Playlists": ("fetch", "playlist", "series"),
    "A team": ("push", "pull"),
    "Care": ("init", "config", "check", "audit", "repair", "prune"),
}
"""What one comes for, and the commands for it; one that stands nowhere is told last."""
ITS_OWN = {
    "run": "make tasks (also without the word): thumbforge run thumb:SERIES:VIDEO",
    "list": "the items; -s: each with its state",
    "info": "why an item would run, field by field",
    "clean": "delete files in out/; the next run puts them back",
    "forget": "have an item checked again, never paid again",
    "ignore": "leave an item out until it is forgotten",
    "tabcompletion": "a script that completes commands for bash, zsh or fish",
}
"""doit's commands that mean something here."""


def overview(tool: str, purposes: Mapping[str, str]) -> str:
    """The page. `purposes` are our commands with what each is for."""
    lines = [f"{tool}: one consistent thumbnail for each video of a playlist", "", *_first_step(tool)]
    placed = [name for names in TASKS.values() for name in names]
    more = tuple(name for name in purposes if name not in placed)
    for task, names in (*TASKS.items(), ("More", more)):
        if known := [name for name in names if name in purposes]:
            lines += ["", f"{task}:", *(f"  {tool} {name:<13} {purposes[name]}" for name in known)]
    lines += ["", "Of doit, on which this stands:", *(f"  {tool} {name:<13} {says}" for name, says in ITS_OWN.items())]
    return "\n".join([*lines, "", f"{tool} COMMAND --help tells all of one; {tool} alone is {tool} status."])


def _first_step(tool: str) -> Iterator[str]:
    yield f"First step: {tool} init my-thumbnails && cd my-thumbnails && {tool} batch series=example"
    yield f"Your own:   {tool} series new 'https://www.youtube.com/playlist?list=…' --hero me.jpg --batch"


def not_a_command(tool: str, word: str, known: Sequence[str]) -> UsageError:
    """For a word that is neither a command nor a task, with the one that was meant."""
    near = nearest(word, known)
    hint = (
        f"did you mean {tool} {near[0]}?"
        if near
        else f"{tool} help lists the commands; {tool} list --all shows the tasks"
    )
    return UsageError(f"{word!r} is neither a command nor a task", hint=hint)
