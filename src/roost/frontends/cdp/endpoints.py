"""The application that HTTP mounts at ``/cdp/``.

The broker imports this module at startup, so it imports starlette only when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from roost.api.protocol import ProtocolDoor

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def endpoints(door: ProtocolDoor) -> Callable[[], ASGIApp]:
    """Return a factory of the application with all sessions' endpoints."""

    def make() -> ASGIApp:
        from roost.frontends.cdp.server import Addresses

        return Addresses(door).application()

    return make
