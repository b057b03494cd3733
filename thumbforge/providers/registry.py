"""From a profile to its provider. Ours are looked up directly; others are found by entry point, and only when a name
is not ours, because reading the metadata of every installed package costs more than the rest of a start-up."""

from __future__ import annotations

import importlib
from dataclasses import replace
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from thumbforge.cores import usable_cores
from thumbforge.errors import ThumbforgeError, UsageError
from thumbforge.models import Profile
from thumbforge.providers.base import READABLE, Capabilities, Provider, ProviderFactory
from thumbforge.providers.params import needs_profile
from thumbforge.redact import redact
from thumbforge.text import nearest, one_line

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "thumbforge.providers"

BUILT_IN = {
    "local": "thumbforge.providers.local:LocalProvider",
    "fake": "thumbforge.providers.fake:FakeProvider",
    "antigravity": "thumbforge.providers.antigravity.adapter:AntigravityProvider",
    "openai": "thumbforge.providers.openai.adapter:OpenAIProvider",
    "gemini": "thumbforge.providers.gemini.adapter:GeminiProvider",
    "comfyui": "thumbforge.providers.comfyui.adapter:ComfyUIProvider",
    "sdwebui": "thumbforge.providers.sdwebui.adapter:SDWebUIProvider",
    "command": "thumbforge.providers.command:CommandProvider",
}


def provider_names() -> tuple[str, ...]:
    """Every provider that can be named in a profile: ours first, then plugins by name."""
    return (*BUILT_IN, *sorted({point.name for point in _entry_points()} - BUILT_IN.keys()))


def profile_hint(key: str) -> str:
    """How the provider of this key is given its profile; "" where there is none of it."""
    if key in BUILT_IN:
        module = importlib.import_module(BUILT_IN[key].partition(":")[0])
        return needs_profile(key, getattr(module, "EXAMPLE", "{…}"))
    return needs_profile(key, page="specs.md") if key in provider_names() else ""


def load_provider(profile: Profile) -> Provider:
    """The profile's provider, set up with its params; it is paid where the profile has a price above 0.

    UsageError where the name is unknown, a parameter is wrong (all are named), or a plugin is broken; a broken plugin
    is named with its distribution.
    """
    if profile.provider in BUILT_IN:
        return _priced(_built_in(profile), profile)
    point = next((point for point in _entry_points() if point.name == profile.provider), None)
    if point is None:
        raise _unknown(profile)
    provider = _plugin(point, profile.params)
    try:
        return _priced(provider, profile)
    except AttributeError as error:
        raise _broken(point, "its capabilities cannot be set") from error


def kept_provider(profile: Profile) -> Provider:
    """The same provider for the same profile, for a process that is sent one call after another."""
    return _kept(profile.model_dump_json())


@lru_cache(maxsize=8)
def _kept(profile_json: str) -> Provider:
    return load_provider(Profile.model_validate_json(profile_json))


def _priced(provider: Provider, profile: Profile) -> Provider:
    """A price says whether calls are paid; without one the provider itself says it."""
    if profile.price:
        provider.capabilities = replace(provider.capabilities, paid=Decimal(profile.price.amount) > 0)
    return provider


def capabilities_of(profile: Profile) -> Capabilities:
    """What the profile's provider can do; the same errors as `load_provider`."""
    return load_provider(profile).capabilities


def max_concurrency(profile: Profile, capabilities: Capabilities) -> int:
    """Calls that may run at once: the profile's number, else the provider's own (the cores where it works on them).

    UsageError where the profile asks for more than the provider's hard limit.
    """
    limit = capabilities.hard_limit
    if profile.max_concurrency is None:
        return min(usable_cores() if capabilities.cpu_bound else capabilities.max_concurrency, limit)
    if profile.max_concurrency > limit:
        raise UsageError(
            f"profile {profile.name}: max_concurrency {profile.max_concurrency} is above the limit of "
            f"provider {profile.provider}, {limit}",
            hint=f"set max_concurrency to {limit} or less, or leave it out",
        )
    return profile.max_concurrency


def _built_in(profile: Profile) -> Provider:
    module, _, attribute = BUILT_IN[profile.provider].partition(":")
    factory = cast(ProviderFactory, getattr(importlib.import_module(module), attribute))
    try:
        return factory(profile.params)
    except ThumbforgeError:
        raise
    except Exception as error:  # doit's own commands would show it as it is, with whatever it holds
        told = f"provider {profile.provider} cannot be set up: {type(error).__name__}: {_line(error)}"
        raise ThumbforgeError(told, hint="this is a bug") from error


def _entry_points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=GROUP))


def _unknown(profile: Profile) -> UsageError:
    names = provider_names()
    near = nearest(profile.provider, names)
    hint = f"did you mean {near[0]}?" if near else f"known providers: {', '.join(names)}"
    return UsageError(f"profile {profile.name}: there is no provider {profile.provider!r}", hint=hint)


def _plugin(point: EntryPoint, params: dict[str, Any]) -> Provider:
    try:
        provider = point.load()(params)
    except ThumbforgeError:
        raise
    except Exception as error:
        raise _broken(point, f"{type(error).__name__}: {_line(error)}") from error
    if fault := _fault(provider):
        raise _broken(point, fault)
    return cast(Provider, provider)


def _fault(provider: Any) -> str:
    """What keeps an object from being a Provider, or ""."""
    missing = [name for name in ("key", "capabilities", "generate") if not hasattr(provider, name)]
    if missing:
        return f"its provider has no {', '.join(missing)}"
    if not callable(provider.generate):
        return "its generate cannot be called"
    own = provider.capabilities
    if not isinstance(own, Capabilities):
        return f"its capabilities are a {type(own).__name__}"
    if strange := own.reads - READABLE:
        return f"it reads what no request has: {', '.join(sorted(strange))}"
    if not 1 <= own.max_concurrency <= own.hard_limit:
        return f"its max_concurrency {own.max_concurrency} is not between 1 and its hard_limit {own.hard_limit}"
    return ""


def _broken(point: EntryPoint, why: str) -> UsageError:
    origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    return UsageError(
        f"provider plugin {point.name} (from {origin}) cannot be used: {why}",
        hint=f"update or uninstall {point.dist.name if point.dist else point.value}, or name another provider",
    )


def _line(error: BaseException) -> str:
    return str(redact(one_line(str(error))))
