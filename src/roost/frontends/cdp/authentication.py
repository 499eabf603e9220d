"""Let a client answer the servers and proxies that ask for a name and a password.

Chromium's own authentication is off (``drivers/chromium/passwords.py``), because its password
window would block the pages of sessions that nobody intercepts. So Chromium never sends
``Fetch.authRequired``. For a client that said ``Fetch.enable`` with ``handleAuthRequests``, this
file does what Chromium would do:

1. The client continues a request. Roost adds ``interceptResponse``, so that the browser pauses the
   request again when its response arrives.
2. If the response asks for a password, Roost sends the client ``Fetch.authRequired``. Otherwise
   Roost continues the response, and the client does not notice.
3. The client gives a name and a password. Roost answers the paused request with a redirect to its
   own address, so the browser sends the request again and pauses it. Roost continues it with an
   ``Authorization`` header. The client hears neither of the redirect nor of the first response.

An http proxy of the client's own (``Target.createBrowserContext``) that refuses a request is
handled the same way, but Roost's filtering proxy sends the password. If the proxy refuses a tunnel
to a site, the filtering proxy waits, and the client is asked about a request to that site.

A password is sent to the origin that asked for it, in requests of the same browser context that
this client intercepts. No other client gets it, because it is kept here and not in the browser.
Only the scheme "Basic" is supported.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from roost.api.protocol import SeatChecks
from roost.frontends.cdp import messages
from roost.frontends.cdp.messages import (
    BAD_PARAMS,
    Call,
    Effect,
    GiveProxyPassword,
    Json,
    Refusal,
    Send,
    WriteFrame,
)
from roost.wire.weight import EVENT_VALUES, is_light, with_short_strings

REQUESTS = 1000
"""Requests to remember in one protocol session. The oldest is forgotten: most likely its page is
gone. If it is not, its response reaches the page as it is."""
ANSWERS = ("Default", "CancelAuth", "ProvideCredentials")
_PAUSED = b'{"method":"Fetch.requestPaused"'
_SENT = b'{"method":"Network.requestWillBeSent"'
_RESPONSE_EXTRA = b'{"method":"Network.responseReceivedExtraInfo"'
_CHALLENGES = (b'"statusCode":401', b'"statusCode":407')
_REQUEST_ID = re.compile(rb'\{"method":"Fetch\.requestPaused","params":\{"requestId":"([^"\\]+)"')
_BASIC = re.compile(r"(?:^|,)\s*basic\b", re.I)
_REALM = re.compile(r'realm="([^"]*)"', re.I)
_ANYTHING = base64.b64encode(b" ").decode()
"""A body for the redirect. Without a body, Chromium only changes the headers of the response."""


@dataclass(slots=True)
class _Request:
    """A request that the browser paused."""

    shown: str
    """The id by which the client knows the request. It stays when the request is sent again."""
    network: str | None
    url: str
    about: Json
    """The parameters of ``Fetch.authRequired``, but for the challenge."""
    context: str | None
    is_continued: bool = False
    headers: list[Json] | None = None
    """The request's own headers, if a password for its origin is known already."""
    override: list[Json] | None = None
    """The headers that the client continued the request with."""
    is_ours: bool = False
    """Roost asked for the response, so the client must not hear of it."""


@dataclass(slots=True)
class _Challenge:
    """A response that waits until the client answers ``Fetch.authRequired``."""

    request: _Request
    id: str
    url: str
    is_proxy: bool
    frame: bytes | None
    """The response as the browser reported it. None for a tunnel: there is no response yet."""


@dataclass(slots=True)
class _Interception:
    """The requests of one protocol session in which the client answers challenges."""

    sees_responses: bool
    """The client's patterns pause responses, so Roost need not ask for them."""
    requests: dict[str, _Request] = field(default_factory=dict)
    asked: dict[str, _Challenge] = field(default_factory=dict)
    """Challenges that the client has not answered, by the request's shown id."""
    again: dict[str, _Request] = field(default_factory=dict)
    """Requests that the browser sends again, by the id they had before."""
    held: dict[str, bytes] = field(default_factory=dict)
    """Events about challenges, by network id: the client hears of the last response only."""
    dropped: dict[str, None] = field(default_factory=dict)
    """Network ids of which the next event about a challenge is dropped."""

    def is_known(self, network: str) -> bool:
        asked = (challenge.request for challenge in self.asked.values())
        return any(one.network == network for one in (*self.requests.values(), *asked))


class Authentication:
    """The challenges and passwords of one client.

    ``checks``: asked whether a proxy of this client has asked for a password.
    ``nonce``: random text from which the mark of Roost's own redirects is made.
    """

    def __init__(self, checks: SeatChecks, nonce: str) -> None:
        self._checks = checks
        self._mark = hashlib.sha256(f"{nonce} again".encode()).hexdigest()
        self._sessions: dict[str, _Interception] = {}
        self._passwords: dict[tuple[str | None, str], str] = {}
        """``Authorization`` headers by browser context and origin."""

    # --- the client --------------------------------------------------------------------------

    def enabled(self, session: str, params: Json) -> None:
        """The client said ``Fetch.enable`` in that protocol session."""
        if params.get("handleAuthRequests") is not True:
            self.forget(session)
            return
        patterns = params.get("patterns")
        stages = (
            [one.get("requestStage") for one in patterns or () if isinstance(one, dict)]
            if isinstance(patterns, list)
            else []
        )
        known = self._sessions.setdefault(session, _Interception(False))
        known.sees_responses = "Response" in stages

    def forget(self, session: str) -> None:
        """The protocol session ended, or the client no longer intercepts there."""
        self._sessions.pop(session, None)

    def continued(self, session: str, context: str | None, params: Json) -> Json:
        """Return the parameters of the client's ``Fetch.continueRequest`` as they are sent."""
        known = self._sessions.get(session)
        request = None if known is None else known.requests.get(str(params.get("requestId")))
        if known is None or request is None:
            return params
        headers, url = params.get("headers"), params.get("url")
        request.is_continued = True
        request.override = headers if isinstance(headers, list) else None
        request.url = url if isinstance(url, str) else request.url
        if not known.sees_responses and params.get("interceptResponse") is not True:
            request.is_ours = True
            params = {**params, "interceptResponse": True}
        password = self._passwords.get((context, _origin(request.url)))
        if password is not None:
            own = request.override if request.override is not None else request.headers
            params = {**params, "headers": _with(own or [], password)}
        return params

    def answered(self, call: Call, context: str | None) -> list[Effect] | None:
        """Handle the client's ``Fetch.continueWithAuth``. Return None if Roost did not ask."""
        known = self._sessions.get(call.session)
        number = call.text("requestId") or ""
        if known is None or number not in known.asked:
            return None
        said = call.params.get("authChallengeResponse")
        answer = said.get("response") if isinstance(said, dict) else None
        if not isinstance(said, dict) or answer not in ANSWERS:
            raise Refusal(BAD_PARAMS, "Invalid parameters", "Unrecognized authChallengeResponse.")
        challenge = known.asked.pop(number)
        effects: list[Effect] = [WriteFrame(messages.result(call, {}))]
        password = _password(said) if answer == "ProvideCredentials" else None
        if challenge.is_proxy:
            effects.append(GiveProxyPassword(context, password))
        elif password is not None:
            self._passwords[context, _origin(challenge.url)] = password
        if challenge.frame is None:
            return effects
        if password is None:
            return effects + self._passed(known, call.session, challenge)
        return [*effects, self._sent_again(known, call.session, challenge)]

    # --- the proxy ---------------------------------------------------------------------------

    def proxy_asked(self, context: str, site: str, challenge: str) -> list[Effect]:
        """Ask the client for the password of its proxy, which wants one before it leads to ``site``
        (``host:port``). Return nothing if no request of the client leads there."""
        asks = _asks("Proxy", self._checks.own_proxy(context) or "", [challenge])
        for session, known in self._sessions.items():
            for number, request in known.requests.items():
                is_meant = request.is_continued and request.context == context
                if asks and is_meant and _site(request.url) == site:
                    waiting = _Challenge(request, number, request.url, is_proxy=True, frame=None)
                    return [_asked(known, session, waiting, asks)]
        return []

    # --- the browser -------------------------------------------------------------------------

    def is_on(self, session: str) -> bool:
        """Return whether the client answers challenges in that protocol session."""
        return session in self._sessions

    def heard(self, session: str, context: str | None, frame: bytes) -> list[Effect] | None:
        """Handle an event in a session that ``is_on``. Return None to pass the event on."""
        known = self._sessions[session]
        if frame.startswith(_PAUSED):
            return self._paused(known, session, context, frame)
        if frame.startswith(_SENT):
            return [] if self._mark.encode() in frame else None
        if frame.startswith(_RESPONSE_EXTRA) and any(one in frame for one in _CHALLENGES):
            return self._response_extra(known, frame)
        return None

    def _paused(
        self, known: _Interception, session: str, context: str | None, frame: bytes
    ) -> list[Effect] | None:
        event = _read(frame)
        if event is None:
            return self._unread(known, session, frame)
        params = event["params"]
        number, url = params["requestId"], params["request"]["url"]
        if "responseStatusCode" not in params and "responseErrorReason" not in params:
            before = known.again.pop(params.get("redirectedRequestId", ""), None)
            if before is not None:
                return [self._continued_again(known, session, context, params, before)]
            request = _request(params, context)
            if (context, _origin(url)) in self._passwords:
                request.headers = _listed(params["request"]["headers"])
            _keep(known.requests, number, request)
            return None
        own = known.requests.pop(number, None)
        request = _request(params, context) if own is None else own
        asks = self._challenge(params, context)
        challenge = _Challenge(
            request, number, url, bool(asks and asks["source"] == "Proxy"), frame
        )
        if asks is None:
            return self._passed(known, session, challenge)
        return [_asked(known, session, challenge, asks)]

    def _unread(self, known: _Interception, session: str, frame: bytes) -> list[Effect] | None:
        """Pass on an event that is too large to read, unless the client must not hear of it."""
        found = _REQUEST_ID.match(frame)
        number = "" if found is None else found.group(1).decode()
        request = known.requests.pop(number, None)
        if request is not None and request.is_ours:
            return [Send(None, "Fetch.continueRequest", {"requestId": number}, session)]
        return None

    def _challenge(self, params: Json, context: str | None) -> Json | None:
        """Return what a response asks for, as ``Fetch.authRequired`` says it, or None."""
        status = params.get("responseStatusCode")
        if status == 401:
            origin = _origin(params["request"]["url"])
            return _asks("Server", origin, _fields(params, "www-authenticate"))
        proxy = None if context is None else self._checks.own_proxy(context)
        if status == 407 and proxy is not None:
            return _asks("Proxy", proxy, _fields(params, "proxy-authenticate"))
        return None

    def _passed(self, known: _Interception, session: str, challenge: _Challenge) -> list[Effect]:
        """Let the response reach the page, or show it to a client that asked for responses."""
        held = known.held.pop(challenge.request.network or "", None)
        effects: list[Effect] = [] if held is None else [WriteFrame(held)]
        if challenge.request.is_ours:
            go_on = {"requestId": challenge.id}
            return [*effects, Send(None, "Fetch.continueRequest", go_on, session)]
        return [*effects, *([] if challenge.frame is None else [WriteFrame(challenge.frame)])]

    def _sent_again(self, known: _Interception, session: str, challenge: _Challenge) -> Send:
        request = challenge.request
        _keep(known.again, challenge.id, request)
        if request.network is not None and known.held.pop(request.network, None) is None:
            _keep(known.dropped, request.network, None)
        redirect = {
            "requestId": challenge.id,
            "responseCode": 307,
            "responseHeaders": [
                {"name": "Location", "value": challenge.url},
                {"name": "X-Roost-Again", "value": self._mark},
            ],
            "body": _ANYTHING,
        }
        return Send(None, "Fetch.fulfillRequest", redirect, session)

    def _continued_again(
        self,
        known: _Interception,
        session: str,
        context: str | None,
        params: Json,
        request: _Request,
    ) -> Send:
        number = params["requestId"]
        _keep(known.requests, number, request)
        headers = request.override
        if headers is None:
            headers = _listed(params["request"]["headers"])
        password = self._passwords.get((context, _origin(params["request"]["url"])))
        if password is not None:
            headers = _with(headers, password)
        go_on: Json = {"requestId": number, "headers": headers}
        if request.is_ours:
            go_on["interceptResponse"] = True
        return Send(None, "Fetch.continueRequest", go_on, session)

    def _response_extra(self, known: _Interception, frame: bytes) -> list[Effect] | None:
        """Hold back the event about a challenge until the client has answered the challenge."""
        event = _read(frame)
        if event is None or event["params"].get("statusCode") not in (401, 407):
            return None
        network = event["params"]["requestId"]
        if network in known.dropped:
            del known.dropped[network]
            return []
        if known.is_known(network):
            known.held[network] = frame
            return []
        return None


def _read(frame: bytes) -> Json | None:
    """Parse an event, with its long strings cut. Return None if parsing would take too long."""
    frame = with_short_strings(frame)
    if not is_light(frame, EVENT_VALUES):
        return None
    try:
        event: Json = json.loads(frame)
    except (ValueError, RecursionError):
        return None
    return event


def _request(params: Json, context: str | None) -> _Request:
    sent = params["request"]
    kept = ("url", "method", "initialPriority", "referrerPolicy")
    request = {"headers": {}, **{name: sent[name] for name in kept if name in sent}}
    about = {
        "request": request,
        "frameId": params["frameId"],
        "resourceType": params["resourceType"],
    }
    number = params["requestId"]
    return _Request(number, params.get("networkId"), sent["url"], about, context)


def _asked(known: _Interception, session: str, challenge: _Challenge, asks: Json) -> WriteFrame:
    request = challenge.request
    _keep(known.asked, request.shown, challenge)
    params = {"requestId": request.shown, **request.about, "authChallenge": asks}
    return WriteFrame(messages.event("Fetch.authRequired", params, session))


def _password(said: Json) -> str:
    pair = f"{said.get('username') or ''}:{said.get('password') or ''}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _keep(table: dict[str, Any], key: str, value: Any) -> None:
    table[key] = value
    if len(table) > REQUESTS:
        del table[next(iter(table))]


def _asks(source: str, origin: str, challenges: list[str]) -> Json | None:
    """Return what these challenges ask for, or None if none of them is for the scheme "Basic"."""
    for challenge in challenges:
        basic = _BASIC.search(challenge)
        if basic is not None:
            realm = _REALM.search(challenge, basic.end())
            named = "" if realm is None else realm.group(1)
            return {"source": source, "origin": origin, "scheme": "basic", "realm": named}
    return None


def _fields(params: Json, name: str) -> list[str]:
    """Return the values of that field of the response."""
    headers = params.get("responseHeaders") or ()
    return [one["value"] for one in headers if one["name"].lower() == name]


def _listed(headers: Json) -> list[Json]:
    return [{"name": name, "value": str(headers[name])} for name in headers]


def _with(headers: list[Json], password: str) -> list[Json]:
    """Add the password, unless the request brings an ``Authorization`` header of its own."""
    names = {str(one.get("name")).lower() for one in headers if isinstance(one, dict)}
    if "authorization" in names:
        return headers
    return [*headers, {"name": "Authorization", "value": password}]


def _site(url: str) -> str:
    """Return the ``host:port`` of a request that needs a tunnel through a proxy."""
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port or 443}"
    except ValueError:
        return ""


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}".lower()
