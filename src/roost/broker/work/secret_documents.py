"""Documents into which a secret was filled: no script reads them, and no picture shows the secret.

The page itself has the value. So an agent could have the value read by a script of its own, or see
it in a picture, until the tab has left that document. The script may run later, or have run before
and wait for the value, or reach the document from another tab of the session (``opener``).
"""

from __future__ import annotations

from roost.broker.broker import Broker
from roost.broker.work import page_use
from roost.broker.work.page_use import InPage
from roost.core.addresses import origin_of
from roost.core.rows import Tab
from roost.errors import PolicyDenied, RoostError
from roost.vocabulary import SessionId

LEAVE = "Submit the form, or open another page, and try again there."


async def is_held(at: InPage) -> bool:
    """Return True if the tab still shows a document into which a secret was filled."""
    row = at.broker.state.tabs.get(at.row.id, at.row)
    if not row.secret_documents:
        return False
    return (await at.page.call(None, "identity"))["begun"] in row.secret_documents


async def check_left(at: InPage) -> None:
    """Raise ``PolicyDenied`` while a tab of the session shows a document into which a secret was
    filled: a script in any of these tabs may have a handle of that document."""
    rows = [at.row] if at.row.session is None else at.broker.state.tabs_in(at.row.session)
    for row in rows:
        if row.id == at.row.id:
            is_filled = await is_held(at)
        else:
            is_filled = bool(row.secret_documents) and await _may_be_held(at.broker, row)
        if is_filled:
            raise PolicyDenied(
                f"A secret was filled into the page of tab {row.id}, so scripts and raw values are"
                " refused in this session.",
                hint=LEAVE,
                tab=row.id,
            )


async def check_no_script_waits(at: InPage, origin: str) -> None:
    """Raise ``PolicyDenied`` if a script of the agent may wait for a value in a page of ``origin``.

    A broker does not know what ran before its own start, so documents that are older count as if a
    script had run in them: this tab's, and those of the same origin.
    """
    broker = at.broker
    rows = [at.row] if at.row.session is None else broker.state.tabs_in(at.row.session)
    for row in rows:
        if row.handle is None:
            continue
        ran_at = broker.record(row.id).script_ran_at
        if row.id == at.row.id or origin_of(row.url) == origin:
            ran_at = max(ran_at, broker.started_at)
        if ran_at and await _is_older(broker, row, ran_at):
            raise PolicyDenied(
                f"A script may have run in the page of tab {row.id}, and could read the secret.",
                hint="Reload or close that tab, and fill in the secret before you run a script.",
                tab=row.id,
            )


async def _is_older(broker: Broker, row: Tab, moment: float) -> bool:
    """Return True if the tab's document began before that moment, or if the page is silent."""
    try:
        document = await page_use.in_page(broker, row, None).page.call(None, "identity")
    except RoostError:
        return True
    return bool(document["begun"] / 1000 < moment)


def scripts_may_have_run(broker: Broker, session: SessionId) -> None:
    """Remember that scripts of the agent may run in the documents that the session's tabs show."""
    for row in broker.state.tabs_in(session):
        broker.record(row.id).script_ran_at = broker.clock.now()


async def check_session_left(
    broker: Broker, session: SessionId, refused: str = "no protocol client may attach"
) -> None:
    """Raise ``PolicyDenied`` while a tab of the session shows such a document. A tab whose page
    does not answer counts as such.

    refused: what would let somebody read the document, for the error.
    """
    for row in broker.state.tabs_in(session):
        if row.secret_documents and row.handle is not None and await _may_be_held(broker, row):
            raise PolicyDenied(
                f"A secret was filled into the page of tab {row.id}, so {refused}.",
                hint=LEAVE,
                tab=row.id,
            )


async def _may_be_held(broker: Broker, row: Tab) -> bool:
    try:
        return await is_held(page_use.in_page(broker, row, None))
    except RoostError:
        return True


def may_show_secret(broker: Broker, row: Tab) -> bool:
    """Return True if a secret was filled into a page of the tab's session."""
    session = broker.state.sessions.get(row.session or SessionId(""))
    return bool(row.secret_documents) or (session is not None and bool(session.secrets))


async def check_picture(at: InPage) -> None:
    """Raise ``PolicyDenied`` if a picture of the page would show a secret.

    Compares the text that would be drawn with the registered values. Only sessions that used a
    secret are checked.
    """
    if not may_show_secret(at.broker, at.row):
        return
    for frame in [None, *(frame for frame, _ in await at.page.child_frames())]:
        shown = await at.page.call(frame, "shownText")
        if shown["isOpen"] or at.broker.redactor.holds(shown["text"]):
            raise PolicyDenied(
                "The page shows a secret as readable text, so it is not pictured.",
                hint="Read the page as a snapshot, in which secrets are hidden. " + LEAVE,
                tab=at.tab,
            )
