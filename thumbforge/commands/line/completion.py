"""`thumbforge tabcompletion`: the scripts that let bash, zsh and fish ask `thumbforge` what may come next.

A script knows nothing by itself: at each TAB it hands over the line (bash) or its words, and gets one candidate a line,
with a tab and a few words on it where the shell shows them.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doit.cmd_completion import TabCompletion

from thumbforge.errors import ThumbforgeError
from thumbforge.text import printable

if TYPE_CHECKING:
    from thumbforge.commands.command import ThumbCommand
    from thumbforge.commands.line.completing import Candidate

ASKED = "--complete"
"""`thumbforge tabcompletion --complete SHELL WORD …` is how a script asks."""
SCRIPTS: Mapping[str, str] = {
    "bash": """\
# completion of thumbforge for bash: source this file
_thumbforge() {
    local IFS=$'\\n'
    COMPREPLY=( $(thumbforge tabcompletion --complete bash "${COMP_LINE:0:$COMP_POINT}" 2>/dev/null) )
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _thumbforge thumbforge
""",
    "zsh": """\
#compdef thumbforge
# completion of thumbforge for zsh: source this file, or put it as _thumbforge into a folder of $fpath
_thumbforge() {
    local line text
    local -a texts shown
    for line in "${(@f)$(thumbforge tabcompletion --complete zsh "${(@Q)words[1,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        text=${line%%$'\\t'*}
        texts+=("$text")
        if [[ $line == *$'\\t'* ]]; then shown+=("$text  -- ${line#*$'\\t'}"); else shown+=("$text"); fi
    done
    if (( ${#texts} == 0 )); then _files; return; fi
    if (( ${#texts} == 1 )) && [[ ${texts[1]} == *[=:] ]]; then compadd -S '' -a texts; return; fi
    compadd -l -d shown -a texts
}
if [[ ${funcstack[1]} == _thumbforge ]]; then _thumbforge "$@"; else compdef _thumbforge thumbforge; fi
""",
    "fish": """\
# completion of thumbforge for fish: put it into ~/.config/fish/completions/thumbforge.fish
function __thumbforge_complete
    set -l current (commandline -ct)
    thumbforge tabcompletion --complete fish (commandline -opc) "$current" 2>/dev/null
end
complete -c thumbforge -k -a '(__thumbforge_complete)'
""",
}


class Completion(TabCompletion):  # type: ignore[misc]
    name = "tabcompletion"
    doc_purpose = "print a script that completes commands for bash, zsh or fish"
    cmd_options = (
        {
            "name": "shell",
            "short": "s",
            "long": "shell",
            "type": str,
            "choices": tuple((shell, "") for shell in SCRIPTS),
            "default": "bash",
            "help": "the shell that reads the script [default: %(default)s]",
        },
    )

    def execute(self, opt_values: Mapping[str, Any], pos_args: Sequence[str]) -> int:
        self.outstream.write(SCRIPTS[opt_values["shell"]])
        return 0


def answer(shell: str, said: Sequence[str]) -> int:
    """Print what may come next; nothing where that cannot be told. Never fails: a shell has nobody to tell it to."""
    words = (_split(said[0] if said else "") if shell == "bash" else list(said))[1:] or [""]
    with suppress(ThumbforgeError, OSError):
        for candidate in _found(words):
            sys.stdout.write(_line(shell, candidate, words[-1]) + "\n")
    return 0


def _found(words: Sequence[str]) -> list[Candidate]:
    from thumbforge.commands.command import find_root
    from thumbforge.commands.line.completing import complete
    from thumbforge.commands.line.overview import ITS_OWN
    from thumbforge.planning.project import Project

    named = [after for word, after in pairwise(words) if word in {"-d", "--dir"}]
    cwd = Path.cwd()
    root = find_root(cwd, None, named[0] if named else None)
    return complete(words, _Commands(), ITS_OWN, Project(root, cwd))


class _Commands(Mapping[str, "type[ThumbCommand]"]):
    """Ours by name, each imported when it is asked for: a line has one, and somebody waits."""

    def __init__(self) -> None:
        found = sorted(metadata.entry_points(group="doit.COMMAND"), key=lambda entry: entry.name)
        self._entries = {entry.name: entry for entry in found if entry.value.startswith("thumbforge.")}

    def __getitem__(self, name: str) -> type[ThumbCommand]:
        command: type[ThumbCommand] = self._entries[name].load()
        return command

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def _split(line: str) -> list[str]:
    """A line as bash has it so far, the last word unfinished, perhaps in the middle of quotes."""
    for end in ("", "'", '"'):
        with suppress(ValueError):
            words = shlex.split(line + end)
            return [*words, ""] if not words or (not end and line[-1:].isspace()) else words
    return [*line.split(), ""]


def _line(shell: str, candidate: Candidate, current: str) -> str:
    text = printable(candidate.text)
    if shell == "bash":  # it breaks words at = and :, and puts the answer in the place of what stands behind them
        head = max(current.rfind("="), current.rfind(":")) + 1
        return text[head:] if text.endswith("=") else shlex.quote(text[head:])
    return f"{text}\t{printable(candidate.help)}" if candidate.help else text
