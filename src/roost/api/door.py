"""``Door``: how a front end turns a connection into a caller. The broker implements it.

A front end knows the peer (from the kernel) and its hello. The door decides once who the peer is,
and binds that identity to the ``BrokerApi`` that it returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from roost.api.broker import BrokerApi
from roost.local.processes import Peer
from roost.local.tcp_peers import Address
from roost.vocabulary import AgentId, SessionId
from roost.wire.hello import Hello, Welcome

SESSION_HEADER = "X-DevBrowser-Session"
"""HTTP header that names a session. The name is dev-browser's, whose clients send it."""


@dataclass(frozen=True, slots=True)
class Admission:
    """A caller that was let in.

    api: the broker, bound to the caller's identity.
    agent: the caller's agent id.
    welcome: the answer to the hello.
    is_life: the agent lives by this connection: losing it starts the agent's grace. False for a
        command that acts as an agent or the operator for a moment.
    """

    api: BrokerApi
    agent: AgentId
    welcome: Welcome
    is_life: bool


class LinkEnd(Protocol):
    """A link's connection (see ``drivers.link.Link``), as far as the door needs it."""

    def start(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None: ...

    def send(self, frame: bytes) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Visit:
    """A caller without a connection, identified by its token, for the time of one request."""

    api: BrokerApi
    session: SessionId | None
    """The token's session. None for the operator's token, which must name the session in every
    call."""


class Door(Protocol):
    """Lets connections in, on a socket."""

    def admit(self, hello: Hello, peer: Peer, *, on_end: Callable[[], None]) -> Admission:
        """Let the peer in, or raise ``Unauthorized`` or ``BadRequest``.

        on_end: called when this connection must close, because the agent ended or reconnected.
        """

    def admit_link(self, hello: Hello, peer: Peer, link: LinkEnd) -> Welcome:
        """Let a keeper or native host in and give the link to its browser's driver.

        Raises ``Unauthorized`` or ``BadRequest``.
        """

    def leave(self, admission: Admission, *, goodbye: bool) -> None:
        """Report the end of the connection. ``goodbye``: the peer said so; False: it was lost."""


class TokenDoor(Protocol):
    """Lets callers without a connection in (HTTP), by their token."""

    def visit(self, token: str) -> Visit:
        """Return the caller that the token stands for, or raise ``Unauthorized``.

        Each visit renews the lease of the session's agent.
        """

    def visit_as(self, token: str, session: str | None) -> Visit:
        """Return the caller as an agent of one session; the operator's token must name the session.

        Raises ``Unauthorized``, ``BadRequest`` without a session, ``SessionGone`` for a wrong one.
        """

    async def note_operator(self, here: Address, there: Address) -> None:
        """Write to the audit trail which process uses the operator's token on that connection."""

    async def token_beside(self, here: Address, there: Address) -> str:
        """Return the token of the session that the process at the other end was started for.

        The process's environment names the session (``ROOST_SESSION``). Raises ``Unauthorized`` if
        there is no such session or it was not given out to where the process runs.
        """


class Line(Protocol):
    """A peer's connection, for a front end that speaks another protocol than calls on it."""

    def send(self, message: dict[str, Any]) -> None:
        """Send a message. Raises ``TooLarge`` if it is larger than a reply may be."""

    def hold(self) -> None:
        """Stop reading from the peer until ``let_go``."""

    def let_go(self) -> None: ...

    def close(self) -> None: ...


class Conversation(Protocol):
    """One peer's conversation in such a protocol, from its hello on."""

    def heard(self, message: dict[str, Any]) -> None: ...

    def end(self) -> None:
        """End the conversation, because the connection is over."""


class Language(Protocol):
    """A protocol that some kind of peer speaks after its hello."""

    def prepared(self, hello: Hello) -> Callable[[BrokerApi, Line], Conversation]:
        """Return a function that begins the conversation once the peer is let in.

        Raises ``BadRequest`` if the hello asks for something that does not exist.
        """
