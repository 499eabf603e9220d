"""Desktop notifications, by the D-Bus interface of the freedesktop specification.

https://specifications.freedesktop.org/notification-spec/latest/ — the broker runs without the
desktop's environment, so the session bus is looked for where systemd puts it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.sax.saxutils import escape

SECONDS = 5.0
_PATH, _NAME = "/org/freedesktop/Notifications", "org.freedesktop.Notifications"
_DEFAULT_TIMEOUT = -1


def session_bus() -> str | None:
    """Return the address of this user's session bus, or None if there is none."""
    if sys.platform != "linux":
        return None
    said = os.environ.get("DBUS_SESSION_BUS_ADDRESS")
    place = Path(f"/run/user/{os.getuid()}/bus")
    return said or (f"unix:path={place}" if place.is_socket() else None)


def notify(bus: str, title: str, body: str) -> None:
    """Show a notification. ``body`` is text: servers read it as markup, so it is escaped.

    This waits for the server's answer, so call it in a thread. Raises ``OSError`` or
    ``TimeoutError`` if there is no bus or no notification server.
    """
    from jeepney import DBusAddress, DBusErrorResponse, new_method_call
    from jeepney.auth import AuthenticationError
    from jeepney.io.blocking import open_dbus_connection
    from jeepney.wrappers import unwrap_msg

    server = DBusAddress(_PATH, bus_name=_NAME, interface=_NAME)
    urgency = {"urgency": ("y", 1), "desktop-entry": ("s", "roost")}
    told: tuple[object, ...] = (
        "Roost",
        0,
        "dialog-question",
        title,
        escape(body),
        [],
        urgency,
        _DEFAULT_TIMEOUT,
    )
    message = new_method_call(server, "Notify", "susssasa{sv}i", told)
    try:
        with open_dbus_connection(bus) as connection:
            unwrap_msg(connection.send_and_get_reply(message, timeout=SECONDS))
    except (DBusErrorResponse, AuthenticationError, ValueError, EOFError) as error:
        raise OSError(f"the desktop shows no notification: {error}") from None
