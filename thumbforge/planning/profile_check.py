"""Whether a profile can be used: its provider is there, takes its parameters, and as many calls at once."""

from __future__ import annotations

from pathlib import Path

from thumbforge.errors import SpecError, UsageError
from thumbforge.models import Profile
from thumbforge.planning.spec_lines import in_spec
from thumbforge.providers.base import Capabilities
from thumbforge.providers.registry import capabilities_of, max_concurrency, provider_names


def usable(root: Path, profile: Profile) -> Capabilities:
    """What its provider can do. SpecError, at the line of the profile's file, for whatever keeps it from that."""
    try:
        capabilities = capabilities_of(profile)
    except UsageError as error:
        field = "params" if profile.provider in provider_names() else "provider"
        raise _placed(root, profile, field, error) from error
    try:
        max_concurrency(profile, capabilities)
    except UsageError as error:
        raise _placed(root, profile, "max_concurrency", error) from error
    return capabilities


def _placed(root: Path, profile: Profile, field: str, error: UsageError) -> SpecError:
    return SpecError([in_spec(root, "providers", profile.name, (field,), error.message)], hint=error.hint)
