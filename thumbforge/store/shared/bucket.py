"""A bucket of an object store (S3 and what speaks it, Google Cloud Storage, Azure), through obstore.

Keys and endpoint come from the environment, as the store's own tools read them, and are never shown: of what a service
answers only its status and the name of its error are told, because some repeat a key.
"""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from thumbforge import install
from thumbforge.errors import AssetDamaged, RemoteDenied, RemoteError, UsageError
from thumbforge.store.shared.remote import Entry

CONNECT_S = 5.0
TRIES_S = 20.0
"""No try is begun later than this: a store that is not there must not hold a run."""
CONFLICTS = 5
"""Times that a put is said again where another one was under way (409): who was first is known right after."""

KEYS: Mapping[str, tuple[str, ...]] = {
    "s3": (
        "AWS_ACCESS_KEY_ID",
        "AWS_WEB_IDENTITY_TOKEN_FILE",
        "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "AWS_SKIP_SIGNATURE",
        "AWS_METADATA_ENDPOINT",
    ),
    "gs": (
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_SERVICE_ACCOUNT",
        "GOOGLE_SERVICE_ACCOUNT_PATH",
        "GOOGLE_SERVICE_ACCOUNT_KEY",
        "GOOGLE_BEARER_TOKEN",
        "GOOGLE_SKIP_SIGNATURE",
        "GCE_METADATA_HOST",
    ),
    "az": (
        "AZURE_STORAGE_ACCOUNT_KEY",
        "AZURE_STORAGE_ACCESS_KEY",
        "AZURE_STORAGE_SAS_KEY",
        "AZURE_STORAGE_SAS_TOKEN",
        "AZURE_STORAGE_CLIENT_ID",
        "AZURE_CLIENT_ID",
        "AZURE_FEDERATED_TOKEN_FILE",
        "AZURE_STORAGE_TOKEN",
        "AZURE_MSI_ENDPOINT",
        "AZURE_USE_AZURE_CLI",
        "AZURE_SKIP_SIGNATURE",
    ),
}
"""Of each kind of store the variables of which one has to be set. Without any, obstore would ask an address that only a
machine in a cloud has, and wait for it; the last ones of S3 and Google say that this is such a machine."""
_NEEDS = {
    "s3": "s3://bucket/prefix",
    "gs": "gs://bucket/prefix, with a key that can be read",
    "az": "az://container/prefix, with AZURE_STORAGE_ACCOUNT_NAME in the environment",
}
_OWN_GOOGLE = Path("~/.config/gcloud/application_default_credentials.json")

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>([A-Za-z]{1,60})</Code>")
_DENIED = frozenset(
    [
        "AccessDenied",
        "ExpiredToken",
        "InvalidAccessKeyId",
        "InvalidToken",
        "SignatureDoesNotMatch",
        "AuthenticationFailed",
    ]
)
_REFUSALS = frozenset({"PermissionDeniedError", "UnauthenticatedError"})
"""obstore's own words for it, where the service gave no status."""
_ELSEWHERE = frozenset({"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"})
_GONE = frozenset({"NoSuchBucket", "ContainerNotFound"})


class Bucket:
    """Over a store of obstore's. `shown` is the address, which holds no key."""

    def __init__(self, store: Any, shown: str) -> None:
        self._store, self.shown = store, shown

    @classmethod
    def open(cls, address: str, timeout_s: float) -> Bucket:
        """Nothing is asked yet. Raises UsageError without the extra, RemoteDenied without a key."""
        try:
            from obstore.exceptions import BaseError
            from obstore.store import from_url
        except ImportError as error:
            hint = install.command("remote")
            raise UsageError(f"store.remote is {address}, which needs the extra remote", hint=hint) from error
        _require_keys(address.partition(":")[0])
        backoff = {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=2), "base": 2}
        try:
            store = from_url(
                address,
                client_options={
                    "timeout": timedelta(seconds=timeout_s),
                    "connect_timeout": timedelta(seconds=min(CONNECT_S, timeout_s)),
                    "allow_http": True,  # only where the environment's endpoint says so
                },
                retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=TRIES_S), "backoff": backoff},
            )
        except (BaseError, ValueError):
            hint = f"{_NEEDS[address.partition(':')[0]]}; docs/team.md has all"
            raise UsageError(f"store.remote is {address}, which names no store", hint=hint) from None
        return cls(store, address)

    def get(self, name: str, most: int) -> bytes | None:
        import obstore

        with self._errors():
            try:
                found = obstore.get(self._store, name)
                if found.meta["size"] > most:
                    raise AssetDamaged(f"{name} in {self.shown} has more than the {most:,} bytes that are read")
                return bytes(found.bytes())
            except FileNotFoundError as error:  # that the bucket is gone is said in the same way
                if _code(error) in _GONE:
                    raise
                return None

    def put_once(self, name: str, data: bytes) -> bool:
        import obstore
        from obstore.exceptions import AlreadyExistsError

        with self._errors():
            for _ in range(CONFLICTS):
                try:
                    obstore.put(self._store, name, data, mode="create")
                    return True
                except AlreadyExistsError as error:
                    if _code(error) != "ConditionalRequestConflict":
                        return False
                time.sleep(random.uniform(0.05, 0.3))  # noqa: S311 - so that two do not meet again
        raise RemoteError(f"others write {name} to {self.shown} at the same time, again and again")

    def entries(self, under: str) -> Iterator[Entry]:
        import obstore

        with self._errors():
            for batch in obstore.list(self._store, under):
                for found in batch:
                    yield Entry(found["path"], found["size"], found["last_modified"].timestamp())

    def delete(self, name: str) -> None:
        import obstore

        with self._errors():
            try:
                obstore.delete(self._store, name)
            except FileNotFoundError as error:
                if _code(error) in _GONE:
                    raise

    @contextmanager
    def _errors(self) -> Iterator[None]:
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, FileNotFoundError) as error:
            raise _told(self.shown, error) from None


def _require_keys(kind: str) -> None:
    if any(os.environ.get(name) for name in KEYS[kind]) or (kind == "gs" and _OWN_GOOGLE.expanduser().is_file()):
        return
    first = KEYS[kind][0]
    raise RemoteDenied(
        f"no key for {kind}:// is in the environment", hint=f"set {first} and what goes with it; docs/team.md has all"
    )


def _code(error: Exception) -> str:
    """The name that the service gave its error, "" where it gave none."""
    found = _CODE.search(str(error))
    return found[1] if found else ""


def _told(shown: str, error: Exception) -> RemoteError:
    """What happened in our words: a service's own may hold a key, a signature or an address with both."""
    text, code = str(error), _code(error)
    status = found[1] if (found := _STATUS.search(text)) else ""
    said = " ".join(filter(None, (status, code)))
    if code in _GONE:
        return RemoteError(f"there is no bucket at {shown} ({said})", hint="make it, or correct store.remote")
    if code in _DENIED or status in {"401", "403"} or type(error).__name__ in _REFUSALS:
        hint = "the keys in the environment are missing, expired, or may not do this there"
        return RemoteDenied(f"{shown} refuses us{f' ({said})' if said else ''}", hint=hint)
    if code in _ELSEWHERE or "incorrectly configured region" in text:
        return RemoteError(f"{shown} is not where it is looked for", hint="AWS_REGION is that of the bucket")
    if said:
        return RemoteError(f"{shown} answers {said}", hint="try again later: what is made here is kept")
    if "kind: Timeout" in text:
        return RemoteError(f"{shown} does not answer in time", hint="on a slow line, a higher store.timeout_s")
    return RemoteError(f"{shown} cannot be reached", hint="is the network there, and the endpoint right?")
