"""`doit provider list | check | models`: which providers there are, whether they work, and what they offer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thumbforge.commands.command import ThumbCommand, print_json
from thumbforge.commands.operands import PROVIDER
from thumbforge.commands.verbs import Arguments, Verb
from thumbforge.errors import Exit, NotFound, ThumbforgeError, UsageError
from thumbforge.text import nearest, one_line

if TYPE_CHECKING:
    from thumbforge import models
    from thumbforge.planning.project import Project
    from thumbforge.providers import base
    from thumbforge.providers.health import Health
    from thumbforge.specs.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Found:
    """A profile with its provider, or with what keeps it from being set up."""

    profile: models.Profile
    provider: base.Provider | None
    problem: str = ""


def _profile(catalog: Catalog, key: str) -> models.Profile:
    """The profile of this name, else the provider of this key without params. NotFound where it is neither."""
    from thumbforge.models import Profile
    from thumbforge.providers.registry import provider_names

    if key in catalog.profile_names():
        return catalog.profile(key)
    names = provider_names()
    if key not in names:
        known = sorted({*catalog.profile_names(), *names})
        near = nearest(key, known)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known)}"
        raise NotFound(f"there is no provider {key}", hint=hint)
    return Profile(name=key, provider=key)


def _list(project: Project, arguments: Arguments) -> int:
    shown = [_row(found) for found in _all(project.catalog)]
    if arguments.as_json:
        print_json({"providers": shown})
        return Exit.DONE
    from thumbforge.commands.telling.view import print_table

    columns = ("profile", "provider", "state", "reads", "at once", "paid", "problem")
    print_table(columns, [_cells(row) for row in shown])
    return Exit.DONE


def _all(catalog: Catalog) -> Iterator[Found]:
    """Every profile, then every provider that no profile names."""
    from thumbforge.models import Profile
    from thumbforge.providers.registry import provider_names

    used = set()
    for name in catalog.profile_names():
        try:
            profile = catalog.profile(name)
        except ThumbforgeError as error:
            yield Found(Profile(name=name, provider=name), None, error.message)
            continue
        used.add(profile.provider)
        yield _set_up(profile)
    for name in provider_names():
        if name not in used:
            yield _set_up(Profile(name=name, provider=name))


def _set_up(profile: models.Profile) -> Found:
    from thumbforge.providers.registry import load_provider

    try:
        return Found(profile, load_provider(profile))
    except ThumbforgeError as error:
        return Found(profile, None, error.message)


def _row(found: Found) -> dict[str, Any]:
    from thumbforge.providers.health import auth_of

    head = {"profile": found.profile.name, "provider": found.profile.provider}
    if found.provider is None:
        return {**head, "auth": "unknown", "capabilities": None, "problem": found.problem}
    return {**head, "auth": auth_of(found.provider), "capabilities": _capabilities(found), "problem": None}


def _capabilities(found: Found) -> dict[str, Any]:
    from thumbforge.providers.registry import max_concurrency

    assert found.provider is not None
    own = found.provider.capabilities
    try:
        most = max_concurrency(found.profile, own)
    except UsageError:
        most = own.hard_limit
    return {"reads": sorted(own.reads), "max_concurrency": most, "hard_limit": own.hard_limit, "paid": own.paid}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    own = row["capabilities"]
    told = ("", "", "")
    if own:
        told = (", ".join(own["reads"]), str(own["max_concurrency"]), "yes" if own["paid"] else "no")
    return (row["profile"], row["provider"], row["auth"], *told, row["problem"] or "")


def _check(project: Project, arguments: Arguments) -> int:
    from thumbforge.cancel import Cancel
    from thumbforge.providers.health import health_of
    from thumbforge.providers.registry import load_provider

    profile = _profile(project.catalog, arguments.words[0])
    found = Found(profile, load_provider(profile))
    health = health_of(found.provider, Cancel())
    if arguments.as_json:
        print_json(_checked(found, health))
    else:
        _print_check(found, health)
    return Exit.DONE if health.ok else Exit.NOTHING_COMPLETED


def _checked(found: Found, health: Health) -> dict[str, Any]:
    from thumbforge.redact import redact

    return {
        **_row(found),
        "auth": health.auth,
        "healthy": health.ok,
        "problem": redact(health.problem) or None,
        "hint": redact(health.hint) or None,
        "notes": [redact(note) for note in health.notes],
    }


def _print_check(found: Found, health: Health) -> None:
    from thumbforge.commands.telling.view import write

    shown = _checked(found, health)
    own = shown["capabilities"]
    for name, value in (
        ("profile", shown["profile"]),
        ("provider", shown["provider"]),
        ("reads", ", ".join(own["reads"])),
        ("at once", f"{own['max_concurrency']} (at most {own['hard_limit']})"),
        ("paid", "yes" if own["paid"] else "no"),
        ("key", shown["auth"]),
        ("healthy", "yes" if shown["healthy"] else f"no: {shown['problem']}"),
        ("hint", shown["hint"]),
        *(("note", note) for note in shown["notes"]),
    ):
        if value:
            write(f"{name:<9} {one_line(str(value))}")


def _models(project: Project, arguments: Arguments) -> int:
    from thumbforge.cancel import Cancel
    from thumbforge.commands.telling.view import write
    from thumbforge.providers.health import Listing
    from thumbforge.providers.registry import load_provider

    profile = _profile(project.catalog, arguments.words[0])
    provider = load_provider(profile)
    if not isinstance(provider, Listing):
        raise UsageError(f"provider {profile.provider} has no models to choose from")
    found = provider.models(Cancel())
    if arguments.as_json:
        print_json({"profile": profile.name, "provider": profile.provider, "models": list(found)})
        return Exit.DONE
    for name in found:
        write(one_line(name))
    return Exit.DONE


class Provider(ThumbCommand):
    name = "provider"
    doc_purpose = "list the providers, check that one works, or list its models"
    doc_description = "KEY is a profile's name or a provider's key. Nothing of this makes a picture or costs money."
    example = "provider list; provider check openai"
    default = "list"
    verbs = (
        Verb("list", (), _list, "every profile, and every provider without one; asks nobody"),
        Verb("check", (PROVIDER,), _check, "ask the service whether it is there, and whether the key works"),
        Verb("models", (PROVIDER,), _models, "what the provider's model may be"),
    )
