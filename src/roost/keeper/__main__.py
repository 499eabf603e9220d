"""``python -m roost.keeper``: start one browser on a pipe and keep it.

The whole command line of the browser comes from the driver; this only adds the pipe. Started
detached, so neither the broker's end nor an agent's takes the browser with it.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

from roost.errors import BrowserLost, RoostError
from roost.keeper.relay import Relay
from roost.local.deadline import Deadline
from roost.local.home import Home, write_secret
from roost.local.processes import end_tree, identify
from roost.local.starting import detach, report

START_SECONDS = 30.0
END_SECONDS = 5.0


def main() -> int:
    options = _parsed()
    detach()
    home = Home.find()
    record = home.path / "keepers" / f"{options.browser}.json"
    try:
        pid, pipe_in, pipe_out = _start_browser(options.command, options.log)
        relay = Relay(
            home,
            options.browser,
            pid=pid,
            pipe_in=pipe_in,
            pipe_out=pipe_out,
            about=_version(pipe_in, pipe_out, options.log),
            away_seconds=options.away,
        )
        relay.memory.next_id = 2
        _write_record(record, pid)
    except RoostError as error:
        report(options.ready_fd, error)
        return 1
    report(options.ready_fd)
    relay.run()
    os.close(pipe_in)  # the browser ends by itself when its pipe closes; the rest is for what hangs
    process = identify(pid)
    if process is not None:
        end_tree(process, END_SECONDS)
    record.unlink(missing_ok=True)
    # What outlived its parent is still in our process group; so are we, and our work is done.
    os.killpg(0, signal.SIGKILL)
    return 0


def _start_browser(command: list[str], log: Path) -> tuple[int, int, int]:
    """The browser with its debugging pipe on descriptors 3 and 4."""
    commands, pipe_in = os.pipe()
    pipe_out, replies = os.pipe()
    # Out of the way of 3 and 4, or one dup2 would overwrite what the other still needs.
    commands, replies = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (commands, replies))
    null = os.open(os.devnull, os.O_RDWR)
    errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    try:
        pid = os.posix_spawn(
            command[0],
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, null, 0),
                (os.POSIX_SPAWN_DUP2, null, 1),
                (os.POSIX_SPAWN_DUP2, errors, 2),
                (os.POSIX_SPAWN_DUP2, commands, 3),
                (os.POSIX_SPAWN_DUP2, replies, 4),
            ],
        )
    except OSError as problem:
        raise BrowserLost(
            f"Cannot run {command[0]}: {problem.strerror}.",
            hint="Give another with --browser-path, or run `roost browser install`.",
        ) from None
    finally:
        for fd in (commands, replies, null, errors):
            os.close(fd)
    return pid, pipe_in, pipe_out


def _version(pipe_in: int, pipe_out: int, log: Path) -> dict[str, Any]:
    """Ask the browser who it is: the proof that it runs."""
    os.write(pipe_in, b'{"id":1,"method":"Browser.getVersion"}\0')
    deadline, answer = Deadline(START_SECONDS), b""
    poll = select.poll()
    poll.register(pipe_out, select.POLLIN)
    while not answer.endswith(b"\0"):
        if not poll.poll(deadline.remaining() * 1000):
            raise BrowserLost("The browser does not answer.", hint=f"See {log}.")
        data = os.read(pipe_out, 64 * 1024)
        if not data:
            raise BrowserLost(f"The browser ended at once: {_last_line(log)}", hint=f"See {log}.")
        answer += data
    version = json.loads(answer.rstrip(b"\0"))["result"]
    return {"product": version["product"], "userAgent": version["userAgent"]}


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return next((line[:300] for line in reversed(lines) if line.strip()), "it said nothing")


def _write_record(record: Path, browser_pid: int) -> None:
    """Where the next broker finds this keeper, and what to end should it die."""
    keeper = identify(os.getpid())
    assert keeper is not None
    with contextlib.suppress(FileExistsError):
        record.parent.mkdir(mode=0o700)
    fields = {"pid": keeper.pid, "processStarted": keeper.started, "browserPid": browser_pid}
    write_secret(record, json.dumps(fields).encode())


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m roost.keeper", description=__doc__)
    parser.add_argument("--ready-fd", type=int, required=True)
    parser.add_argument("--browser", required=True, help="its id in the broker")
    parser.add_argument("--log", type=Path, required=True, help="where the browser's errors go")
    parser.add_argument("--away", type=float, default=600.0, help="seconds without a broker")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
