# ruff: noqa: E501 - a document on one line reads better than a folded one
"""The bundle in an isolated world of a Chromium tab, and a local origin for the documents of tests."""

from __future__ import annotations

import http.server
import json
import threading
from pathlib import Path
from typing import Any

from roost.page.bundle import versioned
from tests.support.real_sites import QuietHandler

HERE = Path(__file__).parent
BUNDLE = HERE.parents[1] / "src" / "roost" / "page" / "bundle.js"
SOURCE = BUNDLE.parent / "source"


class Stage:
    """One local origin for all the small documents of the tests: navigating within it is three times as fast as to data: addresses."""

    def __init__(self) -> None:
        documents: list[bytes] = []

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                number = self.path.lstrip("/")
                found = number.isdigit()
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(documents[int(number)] if found else b"")

        self._documents = documents
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def address_of(self, document: str) -> str:
        self._documents.append(document.encode())
        return f"http://127.0.0.1:{self.server.server_port}/{len(self._documents) - 1}"


class PageWorld:
    """One tab, and the bundle in an isolated world of its current document."""

    def __init__(self, tab: Any, stage: Stage | None = None) -> None:
        self.tab = tab
        self._stage = stage
        self.cdp = tab.context.new_cdp_session(tab)
        self._bundle = BUNDLE.read_text(encoding="utf-8")
        self._world: int | None = None

    def open(self, url: str) -> PageWorld:
        self.tab.goto(url)
        self._world = None
        return self

    def show(self, body: str, script: str = "") -> PageWorld:
        """Show a new document with this body, and wait until its script has run."""
        assert self._stage is not None
        self.open(self._stage.address_of(f"<!doctype html><title>Test</title><body>{body}</body>"))
        if script:
            self.tab.evaluate(script)
        return self

    def put(self, body: str, script: str = "") -> PageWorld:
        """Replace the body of the document, for many small cases in one test."""
        self.tab.evaluate("body => { document.body.innerHTML = body }", body)
        if script:
            self.tab.evaluate(script)
        return self

    def upgrade(self) -> None:
        """Another version of the bundle comes into the same document, as after an upgrade of Roost."""
        self._bundle = versioned(f"{self._bundle}\n// another version").text
        self.inject()

    def inject(self, frame: str | None = None) -> int:
        frame = frame or self.cdp.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
        world: int = self.cdp.send(
            "Page.createIsolatedWorld", {"frameId": frame, "worldName": "roost"}
        )["executionContextId"]
        self.evaluate(self._bundle, world)
        return world

    def evaluate(self, expression: str, world: int) -> Any:
        reply = self.cdp.send(
            "Runtime.evaluate",
            {
                "expression": expression,
                "contextId": world,
                "returnByValue": True,
                "awaitPromise": True,
            },
        )
        if "exceptionDetails" in reply:
            raise AssertionError(reply["exceptionDetails"]["exception"].get("description", reply))
        return reply["result"].get("value")

    def world(self) -> int:
        if self._world is None:
            self._world = self.inject()
        return self._world

    def call(self, function: str, /, **args: Any) -> Any:
        return self.evaluate(f"__roost.{function}({json.dumps(args)})", self.world())

    def in_world(self, expression: str) -> Any:
        return self.evaluate(expression, self.world())

    def snapshot(self, **args: Any) -> str:
        reply = self.call("snapshot", **args)
        assert "error" not in reply, reply
        text: str = reply["text"]
        return text

    def error(self, function: str, /, **args: Any) -> dict[str, Any]:
        reply = self.call(function, **args)
        assert "error" in reply, reply
        error: dict[str, Any] = reply["error"]
        return error

    def ref(self, target: str) -> str:
        ref: str = self.call("resolve", target=target)["ref"]
        return ref

    def click(self, target: str) -> None:
        """Click, with trusted input, where `prepare` says that the click arrives."""
        point = self.call("prepare", target=target, action="click")["point"]
        self.tab.mouse.click(point["x"], point["y"])
