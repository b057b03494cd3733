"""Reading answers: waits in every form, pictures by content, references as they are sent, keys, parameters."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import struct
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests.recorded_server import Play, RecordedServer, in_turn, message, raw, recorded
from thumbforge.errors import (
    OutputMissing,
    OutputUnusable,
    ProviderBadRequest,
    ProviderError,
    ProviderRateLimited,
    ProviderSetup,
    ProviderTimeout,
    ProviderTransient,
    ThumbforgeError,
)
from thumbforge.pixels import picture as pixels
from thumbforge.pixels.kinds import described, media_type
from thumbforge.pixels.limits import MAX_PIXELS
from thumbforge.providers import download
from thumbforge.providers.base import Reference
from thumbforge.providers.download import fetch
from thumbforge.providers.local import LocalProvider
from thumbforge.providers.params import Choice, Flag, Names, Number, Table, Text, Whole
from thumbforge.providers.pictures import decoded_base64, picture, prepared
from thumbforge.providers.prompts import clean, seed_of, whole_prompt
from thumbforge.testing import a_call, a_request
from thumbforge.web import waits
from thumbforge.web.answers import at, count_at, parsed, quoted, text_at
from thumbforge.web.http import Http
from thumbforge.web.statuses import by_status
from thumbforge.web.waits import duration, header_wait, next_pacific_midnight, said_wait

IMAGES = Path(__file__).parent / "data" / "images"
DATE = "Mon, 05 Jan 2026 10:00:00 GMT"


# Waits


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("12s", 12), ("51.815 seconds", 51.815), ("15ms", 0.015), ("76h3m46s", 273826), ("6m0s", 360),
        ("2 hours and 20 minutes", 8400), ("1 day, 3 hours", 97200), ("37.400s", 37.4), ("90 milliseconds", 0.09),
        ("soon", None), ("", None), ("5 monkeys", None), ("1e3s", None),
    ],
)  # fmt: skip
def test_a_duration_is_read_in_every_form(text: str, seconds: float | None) -> None:
    """As services write them in headers, details and prose."""
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Rate limit reached: limit 5 in 60s. Please try again in 12s.", 12),
        ("Slow down and try again after 51.8 seconds.", 51.8),
        ("It resets in approximately 2 hours and 20 minutes.", 8400),
        ("RESOURCE_EXHAUSTED (code 429). Resets in 76h3m46s", 273826),
        ("Please retry in 37.4s.", 37.4),
        ("try again in a while, limit 5s", None),
        ("it took 12s", None),
    ],
)
def test_only_the_wait_that_is_asked_for_counts(text: str, seconds: float | None) -> None:
    """Other spans of time in a sentence are no wait."""
    assert said_wait(text) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "12"}, 12),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Mon, 05 Jan 2026 10:00:20 GMT", "date": DATE}, 20),
        ({"retry-after": "Mon, 05 Jan 2026 09:00:00 GMT", "date": DATE}, 0),
        ({"retry-after": "Mon, 05 Jan 2026 10:00:20 GMT"}, 0),
        ({"retry-after": "Mon, 99 Jan 2026 10:00:20 GMT", "date": DATE}, None),
        ({"retry-after": "-5"}, None), ({"retry-after": "nan"}, None), ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None), ({"retry-after": ""}, None), ({}, None),
        ({"retry-after": "9" * 400}, None), ({"retry-after": "7\x1f"}, 7), ({"retry-after": "١٢"}, None),
    ],
)  # fmt: skip
def test_a_header_tells_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    """A date counts from the answer's own clock, so a wrong clock on this machine changes nothing."""
    assert header_wait(headers) == seconds


@given(st.text(), st.text())
def test_no_text_breaks_the_reading_of_waits(one: str, other: str) -> None:
    """Whatever is in a header or a message, it is a wait of 0 seconds or more, or none."""
    found = [duration(one), said_wait(f"retry in {one}"), header_wait({"retry-after": one, "date": other})]
    assert all(wait is None or wait >= 0 for wait in found)


# Statuses


@pytest.mark.parametrize(
    ("status", "wait_s", "error"),
    [
        (429, None, ProviderRateLimited), (429, 5, ProviderRateLimited), (503, 5, ProviderRateLimited),
        (503, None, ProviderTransient), (504, 5, ProviderTimeout), (301, None, ProviderSetup),
        (404, None, ProviderSetup), (422, None, ProviderBadRequest), (200, None, ProviderError),
    ],
)  # fmt: skip
def test_a_status_is_an_error(status: int, wait_s: float | None, error: type[ProviderError]) -> None:
    """A busy service that names its wait is given it; a gateway that gave up is unclear, whatever it names."""
    found = by_status("x", status, "words", wait_s=wait_s)
    assert type(found) is error
    assert found.message == f"x: HTTP {status}: words"
    assert getattr(found, "retry_after_s", wait_s) == wait_s


# Answers


@given(st.recursive(st.none() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)))
def test_any_look_into_any_value_is_safe(value: Any) -> None:
    """What is missing or of another kind is None, "" or no count."""
    at(value, "a", 0, "b")
    assert isinstance(text_at(value, "a"), str)
    assert count_at(value, 0) is None or isinstance(count_at(value, 0), int)


def test_what_cannot_be_read_as_json_is_none() -> None:
    """Also what is nested without end."""
    assert parsed(b"[" * 200_000) is None
    assert parsed(b"\xff\xfe{") is None
    assert parsed(b'{"a": "\\ud800"}') == {"a": "\ud800"}
    assert text_at(parsed(b'{"a": "\\ud800"}'), "a") == "?"


@given(st.text(max_size=600))
def test_a_quote_is_one_clean_line(text: str) -> None:
    """Short, printable, and without the secret."""
    line = quoted(f"{text} hunter2-hunter2 {text}", "hunter2-hunter2")
    assert len(line) <= 240
    assert line.isprintable()
    assert "hunter2" not in line
    line.encode()


@pytest.mark.parametrize(
    ("now", "then"),
    [
        ("2026-11-30T07:59:59+00:00", "2026-11-30T08:00:00+00:00"),
        ("2026-11-30T08:00:00+00:00", "2026-12-01T08:00:00+00:00"),
        ("2026-07-01T12:00:00+00:00", "2026-07-02T07:00:00+00:00"),
        ("2026-03-08T09:00:00+00:00", "2026-03-09T07:00:00+00:00"),
        ("2026-01-05T07:59:59+00:00", "2026-01-05T08:00:00+00:00"),
        ("2026-01-05T08:00:00+00:00", "2026-01-06T08:00:00+00:00"),
        ("2026-07-05T06:59:00+00:00", "2026-07-05T07:00:00+00:00"),
        ("2026-07-05T23:00:00+00:00", "2026-07-06T07:00:00+00:00"),
        ("2026-03-08T12:00:00+00:00", "2026-03-09T07:00:00+00:00"),
        ("2026-11-01T06:00:00+00:00", "2026-11-01T07:00:00+00:00"),
        ("2026-11-01T12:00:00+00:00", "2026-11-02T08:00:00+00:00"),
        ("2026-12-31T20:00:00+00:00", "2027-01-01T08:00:00+00:00"),
    ],
)
def test_midnight_is_pacific(now: str, then: str) -> None:
    """In winter and summer, over the change of clocks and of the year."""
    found = next_pacific_midnight(datetime.fromisoformat(now).timestamp())
    assert datetime.fromtimestamp(found, UTC).isoformat() == then


def test_midnight_without_a_time_zone_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without the table gets the winter's offset: an hour late at most."""

    def unknown(_: str) -> None:
        raise waits.ZoneInfoNotFoundError

    monkeypatch.setattr(waits, "ZoneInfo", unknown)
    assert (
        next_pacific_midnight(datetime(2026, 11, 30, 12, tzinfo=UTC).timestamp())
        == datetime(2026, 12, 1, 8, tzinfo=UTC).timestamp()
    )


# Pictures


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("ok_640x360.jpg", "image/jpeg"), ("ok_640x360.png", "image/png"), ("jpeg_named.png", "image/jpeg"),
        ("webp_named.jpg", "image/webp"), ("avif_named.jpg", "image/avif"), ("animated_first_black.gif", "image/gif"),
        ("html_error_named.png", ""), ("json_error_named.png", ""), ("text_named.jpg", ""), ("vector.svg", ""),
        ("zero_bytes.png", ""), ("heic_header_only.heic", ""), ("stdout_prefix.png", ""),
    ],
)  # fmt: skip
def test_the_kind_of_bytes_is_told_by_content(file: str, kind: str) -> None:
    """Never by a name."""
    assert media_type((IMAGES / file).read_bytes()) == kind


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty (0 bytes)"), (b" \n<!doctype html><title>Sign in", "an HTML page"), (b"<Error><Code>x", "XML"),
        (b'{"error": 1}', "JSON"), (b"<svg/>", "an SVG drawing"), (b"data: {}\n\n", "an event stream"),
        (b"loading...\n\x89PNG\r\n\x1a\n", "11 bytes of something else before a PNG picture"), (b"Sorry!", "text"),
        (b"\x00\x01\x02", "unknown binary data"),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_named(data: bytes, says: str) -> None:
    """So that one sees what a service answered instead."""
    assert described(data) == says
    with pytest.raises(OutputUnusable if data else OutputMissing):
        picture("x", data)


@given(st.binary(max_size=100))
def test_base64_is_read_in_every_spelling(data: bytes) -> None:
    """Plain, URL-safe, without padding, with line breaks, behind a prefix."""
    plain, safe = base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode()
    for text in (plain, safe, plain.rstrip("="), f"data:image/png;base64,{plain}", "\n".join(plain)):
        assert decoded_base64(text) == data


@pytest.mark.parametrize("text", ["%%%", "a", "ä", "AAAA=AAAA", "{}"])
def test_what_is_no_base64_is_refused(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError):
        decoded_base64(text)


# Recorded pictures behind an address


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("thumb_200_webp_as_jpg.http", None, "image/webp"),
        ("thumb_404_with_jpeg.http", OutputMissing, "HTTP 404"),
        ("thumb_200_html.http", OutputUnusable, "an HTML page"),
    ],
)
def test_a_recorded_picture_behind_an_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, error: type[ProviderError] | None, says: str
) -> None:
    """The status counts before the bytes, the bytes before the name."""
    monkeypatch.setattr(download, "PAUSE_S", 0)
    with RecordedServer(in_turn(recorded(name))) as server:

        def fetched() -> str:
            data = fetch(Http("x", ""), f"{server.url}/a.jpg", a_call(tmp_path), timeout_s=20, trusted=server.url)
            return picture("x", data)[1]

        if error is None:
            assert fetched() == says
            return
        with pytest.raises(error, match=says):
            fetched()


def test_an_address_that_stays_broken_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After three downloads; the picture was drawn, so it may have been billed."""
    monkeypatch.setattr(download, "PAUSE_S", 0)
    with RecordedServer(in_turn(raw(message(200, b"x" * 100)[:-50]))) as server:
        with pytest.raises(ProviderTransient) as caught:
            fetch(Http("x", ""), f"{server.url}/a.jpg", a_call(tmp_path), timeout_s=20, trusted=server.url)
        assert len(server.requests) == 3
    assert caught.value.unclear


@pytest.mark.parametrize(
    "play",
    [
        *(raw(message(status, b"expired")) for status in (401, 402, 403, 404, 407, 410, 451)),
        raw(message(302, b"", Location="https:///nowhere")),
    ],
)
def test_whatever_keeps_a_drawn_picture_back_is_the_items_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, play: Play
) -> None:
    """Its store knows nothing of the key, the account or the model: no other item is met, and it is not called again
    within the try, because the picture was drawn and may be billed."""
    monkeypatch.setattr(download, "PAUSE_S", 0)
    with RecordedServer(in_turn(play)) as server, pytest.raises(ProviderError) as caught:
        fetch(Http("x", ""), f"{server.url}/a.jpg", a_call(tmp_path), timeout_s=20, trusted=server.url)
    assert not caught.value.meets_every_item
    assert not caught.value.retryable
    assert caught.value.unclear


def test_a_picture_that_is_there_a_moment_later_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store may need a second to hand out what it was just given."""
    monkeypatch.setattr(download, "PAUSE_S", 0)
    with RecordedServer(in_turn(raw(message(404, b"")), raw(message(200, b"PNG")))) as server:
        data = fetch(Http("x", ""), f"{server.url}/a.jpg", a_call(tmp_path), timeout_s=20, trusted=server.url)
    assert data == b"PNG"


# References


def reference(path: Path) -> Reference:
    return Reference(hashlib.sha256(path.read_bytes()).hexdigest(), path, "")


@pytest.mark.parametrize(
    ("file", "mode", "kind"),
    [
        ("cmyk_icc.jpg", "RGB", "image/jpeg"), ("grayscale.jpg", "RGB", "image/jpeg"),
        ("palette_trns_index.png", "RGB", "image/jpeg"), ("gray_alpha.png", "RGB", "image/jpeg"),
        ("alpha.webp", "RGB", "image/jpeg"), ("jpeg_named.png", "RGB", "image/jpeg"),
        ("animated.webp", "RGB", "image/jpeg"), ("photo.avif", "RGB", "image/jpeg"),
    ],
)  # fmt: skip
def test_a_reference_is_sent_as_services_take_it(file: str, mode: str, kind: str) -> None:
    """8-bit RGB in JPEG, what is clear on white; CMYK and palettes are refused by services, and some paint what lies
    under a clear ground."""
    sent = prepared(reference(IMAGES / file), 2048)
    with Image.open(io.BytesIO(sent.data)) as shown:
        shown.load()
        assert (shown.mode, sent.media_type, Image.MIME[shown.format or ""]) == (mode, kind, kind)
        assert not shown.getexif()
        assert not {"comment", "exif", "XML:com.adobe.xmp", "parameters"} & shown.info.keys()
    assert sent.name == ("reference.jpg" if kind == "image/jpeg" else "reference.png")


def test_a_reference_is_upright_and_no_larger_than_asked(tmp_path: Path) -> None:
    """It is turned first, then made smaller; never larger."""
    turned = prepared(reference(IMAGES / "exif_orient6.jpg"), 320)
    with Image.open(io.BytesIO(turned.data)) as shown:
        assert shown.size == (320, 180)
    same = prepared(reference(IMAGES / "ok_640x360.png"), 2048)
    with Image.open(io.BytesIO(same.data)) as shown:
        assert shown.size == (640, 360)


@pytest.mark.parametrize("file", ["text_named.jpg", "zero_bytes.png", "truncated.png", "bomb_header_60000x60000.png"])
def test_a_reference_that_is_no_picture_is_told(file: str) -> None:
    """Before anything is sent."""
    with pytest.raises(ProviderBadRequest, match=file.partition(".")[0]):
        prepared(reference(IMAGES / file), 2048)


def png_header(width: int, height: int) -> bytes:
    """A PNG that says its size and has no pixel."""
    size = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunk = struct.pack(">I", len(size)) + b"IHDR" + size + struct.pack(">I", zlib.crc32(b"IHDR" + size))
    return b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT"))


@pytest.mark.parametrize("over", [0, 1])
def test_one_limit_holds_wherever_a_picture_is_opened(tmp_path: Path, over: int) -> None:
    """A hero, a reference, art and a logo: one row more than the limit is refused as too large, at the limit it is
    not."""
    path = tmp_path / "large.png"
    path.write_bytes(png_header(10_000, MAX_PIXELS // 10_000 + over))
    doors: list[Callable[[], object]] = [
        lambda: pixels.inspect(path.read_bytes()),
        lambda: pixels.inspect_own(path.read_bytes()),
        lambda: pixels.open_rgb(path),
        lambda: pixels.open_rgba(path),
        lambda: prepared(reference(path), 2048),
        lambda: LocalProvider({}).generate(a_request(reference(path)), a_call(tmp_path)),
    ]
    for door in doors:
        with pytest.raises(ThumbforgeError) as caught:  # at the limit: it has no pixels, so it is damaged
            door()
        assert bool(re.search("too large|more than", caught.value.message)) is bool(over)


# Prompts and parameters


def test_a_negative_prompt_becomes_words() -> None:
    """For services that know only one text."""
    assert whole_prompt(a_request(prompt="a", negative_prompt="b")) == "a\n\nAvoid: b"
    assert whole_prompt(a_request(prompt="a")) == "a"
    assert clean("a\0\udfffb") == "a?b"


@given(seed=st.none() | st.integers(), take=st.integers(1, 5), bits=st.sampled_from([32, 48]))
def test_each_take_has_a_seed(seed: int | None, take: int, bits: int) -> None:
    """The request's own, else one of the video and take; always within what a program takes."""
    request = a_request(seed=seed, take=take)
    assert 0 <= seed_of(request, bits) < 2**bits
    if seed is None:
        assert seed_of(request, bits) != seed_of(a_request(take=take + 1), bits)
    elif 0 <= seed < 2**32:
        assert seed_of(request, bits) == seed


@pytest.mark.parametrize(
    ("param", "right", "wrong"),
    [
        (Choice("a", ("a", "b")), ["a", "b"], ["c", None, ["a"]]),
        (Whole(1, 0, 5), [0, 5], [6, True, "1", 1.0]),
        (Number(1.0, 0, 5), [0, 2.5, 5.0], [5.1, True, "1", float("nan"), None]),
        (Flag(), [True, False], [0, "yes", None]),
        (Text("x"), ["one line"], ["", "two\nlines", 3, None, "x" * 501]),
        (Names(), [[], ["A_KEY"], ("x",)], ["A_KEY", ["a b"], [1], None]),
        (Table(), [{}, {"a": [1]}], [[], "x", {1: 2}, None]),
    ],
)
def test_a_parameter_takes_what_it_says(param: Any, right: list[Any], wrong: list[Any]) -> None:
    """And says what it wants of anything else."""
    assert [param.wrong(value) for value in right] == [""] * len(right)
    assert all(param.wrong(value).startswith("must be ") for value in wrong)
    assert param.wrong(param.default) == ""
