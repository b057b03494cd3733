"""`provider list | check | models`: what there is, whether it works, in words and as JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.recorded_server import RecordedServer, answer, in_turn, recorded
from thumbforge.commands.provider import Provider

KEY = "sk-test-SECRETSECRET-0123456789abcdef"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `provider …` in an empty project; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def run(*words: str) -> tuple[int, str, str]:
        command = Provider()
        command.opt_vals = {}
        code = command.parse_execute(list(words))
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def write_profile(root: Path, name: str, **fields: Any) -> None:
    folder = root / "specs" / "providers"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.yaml").write_text(yaml.safe_dump(fields))


def test_the_list_has_every_provider(provider: Command, tmp_path: Path) -> None:
    """Profiles with their provider, then providers that no profile names; nobody is asked."""
    write_profile(tmp_path, "mine", provider="fake", max_concurrency=2, price={"amount": "0.04"})
    write_profile(tmp_path, "wrong", provider="openai", params={"size": "1920x1080"})
    code, out, _ = provider("list", "--json")
    rows = {row["profile"]: row for row in json.loads(out)["providers"]}
    assert code == 0
    assert list(rows) == [
        "antigravity", "comfyui", "fake", "gemini", "local", "mine", "openai", "wrong", "sdwebui", "command",
    ]  # fmt: skip
    assert rows["mine"]["capabilities"]["paid"]
    assert rows["mine"]["capabilities"]["max_concurrency"] == 2
    assert rows["local"] == {
        "profile": "local", "provider": "local", "auth": "ok", "problem": None,
        "capabilities": rows["local"]["capabilities"],
    }  # fmt: skip
    assert rows["openai"]["auth"] == "missing"
    assert "size 1920x1080" in rows["wrong"]["problem"]
    assert "argv" in rows["command"]["problem"]


def test_the_list_is_a_table(provider: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line each; a key that is set is not tried by a list."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    code, out, err = provider()
    assert code == 0
    lines = {line.split()[0]: line.split() for line in out.splitlines() if line.split()}
    assert lines["openai"][:3] == ["openai", "openai", "unknown"]
    assert lines["gemini"][:3] == ["gemini", "gemini", "missing"]
    assert KEY not in out + err


def test_a_provider_that_works_is_told(provider: Command) -> None:
    """Exit 0, with what it can do."""
    code, out, _ = provider("check", "local")
    assert code == 0
    assert "healthy   yes" in out
    code, out, _ = provider("check", "fake", "--json")
    assert (code, json.loads(out)["healthy"], json.loads(out)["auth"]) == (0, True, "ok")


def test_a_missing_key_is_told(provider: Command) -> None:
    """Exit 4, and the variable to set."""
    code, out, _ = provider("check", "openai", "--json")
    told = json.loads(out)
    assert (code, told["auth"], told["healthy"]) == (4, "missing", False)
    assert "THUMBFORGE_OPENAI_API_KEY or OPENAI_API_KEY" in told["hint"]


@pytest.mark.parametrize(
    ("answered", "code", "auth", "says"),
    [
        ({"id": "gpt-image-2", "shutdown_date": "2027-01-01"}, 0, "ok", "shut down on 2027-01-01"),
        ("openai_401_invalid_key.http", 4, "refused", "the key is refused"),
        ("openai_404_model.http", 4, "unknown", "there is no model gpt-image-2"),
        ("openai_200_html.http", 4, "unknown", "an HTML page"),
        ("openai_503_overloaded.http", 4, "unknown", "Overloaded"),
    ],
)
def test_a_check_asks_the_service(
    provider: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answered: Any, code: int, auth: str, says: str
) -> None:
    """Whether the key works and the model is there, without paying; the key is in no line."""
    monkeypatch.setenv("THUMBFORGE_OPENAI_API_KEY", KEY)
    play = recorded(answered) if isinstance(answered, str) else answer(answered)
    with RecordedServer(in_turn(play)) as server:
        write_profile(tmp_path, "mine", provider="openai", params={"base_url": f"{server.url}/v1"})
        found, out, err = provider("check", "mine", "--json")
        assert {seen.method for seen in server.requests} == {"GET"}
        plain = provider("check", "mine")[1]
    told = json.loads(out)
    assert (found, told["auth"], told["healthy"]) == (code, auth, code == 0)
    assert says in out
    assert says in plain
    assert KEY not in out + err + plain


def test_models_are_listed(provider: Command, tmp_path: Path) -> None:
    """One a line, or as JSON; exit 4 where the service does not answer."""
    with RecordedServer(in_turn(answer({"data": [{"id": "gpt-image-2"}, {"id": "gpt-5"}]}))) as server:
        write_profile(tmp_path, "mine", provider="openai", params={"base_url": f"{server.url}/v1"})
        assert provider("models", "mine") == (0, "gpt-image-2\n", "")
        assert json.loads(provider("models", "mine", "--json")[1])["models"] == ["gpt-image-2"]
    code, out, err = provider("models", "mine")
    assert (code, out) == (4, "")
    assert err.startswith("provider_transient: openai:")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["check", "nobody"], 3, "there is no provider nobody"),
        (["models", "nobody"], 3, "there is no provider nobody"),
        (["models", "local"], 2, "has no models to choose from"),
        (["check"], 2, "provider check needs a KEY; there are"),
        (["list", "x"], 2, "provider list does not know what to do with 'x'"),
        (["chek", "local"], 2, "provider does not know 'chek'"),
        (["check", "command"], 2, "argv is missing"),
    ],
)
def test_what_cannot_be_is_told_in_a_line(provider: Command, words: list[str], code: int, says: str) -> None:
    """Exit 3 for an unknown key, 2 for words that mean nothing or a profile that is wrong."""
    found, out, err = provider(*words)
    assert (found, out) == (code, "")
    assert says in err
    assert "hint: " in err or words == ["models", "local"]
    assert "Traceback" not in err


def test_the_command_is_light() -> None:
    """doit imports every command for each of its own: this one brings nothing heavy along."""
    script = "import sys, thumbforge.commands.provider; print(*{name.split('.')[0] for name in sys.modules})"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"pydantic", "httpx", "yaml", "PIL", "rich", "structlog"} & set(told.stdout.split())
