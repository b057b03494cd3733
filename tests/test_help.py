"""Help that is ours: a page by task, the word that was meant, and doit's commands where ours work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project import Project, make_project, video
from tests.test_docs_reference import commands
from thumbforge.commands.line.overview import ITS_OWN, TASKS, overview


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("help") / "project", 3)
    assert project.batch().code == 0
    return project


def test_list_shows_the_items(made: Project) -> None:
    """Without --all, and with it; --groups are the two lines that doit shows."""
    assert made.run("list").out.count("thumb:show:") == made.run("list", "--all").out.count("thumb:show:") == 3
    assert made.run("list", "--groups").out == made.doit("list").out


def test_every_command_stands_under_a_task() -> None:
    """None is left for the rest of the page, and the page names none that there is not."""
    placed = [name for names in TASKS.values() for name in names]
    assert sorted(placed) == sorted(commands())
    assert "More:" not in overview("thumbforge", dict.fromkeys(commands(), ""))


@pytest.mark.parametrize("words", [("--help",), ("-h",), ("help",), ("--json", "--help")], ids=" ".join)
def test_the_first_page_is_ours(words: tuple[str, ...], tmp_path: Path) -> None:
    """By task, with one first step, in any directory; nothing of doit's insides."""
    told = Project(tmp_path).run(*words)
    assert (told.code, told.err) == (0, "")
    assert "First step: thumbforge init my-thumbnails" in told.out
    assert [name for name in (*commands(), *ITS_OWN) if f"  thumbforge {name} " not in told.out] == []
    assert not any(word in told.out for word in ("strace", "dumpdb", "CmdOption", "pydoit"))
    assert max(map(len, told.out.splitlines())) <= 110


def test_a_default_is_told_as_it_is_typed(tmp_path: Path) -> None:
    """An empty one is none."""
    assert not [name for name in commands() if "(default: frozenset" in Project(tmp_path).run(name, "--help").out]


def test_the_first_step_works(tmp_path: Path) -> None:
    """Its commands, typed as they stand there, give pictures."""
    [line] = [line for line in overview("thumbforge", {}).splitlines() if line.startswith("First step: ")]
    init, folder, batch = (part.split() for part in line.removeprefix("First step: ").split(" && "))
    assert Project(tmp_path).run(*init[1:]).code == 0
    assert Project(tmp_path / folder[1]).run(*batch[1:], "--dry-run").code == 0


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("bacth",), "'bacth' is neither a command nor a task", "did you mean thumbforge batch?"),
        (("bacth", "series=show"), "'bacth' is neither a command nor a task", "did you mean thumbforge batch?"),
        (("help", "bacth"), "'bacth' is neither a command nor a task", "did you mean thumbforge batch?"),
        (("xyzzy",), "'xyzzy' is neither", "thumbforge help lists the commands"),
        (("list", "--stauts"), "list: option --stauts not recognized", "did you mean --status?"),
        (("run", "--jsn"), "run: option --jsn not recognized", "thumbforge help run"),
        (("sheet", "--pack"), "option --pack not recognized", "thumbforge series sheet NAME --pack"),
        (("info",), "info needs a TASK", "thumbforge list --all"),
        (("info", "99"), "'99' is no task", "thumbforge list --all"),
        (("info", "thumb:show:video-00009"), "is no task", "did you mean thumb:show:video-0000"),
        (("dumpdb",), "dumpdb cannot read .doit.db", "thumbforge list --all -s"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_word_is_two_lines(words: tuple[str, ...], message: str, hint: str, made: Project) -> None:
    """Exit 2, a message and a hint; no traceback, no foreign page, nothing made."""
    told = made.run(*words)
    said, cure = told.err.splitlines()
    assert (told.code, told.out) == (2, "")
    assert said.startswith("usage: ")
    assert message in said
    assert cure.startswith("hint: ")
    assert hint in cure


def test_what_is_not_found_under_a_command_of_doits_has_our_code(made: Project) -> None:
    """`list` of a series that there is not: as `batch` says it."""
    told = made.run("list", "series=none")
    assert (told.code, told.err) == (3, made.run("batch", "series=none").err)


def test_a_damaged_ledger_has_its_own_code_under_list(tmp_path: Path) -> None:
    """Exit 1, and no word of doit's before it."""
    project = make_project(tmp_path / "project", 1)
    project.write(".thumbforge/ledger.sqlite3", "no database " * 2000)
    told = project.run("list", "--all")
    assert (told.code, told.err.partition(":")[0]) == (1, "ledger_failed")


@pytest.mark.parametrize("words", [("list", "--all"), ("info", f"thumb:show:{video(1)}"), ("info", "1"), ("run",)])
def test_doits_commands_work_in_a_subfolder(words: tuple[str, ...], made: Project) -> None:
    """And with -d from elsewhere, as `batch` does."""
    told = made.run(*words, cwd=made.root / "specs/heroes")
    assert (told.code, told.out) == (0, made.run(*words).out)
    assert "thumb" in told.out
    assert "args=[]" not in told.out
    outside = made.root.parent
    assert made.run(words[0], "-d", made.root.name, *words[1:], cwd=outside).out == told.out


def test_an_item_may_be_named_by_its_part(made: Project) -> None:
    """Where two series have it, both are named."""
    assert made.run("info", "2").out == made.run("info", f"thumb:show:{video(2)}").out
    both = made.copy(made.root.with_name("both"))
    both.series("other")
    told = both.run("info", "2")
    assert (told.code, f"thumb:other:{video(2)}" in told.err, f"thumb:show:{video(2)}" in told.err) == (2, True, True)


@pytest.mark.parametrize("words", [("list", "--help"), ("list", "-h"), ("help", "list")], ids=" ".join)
def test_help_on_one_of_doits_commands_is_the_same_however_it_is_asked(words: tuple[str, ...], made: Project) -> None:
    """`help X`, `X --help` and `X -h`."""
    assert made.run(*words).out == made.run("help", "list").out


def test_help_on_a_verb_is_the_same_however_it_is_asked(made: Project) -> None:
    """`help hero pick` is `hero pick --help`."""
    assert made.run("help", "hero", "pick").out == made.run("hero", "pick", "--help").out


def test_a_plug_in_that_is_not_there_is_one_line(made: Project, tmp_path: Path) -> None:
    """Named in doit.cfg, not installed: no traceback where it is looked up, and no harm where it is not."""
    project = made.copy(tmp_path / "plugged")
    project.write("doit.cfg", "[COMMAND]\nfoo = nosuchmodule:Foo\n")
    told = project.run("foo")
    assert (told.code, "the module nosuchmodule of a plug-in of doit is not there" in told.err) == (2, True)
    assert "Traceback" not in told.err
    assert project.run("status").code == 0


def test_a_reader_that_goes_ends_doits_own_list_without_a_word(made: Project) -> None:
    """`doit list | head`, as under `thumbforge`: no traceback."""
    process = made.start("list", "--all", tool="doit")
    assert process.stdout
    process.stdout.close()
    _, complained = process.communicate()
    assert complained == ""
