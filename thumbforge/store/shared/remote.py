"""What a place that several machines share has to be able to do, whatever it is: give bytes by name, take them once.

The names are those below `.thumbforge/` (store/names.py): `assets/…`, `keys/…`, `keys/art/…`. A picture's name is the
hash of its bytes and nothing is ever rewritten, so no lock is needed, no copy and no entity tag.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

MOST_JSON = 1_000_000
"""Bytes that a manifest or a record may have."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies there under a name; `modified` in Unix seconds."""

    name: str
    bytes: int
    modified: float


class Remote(Protocol):
    """Each method raises RemoteError where the place cannot be used as a whole; RemoteDenied where it refuses us. Safe
    from several threads at once."""

    @property
    def shown(self) -> str:
        """What messages call it."""
        ...

    def get(self, name: str, most: int) -> bytes | None:
        """The bytes under a name, None where there are none. Raises AssetDamaged for more than `most`."""
        ...

    def put_once(self, name: str, data: bytes) -> bool:
        """Put these bytes there, whole or not at all. False where the name is taken: what is there stays."""
        ...

    def entries(self, under: str) -> Iterator[Entry]:
        """Everything below a folder such as `keys`, in no order."""
        ...

    def delete(self, name: str) -> None:
        """Take one name away; one that is not there is no error."""
        ...
