"""Names and passwords that were written into an address, for the server they were written for.

Chromium's own way would ask the person wherever a password is missing or wrong, in a window that
no protocol command can close, and what asked would wait for ever. So its authentication is off
(``launch.py``): a 401 is a page like any other, and what an address carries is sent from here.
"""

from __future__ import annotations

import base64
from urllib.parse import SplitResult, unquote, urlsplit

from roost.drivers.chromium.connection import CdpConnection, Json

SCHEMES = ("basic", "digest", "ntlm", "negotiate")


class Passwords:
    """Of one jar. Its pages' requests to a server are held for a moment once we have a password
    for it; no other request is."""

    def __init__(self, cdp: CdpConnection) -> None:
        self._cdp = cdp
        self._headers: dict[str, str] = {}
        self._sessions: set[str] = set()

    def watch(self, session: str) -> None:
        """A page of this jar, or a part of one."""
        self._sessions.add(session)
        if self._headers:
            self._hold(session)

    def forget(self, session: str) -> None:
        self._sessions.discard(session)

    def taken_from(self, url: str) -> str:
        """The address without its password, which is remembered."""
        parts = urlsplit(url)
        if parts.username is None:
            return url
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        self._headers[_origin(parts)] = "Basic " + base64.b64encode(pair.encode()).decode()
        for session in self._sessions:
            self._hold(session)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def request_paused(self, session: str, params: Json) -> None:
        """Let it go on, with the password if it is for that server and carries none."""
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
    """Whether the server asks for a name and a password the way browsers ask a person."""
    headers = {name.lower(): str(value) for name, value in response["headers"].items()}
    challenge = headers.get("www-authenticate", "").lower()
    return response["status"] == 401 and challenge.startswith(SCHEMES)


def _origin(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
