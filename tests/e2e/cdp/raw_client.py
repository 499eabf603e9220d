"""A protocol client that keeps every byte it receives, and sends whatever the test says."""

from __future__ import annotations

import json
from contextlib import suppress
from types import TracebackType
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

Json = dict[str, Any]
SECONDS = 20.0


class RawClient:
    """A badly behaved client. ``heard``: everything it ever received."""

    def __init__(self, url: str, *, reads_ahead: bool = True) -> None:
        address = url.replace("http://", "ws://") + "/devtools/browser/session"
        self._connecting = connect(
            address, max_size=None, compression=None, max_queue=None if reads_ahead else 1
        )
        self.socket: ClientConnection
        self.heard: list[str] = []
        self._id = 0

    def __enter__(self) -> RawClient:
        self.socket = self._connecting.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._connecting.__exit__(kind, error, traceback)

    def ask(self, method: str, params: Json | None = None, session: str | None = None) -> Json:
        """Send a command, and return the answer, error or not."""
        self.say(method, params, session)
        return self.answer(self._id)

    def say(self, method: str, params: Json | None = None, session: str | None = None) -> None:
        """Say it, and wait for nothing."""
        self._id += 1
        message: Json = {"id": self._id, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        self.socket.send(json.dumps(message))

    def answer(self, number: int | None) -> Json:
        while True:
            message = self.next()
            if "method" not in message and message.get("id") == number:
                return message

    def next(self) -> Json:
        text = self.socket.recv(timeout=SECONDS)
        assert isinstance(text, str), "clients expect text"
        self.heard.append(text)
        found: Json = json.loads(text)
        return found

    def result(self, method: str, params: Json | None = None, session: str | None = None) -> Json:
        answer = self.ask(method, params, session)
        assert "error" not in answer, answer
        found: Json = answer["result"]
        return found

    def until_closed(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                self.next()

    def events(self, method: str) -> list[Json]:
        messages = (json.loads(text) for text in self.heard)
        return [one["params"] for one in messages if one.get("method") == method]

    def attach_all(self) -> None:
        params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
        self.result("Target.setAutoAttach", params)

    def page(self, url: str = "about:blank") -> tuple[str, str]:
        """Open a tab, and return its target and a session with it."""
        target = self.result("Target.createTarget", {"url": "about:blank"})["targetId"]
        attach = {"targetId": target, "flatten": True}
        session = self.result("Target.attachToTarget", attach)["sessionId"]
        if url != "about:blank":
            self.go(url, session)
        return target, session

    def go(self, url: str, session: str) -> None:
        """Navigate, and wait until the page has loaded. Chromium answers ``Page.navigate`` as
        soon as the server answers, when a script may still run in the old document or in half a
        page."""
        self.result("Page.enable", session=session)
        self.result("Page.setLifecycleEventsEnabled", {"enabled": True}, session)
        loader = self.result("Page.navigate", {"url": url}, session)["loaderId"]
        while not any(
            event["name"] == "load" and event["loaderId"] == loader
            for event in self.events("Page.lifecycleEvent")
        ):
            self.next()
        self.result("Page.disable", session=session)

    def run(self, expression: str, session: str) -> Any:
        """Return the value of that script, which must not throw: for Chromium, an exception is
        an answer."""
        params = {"expression": expression, "returnByValue": True}
        answer = self.result("Runtime.evaluate", params, session)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def everything(self) -> str:
        return "\n".join(self.heard)
