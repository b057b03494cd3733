"""What `provider check` learns of a provider: is it there, does its key work, what can it do. Nothing is paid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Protocol, runtime_checkable

from thumbforge.cancel import Cancel
from thumbforge.errors import ProviderError

Auth = Literal["ok", "missing", "unknown", "refused"]
"""ok: works, or none is needed; missing: no key is set; unknown: one is set and was not tried; refused: it was."""

TIMEOUT_S = 30.0
"""Bound of each question that a check asks."""


@dataclass(frozen=True, slots=True)
class Health:
    """`problem` is one line with what to do in `hint`, both "" where all is well. `notes` are worth knowing."""

    auth: Auth
    problem: str = ""
    hint: str = ""
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.problem


@runtime_checkable
class Checked(Protocol):
    """What a provider may offer beside `generate`. `auth_state` asks nobody; `check` asks the service, and tells what
    it finds by Health or by a ProviderError."""

    def auth_state(self) -> Auth: ...

    def check(self, cancel: Cancel) -> Health: ...


@runtime_checkable
class Listing(Protocol):
    """A provider that knows which models there are; raises a ProviderError where it cannot tell."""

    def models(self, cancel: Cancel) -> tuple[str, ...]: ...


def auth_of(provider: object) -> Auth:
    """Without asking anybody; a provider that says nothing of keys needs none."""
    return provider.auth_state() if isinstance(provider, Checked) else "ok"


def health_of(provider: object, cancel: Cancel) -> Health:
    if not isinstance(provider, Checked):
        return Health("ok")
    notes = tuple(filter(None, [note_of(provider)]))
    try:
        found = provider.check(cancel)
    except ProviderError as error:
        state = provider.auth_state()
        if error.code == "provider_auth":
            state = "refused" if state == "unknown" else "missing"
        return Health(state, f"{error.code}: {error.message}", error.hint, notes)
    return replace(found, notes=(*notes, *found.notes))


def note_of(provider: object) -> str:
    """What a user should know before this provider is asked for a picture; "" where there is nothing."""
    return str(getattr(getattr(provider, "service", None), "note", ""))
