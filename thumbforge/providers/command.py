"""The provider `command`: any program that writes a picture, by an argv list with placeholders and without a shell."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thumbforge.cancel import Cancel
from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    ProviderBadRequest,
    ProviderError,
    ProviderSetup,
    ProviderTimeout,
    ProviderTransient,
)
from thumbforge.pixels.kinds import described, media_type
from thumbforge.pixels.limits import MAX_BYTES
from thumbforge.providers import process
from thumbforge.providers.base import Answer, Call, Capabilities, Request
from thumbforge.providers.health import Auth, Health
from thumbforge.providers.params import Choice, Names, Param, checked, needs_profile
from thumbforge.providers.prompts import clean, seed_of
from thumbforge.redact import is_secret_name

PLACEHOLDERS = {
    "prompt": "prompt",
    "prompt_file": "prompt",
    "negative_prompt": "negative_prompt",
    "reference": "reference",
    "seed": "seed",
    "width": "width",
    "height": "height",
    "output": "",
}
"""Each placeholder with the field of the request that it reads."""
TEMPFAIL = 75
"""EX_TEMPFAIL of sysexits.h: "try again later"."""
EXAMPLE = '{argv: [my-gen, --prompt, "{prompt}", --out, "{output}"]}'
_FOUND = re.compile(r"\{([A-Za-z_]\w*)\}")
_SUFFIXES = {"image/jpeg": ".jpg", "image/png": ".png", "image/webp": ".webp", "image/gif": ".gif"}


class Argv:
    """A command line: texts, and lists of texts that are left out whole where a value in them is absent."""

    default: tuple[str, ...] = ()

    def wrong(self, value: Any) -> str:
        items = value if isinstance(value, (list, tuple)) else [None]
        groups = [item if isinstance(item, (list, tuple)) else [item] for item in items]
        right = groups and all(group and all(_is_argument(text) for text in group) for group in groups)
        return "" if right and isinstance(items[0], str) else "must be a list of texts that begins with a program"


def _is_argument(text: Any) -> bool:
    return isinstance(text, str) and "\0" not in text and len(text) <= 10_000


PARAMS: dict[str, Param] = {
    "argv": Argv(),
    "output_format": Choice("png", ("png", "jpg", "webp")),
    "env_pass": Names(),
}


class CommandProvider:
    """One run of `argv` per picture. The child sees the environment without secrets; `env_pass` names those it needs.

    It runs in an empty directory of its own, and only the file at {output} counts.
    """

    key = "command"

    def __init__(self, params: Mapping[str, Any]) -> None:
        hint = "" if "argv" in params else needs_profile(self.key, EXAMPLE)
        self.own = checked(self.key, PARAMS, params, _also, hint)
        used = {name for text in _texts(self.own["argv"]) for name in _FOUND.findall(text)}
        reads = frozenset(PLACEHOLDERS[name] for name in used) - {""}
        self.capabilities = Capabilities(reads=reads, max_concurrency=1, hard_limit=64)

    def generate(self, request: Request, call: Call) -> Answer:
        call.cancel.check()
        work = _fresh(call.scratch / "work")
        output = work / f"output.{self.own['output_format']}"
        values = self._values(request, work, output)
        env, secrets = self._environment()
        call.sent()
        ended = process.run(
            self.key, rendered(self.own["argv"], values), cwd=work, env=env, log=call.scratch, cancel=call.cancel,
            timeout_s=call.timeout_s, hint=self._hint(), secrets=secrets,
        )  # fmt: skip
        self._require_done(ended, call.timeout_s)
        data = self._picture(output, ended)
        ignored = request.reference is not None and "reference" not in self.capabilities.reads
        return Answer(
            data, media_type(data), reference_ignored=ignored, notes={"program": Path(self.own["argv"][0]).name}
        )

    def auth_state(self) -> Auth:
        return "ok" if all(os.environ.get(name) for name in self.own["env_pass"]) else "missing"

    def check(self, cancel: Cancel) -> Health:
        """Looks for the program; running it might cost something."""
        program = self.own["argv"][0]
        missing = [name for name in self.own["env_pass"] if not os.environ.get(name)]
        if missing:
            return Health("missing", f"{', '.join(missing)} in env_pass is not set", "set it in the environment")
        if shutil.which(program) is None:
            return Health("ok", f"there is no program {program} that can be run", self._hint())
        return Health("ok")

    def _hint(self) -> str:
        return f"install {self.own['argv'][0]}, or write its full path in the profile's argv"

    def _values(self, request: Request, work: Path, output: Path) -> dict[str, str | None]:
        prompt = clean(request.prompt)
        prompt_file = work / "prompt.txt"
        prompt_file.write_text(prompt, encoding="utf-8")
        return {
            "prompt": prompt,
            "prompt_file": str(prompt_file),
            "negative_prompt": clean(request.negative_prompt) if request.negative_prompt else None,
            "reference": self._reference(request, work),
            "seed": str(seed_of(request)),
            "width": str(request.width),
            "height": str(request.height),
            "output": str(output),
        }

    def _reference(self, request: Request, work: Path) -> str | None:
        """A copy under a name that fits its content: the stored file is nobody's to change."""
        if request.reference is None or "reference" not in self.capabilities.reads:
            return None
        try:
            data = request.reference.path.read_bytes()
        except OSError as error:
            raise ProviderBadRequest(f"{self.key}: the reference cannot be read: {error.strerror}") from error
        copy = work / f"reference{_SUFFIXES.get(media_type(data), request.reference.path.suffix)}"
        copy.write_bytes(data)
        return str(copy)

    def _environment(self) -> tuple[dict[str, str], list[str]]:
        """What the child sees, and the secrets among it."""
        passed = set(self.own["env_pass"])
        env = {
            name: value
            for name, value in os.environ.items()
            if name in passed or not (is_secret_name(name) or name.startswith("THUMBFORGE_"))
        }
        return env, [env[name] for name in passed if env.get(name)]

    def _require_done(self, ended: process.Finished, timeout_s: float) -> None:
        told = ended.told()
        says = f": {told}" if told else ""
        if ended.code is None:
            raise ProviderTimeout(
                f"{self.key}: not done after {timeout_s:g} s, stopped{says}", hint="raise timeout_s in the profile"
            )
        if ended.code < 0:
            raise ProviderError(
                f"{self.key}: killed by signal {-ended.code}{' (memory?)' if ended.code == -9 else ''}{says}",
                hint="run the command by hand and look at its messages",
            )
        if ended.code == TEMPFAIL:
            raise ProviderTransient(f"{self.key}: exit {ended.code}, try again later{says}")
        if ended.code in (126, 127):
            raise ProviderSetup(f"{self.key}: exit {ended.code}, a program cannot be run{says}", hint=self._hint())
        if ended.code:
            raise ProviderError(
                f"{self.key}: exit {ended.code}{says}", hint="run the command by hand and look at its messages"
            )

    def _picture(self, output: Path, ended: process.Finished) -> bytes:
        told = ended.told()
        says = f": {told}" if told else ""
        hint = "the program must write the picture to {output}"
        if "permission" in f"{ended.stdout}{ended.stderr}".lower():
            hint = "the program asked for a permission that it cannot be given here; see its permission rules"
        try:
            regular = output.is_file() and not output.is_symlink()
            if regular and output.stat().st_size > MAX_BYTES:
                raise OutputUnusable(f"{self.key}: the output has more than {MAX_BYTES // 2**20} MB")
            data = output.read_bytes() if regular else b""
        except OSError as error:
            raise OutputUnusable(f"{self.key}: the output cannot be read: {error.strerror}") from error
        if not data:
            raise OutputMissing(f"{self.key}: exit 0 without a picture{says}", hint=hint)
        if not media_type(data):
            raise OutputUnusable(f"{self.key}: the output is {described(data)}, no picture{says}", hint=hint)
        return data


def rendered(argv: Sequence[str | Sequence[str]], values: Mapping[str, str | None]) -> list[str]:
    """The argv with values in the places of placeholders, each text as one argument, byte for byte.

    A text that begins with "-" only because of its value gets a space before it: it is no option.
    """
    items: list[str] = []
    for entry in argv:
        group = [entry] if isinstance(entry, str) else list(entry)
        absent = {name for text in group for name in _FOUND.findall(text) if values[name] is None}
        if absent and not isinstance(entry, str):
            continue
        items += [_filled(text, values) for text in group]
    return items


def _filled(text: str, values: Mapping[str, str | None]) -> str:
    filled = _FOUND.sub(lambda found: values[found[1]] or "", text)
    return f" {filled}" if filled.startswith("-") and not text.startswith("-") else filled


def _texts(argv: Sequence[str | Sequence[str]]) -> Iterator[str]:
    for entry in argv:
        yield from [entry] if isinstance(entry, str) else entry


def _also(own: Mapping[str, Any]) -> Iterator[str]:
    if not own["argv"]:
        yield "argv is missing: the program to run, with its arguments"
        return
    used = [name for text in _texts(own["argv"]) for name in _FOUND.findall(text)]
    for name in dict.fromkeys(used):
        if name not in PLACEHOLDERS:
            yield f"argv has an unknown placeholder {{{name}}}; there are {', '.join(f'{{{n}}}' for n in PLACEHOLDERS)}"
    if "output" not in used:
        yield "argv has no {output}, the file that the program is to write"
    if _FOUND.search(own["argv"][0]):
        yield "argv must begin with the name of a program, not with a placeholder"


def _fresh(path: Path) -> Path:
    """An empty directory, also on a second call with the same scratch."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(mode=0o700)
    return path.absolute()
