"""What the administrator of a fleet may ask, and how a machine joins."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from typing import Any

from roost import __version__
from roost.broker.clock import Clock
from roost.errors import BadRequest, NotFound, Unauthorized
from roost.fleet.authority import Authority
from roost.fleet.config import GatewayConfig, is_loopback
from roost.fleet.node_links import Nodes
from roost.fleet.registry import Registry
from roost.fleet.rows import Invitation, Node, User
from roost.fleet.sessions import Sessions
from roost.fleet.tokens import JOIN_SECONDS, JoinToken, digest, new_user_token

_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,39}")
Order = dict[str, Any]


class Administration:
    """Users, machines and the fleet's state."""

    def __init__(
        self,
        config: GatewayConfig,
        registry: Registry,
        sessions: Sessions,
        nodes: Nodes,
        authority: Authority,
        clock: Clock,
        monotonic: Callable[[], float],
        problems: dict[str, str],
        ray_terms: Callable[[Order], Order | None],
    ) -> None:
        self._config = config
        self._registry = registry
        self._sessions = sessions
        self._nodes = nodes
        self._authority = authority
        self._clock = clock
        self._now = monotonic
        self._problems = problems
        self._ray_terms = ray_terms
        self._orders: dict[str, Callable[[Order], Order]] = {
            "status": self._status,
            "invite": self._invite,
            "users": self._users,
            "users/add": self._add_user,
            "users/revoke": self._revoke,
            "drain": self._drain,
            "remove": self._remove,
        }

    @property
    def authority(self) -> bytes:
        """The authority's certificate, which is public."""
        return self._authority.pem

    async def obey(self, name: str, order: Order) -> Order:
        """Perform an administrator's order and return the answer."""
        perform = self._orders.get(name)
        if perform is None:
            raise NotFound("There is no such order.", hint="See `roost fleet --help`.")
        return perform(order)

    def join(self, asked: Order, peer: str) -> Order:
        """Let a machine join with a join token that nobody has used. Returns its certificate."""
        match asked:
            case {
                "secret": str(secret),
                "request": str(request),
                "name": str(name),
                "software": str(software),
            }:
                pass
            case _:
                raise BadRequest("body: expected secret, request, name and software.", field="body")
        wall = self._clock.now()
        invitation = self._registry.invitations.get(digest(secret))
        if invitation is None or invitation.expires_at <= wall:
            self._sessions.note("fleet join refused", peer=peer)
            raise Unauthorized(
                "The join token was used already, or an hour has passed, or it is wrong.",
                hint="Make a new one on the gateway's machine with `roost fleet invite`.",
                isUnknown=True,
            )
        if software != __version__:
            raise BadRequest(
                f"software: the fleet runs Roost {__version__}, and this machine {software[:20]}.",
                hint="Install the same version on both. The join token is still good.",
                field="software",
            )
        if not _NODE_NAME.fullmatch(name):
            raise BadRequest("name: expected letters, digits and dashes.", field="name")
        ray = self._ray_terms(asked) if asked.get("wantsRay") else None
        id = secrets.token_hex(8)
        certificate = self._authority.sign_node(id, request.encode())
        node = Node(id=id, name=self._free_name(name))
        changes = self._registry.accept(digest(secret), node, wall, self._now())
        assert changes is not None  # the invitation was checked above, in the same turn
        self._sessions.write(changes)
        self._sessions.note("fleet node joined", node=node.name, peer=peer)
        return {
            "id": id,
            "name": node.name,
            "certificate": certificate.decode(),
            "controlPort": self._config.control_port,
            "ray": ray,
        }

    def _free_name(self, name: str) -> str:
        taken = {node.name for node in self._registry.nodes.values()}
        if name not in taken:
            return name
        return next(f"{name}-{n}" for n in range(2, len(taken) + 3) if f"{name}-{n}" not in taken)

    def _status(self, order: Order) -> Order:
        capacities = {each.node: each for each in self._registry.capacities(self._now())}
        placed = dict.fromkeys(self._registry.nodes, 0)
        for session in self._registry.sessions.values():
            if session.node in placed:
                placed[session.node] += 1
        nodes = []
        for node in self._registry.nodes.values():
            seen = capacities.get(node.id)
            problem = self._problems.get(node.id)
            state = "lost" if seen is None else "draining" if node.is_draining else "ready"
            nodes.append(
                {
                    "id": node.id,
                    "name": node.name,
                    "address": f"{node.host}:{node.port}",
                    "state": "failing" if state == "ready" and problem else state,
                    "problem": problem,
                    "sessions": placed[node.id],
                    "slots": 0 if seen is None else seen.slots,
                    "tabs": 0 if seen is None else seen.tabs,
                    "memoryFree": None if seen is None else round(seen.memory_free, 3),
                    "load": None if seen is None else round(seen.load, 2),
                }
            )
        return {
            "address": self._config.address,
            "version": __version__,
            "nodes": nodes,
            "sessions": [
                {"id": each.id, "user": each.user, "node": each.node, "epoch": each.epoch}
                for each in self._registry.sessions.values()
            ],
            "waiting": self._registry.waiting,
            "users": sorted(self._registry.users),
        }

    def _invite(self, order: Order) -> Order:
        token = JoinToken.new(self._config.host, self._config.port, self._authority.fingerprint)
        wall = self._clock.now()
        invitation = Invitation(digest=digest(token.secret), expires_at=wall + JOIN_SECONDS)
        self._sessions.write(self._registry.invite(invitation, wall))
        self._sessions.note("fleet invitation made")
        return {
            "token": str(token),
            "expiresInSeconds": int(JOIN_SECONDS),
            "isLoopback": is_loopback(self._config.host),
        }

    def _users(self, order: Order) -> Order:
        held = dict.fromkeys(self._registry.users, 0)
        for session in self._registry.sessions.values():
            if session.user in held:
                held[session.user] += 1
        users = sorted(self._registry.users.values(), key=lambda user: user.name)
        return {
            "users": [
                {"name": user.name, "createdAt": user.created_at, "sessions": held[user.name]}
                for user in users
            ]
        }

    def _add_user(self, order: Order) -> Order:
        name = _text(order, "name")
        token = new_user_token(name, self._authority.fingerprint)
        user = User(name=name, digest=digest(token), created_at=self._clock.now())
        self._sessions.write(self._registry.add_user(user))
        self._sessions.note("fleet user added", user=name)
        return {"name": name, "token": token, "address": self._config.address}

    def _revoke(self, order: Order) -> Order:
        """Make a user's token invalid, and end the user's sessions."""
        name = _text(order, "name")
        changes, ended = self._registry.remove_user(name)
        self._sessions.write(changes)
        for session in ended:
            self._sessions.forget(session)
        self._sessions.note("fleet user revoked", user=name, sessions=len(ended))
        return {"name": name, "sessionsEnded": len(ended)}

    def _drain(self, order: Order) -> Order:
        node = self._registry.node_named(_text(order, "node"))
        is_draining = order.get("undo") is not True
        self._sessions.write(self._registry.drain(node.id, is_draining=is_draining))
        self._sessions.note("fleet node drained", node=node.name, undo=not is_draining)
        left = sum(each.node == node.id for each in self._registry.sessions.values())
        return {"node": node.name, "isDraining": is_draining, "sessionsLeft": left}

    def _remove(self, order: Order) -> Order:
        """Forget a node. Its certificate is no longer accepted."""
        node = self._registry.node_named(_text(order, "node"))
        if self._registry.is_alive(node.id, self._now()) and any(
            each.node == node.id for each in self._registry.sessions.values()
        ):
            raise BadRequest(
                f"node: {node.name} has sessions and answers.",
                hint="Drain it first with `roost fleet drain`.",
                field="node",
            )
        self._sessions.write(self._registry.remove_node(node.id))
        self._nodes.cut(node.id)
        self._sessions.note("fleet node removed", node=node.name)
        return {"node": node.name}


def _text(order: Order, name: str) -> str:
    value = order.get(name)
    if not isinstance(value, str):
        raise BadRequest(f"{name}: expected a text.", field=name)
    return value
