"""A stand-in for Google's `agy`, as faithful as the measurements: most of its failures exit 0.

STUB_AGY_LOG       a file that gets one JSON record per call
STUB_AGY_CASE      the case to play; or STUB_AGY_SCRIPT, a file of cases of which each call takes one
STUB_AGY_PICTURES  a directory with wide.jpg, square.jpg, odd.jpg, other.jpg and wide.png
STUB_AGY_VERSION   what --version says; STUB_AGY_DELAY, seconds that a picture takes
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

TAKES_VALUE = {
    "p", "output-format", "add-dir", "print-timeout", "model", "effort", "json-schema", "log-file", "mode",
    "conversation",
}  # fmt: skip
FLAGS = {"dangerously-skip-permissions", "continue", "disable-slash-commands", "sandbox", "version"}
QUOTA = "You have exhausted your capacity on this model. It resets in approximately 2 hours and 20 minutes. (429)"
USED = {
    "input_tokens": 66000,
    "output_tokens": 1200,
    "thinking_tokens": 0,
    "cache_read_tokens": 0,
    "total_tokens": 67200,
}
NOTHING = dict.fromkeys(USED, 0)
STATUSES = {"invalid": "INVALID", "waiting": "WAITING", "running": "RUNNING"}
STARTED = time.monotonic()


def parse(words):
    """As Go's flag package does: a flag takes the next word whatever it is; parsing ends at the first other word."""
    found, rest = {"add-dir": []}, list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        name, equals, value = rest.pop(0).lstrip("-").partition("=")
        if name in FLAGS:
            found[name] = True
            continue
        if name not in TAKES_VALUE:
            sys.stderr.write(f"flag provided but not defined: -{name}\nUsage of agy:\n")
            sys.exit(2)
        if not equals:
            if not rest:
                sys.stderr.write(f"flag needs an argument: -{name}\nUsage of agy:\n")
                sys.exit(2)
            value = rest.pop(0)
        found[name] = [*found["add-dir"], value] if name == "add-dir" else value
    return found, rest


def record(ended=True):
    path = os.environ.get("STUB_AGY_LOG")
    if not path:
        return
    entry = {
        "argv": sys.argv[1:], "cwd": str(Path.cwd()), "pid": os.getpid(), "stdin_closed": stdin_closed(),
        "start_ms": STARTED * 1000, "end_ms": time.monotonic() * 1000 if ended else None,
        "no_update": os.environ.get("AGY_CLI_DISABLE_AUTO_UPDATE"),
        "ours": sorted(name for name in os.environ if name.startswith("THUMBFORGE_")),
    }  # fmt: skip
    with Path(path).open("a") as log:
        log.write(json.dumps(entry) + "\n")


def stdin_closed():
    try:
        return os.read(0, 1) == b""
    except OSError:
        return True


def case():
    script = os.environ.get("STUB_AGY_SCRIPT")
    if not script:
        return os.environ.get("STUB_AGY_CASE", "ok")
    with Path(script).open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        first, *rest = file.read().split() or ["ok"]
        file.seek(0)
        file.truncate()
        file.write("\n".join(rest or [first]))
    return first


def envelope(status="SUCCESS", response="Here is your picture.", usage=USED, **more):
    return {
        "conversation_id": CONVERSATION, "status": status, "response": response, "duration_seconds": 17.2,
        "num_turns": 1, "usage": usage, **more,
    }  # fmt: skip


def end(document, code=0, stderr=""):
    if document is not None:
        sys.stdout.write(document if isinstance(document, str) else json.dumps(document) + "\n")
    sys.stderr.write(stderr)
    sys.stdout.flush()
    sys.stderr.flush()
    record()
    sys.exit(code)


def brain():
    folder = Path.home() / ".gemini" / "antigravity-cli" / "brain" / CONVERSATION
    for name in (".system_generated", ".tempmediaStorage", ".user_uploaded", "scratch"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return folder


def put(source, name="calm_picture", sub="", ms=0):
    data = source if isinstance(source, bytes) else (Path(os.environ["STUB_AGY_PICTURES"]) / source).read_bytes()
    path = brain() / sub / f"{name}_{int(time.time() * 1000) + ms}.jpg"
    path.write_bytes(data)
    return path


def hang():
    record(ended=False)
    subprocess.Popen(["sleep", "600"])
    time.sleep(600)


def wait_for_timeout(flags):
    time.sleep(float(flags.get("print-timeout", "300s").rstrip("s")))
    return "warning: print timeout after 1s with a turn in progress; returning partial output\n"


def pictures(name, flags):
    """The cases that end with a picture, or look like it."""
    time.sleep(float(os.environ.get("STUB_AGY_DELAY", "0")))
    if name == "ok":
        put("wide.jpg")
    elif name == "ok_square":
        put("square.jpg")
    elif name == "ok_odd":
        put("odd.jpg")
    elif name == "ok_two":
        put("wide.jpg", "z_newest", ms=5)
        put("other.jpg", "a_oldest", ms=-5)
    elif name == "ok_noise":
        put("wide.jpg")
        prose = "Saved to /tmp/elsewhere.png. The picture is about 429 quota errors: RESOURCE_EXHAUSTED."
        end(envelope(response=prose), stderr="warning: an MCP server did not start\n")
    elif name == "ok_scratch_only":
        put("wide.jpg", sub="scratch")
    elif name == "symlink_out":
        target = Path(os.environ["STUB_AGY_PICTURES"]) / "wide.jpg"
        (brain() / f"link_{int(time.time() * 1000)}.jpg").symlink_to(target)
    elif name == "old_file":
        os.utime(put("wide.jpg"), (1_600_000_000, 1_600_000_000))
    elif name == "corrupt":
        put(b"this is no picture")
    elif name == "png_named_jpg":
        put("wide.png")
    else:
        return
    end(envelope())


def failures(name, flags):
    if name == "timeout_empty":
        late = wait_for_timeout(flags)
        end({**envelope(response="", usage=NOTHING), "duration_seconds": 0}, stderr=late)
    if name == "timeout_silent":
        end({**envelope(response="", usage=NOTHING), "duration_seconds": 0})
    if name == "timeout_partial":
        late = wait_for_timeout(flags)
        end(envelope(response="I am going to"), stderr=late)
    if name == "hang":
        hang()
    if name == "answered_then_hang":
        put("wide.jpg")
        sys.stdout.write(json.dumps(envelope()) + "\n")
        sys.stdout.flush()
        hang()
    if name == "quota_prose":
        end(envelope(response=QUOTA))
    if name == "quota_soon":
        end(envelope(response="RESOURCE_EXHAUSTED, it resets in 45s."))
    if name == "quota_error":
        error = "API error (attempt 5): RESOURCE_EXHAUSTED (code 429): quota reached. Resets in 76h3m46s"
        end(envelope("ERROR", "", NOTHING, error=error))
    if name in ("quota_exit3", "api_exit3"):
        status, code = ("RESOURCE_EXHAUSTED", 429) if name == "quota_exit3" else ("UNAVAILABLE", 503)
        told = {"status": status, "error_code": code, "short_error": "no more", "retryable": True, "error_id": "e1"}
        end(None, 3, f"AGY_ERROR: {json.dumps(told)}\n")
    if name == "denied":
        end(envelope(response="", denied_actions=["write_file"]), stderr="no output produced\n")
    if name == "no_image_text":
        end(envelope(response="I can't create that."))
    if name == "refused":
        end(envelope(response="The tool answered IMAGE_SAFETY."))
    if name == "missing_ref":
        end(envelope(structured_output={"error": "failed to read image file /nowhere.jpg"}, response=""))
    ended_badly(name)


def ended_badly(name):
    nothing = {"conversation_id": "", "status": "ERROR", "response": "", "duration_seconds": 0, "num_turns": 0}
    if name == "bad_model":
        end({**nothing, "error": 'invalid model selection (--model "x" --effort ""): unknown model'}, 1)
    if name == "auth":
        end({**nothing, "error": "authentication required"}, 1)
    if name == "verify":
        end({**nothing, "error": "403 VALIDATION_REQUIRED: verify your account"}, 1)
    if name in ("canceled", "interrupted"):
        end(envelope(name.upper(), ""), 2)
    if name in STATUSES:
        end(envelope(STATUSES[name], ""))
    if name == "empty":
        end("")
    if name in ("lost_output", "lost_output_two"):  # what was printed went nowhere
        put("wide.jpg")
        if name == "lost_output_two":
            other = brain().parent / str(uuid.uuid4())
            other.mkdir()
            (other / "other_1.jpg").write_bytes((Path(os.environ["STUB_AGY_PICTURES"]) / "wide.jpg").read_bytes())
        end("")
    if name == "denied_prose":
        end("", stderr="A tool needed a permission that was not granted.\n")
    if name == "killed":
        record()
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "garbage":
        end("Loading plugins...\n")
    if name == "json_list":
        end("[1, 2]\n")
    if name == "two_lines":
        put("wide.jpg")
        end("a log line\n" + json.dumps(envelope()) + "\n")
    if name == "bad_id":
        put("wide.jpg")
        end({**envelope(), "conversation_id": f"../brain/{CONVERSATION}"})
    if name == "no_id":
        end({**envelope(), "conversation_id": None})
    if name == "huge":
        put("wide.jpg")
        end(envelope(response="x" * 5_000_000))
    raise SystemExit(f"the stub knows no case {name}")


def main():
    flags, rest = parse(sys.argv[1:])
    if flags.get("version"):
        sys.stdout.write(f"agy version {os.environ.get('STUB_AGY_VERSION', '1.2.6')} (stub)\n")
        return
    if rest[:1] == ["models"]:
        sys.stdout.write("gemini-3.1-pro\ngemini-3.1-flash\n")
        return
    if flags.get("p") == "/usage":
        left = float(os.environ.get("STUB_AGY_LEFT", "0.75"))
        groups = [{"name": "images", "buckets": [{"name": "5 hours", "remaining_fraction": left}]}]
        sys.stdout.write(json.dumps({"command": {"name": "usage", "data": {"groups": groups}}}) + "\n")
        return
    if flags.get("output-format") not in ("json", "stream-json"):
        sys.stdout.write("Here is your picture.\n")
        record()
        return
    name = case()
    pictures(name, flags)
    failures(name, flags)


CONVERSATION = str(uuid.uuid4())
main()
