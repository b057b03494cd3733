"""What the adapters of HTTP services share: the address, the key that belongs to it, and the test of both."""

from __future__ import annotations

from urllib.parse import urlsplit

from thumbforge.errors import ProviderSetup
from thumbforge.providers.health import Auth
from thumbforge.providers.params import Text
from thumbforge.web.http import Http, is_local
from thumbforge.web.keys import find_key, missing_key

ADDRESS = r"https?://[^\s/?#@]+(/[^\s?#@]*)?"


def address(default: str) -> Text:
    """The parameter base_url."""
    return Text(default, ADDRESS, "an address such as https://host/path, without user, query and fragment")


class Service:
    """A service at `base_url`. `official` is its maker's address; only that gets a key from `usual` variables, which
    other programs use too. Elsewhere a key may be in our own variable, so no spec can carry one off."""

    def __init__(
        self, provider: str, base_url: str, official: str, usual: tuple[str, ...], hint: str, *, needs_key: bool = True
    ) -> None:
        self.provider, self.base_url = provider, base_url.rstrip("/")
        is_official = _origin(base_url) == _origin(official)
        self.usual = usual if is_official else ()
        self.needs_key = needs_key and is_official
        self.is_local = is_local(base_url)
        self.http = Http(provider, hint)

    def url(self, path: str) -> str:
        return f"{self.base_url}/{path}"

    def key(self) -> str:
        """The key, "" where none is set and none is needed. ProviderAuth where it is needed; ProviderSetup where it
        would travel in the open."""
        key = find_key(self.provider, *self.usual)
        if not key and self.needs_key:
            raise missing_key(self.provider, *self.usual)
        if key and self.base_url.startswith("http://") and not self.is_local:
            raise ProviderSetup(
                f"{self.provider}: the key would travel unencrypted to {urlsplit(self.base_url).hostname}",
                hint="use https in base_url, or unset the key",
            )
        return key

    def auth_state(self) -> Auth:
        if find_key(self.provider, *self.usual):
            return "unknown"
        return "missing" if self.needs_key else "ok"


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
