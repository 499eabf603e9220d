"""Trusted input in a person's own Firefox, through its remote agent ("the remote").

The remote names tabs by ids of its own, and input must never reach any tab but the intended one.
So the extension briefly adds an iframe to the page. Both sides know the iframe by the same number,
and the remote tells which tab contains it. No other tab is inspected.

Before every input the extension also shows a beacon in the page: it sets a CSS property with an
unguessable name, which the page cannot find. The driver sends no input to a tab that does not show
the beacon.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from roost.drivers.base import NO_BUNDLE, Input
from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.input import TabInput
from roost.drivers.firefox.navigation import Documents
from roost.drivers.firefox.scripts import DocumentGone, Scripts
from roost.drivers.firefox.values import plain
from roost.errors import BadRequest, BrowserLost, Interrupted, NotFound, RoostError
from roost.hints import Hint
from roost.vocabulary import TabHandle
from roost.wire.framing import encode

logger = logging.getLogger(__name__)

WORD = "remote"
OPEN_SECONDS = 10.0
TRY_AGAIN_SECONDS = 30.0
# The remote may run this before the extension has set the beacon, so it looks for 20 ms. It waits
# by messages and not by timers, because Firefox slows the timers of background tabs.
_SHOWS_BEACON = """async (name) => {
  const style = getComputedStyle(document.documentElement), until = performance.now() + 20;
  while (!style.getPropertyValue(name) && performance.now() < until)
    await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(port1.close());
      port2.postMessage(null);
    });
  return style.getPropertyValue(name);
}"""

Ask = Callable[[TabHandle, str, Json], Awaitable[Json]]
Say = Callable[[str, Any], None]


class RemoteLink:
    """A link to the remote inside the link to the host: frames travel as ``remote`` words."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._on_frame: Callable[[bytes], None] = lambda frame: None
        self._on_end: Callable[[], None] = lambda: None

    def start(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_frame, self._on_end = on_frame, on_end

    def send(self, frame: bytes) -> None:
        self._say(WORD, json.loads(frame))

    def close(self) -> None:
        self._on_end()

    def heard(self, message: Json) -> None:
        self._on_frame(encode(message))


class RemoteTab:
    """A tab as the remote knows it, and the means to give it input."""

    def __init__(self, bidi: BidiConnection, context: str) -> None:
        self.context = context
        self.documents = Documents(lambda: None)
        self._bidi = bidi
        self._has_frames = True
        self._scripts = Scripts(bidi, context, NO_BUNDLE, self.documents)
        self._input = TabInput(bidi, context, self._scripts, lambda: self._has_frames)

    async def shows(self, beacon: str) -> bool:
        """Return whether the page shows the beacon.

        Also note whether the page has frames, which no event reports here. That query goes first,
        to use the time until the beacon is set.
        """
        root = {"root": self.context, "maxDepth": 1}
        name = {"type": "string", "value": f"--roost-{beacon}"}
        try:
            tree = await self._bidi.call("browsingContext.getTree", root, self.context)
            found = await self._scripts.ask(None, _SHOWS_BEACON, name)
        except (BadRequest, BidiError, BrowserLost, DocumentGone, NotFound):
            return False
        self._has_frames = bool(tree["contexts"][0]["children"])
        return bool(plain(found))

    async def send(self, inputs: Sequence[Input]) -> None:
        try:
            await self._input.send(inputs)
        except BrowserLost:
            raise Interrupted(
                "Firefox's remote agent went away while it gave input.",
                hint=Hint("Look what came of it[, with {Snapshot}]."),
            ) from None


class FirefoxRemote:
    """The remote agent of the Firefox at the other end of one link.

    ask: sends a command to the extension, in a tab's session.
    say: sends a word to the host.
    changed: called with True when the host opens the remote's session, with False when it ends.
    """

    def __init__(self, ask: Ask, say: Say, changed: Callable[[bool], None]) -> None:
        self._ask = ask
        self._say = say
        self._changed = changed
        self._link: RemoteLink | None = None
        self._bidi: BidiConnection | None = None
        self._opening = asyncio.Lock()
        self._answer: asyncio.Future[str | None] | None = None
        self._not_before = 0.0
        """Earliest time to ask for the session again."""
        self._found: dict[TabHandle, RemoteTab] = {}

    async def is_ours(self) -> bool:
        """Open the remote's session if it is not open yet. Return whether it is open.

        Another client may hold the one session. Then input stays synthetic, and the next try is
        ``TRY_AGAIN_SECONDS`` later.
        """
        async with self._opening:
            loop = asyncio.get_running_loop()
            if self._bidi is None and loop.time() >= self._not_before:
                self._not_before = loop.time() + TRY_AGAIN_SECONDS
                await self._open()
        return self._bidi is not None

    async def find(self, tab: TabHandle, beacon: str, shown: Awaitable[object]) -> RemoteTab | None:
        """Return the remote's tab for ``tab``, verified by the beacon in its page.

        Checks the cached match while the extension still sets the beacon. Returns None if no tab
        shows the beacon: then the caller must not send input through the remote.

        beacon: the beacon's random name.
        shown: done when the extension has set the beacon.
        """
        known = self._found.get(tab)
        if known is None:
            await shown
        else:
            _, is_shown = await asyncio.gather(shown, known.shows(beacon))
            if is_shown or await known.shows(beacon):
                return known
        self._found.pop(tab, None)
        found = await self._locate(tab)
        if found is None or not await found.shows(beacon):
            return None
        self._found[tab] = found
        return found

    def heard(self, what: Json) -> None:
        """Handle a ``remote`` word from the host."""
        waiting = self._answer is not None and not self._answer.done()
        if "opened" in what or "refused" in what:
            if waiting:
                assert self._answer is not None
                self._answer.set_result(what.get("refused"))
        elif "closed" in what:
            self.ended()
        elif self._link is not None:
            self._link.heard(what)

    def document_changed(self, tab: TabHandle) -> None:
        """Take note that the tab has a new document."""
        if tab in self._found:
            self._found[tab].documents.changed()

    def left(self, tab: TabHandle, error: RoostError) -> None:
        """Forget the tab and fail its pending calls with ``error``."""
        found = self._found.pop(tab, None)
        if found is not None and self._bidi is not None:
            self._bidi.fail(found.context, error)

    def ended(self) -> None:
        """Drop the session: the host or the link has closed it."""
        link, self._link, self._bidi = self._link, None, None
        self._found.clear()
        if link is not None:
            link.close()
            self._changed(False)

    # --- its session ---------------------------------------------------------------------------

    async def _open(self) -> None:
        self._answer = asyncio.get_running_loop().create_future()
        self._say(WORD, "open")
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                refused = await self._answer
        except TimeoutError:
            refused = "the host does not answer"
        if refused is not None:
            logger.warning("Input in your own Firefox stays synthetic: %s", refused)
            return
        self._link = link = RemoteLink(self._say)
        self._bidi = BidiConnection(link, lambda *_: None, lambda: None, lambda *_: None)
        self._bidi.begin()
        self._bidi.release()
        self._changed(True)

    # --- its tabs ------------------------------------------------------------------------------

    async def _locate(self, tab: TabHandle) -> RemoteTab | None:
        bidi = self._bidi
        if bidi is None:
            return None
        try:
            frame = (await self._ask(tab, "Page.frameOfOurs", {"isWanted": True}))["frame"]
            root = {"root": str(frame), "maxDepth": 0}
            (context,) = (await bidi.call("browsingContext.getTree", root))["contexts"]
        except (BadRequest, BidiError, BrowserLost, ValueError):
            return None  # the page accepts no frame, or is navigating away
        finally:
            with contextlib.suppress(RoostError):
                await self._ask(tab, "Page.frameOfOurs", {"isWanted": False})
        return None if context["parent"] is None else RemoteTab(bidi, context["parent"])
