"""Leaving a page, whatever it does with its thread.

Chromium shows the next document of the same site in the process of the page that is left, once the
page's thread has time for it. All that is asked of the tab meanwhile waits behind that document.
"""

from __future__ import annotations

import asyncio
import logging

from roost.drivers.chromium.connection import CdpConnection, CdpError, Json, Pending
from roost.drivers.chromium.errands import Errands
from roost.drivers.chromium.navigation import COMMIT_SECONDS, Navigation
from roost.drivers.exchange import unheard

logger = logging.getLogger(__name__)
FROZEN_SECONDS = 1.0
NO_SITE = "data:text/html,"
SCRIPTS_ENDED = 2
"""Scripts that are ended in the way of a document before the tab is led out of its page."""


class WayOut:
    """The way out of one tab's page."""

    def __init__(self, cdp: CdpConnection, session: str, errands: Errands) -> None:
        self.is_escaping = False
        """The tab is led to a document that nobody asked for."""
        self._cdp = cdp
        self._session = session
        self._errands = errands

    async def is_silent(self, seconds: float) -> bool:
        """Whether the page does not even answer a question that costs nothing."""
        probe = self._cdp.call("Runtime.evaluate", {"expression": "0"}, self._session)
        probe.add_done_callback(unheard)
        await asyncio.wait({probe}, timeout=seconds)
        return not probe.done()

    async def is_blocked(self, *, is_leaving: bool) -> bool:
        """Whether the page's thread is busy, also when the script that runs there is ended. Nobody
        can tell that of a page that waits for its next document (``is_leaving``), for Chromium
        holds back what is for such a page: it counts as busy."""
        if not await self.is_silent(FROZEN_SECONDS):
            return False
        if is_leaving:
            return True
        self.end_script()
        return await self.is_silent(FROZEN_SECONDS)

    async def escape(self, navigation: Navigation) -> None:
        """Go to a document of no site: it always has another process, and waits for nobody. The
        tab's history has one entry more then. ``navigation`` hears what the tab hears."""
        self.is_escaping = True
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                answer = await self._cdp.call("Page.navigate", {"url": NO_SITE}, self._session)
                await navigation.arrived(answer)
        except (TimeoutError, CdpError) as error:
            logger.debug("a tab could not be led out of its page: %s", error)
        finally:
            self.is_escaping = False

    async def answer_to(self, command: Pending, navigation: Navigation) -> Json | None:
        """Wait for a navigation command, and until its document is shown. Chromium asks the page
        whether it may be left, then the server, then the page's thread. A script that holds up the
        first or the last is ended. For the server, the caller's deadline counts. Return None if
        the thread does not come free: a request that the page waits for cannot be ended."""
        while not command.done():
            await asyncio.wait({command}, timeout=COMMIT_SECONDS)
            is_asked = navigation.is_requested or self._errands.has_dialog
            if not command.done() and not is_asked:
                self.end_script()
        answer: Json = await command
        if answer.get("errorText"):
            return answer
        for _ in range(SCRIPTS_ENDED):
            if await navigation.commits(answer):
                return answer
            self.end_script()
        return answer if await navigation.commits(answer) else None

    def end_script(self) -> None:
        self._cdp.tell("Runtime.terminateExecution", None, self._session)
