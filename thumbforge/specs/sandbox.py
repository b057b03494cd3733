"""The Jinja2 that prompts are written in: Jinja's sandbox, less what a prompt does not need.

A prompt is text with expressions, `if`, `for` and `set`. What remains cannot run long or grow large: all texts of
a template share one budget of time, loops one of rounds, `range`, `+`, `~` and calls are bounded, and no value can be
nested by repetition. Import this module late: Jinja2 takes 0.04 s to load.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from functools import wraps
from typing import Any, cast

from jinja2 import StrictUndefined, Template, TemplateSyntaxError, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from thumbforge.models import NegativeSpace
from thumbforge.specs.variables import Named

MAX_CHARACTERS = 20_000
"""Of a rendered text, and of every value made on the way."""
MAX_STEPS = 20_000
"""Rounds of all loops of one rendering together."""
MAX_SECONDS = 2.0
"""Of a processor, for all texts of one template in a command; beside it each rendering has EACH_SECONDS. An honest one
takes a hundredth of that."""
ALL_SECONDS = 3.0
"""Of those of all templates together."""
EACH_SECONDS = 0.001

STEPS = "_steps"
"""The variable that holds the rounds left, as a list of one number."""

_COUNTED, _JOINED = "_counted", "_joined"

_FILTERS = frozenset((
    "abs", "capitalize", "count", "d", "default", "e", "first", "float", "int", "join", "last", "length", "list",
    "lower", "max", "min", "replace", "reverse", "round", "sort", "string", "title", "trim", "truncate",
    "unique", "upper", "wordcount",
))  # fmt: skip
_TEXT_METHODS = frozenset((
    "capitalize", "casefold", "count", "endswith", "find", "isdigit", "islower", "isupper", "lower", "lstrip",
    "removeprefix", "removesuffix", "rstrip", "split", "startswith", "strip", "title", "upper",
))  # fmt: skip
_LOOP_FIELDS = frozenset((
    "first", "index", "index0", "last", "length", "nextitem", "previtem", "revindex", "revindex0",
))  # fmt: skip
_ATTRIBUTES: dict[type, frozenset[str]] = {
    str: _TEXT_METHODS,
    LoopContext: _LOOP_FIELDS,
    NegativeSpace: frozenset(NegativeSpace.model_fields),
}
_MAPPING_METHODS = frozenset(("items", "keys", "values", "get"))

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.Name, nodes.Const,
    nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Add, nodes.Sub, nodes.Mul,
    nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Neg, nodes.Pos, nodes.Concat, nodes.Filter, nodes.Test, nodes.Getattr,
    nodes.Getitem, nodes.Slice, nodes.Call, nodes.Keyword, nodes.Tuple, nodes.List, nodes.Dict, nodes.Pair,
)  # fmt: skip
_VARYING = (nodes.Name, nodes.Call, nodes.Filter)


_NAMES_OF_JINJA = frozenset(("self", "super", "caller", "varargs", "kwargs"))


class TooLong(SecurityError):
    """A text of more than MAX_CHARACTERS."""


class _Clock(threading.local):
    """When the rendering of this thread has to be over, in seconds of its processor time."""

    ends = float("inf")


_clock = _Clock()
ALL_SPENT: ContextVar[list[float]] = ContextVar("seconds that all templates have taken in this command")


def rendered(compiled: Template, variables: Mapping[str, Any], spent: list[float]) -> str:
    """The text. `spent` are the seconds that all texts of its template have taken, as a list of one number.

    Raises whatever a text can be wrong by: Jinja's errors, a SecurityError once it takes too long (no single step takes
    0.1 s, and the clock is looked at in all of them that cost anything), TooLong, and Python's own.
    """
    context = compiled.new_context({**variables, STEPS: [MAX_STEPS]})
    by_all, began = _spent_by_all(), time.thread_time()
    _clock.ends = began + EACH_SECONDS + min(MAX_SECONDS - spent[0], ALL_SECONDS - by_all[0])
    try:
        return "".join(_within(compiled.root_render_func(context)))
    finally:
        _clock.ends = float("inf")
        over = time.thread_time() - began - EACH_SECONDS
        if over > 0:
            spent[0] += over
            by_all[0] += over


def _within(pieces: Iterable[str]) -> Iterator[str]:
    room = MAX_CHARACTERS
    for piece in pieces:
        room -= len(piece)
        if room < 0:
            raise TooLong(f"gives more than {MAX_CHARACTERS:,} characters")
        yield piece


def _spent_by_all() -> list[float]:
    """Not each template anew, or a folder of them is as bad as a long loop."""
    try:
        return ALL_SPENT.get()
    except LookupError:
        ALL_SPENT.set(spent := [0.0])
        return spent


def _check_time() -> None:
    if time.thread_time() > _clock.ends:
        raise SecurityError(
            f"templates' texts take more than {MAX_SECONDS:g} s to render, or {ALL_SECONDS:g} s together"
        )


def _timed(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)  # also what Jinja has noted on it: whether it is given the environment
    def run(*args: Any, **kwargs: Any) -> Any:
        _check_time()
        return function(*args, **kwargs)

    return run


class Missing(StrictUndefined):
    __slots__ = ()

    @property
    def _undefined_message(self) -> str:
        if isinstance(self._undefined_obj, Named):
            return f"`{self._undefined_obj.label}.{self._undefined_name}` is undefined"
        if self._undefined_hint:
            return self._undefined_hint
        return f"`{self._undefined_name}` is undefined"


class Sandbox(ImmutableSandboxedEnvironment):
    intercepted_binops = frozenset(("+", "*", "%"))

    def __init__(self) -> None:
        super().__init__(undefined=Missing, autoescape=False, finalize=_printed)
        ours = {"join": _join, "replace": _replace, _COUNTED: _counted, _JOINED: _joined}
        own = {name: self.filters[name] for name in _FILTERS} | ours
        self.filters = {name: _timed(function) for name, function in own.items()}
        self.globals = {"range": _range}

    def tree(self, source: str) -> nodes.Template:
        """The parsed text, ready to compile. Raises TemplateSyntaxError for what is not available here."""
        tree = self.parse(source)
        for node in list(tree.find_all(nodes.Node)):
            _check(node)
        for loop in tree.find_all(nodes.For):
            loop.iter = _filtered(loop.iter, _COUNTED)
        for concat in tree.find_all(nodes.Concat):
            concat.nodes = [_filtered(node, _JOINED) for node in concat.nodes]
        return tree

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, Mapping):
            return attr in _MAPPING_METHODS
        return attr in _ATTRIBUTES.get(type(obj), ())

    def wrap_str_format(self, value: Any) -> None:
        """No `"{:>999999999}".format(1)`: without a wrapper `format` is refused like any other method."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A field of `vars` called `items` is that field, not the method."""
        if isinstance(obj, Named) and attribute not in obj and attribute not in _MAPPING_METHODS:
            return self.undefined(obj=obj, name=attribute)
        return obj[attribute] if isinstance(obj, Named) and attribute in obj else super().getattr(obj, attribute)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        _check_time()
        texts = isinstance(left, (str, list, tuple)) or isinstance(right, (str, list, tuple))
        if texts and operator in "*%":
            raise SecurityError(f"`{operator}` is for numbers only")
        return _bounded(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        _check_time()
        return _bounded(super().call(__context, __obj, *args, **kwargs))


def _check(node: nodes.Node) -> None:
    if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        raise TemplateSyntaxError(f"no filter `{node.name}`; there are {', '.join(sorted(_FILTERS))}", node.lineno)
    if not isinstance(node, _ALLOWED):
        raise TemplateSyntaxError(f"`{type(node).__name__.lower()}` is not available in prompts", node.lineno)
    if isinstance(node, nodes.Name) and node.ctx == "load" and node.name in _NAMES_OF_JINJA:
        raise TemplateSyntaxError(f"`{node.name}` is not available in prompts", node.lineno)
    if isinstance(node, nodes.For) and node.recursive:
        raise TemplateSyntaxError("a recursive loop is not available in prompts", node.lineno)
    if _is_literal(node) and any(isinstance(part, _VARYING) for part in node.find_all(nodes.Node)):
        raise TemplateSyntaxError("a list or mapping in a prompt holds plain values only", node.lineno)


def _is_literal(node: nodes.Node) -> bool:
    return isinstance(node, (nodes.List, nodes.Dict)) or (isinstance(node, nodes.Tuple) and node.ctx == "load")


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(cast(nodes.Expr, node), name, [], [], None, None, lineno=node.lineno)


@pass_context
def _counted(context: Context, values: Iterable[Any]) -> Iterator[Any]:
    left: list[int] = context.parent[STEPS]
    for value in values:
        left[0] -= 1
        _check_time()
        if left[0] < 0:
            raise SecurityError(f"the loops take more than {MAX_STEPS:,} rounds")
        yield value


def _range(*args: int) -> range:
    made = range(*args)
    if len(made) > MAX_STEPS:
        raise SecurityError(f"`range` gives at most {MAX_STEPS:,} numbers")
    return made


def _join(values: Iterable[Any], separator: str = "") -> str:
    texts = [str(_joined(value)) for value in values]
    _room_for(len(texts) * len(separator) + sum(map(len, texts)))
    return separator.join(texts)


def _replace(text: str, old: str, new: str) -> str:
    text, new = str(_joined(text)), str(_joined(new))
    _room_for(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


def _room_for(characters: int) -> None:
    if characters > MAX_CHARACTERS:
        raise SecurityError(f"a value grows beyond {MAX_CHARACTERS:,} characters")


def _printed(value: Any) -> Any:
    """What may stand in a text: a value that is not there is nothing, a list or mapping is a mistake."""
    if value is None:
        return ""
    if isinstance(value, (list, tuple, dict, range)) or (callable(value) and not isinstance(value, Missing)):
        raise SecurityError("a list, mapping or function cannot be printed; name one of its values")
    return value


def _joined(value: Any) -> Any:
    return _bounded(_printed(value))


def _bounded(value: Any) -> Any:
    if isinstance(value, (str, list, tuple)):
        _room_for(len(value))
    if isinstance(value, int) and value.bit_length() > 256:
        raise SecurityError("a number grows too large")
    return value


SANDBOX = Sandbox()
