"""From the setting `store.remote` to the place it names. Nothing is asked and no library is loaded before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from thumbforge.errors import UsageError
from thumbforge.settings import Settings

if TYPE_CHECKING:
    from thumbforge.store.shared.remote import Remote

MODE = "store.mode"
REMOTE = "store.remote"


def has_remote(settings: Settings) -> bool:
    return bool(settings.text(REMOTE)) and settings.text(MODE) != "off"


def may_write(settings: Settings) -> bool:
    return has_remote(settings) and settings.text(MODE) == "write"


def open_remote(settings: Settings, root: Path) -> Remote:
    """The place that the settings name; a folder counts from the project. Raises UsageError where none is named or the
    extra is missing, RemoteDenied where no key is there."""
    place = settings.text(REMOTE)
    if not place:
        raise UsageError(
            "this project has no shared store", hint='[store] remote = "s3://bucket/prefix" in thumbforge.toml'
        )
    if settings.text(MODE) == "off":
        raise UsageError("the shared store is switched off", hint="THUMBFORGE_STORE__MODE=read, or write")
    if place.startswith("file://") or "://" not in place:
        from thumbforge.store.shared.folder import Folder

        named = unquote(urlsplit(place).path) if "://" in place else place
        return Folder(root / Path(named).expanduser(), place)
    from thumbforge.store.shared.bucket import Bucket

    return Bucket.open(place, settings.number("store.timeout_s"))


def require_writing(settings: Settings) -> None:
    """Raises UsageError where the environment has not said that this machine writes there."""
    if settings.text(REMOTE) and settings.text(MODE) == "read":
        hint = "THUMBFORGE_STORE__MODE=write in the environment of the machines that push"
        raise UsageError("the shared store is only read from here", hint=hint)
