"""A link's memory for the next broker: state that the browser cannot be asked for.

A memory looks at the first bytes of a frame and parses only the frames that matter, because the
link relays everything else untouched. There is one memory per protocol: ``CdpMemory``,
``BidiMemory``, and ``IdMemory`` for the extension in a Firefox.

A page decides how long its texts are and how many workers, frames and requests it has. So each
entry keeps only the fields that the next broker reads, texts are cut, and every table has a limit.
With every table full, the handover is still smaller than ``LINK_FRAME_BYTES``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final, Protocol

Json = dict[str, Any]

TEXT_CHARS: Final = 2_000
"""Longest dialog text that is kept."""
REQUESTS: Final = 10_000
DIALOGS: Final = 500
CHOOSERS: Final = 1_000
CREATING: Final = 1_000
"""Pages that a broker has asked the browser for and that the browser has not answered yet."""

COMMAND = re.compile(rb'\{"id":(\d+),"method":"([A-Za-z.]+)"(?:,"sessionId":"([^"]+)")?')


class Memory(Protocol):
    """State of a browser that a link keeps for the next broker.

    The link shows the memory every frame in both directions, and sends ``handover()`` to each
    broker that connects.
    """

    def from_broker(self, frame: bytes) -> None: ...

    def from_browser(self, frame: bytes) -> None: ...

    def noted(self, word: str, what: Any = None) -> None:
        """Keep something that the broker wants the next broker to know."""

    def handover(self) -> Json: ...


class IdMemory:
    """The ids of commands: a broker must not use an id whose command may still be in flight.

    This is the whole memory of a link to the extension in a Firefox, which keeps all other state
    itself. The memories of other protocols build on it.
    """

    def __init__(self, next_id: int = 1) -> None:
        self.next_id = next_id

    def count(self, frame: bytes) -> re.Match[bytes] | None:
        """Count the command. Return its id, method and session; None if the frame is not a
        command."""
        command = COMMAND.match(frame)
        if command is not None:
            self.next_id = max(self.next_id, int(command.group(1)) + 1)
        return command

    def from_broker(self, frame: bytes) -> None:
        self.count(frame)

    def from_browser(self, frame: bytes) -> None:
        pass

    def noted(self, word: str, what: Any = None) -> None:
        pass  # the frames alone hold all the state

    def handover(self) -> Json:
        return {"nextId": self.next_id}


def parsed(frame: bytes) -> Json:
    message: Json = json.loads(frame)
    return message


def cut(params: Json, names: Iterable[str], chars: int = TEXT_CHARS) -> Json:
    """Return the named fields that exist in ``params``, with strings cut to ``chars``."""
    kept = {name: params[name] for name in names if name in params}
    return {
        name: value[:chars] if isinstance(value, str) else value for name, value in kept.items()
    }


def put(table: dict[Any, Any], key: Any, value: Any, limit: int) -> None:
    """Put the entry in as the newest. Above the limit, drop the oldest."""
    table.pop(key, None)
    table[key] = value
    if len(table) > limit:
        del table[next(iter(table))]
