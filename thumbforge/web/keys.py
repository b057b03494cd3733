"""API keys: from the environment only, never from a spec, and only to the origins that they belong to."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from thumbforge.errors import ProviderAuth

_PORTS = {"http": 80, "https": 443}


def key_names(provider: str, *usual: str) -> tuple[str, ...]:
    """The environment variables that may hold a provider's key, the first that is set wins."""
    return (f"THUMBFORGE_{provider.upper()}_API_KEY", *usual)


def origins_name(provider: str) -> str:
    """The environment variable that lists where else the provider's key may go."""
    return f"THUMBFORGE_{provider.upper()}_ORIGINS"


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


def origin_of(address: str) -> str:
    """Scheme, host and port in one spelling, such as https://host:443; "" for what is no address of http."""
    try:
        parts = urlsplit(address.strip())
        host, port = parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError:
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}:{port}" if host and parts.scheme in _PORTS else ""


def named_origins(provider: str) -> frozenset[str]:
    """Where the user's environment lets the provider's key go, beside the service's own address."""
    listed = os.environ.get(origins_name(provider), "").split(",")
    return frozenset(filter(None, map(origin_of, listed)))
