"""The verb table: a command is data. Parser, refusals, help, completion and the tables of the docs derive from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thumbforge.errors import UsageError
from thumbforge.tasks.options import Option, Read, flag, whole
from thumbforge.tasks.variables import Pairs
from thumbforge.text import nearest

if TYPE_CHECKING:
    from thumbforge.planning.project import Project

JSON = flag("json", "print one JSON document")
VAR = Option("var", "a variable of the template; also var.NAME=VALUE", value="NAME=VALUE")
CONCURRENCY = Option("concurrency", "items made at once", whole(1, 999_999), "N", short="n")
DRY_RUN = flag("dry-run", "print the plan, change nothing")
EVERYWHERE = (
    Option("file", "the project's dodo.py", value="FILE", short="f"),
    Option("dir", "the project's directory", value="DIR", short="d"),
    Option("config", "the settings file to read instead of the project's thumbforge.toml", value="FILE"),
    flag("verbose", "tell more on stderr; -vv tells all", short="v"),
    flag("quiet", "tell nothing on stderr but errors", short="q"),
    flag("no-color", "no colours, as NO_COLOR=1 says it"),
    flag("help", "show this help", short="h"),
)
"""What each of our commands takes, whatever its verb."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was typed, read by the table. `options` has every option of the verb by its long name, `given` only what
    was typed, by pair name; `words` are as their `Word` reads them, None for one that may be left out and was."""

    options: Mapping[str, Any]
    given: Mapping[str, Any]
    vars: Mapping[str, str]
    words: Sequence[Any]

    @property
    def as_json(self) -> bool:
        return bool(self.options.get("json"))

    @property
    def pairs(self) -> Pairs:
        return Pairs(self.given, self.vars)


@dataclass(frozen=True, slots=True)
class Word:
    """An operand. `known` says what it may be ("the newest is 6abc4747"), "" where there is none; it is told where the
    operand is missing. `names` is as an option's."""

    name: str
    known: Callable[[Project], str] | None = None
    read: Read = str
    is_optional: bool = False
    is_repeated: bool = False
    names: str = ""

    @property
    def written(self) -> str:
        name = f"{self.name} …" if self.is_repeated else self.name
        return f"[{name}]" if self.is_optional else name

    def take(self, text: str, verb: str) -> Any:
        try:
            return self.read(text)
        except ValueError as error:
            raise UsageError(f"{verb}: {text!r} is no {self.name}: {error}") from None


@dataclass(frozen=True, slots=True)
class Verb:
    """What can be done: its operands in order, its options, and the function that does it and returns the exit code.

    A command without verbs has one, without a name.
    """

    name: str
    words: tuple[Word, ...]
    run: Callable[[Project, Arguments], int]
    help: str
    options: tuple[Option, ...] = ()

    @property
    def usage(self) -> str:
        """`pick RUN N`, and the options that must be there."""
        needed = [option.written for option in self.options if option.is_required]
        return " ".join(part for part in (self.name, *(word.written for word in self.words), *needed) if part)

    def takes(self, option: Option) -> bool:
        return any(option.name == own.name for own in self.options)

    def told(self, *, as_json: bool = False, **given: Any) -> Arguments:
        """What it gets where these pairs are typed, whose values are read already, and no word."""
        options = {option.name: given.get(option.pair, option.default) for option in self.options}
        return Arguments(options | {JSON.name: as_json}, given, {}, [None] * len(self.words))

    def missing(self, words: Sequence[str]) -> Word | None:
        """The first operand that has to be there and is not."""
        return next((word for word in self.words[len(words) :] if not word.is_optional), None)

    def read(self, words: Sequence[str], called: str) -> list[Any]:
        """The operands' values, one for each of `self.words`, and one for each repetition of the last."""
        declared = list(self.words)
        if declared and declared[-1].is_repeated:
            declared += [declared[-1]] * (len(words) - len(declared))
            declared = declared[: max(len(words), len(self.words) - 1)]
        if strange := words[len(declared) :]:
            raise UsageError(f"{called} does not know what to do with {strange[0]!r}", hint=usage_hint(called, self))
        read = [word.take(text, called) for word, text in zip(declared, words, strict=False)]
        return read + [None] * (len(declared) - len(read))


def usage_hint(called: str, verb: Verb) -> str:
    """`thumbforge hero pick RUN N`; `called` is the command, or the command and the verb."""
    command = called.split(" ", 1)[0]
    return f"thumbforge {command} {verb.usage}".rstrip() + f"; thumbforge {called} --help shows all"


def find_verb(command: str, verbs: Sequence[Verb], word: str) -> Verb:
    """The verb of this name. Raises UsageError with the nearest, or with all."""
    for verb in verbs:
        if verb.name == word:
            return verb
    names = [verb.name for verb in verbs]
    if not word:
        raise UsageError(f"{command} needs a verb: {', '.join(names)}", hint=f"thumbforge {command} --help")
    near = nearest(word, names)
    hint = f"did you mean thumbforge {command} {near[0]}?" if near else f"{command} knows {', '.join(names)}"
    raise UsageError(f"{command} does not know {word!r}", hint=hint)


def all_options(verbs: Iterable[Verb]) -> list[Option]:
    """Every option of the verbs once, in the order of the table. Verbs may give one name different helps and defaults;
    how a command line writes it is the same for all."""
    return list({option.name: option for verb in verbs for option in verb.options}.values())
