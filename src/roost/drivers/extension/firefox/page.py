"""The page work of one tab of a person's own Firefox, by the extension's scripts in the page."""

from __future__ import annotations

import asyncio
import base64
import mimetypes
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from roost.drivers.base import (
    Arrival,
    Dropped,
    FrameInfo,
    Input,
    OriginStorage,
    Picture,
    Shot,
)
from roost.drivers.choosers import Chooser
from roost.drivers.clipboard import refuse_keys
from roost.drivers.connection import Json, Pending, log_failure
from roost.drivers.events import (
    DriverEvent,
)
from roost.drivers.extension.connection import ExtensionConnection, ExtensionError
from roost.drivers.extension.firefox.lacks import ELSEWHERE
from roost.drivers.extension.firefox.messages import (
    DOCUMENT_GONE,
    gestures,
    refusal,
    shows_menu,
)
from roost.drivers.extension.firefox.remote import FirefoxRemote
from roost.drivers.firefox.input_translation import releases
from roost.drivers.held_input import HeldInput
from roost.drivers.navigation_errors import left_meanwhile
from roost.drivers.pictures import picture_size
from roost.errors import BadRequest, NotFound, StaleRef, TooLarge, Unsupported
from roost.vocabulary import MIB, TabHandle
from roost.wire.framing import decode
from roost.wire.weight import ANSWER_VALUES

FILE_BYTES = 32 * MIB
"""Maximum size of all files of one upload together: they travel inside one message."""
_MAIN = 0


class OwnFirefoxPage:
    """The page work of one tab.

    link: returns the connection, or raises why the tab cannot be used.
    remote: returns Firefox's remote agent; None if Firefox was started without one.
    report: gets the tab's events.
    arrived: called with the tab, its address and its title after a navigation.
    """

    def __init__(
        self,
        tab: TabHandle,
        link: Callable[[], ExtensionConnection],
        remote: Callable[[], FirefoxRemote | None],
        report: Callable[[DriverEvent], None],
        arrived: Callable[[TabHandle, str, str], None],
    ) -> None:
        self._tab = tab
        self._link = link
        self._remote = remote
        self._arrived = arrived
        self._held = HeldInput()
        self.chooser: Chooser[int] = Chooser(tab, report)
        """The frame whose field asked for files."""

    async def navigate(self, url: str) -> Arrival:
        return self._arrival(await self.ask("Page.navigate", {"url": url}))

    async def reload(self) -> Arrival:
        return self._arrival(await self.ask("Page.reload"))

    async def travel(self, delta: int) -> Arrival:
        return self._arrival(await self.ask("Page.travel", {"delta": delta}))

    def _arrival(self, at: Json) -> Arrival:
        self._arrived(self._tab, at["url"], at["title"])
        return Arrival(at["url"], at["title"], at["status"], at["stayed"])

    async def evaluate(
        self, function: str, *, frame: str | None = None, ref: str | None = None
    ) -> Any:
        params = {"frame": _frame(frame), "function": function, "ref": ref}
        found = await self.ask("Page.evaluate", params)
        return None if found["json"] is None else decode(found["json"], ANSWER_VALUES)

    async def all_frames(self) -> list[FrameInfo]:
        found = (await self.ask("Page.frames"))["frames"]
        return [
            FrameInfo(
                str(one["id"]), None if one["id"] == _MAIN else str(one["parent"]), one["url"]
            )
            for one in found
        ]

    async def call_page(
        self,
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
            found = await self._call("Page.call", params | {"child": child, "once": once})
        except ExtensionError as error:
            if once and error.code == DOCUMENT_GONE:
                raise left_meanwhile() from None
            raise refusal(error) from None
        return found["value"]

    async def act(
        self, inputs: Sequence[Input], frame: str | None, argument: dict[str, Any]
    ) -> dict[str, Any] | None:
        self._link()
        inputs = self._held.effective(inputs)
        refuse_keys(inputs, self._held.keys)
        for one in inputs:
            self._held.follow(one)
        remote = self._remote()
        if inputs and remote is not None and not shows_menu(inputs) and await remote.is_ours():
            return await self._act_trusted(remote, inputs, frame, argument)
        return await _value(self._send_act(inputs, frame, argument))

    async def _act_trusted(
        self,
        remote: FirefoxRemote,
        inputs: Sequence[Input],
        frame: str | None,
        argument: Json,
    ) -> Json | None:
        """Give input through the remote agent, or through scripts if the agent lacks the tab.

        If the input is nothing but clicks, the page itself notices their end. Then the settle
        request goes out before the input, which saves one round trip.
        """
        beacon, link = secrets.token_hex(16), self._link()
        try:
            found = await remote.find(self._tab, beacon, self.ask("Page.begin", {"mark": beacon}))
            self._link()  # the person may have taken the tab meanwhile
            if found is None:
                return await _value(self._send_act(inputs, frame, argument))
            count = releases(inputs)
            if not count:
                await found.send(inputs)
                return await _value(self._send_act((), frame, argument))
            asked = self._send_act((), frame, {**argument, "releases": count})
            asked.add_done_callback(log_failure)
            await found.send(inputs)
            if not asked.done():
                link.tell("Page.given", None, self._tab)
            return await _value(asked)
        finally:
            link.tell("Page.end", {"mark": beacon}, self._tab)

    def _send_act(self, inputs: Sequence[Input], frame: str | None, argument: Json) -> Pending:
        params = {"inputs": gestures(inputs), "frame": _frame(frame), "argument": argument}
        return self._link().call("Page.act", params, self._tab)

    async def send_input(self, inputs: Sequence[Input]) -> None:
        await self.act(inputs, None, {})

    async def drop(self, point: tuple[float, float], dropped: Dropped) -> None:
        self._link()
        raise Unsupported("An extension of Firefox cannot drop anything on a page.", hint=ELSEWHERE)

    async def release(self) -> None:
        self._link()
        lifts = self._held.lifts()
        if lifts:
            await self.act(lifts, None, {})

    async def capture(self, shot: Shot) -> Picture:
        if shot.format not in ("jpeg", "png"):
            raise Unsupported(f"Firefox takes jpeg and png pictures, not {shot.format}.")
        params = {
            "format": shot.format,
            "quality": shot.quality,
            "scale": shot.scale,
            "fullPage": shot.full_page,
            "clip": shot.clip,
        }
        data = base64.b64decode((await self.ask("Page.capture", params))["data"])
        if not data:
            raise TooLarge("There is no picture of it: the page is too large for one.")
        return Picture(data, f"image/{shot.format}", *picture_size(data))

    async def set_files(self, frame: str | None, ref: str, paths: Sequence[str]) -> None:
        await self._give_files(_frame(frame), ref, paths)

    async def choose_files(self, paths: Sequence[str]) -> None:
        self._link()
        await self._give_files(self.chooser.take(), None, paths)

    async def _give_files(self, frame: int, ref: str | None, paths: Sequence[str]) -> None:
        files = await asyncio.to_thread(_read, paths)
        params = {"frame": frame, "ref": ref, "files": files}
        match (await self.ask("Page.files", params)).get("problem"):
            case None:
                return
            case "stale":
                raise StaleRef(f"{ref} is not on this page any more.", ref=ref)
            case "multiple":
                raise BadRequest("paths: the field takes one file.", field="paths")
            case _:
                raise NotFound("The field that asked for files is gone.")

    async def answer_dialog(self, *, accept: bool, text: str | None) -> None:
        found = await self.ask("Page.answer", {"accept": accept, "text": text})
        if not found["isOpen"]:
            raise NotFound(
                "No dialog is open in this tab.", hint="There is nothing to answer; continue."
            )

    async def resize(self, width: int, height: int) -> None:
        self._link()
        raise Unsupported("A tab of your own Firefox has its window's size.", hint=ELSEWHERE)

    async def pdf(self) -> bytes:
        self._link()
        raise Unsupported("Your own Firefox does not print for others.", hint=ELSEWHERE)

    async def body(self, request: str) -> bytes:
        self._link()
        raise Unsupported("Your own Firefox does not keep bodies for others.", hint=ELSEWHERE)

    async def stored(self, origin: str) -> OriginStorage | None:
        """Return the localStorage of the page's origin; None if the page has another origin."""
        of, items = decode((await self.ask("Page.stored"))["json"], ANSWER_VALUES)
        return OriginStorage(origin, tuple((n, v) for n, v in items)) if of == origin else None

    # --- events --------------------------------------------------------------------------------

    def frame_left(self, frame: int) -> None:
        if frame in (_MAIN, self.chooser.field):
            self.chooser.close()

    # --- inside --------------------------------------------------------------------------------

    async def ask(self, method: str, params: Json | None = None) -> Json:
        try:
            return await self._call(method, params)
        except ExtensionError as error:
            raise refusal(error) from None

    async def _call(self, method: str, params: Json | None = None) -> Json:
        return await self._link().call(method, params, self._tab)


async def _value(answer: Pending) -> Json | None:
    """Wait for an action to settle and return what the page answered."""
    try:
        value: Json | None = (await answer)["value"]
    except ExtensionError as error:
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
