"""What a link remembers for the next broker: the things a browser cannot be asked again.

A memory looks at the first bytes of a frame and parses only the frames that matter, because the
link relays everything else untouched. There is one memory per protocol: ``CdpMemory`` and
``BidiMemory``.

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
    """Fed with every frame in both directions; ``handover`` is what the next broker gets."""

    def from_broker(self, frame: bytes) -> None: ...

    def from_browser(self, frame: bytes) -> None: ...

    def noted(self, word: str, what: Any = None) -> None:
        """The broker asks to have something kept for the next broker."""

    def handover(self) -> Json: ...


def parsed(frame: bytes) -> Json:
    message: Json = json.loads(frame)
    return message


def cut(params: Json, names: Iterable[str], chars: int = TEXT_CHARS) -> Json:
    """Those fields that are there, no text longer than ``chars``."""
    kept = {name: params[name] for name in names if name in params}
    return {
        name: value[:chars] if isinstance(value, str) else value for name, value in kept.items()
    }


def put(table: dict[Any, Any], key: Any, value: Any, limit: int) -> None:
    """Put it in as the newest; above the limit, the oldest goes."""
    table.pop(key, None)
    table[key] = value
    if len(table) > limit:
        del table[next(iter(table))]
