"""A stand-in for roost.daemon: it performs the daemon's side of the start, and misbehaves on
request."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys

from roost import errors
from roost.local.broker_start import detach, report
from roost.local.endpoint import Endpoint, write_endpoint
from roost.local.home import Home, socket_path
from roost.local.processes import identify


def main() -> None:
    flag, ready_fd, *options = sys.argv[1:]
    assert flag == "--ready-fd"
    ready = int(ready_fd)
    home = Home.find()
    behaviour = options[0] if options else "serve"
    if behaviour == "dies":
        raise SystemExit("ImportError: there is no such thing")
    if behaviour != "stays a child":
        detach()
    signal.alarm(120)  # whatever becomes of the test, this ends
    hold_the_line(home)
    match behaviour:
        case "refuses":
            report(ready, errors.BadRequest("No such browser: lynx.", field="browser"))
        case "says nonsense":
            os.write(ready, b"[1]\n")
        case "says half":
            os.write(ready, b"rea")
        case "says too much":
            os.write(ready, b"x" * 70_000)
            signal.pause()
        case "says nothing":
            signal.pause()
        case "does not listen":
            report(ready)
        case "is killed" if left := (home.path / "kills").read_text():
            (home.path / "kills").write_text(left[1:])
            os.kill(os.getpid(), signal.SIGKILL)
        case _:
            serve(home, ready, options)


def hold_the_line(home: Home) -> None:
    """If the test gave a pipe, keep it open until this process ends."""
    pipe = home.path / "life"
    if pipe.exists():
        os.open(pipe, os.O_WRONLY)


def serve(home: Home, ready: int, options: list[str]) -> None:
    me = identify(os.getpid())
    assert me is not None
    path = socket_path(home)
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        write_endpoint(home, Endpoint(path, me, "0.0.test", 1))
        found = {
            "pid": os.getpid(),
            "options": options,
            "environment": dict(os.environ),
            "cwd": os.getcwd(),
            "umask": os.umask(0o077),
            "session": os.getsid(0),
            "descriptors": sorted(os.listdir("/dev/fd"), key=int),
        }
        with open(home.path / "starts", "a", encoding="utf-8") as starts:
            starts.write(json.dumps(found) + "\n")
        os.write(sys.stdout.fileno(), b"serving\n")
        report(ready)
        while True:
            server.accept()[0].close()


if __name__ == "__main__":
    main()
