"""Remember the name and password of an address (``http://name:password@host/``) for its server.

Chromium asks for a missing or wrong password in a window that no protocol command can close, and
the page would wait forever. So ``launch.py`` turns Chromium's authentication off. A 401 is then an
ordinary page, and ``interception.py`` adds the password to the requests.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from roost.conditions import written_origin
from roost.drivers.connection import Json
from roost.drivers.interception import basic

SCHEMES = ("basic", "digest", "ntlm", "negotiate")


class Passwords:
    """The passwords of one jar: the ``Authorization`` header for each origin."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self._watchers: set[Callable[[], None]] = set()

    def watch(self, changed: Callable[[], None]) -> None:
        """Call ``changed`` whenever a password is added."""
        self._watchers.add(changed)

    def forget(self, changed: Callable[[], None]) -> None:
        self._watchers.discard(changed)

    def taken_from(self, url: str) -> str:
        """Remember the name and password in the address, and return the address without them."""
        parts = urlsplit(url)
        if parts.username is None:
            return url
        self.headers[written_origin(url)] = basic(
            unquote(parts.username), unquote(parts.password or "")
        )
        for changed in list(self._watchers):
            changed()
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def wants_password(response: Json) -> bool:
    """Return True if the response asks for a password by a scheme that browsers know."""
    headers = {name.lower(): str(value) for name, value in response["headers"].items()}
    challenge = headers.get("www-authenticate", "").lower()
    return response["status"] == 401 and challenge.startswith(SCHEMES)
