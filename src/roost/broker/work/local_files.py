"""Open a file of this machine as a page, by serving its folder to one session alone."""

from __future__ import annotations

from urllib.parse import quote

from roost import core
from roost.broker.broker import Broker
from roost.broker.work import condition_work
from roost.core.addresses import BLANK
from roost.vocabulary import AgentId

_PATHS = ("./", "../", "/", "~/")
"""How a path begins, as opposed to an address."""


async def address_of(broker: Broker, agent: AgentId, session: str | None, url: str) -> str:
    """Return the address for ``url``: an address stays as it is, and a path becomes the address of
    that file on an origin of the session's own.

    Raises what ``Folders.to_read`` raises if the caller may not read the file.
    """
    if url == BLANK or not url.startswith(_PATHS):
        return url
    meant = broker.decide(core.session_for, agent, session)
    path = broker.folders(agent, meant.id).to_read(url, "url")
    origin = await condition_work.serve_folder(broker, agent, session, path.parent)
    return f"{origin}/{quote(path.name)}"
