"""Send the name and password of an address (``http://name:password@host/``) to its server.

Chromium asks for a missing or wrong password in a window that no protocol command can close, and
the page would wait forever. So ``launch.py`` turns Chromium's authentication off. A 401 is then an
ordinary page, and this module adds the password to the requests.
"""

from __future__ import annotations

import base64
from urllib.parse import SplitResult, unquote, urlsplit

from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.connection import Json

SCHEMES = ("basic", "digest", "ntlm", "negotiate")


class Passwords:
    """The passwords of one jar. Chromium pauses requests only to servers with a known password."""

    def __init__(self, cdp: CdpConnection) -> None:
        self._cdp = cdp
        self._headers: dict[str, str] = {}
        self._sessions: set[str] = set()

    def watch(self, session: str) -> None:
        """Add a protocol session of a page of this jar, or of a frame in another process."""
        self._sessions.add(session)
        if self._headers:
            self._hold(session)

    def forget(self, session: str) -> None:
        self._sessions.discard(session)

    def taken_from(self, url: str) -> str:
        """Remember the name and password in the address, and return the address without them."""
        parts = urlsplit(url)
        if parts.username is None:
            return url
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        self._headers[_origin(parts)] = "Basic " + base64.b64encode(pair.encode()).decode()
        for session in self._sessions:
            self._hold(session)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def request_paused(self, session: str, params: Json) -> None:
        """Continue a paused request. Add the server's password unless the request has one."""
        request = params["request"]
        go_on: Json = {"requestId": params["requestId"]}
        header = self._headers.get(_origin(urlsplit(request["url"])))
        names = {name.lower() for name in request["headers"]}
        if header is not None and "authorization" not in names:
            headers = request["headers"] | {"Authorization": header}
            go_on["headers"] = [{"name": name, "value": str(headers[name])} for name in headers]
        self._cdp.tell("Fetch.continueRequest", go_on, session)

    def _hold(self, session: str) -> None:
        patterns = [{"urlPattern": f"{origin}/*"} for origin in self._headers]
        self._cdp.tell("Fetch.enable", {"patterns": patterns}, session)


def wants_password(response: Json) -> bool:
    """Return True if the response asks for a password by a scheme that browsers know."""
    headers = {name.lower(): str(value) for name, value in response["headers"].items()}
    challenge = headers.get("www-authenticate", "").lower()
    return response["status"] == 401 and challenge.startswith(SCHEMES)


def _origin(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
