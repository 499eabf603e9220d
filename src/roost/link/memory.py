"""What the keeper remembers for the next broker: the things a browser cannot be asked again.

Frames are looked at by their first bytes and parsed only when they matter, because everything else
is relayed untouched. One memory per protocol: ``CdpMemory`` and ``BidiMemory``.
"""

from __future__ import annotations

import json
import re
from typing import Any, Protocol

_CDP_EVENT = b'{"method":"'
_COMMAND = re.compile(rb'\{"id":(\d+),"method":"([A-Za-z.]+)"(?:,"sessionId":"([^"]+)")?')

_CDP_WATCHED = frozenset(
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
_RESUMES = b"Runtime.runIfWaitingForDebugger"
_ANSWERS_CHOOSER = b"DOM.setFileInputFiles"
_ANSWERS_REQUEST = frozenset(
    {b"Fetch.continueRequest", b"Fetch.fulfillRequest", b"Fetch.failRequest"}
)


class Memory(Protocol):
    """Fed with every frame in both directions; ``handover`` is what the next broker gets."""

    def from_broker(self, frame: bytes) -> None: ...

    def from_browser(self, frame: bytes) -> None: ...

    def noted(self, word: str, what: Any = None) -> None:
        """The broker asks to have something kept for its heir."""

    def handover(self) -> dict[str, Any]: ...


class CdpMemory:
    """Of a Chromium. A broker that died leaves protocol sessions, open dialogs, fields that ask for
    files, paused targets and paused requests behind. They can only be continued through the same
    session ids, and a command id that is still in flight cannot be used twice; so both are handed
    over."""

    def __init__(self, next_id: int = 1) -> None:
        self.next_id = next_id
        self._sessions: dict[str, dict[str, Any]] = {}
        self._dialogs: dict[str, dict[str, Any]] = {}
        self._choosers: dict[str, dict[str, Any]] = {}
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
        elif method == _ANSWERS_CHOOSER:
            self._choosers.pop(session, None)
        elif method in _ANSWERS_REQUEST:
            # A protocol client may have said it, and anything: the browser tells it so.
            request = json.loads(frame).get("params", {}).get("requestId")
            if isinstance(request, str):
                self._requests.pop((session, request), None)

    def from_browser(self, frame: bytes) -> None:
        if not frame.startswith(_CDP_EVENT):
            return
        method = frame[len(_CDP_EVENT) : frame.index(b'"', len(_CDP_EVENT))]
        if method not in _CDP_WATCHED:
            return
        event = json.loads(frame)
        self._happened(method.decode(), event["params"], event.get("sessionId", ""))

    def noted(self, word: str, what: Any = None) -> None:
        pass  # all there is to know is in the frames

    def handover(self) -> dict[str, Any]:
        return {
            "nextId": self.next_id,
            "sessions": list(self._sessions.values()),
            "dialogs": [{"sessionId": s, "params": d} for s, d in self._dialogs.items()],
            "choosers": [{"sessionId": s, "params": c} for s, c in self._choosers.items()],
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
            case "Page.fileChooserOpened":
                self._choosers[session] = params
            case "Page.frameNavigated":
                asks_in = self._choosers.get(session, {}).get("frameId")
                if asks_in == params["frame"]["id"] or "parentId" not in params["frame"]:
                    self._choosers.pop(session, None)  # it went with its document
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
        self._choosers.pop(session, None)
        self._crashed.discard(session)
        for key in [key for key in self._requests if key[0] == session]:
            del self._requests[key]


_BIDI_EVENT = b'{"type":"event","method":"'
_BIDI_WATCHED = frozenset(
    {
        b"browsingContext.contextCreated",
        b"browsingContext.contextDestroyed",
        b"browsingContext.navigationStarted",
        b"browsingContext.navigationCommitted",
        b"browsingContext.userPromptOpened",
        b"browsingContext.userPromptClosed",
        b"input.fileDialogOpened",
        b"network.authRequired",
    }
)


class BidiMemory:
    """Of a Firefox. Its contexts can be asked for again; not so which of them a broker has taken
    note of (``told``), how each came by its document, which prompts stand open, which fields have
    asked for files, which requests wait, and what a broker wanted remembered (``note``)."""

    def __init__(self, next_id: int = 1) -> None:
        self.next_id = next_id
        self._tabs: dict[str, dict[str, Any]] = {}
        self._prompts: dict[str, dict[str, Any]] = {}
        self._choosers: dict[str, dict[str, Any]] = {}
        self._requests: dict[str, dict[str, Any]] = {}
        self._notes: dict[str, Any] = {}

    def from_broker(self, frame: bytes) -> None:
        command = _COMMAND.match(frame)
        if command is None:
            return
        self.next_id = max(self.next_id, int(command.group(1)) + 1)
        if command.group(2) == b"network.continueWithAuth":
            self._requests.pop(json.loads(frame)["params"]["request"], None)
        elif command.group(2) == b"input.setFiles":
            self._choosers.pop(json.loads(frame)["params"]["context"], None)

    def from_browser(self, frame: bytes) -> None:
        if not frame.startswith(_BIDI_EVENT):
            return
        method = frame[len(_BIDI_EVENT) : frame.index(b'"', len(_BIDI_EVENT))]
        if method in _BIDI_WATCHED:
            self._happened(method.decode(), json.loads(frame)["params"])

    def noted(self, word: str, what: Any = None) -> None:
        if word == "told":
            self._tab(what)["told"] = True
        elif word == "note":
            self._notes.update(what)

    def handover(self) -> dict[str, Any]:
        return {
            "nextId": self.next_id,
            "tabs": list(self._tabs.values()),
            "prompts": list(self._prompts.values()),
            "choosers": list(self._choosers.values()),
            "requests": list(self._requests.values()),
            "notes": self._notes,
        }

    def _happened(self, event: str, params: dict[str, Any]) -> None:
        context = params["context"]
        match event.removeprefix("browsingContext."):
            case "contextCreated":
                if params["parent"] is None:
                    self._tab(context)
            case "contextDestroyed":
                self._tabs.pop(context, None)
                self._prompts.pop(context, None)
                self._choosers.pop(context, None)
            case "navigationStarted":
                if context in self._tabs:
                    self._tabs[context]["started"] = params
            case "navigationCommitted":
                self._prompts.pop(context, None)  # they went with their document
                self._choosers.pop(context, None)
                if context in self._tabs:
                    self._committed(self._tabs[context], params)
            case "userPromptOpened":
                self._prompts[context] = params
            case "userPromptClosed":
                self._prompts.pop(context, None)
            case "input.fileDialogOpened":
                self._choosers[context] = params
            case "network.authRequired":
                self._requests[params["request"]["request"]] = params

    def _committed(self, tab: dict[str, Any], params: dict[str, Any]) -> None:
        """The document, the one before it, and the navigation that had begun when it came."""
        tab["before"] = tab.get("committed")
        tab["committed"] = params
        tab["begun"] = tab.pop("started", None)

    def _tab(self, context: str) -> dict[str, Any]:
        return self._tabs.setdefault(context, {"context": context, "told": False})
