"""Give each session a clipboard of its own, although a browser has only one for all pages.

What a session copied is kept outside of the browser. To paste, a session takes its turn: Roost puts
the session's data on the browser's clipboard, presses the key, and empties the clipboard again.

Turns alone do not suffice, because pages write to the clipboard whenever they like. So each
document has a guard, in Roost's own world, that hears ``paste`` before the page does. The guard
lets only the data pass that the session's turn announced. It stops everything else: the page
neither hears of it nor gets it. What a session copies is read from the ``copy`` event, and never
from the browser's clipboard, where another page may have written meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from roost.drivers.base import Input, KeyDown, KeyUp, PageDriver
from roost.errors import BrowserLost, RoostError, TabGone, Timeout, TooLarge, Unsupported
from roost.hints import Hint
from roost.vocabulary import TabHandle

Items = tuple[tuple[str, str], ...]
"""Data by MIME type, as ``DataTransfer`` has it."""
CLIPBOARD_CHARS = 1_000_000
"""The most that one session's clipboard holds."""
TURN_SECONDS = 3.0
"""A page that has not handled the key by then goes on without its turn, and its guard stops a late
paste. So a page that hangs does not keep the clipboard from other sessions for longer."""
FRAME_SECONDS = 2.0
FRAMES = 50
TRIES = 20
NO_CLIPBOARD = (
    "There is no clipboard for sessions here: in a person's own browser, and in a window on a"
    " screen, the clipboard is the person's."
)
IDLE_SECONDS = 30.0
"""Close Roost's own page after this time without use."""

GUARD = """(() => {
  if (globalThis.__pastes) return;
  const said = "roost-" + Math.random(), lines = (text) => text.replace(/\\r\\n?/g, "\\n");
  const guard = globalThis.__pastes = { expected: null, outcome: "", said };
  addEventListener(said, () => { guard.isThere = true; });
  const judge = (event, isOurs) => {
    if (!isOurs) {
      event.stopImmediatePropagation();
      event.preventDefault();
    }
    if (guard.expected) guard.outcome = isOurs ? "pasted" : "foreign";
  };
  addEventListener("paste", (event) => {
    if (!event.isTrusted) return;
    const { expected } = guard, data = event.clipboardData;
    const isOurs = expected && data && Array.from(data.types).every((type) => type in expected)
      && lines(data.getData("text/plain")) === lines(expected["text/plain"] ?? "");
    judge(event, isOurs);
    Object.assign(guard, { event, hasInput: false });
  }, true);
  // The browser reads the clipboard again to insert it, and fields change line breaks.
  const bare = (text) => (text ?? "").replace(/\\s/g, "");
  addEventListener("beforeinput", (event) => {
    if (!event.isTrusted || !/^insertFromPaste/.test(event.inputType)) return;
    const found = bare(event.data ?? event.dataTransfer?.getData("text/plain"));
    const wanted = bare(guard.expected?.["text/plain"]);
    guard.hasInput = true;
    judge(event, guard.expected && wanted.startsWith(found) && (found !== "" || wanted === ""));
  }, true);
})()"""
"""Stops each ``paste`` whose data are not those that ``expectPaste`` of the bundle announced. The
script must run before the scripts of the page, so that no listener of the page hears it first.
``document.open`` removes all listeners; ``expectPaste`` finds that out by the event ``said``."""
_WRITE = """((items) => {
  const give = (event) => {
    for (const [type, text] of items) event.clipboardData.setData(type, text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  (document.body ?? document.documentElement).textContent = "-";
  getSelection().selectAllChildren(document.documentElement);
  addEventListener("copy", give, true);
  const isDone = document.execCommand("copy");
  removeEventListener("copy", give, true);
  return isDone;
})(%s)"""


_NOTHING: Items = (("text/plain", " "),)
"""Overwrites what the clipboard holds. Writing no data at all would leave it there."""


class Use(StrEnum):
    """What a key does with the clipboard."""

    COPY = "copy"
    CUT = "cut"
    PASTE = "paste"


_LETTERS = {"c": Use.COPY, "x": Use.CUT, "v": Use.PASTE}


def use_of(key: str, held: Sequence[str] | set[str]) -> Use | None:
    """Return what the key does with the clipboard while those keys are held."""
    if "Control" in held or "Meta" in held:
        return Use.COPY if key == "Insert" else _LETTERS.get(key.lower())
    if "Shift" in held:
        return {"Insert": Use.PASTE, "Delete": Use.CUT}.get(key)
    return None


@dataclass(slots=True)
class SessionClipboard:
    """What one session has copied. Nobody else sees it, and nothing of it is written to disk."""

    items: Items = field(default=(), repr=False)


ClipboardOf = Callable[[TabHandle], SessionClipboard | None]
"""Returns the clipboard of the tab's session, or None if the tab belongs to none."""


class OwnPage(Protocol):
    """A page of Roost's own, which no session has."""

    async def run_active(self, expression: str) -> Any:
        """Evaluate the expression as if a person had just used the page."""


class Clipboard:
    """The clipboard of one browser, which one session at a time uses.

    open_page: opens a page of Roost's own.
    """

    def __init__(self, open_page: Callable[[], AbstractAsyncContextManager[OwnPage]]) -> None:
        self.of: ClipboardOf = lambda _: None
        self._open_page = open_page
        self._turn = asyncio.Lock()
        self._page: OwnPage | None = None
        self._open = AsyncExitStack()
        self._idle: asyncio.TimerHandle | None = None
        self._closing: asyncio.Task[None] | None = None

    async def send(
        self,
        handle: TabHandle,
        tab: PageDriver,
        inputs: Sequence[Input],
        held: Sequence[str],
        give: Callable[[Sequence[Input]], Awaitable[None]],
    ) -> None:
        """Give the inputs to the tab, in order, and take a turn for each key that needs one.

        held: the keys that earlier input holds.
        give: gives input to the tab.
        """
        mine = self.of(handle)
        if mine is None:
            await give(inputs)
            return
        for part, use in _parts(inputs, held):
            if use is None:
                await give(part)
            else:
                await self.use(tab, mine, use, _presses(part, give))

    async def use(
        self,
        tab: PageDriver,
        mine: SessionClipboard,
        use: Use,
        press: Callable[[bool], Awaitable[None]],
    ) -> None:
        """Copy, cut or paste in the tab, on the session's own clipboard.

        press: presses the key. Its argument is True if the key was pressed before.
        """
        async with self._turn:
            try:
                if use is Use.PASTE:
                    await self._paste(tab, mine, press)
                else:
                    await self._copy(tab, mine, press)
            finally:
                with contextlib.suppress(RoostError):
                    await self._write(_NOTHING)

    async def _paste(
        self, tab: PageDriver, mine: SessionClipboard, press: Callable[[bool], Awaitable[None]]
    ) -> None:
        for attempt in range(TRIES):
            expected = await _in_frames(tab, "expectPaste", {"items": mine.items})
            if any(one["hasFocus"] and not one["isGuarded"] for one in expected):
                raise Unsupported(
                    "This document replaced itself (document.open), which removes the guard that"
                    " keeps the clipboards of sessions apart, so nothing can be pasted here.",
                    hint=Hint("Type the text instead[, with {PressSequentially}]."),
                )
            await self._write(mine.items)
            if not await _in_time(press(attempt > 0)):
                raise _late()
            outcomes = await _in_frames(tab, "pasted", {})
            # Whoever has copied nothing pastes nothing, whatever the guard had to stop.
            if not mine.items or not any(one["outcome"] == "foreign" for one in outcomes):
                return
        raise Timeout(
            "Pages in this browser wrote to the clipboard again and again, so nothing was pasted.",
            hint="Try again.",
        )

    async def _copy(
        self, tab: PageDriver, mine: SessionClipboard, press: Callable[[bool], Awaitable[None]]
    ) -> None:
        await _in_frames(tab, "watchCopy", {})
        if not await _in_time(press(False)):
            raise _late()
        for one in await _in_frames(tab, "copied", {"chars": CLIPBOARD_CHARS}):
            if one.get("isTooLarge"):
                raise TooLarge(
                    f"The page copied more than {CLIPBOARD_CHARS} characters.", hint="Select less."
                )
            if one.get("isHidden"):
                raise Unsupported("The page hides what it copies from all other listeners.")
            if one.get("items"):
                mine.items = tuple((str(kind), str(text)) for kind, text in one["items"])

    # --- Roost's own page ------------------------------------------------------------------------

    async def _write(self, items: Items) -> None:
        """Put the items on the browser's clipboard, instead of what is there."""
        expression = _WRITE % json.dumps(items)
        for _ in range(2):
            async with self._own_page() as page:
                with contextlib.suppress(TabGone):  # the page was closed or crashed: take another
                    if await page.run_active(expression):
                        return
                self._page = None
        raise BrowserLost("The browser's clipboard cannot be written.", hint="Try again.")

    @asynccontextmanager
    async def _own_page(self) -> AsyncIterator[OwnPage]:
        if self._idle is not None:
            self._idle.cancel()
        if self._page is None:
            await self._open.aclose()
            self._page = await self._open.enter_async_context(self._open_page())
        try:
            yield self._page
        finally:
            loop = asyncio.get_running_loop()
            self._idle = loop.call_later(IDLE_SECONDS, self._close_idle)

    def _close_idle(self) -> None:
        self._closing = asyncio.get_running_loop().create_task(self.close(), name="clipboard page")

    async def close(self) -> None:
        """Close Roost's own page. The next use opens another."""
        async with self._turn:
            if self._idle is not None:
                self._idle.cancel()
            self._page = None
            with contextlib.suppress(RoostError):
                await self._open.aclose()

    def lost(self) -> None:
        """Forget Roost's own page, which ended with the browser."""
        if self._idle is not None:
            self._idle.cancel()
        self._page, self._open = None, AsyncExitStack()


def shared_out(
    open_page: Callable[[], AbstractAsyncContextManager[OwnPage]], is_headless: bool
) -> Clipboard | None:
    """Return the clipboard of a headless browser. In a window on a screen it is the person's."""
    return Clipboard(open_page) if is_headless else None


def lost(clipboard: Clipboard | None) -> None:
    """Tell the clipboard that the browser ended."""
    if clipboard is not None:
        clipboard.lost()


async def give_inputs(
    clipboard: Clipboard | None,
    handle: TabHandle,
    tab: PageDriver,
    inputs: Sequence[Input],
    held: Sequence[str],
    give: Callable[[Sequence[Input]], Awaitable[None]],
) -> None:
    """Give the inputs to the tab (see ``Clipboard.send``), or refuse keys of a person's."""
    if clipboard is not None:
        await clipboard.send(handle, tab, inputs, held, give)
    else:
        refuse_keys(inputs, held)
        await give(inputs)


@runtime_checkable
class ClipboardDriver(Protocol):
    """A driver whose browser has a clipboard that Roost shares out."""

    clipboard: Clipboard | None
    """None: the clipboard is the person's own, because the browser has a window on a screen."""


def _parts(
    inputs: Sequence[Input], held: Sequence[str]
) -> Iterator[tuple[list[Input], Use | None]]:
    """Split the inputs, in order, at the keys that use the clipboard."""
    keys, part = set(held), list[Input]()
    for one in inputs:
        use = use_of(one.key, keys) if isinstance(one, KeyDown) else None
        if use is not None:
            if part:
                yield part, None
            yield [one], use
            part = []
        else:
            part.append(one)
        if isinstance(one, KeyDown):
            keys.add(one.key)
        elif isinstance(one, KeyUp):
            keys.discard(one.key)
    if part:
        yield part, None


def refuse_keys(inputs: Sequence[Input], held: Sequence[str]) -> None:
    """Raise ``Unsupported`` if a key would use a person's clipboard."""
    if any(use is not None for _, use in _parts(inputs, held)):
        raise Unsupported(NO_CLIPBOARD, hint=Hint("Type the text[, with {PressSequentially}]."))


def _presses(
    part: list[Input], give: Callable[[Sequence[Input]], Awaitable[None]]
) -> Callable[[bool], Awaitable[None]]:
    """Return a function that gives the key, and lifts it first if it was pressed before."""
    (key,) = part

    async def press(again: bool) -> None:
        await give([KeyUp(key.key), key] if again and isinstance(key, KeyDown) else part)

    return press


async def _in_time(work: Awaitable[None]) -> bool:
    """Wait for the work, at most ``TURN_SECONDS``. Return whether it is done."""
    try:
        async with asyncio.timeout(TURN_SECONDS):
            await work
    except TimeoutError:
        return False
    return True


async def _in_frames(
    tab: PageDriver, function: str, argument: dict[str, Any]
) -> list[dict[str, Any]]:
    """Call a function in all frames at once, and leave out frames that do not answer."""
    frames: list[str | None] = [one.id for one in (await tab.all_frames())[1:FRAMES]]

    async def ask(frame: str | None) -> dict[str, Any]:
        async with asyncio.timeout(FRAME_SECONDS):
            answer: dict[str, Any] = await tab.call_page(frame, function, argument)
            return answer

    main, *others = await asyncio.gather(
        ask(None), *(ask(frame) for frame in frames), return_exceptions=True
    )
    if isinstance(main, TimeoutError):
        raise _late()
    if isinstance(main, BaseException):
        raise main
    return [main, *(one for one in others if not isinstance(one, BaseException))]


def _late() -> Timeout:
    return Timeout(
        f"The page did not handle the key within {TURN_SECONDS:g} s, so its turn on the clipboard"
        " ended.",
        hint=Hint("Look whether it shows a dialog or is busy[, with {Snapshot}]."),
    )
