"""API keys: from the environment only, never from a spec."""

from __future__ import annotations

import os

from thumbforge.errors import ProviderAuth


def key_names(provider: str, *usual: str) -> tuple[str, ...]:
    """The environment variables that may hold a provider's key, the first that is set wins."""
    return (f"THUMBFORGE_{provider.upper()}_API_KEY", *usual)


def is_key(text: str) -> bool:
    """Whether it can be sent as a key: signs of ASCII without a space."""
    return text != "" and text.isascii() and text.isprintable() and " " not in text


def find_key(provider: str, *usual: str) -> str:
    """The provider's key, or "" where none is set. ProviderAuth, without the key, where it cannot be one."""
    for name in key_names(provider, *usual):
        if key := os.environ.get(name, "").strip():
            if not is_key(key):
                raise ProviderAuth(f"{provider}: {name} is no key", hint=f"set {name} to the key alone, in one line")
            return key
    return ""


def missing_key(provider: str, *usual: str) -> ProviderAuth:
    return ProviderAuth(f"{provider}: there is no API key", hint=f"set {' or '.join(key_names(provider, *usual))}")
