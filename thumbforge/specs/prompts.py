"""A template's texts for one item: prompt, negative prompt and part badge.

The variables are data. A title that holds `{{ }}` comes out as it is; only the template's own text is Jinja2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from thumbforge.errors import Problem, SpecError
from thumbforge.models import LabelStyle, Layout, PartStyle

if TYPE_CHECKING:
    from jinja2 import Template as Compiled

    from thumbforge.layers import AnyLayout, AnyTemplate

FAULTS = (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError, MemoryError)


class Prompts:
    """A template's texts, compiled once. Raises SpecError, naming the template, the text and the line, when made for
    a text that does not compile and when used for one that cannot be rendered with these variables."""

    def __init__(self, template: AnyTemplate) -> None:
        spent = [0.0]
        self._prompt = _Text(template.name, "prompt", template.prompt, spent)
        self._negative = _Text(template.name, "negative_prompt", template.negative_prompt or "", spent)
        texts = {f"layout.{name}.text": text for name, text in worded(template.layout)}
        self._texts = {field: _Text(template.name, field, text, spent) for field, text in texts.items()}
        sources = (template.prompt, template.negative_prompt or "", *texts.values())
        self.names_parts = any("part_name" in source for source in sources)
        """Whether a text speaks of `part_name`, which costs something to know: it is made for those alone."""

    def prompt(self, variables: Mapping[str, Any]) -> str:
        """The prompt, without blank lines around it; never empty."""
        return self._prompt.render(variables) or self._prompt.fail("", "is empty for this item")

    def negative(self, variables: Mapping[str, Any]) -> str | None:
        return self._negative.render(variables) or None

    def part_text(self, variables: Mapping[str, Any]) -> str | None:
        """The badge's text; None for an item with neither part nor label and for a layout without a badge."""
        if variables["part_number"] is None and not variables["part_label"]:
            return None
        return self._slot("part", variables)

    def kicker(self, variables: Mapping[str, Any]) -> str | None:
        """The line over the title; None where the layout has none or it comes out empty."""
        return self._slot("kicker", variables)

    def series(self, variables: Mapping[str, Any]) -> str | None:
        """The series' name as the layout shows it; None where it shows none."""
        return self._slot("series", variables)

    def texts(self, variables: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
        """Name and words of each text of a layout in version 2 that has any."""
        found = ((field.split(".")[2], text.render(variables)) for field, text in self._texts.items())
        return tuple((name, words) for name, words in found if words)

    def _slot(self, name: str, variables: Mapping[str, Any]) -> str | None:
        text = self._texts.get(f"layout.{name}.text")
        return (text.render(variables) or None) if text else None


def worded(layout: AnyLayout) -> Iterator[tuple[str, str]]:
    """Where in a layout a text of the template's own stands, and the text."""
    if isinstance(layout, Layout):
        yield from ((name, slot.text) for name, slot in layout.slots if isinstance(slot, (PartStyle, LabelStyle)))
    else:
        yield from ((f"texts.{name}", text.text) for name, text in layout.seen_texts.items())


class _Text:
    """One text of a template. `field` is where it stands in the YAML; `spent` are the seconds that all texts of the
    template have taken: not each item anew, or a long playlist is as bad as a long loop."""

    def __init__(self, template: str, field: str, source: str, spent: list[float]) -> None:
        self._template, self._field, self._spent = template, field, spent
        self._compiled = self._compile(source) if "{" in source else None
        self._plain = source.strip()

    def render(self, variables: Mapping[str, Any]) -> str:
        if self._compiled is None:
            return self._plain
        return self._render(self._compiled, variables).strip()

    def fail(self, line: int | str, message: str, hint: str = "") -> NoReturn:
        where = f"{self._field}, line {line}" if line else self._field
        raise SpecError([Problem(f"template {self._template}", 0, where, message)], hint=hint)

    def _compile(self, source: str) -> Compiled:
        from jinja2 import Template, TemplateSyntaxError

        from thumbforge.specs.sandbox import SANDBOX

        try:
            code = SANDBOX.compile(SANDBOX.tree(source), filename=self._field)
        except TemplateSyntaxError as error:
            self.fail(error.lineno, str(error.message), "the text is Jinja2: {{ topic }}, {% if … %} … {% endif %}")
        except (SyntaxError, *FAULTS):
            self.fail("", "is nested too deeply", "make the text simpler")
        return Template.from_code(SANDBOX, code, SANDBOX.globals)

    def _render(self, compiled: Compiled, variables: Mapping[str, Any]) -> str:
        from thumbforge.specs.sandbox import rendered

        try:
            return rendered(compiled, variables, self._spent)
        except Exception as error:
            self._tell(error, compiled, variables)
            raise

    def _tell(self, error: Exception, compiled: Compiled, variables: Mapping[str, Any]) -> None:
        """Raises SpecError for what a text or its variables can be wrong by."""
        from jinja2 import TemplateError, UndefinedError

        from thumbforge.specs.sandbox import TooLong

        if isinstance(error, TooLong):
            self.fail("", str(error), "shorten the text or its loops")
        line = self._line(compiled, error.__traceback__)
        if isinstance(error, UndefinedError):
            self.fail(line, str(error.message), _undefined_hint(error, variables))
        if isinstance(error, (TemplateError, *FAULTS)):
            self.fail(line, str(error) or type(error).__name__)

    def _line(self, compiled: Compiled, trace: TracebackType | None) -> int:
        """The template's line that was being rendered, from the innermost frame of its compiled code."""
        line = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self._field:
                line = compiled.get_corresponding_lineno(trace.tb_lineno)
            trace = trace.tb_next
        return line


def _undefined_hint(error: Exception, variables: Mapping[str, Any]) -> str:
    name = str(error).split("`")[1] if "`" in str(error) else ""
    if name.startswith("vars."):
        return f"set it with var.{name.removeprefix('vars.')}=… or in the series' vars"
    return f"a template sees {', '.join(sorted(variables))}"
