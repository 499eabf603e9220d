"""``Door``: how a front end turns a connection into a caller. The broker keeps the door.

A front end knows the peer (from the kernel) and what it said; who that makes it is decided behind
the door, once, and bound to the ``BrokerApi`` it gets.
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


@dataclass(frozen=True, slots=True)
class Admission:
    """Who the caller is. Only the connection an agent lives by (``is_life``) ends it when lost; a
    command the agent runs acts as it, too, but comes and goes."""

    api: BrokerApi
    agent: AgentId
    welcome: Welcome
    is_life: bool


class LinkEnd(Protocol):
    """A browser's side of a connection (see ``drivers.link.Link``), as far as the door needs it."""

    def start(self, on_frame: Callable[[bytes], None], on_end: Callable[[], None]) -> None: ...

    def send(self, frame: bytes) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Visit:
    """A caller that has no connection, known by its token, for as long as one request takes."""

    api: BrokerApi
    session: SessionId | None
    """The one session the token is good for. None: the operator's token, which is good for all, so
    it must name the session in every call."""


class Door(Protocol):
    def admit(self, hello: Hello, peer: Peer, *, on_end: Callable[[], None]) -> Admission:
        """Let the peer in, or raise ``Unauthorized`` or ``BadRequest``. ``on_end`` is called when
        the agent ends or takes another connection, and this one must close."""

    def admit_link(self, hello: Hello, peer: Peer, link: LinkEnd) -> Welcome:
        """The same for a keeper or native host: its browser's driver gets the link."""

    def leave(self, admission: Admission, *, goodbye: bool) -> None:
        """The connection is over: by a goodbye, or just lost."""


class TokenDoor(Protocol):
    """The same for callers that have no connection."""

    def visit(self, token: str) -> Visit:
        """Whoever holds that token; ``Unauthorized`` if it is nobody's. A session's agent lives by
        its visits: each renews its lease."""

    def visit_as(self, token: str, session: str | None) -> Visit:
        """The same, always as a session's agent: the operator's token must name which one."""

    async def note_operator(self, here: Address, there: Address) -> None:
        """Write to the audit trail which process uses the operator's token on that connection."""

    async def token_beside(self, here: Address, there: Address) -> str:
        """The token of the session that the process at the other end of a TCP connection was
        started for (``ROOST_SESSION``). ``Unauthorized`` for everybody else."""


class Line(Protocol):
    """A peer's connection, for a front end that speaks another language on it than calls."""

    def send(self, message: dict[str, Any]) -> None:
        """Say it; ``TooLarge`` if it is larger than a reply may be."""

    def hold(self) -> None:
        """Read nothing more from the peer, until ``let_go``."""

    def let_go(self) -> None: ...

    def close(self) -> None: ...


class Conversation(Protocol):
    """What such a front end makes of one peer, from its hello on."""

    def heard(self, message: dict[str, Any]) -> None: ...

    def end(self) -> None:
        """The connection is over."""


class Language(Protocol):
    """What some kind of peer speaks after its hello."""

    def prepared(self, hello: Hello) -> Callable[[BrokerApi, Line], Conversation]:
        """How to begin once the peer is let in; ``BadRequest`` if the hello asks for what there
        is not."""
