"""`doit init DIR`: a project that works at once, and a place for one's own specs. Never overwrites."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from thumbforge.commands.command import ThumbCommand
from thumbforge.commands.verbs import Arguments, Verb, Word
from thumbforge.errors import Exit, StoreError, UsageError
from thumbforge.tasks.options import flag

if TYPE_CHECKING:
    from thumbforge.planning.project import Project

DODO = '''"""The tasks of this project: `doit list --all -s`, `doit info thumb:…`, `doit batch series=…`."""

from thumbforge.tasks.dodo import DOIT_CONFIG, task_sheet, task_thumb

__all__ = ["DOIT_CONFIG", "task_sheet", "task_thumb"]
'''
GITIGNORE = "/.thumbforge/\n/out/\n/.doit.db*\n"
PLAYLIST = """\
# One playlist: what YouTube says of it, and what you want on the pictures.
playlist: {id: PLexample000000, title: My first series, channel: My channel, language: en}
items:
  # `title` is the video's; `text` is what is drawn (default: the title). *word* takes the accent colour, \\n breaks.
  - {video: example0001, title: How it all began, part: 1, text: "How it all *began*"}
  - {video: example0002, title: The second part is where it gets interesting, part: 2, text: "It gets *interesting*"}
  - {video: example0003, title: A look back, part: 3, text: "A look *back*"}
"""
SERIES = """\
playlist: example
hero: specs/heroes/example.jpg   # the picture that sets the style; or the id of a run or an iteration
template: series-parts           # also: bold-title, minimal, or one of specs/templates
provider: local                  # no key, no network, no cost
max_images: 50                   # more than this many new pictures at once are refused
"""
SETTINGS = """\
# Each line shows a default; remove the # to change it. The environment (THUMBFORGE_OUTPUT__WIDTH) goes before it.
[batch]
# concurrency = 4
# max_retries = 2

[output]
# width = 1920
# height = 1080
# format = "jpeg"
"""
REQUIREMENTS = """\
# What this project is made with: pip install -r requirements.txt, on every machine that makes its pictures.
"""
OF_THIS_MACHINE = """\
# The next line names a folder or file of this machine. For CI and for others put the address of the repository that it
# came from (git+https://…@<commit>) or of a wheel in its place.
"""
GITATTRIBUTES = """\
# A lock file has a line for each item: git keeps the lines of both sides, and the next batch joins them.
/specs/locks/*.yaml merge=union
"""
FILES = {"dodo.py": DODO, ".gitignore": GITIGNORE, ".gitattributes": GITATTRIBUTES, "thumbforge.toml": SETTINGS}
EXAMPLE = {"specs/playlists/example.yaml": PLAYLIST, "specs/series/example.yaml": SERIES}
WORKFLOW = ".github/workflows/thumbnails.yml"
_NO_SERIES = "series: [example]"
FOLDERS = ("specs/playlists", "specs/series", "specs/heroes", "specs/templates", "specs/providers")


def _init(project: Project, arguments: Arguments) -> int:
    from thumbforge.commands.telling.view import write
    from thumbforge.specs.catalog import Catalog

    [name] = arguments.words
    root = (project.cwd / name).absolute()
    if root.exists() and not root.is_dir():
        raise UsageError(f"{name} is a file", hint="name a directory")
    laid = lay(root)
    if not (arguments.options["ci"] and Catalog(root).series_names()):
        laid += _lay_example(root)
    if arguments.options["ci"]:
        laid.append((WORKFLOW, _write_new(root / WORKFLOW, workflow(Catalog(root).series_names()).encode())))
    for file, is_new in laid:
        write(f"{'made' if is_new else 'kept'}  {file}")
    write(f"Next: cd {shlex.quote(name)} && thumbforge batch series=example")
    return Exit.DONE


def lay(root: Path) -> list[tuple[str, bool]]:
    """Make of a directory a project without a series: write what is missing. Returns each file's name and whether it is
    new. Raises StoreError."""
    for folder in FOLDERS:
        try:
            (root / folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_written(error) from error
    files = {**FILES, "requirements.txt": _requirements()}
    return [(name, _write_new(root / name, text.encode())) for name, text in files.items()]


def _lay_example(root: Path) -> list[tuple[str, bool]]:
    told = [(name, _write_new(root / name, text.encode())) for name, text in EXAMPLE.items()]
    hero = root / "specs/heroes/example.jpg"
    return [*told, ("specs/heroes/example.jpg", not hero.exists() and _write_new(hero, _example_hero()))]


def workflow(series: Iterable[str]) -> str:
    """The workflow for GitHub, with a job for each of these series."""
    text = Path(__file__).with_name("thumbnails.yml").read_text(encoding="utf-8")
    return text.replace(_NO_SERIES, f"series: [{', '.join(sorted(series))}]")


def _not_written(error: OSError) -> StoreError:
    return StoreError(f"{error.filename} could not be written: {error.strerror}")


def _requirements() -> str:
    from thumbforge import install

    line = install.requirement()
    return f"{REQUIREMENTS}{OF_THIS_MACHINE if install.is_here_only(line) else ''}{line}\n"


def _write_new(path: Path, data: bytes) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        return False
    except OSError as error:
        raise _not_written(error) from error
    return True


def _example_hero() -> bytes:
    """What `local` paints where it has no hero to start from."""
    from thumbforge.cancel import Cancel
    from thumbforge.providers.base import Call, Request
    from thumbforge.providers.local import LocalProvider

    request = Request("", None, 1920, 1080, None, None, "example0000")
    return LocalProvider({}).generate(request, Call(Cancel(), 60, "", "", Path())).data


class Init(ThumbCommand):
    name = "init"
    doc_purpose = "make a working project in a directory; nothing that is there is changed"
    doc_description = (
        "Writes dodo.py, .gitignore, .gitattributes, thumbforge.toml, requirements.txt, and an example in specs/."
    )
    example = "init my-channel; init . --ci"
    options = ()
    verbs = (
        Verb(
            "",
            (Word("DIR"),),
            _init,
            "the directory, which is made where it is missing",
            (flag("ci", f"also {WORKFLOW}, which proves pull requests and makes what is missing on main"),),
        ),
    )
