"""Pause the requests of one tab that a rule or a header is for, over BiDi.

BiDi compares only scheme, host and port with an intercept here. So each paused request is compared
with the rules again, and a rule for every host pauses all requests of its tab.
https://w3c.github.io/webdriver-bidi/#command-network-addIntercept
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

from roost.conditions import Conditions, Header
from roost.drivers import interception
from roost.drivers.connection import Json, Pending
from roost.drivers.firefox.connection import BidiConnection
from roost.drivers.firefox.page_events import headers_of, kind_of
from roost.drivers.interception import PausedRequest


class Interception(interception.Interception[str]):
    """The paused requests of one tab. ``noted``: called when the intercept's id changes."""

    def __init__(self, bidi: BidiConnection, context: str, noted: Callable[[], None]) -> None:
        super().__init__()
        self.context = context
        self.intercept: str | None = None
        """The id of the intercept in Firefox."""
        self._bidi = bidi
        self._noted = noted

    def put(self, conditions: Conditions) -> Pending | None:
        """Follow these conditions. Return the reply to wait for, if there is one."""
        before = self._patterns()
        self._follow(conditions)
        patterns = self._patterns()
        if patterns == before and (self.intercept is not None or patterns is None):
            return None
        return self._renew(patterns)

    def bind(self, context: str) -> None:
        """Follow the conditions in a new context of the tab."""
        self.context, self.intercept = context, None
        self._renew(self._patterns())

    def request_paused(self, params: Json) -> None:
        request = params["request"]
        number, url, method = request["request"], request["url"], request["method"]
        headers = list(headers_of(request))
        self.decide(PausedRequest(number, url, method, kind_of(request), headers))

    def fail(self, request: PausedRequest[str], reason: str) -> None:
        self._bidi.tell("network.failRequest", {"request": request.key})

    def fulfil(
        self, request: PausedRequest[str], status: int, headers: Sequence[Header], body: bytes
    ) -> None:
        answer = {
            "request": request.key,
            "statusCode": status,
            "reasonPhrase": "OK" if status < 400 else "Error",
            "headers": bidi_headers(headers),
            "body": {"type": "base64", "value": base64.b64encode(body).decode()},
        }
        self._bidi.tell("network.provideResponse", answer)

    def go_on(self, request: PausedRequest[str], headers: Sequence[Header] | None) -> None:
        changes = {} if headers is None else {"headers": bidi_headers(headers)}
        self._bidi.tell("network.continueRequest", {"request": request.key, **changes})

    def _renew(self, patterns: list[Json] | None) -> Pending | None:
        old, self.intercept = self.intercept, None
        made: Pending | None = None
        if patterns is not None:
            how: Json = {"phases": ["beforeRequestSent"], "contexts": [self.context]}
            if patterns:
                how["urlPatterns"] = patterns
            made = self._bidi.call("network.addIntercept", how, self.context)
            made.add_done_callback(self._made)
        if old is not None:
            self._bidi.tell("network.removeIntercept", {"intercept": old})
            self._noted()
        return made

    def _made(self, answer: Pending) -> None:
        if answer.cancelled() or answer.exception() is not None:
            return
        self.intercept = answer.result()["intercept"]
        self._noted()

    def _patterns(self) -> list[Json] | None:
        """Return the patterns of requests to pause; empty for all requests, None for none."""
        named = dict.fromkeys(self._named_origins())
        if not self._globs and not named:
            return None
        patterns = [_pattern(*_split(origin)) for origin in named]
        for glob in self._globs:
            for origin in glob.origins():
                if origin is None:
                    return []
                patterns.append(_pattern(*origin))
        return patterns


def _pattern(scheme: str, host: str, port: str) -> Json:
    """Return a pattern of BiDi, which refuses an empty port. Without one, all ports match."""
    pattern = {"type": "pattern", "protocol": scheme, "hostname": host}
    return {**pattern, "port": port} if port else pattern


def _split(origin: str) -> tuple[str, str, str]:
    scheme, _, host = origin.partition("://")
    name, colon, port = host.rpartition(":")
    return (scheme, name, port) if colon and port.isdigit() else (scheme, host, "")


def bidi_headers(headers: Sequence[Header]) -> list[Json]:
    """Return the headers as BiDi writes them."""
    return [{"name": name, "value": {"type": "string", "value": to}} for name, to in headers]
