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

from roost.errors import RoostError
from roost.keeper import chromium
from roost.link.relay import Held, Relay
from roost.local.home import Home, write_secret
from roost.local.processes import end_tree, identify
from roost.local.starting import detach, report

END_SECONDS = 5.0


def main() -> int:
    options = _parsed()
    detach()
    home = Home.find()
    record = home.path / "keepers" / f"{options.browser}.json"
    try:
        held = _start(options)
        _write_record(record, held.pid)
    except RoostError as error:
        report(options.ready_fd, error)
        return 1
    report(options.ready_fd)
    Relay(home, options.browser, held, away_seconds=options.away).run()
    held.wire.close()  # a browser may end by itself then; the rest is for what hangs
    process = identify(held.pid)
    if process is not None:
        end_tree(process, END_SECONDS)
    record.unlink(missing_ok=True)
    # What outlived its parent is still in our process group; so are we, and our work is done.
    os.killpg(0, signal.SIGKILL)
    return 0


def _start(options: argparse.Namespace) -> Held:
    if options.session is None:
        return chromium.start(options.command, options.log)
    # Brings websockets, which Chromium's keeper can do without.
    from roost.keeper.firefox import start

    return start(options.command, options.log, json.loads(options.session))


def _write_record(record: Path, browser_pid: int) -> None:
    """Where the next broker finds this keeper, and what to end should it die."""
    keeper, browser = identify(os.getpid()), identify(browser_pid)
    assert keeper is not None
    with contextlib.suppress(FileExistsError):
        record.parent.mkdir(mode=0o700)
    fields = {"pid": keeper.pid, "processStarted": keeper.started}
    if browser is not None:
        fields |= {"browserPid": browser.pid, "browserStarted": browser.started}
    write_secret(record, json.dumps(fields).encode())


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
