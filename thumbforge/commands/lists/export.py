"""`doit playlist export NAME FILE.csv`: a list for a spreadsheet. `fetch FILE.csv` is the way back."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from thumbforge.commands.command import print_json
from thumbforge.commands.lists.known import find
from thumbforge.commands.operands import PLAYLIST
from thumbforge.commands.verbs import Arguments, Verb, Word
from thumbforge.errors import Exit, UsageError
from thumbforge.tasks.options import flag
from thumbforge.text import counted

if TYPE_CHECKING:
    from thumbforge.planning.project import Project

_ENDINGS = {".csv": ",", ".tsv": "\t"}


def _export(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.playlists.fetch_state import exported_of, keep_exported
    from thumbforge.playlists.spreadsheet import csv_text, exported, write_csv

    loaded = find(project, arguments.words[0])
    word = arguments.words[1] or f"{loaded.name}.csv"
    path = project.cwd / word
    if path.suffix.lower() not in _ENDINGS:
        raise UsageError(
            f"{word}: a list is exported as .csv or .tsv", hint=f"thumbforge playlist export {loaded.name}"
        )
    name, cells = loaded.spec.playlist.id, exported(loaded.spec)
    delimiter = ";" if arguments.options["semicolon"] else _ENDINGS[path.suffix.lower()]
    digest = write_csv(path, csv_text(cells, delimiter), exported_of(project.home, name).get("file"))
    keep_exported(project.home, name, {"cells": cells, "file": digest})
    if arguments.as_json:
        told = {"playlist": name, "name": loaded.name, "file": word, "items": len(cells)}
        print_json({**told, "exit_code": Exit.DONE})
        return Exit.DONE
    into = "" if path.stem in {loaded.name, name} else f" name={loaded.name}"
    write(
        f"{counted(len(cells), 'row')} in {word}: change text, part, label, topic, picture or title, and save as CSV."
    )
    write(f"Next: thumbforge fetch {shlex.quote(word)}{into}")
    return Exit.DONE


EXPORT = Verb(
    "export",
    (PLAYLIST, Word("FILE", is_optional=True)),
    _export,
    "the list as CSV for a spreadsheet, by default NAME.csv; fetch FILE takes back what was changed in it",
    (flag("semicolon", "; between the cells, as Excel reads it where the comma is in numbers"),),
)
