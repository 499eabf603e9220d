"""The application that HTTP mounts at ``/dashboard/``.

The broker imports this module at startup, so it imports starlette only when it is first needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from roost.api.dashboard import DashboardDoor

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def dashboard(door: DashboardDoor) -> Callable[[], ASGIApp]:
    """Return a factory of the application."""

    def make() -> ASGIApp:
        from roost.frontends.dashboard.server import application

        return application(door)

    return make
