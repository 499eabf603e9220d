"""Pause the requests of one tab that a rule, a header or a password is for, over CDP.

Chromium itself compares addresses with the patterns, so a request without a rule costs nothing. Its
patterns are wider than our globs, so each paused request is compared again. The domain ``Fetch`` of
DevTools clients is separate: a request passes both.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from http.client import responses

from roost.conditions import Conditions, Header, written_origin
from roost.drivers import interception
from roost.drivers.chromium.connection import CdpConnection
from roost.drivers.chromium.passwords import Passwords
from roost.drivers.connection import Json, Pending
from roost.drivers.interception import PausedRequest

Key = tuple[str, str]
"""A paused request: its protocol session, and its id there."""
_TYPED = frozenset({"document", "stylesheet", "image", "media", "font", "script"})
"""The kinds that a pattern names. Requests of other kinds may send a preflight first, which no
pattern can name, so their rules pause all requests to their addresses."""
_REASONS = {
    "accessdenied": "AccessDenied",
    "addressunreachable": "AddressUnreachable",
    "blockedbyclient": "BlockedByClient",
    "connectionaborted": "ConnectionAborted",
    "connectionclosed": "ConnectionClosed",
    "connectionfailed": "ConnectionFailed",
    "connectionrefused": "ConnectionRefused",
    "connectionreset": "ConnectionReset",
    "internetdisconnected": "InternetDisconnected",
    "namenotresolved": "NameNotResolved",
    "timedout": "TimedOut",
}


class Interception(interception.Interception[Key]):
    """The paused requests of one tab. ``passwords``: those of the tab's jar."""

    def __init__(self, cdp: CdpConnection, passwords: Passwords) -> None:
        super().__init__()
        self._cdp = cdp
        self._passwords = passwords
        self._sessions: dict[str, bool] = {}
        """The tab's protocol sessions, and whether requests are paused in each."""
        passwords.watch(self._refresh)

    def put(self, conditions: Conditions, asked: str | None = None) -> Pending | None:
        """Follow these conditions. Return the reply of the session ``asked``, to wait for."""
        self._follow(conditions)
        patterns = self._patterns()
        replies = [self._say(one, patterns, is_asked=one == asked) for one in self._sessions]
        return next((reply for reply in replies if reply is not None), None)

    def watch(self, session: str, *, is_taken_over: bool = False) -> None:
        """Add the protocol session of a page, or of a frame or worker in another process.

        is_taken_over: an earlier broker may have said that requests pause there.
        """
        self._sessions[session] = is_taken_over
        self._say(session, self._patterns())

    def forget(self, session: str) -> None:
        self._sessions.pop(session, None)

    def ended(self) -> None:
        super().ended()
        self._passwords.forget(self._refresh)

    def request_paused(self, session: str, params: Json) -> None:
        request = params["request"]
        self.decide(
            PausedRequest(
                (session, params["requestId"]),
                request["url"],
                request.get("method", "GET"),
                params.get("resourceType", "Other").lower(),
                [(name, str(value)) for name, value in request["headers"].items()],
            )
        )

    def fail(self, request: PausedRequest[Key], reason: str) -> None:
        said = _REASONS.get(reason, reason.capitalize())
        self._tell("Fetch.failRequest", request, {"errorReason": said})

    def fulfil(
        self, request: PausedRequest[Key], status: int, headers: Sequence[Header], body: bytes
    ) -> None:
        answer = {
            "responseCode": status,
            # Chromium refuses a code that it has no phrase for, and the request would wait forever.
            "responsePhrase": responses.get(status, "Unknown"),
            "responseHeaders": _listed(headers),
            # Without a body, Chromium only changes the headers of the server's response.
            "body": base64.b64encode(body).decode(),
        }
        self._tell("Fetch.fulfillRequest", request, answer)

    def go_on(self, request: PausedRequest[Key], headers: Sequence[Header] | None) -> None:
        changes = {} if headers is None else {"headers": _listed(headers)}
        self._tell("Fetch.continueRequest", request, changes)

    def _follow(self, conditions: Conditions) -> None:
        """Follow the rules. Chromium calls a paused ``fetch`` an XHR, so either kind means both."""
        routes = [
            replace(one, kinds=(*one.kinds, "xhr")) if "fetch" in one.kinds else one
            for one in conditions.routes
        ]
        super()._follow(replace(conditions, routes=tuple(routes)))

    def password_for(self, url: str) -> str | None:
        return super().password_for(url) or self._passwords.headers.get(written_origin(url))

    def _tell(self, method: str, request: PausedRequest[Key], params: Json) -> None:
        session, number = request.key
        self._cdp.tell(method, {"requestId": number, **params}, session)

    def _refresh(self) -> None:
        self.put(self._conditions)

    def _say(self, session: str, patterns: list[Json], *, is_asked: bool = False) -> Pending | None:
        """Say which requests pause in the session. Return the reply if ``is_asked``."""
        was_paused, self._sessions[session] = self._sessions[session], bool(patterns)
        if not patterns:
            if was_paused:
                self._cdp.tell("Fetch.disable", None, session)
            return None
        if is_asked:
            return self._cdp.call("Fetch.enable", {"patterns": patterns}, session)
        self._cdp.tell("Fetch.enable", {"patterns": patterns}, session)
        return None

    def _patterns(self) -> list[Json]:
        origins = dict.fromkeys([*self._passwords.headers, *self._named_origins()])
        patterns: list[Json] = [{"urlPattern": f"{origin}/*"} for origin in origins]
        for route, glob in self._rules():
            limits: list[Json] = [{"resourceType": kind.capitalize()} for kind in route.kinds]
            if not _TYPED.issuperset(route.kinds) or not route.kinds:
                limits = [{}]
            patterns += [{"urlPattern": one, **to} for one in glob.wildcards() for to in limits]
        return patterns


def _listed(headers: Sequence[Header]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in headers]
