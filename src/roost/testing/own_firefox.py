"""The person's own Firefox: headed, with Roost's extension installed in its profile for good, as a
person has it, and the native host started by the browser itself.

What the person does in it, tests do from a page of the extension, over WebDriver BiDi; Roost itself
does not use that.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import subprocess
import uuid
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from roost.drivers.firefox.preferences import user_js
from roost.frontends.cli.install import extension
from roost.local.browsers import find_browser
from roost.local.home import Home
from roost.local.processes import end_tree, identify
from roost.testing.own_browser import POPUP, moment

START_SECONDS = 60.0
END_SECONDS = 10.0
IS_THERE = "document.readyState === 'complete' ? location.href : ''"
HANDS = "person.html"
WATCH = "watch.html"
_WATCHES = """globalThis.fronts = [];
browser.tabs.onActivated.addListener(({ tabId }) => globalThis.fronts.push(tabId));
"""
Ask = Callable[[str, dict[str, Any]], Awaitable[Any]]
_UUID = str(uuid.uuid5(uuid.NAMESPACE_URL, extension.FIREFOX_ID))
_PREFERENCES: dict[str, bool | int | str] = {
    # An extension that Mozilla has not signed, in the profile of an ESR.
    "xpinstall.signatures.required": False,
    "extensions.autoDisableScopes": 0,
    "extensions.webextensions.uuids": json.dumps({extension.FIREFOX_ID: _UUID}),
    # The remote agent, which is there for the tests' sake, changes nothing: popups are blocked.
    "remote.prefs.recommended": False,
    # Tabs that come back are loaded at once, and not when somebody looks at them.
    "browser.sessionstore.restore_on_demand": False,
    # No questions and no first pages. What a click asks for on behalf of the extension, is granted.
    "extensions.webextOptionalPermissionPrompts": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.newtabpage.enabled": False,
    "browser.tabs.warnOnClose": False,
    "browser.warnOnQuit": False,
    "datareporting.policy.dataSubmissionPolicyBypassNotification": True,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "browser.download.alwaysOpenPanel": False,
    "toolkit.startup.max_resumed_crashes": -1,
    "browser.sessionstore.interval": 500,
    # A machine of two cores and many browsers.
    "dom.ipc.processCount": 4,
    "dom.ipc.processPrelaunch.enabled": False,
}


class OwnFirefox:
    """A person's Firefox whose profile is in ``folder``, with the host of ``home``. Where it
    ``restores``, its windows and tabs come back when it is started again."""

    def __init__(self, home: Home, folder: Path, display: str, *, restores: bool = True) -> None:
        self._home = home
        self._folder = folder
        self._profile = folder / "profile"
        self._display = display
        self._preferences = _PREFERENCES | {
            "browser.startup.page": 3 if restores else 0,
            "browser.sessionstore.resume_from_crash": restores,
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *pages: str) -> None:
        """The browser with these pages; what ``person`` does waits until it can be done."""
        self._prepare()
        command = [find_browser("firefox"), "--profile", str(self._profile), "--no-remote"]
        command += ["--remote-debugging-port=0", "--remote-allow-system-access"]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, *pages],
                env={**os.environ, "DISPLAY": self._display, "HOME": str(self._folder)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                start_new_session=True,
            )

    def quit(self) -> None:
        """As by its menu."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(START_SECONDS)

    def kill(self) -> None:
        if self._process is not None:
            process = identify(self._process.pid)
            if process is not None:
                end_tree(process, grace_seconds=0)
            self._process.wait(START_SECONDS)

    async def person(self, function: str, *arguments: Any) -> Any:
        """Something the person does, as a function of the extension's own API."""
        return await self._do(HANDS, function, *arguments)

    async def popup(self, function: str, *arguments: Any) -> Any:
        """Something the person does in the popup page. Here it stands in a tab for a moment."""
        return await self._do(POPUP, function, *arguments)

    async def _do(self, where: str, function: str, *arguments: Any) -> Any:
        given = ", ".join(map(json.dumps, arguments))
        source = f"(async () => JSON.stringify(await ({function})({given})))()"
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            page = await self._page(ask, where)
            params = {"expression": source, "target": {"context": page}, "awaitPromise": True}
            answer = await ask("script.evaluate", params)
            await ask("browsingContext.close", {"context": page})
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        text = answer["result"].get("value")
        return None if text is None else json.loads(text)

    async def watch_front(self) -> None:
        """From now on, note which tabs come to the front."""
        await self.person(
            """async (url) => {
                await browser.tabs.create({ url, active: false });
                const isUp = () =>
                    browser.extension.getViews({ type: "tab" }).some((view) => view.fronts);
                while (!isUp()) await new Promise((resolve) => setTimeout(resolve, 50));
            }""",
            WATCH,
        )

    async def came_to_front(self) -> list[int]:
        """The tabs that did; it is not watched any longer."""
        look = """async () => {
            const view = browser.extension.getViews({ type: "tab" }).find((view) => view.fronts);
            const fronts = [...view.fronts];
            await browser.tabs.remove((await view.browser.tabs.getCurrent()).id);
            return fronts;
        }"""
        return list(await self.person(look))

    async def press(self, button: str) -> None:
        """The person presses a button of the popup page, until it is not there any more. The page
        stands in a tab here; the click is a real one, which Firefox asks for."""
        locator = {"type": "xpath", "value": f"//button[text()='{button}']"}
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            page = await self._page(ask, POPUP)
            is_pressed = False
            while True:
                found = await ask(
                    "browsingContext.locateNodes", {"context": page, "locator": locator}
                )
                if found["nodes"] and not is_pressed:
                    origin = {"type": "element", "element": found["nodes"][0]}
                    steps = [
                        {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
                        {"type": "pointerDown", "button": 0},
                        {"type": "pointerUp", "button": 0},
                    ]
                    mouse = {"type": "pointer", "id": "mouse", "actions": steps}
                    await ask("input.performActions", {"context": page, "actions": [mouse]})
                    is_pressed = True
                elif is_pressed and not found["nodes"]:
                    break
                await moment()
            await ask("browsingContext.close", {"context": page})

    async def sees(self, url: str) -> bytes:
        """What the person sees of the page at that address, as PNG."""
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            tree = (await ask("browsingContext.getTree", {"maxDepth": 0}))["contexts"]
            page = {"context": next(one["context"] for one in tree if one["url"] == url)}
            await ask("browsingContext.activate", page)
            return base64.b64decode((await ask("browsingContext.captureScreenshot", page))["data"])

    async def kill_page_at(self, url: str) -> None:
        """End the process that shows the page at that address."""
        look = """(url) => {
            for (const window of Services.wm.getEnumerator("navigator:browser"))
                for (const { linkedBrowser } of window.gBrowser.tabs)
                    if (linkedBrowser.currentURI.spec === url)
                        return linkedBrowser.browsingContext.currentWindowGlobal.osPid;
        }"""
        os.kill(int(await self._in_the_browser(look, {"type": "string", "value": url})), 9)

    async def switch_extension(self, *, on: bool) -> None:
        """As in the list of add-ons."""
        await self._to_the_addon("enable" if on else "disable")

    async def reload_extension(self) -> None:
        """As when it is updated."""
        await self._to_the_addon("reload")

    async def _to_the_addon(self, what: str) -> None:
        act = """async (id, what) => {
            const url = "resource://gre/modules/AddonManager.sys.mjs";
            const addon = await ChromeUtils.importESModule(url).AddonManager.getAddonByID(id);
            await addon[what]();
        }"""
        given = [{"type": "string", "value": value} for value in (extension.FIREFOX_ID, what)]
        await self._in_the_browser(act, *given)

    async def _in_the_browser(self, function: str, *arguments: dict[str, Any]) -> Any:
        """With the rights of its own windows."""
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            chrome = (await ask("browsingContext.getTree", {"moz:scope": "chrome"}))["contexts"][0]
            params = {
                "functionDeclaration": function,
                "arguments": list(arguments),
                "target": {"context": chrome["context"]},
                "awaitPromise": True,
            }
            answer = await ask("script.callFunction", params)
        assert answer["type"] == "success", answer["exceptionDetails"]["text"]
        return answer["result"].get("value")

    @property
    def _log(self) -> Path:
        return self._folder / "firefox.log"

    def _prepare(self) -> None:
        manifests = self._folder / ".mozilla" / "native-messaging-hosts"
        extension.install(self._home, "firefox", [manifests / f"{extension.HOST}.json"])
        where = self._profile / "extensions" / f"{extension.FIREFOX_ID}.xpi"
        where.parent.mkdir(parents=True, exist_ok=True)
        if not where.exists():
            where.write_bytes(_packed())
        (self._profile / "user.js").write_text(user_js(self._preferences), encoding="utf-8")
        self._grant()
        for left in ("lock", ".parentlock", "WebDriverBiDiServer.json"):
            (self._profile / left).unlink(missing_ok=True)

    def _grant(self) -> None:
        """What the person granted when the extension came. Firefox writes it a moment after the
        extension is there, and one that is killed in between has lost it for good."""
        granted = self._profile / "extension-preferences.json"
        if not granted.exists():
            every = {"permissions": ["<all_urls>"], "origins": ["<all_urls>"]}
            granted.write_text(json.dumps({extension.FIREFOX_ID: every}), encoding="utf-8")

    @asynccontextmanager
    async def _hands(self) -> AsyncIterator[Ask]:
        """A BiDi session for a moment: there can be one at a time."""
        said = "WebDriver BiDi listening on "
        while said not in self._log.read_text(errors="replace"):
            await moment()
        address = self._log.read_text(errors="replace").split(said)[1].split()[0]
        async with connect(f"{address}/session", max_size=None) as socket:
            await _ask(socket, "session.new", {"capabilities": {}})
            try:
                yield lambda method, params: _ask(socket, method, params)
            finally:
                async with asyncio.timeout(END_SECONDS):
                    await _ask(socket, "session.end", {})

    async def _page(self, ask: Ask, name: str) -> str:
        """A page of the extension, behind the others of the person's first window."""
        first = (await ask("browsingContext.getTree", {"maxDepth": 0}))["contexts"][0]["context"]
        behind = {"type": "tab", "background": True, "referenceContext": first}
        page = (await ask("browsingContext.create", behind))["context"]
        url = f"moz-extension://{_UUID}/{name}"
        # That it is there is asked of itself: a page that changes its process on the way is not
        # always told of.
        await ask("browsingContext.navigate", {"context": page, "url": url, "wait": "none"})
        look = {"expression": IS_THERE, "target": {"context": page}, "awaitPromise": False}
        while (await ask("script.evaluate", look)).get("result", {}).get("value") != url:
            await moment()
        return str(page)


def _packed() -> bytes:
    """As for the store, and pages for the person's hands and eyes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in extension.files("firefox"):
            archive.writestr(name, data)
        archive.writestr(HANDS, "<!doctype html><title>The person</title>")
        archive.writestr(WATCH, "<!doctype html><title>Watch</title><script src=watch.js></script>")
        archive.writestr("watch.js", _WATCHES)
    return packed.getvalue()


async def _ask(socket: ClientConnection, method: str, params: dict[str, Any]) -> Any:
    await socket.send(json.dumps({"id": 1, "method": method, "params": params}))
    while True:
        heard = json.loads(await socket.recv())
        if heard.get("id") == 1:
            assert "error" not in heard, heard
            return heard["result"]
