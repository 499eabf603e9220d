# ruff: noqa: E501 - a document on one line reads better than a folded one
"""The bundle in Firefox, in a sandbox of WebDriver BiDi, as the Firefox driver runs it."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.page.page_world import BUNDLE, HERE, Stage

websockets_client = pytest.importorskip("websockets.sync.client")

REPLY_SECONDS = 30


class FirefoxPage:
    """A tab controlled over BiDi: one command at a time, events ignored."""

    def __init__(self, socket: Any) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self.command("session.new", {"capabilities": {}})
        self._context = self.command("browsingContext.getTree", {})["contexts"][0]["context"]

    def command(self, method: str, params: dict[str, Any]) -> Any:
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=REPLY_SECONDS))
            if message.get("id") == number:
                assert message["type"] == "success", message
                return message["result"]

    def open(self, url: str) -> None:
        self.command(
            "browsingContext.navigate", {"context": self._context, "url": url, "wait": "complete"}
        )
        self.evaluate(BUNDLE.read_text(encoding="utf-8"))

    def evaluate(self, expression: str) -> Any:
        target = {"context": self._context, "sandbox": "roost"}
        reply = self.command(
            "script.evaluate", {"expression": expression, "target": target, "awaitPromise": True}
        )
        assert reply["type"] == "success", reply["exceptionDetails"]["text"]
        return reply["result"].get("value")

    def call(self, function: str, /, **args: Any) -> Any:
        return json.loads(
            self.evaluate(
                f"Promise.resolve(__roost.{function}({json.dumps(args)})).then(JSON.stringify)"
            )
        )

    def click(self, x: float, y: float) -> None:
        actions = [
            {"type": "pointerMove", "x": round(x), "y": round(y)},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.command(
            "input.performActions",
            {
                "context": self._context,
                "actions": [{"type": "pointer", "id": "mouse", "actions": actions}],
            },
        )


@pytest.fixture(scope="module")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FirefoxPage]:
    path = shutil.which("firefox-esr") or shutil.which("firefox")
    if path is None:
        pytest.skip("no Firefox on this machine")
    profile = tmp_path_factory.mktemp("profile")
    command = [
        path,
        "--headless",
        "--remote-debugging-port=0",
        "--profile",
        str(profile),
        "--no-remote",
        "about:blank",
    ]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        try:
            address = listening_address(process)
            with websockets_client.connect(f"{address}/session", max_size=None) as socket:
                yield FirefoxPage(socket)
        finally:
            process.kill()


def listening_address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"BiDi listening on (ws://\S+)", line)
        if found:
            return found[1]
    raise AssertionError("Firefox ended before it listened")


def test_the_form_of_everything_is_read_as_in_chromium(firefox: FirefoxPage) -> None:
    firefox.open((HERE / "everything.html").as_uri())
    text = firefox.call("snapshot")["text"]
    for line in (
        'textbox "Text"',
        'button "Open" [expanded]',
        'button "inside open"',
        'button "In shadow"',
        'link "SVG link"',
        'treeitem "Leaf"',
    ):
        assert f"- {line}" in text, line
    assert "inside closed" not in text


def test_every_function_answers(firefox: FirefoxPage, stage: Stage) -> None:
    firefox.open(
        stage.address_of(
            "<main><h1>Title</h1><input name=children><button id=b onclick='document.title = event.isTrusted'>B</button></main>"
        )
    )
    assert firefox.call("snapshot", reader="r")["text"].startswith("- main")
    assert firefox.call("find", text="title")["total"] == 1
    assert firefox.call("content", format="markdown")["text"].startswith("# Title")
    assert firefox.call("pageState")["counts"]["buttons"]["total"] == 1
    assert firefox.call("resolve", target="#none")["error"]["code"] == "NOT_FOUND"
    assert firefox.call("waitFor", text="Title", timeoutMs=5000)["found"]
    assert firefox.call("readiness")["readyState"] == "complete"
    assert firefox.call("scroll", y=0)["moved"] is False
    assert firefox.call("consent")["found"] is False
    assert firefox.call("setValue", target="input", value="x")["next"] == "type"
    assert len(firefox.call("drawBadges")["labels"]) == 2
    assert firefox.call("removeBadges")["removed"]
    point = firefox.call("prepare", target="#b", action="click")["point"]
    firefox.click(**point)
    firefox.call("settled")
    assert firefox.call("readiness")["title"] == "true"
    assert firefox.call("snapshot", reader="r", mode="diff")["mode"] == "diff"


def test_clobbered_forms_are_read(firefox: FirefoxPage, stage: Stage) -> None:
    firefox.open(
        stage.address_of(
            "<form aria-label=F><input name=childNodes><input name=getAttribute><button name=localName>B</button></form>"
        )
    )
    assert firefox.call("snapshot")["text"].startswith('- form "F"')


def test_a_page_of_the_manual_is_read(firefox: FirefoxPage, python_doc: str) -> None:
    firefox.open(f"{python_doc}/library/json.html")
    assert 'heading "Basic Usage" [level=2]' in firefox.call("snapshot", maxChars=1_000_000)["text"]
