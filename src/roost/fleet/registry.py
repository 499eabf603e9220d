"""The registry: which node has which session, and under which epoch. Pure.

Every method that changes something returns the changed rows. The caller writes them to the journal
before it acts on them, so a restarted gateway knows at least what its predecessor told a node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from roost.errors import BadRequest, NotFound, PoolFull, SessionGone
from roost.fleet.lease import LOST_SECONDS
from roost.fleet.placement import Capacity, Waiting, Wish, assign
from roost.fleet.rows import Invitation, Node, Row, Session, User

GENERATION = 1 << 40
"""Number of versions that one gateway process may use. The next process starts above them."""


@dataclass(frozen=True, slots=True)
class Change:
    """A row to write to the journal. ``row`` is None if the row of that key is to be deleted."""

    table: str
    key: str
    row: Row | None


def put(row: Row) -> Change:
    return Change(row.table, row.key, row)


def removed(row: Row) -> Change:
    return Change(row.table, row.key, None)


class Registry:
    """All rows, and what the running nodes report.

    generation: how often the gateway has been started; it makes versions grow across restarts.
    now: the gateway's monotonic clock at the start. Nodes that the journal knows count as heard of
        now, because their last lease may have been granted a moment before the restart.
    """

    def __init__(self, rows: Iterable[Row], generation: int, now: float) -> None:
        self.users: dict[str, User] = {}
        self.invitations: dict[str, Invitation] = {}
        self.nodes: dict[str, Node] = {}
        self.sessions: dict[str, Session] = {}
        self._version = generation * GENERATION
        self._changed: dict[str, int] = {}
        """Version of the last change of each node's assignment."""
        self._heard: dict[str, float] = {}
        self._reports: dict[str, Capacity] = {}
        self._numbers = 0
        self._waiting: dict[str, int] = {}
        self._tokens: dict[str, str] = {}
        """Sessions by the digest of their token."""
        for row in rows:
            self._put(row)
        for node in self.nodes:
            self._heard[node] = now
            self._changed[node] = self._version
        for session in self.sessions.values():
            if session.node is None or session.node not in self.nodes:
                self._wait(session.id)

    @property
    def version(self) -> int:
        return self._version

    # --- users and nodes -----------------------------------------------------------------------

    def add_user(self, user: User) -> list[Change]:
        if user.name in self.users:
            raise BadRequest(
                f"name: there is a user {user.name} already.",
                hint="Revoke its token first, or choose another name.",
                field="name",
            )
        return self._put(user)

    def remove_user(self, name: str) -> tuple[list[Change], list[Session]]:
        """Remove the user with all its sessions. Returns them, so that nodes close them."""
        user = self.users.get(name)
        if user is None:
            raise NotFound(f"There is no user {name}.", hint="See `roost fleet token list`.")
        ended = [each for each in self.sessions.values() if each.user == name]
        changes = [change for each in ended for change in self.end(each.id)]
        return [*changes, *self._remove(user)], ended

    def user_with(self, digest: str) -> User | None:
        return next((user for user in self.users.values() if user.digest == digest), None)

    def invite(self, invitation: Invitation, wall: float) -> list[Change]:
        """Add a join token, and forget those that have expired."""
        old = [each for each in self.invitations.values() if each.expires_at <= wall]
        return [change for each in old for change in self._remove(each)] + self._put(invitation)

    def accept(self, digest: str, node: Node, wall: float, now: float) -> list[Change] | None:
        """Use a join token up for a new node. Returns None if it is not valid any more."""
        invitation = self.invitations.get(digest)
        if invitation is None or invitation.expires_at <= wall:
            return None
        self._heard[node.id] = now
        self._changed[node.id] = self._version
        return [*self._remove(invitation), *self._put(node)]

    def node_named(self, name: str) -> Node:
        found = [node for node in self.nodes.values() if name in (node.id, node.name)]
        if len(found) != 1:
            what = "There is no node" if not found else "There are several nodes"
            raise NotFound(f"{what} {name}.", hint="See `roost fleet status` for their ids.")
        return found[0]

    def drain(self, node: str, *, is_draining: bool = True) -> list[Change]:
        return self._put(replace(self.nodes[node], is_draining=is_draining))

    def remove_node(self, node: str) -> list[Change]:
        """Forget a node. Its sessions wait for other nodes."""
        changes = self.give_up(node)
        self._heard.pop(node, None)
        self._reports.pop(node, None)
        self._changed.pop(node, None)
        return [*changes, *self._remove(self.nodes[node])]

    # --- leases --------------------------------------------------------------------------------

    def hear(self, node: str, host: str, port: int, report: Capacity, now: float) -> list[Change]:
        """Renew the node's lease. Raises ``NotFound`` for a node that is not in the fleet."""
        row = self.nodes.get(node)
        if row is None:
            raise NotFound("This machine is not in the fleet.", hint="Join it again.")
        self._heard[node] = now
        self._reports[node] = report
        if (row.host, row.port) == (host, port):
            return []
        return self._put(replace(row, host=host, port=port))

    def assignment(self, node: str, since: int) -> dict[str, int] | None:
        """Return the node's sessions with their epochs, or None if unchanged since that version."""
        if since >= self._changed[node]:
            return None
        return {each.id: each.epoch for each in self.sessions.values() if each.node == node}

    def is_alive(self, node: str, now: float) -> bool:
        """Return whether the node may still answer by its lease."""
        heard = self._heard.get(node)
        return heard is not None and now - heard < LOST_SECONDS

    def has_reported(self, node: str) -> bool:
        """Return whether the node has been heard of since this gateway process started."""
        return node in self._reports

    def lost(self, now: float) -> list[str]:
        """Return the nodes that hold sessions or a report and whose lease has run out."""
        holding = {each.node for each in self.sessions.values()} | self._reports.keys()
        return [node for node in self.nodes if node in holding and not self.is_alive(node, now)]

    def give_up(self, node: str) -> list[Change]:
        """Take all sessions from a node whose lease has run out. They wait for other nodes."""
        self._reports.pop(node, None)
        mine = [each for each in self.sessions.values() if each.node == node]
        return [change for each in mine for change in self.release(each.id, each.epoch)]

    # --- sessions ------------------------------------------------------------------------------

    def open(self, session: Session) -> list[Change]:
        """Add a session that waits for a node."""
        self._wait(session.id)
        return self._put(replace(session, node=None))

    def end(self, id: str) -> list[Change]:
        session = self.sessions[id]
        self._waiting.pop(id, None)
        self._touch(session.node)
        return self._remove(session)

    def place(self, id: str, node: str) -> list[Change]:
        """Give a waiting session to a node, under a new epoch."""
        session = self.sessions[id]
        assert session.node is None
        del self._waiting[id]
        self._touch(node)
        return self._put(replace(session, node=node, epoch=session.epoch + 1))

    def release(self, id: str, epoch: int) -> list[Change]:
        """Take a session from its node: the node is lost, or has confirmed that it let go.

        Does nothing if the session has been placed again meanwhile.
        """
        session = self.sessions.get(id)
        if session is None or session.epoch != epoch or session.node is None:
            return []
        self._touch(session.node)
        self._wait(id)
        return self._put(replace(session, node=None))

    def own(self, user: str, named: str) -> Session:
        """Return the user's session of that id or name. Raises ``SessionGone``.

        Another user's session answers as if it did not exist.
        """
        for id in (named, f"{user}.{named}"):
            session = self.sessions.get(id)
            if session is not None and session.user == user:
                return session
        raise SessionGone(f"There is no session {named[:64]}.")

    def session_with(self, digest: str) -> Session | None:
        id = self._tokens.get(digest)
        return None if id is None else self.sessions[id]

    # --- placement -----------------------------------------------------------------------------

    def capacities(self, now: float) -> list[Capacity]:
        """Return the nodes that can be used now, with what the registry knows about them."""
        placed = Counter(each.node for each in self.sessions.values())
        return [
            replace(report, sessions=placed[node], is_draining=self.nodes[node].is_draining)
            for node, report in self._reports.items()
            if self.is_alive(node, now)
        ]

    def placements(self, now: float) -> list[tuple[str, str]]:
        """Return which waiting sessions get which nodes now."""
        waiting = [
            Waiting(session=id, user=self.sessions[id].user, number=number, wish=self.wish(id))
            for id, number in self._waiting.items()
        ]
        if not waiting:
            return []
        held = Counter(each.user for each in self.sessions.values() if each.node is not None)
        return [(each.session, node) for each, node in assign(self.capacities(now), waiting, held)]

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def full(self, now: float, wish: Mapping[str, str]) -> PoolFull:
        """Return the error for a session that found no node, with the fleet's numbers."""
        nodes = self.capacities(now)
        usable = [node for node in nodes if not node.is_draining]
        slots = sum(node.slots for node in usable)
        used = sum(max(node.tabs, node.sessions) for node in usable)
        profile = wish.get("profile")
        if not nodes:
            hint = "No machine of the fleet answers. See `roost fleet status`."
        elif profile is not None and not any(profile in node.profiles for node in usable):
            hint = f"No machine has the profile {profile}. Import it on one of them."
        else:
            hint = "End a session that you no longer need, or try again later."
        return PoolFull(
            f"No machine of the fleet has room: {used} of {slots} slots on {len(usable)} machines"
            f" are taken, and {self.waiting} sessions wait.",
            hint=hint,
            retry_after_ms=5000,
            fleet={
                "nodes": len(self.nodes),
                "usableNodes": len(usable),
                "slots": slots,
                "used": used,
                "waiting": self.waiting,
            },
        )

    def wish(self, id: str) -> Wish:
        wish = self.sessions[id].wish
        return Wish(profile=wish.get("profile"), browser=wish.get("browser"))

    def _wait(self, id: str) -> None:
        self._numbers += 1
        self._waiting[id] = self._numbers

    def _touch(self, node: str | None) -> None:
        self._version += 1
        if node is not None:
            self._changed[node] = self._version

    def _table(self, row: Row) -> dict[str, Row]:
        tables: dict[str, dict[str, Row]] = {
            User.table: self.users,  # type: ignore[dict-item]
            Invitation.table: self.invitations,  # type: ignore[dict-item]
            Node.table: self.nodes,  # type: ignore[dict-item]
            Session.table: self.sessions,  # type: ignore[dict-item]
        }
        return tables[row.table]

    def _put(self, row: Row) -> list[Change]:
        self._table(row)[row.key] = row
        if isinstance(row, Session):
            self._tokens[row.digest] = row.id
        return [put(row)]

    def _remove(self, row: Row) -> list[Change]:
        del self._table(row)[row.key]
        if isinstance(row, Session):
            del self._tokens[row.digest]
        return [removed(row)]
