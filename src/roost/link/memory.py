"""What a link remembers for the next broker: the things a browser cannot be asked again.

The memory looks at the first bytes of a frame and parses only the frames that matter, because the
link relays everything else untouched. There is one memory per protocol: ``CdpMemory`` and
``BidiMemory``.

A page decides how long its texts are and how many workers, frames and requests it has. So each
entry keeps only the fields that the next broker reads, texts are cut, and every table has a limit.
With every table full, the handover is still smaller than ``LINK_FRAME_BYTES``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final, Protocol

Json = dict[str, Any]

TEXT_CHARS: Final = 2_000
"""Longest dialog text that is kept."""
URL_CHARS: Final = 8_000
"""Longest address that is kept. Few servers accept a longer one."""
SESSIONS_BELOW: Final = 10_000
"""Protocol sessions of frames and workers. Those of tabs are never dropped."""
REQUESTS: Final = 10_000
REQUESTS_A_SESSION: Final = 1_000
DIALOGS: Final = 500
CHOOSERS: Final = 1_000
CREATING: Final = 1_000
"""Pages that a broker has asked the browser for and that the browser has not answered yet."""
NAVIGATIONS: Final = 1_000
"""Firefox tabs whose navigations are kept. Without them, the next broker takes a page that crashed
while no broker ran for one that went to about:blank."""
CLOSED: Final = 1_000
"""Firefox tabs that closed last: a broker's word about one of them comes too late."""

_CDP_EVENT = b'{"method":"'
_BIDI_REPLY = re.compile(rb'\{"type":"\w+","id":(\d+),')
_CDP_REPLY = re.compile(rb'\{"id":(\d+),')
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
_ENDS_REQUEST = frozenset({b"Network.loadingFinished", b"Network.loadingFailed"})
_WATCHES = b"Target.setAutoAttach"
_CREATES = b"Target.createTarget"
_BIDI_CREATES = b"browsingContext.create"
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


class Memory(Protocol):
    """Fed with every frame in both directions; ``handover`` is what the next broker gets."""

    def from_broker(self, frame: bytes) -> None: ...

    def from_browser(self, frame: bytes) -> None: ...

    def noted(self, word: str, what: Any = None) -> None:
        """The broker asks to have something kept for the next broker."""

    def handover(self) -> Json: ...


class CdpMemory:
    """The memory of a Chromium.

    A broker that died leaves protocol sessions, open dialogs, file choosers, paused targets and
    paused requests behind. The next broker can continue them only through the same session ids,
    and cannot reuse a command id that is still in flight; so the memory hands both over.

    A DevTools client has a browser-level session, and everything it attaches is below that session.
    The next broker ends the browser-level session, so nothing below it is remembered.
    """

    def __init__(self, next_id: int = 1) -> None:
        self.next_id = next_id
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
        command = _COMMAND.match(frame)
        if command is None:
            return
        self.next_id = max(self.next_id, int(command.group(1)) + 1)
        method = command.group(2)
        session = (command.group(3) or b"").decode()
        if method == _RESUMES and session in self._sessions:
            self._sessions[session]["waiting"] = False
        elif method == _WATCHES and not session:
            self._watches = True
        elif method == _CREATES and not session:
            _put(self._creating, int(command.group(1)), None, CREATING)
        elif method == _ANSWERS_CHOOSER:
            self._choosers.pop(session, None)
        elif method == _ANSWERS_ALL_REQUESTS:
            self._forget_requests(session, list(self._requests.get(session, ())))
        elif method in _ANSWERS_REQUEST and session in self._requests:
            request = _parsed(frame).get("params", {}).get("requestId")
            if isinstance(request, str):
                self._forget_requests(session, [request])

    def from_browser(self, frame: bytes) -> None:
        if not frame.startswith(_CDP_EVENT):
            if self._creating:
                self._replied(frame)
            return
        method = frame[len(_CDP_EVENT) : frame.index(b'"', len(_CDP_EVENT))]
        if method in _CDP_WATCHED or (self._count_requests and method in _ENDS_REQUEST):
            event = _parsed(frame)
            self._happened(method.decode(), event["params"], event.get("sessionId", ""))

    def noted(self, word: str, what: Any = None) -> None:
        pass  # all there is to know is in the frames

    def handover(self) -> Json:
        return {
            "nextId": self.next_id,
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
            kept = _cut(params, ("type", "message", "defaultPrompt"), TEXT_CHARS)
            _put(self._dialogs, session, kept, DIALOGS)
        elif method == "Page.javascriptDialogClosed":
            self._dialogs.pop(session, None)
        elif method == "Page.fileChooserOpened":
            kept = _cut(params, ("frameId", "mode", "backendNodeId"))
            _put(self._choosers, session, kept, CHOOSERS)
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
        target = _cut(info, ("targetId", "type"))
        if not parent:  # only of a tab is anything else ever read
            target |= _cut(info, ("browserContextId", "openerId", "url"), TEXT_CHARS)
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
        reply = _CDP_REPLY.match(frame)
        if reply is None or int(reply.group(1)) not in self._creating:
            return
        del self._creating[int(reply.group(1))]
        target = _parsed(frame).get("result", {}).get("targetId")
        for known in self._sessions.values():
            if not known["parent"] and known["targetInfo"].get("targetId") == target:
                known["created"] = True

    def _is_ours(self, session: str) -> bool:
        """The session was attached by the broker, not by a DevTools client."""
        known = self._sessions.get(session)
        return known is not None and known["targetInfo"]["type"] != _TAP

    def _least_needed(self) -> str:
        """The oldest worker that runs: without its session only its console lines are missed. Then
        the oldest frame that runs. A target that waits would wait for ever."""
        below = [known for known in self._sessions.values() if known["parent"]]
        running = [known for known in below if not known["waiting"]]
        workers = (known for known in running if known["targetInfo"]["type"] not in _FRAMES)
        return str(next(workers, (running or below)[0])["sessionId"])

    def _forget(self, session: str) -> None:
        """The session is gone, and with it all that was attached through it."""
        gone = [session]
        for one in gone:  # grows while it is read
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
        """Keep the ids. The next broker knows no password, so it lets the request go on unchanged
        and needs neither its address nor its headers."""
        paused = self._requests.setdefault(session, {})
        self._forget_requests(session, [params["requestId"]])
        if len(paused) >= REQUESTS_A_SESSION or self._count_requests >= REQUESTS:
            return
        kept = _cut(params, ("requestId", "networkId"))
        self._requests.setdefault(session, paused)[kept["requestId"]] = {
            **kept,
            "request": {"url": "", "headers": {}},
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
_BIDI_ENDS_REQUEST = frozenset({b"network.responseCompleted", b"network.fetchError"})
_BIDI_ANSWERS_REQUEST = frozenset(
    {
        b"network.continueWithAuth",
        b"network.continueResponse",
        b"network.provideResponse",
        b"network.failRequest",
    }
)
_NAVIGATION = ("context", "navigation", "url")


class BidiMemory:
    """The memory of a Firefox.

    The next broker can ask Firefox for its contexts. It cannot ask which of them a broker knew
    (``told``) or had asked for (``created``), how each came by its document, which prompts are
    open, which fields asked for files, which requests wait for a password, and what a broker wanted
    remembered (``note``).
    """

    def __init__(self, next_id: int = 1) -> None:
        self.next_id = next_id
        self._tabs: dict[str, Json] = {}
        self._navigated: dict[str, None] = {}
        """Tabs whose navigations are kept, the one that navigated last at the end."""
        self._closed: dict[str, None] = {}
        self._prompts: dict[str, Json] = {}
        self._choosers: dict[str, Json] = {}
        self._requests: dict[str, Json] = {}
        self._notes: Json = {}
        self._creating: dict[int, None] = {}
        """The ids of commands that make a tab and are not answered yet."""

    def from_broker(self, frame: bytes) -> None:
        command = _COMMAND.match(frame)
        if command is None:
            return
        self.next_id = max(self.next_id, int(command.group(1)) + 1)
        if command.group(2) in _BIDI_ANSWERS_REQUEST:
            if self._requests:
                self._requests.pop(_parsed(frame)["params"]["request"], None)
        elif command.group(2) == _BIDI_CREATES:
            _put(self._creating, int(command.group(1)), None, CREATING)
        elif command.group(2) == b"input.setFiles":
            self._choosers.pop(_parsed(frame)["params"]["context"], None)

    def from_browser(self, frame: bytes) -> None:
        if not frame.startswith(_BIDI_EVENT):
            if self._creating:
                self._replied(frame)
            return
        method = frame[len(_BIDI_EVENT) : frame.index(b'"', len(_BIDI_EVENT))]
        if method in _BIDI_WATCHED:
            self._happened(method.decode(), _parsed(frame)["params"])
        elif self._requests and method in _BIDI_ENDS_REQUEST:
            self._requests.pop(_parsed(frame)["params"]["request"]["request"], None)

    def noted(self, word: str, what: Any = None) -> None:
        if word == "told" and what not in self._closed:
            self._tab(what)["told"] = True
        elif word == "note":
            self._notes.update(what)

    def handover(self) -> Json:
        return {
            "nextId": self.next_id,
            "tabs": list(self._tabs.values()),
            "prompts": list(self._prompts.values()),
            "choosers": list(self._choosers.values()),
            "requests": list(self._requests.values()),
            "creating": list(self._creating),
            "notes": self._notes,
        }

    def _replied(self, frame: bytes) -> None:
        """Mark the tab that a broker asked for. A tab that no broker knows and that was not asked
        for is a popup. Firefox tells of a tab before it answers the command that made the tab."""
        reply = _BIDI_REPLY.match(frame)
        if reply is None or int(reply.group(1)) not in self._creating:
            return
        del self._creating[int(reply.group(1))]
        context = _parsed(frame).get("result", {}).get("context")
        if context in self._tabs:
            self._tabs[context]["created"] = True

    def _happened(self, event: str, params: Json) -> None:
        context = params["context"]
        match event.removeprefix("browsingContext."):
            case "contextCreated":
                if params["parent"] is None:
                    self._tab(context)
            case "contextDestroyed":
                self._destroyed(context)
            case "navigationStarted":
                self._navigates(context, started=_cut(params, _NAVIGATION, URL_CHARS))
            case "navigationCommitted":
                self._prompts.pop(context, None)  # the document they belonged to is gone
                self._choosers.pop(context, None)
                self._committed(context, _cut(params, _NAVIGATION, URL_CHARS))
            case "userPromptOpened":
                names = ("context", "type", "message", "defaultValue")
                _put(self._prompts, context, _cut(params, names, TEXT_CHARS), DIALOGS)
            case "userPromptClosed":
                self._prompts.pop(context, None)
            case "input.fileDialogOpened":
                kept = _cut(params, ("context", "multiple"))
                if params.get("element") is not None:
                    kept["element"] = _cut(params["element"], ("sharedId",))
                _put(self._choosers, context, kept, CHOOSERS)
            case "network.authRequired":
                kept = _cut(params, ("context", "navigation"))
                kept["request"] = _cut(params["request"], ("request",))
                _put(self._requests, kept["request"]["request"], kept, REQUESTS)

    def _destroyed(self, context: str) -> None:
        if self._tabs.pop(context, None) is not None:
            _put(self._closed, context, None, CLOSED)
        self._navigated.pop(context, None)
        self._prompts.pop(context, None)
        self._choosers.pop(context, None)
        if self._requests:
            left = {one: kept for one, kept in self._requests.items() if kept["context"] != context}
            self._requests = left

    def _committed(self, context: str, params: Json) -> None:
        """Keep the document, the one before it, and the navigation that had begun when it came."""
        tab = self._tabs.get(context)
        if tab is not None:
            begun = tab.pop("started", None)
            self._navigates(context, before=tab.get("committed"), committed=params, begun=begun)

    def _navigates(self, context: str, **kept: Json | None) -> None:
        tab = self._tabs.get(context)
        if tab is None:
            return
        tab.update(kept)
        self._navigated.pop(context, None)
        self._navigated[context] = None
        if len(self._navigated) > NAVIGATIONS:
            oldest = next(iter(self._navigated))
            del self._navigated[oldest]
            self._tabs[oldest] = _cut(self._tabs[oldest], ("context", "told"))

    def _tab(self, context: str) -> Json:
        return self._tabs.setdefault(context, {"context": context, "told": False})


def _parsed(frame: bytes) -> Json:
    message: Json = json.loads(frame)
    return message


def _cut(params: Json, names: Iterable[str], chars: int = TEXT_CHARS) -> Json:
    """Those fields that are there, no text longer than ``chars``."""
    kept = {name: params[name] for name in names if name in params}
    return {
        name: value[:chars] if isinstance(value, str) else value for name, value in kept.items()
    }


def _put(table: dict[Any, Any], key: Any, value: Any, limit: int) -> None:
    """Put it in as the newest; above the limit, the oldest goes."""
    table.pop(key, None)
    table[key] = value
    if len(table) > limit:
        del table[next(iter(table))]
