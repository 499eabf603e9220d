"""The rows of the registry. Rows are frozen: changing one means putting a new row.

The registry's journal stores a row under its ``table`` and ``key``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A holder of a user token. A revoked user keeps its name, so that nobody inherits sessions.

    digest: SHA-256 of the token. The token itself is stored nowhere.
    created_at: wall time.
    """

    table: ClassVar[str] = "user"
    name: str
    digest: str
    created_at: float

    @property
    def key(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A join token that nobody has used yet.

    expires_at: wall time.
    """

    table: ClassVar[str] = "invitation"
    digest: str
    expires_at: float

    @property
    def key(self) -> str:
        return self.digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A machine that has joined the fleet.

    id: the machine's identity, which its certificate names.
    name: what people call the machine.
    host, port: where its door listens.
    is_draining: no session is placed here, and those here are moved to other nodes.
    """

    table: ClassVar[str] = "node"
    id: str
    name: str
    host: str = ""
    port: int = 0
    is_draining: bool = False

    @property
    def key(self) -> str:
        return self.id


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of the fleet.

    id: the id on its node: the user's name, a dot, and the user's name for the session.
    epoch: grows with every placement. A node answers for a session only under the epoch that it
        was given, so an earlier placement never answers beside a later one.
    node: the node that has the session, or None while it waits for one.
    wish: what the broker is asked for when the session is opened there (name, jar, profile,
        browser).
    salt: what the session's token is derived from, with the fleet's secret.
    is_ephemeral: the session ends when its client has not been heard of for a while.
    """

    table: ClassVar[str] = "session"
    id: str
    user: str
    epoch: int
    node: str | None
    wish: dict[str, str] = field(default_factory=dict)
    salt: str
    digest: str
    is_ephemeral: bool = False

    @property
    def key(self) -> str:
        return self.id


Row = User | Invitation | Node | Session
ROW_TYPES: tuple[type[Row], ...] = (User, Invitation, Node, Session)
