"""Judge a download by the session's policy when the browser reports that it begins.

A download belongs to no call: a page may begin one at any time. So nothing can wait for the
person's approval. A download that is not allowed is removed when it is complete, and the person is
asked; once they allow it, the agent repeats what began the download.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from roost import core
from roost.broker.browser.downloads import Download
from roost.core import events as ev
from roost.core.policy import wanted
from roost.core.rows import Tab
from roost.errors import ApprovalPending
from roost.vocabulary import SessionId, Verdict

if TYPE_CHECKING:
    from roost.broker.broker import Broker


def judge_download(broker: Broker, tab: Tab, download: Download, count: int) -> None:
    """Refuse the download if the policy does not allow it, and ask the person if it says so.

    count: number of the session's earlier downloads.
    """
    session = tab.session
    if session is None:
        return
    verdict, deed = core.download_judged(broker.state, session, tab.url, count)
    download.is_refused = verdict is not Verdict.ALLOW
    if verdict is Verdict.ASK:
        download.wanted = wanted(deed)
        asking = _ask(broker, session, download.wanted)
        broker.tasks.spawn(asking, name=f"ask for a download in {tab.id}")
    elif verdict is Verdict.ALLOW:
        broker.hear(ev.DownloadAdmitted(session, deed.origin or ""))


async def _ask(broker: Broker, session: SessionId, download: core.Wanted) -> None:
    """Ask the person. If the session asks something else already, do nothing: the next such
    download asks again. In a task, because the browser may report while a decision is performed."""
    agent = next(iter(broker.state.agents_in(session)), None)
    if agent is not None:
        with contextlib.suppress(ApprovalPending):
            broker.decide(core.ask_approval, core.ApprovalNeeded(agent, session, download))
