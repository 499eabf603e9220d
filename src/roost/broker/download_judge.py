"""Judge a download by the session's policy when the browser reports that it begins.

A download belongs to no call: a page may begin one at any time. So nothing can wait for the
person's approval. A download that is not allowed is cancelled. A browser that cannot cancel it
(Firefox: WebDriver BiDi has no command for it) loads the file, and Roost removes the file. The
person is asked; once they allow it, the agent repeats what began the download.
"""

from __future__ import annotations

import contextlib

from roost import core
from roost.broker.browser.downloads import Download, Downloads
from roost.broker.decisions import Decisions
from roost.broker.tasks import Tasks
from roost.core import events as ev
from roost.core.machine import Machine
from roost.core.policy import wanted
from roost.core.rows import Tab
from roost.errors import ApprovalPending
from roost.vocabulary import Verdict


class DownloadJudge:
    """Judges downloads as they begin."""

    def __init__(
        self, machine: Machine, decisions: Decisions, tasks: Tasks, downloads: Downloads
    ) -> None:
        self._machine = machine
        self._decisions = decisions
        self._tasks = tasks
        self._downloads = downloads

    def began(self, tab: Tab, download: Download) -> None:
        """Refuse the download if the policy does not allow it, and ask the person if it says so."""
        session = tab.session
        if session is None:
            return
        state = self._machine.state
        earlier = self._downloads.count(session) - 1  # the count includes this download
        verdict, deed = core.download_judged(state, session, tab.url, earlier)
        download.is_refused = verdict is not Verdict.ALLOW
        if verdict is Verdict.ALLOW:
            self._decisions.hear(ev.DownloadAdmitted(session, deed.origin or ""))
        elif verdict is Verdict.ASK:
            download.wanted = wanted(deed)
            # ASK comes from an agent's policy, so the session has an agent.
            agent = next(iter(state.agents_in(session)))
            needed = core.ApprovalNeeded(agent, session, download.wanted)
            self._tasks.spawn(self._asked(needed), name=f"ask for a download in {tab.id}")

    async def _asked(self, needed: core.ApprovalNeeded) -> None:
        """Ask the person. If the session asks something else already, do nothing: the next such
        download asks again. In a task, because the browser may report while a decision is
        performed."""
        with contextlib.suppress(ApprovalPending):
            self._decisions.decide(core.ask_approval, needed)
