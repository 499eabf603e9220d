"""``python -m roost.keeper``: start one browser and hold its connection.

The driver writes the browser's whole command line; the keeper adds only the connection. The keeper
runs detached, so the browser survives the end of the broker and of the agent that started it.
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
from roost.link.relay import HeldBrowser, Relay
from roost.local.broker_start import detach, report
from roost.local.core_files import write_no_core_files
from roost.local.home import Home, read_secret, write_secret
from roost.local.lock import Lock
from roost.local.processes import end_tree, identify
from roost.local.singleton import remove_socket_folder

END_SECONDS = 5.0
LOCK_SECONDS = 10.0
"""An earlier keeper and its watchdog end their browser in less time than this."""


def main() -> int:
    options = _parsed()
    detach()
    home = Home.find()
    record = home.path / "keepers" / f"{options.browser}.json"
    # A new broker may signal this keeper before the relay handles the signal.
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
        # Write it before the browser starts, so that a broker that starts now waits for us.
        _write_record(record, is_starting=True)
        watchdog = start_watchdog(closing=options.ready_fd)
        write_no_core_files()  # after the fork: the watchdog holds nothing, and names itself
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
    held.wire.close()  # Chromium ends by itself then; ``_end`` is for a browser that does not
    _end(held.pid, END_SECONDS)
    if folder is not None:
        remove_socket_folder(folder)
    _remove_record(record)
    # Browser processes that outlived their parent are still in our process group. The signal also
    # kills the keeper itself, whose work is done.
    os.killpg(0, signal.SIGKILL)
    return 0


def _start(options: argparse.Namespace, spawned: Spawned) -> HeldBrowser:
    if options.session is None:
        return chromium.start(options.command, options.log, spawned)
    # Imported here because it loads websockets, which Chromium's keeper does not need.
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
    """Record this keeper, its browser and the browser's folder for the next broker.

    The next broker finds the keeper by this file. If the keeper is dead, the broker ends the
    recorded browser and removes the folder.
    """
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
    """Remove the record, unless a newer keeper has replaced it with its own."""
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
