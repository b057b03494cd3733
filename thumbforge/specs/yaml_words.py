"""What YAML makes of a title, in the words of who wrote it: why a text cannot be read, where one is cut short, and how
it is written so that all of it is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from thumbforge.specs.splice import scalar

NO_BREAK = "\u00a0"
_TEXTS = "title|text|topic|label|picture"
_BLOCK = re.compile(rf"[^\S\n]*(?:-[^\S\n]+)*({_TEXTS}):[^\S\n]+(\S.*)")
_PAIR = re.compile(rf"({_TEXTS}):[^\S\n]+(\S.*)")
_NEXT = re.compile(r",\s*(?=[A-Za-z_]+:(?:\s|$))")
_IN_BRACES = re.compile(r"[^{]*\{(.*?)(?:\}\s*(?:#.*)?)?$")
_WHOLE = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:\s\#.*)?""")
"""A text in quotes, and no more."""
_HEADER = re.compile(r"[|>][+-]?[0-9]?[+-]?\s*(?:\s#.*)?")
_ODD = re.compile(r"[*&!%@`|>\"']|[-?]\s|[\[{].*[\]}]\s*[^\s,\]}#]|(?![\[{]).*(?::\s|:$)")
_ODD_IN_BRACES = re.compile(r"[,#]|(?![\[{]).*(?:,\s|[\[\]{}]|\s#)")
_NOTHING = re.compile(rf".*?\b({_TEXTS}):[^\S\n]+(#.*)")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")
_CUT = re.compile(
    rf"^[^\S\n]*(?:-[^\S\n]+)?({_TEXTS}):[^\S\n]+(?![\"'|>{{\[])((?:[^\n#]|(?<=[^\s:])#)*?)[^\S\n]*(?<=\s)(\#\d[^\n]*)$",
    re.MULTILINE,
)
_ANCHOR = re.compile(
    rf"(?:^|[{{,]|-[^\S\n])[^\S\n]*({_TEXTS}):[^\S\n]+&(\w+)[^\S\n]+([^\n,}}#]*[^\s,}}#])", re.MULTILINE
)


def explained(error: yaml.MarkedYAMLError, text: str, max_depth: int) -> tuple[int, str]:
    """At which line (from 0) what is wrong, and what helps, for a text that cannot be parsed."""
    marks = [mark.line for mark in (error.problem_mark, error.context_mark) if mark]
    marks += [max(0, marks[0] - 1)] if marks else [0]
    lines = text.split("\n")
    at = next((n for n in marks if n < len(lines) and quoted(lines[n])), marks[0])
    return at, _explained(str(error.problem or error.context), lines[at] if at < len(lines) else "", max_depth)


def _explained(problem: str, line: str, max_depth: int) -> str:
    if NO_BREAK in line:
        return "not valid YAML: a no-break space stands in this line; type a plain one in its place"
    if "alphabetic or numeric character" in problem:
        return "not valid YAML: a text that begins with * or & needs quotes"
    if "',' or '}'" in problem or "',' or ']'" in problem:
        return "not valid YAML: within { } or [ ] a text that holds `: `, a comma, a bracket or ` #` needs quotes"
    if "mapping values are not allowed" in problem or "could not find expected ':'" in problem:
        help_ = "a text that holds `: ` needs quotes"
        also = "" if quoted(line) else ", and lines of a block the same indent"
        return f"not valid YAML: {problem}; {help_}{also}"
    if "cannot start any token" in problem:
        if quoted(line):
            return "not valid YAML: a text that begins with one of % @ ` > | needs quotes"
        return (
            "not valid YAML: a tab or one of % @ ` stands where a value begins; indent with spaces and quote such texts"
        )
    if "maximum nesting depth" in problem:
        return f"nested deeper than {max_depth} levels"
    return f"not valid YAML: {problem}"


def with_quotes(message: str, text: str, line: int) -> str:
    """The message about a line (from 0) with the form that this line's text needs, where it has one that needs it."""
    form = quoted(_line_at(text, line))
    if not form or message.endswith('"'):
        return message
    return f"{message}{'' if message.endswith('quotes') else '; this text needs quotes'}: {form}"


def told_by(message: str, text: str, line: int) -> str:
    """The same for what a spec says wrong because YAML has read a text of this line (from 0) as something else."""
    if message.endswith("quotes"):
        return with_quotes(message, text, line)
    said = _line_at(text, line)
    if (unknown := _UNKNOWN.match(message)) and (form := quoted(said)) and _stands_alone(unknown[1], said):
        return f"{unknown[0]}; within {{ }} a text that holds a comma needs quotes: {form}"
    if message.endswith("got nothing") and (lost := _NOTHING.match(said)):
        comment = lost[2].strip()
        return f"{message}: {comment!r} is a comment to YAML; put it in quotes: {lost[1]}: {scalar(comment)}"
    return message


def _stands_alone(name: str, line: str) -> bool:
    """Whether a field has no value: it is the rest of a text that a comma has cut."""
    return re.search(rf",\s*{re.escape(name)}\s*(?:[,}}]|$)", line) is not None


def quoted(line: str) -> str:
    """`text: "*Ownership* explained"`: the first text of a line that YAML takes for something else, as it has to be
    written; "" where there is none."""
    if block := _BLOCK.fullmatch(line.rstrip("\r")):
        return _form(block[1], block[2].rstrip(), is_odd=_is_odd(block[2]))
    if not (inside := _IN_BRACES.match(line.rstrip("\r"))):
        return ""
    for piece in _NEXT.split(inside[1]):
        if (pair := _PAIR.fullmatch(piece.strip())) and (
            form := _form(pair[1], pair[2], is_odd=_is_odd(pair[2]) or _is_odd_in_braces(pair[2]))
        ):
            return form
    return ""


def cut_short(text: str) -> Iterator[tuple[int, str, str, str, str]]:
    """(line from 1, field, what is read, what is not, the form that is read as a whole) of each text that ends at a `#`
    before a number: to YAML that is a comment, to who wrote it most likely `My vlog #12`. And of each that begins with
    `&`, which to YAML is a name that nothing in the text uses."""
    for found in _CUT.finditer(text) if " #" in text or "\t#" in text else ():
        whole = text[found.start(2) : found.end(3)]
        yield _line(text, found.start(1)), found[1], found[2], found[3], f"{found[1]}: {scalar(whole)}"
    for found in _ANCHOR.finditer(text) if ": &" in text else ():
        if f"*{found[2]}" not in text:
            whole = text[found.start(2) - 1 : found.end(3)]
            yield _line(text, found.start(1)), found[1], found[3], f"&{found[2]}", f"{found[1]}: {scalar(whole)}"


def _line_at(text: str, line: int) -> str:
    """ "" where there is none: YAML counts other line ends, too."""
    lines = text.split("\n", line + 1) if line >= 0 else []
    return lines[line] if 0 <= line < len(lines) else ""


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _is_odd(value: str) -> bool:
    return not _WHOLE.fullmatch(value) and not _HEADER.fullmatch(value) and _ODD.match(value) is not None


def _is_odd_in_braces(value: str) -> bool:
    return not _WHOLE.fullmatch(value) and _ODD_IN_BRACES.match(value) is not None


def _form(field: str, value: str, *, is_odd: bool) -> str:
    """Quotes around a text, or one that was never closed, were meant as what they are."""
    if not is_odd:
        return ""
    if value[0] in "\"'":
        is_around = value.endswith(value[0]) and len(value) > 1
        value = value[1:-1] if is_around else value[1:] if value[0] not in value[1:] else value
    return f"{field}: {scalar(value)}"
