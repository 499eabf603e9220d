"""Leave a page even if its scripts block its thread.

Chromium commits the next document of the same site in the old page's process, so a busy thread
delays the commit. Until the commit, all commands to the tab wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator

from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.chromium.dialogs import Dialogs
from roost.drivers.chromium.navigation import COMMIT_SECONDS, Navigation
from roost.drivers.connection import Json, Pending, log_failure

logger = logging.getLogger(__name__)
FROZEN_SECONDS = 1.0
NO_SITE = "data:text/html,"
SCRIPTS_ENDED = 2
"""Terminate this many scripts that block a commit, then leave the page with ``escape``."""


class PageExit:
    """Detects that one tab's page is blocked, and gets the tab out of that page."""

    def __init__(self, cdp: CdpConnection, session: str, dialogs: Dialogs) -> None:
        self.is_escaping = False
        """``escape`` is going to a document that no caller asked for. Do not report it."""
        self._cdp = cdp
        self._session = session
        self._dialogs = dialogs

    async def is_silent(self, seconds: float) -> bool:
        """Return True if the page does not evaluate a trivial script within that time."""
        probe = self.probe(self._session)
        await asyncio.wait({probe}, timeout=seconds)
        return not probe.done()

    def probe(self, session: str) -> Pending:
        """Ask the page, or the process of one of its frames, to evaluate a trivial script."""
        probe = self._cdp.call("Runtime.evaluate", {"expression": "0"}, session)
        probe.add_done_callback(log_failure)
        return probe

    async def is_blocked(self, *, is_leaving: bool) -> bool:
        """Return True if the page's thread stays busy after its script was terminated.

        ``is_leaving``: the page waits for its next document. Chromium delays commands to such a
        page, so a silent page counts as blocked.
        """
        if not await self.is_silent(FROZEN_SECONDS):
            return False
        if is_leaving:
            return True
        self.end_script()
        return await self.is_silent(FROZEN_SECONDS)

    async def escape(self, navigation: Navigation) -> None:
        """Go to a ``data:`` document, which always gets another process and so cannot be blocked.
        This adds an entry to the tab's history. ``navigation``: gets the tab's events."""
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
        """Wait for a navigation command's reply and for the commit of its document.

        Chromium first runs the page's ``beforeunload``, then asks the server, then needs the page's
        thread for the commit. A script that blocks the first or last step is terminated. Waiting
        for the server is limited only by the caller's deadline. Return None if the thread stays
        blocked: a synchronous request of the page cannot be terminated.
        """
        while not command.done():
            await asyncio.wait({command}, timeout=COMMIT_SECONDS)
            is_asked = navigation.is_requested or self._dialogs.has_dialog
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

    @contextlib.contextmanager
    def ending(self, session: str, is_leaving: Callable[[], bool]) -> Iterator[None]:
        """If the caller leaves, end its function if that blocks the page. A page that answers is
        left alone: terminating would hit the page's own next script. A page with a dialog waits for
        the answer, and a page that is leaving answers nothing."""
        try:
            yield
        except asyncio.CancelledError:
            probe = self.probe(session)

            def end_if_silent() -> None:
                if not (probe.done() or self._dialogs.has_dialog or is_leaving()):
                    self.end_script(session)

            asyncio.get_running_loop().call_later(FROZEN_SECONDS, end_if_silent)
            raise

    def end_script(self, session: str | None = None) -> None:
        """Terminate the script that runs in the page, or in the process of one of its frames."""
        self._cdp.tell("Runtime.terminateExecution", None, session or self._session)
