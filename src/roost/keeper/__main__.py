"""``python -m roost.keeper``: start one browser and keep it.

The whole command line of the browser comes from the driver; this adds only the connection. Started
detached, so neither the broker's end nor an agent's takes the browser with it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
from pathlib import Path

from roost.errors import BrowserLost, RoostError
from roost.keeper import chromium
from roost.keeper.browser_process import Spawned
from roost.keeper.watchdog import start_watchdog
from roost.link.relay import Held, Relay
from roost.local.broker_start import detach, report
from roost.local.home import Home, read_secret, write_secret
from roost.local.lock import Lock
from roost.local.processes import end_tree, identify
from roost.local.singleton import remove_socket_folder

END_SECONDS = 5.0
LOCK_SECONDS = 10.0
"""An earlier keeper and its watchdog need less than this to end their browser."""


def main() -> int:
    options = _parsed()
    detach()
    home = Home.find()
    record = home.path / "keepers" / f"{options.browser}.json"
    # The next broker may look for this keeper before the relay listens to its signal.
    signal.signal(signal.SIGUSR1, lambda *_: None)
    lock = Lock(options.log.with_name("keeper.lock"))
    browsers: list[int] = []

    def spawned(pid: int) -> None:
        browsers.append(pid)
        watchdog.watch(pid)
        _write_record(record, pid, is_starting=True)

    try:
        # Two browsers must never use one profile. The watchdog inherits the lock, so the lock is
        # free only when the browser of an earlier keeper has ended.
        lock.acquire(LOCK_SECONDS)
        # Before there is a browser, so that a broker that comes now waits for this keeper.
        _write_record(record, is_starting=True)
        watchdog = start_watchdog(closing=options.ready_fd)
        held = _start(options, spawned)
        folder = chromium.socket_folder_of(options.command)
        watchdog.watch(held.pid, folder)
        _write_record(record, held.pid, folder)
    except (RoostError, OSError) as problem:
        for pid in browsers:
            _end(pid, 0.0)
        _remove_record(record)
        report(options.ready_fd, _why(problem, options.browser))
        return 1
    report(options.ready_fd)
    Relay(home, options.browser, held, away_seconds=options.away).run()
    held.wire.close()  # a browser may end by itself then; the rest is for what hangs
    _end(held.pid, END_SECONDS)
    if folder is not None:
        remove_socket_folder(folder)
    _remove_record(record)
    # What outlived its parent is still in our process group; so are we, and our work is done.
    os.killpg(0, signal.SIGKILL)
    return 0


def _start(options: argparse.Namespace, spawned: Spawned) -> Held:
    if options.session is None:
        return chromium.start(options.command, options.log, spawned)
    # Brings websockets, which Chromium's keeper can do without.
    from roost.keeper.firefox import start

    return start(options.command, options.log, json.loads(options.session), spawned)


def _end(pid: int, grace_seconds: float) -> None:
    process = identify(pid)
    if process is not None:
        end_tree(process, grace_seconds)


def _why(problem: RoostError | OSError, browser: str) -> RoostError:
    if isinstance(problem, RoostError):
        return problem
    return BrowserLost(
        f"The keeper cannot start {browser}: {problem.strerror or problem}.",
        hint="Check that the disk of ROOST_HOME has room, then try again.",
    )


def _write_record(
    record: Path,
    browser_pid: int | None = None,
    folder: Path | None = None,
    *,
    is_starting: bool = False,
) -> None:
    """Where the next broker finds this keeper, and what to end and to remove should it die."""
    keeper = identify(os.getpid())
    assert keeper is not None
    with contextlib.suppress(FileExistsError):
        record.parent.mkdir(mode=0o700)
    fields: dict[str, int | str] = {"pid": keeper.pid, "processStarted": keeper.started}
    browser = None if browser_pid is None else identify(browser_pid)
    if browser is not None:
        fields |= {"browserPid": browser.pid, "browserStarted": browser.started}
    if folder is not None:
        fields["socketFolder"] = str(folder)
    if is_starting:
        fields["isStarting"] = True
    write_secret(record, json.dumps(fields).encode())


def _remove_record(record: Path) -> None:
    """Unless another keeper has begun meanwhile, and the record is that keeper's."""
    with contextlib.suppress(ValueError, KeyError, TypeError, RoostError):
        if json.loads(read_secret(record) or b"{}")["pid"] == os.getpid():
            record.unlink(missing_ok=True)


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m roost.keeper", description=__doc__)
    parser.add_argument("--ready-fd", type=int, required=True)
    parser.add_argument("--browser", required=True, help="its id in the broker")
    parser.add_argument("--log", type=Path, required=True, help="where the browser's errors go")
    parser.add_argument("--away", type=float, default=600.0, help="seconds without a broker")
    parser.add_argument("--session", help="it speaks BiDi: the capabilities of its one session")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
