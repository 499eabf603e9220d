"""The driver for a person's own Firefox: the extension's scripts in pages, containers as jars.

Every command to a page carries its tab's handle as the session id. The extension checks with each
command that the tab is in a managed group.
"""

from __future__ import annotations

import asyncio
import base64
import mimetypes
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from roost.drivers.base import (
    Arrival,
    Capabilities,
    ChooserClosed,
    ChooserOpened,
    Cookie,
    FrameInfo,
    Input,
    OriginStorage,
    Picture,
    Report,
    Shot,
    Started,
    TabDied,
)
from roost.drivers.chromium.connection import CdpError, Json, Pending
from roost.drivers.exchange import unheard
from roost.drivers.extension.base import SHARED_JAR, OwnBrowser
from roost.drivers.extension.firefox.lacks import ELSEWHERE, LACKS
from roost.drivers.extension.firefox.messages import (
    DOCUMENT_GONE,
    NOT_ALLOWED,
    cookie_from,
    cookie_to,
    gestures,
    refusal,
    report_of,
    shows_menu,
)
from roost.drivers.extension.firefox.remote import WORD as REMOTE
from roost.drivers.extension.firefox.remote import FirefoxRemote
from roost.drivers.extension.host_link import Hosting
from roost.drivers.firefox.keyboard import releases
from roost.drivers.navigation_errors import left_meanwhile
from roost.drivers.pictures import picture_size
from roost.errors import (
    BadRequest,
    JarUnavailable,
    NotFound,
    RoostError,
    StaleRef,
    TabCrashed,
    TooLarge,
    Unsupported,
)
from roost.vocabulary import MIB, JarPolicy, TabHandle
from roost.wire.framing import decode
from roost.wire.weight import ANSWER_VALUES

FILE_BYTES = 32 * MIB
"""Maximum size of all files of one upload together: they travel inside one message."""
_MAIN = 0
_JAR = {"name": "Roost", "color": "blue"}


class OwnFirefoxDriver(OwnBrowser):
    capabilities = Capabilities(
        trusted_input=False, draws_for_pictures=False, groups=True, asks_person=True, lacks=LACKS
    )

    def __init__(self, hosting: Hosting) -> None:
        super().__init__(hosting)
        self._jars: set[str] = set()
        self._remote: FirefoxRemote | None = None
        """Firefox's remote agent. None: Firefox was started without one."""
        self._choosers: dict[TabHandle, int] = {}
        """The frame that asked for files, until it gets files or its document goes away."""

    async def start(self, report: Report) -> Started:
        started = await super().start(report)
        self._jars = set(started.jars)
        return started

    # --- jars ----------------------------------------------------------------------------------

    async def make_jar(
        self, policy: JarPolicy, *, proxy: str | None = None, downloads: str | None = None
    ) -> str:
        link = self._link()
        if proxy is not None:
            raise JarUnavailable(
                "Your own browser cannot have domain lists for some of its tabs.", hint=ELSEWHERE
            )
        if policy is JarPolicy.SHARED:
            return SHARED_JAR
        jar = str((await link.call("Jars.make", _JAR))["jar"])
        self._jars.add(jar)
        return jar

    async def remove_jar(self, jar: str) -> None:
        link = self._link()
        if jar in self._jars:
            self._jars.discard(jar)
            await link.call("Jars.remove", {"jar": jar})

    async def read_cookies(self, jar: str) -> list[Cookie]:
        return [cookie_from(one) for one in (await self._in_jar("cookies", jar))["cookies"]]

    async def write_cookies(self, jar: str, cookies: Sequence[Cookie]) -> list[Cookie]:
        given = [cookie_to(cookie) for cookie in cookies]
        return [cookies[at] for at in (await self._in_jar("write", jar, cookies=given))["refused"]]

    async def delete_cookies(self, jar: str, cookies: Sequence[Cookie]) -> None:
        await self._in_jar("delete", jar, cookies=[cookie_to(cookie) for cookie in cookies])

    async def read_storage(self, jar: str, origins: Sequence[str]) -> list[OriginStorage]:
        found = await self._in_jar("storage", jar, origins=list(origins))
        return [
            OriginStorage(one["origin"], tuple((name, value) for name, value in one["items"]))
            for one in found["storage"]
        ]

    async def read_page_storage(self, tab: TabHandle, origin: str) -> OriginStorage | None:
        of, items = decode((await self._ask(tab, "Page.stored"))["json"], ANSWER_VALUES)
        return OriginStorage(origin, tuple((n, v) for n, v in items)) if of == origin else None

    async def write_storage(
        self, jar: str, storage: Sequence[OriginStorage]
    ) -> list[OriginStorage]:
        """Hand the items to the extension, which writes them when the jar opens that origin.

        Only a page of an origin can write to the origin's localStorage.
        """
        given = [{"origin": one.origin, "items": one.items} for one in storage]
        await self._in_jar("store", jar, storage=given)
        return []

    async def _in_jar(self, what: str, jar: str, **rest: Any) -> Json:
        self._check_jar(jar)
        if jar == SHARED_JAR:
            raise Unsupported(
                "The cookies and storage of a person's own browser are not given out.",
                hint="In a page, document.cookie and localStorage work. " + ELSEWHERE,
            )
        try:
            return await self._link().call(f"Jars.{what}", {"jar": jar, **rest})
        except CdpError as error:
            if error.code == NOT_ALLOWED:
                raise refusal(error) from None
            raise

    def _check_jar(self, jar: str) -> None:
        self._link()
        if jar != SHARED_JAR and jar not in self._jars:
            raise JarUnavailable("That jar is gone.")

    # --- pages ---------------------------------------------------------------------------------

    async def navigate(self, tab: TabHandle, url: str) -> Arrival:
        return self._arrival(tab, await self._ask(tab, "Page.navigate", {"url": url}))

    async def reload(self, tab: TabHandle) -> Arrival:
        return self._arrival(tab, await self._ask(tab, "Page.reload"))

    async def travel(self, tab: TabHandle, delta: int) -> Arrival:
        return self._arrival(tab, await self._ask(tab, "Page.travel", {"delta": delta}))

    def _arrival(self, tab: TabHandle, at: Json) -> Arrival:
        self._arrived(tab, at["url"], at["title"])
        return Arrival(at["url"], at["title"], at["status"], at["stayed"])

    async def evaluate(
        self,
        tab: TabHandle,
        function: str,
        *,
        frame: str | None = None,
        ref: str | None = None,
    ) -> Any:
        params = {"frame": _frame(frame), "function": function, "ref": ref}
        found = await self._ask(tab, "Page.evaluate", params)
        return None if found["json"] is None else decode(found["json"], ANSWER_VALUES)

    async def frames(self, tab: TabHandle) -> list[FrameInfo]:
        found = (await self._ask(tab, "Page.frames"))["frames"]
        return [
            FrameInfo(
                str(one["id"]), None if one["id"] == _MAIN else str(one["parent"]), one["url"]
            )
            for one in found
        ]

    async def call_page(
        self,
        tab: TabHandle,
        frame: str | None,
        function: str,
        argument: dict[str, Any],
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        child = None if owner_of is None else _frame(owner_of)
        params = {"frame": _frame(frame), "name": function, "argument": argument}
        try:
            found = await self._call(tab, "Page.call", params | {"child": child, "once": once})
        except CdpError as error:
            if once and error.code == DOCUMENT_GONE:
                raise left_meanwhile() from None
            raise refusal(error) from None
        return found["value"]

    async def act(
        self,
        tab: TabHandle,
        inputs: Sequence[Input],
        frame: str | None,
        argument: dict[str, Any],
    ) -> dict[str, Any] | None:
        self._check(tab)
        remote = self._remote
        if inputs and remote is not None and not shows_menu(inputs) and await remote.is_ours():
            return await self._act_trusted(remote, tab, inputs, frame, argument)
        return await _value(self._send_act(tab, inputs, frame, argument))

    async def _act_trusted(
        self,
        remote: FirefoxRemote,
        tab: TabHandle,
        inputs: Sequence[Input],
        frame: str | None,
        argument: Json,
    ) -> Json | None:
        """Give input through the remote agent, or through scripts if the agent lacks the tab.

        If the input is nothing but clicks, the page itself notices their end. Then the settle
        request goes out before the input, which saves one round trip.
        """
        mark, link = secrets.token_hex(16), self._link()
        try:
            found = await remote.find(tab, mark, self._ask(tab, "Page.begin", {"mark": mark}))
            self._check(tab)  # the person may have taken the tab meanwhile
            if found is None:
                return await _value(self._send_act(tab, inputs, frame, argument))
            count = releases(inputs)
            if not count:
                await found.give(inputs)
                return await _value(self._send_act(tab, (), frame, argument))
            asked = self._send_act(tab, (), frame, {**argument, "releases": count})
            asked.add_done_callback(unheard)
            await found.give(inputs)
            if not asked.done():
                link.tell("Page.given", None, tab)
            return await _value(asked)
        finally:
            link.tell("Page.end", {"mark": mark}, tab)

    def _send_act(
        self, tab: TabHandle, inputs: Sequence[Input], frame: str | None, argument: Json
    ) -> Pending:
        self._check(tab)
        params = {"inputs": gestures(inputs), "frame": _frame(frame), "argument": argument}
        return self._link().call("Page.act", params, tab)

    async def capture(self, tab: TabHandle, shot: Shot) -> Picture:
        if shot.format not in ("jpeg", "png"):
            raise Unsupported(f"Firefox takes jpeg and png pictures, not {shot.format}.")
        params = {
            "format": shot.format,
            "quality": shot.quality,
            "scale": shot.scale,
            "fullPage": shot.full_page,
            "clip": shot.clip,
        }
        data = base64.b64decode((await self._ask(tab, "Page.capture", params))["data"])
        if not data:
            raise TooLarge("There is no picture of it: the page is too large for one.")
        return Picture(data, f"image/{shot.format}", *picture_size(data))

    async def set_files(
        self, tab: TabHandle, frame: str | None, ref: str, paths: Sequence[str]
    ) -> None:
        await self._give_files(tab, _frame(frame), ref, paths)

    async def choose_files(self, tab: TabHandle, paths: Sequence[str]) -> None:
        self._check(tab)
        frame = self._choosers.get(tab)
        if frame is None:
            raise NotFound(
                "The page has not asked for files.",
                hint="Click its upload button first, or name the field with target.",
            )
        self._close_chooser(tab)
        await self._give_files(tab, frame, None, paths)

    async def _give_files(
        self, tab: TabHandle, frame: int, ref: str | None, paths: Sequence[str]
    ) -> None:
        files = await asyncio.to_thread(_read, paths)
        params = {"frame": frame, "ref": ref, "files": files}
        match (await self._ask(tab, "Page.files", params)).get("problem"):
            case None:
                return
            case "stale":
                raise StaleRef(f"{ref} is not on this page any more.", ref=ref)
            case "multiple":
                raise BadRequest("paths: the field takes one file.", field="paths")
            case _:
                raise NotFound("The field that asked for files is gone.")

    async def answer_dialog(self, tab: TabHandle, *, accept: bool, text: str | None) -> None:
        found = await self._ask(tab, "Page.answer", {"accept": accept, "text": text})
        if not found["isOpen"]:
            raise NotFound(
                "No dialog is open in this tab.", hint="There is nothing to answer; continue."
            )

    async def resize(self, tab: TabHandle, width: int, height: int) -> None:
        self._check(tab)
        raise Unsupported("A tab of your own Firefox has its window's size.", hint=ELSEWHERE)

    async def pdf(self, tab: TabHandle) -> bytes:
        self._check(tab)
        raise Unsupported("Your own Firefox does not print for others.", hint=ELSEWHERE)

    async def body(self, tab: TabHandle, request: str) -> bytes:
        self._check(tab)
        raise Unsupported("Your own Firefox does not keep bodies for others.", hint=ELSEWHERE)

    async def _ask(self, tab: TabHandle, method: str, params: Json | None = None) -> Json:
        try:
            return await self._call(tab, method, params)
        except CdpError as error:
            raise refusal(error) from None

    async def _call(self, tab: TabHandle, method: str, params: Json | None = None) -> Json:
        self._check(tab)
        return await self._link().call(method, params, tab)

    # --- what happens there --------------------------------------------------------------------

    def _linked_anew(self) -> None:
        self._choosers.clear()
        self._forget_remote()

    def _take_over(self, handover: Json) -> None:
        """Take over the remote agent only: the extension itself holds the state of pages."""
        if handover.get("hasRemote"):
            self._remote = FirefoxRemote(self._ask, self._link().say, self._input_is_trusted)

    def _input_is_trusted(self, is_trusted: bool) -> None:
        self.capabilities = replace(self.capabilities, trusted_input=is_trusted)

    def _forget_remote(self) -> None:
        remote, self._remote = self._remote, None
        if remote is not None:
            remote.ended()

    def _word(self, word: str, what: Any) -> None:
        if word != REMOTE:
            super()._word(word, what)
        elif self._remote is not None:
            self._remote.heard(what)

    def _end(self) -> None:
        self._forget_remote()
        super()._end()

    def _spawned(self, opener: TabHandle) -> None:
        pass  # the extension itself waits for new tabs before it answers an action

    def _left(self, tab: TabHandle, error: RoostError) -> None:
        self._choosers.pop(tab, None)
        if self._remote is not None:
            self._remote.left(tab, error)
        if self._cdp is not None:
            self._cdp.end_session(tab, error)

    def _heard(self, method: str, params: Json) -> None:
        tab = TabHandle(params.get("tab", ""))
        if tab not in self._known:
            return
        if method == "Page.died":
            self._link().interrupt(tab, TabCrashed("The page's process died."))
            self._tell(TabDied(tab))
        elif method == "Page.chooser":
            self._choosers[tab] = params["frame"]
            self._tell(ChooserOpened(handle=tab, multiple=params["multiple"]))
        elif method == "Page.left":
            if params["frame"] in (_MAIN, self._choosers.get(tab)):
                self._close_chooser(tab)
        elif (report := report_of(method, params)) is not None:
            self._tell(report)

    def _arrived(self, tab: TabHandle, url: str, title: str) -> None:
        if tab in self._known:
            if self._remote is not None:
                self._remote.turned(tab)
            super()._arrived(tab, url, title)

    def _close_chooser(self, tab: TabHandle) -> None:
        if self._choosers.pop(tab, None) is not None:
            self._tell(ChooserClosed(tab))


async def _value(answer: Pending) -> Json | None:
    """Wait for an action to settle and return what the page answered."""
    try:
        value: Json | None = (await answer)["value"]
    except CdpError as error:
        raise refusal(error) from None
    return value


def _frame(frame: str | None) -> int:
    if frame is None:
        return _MAIN
    if not frame.isdecimal():
        raise NotFound("That frame is gone.")
    return int(frame)


def _read(paths: Sequence[str]) -> list[Json]:
    """Return the files' contents, because the extension cannot read files itself."""
    files, room = [], FILE_BYTES
    for path in map(Path, paths):
        try:
            room -= path.stat().st_size
            if room < 0:
                raise TooLarge(
                    f"paths: your own Firefox takes up to {FILE_BYTES // MIB} MiB at a time."
                )
            data = base64.b64encode(path.read_bytes()).decode()
        except OSError as error:
            raise BadRequest(f"paths: {error}.", field="paths") from None
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        files.append({"name": path.name, "type": kind, "data": data})
    return files
