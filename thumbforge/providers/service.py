"""What the adapters of HTTP services share: the address, the key that belongs to it, and the test of both."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from thumbforge.errors import ProviderAuth, ProviderSetup
from thumbforge.providers.health import Auth
from thumbforge.providers.params import Text
from thumbforge.web.http import Http, Reply, host_of, is_local
from thumbforge.web.keys import find_key, key_names, missing_key, named_origins, origin_of, origins_name

ADDRESS = r"https?://[^\s/?#@]+(/[^\s?#@]*)?"


def address(default: str) -> Text:
    """The parameter base_url."""
    return Text(default, ADDRESS, "an address such as https://host/path, without user, query and fragment")


class Service:
    """A service at `base_url`, which a profile names; whether a key goes there is for the environment to say.

    `official` is its maker's address: it gets our own variable and the `usual` ones, which other programs use too. An
    origin that THUMBFORGE_<PROVIDER>_ORIGINS lists gets our own variable's key. Any other is asked without one.
    """

    def __init__(
        self, provider: str, base_url: str, official: str, usual: tuple[str, ...], hint: str, *, needs_key: bool = True
    ) -> None:
        self.provider, self.base_url = provider, base_url.rstrip("/")
        self.is_official = origin_of(base_url) == origin_of(official)
        self.usual = usual if self.is_official else ()
        self.needs_key = needs_key and self.is_official
        self.is_local = is_local(base_url)
        self.http = Http(provider, hint)

    def url(self, path: str) -> str:
        return f"{self.base_url}/{path}"

    def exchange(self, method: str, path: str, key: str, **asked: Any) -> Reply:
        """As `Http.exchange` at this path. `key` is what the request carries; ProviderAuth, with the variables to set,
        where the service wants one and it carries none."""
        reply = self.http.exchange(method, self.url(path), **asked)
        if reply.status == 401 and not key:
            raise ProviderAuth(
                f"{self.provider}: HTTP 401: {host_of(self.base_url)} wants a key", hint=self._how_to_send()
            )
        return reply

    def key(self) -> str:
        """The key, "" where none may go or none is set and none is needed. ProviderAuth where it is needed;
        ProviderSetup where it would travel in the open."""
        key = find_key(self.provider, *self.usual) if self.may_have_key else ""
        if not key and self.needs_key:
            raise missing_key(self.provider, *self.usual)
        if key and self.base_url.startswith("http://") and not self.is_local:
            raise ProviderSetup(
                f"{self.provider}: the key would travel unencrypted to {urlsplit(self.base_url).hostname}",
                hint="use https in base_url, or unset the key",
            )
        return key

    @property
    def may_have_key(self) -> bool:
        return self.is_official or origin_of(self.base_url) in named_origins(self.provider)

    @property
    def note(self) -> str:
        """One line where a key that is set stays here, "" else."""
        [own] = key_names(self.provider)
        if self.may_have_key or not os.environ.get(own, "").strip():
            return ""
        return f"{host_of(self.base_url)} is asked without a key: {origins_name(self.provider)} does not list it"

    def auth_state(self) -> Auth:
        if self.may_have_key and find_key(self.provider, *self.usual):
            return "unknown"
        return "missing" if self.needs_key else "ok"

    def _how_to_send(self) -> str:
        [own] = key_names(self.provider)
        if self.may_have_key:
            return f"set {own}"
        parts = urlsplit(self.base_url)
        return f"if it is yours, set {origins_name(self.provider)}={parts.scheme}://{parts.netloc} and {own}"
