"""Notes for agents whose pages were kept from a host by the `origins` of a policy.

The domain list of such a session comes from its policy. A page that is refused by the list shows an
error of the browser at most, and a service worker shows nothing. So the next reply names the rule.
"""

from __future__ import annotations

from collections.abc import Callable

from roost import core
from roost.core.state import State
from roost.vocabulary import SessionId

HOSTS_TOLD = 20
"""Hosts of one session that are told, each once: many pages ask a dozen hosts for every view."""


def refusal_notes(
    session: SessionId, state: Callable[[], State], note: Callable[[SessionId, str], None]
) -> Callable[[str], None]:
    """Return what to call with each host that the session's proxy refuses.

    note: adds a line to the session's next reply. The line does not name the host, because a page
        chose the host and agents trust the line.
    """
    told: set[str] = set()

    def refused(host: str) -> None:
        source = core.origins_source(state(), session)
        if source is None or host in told or len(told) >= HOSTS_TOLD:
            return
        told.add(host)
        note(
            session,
            "A page of this session was kept from a host: the host is not among `origins` of"
            f" {source}. Only the person changes that.",
        )

    return refused
