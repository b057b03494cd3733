"""`thumbforge explain FILE`: the story of a picture, also of one that was copied elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.verbs import Arguments, Verb, Word
from thumbforge.errors import Exit

if TYPE_CHECKING:
    from thumbforge.planning.project import Project
    from thumbforge.upkeep.explain import Story


def _explain(project: Project, arguments: Arguments) -> int:
    from thumbforge.upkeep.explain import explain

    [word] = arguments.words
    story = explain(project, project.cwd / word, word)
    if arguments.as_json:
        print_json({**story.as_dict(), "exit_code": Exit.DONE})
    else:
        _tell(story)
    return Exit.DONE


def _tell(story: Story) -> None:
    from thumbforge.commands.telling.view import when, write
    from thumbforge.text import one_line

    write(story.why)
    price = f"{story.cost} {story.currency}" if story.cost else ""
    for name, value in (
        ("series", story.series),
        ("video", story.video),
        ("part", story.part),
        ("title", story.title),
        ("text", story.text),
        ("template", story.template),
        ("profile", story.profile),
        ("provider", " ".join(filter(None, (story.provider, story.model)))),
        ("hero", story.hero or (story.hero_sha256 or "")[:12]),
        ("prompt", story.prompt),
        ("take", str(story.take or "")),
        ("key", (story.key or "")[:8]),
        ("art", (story.art_sha256 or "")[:12]),
        ("final", (story.final_sha256 or "")[:12]),
        ("run", (story.run or "")[:8]),
        ("made", when(story.at)),
        ("price", price),
        ("found in", ", ".join(story.found_in)),
    ):
        if value:
            write(f"{name:<9} {one_line(value)}")


class Explain(ThumbCommand):
    name = "explain"
    doc_purpose = "which item a picture file is of, what it was made of, and why"
    doc_description = (
        "FILE may lie anywhere: it is found by its bytes, in lock files, manifests and the ledger. Exit 3: it is none "
        "of this project."
    )
    example = "explain out/pandas-30/07-yzIMircGU5I.jpg; explain ~/Downloads/thumb.jpg --json"
    verbs = (Verb("", (Word("FILE"),), _explain, "a picture file, wherever it is"),)
