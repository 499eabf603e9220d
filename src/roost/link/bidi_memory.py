"""``BidiMemory``: what a link to a Firefox remembers for the next broker."""

from __future__ import annotations

import re
from typing import Any, Final

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

URL_CHARS: Final = 8_000
"""Longest address that is kept. Few servers accept a longer one."""
NAVIGATIONS: Final = 1_000
"""Firefox tabs whose navigations are kept. Without them, the next broker takes a page that crashed
while no broker ran for one that went to about:blank."""
CLOSED: Final = 1_000
"""Recently closed tabs that are kept, so that a late ``told`` does not bring one back."""

_REPLY = re.compile(rb'\{"type":"\w+","id":(\d+),')
_CREATES = b"browsingContext.create"
_EVENT = b'{"type":"event","method":"'
_WATCHED = frozenset(
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
_SENDS = b"network.beforeRequestSent"
_BLOCKED = b'"isBlocked":true'
_ENDS_REQUEST = frozenset({b"network.responseCompleted", b"network.fetchError"})
_ANSWERS_REQUEST = frozenset(
    {
        b"network.continueRequest",
        b"network.continueWithAuth",
        b"network.continueResponse",
        b"network.provideResponse",
        b"network.failRequest",
    }
)
_NAVIGATION = ("context", "navigation", "url")


class BidiMemory(IdMemory):
    """The memory of a link to a Firefox.

    The next broker can ask Firefox for its contexts. It cannot ask which of them a broker knew
    (``told``) or had asked for (``created``), how each came by its document, which prompts are
    open, which fields asked for files, which requests wait for a password or a rule, and what a
    broker wanted remembered (``note``).
    """

    def __init__(self, next_id: int = 1) -> None:
        super().__init__(next_id)
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
        command = self.count(frame)
        if command is None:
            return
        if command.group(2) in _ANSWERS_REQUEST:
            if self._requests:
                self._requests.pop(parsed(frame)["params"]["request"], None)
        elif command.group(2) == _CREATES:
            put(self._creating, int(command.group(1)), None, CREATING)
        elif command.group(2) == b"input.setFiles":
            self._choosers.pop(parsed(frame)["params"]["context"], None)

    def from_browser(self, frame: bytes) -> None:
        if not frame.startswith(_EVENT):
            if self._creating:
                self._replied(frame)
            return
        method = frame[len(_EVENT) : frame.index(b'"', len(_EVENT))]
        if method in _WATCHED or (method == _SENDS and _BLOCKED in frame):
            self._happened(method.decode(), parsed(frame)["params"])
        elif self._requests and method in _ENDS_REQUEST:
            self._requests.pop(parsed(frame)["params"]["request"]["request"], None)

    def noted(self, word: str, what: Any = None) -> None:
        if word == "told" and what not in self._closed:
            self._tab(what)["told"] = True
        elif word == "note":
            self._notes.update(what)

    def handover(self) -> Json:
        return {
            **super().handover(),
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
        reply = _REPLY.match(frame)
        if reply is None or int(reply.group(1)) not in self._creating:
            return
        del self._creating[int(reply.group(1))]
        context = parsed(frame).get("result", {}).get("context")
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
                self._navigates(context, started=cut(params, _NAVIGATION, URL_CHARS))
            case "navigationCommitted":
                self._prompts.pop(context, None)  # the document they belonged to is gone
                self._choosers.pop(context, None)
                self._committed(context, cut(params, _NAVIGATION, URL_CHARS))
            case "userPromptOpened":
                names = ("context", "type", "message", "defaultValue")
                put(self._prompts, context, cut(params, names, TEXT_CHARS), DIALOGS)
            case "userPromptClosed":
                self._prompts.pop(context, None)
            case "input.fileDialogOpened":
                kept = cut(params, ("context", "multiple"))
                if params.get("element") is not None:
                    kept["element"] = cut(params["element"], ("sharedId",))
                put(self._choosers, context, kept, CHOOSERS)
            case "network.authRequired":
                kept = cut(params, ("context", "navigation"))
                kept["request"] = cut(params["request"], ("request",))
                put(self._requests, kept["request"]["request"], kept, REQUESTS)
            case "network.beforeRequestSent" if params.get("isBlocked"):
                kept = cut(params, ("context", "navigation", "isBlocked"))
                about = ("request", "url", "method", "destination", "initiatorType")
                kept["request"] = cut(params["request"], about, URL_CHARS)
                put(self._requests, kept["request"]["request"], kept, REQUESTS)

    def _destroyed(self, context: str) -> None:
        if self._tabs.pop(context, None) is not None:
            put(self._closed, context, None, CLOSED)
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
            self._tabs[oldest] = cut(self._tabs[oldest], ("context", "told"))

    def _tab(self, context: str) -> Json:
        return self._tabs.setdefault(context, {"context": context, "told": False})
