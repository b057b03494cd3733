"""What YAML makes of a title, in the words of who wrote it: why a text cannot be read, and where one is cut short."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

NO_BREAK = "\u00a0"
_CUT = re.compile(
    r"^[^\S\n]*(?:-[^\S\n]+)?(title|text|topic|label):[^\S\n]+(?![\"'|>{\[#])([^\n#]*[^\s#])[^\S\n]+(#\d[^\n]*)$",
    re.MULTILINE,
)


def explained(error: yaml.MarkedYAMLError, text: str, max_depth: int) -> str:
    """What is wrong and what helps, for a text that cannot be parsed."""
    problem = str(error.problem or error.context)
    mark = error.problem_mark or error.context_mark
    lines = [*text.split("\n"), ""]
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    if NO_BREAK in line:
        return "not valid YAML: a no-break space stands in this line; type a plain one in its place"
    if "alphabetic or numeric character" in problem:
        return "not valid YAML: a text that begins with * or & needs quotes"
    if "',' or '}'" in problem or "',' or ']'" in problem:
        return "not valid YAML: within { } or [ ] a text that holds `: `, a comma or a bracket needs quotes"
    if "mapping values are not allowed" in problem or "could not find expected ':'" in problem:
        return f"not valid YAML: {problem}; a text that holds `: ` needs quotes, and lines of a block the same indent"
    if "cannot start any token" in problem:
        return (
            "not valid YAML: a tab or one of % @ ` stands where a value begins; indent with spaces and quote such texts"
        )
    if "maximum nesting depth" in problem:
        return f"nested deeper than {max_depth} levels"
    return f"not valid YAML: {problem}"


def cut_short(text: str) -> Iterator[tuple[int, str, str, str]]:
    """(line from 1, field, what is read, what is not) of each text that ends at a `#` before a number: to YAML that is
    a comment, to who wrote it most likely `My vlog #12`."""
    for found in _CUT.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found[1], found[2], found[3]
