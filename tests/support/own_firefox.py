"""The person's own Firefox: headed, with Roost's extension installed permanently in its profile.

The browser itself starts the native host. Tests act as the person from a page of the extension,
over Marionette, which Roost itself does not use.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import io
import json
import os
import signal
import subprocess
import uuid
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from roost.drivers.firefox.preferences import user_js
from roost.frontends.cli.install import extension
from roost.local.browsers import find_browser
from roost.local.home import Home
from roost.local.processes import end_tree, identify
from tests.support.marionette import Ask, marionette
from tests.support.own_browser import POPUP, moment

START_SECONDS = 60.0
IS_THERE = "document.readyState === 'complete' ? location.href : ''"
HANDS = "person.html"
WATCH = "watch.html"
_WATCHES = """globalThis.fronts = [];
browser.tabs.onActivated.addListener(({ tabId }) => globalThis.fronts.push(tabId));
"""
OPEN_BEHIND = """
    const [first] = Services.wm.getEnumerator("navigator:browser");
    first.gBrowser.addTrustedTab(arguments[0], { inBackground: true });
"""
DONE = "arguments[arguments.length - 1]"
SCRIPT_MS = int(START_SECONDS * 1000)
_UUID = str(uuid.uuid5(uuid.NAMESPACE_URL, extension.FIREFOX_ID))
_PREFERENCES: dict[str, bool | int | str] = {
    # Accept an extension that Mozilla has not signed, in the profile of an ESR.
    "xpinstall.signatures.required": False,
    "extensions.autoDisableScopes": 0,
    "extensions.webextensions.uuids": json.dumps({extension.FIREFOX_ID: _UUID}),
    # The tests need Marionette; keep it from changing preferences, so that popups stay blocked.
    "remote.prefs.recommended": False,
    # Show no questions and no first pages. Grant the permissions that the extension asks for.
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
    "marionette.port": 0,
    # The tests run many browsers on a machine with two cores.
    "dom.ipc.processCount": 4,
    "dom.ipc.processPrelaunch.enabled": False,
}
_PROMPT_TIMERS: dict[str, bool | int | str] = {
    # In a tab that nobody looks at, Firefox lets every timer wait for a second, and so every action
    # of an agent. Tests have not that time, except for those of a browser with a remote agent.
    "dom.min_background_timeout_value": 100,
    "dom.min_background_timeout_value_without_budget_throttling": 100,
    "dom.timeout.enable_budget_timer_throttling": False,
}


class OwnFirefox:
    """A person's Firefox.

    ``home``: the Roost whose native host the browser starts.
    ``folder``: the browser's profile is in here.
    ``restores``: windows and tabs come back when the browser is started again.
    ``has_remote``: start the browser with its remote agent.
    """

    def __init__(
        self,
        home: Home,
        folder: Path,
        display: str,
        *,
        restores: bool = True,
        has_remote: bool = False,
    ) -> None:
        self._home = home
        self._folder = folder
        self._profile = folder / "profile"
        self._display = display
        self._has_remote = has_remote
        self._preferences = _PREFERENCES | {
            "browser.startup.page": 3 if restores else 0,
            "browser.sessionstore.resume_from_crash": restores,
            **({} if has_remote else _PROMPT_TIMERS),
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self, *pages: str) -> None:
        """Start the browser with these pages. ``person`` waits until the browser is ready."""
        self._prepare()
        command = [find_browser("firefox"), "--profile", str(self._profile), "--no-remote"]
        command += ["--marionette", "--remote-allow-system-access"]
        command += ["--remote-debugging-port=0"] if self._has_remote else []
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
        """Quit like the menu does. After a signal the browser would lose its last changes."""
        if self._process is not None:
            asyncio.run(self._quit())
            self._process.wait(START_SECONDS)

    async def _quit(self) -> None:
        # The session ends with the browser, perhaps before the answer comes.
        over = AssertionError, asyncio.IncompleteReadError, ConnectionError
        with contextlib.suppress(*over):
            async with asyncio.timeout(START_SECONDS), self._hands() as ask:
                await ask("Marionette:Quit", {"flags": ["eAttemptQuit"]})

    def kill(self) -> None:
        if self._process is not None:
            process = identify(self._process.pid)
            if process is not None:
                os.kill(process.pid, signal.SIGSTOP)  # or it would report its pages' deaths
                end_tree(process, grace_seconds=0)
            self._process.wait(START_SECONDS)

    async def person(self, function: str, *arguments: Any) -> Any:
        """Run a function of the extension's API as the person, and return its value."""
        return await self._do(HANDS, function, *arguments)

    async def popup(self, function: str, *arguments: Any) -> Any:
        """Run a function in the popup page as the person. Here the page is in a tab."""
        return await self._do(POPUP, function, *arguments)

    async def _do(self, where: str, function: str, *arguments: Any) -> Any:
        given = ", ".join(map(json.dumps, arguments))
        script = f"(async () => JSON.stringify(await ({function})({given})))().then({DONE})"
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            await self._open_page(ask, where)
            params = {"script": script, "args": [], "scriptTimeout": SCRIPT_MS}
            text = (await ask("WebDriver:ExecuteAsyncScript", params))["value"]
            await ask("WebDriver:CloseWindow", {})
        return None if text is None else json.loads(text)

    async def watch_front(self) -> None:
        """Begin to record which tabs come to the front."""
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
        """Return the tabs that came to the front since ``watch_front``, and stop recording."""
        look = """async () => {
            const view = browser.extension.getViews({ type: "tab" }).find((view) => view.fronts);
            const fronts = [...view.fronts];
            await browser.tabs.remove((await view.browser.tabs.getCurrent()).id);
            return fronts;
        }"""
        return list(await self.person(look))

    async def press(self, button: str) -> None:
        """Press a button of the popup page as the person, and wait until the button is gone.

        The page is in a tab here. The click is a real one, because Firefox requires user
        activation.
        """
        where = {"using": "xpath", "value": f"//button[text()='{button}']"}
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            await self._open_page(ask, POPUP)
            while not (found := await ask("WebDriver:FindElements", where)):
                await moment()
            (element,) = found[0].values()
            await ask("WebDriver:ElementClick", {"id": element})
            while await ask("WebDriver:FindElements", where):
                await moment()
            await ask("WebDriver:CloseWindow", {})

    @asynccontextmanager
    async def other_client(self) -> AsyncIterator[None]:
        """Let another program have the only session of the remote agent, as soon as it is free."""
        said = json.loads((self._profile / "WebDriverBiDiServer.json").read_bytes())
        begin, end = ({"id": 1, "method": f"session.{what}"} for what in ("new", "end"))
        async with connect(f"ws://{said['ws_host']}:{said['ws_port']}/session") as socket:
            answer: dict[str, Any] = {}
            async with asyncio.timeout(START_SECONDS):
                while answer.get("type") != "success":
                    await socket.send(json.dumps({**begin, "params": {"capabilities": {}}}))
                    answer = json.loads(await socket.recv())
            yield
            await socket.send(json.dumps({**end, "params": {}}))
            await socket.recv()

    async def sees(self, url: str) -> bytes:
        """Return a PNG of what the person sees of the page at that address."""
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            for handle in await ask("WebDriver:GetWindowHandles", {}):
                await ask("WebDriver:SwitchToWindow", {"handle": handle, "focus": False})
                if (await ask("WebDriver:GetCurrentURL", {}))["value"] == url:
                    await ask("WebDriver:SwitchToWindow", {"handle": handle, "focus": True})
                    shown = await ask("WebDriver:TakeScreenshot", {"full": False})
                    return base64.b64decode(shown["value"])
        raise AssertionError(f"nothing is at {url}")

    async def kill_page_at(self, url: str) -> None:
        """Kill the process that shows the page at that address."""
        look = """
            for (const window of Services.wm.getEnumerator("navigator:browser"))
                for (const { linkedBrowser } of window.gBrowser.tabs)
                    if (linkedBrowser.currentURI.spec === arguments[0])
                        return linkedBrowser.browsingContext.currentWindowGlobal.osPid;
        """
        os.kill(int(await self._in_the_browser(look, url)), 9)

    async def open_menus(self) -> list[str]:
        """Return the ids of the browser's menus and panels that are open."""
        look = """
            const found = [];
            for (const { document } of Services.wm.getEnumerator("navigator:browser"))
                for (const one of document.querySelectorAll("menupopup, panel"))
                    if (one.state && one.state !== "closed") found.push(one.id);
            return found;
        """
        return list(await self._in_the_browser(look))

    async def switch_extension(self, *, on: bool) -> None:
        """Enable or disable the extension as the list of add-ons does."""
        await self._to_the_addon("enable" if on else "disable")

    async def reload_extension(self) -> None:
        """Reload the extension as an update does."""
        await self._to_the_addon("reload")

    async def uninstall_extension(self) -> None:
        await self._to_the_addon("uninstall")

    async def install_extension(self) -> None:
        """Install the extension from its file, under the address that the tests know."""
        self._put_extension()
        act = """
            const url = "resource://gre/modules/AddonManager.sys.mjs";
            const { AddonManager } = ChromeUtils.importESModule(url);
            Services.prefs.setStringPref("extensions.webextensions.uuids", arguments[1]);
            const file = Cc["@mozilla.org/file/local;1"].createInstance(Ci.nsIFile);
            file.initWithPath(arguments[0]);
            await (await AddonManager.getInstallForFile(file)).install();
        """
        uuids = str(self._preferences["extensions.webextensions.uuids"])
        await self._in_the_browser(act, str(self._extension), uuids)

    async def _to_the_addon(self, what: str) -> None:
        act = """
            const url = "resource://gre/modules/AddonManager.sys.mjs";
            const { AddonManager } = ChromeUtils.importESModule(url);
            const addon = await AddonManager.getAddonByID(arguments[0]);
            await addon[arguments[1]]();
        """
        await self._in_the_browser(act, extension.FIREFOX_ID, what)

    async def _in_the_browser(self, body: str, *arguments: str) -> Any:
        """Run a script with the rights of the browser's own windows."""
        script = f"(async function () {{{body}}}).apply(null, arguments).then({DONE})"
        params = {"script": script, "args": list(arguments), "scriptTimeout": SCRIPT_MS}
        async with asyncio.timeout(START_SECONDS), self._hands() as ask:
            await ask("Marionette:SetContext", {"value": "chrome"})
            return (await ask("WebDriver:ExecuteAsyncScript", params))["value"]

    @property
    def _log(self) -> Path:
        return self._folder / "firefox.log"

    def _prepare(self) -> None:
        manifests = self._folder / ".mozilla" / "native-messaging-hosts"
        extension.install(self._home, "firefox", [manifests / f"{extension.HOST}.json"])
        self._put_extension()
        (self._profile / "user.js").write_text(user_js(self._preferences), encoding="utf-8")
        self._grant()
        for left in ("lock", ".parentlock", "WebDriverBiDiServer.json", "MarionetteActivePort"):
            (self._profile / left).unlink(missing_ok=True)

    @property
    def _extension(self) -> Path:
        return self._profile / "extensions" / f"{extension.FIREFOX_ID}.xpi"

    def _put_extension(self) -> None:
        self._extension.parent.mkdir(parents=True, exist_ok=True)
        if not self._extension.exists():
            self._extension.write_bytes(_packed())

    def _grant(self) -> None:
        """Write the permissions that the person granted when the extension was installed.

        Firefox writes them a moment after the installation, and loses them if it is killed before.
        """
        granted = self._profile / "extension-preferences.json"
        if not granted.exists():
            every = {"permissions": ["<all_urls>"], "origins": ["<all_urls>"]}
            granted.write_text(json.dumps({extension.FIREFOX_ID: every}), encoding="utf-8")

    @asynccontextmanager
    async def _hands(self) -> AsyncIterator[Ask]:
        """Use Marionette for a short time, because it serves one client at a time."""
        port = self._profile / "MarionetteActivePort"
        while not (port.exists() and port.read_text().strip()):
            await moment()
        async with marionette(int(port.read_text())) as ask:
            yield ask

    async def _open_page(self, ask: Ask, name: str) -> None:
        """Open a page of the extension in a background tab of the person's first window."""
        url = f"moz-extension://{_UUID}/{name}"
        before = set(await ask("WebDriver:GetWindowHandles", {}))
        # Marionette's own command would bring the tab to the front for a moment.
        await ask("Marionette:SetContext", {"value": "chrome"})
        await ask("WebDriver:ExecuteScript", {"script": OPEN_BEHIND, "args": [url]})
        await ask("Marionette:SetContext", {"value": "content"})
        while not await self._is_at(ask, url, before):
            await moment()

    async def _is_at(self, ask: Ask, url: str, before: set[str]) -> bool:
        """Switch to a new tab that shows the page. Return False if there is none yet.

        Other tabs may open meanwhile, and a tab that changes its process answers with an error.
        """
        look = {"script": f"return {IS_THERE}", "args": []}
        for handle in set(await ask("WebDriver:GetWindowHandles", {})) - before:
            with contextlib.suppress(AssertionError):
                await ask("WebDriver:SwitchToWindow", {"handle": handle, "focus": False})
                if (await ask("WebDriver:ExecuteScript", look))["value"] == url:
                    return True
        return False


def _packed() -> bytes:
    """Return the extension as packed for the store, with two more pages for the tests."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in extension.files("firefox"):
            archive.writestr(name, data)
        archive.writestr(HANDS, "<!doctype html><title>The person</title>")
        archive.writestr(WATCH, "<!doctype html><title>Watch</title><script src=watch.js></script>")
        archive.writestr("watch.js", _WATCHES)
    return packed.getvalue()
