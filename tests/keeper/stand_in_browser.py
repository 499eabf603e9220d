"""A browser as a keeper sees it: NUL-terminated JSON on descriptors 3 and 4, and a child process.

It answers its name, echoes commands, and on ``Test.leave`` ends without its child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys


def main() -> None:
    code = "import sys, signal; signal.pause()"
    child = subprocess.Popen([sys.executable, "-c", code], close_fds=True)
    rest = b""
    while data := os.read(3, 65536):
        *frames, rest = (rest + data).split(b"\0")
        for frame in frames:
            command = json.loads(frame)
            if command["method"] == "Test.leave":
                os._exit(0)
            result = {"product": "StandIn/1", "userAgent": "none", "child": child.pid}
            answer = {"id": command["id"], "result": result | {"echo": command.get("params")}}
            os.write(4, json.dumps(answer, separators=(",", ":")).encode() + b"\0")
    # The pipe is closed: a real one ends by itself, this one hangs, and must be ended.
    child.wait()


if __name__ == "__main__":
    main()
