"""How hints name operations to a person: as commands.

The daemon gives ``spell`` to the socket, which spells the hints of the broker for commands. The
command line spells those of its own errors.
"""

from __future__ import annotations

from collections.abc import Mapping

COMMANDS: Mapping[str, str | None] = {
    "Tabs action=list": "roost session list",
    "Tabs action=new": "roost session tab SESSION",
    "SessionList": "roost session list",
    "SessionOpen": "roost session open",
    "SessionOpen browser=chromium": "roost session open --browser chromium",
    "SessionOpen browser=firefox": "roost session open --browser firefox",
    "SessionDispose": "roost session dispose SESSION",
    "ProfileList": "roost profile list",
}
"""The command of each step that has one. Commands open no pages and act in none."""


def spell(named: str) -> str | None:
    """Return the command of a step (a ``roost.hints.Spelling``)."""
    command = COMMANDS.get(named)
    return None if command is None else f"`{command}`"
