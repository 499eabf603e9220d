"""Starts a Firefox and opens its one WebDriver BiDi session.

Firefox listens on a loopback port and gives out one session. If the client dies without ending the
session, no other client gets one until Firefox restarts. So the keeper opens the session as soon as
the port is open, and stays its client: the keeper decides nothing and seldom dies.
https://w3c.github.io/webdriver-bidi/#transport
"""

from __future__ import annotations

import os
import re
import select
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException

from roost.errors import BrowserLost
from roost.keeper.browser_process import START_SECONDS, Spawned, last_line, spawn, unwatched
from roost.link.bidi_memory import BidiMemory
from roost.link.relay import HeldBrowser
from roost.link.websocket import WebSocketWire, ask, connect
from roost.link.wire import HungUp
from roost.local.deadline import Deadline

LOOK_AGAIN_SECONDS = 0.02
_LISTENING = re.compile(rb"WebDriver BiDi listening on ws://[^\s:]+:(\d+)")


def start(
    command: list[str], log: Path, session: dict[str, Any], spawned: Spawned = unwatched
) -> HeldBrowser:
    """Start the browser and open its session.

    session: the capabilities to ask for.
    Raises ``BrowserLost`` if Firefox cannot run, does not listen or gives no session.
    """
    # Without this setting every Firefox starts an extra process, its crash reporter.
    pid = spawn(command, log, environ={**os.environ, "MOZ_CRASHREPORTER_DISABLE": "1"})
    spawned(pid)
    deadline = Deadline(START_SECONDS)
    try:
        wire = connect(_port(pid, log, deadline), deadline)
        made = ask(wire, 1, "session.new", {"capabilities": {"alwaysMatch": session}}, deadline)
        first_tab, next_id = first_tab_of(wire, 2, deadline)
    except (OSError, HungUp, WebSocketException) as problem:
        raise BrowserLost(
            f"Firefox cannot be spoken to ({problem}): {last_line(log)}", hint=f"See {log}."
        ) from None
    given = made["capabilities"]
    about = {
        "product": f"Firefox/{given['browserVersion']}",
        "userAgent": given["userAgent"],
        "firstTab": first_tab,
    }
    return HeldBrowser(pid, wire, BidiMemory(next_id=next_id), about)


def first_tab_of(wire: WebSocketWire, next_id: int, deadline: Deadline) -> tuple[str, int]:
    """Wait until the browser has opened its first tab, which belongs to no session.

    A busy Firefox gives out its session before it opens that tab. The broker would take a tab that
    appears later for one that the person opened.

    Returns the tab's context and the next free command id.
    """
    while not deadline.has_passed():
        tree = ask(wire, next_id, "browsingContext.getTree", {}, deadline)
        next_id += 1
        if tree["contexts"]:
            return tree["contexts"][0]["context"], next_id
        select.select([], [], [], LOOK_AGAIN_SECONDS)
    raise BrowserLost("Firefox opens no window.")


def _port(pid: int, log: Path, deadline: Deadline) -> int:
    """Return the port that Firefox chose. Firefox announces it only in its error output."""
    while not deadline.has_passed():
        found = _LISTENING.search(log.read_bytes())
        if found is not None:
            return int(found.group(1))
        if os.waitpid(pid, os.WNOHANG)[0]:
            raise BrowserLost(f"Firefox ended at once: {last_line(log)}", hint=f"See {log}.")
        select.select([], [], [], LOOK_AGAIN_SECONDS)
    raise BrowserLost("Firefox does not listen.", hint=f"See {log}.")
