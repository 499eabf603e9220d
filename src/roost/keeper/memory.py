"""What the keeper remembers for the next broker: the things a browser cannot be asked again.

A broker that died leaves protocol sessions, open dialogs, paused targets and paused requests
behind. They can only be continued through the same session ids, and a command id that is still in
flight cannot be used twice; so both are handed over. Frames are looked at by their first bytes and
parsed only when they matter, because everything else is relayed untouched.
"""

from __future__ import annotations

import json
import re
from typing import Any

_EVENT = b'{"method":"'
_COMMAND = re.compile(rb'\{"id":(\d+),"method":"([A-Za-z.]+)"(?:,"sessionId":"([^"]+)")?')

_WATCHED_EVENTS = frozenset(
    {
        b"Target.attachedToTarget",
        b"Target.detachedFromTarget",
        b"Page.javascriptDialogOpening",
        b"Page.javascriptDialogClosed",
        b"Fetch.requestPaused",
        b"Inspector.targetCrashed",
        b"Inspector.targetReloadedAfterCrash",
    }
)
_RESUMES = b"Runtime.runIfWaitingForDebugger"
_ANSWERS_REQUEST = frozenset(
    {b"Fetch.continueRequest", b"Fetch.fulfillRequest", b"Fetch.failRequest"}
)


class Memory:
    """Fed with every frame in both directions; ``handover`` is what the next broker gets."""

    def __init__(self) -> None:
        self.next_id = 1
        self._sessions: dict[str, dict[str, Any]] = {}
        self._dialogs: dict[str, dict[str, Any]] = {}
        self._requests: dict[tuple[str, str], dict[str, Any]] = {}
        self._crashed: set[str] = set()

    def from_broker(self, frame: bytes) -> None:
        command = _COMMAND.match(frame)
        if command is None:
            return
        self.next_id = max(self.next_id, int(command.group(1)) + 1)
        method = command.group(2)
        session = (command.group(3) or b"").decode()
        if method == _RESUMES and session in self._sessions:
            self._sessions[session]["waiting"] = False
        elif method in _ANSWERS_REQUEST:
            request = json.loads(frame)["params"]["requestId"]
            self._requests.pop((session, request), None)

    def from_browser(self, frame: bytes) -> None:
        if not frame.startswith(_EVENT):
            return
        method = frame[len(_EVENT) : frame.index(b'"', len(_EVENT))]
        if method not in _WATCHED_EVENTS:
            return
        event = json.loads(frame)
        self._happened(method.decode(), event["params"], event.get("sessionId", ""))

    def handover(self) -> dict[str, Any]:
        return {
            "nextId": self.next_id,
            "sessions": list(self._sessions.values()),
            "dialogs": [{"sessionId": s, "params": d} for s, d in self._dialogs.items()],
            "requests": [{"sessionId": s, "params": r} for (s, _), r in self._requests.items()],
            "crashed": sorted(self._crashed),
        }

    def _happened(self, method: str, params: dict[str, Any], session: str) -> None:
        match method:
            case "Target.attachedToTarget":
                self._sessions[params["sessionId"]] = {
                    "sessionId": params["sessionId"],
                    "parent": session,
                    "targetInfo": params["targetInfo"],
                    "waiting": params["waitingForDebugger"],
                }
            case "Target.detachedFromTarget":
                self._forget(params["sessionId"])
            case "Page.javascriptDialogOpening":
                self._dialogs[session] = params
            case "Page.javascriptDialogClosed":
                self._dialogs.pop(session, None)
            case "Fetch.requestPaused":
                self._requests[session, params["requestId"]] = params
            case "Inspector.targetCrashed":
                self._crashed.add(session)
            case "Inspector.targetReloadedAfterCrash":
                self._crashed.discard(session)

    def _forget(self, session: str) -> None:
        """A session is gone, and with it all that was attached through it."""
        for child in [s["sessionId"] for s in self._sessions.values() if s["parent"] == session]:
            self._forget(child)
        self._sessions.pop(session, None)
        self._dialogs.pop(session, None)
        self._crashed.discard(session)
        for key in [key for key in self._requests if key[0] == session]:
            del self._requests[key]
