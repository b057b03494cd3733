"""Identities: golden values of everything that is persisted, and what holds for every input."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thumbforge import ids
from thumbforge.models import Layout, Profile, Template

SEED = "00000000-0000-4000-8000-000000000001"
PARTS = ids.KeyParts(
    spec_hash="a" * 64,
    provider_profile="b" * 32,
    video="video-00001",
    part="7",
    prompt="A calm picture.\n\nNegative: text",
    seed="",
    reference="c" * 64,
)
NAMES = st.text(max_size=40)
SEEDS = st.uuids()
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


# Derived ids


@pytest.mark.parametrize(
    ("name", "golden"),
    [
        ("item:3", "93185963-f896-5f3f-b2af-64121b79d232"),
        ("checkpoint-drawer:0", "42e641ac-2937-55c7-9ace-59c83b76d861"),
        ("mine-drawer:0", "98fc232d-5ff0-5379-9991-0e36c5527d7d"),
    ],
)
def test_derived_ids_are_pinned(name: str, golden: str) -> None:
    """A derived id never changes: ledgers and exports of every version refer to it."""
    assert ids.derive(SEED, name) == golden


@pytest.mark.parametrize(
    ("derived", "golden"),
    [
        (ids.run_item_id(SEED, "video:video-00001:1"), "run-item:video:video-00001:1"),
        (ids.iteration_id(SEED, "video:video-00001:1", "k" * 32), f"iteration:video:video-00001:1:{'k' * 32}"),
        (ids.attempt_id(SEED, 2), "attempt:2"),
    ],
)
def test_the_names_of_records_are_pinned(derived: str, golden: str) -> None:
    """The names under which a run's rows are derived are persisted state and are never renamed."""
    raw = bytearray(hashlib.sha256(uuid.UUID(SEED).bytes + golden.encode()).digest()[:16])
    raw[6], raw[8] = raw[6] & 0x0F | 0x50, raw[8] & 0x3F | 0x80
    assert derived == str(uuid.UUID(bytes=bytes(raw)))


def test_an_item_is_named_by_its_video_and_not_by_its_place() -> None:
    """The name of an item holds the video and which of its places it is; renumbering moves neither."""
    assert ids.item_key("video-00001", 2) == "video:video-00001:2"


def test_a_derived_id_is_not_an_rfc_4122_one() -> None:
    """It is made with SHA-256; the standard's version 5 of the same seed and name is another id."""
    standard = "0f8c8ed4-a283-5870-a9e6-7ef947a08e04"
    assert str(uuid.uuid5(uuid.UUID(SEED), "item:3")) == standard
    assert ids.derive(SEED, "item:3") != standard


@given(SEEDS, NAMES)
def test_a_derived_id_has_the_shape_of_a_version_5_uuid(seed: uuid.UUID, name: str) -> None:
    """It parses back to itself, reports version 5 and the RFC's variant, and is the same for a seed given as text."""
    derived = ids.derive(seed, name)
    parsed = uuid.UUID(derived)
    assert str(parsed) == derived
    assert (parsed.version, parsed.variant) == (5, uuid.RFC_4122)
    assert ids.derive(str(seed), name) == derived


@given(SEEDS, SEEDS, NAMES, NAMES)
def test_another_seed_or_name_gives_another_id(one: uuid.UUID, other: uuid.UUID, name: str, second: str) -> None:
    """Two derived ids are equal exactly when seed and name are."""
    assert (ids.derive(one, name) == ids.derive(other, second)) == ((one, name) == (other, second))


def test_a_run_id_is_the_only_random_one() -> None:
    """Two runs never share an id."""
    assert ids.new_run_id() != ids.new_run_id()
    assert uuid.UUID(ids.new_run_id()).version == 4


# Keys


def test_the_idempotency_key_is_the_documented_formula() -> None:
    """It is the first 32 hex digits of sha256 over the seven texts joined without separators."""
    joined = (
        PARTS.spec_hash
        + PARTS.provider_profile
        + PARTS.video
        + PARTS.part
        + PARTS.prompt
        + PARTS.seed
        + PARTS.reference
    )
    assert ids.idempotency_key(PARTS) == sha256(joined)[:32]


def test_the_idempotency_key_is_pinned() -> None:
    """A key never changes for the same inputs: a change would make every user pay for every picture again."""
    assert ids.idempotency_key(PARTS) == "e96c87ace1bf2235d5d6ea8f7d2a4027"


def test_the_idempotency_key_is_ambiguous_by_design() -> None:
    """Part 1 with prompt "2 tips" and part 12 with prompt " tips" have one key; that is why parts are compared."""
    one, other = replace(PARTS, part="1", prompt="2 tips"), replace(PARTS, part="12", prompt=" tips")
    assert one != other
    assert ids.idempotency_key(one) == ids.idempotency_key(other)


@given(st.sampled_from(list(PARTS.as_dict())), st.text(min_size=1, max_size=20))
def test_each_part_of_the_key_counts(name: str, more: str) -> None:
    """A longer text in any of the seven places gives another key."""
    longer = replace(PARTS, **{name: PARTS.as_dict()[name] + more})
    assert ids.idempotency_key(longer) != ids.idempotency_key(PARTS)


def test_the_spec_hash_is_the_documented_formula() -> None:
    """It is sha256 over the prompt template and the canonical JSON of the layout."""
    layout = {"title": {"size": 90, "box": {"y": 2, "x": 1}}, "focus": [0.5, 0.4]}
    written = '{"focus":[0.5,0.4],"title":{"box":{"x":1,"y":2},"size":90}}'
    assert ids.spec_hash("About {{ topic }}", None, layout) == sha256("About {{ topic }}" + written)
    assert ids.spec_hash("About {{ topic }}", "text", layout) == sha256("About {{ topic }}\n\nNegative: text" + written)


def test_the_spec_hash_of_a_template_is_pinned() -> None:
    """A template that says nothing new keeps its hash whatever defaults later versions add."""
    layout = Layout.model_validate({"title": {"box": {"x": 64, "y": 64, "w": 400, "h": 300}}})
    template = Template(name="sample", prompt="About {{ topic }}", layout=layout)
    assert template.spec_hash == sha256('About {{ topic }}{"title":{"box":{"h":300,"w":400,"x":64,"y":64}}}')


def test_the_profile_id_comes_from_its_content() -> None:
    """It is a digest of provider, version and params; name, limits, time-outs and prices do not enter."""
    golden = sha256('["provider-profile",{"params":{"look":"split"},"provider":"local","version":2}]')[:32]
    profile = Profile(name="mine", provider="local", version=2, params={"look": "split"})
    assert profile.id == golden
    other = profile.model_copy(update={"name": "other", "max_concurrency": 3, "timeout_s": 5})
    assert Profile.model_validate(other.model_dump()).id == golden


def test_art_key_and_final_key_are_tagged_digests() -> None:
    """They hash a tagged structure in canonical JSON, so an art key is never a final key."""
    fields = {"b": 1, "a": ["ü", None]}
    assert ids.art_key(fields) == sha256('["art",{"a":["ü",null],"b":1}]')
    assert ids.final_key(fields) == sha256('["final",{"a":["ü",null],"b":1}]')


# Canonical JSON


@given(JSON)
def test_canonical_json_loses_nothing_and_has_one_form(value: Any) -> None:
    """It reads back to the same value, and what was read back is written the same way."""
    text = ids.canonical_json(value)
    assert json.loads(text) == value
    assert ids.canonical_json(json.loads(text)) == text


@given(st.dictionaries(st.text(), st.integers(), min_size=2, max_size=6))
def test_canonical_json_does_not_know_an_order_of_keys(value: dict[str, int]) -> None:
    """Two mappings with the same content have one text."""
    assert ids.canonical_json(dict(reversed(value.items()))) == ids.canonical_json(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_canonical_json_refuses_what_is_no_json(value: float) -> None:
    """NaN and infinities have no JSON form."""
    with pytest.raises(ValueError, match="JSON"):
        ids.canonical_json({"x": value})


@given(JSON, JSON)
def test_no_two_structures_share_a_digest(one: Any, other: Any) -> None:
    """Digests of different structures differ, also where their glued texts would be equal."""
    same = ids.canonical_json(one) == ids.canonical_json(other)
    assert (ids.digest("t", {"x": one}) == ids.digest("t", {"x": other})) == same
    assert ids.digest("t", {"x": "1", "y": "23"}) != ids.digest("t", {"x": "12", "y": "3"})


@given(st.dictionaries(st.text(), JSON), st.dictionaries(st.text(), JSON))
def test_what_is_shared_gives_the_digest_it_would_have_given_alone(
    fields: dict[str, Any], common: dict[str, Any]
) -> None:
    """A digest is that of the canonical JSON of tag and fields, whether a part of it was encoded before or not."""
    plain = ids.sha256_hex(ids.canonical_json(["art", {**fields, "common": common}]).encode())
    assert ids.digest("art", {**fields, "common": common}) == plain
    assert ids.digest("art", {**fields, "common": ids.Shared(common)}) == plain
