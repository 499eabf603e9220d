"""A stage for tests of a CDP client: the test plays client, browser and broker."""

from __future__ import annotations

import json
from typing import Any

from roost.errors import BadRequest, UrlBlocked
from roost.frontends.cdp import commands
from roost.frontends.cdp.messages import (
    CloseTab,
    Effect,
    MakeContext,
    OpenTab,
    Order,
    Release,
    RemoveContext,
    Send,
    WriteFrame,
)
from roost.frontends.cdp.visible_browser import VisibleBrowser

Json = dict[str, Any]
MINE, OTHERS = "CONTEXT-MINE", "CONTEXT-OTHERS"
ROOT = "ROOT"


class StrictChecks:
    """Allows https addresses, and files below /mine."""

    def __init__(self) -> None:
        self.proxies: dict[str, str] = {}

    def owns_frame(self, frame: str) -> bool:
        return frame.startswith("T-mine")

    def own_proxy(self, context: str) -> str | None:
        return self.proxies.get(context)

    def checked_url(self, url: str) -> str:
        if ":" not in url:
            raise BadRequest(f"{url} has no scheme.")
        if not url.startswith(("https://", "about:blank")):
            raise UrlBlocked(f"{url} cannot be opened.")
        return url

    def checked_upload(self, path: str) -> str:
        return self.checked_folder(path)

    def checked_folder(self, path: str) -> str:
        if not path.startswith("/mine"):
            raise BadRequest(f"{path} is outside your folders.")
        return path


class Stage:
    """Collects all messages. ``said``: to the client. ``sent``: to the browser. ``asked``: to
    the broker. Attachments are answered automatically."""

    def __init__(self, context: str | None = MINE) -> None:
        self.checks = StrictChecks()
        self.visible = VisibleBrowser(root=ROOT, context=context, seat=self.checks, nonce="nonce")
        self.said: list[Json] = []
        self.sent: list[Send] = []
        self.asked: list[Order] = []
        self.released: list[str] = []
        self.others: list[Effect] = []
        self._calls = 0
        self._sessions = 0

    # --- the client ----------------------------------------------------------------------------

    def client(self, method: str, params: Json | None = None, session: str = "") -> Json | None:
        """Send a command as the client. Return the answer if it comes at once."""
        self._calls += 1
        message: Json = {"id": self._calls, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        before = len(self.said)
        self.do(commands.said(self.visible, json.dumps(message)))
        answers = [one for one in self.said[before:] if one.get("id") == self._calls]
        return answers[0] if answers else None

    def result(self, method: str, params: Json | None = None, session: str = "") -> Json:
        answer = self.client(method, params, session)
        assert answer is not None
        assert "error" not in answer, answer
        found: Json = answer["result"]
        return found

    def error(self, method: str, params: Json | None = None, session: str = "") -> Json:
        answer = self.client(method, params, session)
        assert answer is not None
        assert answer.get("sessionId", "") == session or answer["error"]["code"] == -32001
        found: Json = answer["error"]
        return found

    def events(self, method: str) -> list[Json]:
        return [one for one in self.said if one.get("method") == method]

    def attach_all(self, **more: Any) -> None:
        """Auto-attach to all targets, as Playwright does."""
        params = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, **more}
        assert self.result("Target.setAutoAttach", params) == {}

    # --- the browser ---------------------------------------------------------------------------

    def page(self, target: str, context: str = MINE, **more: Any) -> Json:
        """Let the browser report a page, of any session."""
        info = {
            "targetId": target,
            "type": "page",
            "title": "",
            "url": "about:blank",
            "attached": False,
            "canAccessOpener": False,
            "browserContextId": context,
            **more,
        }
        self.browser("Target.targetCreated", {"targetInfo": info})
        return info

    def tab(self, target: str, **more: Any) -> bool:
        """Let browser and broker report a page of the session."""
        self.page(target, **more)
        return self.came(target)

    def browser(self, method: str, params: Json, session: str = ROOT) -> None:
        frame = {"method": method, "params": params, "sessionId": session}
        self.do(self.visible.heard(session, json.dumps(frame, separators=(",", ":")).encode()))

    def answer(self, send: Send, result: Json | None = None, error: Json | None = None) -> None:
        frame: Json = {"id": 77, **({"error": error} if error else {"result": result or {}})}
        frame["sessionId"] = send.session or ROOT
        encoded = json.dumps(frame, separators=(",", ":")).encode()
        self.do(self.visible.answered(send.key, encoded))

    # --- the broker ----------------------------------------------------------------------------

    def came(self, target: str) -> bool:
        waits, effects = self.visible.tab_came(target)
        self.do(effects)
        return waits

    def went(self, target: str) -> None:
        self.do(self.visible.tab_went(target))

    def do(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case WriteFrame():
                    self.said.append(json.loads(effect.frame))
                case Send() if effect.method == "Target.attachToTarget":
                    self._attach(effect)
                case Send():
                    self.sent.append(effect)
                case Release():
                    self.released.append(effect.target)
                case OpenTab() | CloseTab() | MakeContext() | RemoveContext():
                    self.asked.append(effect)
                case _:
                    self.others.append(effect)

    def _attach(self, send: Send) -> None:
        self._sessions += 1
        session, target = f"S{self._sessions}", send.params["targetId"]
        info = {**self.visible.targets.seen[target], "attached": True}
        attached = {"sessionId": session, "targetInfo": info, "waitingForDebugger": False}
        self.browser("Target.attachedToTarget", attached, send.session or ROOT)
        self.answer(send, {"sessionId": session})


def targets_in(said: list[Json]) -> set[str]:
    """Return every target id that occurs in the messages to a client."""
    text = json.dumps(said)
    return {word for word in text.split('"') if word.startswith(("T-", "CONTEXT-"))}
