"""From a profile to its provider: built-in ones, plugins, and what is said when it cannot be."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from thumbforge import models
from thumbforge.cores import usable_cores
from thumbforge.errors import UsageError
from thumbforge.providers.base import Capabilities
from thumbforge.providers.registry import (
    BUILT_IN,
    capabilities_of,
    load_provider,
    max_concurrency,
    profile_hint,
    provider_names,
)
from thumbforge.testing import a_call, a_request

WORKFLOW = {
    "3": {"class_type": "KSampler", "inputs": {"seed": "{seed}", "positive": ["6", 0]}},
    "6": {"class_type": "CLIPTextEncode", "inputs": {"text": "{prompt}"}},
    "9": {"class_type": "SaveImage", "inputs": {"images": ["3", 0], "filename_prefix": "x"}},
}
NEEDED: dict[str, dict[str, object]] = {
    "command": {"argv": ["my-gen", "{prompt}", "{output}"]},
    "comfyui": {"workflow": WORKFLOW},
}
"""Parameters without which a provider cannot be set up."""

Install = Callable[[str], models.Profile]

GOOD = """
from thumbforge.providers.base import Answer, Capabilities

class Sketch:
    key = "sketch"
    capabilities = Capabilities(frozenset({"prompt"}), max_concurrency=2, hard_limit=3)

    def __init__(self, params):
        self.params = params

    def generate(self, request, call):
        return Answer(b"picture", "image/png")
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Installs a plugin's source as the distribution `sketchbook 1.2` with the provider `sketch`."""

    def installed(source: str) -> models.Profile:
        (tmp_path / "sketchbook.py").write_text(source)
        info = tmp_path / "sketchbook-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sketchbook\nVersion: 1.2\n")
        (info / "entry_points.txt").write_text("[thumbforge.providers]\nsketch = sketchbook:Sketch\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "sketchbook", raising=False)
        return models.Profile(name="mine", provider="sketch", params={"soft": True})

    yield installed
    sys.modules.pop("sketchbook", None)


def test_ours_are_always_there() -> None:
    """local and fake can be named on every machine, local first."""
    assert provider_names()[:2] == ("local", "fake")
    for name in BUILT_IN:
        assert load_provider(models.Profile(name="p", provider=name, params=NEEDED.get(name, {}))).key == name


def test_a_built_in_provider_is_loaded_without_heavy_imports() -> None:
    """Setting up a provider imports neither Pillow nor httpx, and reads no package metadata: start-up stays light."""
    program = (
        "import sys; from thumbforge import models; from thumbforge.providers.registry import load_provider;"
        "models.Profile(name='p', provider='local');"  # pydantic asks for its plugins when it first validates
        "before = 'importlib.metadata' in sys.modules;"
        "import thumbforge.providers.retry\n"
        "for name in ('local', 'openai', 'gemini', 'antigravity'):"
        " load_provider(models.Profile(name='p', provider=name))\n"
        "print(*[m for m in ('PIL', 'tenacity', 'httpx', 'yaml') if m in sys.modules],"
        "'importlib.metadata' in sys.modules and not before)"
    )
    root = str(Path(__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=root, check=True)
    assert done.stdout.split() == ["False"]


def test_a_plugin_is_found_by_its_entry_point(install: Install, tmp_path: Path) -> None:
    """A provider of another distribution is named, loaded with the profile's params, and makes pictures."""
    profile = install(GOOD)
    assert "sketch" in provider_names()
    provider = load_provider(profile)
    assert provider.params == {"soft": True}  # type: ignore[attr-defined]
    assert provider.generate(a_request(), a_call(tmp_path)).data == b"picture"
    assert max_concurrency(profile, capabilities_of(profile)) == 2


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import a_module_that_is_not_there", "ModuleNotFoundError: No module named"),
        ("x = (", "SyntaxError"),
        ("Other = 1", "AttributeError"),
        ("Sketch = 3", "TypeError"),
        ("def Sketch(params):\n    raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("class Sketch:\n    def __init__(self, params): pass", "has no key, capabilities, generate"),
        (GOOD.replace("def generate", "generate = 1\n    def paint"), "generate cannot be called"),
        (GOOD + "\nSketch.capabilities = {'reads': ['prompt']}", "capabilities are a dict"),
        (GOOD.replace('"prompt"', '"weather"'), "reads what no request has: weather"),
        (GOOD.replace("hard_limit=3", "hard_limit=1"), "max_concurrency 2 is not between 1 and its hard_limit 1"),
    ],
)
def test_a_broken_plugin_is_named(install: Install, source: str, why: str) -> None:
    """A plugin that cannot be used is a usage error of one line that names plugin, distribution and reason."""
    with pytest.raises(UsageError) as caught:
        load_provider(install(source))
    assert caught.value.message.startswith("provider plugin sketch (from sketchbook 1.2) cannot be used: ")
    assert why in caught.value.message
    assert "\n" not in caught.value.message
    assert "sketchbook" in caught.value.hint


def test_a_plugin_that_refuses_its_params_is_heard(install: Install) -> None:
    """A plugin's own UsageError reaches the user as it is."""
    refusing = (
        "from thumbforge.errors import UsageError\ndef Sketch(params):\n    raise UsageError('soft must be a number')"
    )
    with pytest.raises(UsageError, match=r"^soft must be a number$"):
        load_provider(install(refusing))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("locl", "did you mean local?"), ("fkae", "did you mean fake?"), ("zzz", "known providers: local")],
)
def test_an_unknown_provider_is_refused_with_the_nearest_name(name: str, hint: str) -> None:
    """A name that is nobody's is a usage error that names the profile and suggests what was meant."""
    with pytest.raises(UsageError, match=f"profile p: there is no provider '{name}'") as caught:
        load_provider(models.Profile(name="p", provider=name))
    assert caught.value.hint.startswith(hint)


def test_a_misspelt_parameter_is_answered_with_the_right_one() -> None:
    """The nearest parameter is suggested, and the known ones are listed."""
    with pytest.raises(UsageError, match=r"unknown parameter 'looks' \(did you mean look\?\)") as caught:
        load_provider(models.Profile(name="p", provider="local", params={"looks": "split"}))
    assert caught.value.hint == "parameters of local: look, subject, palette, hues"


@given(asked=st.none() | st.integers(1, 100), own=st.integers(1, 64), room=st.integers(0, 64), cpu_bound=st.booleans())
def test_concurrency_is_the_profiles_or_the_providers(asked: int | None, own: int, room: int, cpu_bound: bool) -> None:
    """The profile's number if it has one, else the provider's own, or the cores where the work is done on them; a
    number above the hard limit is refused, and no answer is ever above it."""
    profile = models.Profile(name="p", provider="x", max_concurrency=asked)
    capabilities = Capabilities(frozenset(), own, own + room, cpu_bound=cpu_bound)
    if asked and asked > own + room:
        with pytest.raises(UsageError, match=f"max_concurrency {asked} is above the limit of provider x, {own + room}"):
            max_concurrency(profile, capabilities)
        return
    expected = asked or min(usable_cores() if cpu_bound else own, own + room)
    assert max_concurrency(profile, capabilities) == expected
    assert 1 <= max_concurrency(profile, capabilities) <= own + room


@pytest.mark.parametrize("name", ["local", "fake", "antigravity", "openai", "gemini", "comfyui"])
def test_the_bundled_profiles_load(name: str) -> None:
    """The profiles that come with thumbforge name providers that exist and parameters that are right."""
    import yaml

    file = Path(models.__file__).parent / "specs" / "builtin" / "providers" / f"{name}.yaml"
    profile = models.Profile(**yaml.safe_load(file.read_text()))
    assert (profile.name, profile.provider, load_provider(profile).key) == (name, name, name)


@pytest.mark.parametrize(
    ("amount", "own", "paid"), [("0.04", False, True), ("0", True, False), ("0.000", True, False), (None, True, True)]
)
def test_a_price_says_whether_calls_are_paid(amount: str | None, own: bool, paid: bool) -> None:
    """With a price above 0 calls count as paid, with one of 0 they do not; without one the provider says it."""
    name = "gemini" if own else "fake"
    price = models.Price(amount=amount) if amount else None
    profile = models.Profile(name="p", provider=name, price=price)
    assert capabilities_of(profile).paid is paid
    assert load_provider(profile).capabilities.paid is paid


def test_a_price_changes_no_identity() -> None:
    """A profile with a new price asks for the same pictures."""
    plain = models.Profile(name="p", provider="fake")
    assert plain.model_copy(update={"price": models.Price(amount="1")}).id == plain.id


@pytest.mark.parametrize("name", NEEDED)
def test_a_provider_that_needs_a_profile_shows_one(name: str) -> None:
    """Without what it needs the hint is a profile to write down, and the page that explains it."""
    with pytest.raises(UsageError) as caught:
        load_provider(models.Profile(name=name, provider=name))
    assert caught.value.hint == profile_hint(name)
    assert f"specs/providers/my-{name}.yaml with {{provider: {name}, params: {{" in caught.value.hint
    assert caught.value.hint.endswith(f"see docs/providers/{name}.md")


def test_the_shown_profile_works() -> None:
    """The example for `command` is YAML that can be used as it stands."""
    example = profile_hint("command").partition(" with ")[2].partition("; see ")[0]
    profile = models.Profile.model_validate({"name": "mine", **yaml.safe_load(example)})
    assert capabilities_of(profile).reads == {"prompt"}


def test_a_plugin_without_a_profile_is_told_from_an_unknown_name(install: Install) -> None:
    """The one gets the hint, the other none."""
    install(GOOD)
    assert profile_hint("sketch").startswith("sketch needs a profile, such as specs/providers/my-sketch.yaml")
    assert profile_hint("scetch") == ""
