"""``CdpMemory``: what a link to a Chromium remembers for the next broker."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from roost.link.memory import (
    CHOOSERS,
    CREATING,
    DIALOGS,
    REQUESTS,
    TEXT_CHARS,
    IdMemory,
    Json,
    cut,
    parsed,
    put,
)

SESSIONS_BELOW: Final = 10_000
"""Protocol sessions of frames and workers. Those of tabs are never dropped."""
REQUESTS_A_SESSION: Final = 1_000

URL_CHARS: Final = 500
"""How much of a paused request's address is kept. The next broker chooses a rule by it."""

_EVENT = b'{"method":"'
_REPLY = re.compile(rb'\{"id":(\d+),')

_WATCHED = frozenset(
    {
        b"Target.attachedToTarget",
        b"Target.detachedFromTarget",
        b"Page.javascriptDialogOpening",
        b"Page.javascriptDialogClosed",
        b"Page.fileChooserOpened",
        b"Page.frameNavigated",
        b"Fetch.requestPaused",
        b"Inspector.targetCrashed",
        b"Inspector.targetReloadedAfterCrash",
    }
)
_ENDS_REQUEST = frozenset({b"Network.loadingFinished", b"Network.loadingFailed"})
_WATCHES = b"Target.setAutoAttach"
_CREATES = b"Target.createTarget"
_RESUMES = b"Runtime.runIfWaitingForDebugger"
_ANSWERS_CHOOSER = b"DOM.setFileInputFiles"
_ANSWERS_REQUEST = frozenset(
    {
        b"Fetch.continueRequest",
        b"Fetch.continueResponse",
        b"Fetch.continueWithAuth",
        b"Fetch.fulfillRequest",
        b"Fetch.failRequest",
        b"Fetch.takeResponseBodyAsStream",
    }
)
_ANSWERS_ALL_REQUESTS = b"Fetch.disable"
_TAP = "browser"
_FRAMES = ("iframe", "webview")


class CdpMemory(IdMemory):
    """The memory of a link to a Chromium.

    A broker that died leaves protocol sessions, open dialogs, file choosers, paused targets and
    paused requests behind. The next broker can continue them only through the same session ids,
    and cannot reuse a command id that is still in flight; so the memory hands both over.

    A DevTools client has a browser-level session, and everything it attaches is below that session.
    The next broker ends the browser-level session, so nothing below it is remembered.
    """

    def __init__(self, next_id: int = 1) -> None:
        super().__init__(next_id)
        self._sessions: dict[str, Json] = {}
        self._below: dict[str, dict[str, None]] = {}
        """The sessions that were attached through each session."""
        self._count_below = 0
        self._dialogs: dict[str, Json] = {}
        self._choosers: dict[str, Json] = {}
        self._requests: dict[str, dict[str, Json]] = {}
        self._count_requests = 0
        self._crashed: set[str] = set()
        self._watches = False
        """A broker has asked to be attached to every new page."""
        self._creating: dict[int, None] = {}
        """The ids of commands that create a page and are not answered yet."""

    def from_broker(self, frame: bytes) -> None:
        command = self.count(frame)
        if command is None:
            return
        method = command.group(2)
        session = (command.group(3) or b"").decode()
        if method == _RESUMES and session in self._sessions:
            self._sessions[session]["waiting"] = False
        elif method == _WATCHES and not session:
            self._watches = True
        elif method == _CREATES and not session:
            put(self._creating, int(command.group(1)), None, CREATING)
        elif method == _ANSWERS_CHOOSER:
            self._choosers.pop(session, None)
        elif method == _ANSWERS_ALL_REQUESTS:
            self._forget_requests(session, list(self._requests.get(session, ())))
        elif method in _ANSWERS_REQUEST and session in self._requests:
            request = parsed(frame).get("params", {}).get("requestId")
            if isinstance(request, str):
                self._forget_requests(session, [request])

    def from_browser(self, frame: bytes) -> None:
        if not frame.startswith(_EVENT):
            if self._creating:
                self._replied(frame)
            return
        method = frame[len(_EVENT) : frame.index(b'"', len(_EVENT))]
        if method in _WATCHED or (self._count_requests and method in _ENDS_REQUEST):
            event = parsed(frame)
            self._happened(method.decode(), event["params"], event.get("sessionId", ""))

    def handover(self) -> Json:
        return {
            **super().handover(),
            "watches": self._watches,
            "creating": list(self._creating),
            "sessions": list(self._sessions.values()),
            "dialogs": [{"sessionId": s, "params": d} for s, d in self._dialogs.items()],
            "choosers": [{"sessionId": s, "params": c} for s, c in self._choosers.items()],
            "requests": [
                {"sessionId": session, "params": request}
                for session, requests in self._requests.items()
                for request in requests.values()
            ],
            "crashed": sorted(self._crashed),
        }

    def _happened(self, method: str, params: Json, session: str) -> None:
        if method == "Target.attachedToTarget":
            self._attached(params, session)
        elif method == "Target.detachedFromTarget":
            self._forget(params["sessionId"])
        elif not self._is_ours(session):
            return
        elif method == "Page.javascriptDialogOpening":
            kept = cut(params, ("type", "message", "defaultPrompt"), TEXT_CHARS)
            put(self._dialogs, session, kept, DIALOGS)
        elif method == "Page.javascriptDialogClosed":
            self._dialogs.pop(session, None)
        elif method == "Page.fileChooserOpened":
            kept = cut(params, ("frameId", "mode", "backendNodeId"))
            put(self._choosers, session, kept, CHOOSERS)
        elif method == "Page.frameNavigated":
            asks_in = self._choosers.get(session, {}).get("frameId")
            if asks_in == params["frame"]["id"] or "parentId" not in params["frame"]:
                self._choosers.pop(session, None)  # its document is gone
        elif method == "Fetch.requestPaused":
            self._request_paused(session, params)
        elif method in ("Network.loadingFinished", "Network.loadingFailed"):
            self._request_ended(session, params["requestId"])
        elif method == "Inspector.targetCrashed":
            self._crashed.add(session)
            self._forget_what_waits(session)
        elif method == "Inspector.targetReloadedAfterCrash":
            self._crashed.discard(session)

    # --- sessions ------------------------------------------------------------------------------

    def _attached(self, params: Json, parent: str) -> None:
        if parent and not self._is_ours(parent):
            return
        session, info = params["sessionId"], params["targetInfo"]
        self._forget(session)
        target = cut(info, ("targetId", "type"))
        if not parent:  # a tab; the next broker reads these fields of tabs only
            target |= cut(info, ("browserContextId", "openerId", "url"), TEXT_CHARS)
        self._sessions[session] = {
            "sessionId": session,
            "parent": parent,
            "targetInfo": target,
            "waiting": params["waitingForDebugger"],
            "created": False,
        }
        if parent:
            self._below.setdefault(parent, {})[session] = None
            self._count_below += 1
            if self._count_below > SESSIONS_BELOW:
                self._forget(self._least_needed())

    def _replied(self, frame: bytes) -> None:
        """Mark the page that a broker asked for. A page that still waits and was not asked for is a
        popup, which the next broker gives to a session. Chromium attaches a page before it answers
        the command that created the page."""
        reply = _REPLY.match(frame)
        if reply is None or int(reply.group(1)) not in self._creating:
            return
        del self._creating[int(reply.group(1))]
        target = parsed(frame).get("result", {}).get("targetId")
        for known in self._sessions.values():
            if not known["parent"] and known["targetInfo"].get("targetId") == target:
                known["created"] = True

    def _is_ours(self, session: str) -> bool:
        """Return whether the broker attached this session, and not a DevTools client."""
        known = self._sessions.get(session)
        return known is not None and known["targetInfo"]["type"] != _TAP

    def _least_needed(self) -> str:
        """Return the session to drop: the oldest running worker, else the oldest running frame.

        Without its session a worker only loses its console lines. A paused target is dropped last,
        because nothing could resume it.
        """
        below = [known for known in self._sessions.values() if known["parent"]]
        running = [known for known in below if not known["waiting"]]
        workers = (known for known in running if known["targetInfo"]["type"] not in _FRAMES)
        return str(next(workers, (running or below)[0])["sessionId"])

    def _forget(self, session: str) -> None:
        """Forget a session that is gone, and everything that was attached through it."""
        gone = [session]
        for one in gone:  # the loop itself appends the children
            gone += self._below.pop(one, ())
            known = self._sessions.pop(one, None)
            if known is not None and known["parent"]:
                self._below.get(known["parent"], {}).pop(one, None)
                self._count_below -= 1
            self._crashed.discard(one)
            self._forget_what_waits(one)

    def _forget_what_waits(self, session: str) -> None:
        self._dialogs.pop(session, None)
        self._choosers.pop(session, None)
        self._forget_requests(session, list(self._requests.get(session, ())))

    # --- paused requests -----------------------------------------------------------------------

    def _request_paused(self, session: str, params: Json) -> None:
        """Keep the ids, and what a route rule is chosen by. The next broker adds no headers to the
        request, so it does not need the request's own headers."""
        paused = self._requests.setdefault(session, {})
        self._forget_requests(session, [params["requestId"]])
        if len(paused) >= REQUESTS_A_SESSION or self._count_requests >= REQUESTS:
            return
        kept = cut(params, ("requestId", "networkId", "resourceType"))
        about = cut(params.get("request", {}), ("url", "method"), URL_CHARS)
        self._requests.setdefault(session, paused)[kept["requestId"]] = {
            **kept,
            "request": {"url": "", **about, "headers": {}},
        }
        self._count_requests += 1

    def _request_ended(self, session: str, network_id: str) -> None:
        paused = self._requests.get(session, {})
        ended = [one for one, kept in paused.items() if kept.get("networkId") == network_id]
        self._forget_requests(session, ended)

    def _forget_requests(self, session: str, requests: Iterable[str]) -> None:
        paused = self._requests.get(session, {})
        for request in requests:
            if paused.pop(request, None) is not None:
                self._count_requests -= 1
        if not paused:
            self._requests.pop(session, None)
