"""What HTTP mounts at ``/cdp/``. Loaded with the broker, so it loads nothing itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from roost.api.protocol import ProtocolDoor

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def endpoints(door: ProtocolDoor) -> Callable[[], ASGIApp]:
    """The sessions' endpoints, made when they are first asked for."""

    def make() -> ASGIApp:
        from roost.frontends.cdp.server import Addresses

        return Addresses(door).application()

    return make
