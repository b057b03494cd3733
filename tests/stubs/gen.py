"""A program that makes a picture, in every way in which programs do or fail to: `gen.py CASE [--name value]…`."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def main():
    case, words = sys.argv[1], sys.argv[2:]
    given = {}
    for word in words:
        if word.startswith("--") and "=" in word:
            name, _, value = word[2:].partition("=")
            given[name] = value
    out, source = Path(given.get("out", "out.png")), Path(given["picture"]) if "picture" in given else None
    if case == "ok":
        out.write_bytes(source.read_bytes())
    elif case == "nothing":
        sys.stdout.write(given.get("says", ""))
        sys.stderr.write(given.get("complains", ""))
    elif case == "argv":
        Path(given["record"]).write_bytes("\0".join(words).encode("utf-8", "surrogateescape"))
        out.write_bytes(source.read_bytes())
    elif case == "environment":
        seen = [*sorted(os.environ), "--", *sorted(path.name for path in Path().iterdir())]
        Path(given["record"]).write_text("\n".join(seen))
        sys.stderr.write(f"the key is {os.environ.get('REMOTE_API_KEY', '')}\n")
        sys.exit(int(given.get("exit", "1")))
    elif case == "hang":
        subprocess.Popen(["sleep", "600"])
        Path(given["record"]).write_text(str(os.getpid()))
        sys.stdin.read()
        time.sleep(600)
    elif case == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(given["record"]).write_text(str(os.getpid()))
        time.sleep(600)
    elif case == "big_stderr":
        block = b"noise \xff\n" * 14_000
        for _ in range(int(given["blocks"])):
            os.write(2, block)
        os.write(2, b"the last words\n")
        sys.exit(1)
    elif case == "bad_bytes":
        os.write(2, bytes.fromhex("fffe81206661696c"))
        sys.exit(1)
    elif case == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    elif case == "still_writing":
        data = source.read_bytes()
        out.write_bytes(data[: len(data) // 2])
        later = f"import time; time.sleep(2); open({str(out)!r}, 'ab').write(b'x')"
        subprocess.Popen([sys.executable, "-S", "-c", later])
    elif case == "prefix":
        out.write_bytes(b"loading model...\n" + source.read_bytes())
    elif case == "link":
        out.symlink_to(source)
    elif case == "elsewhere":
        Path("img_1.jpg").write_bytes(source.read_bytes())
    elif case == "exit":
        sys.exit(int(given["code"]))


main()
