"""The fleet's tokens: users', machines' to join with, sessions', and the administrator's.

A token carries the fingerprint of the fleet's authority, so that a client with a token and an
address needs nothing else to verify the gateway. The gateway stores digests only. A session's token
is derived from the fleet's secret and the session's salt, as on one machine.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import secrets
from dataclasses import dataclass, field

from roost.errors import BadRequest

JOIN_SECONDS = 3600.0
"""A join token works once, within this time."""
USER_PATTERN = r"[a-z][a-z0-9-]{0,23}"
"""Names of users. They contain no dot, because a dot ends the user's part of a session's id."""
_SECRET = r"[A-Za-z0-9_-]{43}"
_USER = re.compile(rf"roost-user:{USER_PATTERN}:{_SECRET}:({_SECRET})")
_JOIN = "roost-join:"


def digest(token: str) -> str:
    """Return what the journal stores of a token. Tokens are random, so no salt is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_user_token(name: str, fingerprint: str) -> str:
    if not re.fullmatch(USER_PATTERN, name):
        raise BadRequest(
            "name: expected a letter, then up to 23 lower-case letters, digits or dashes.",
            field="name",
        )
    return f"roost-user:{name}:{secrets.token_urlsafe(32)}:{fingerprint}"


def authority_of(token: str) -> str:
    """Return the fingerprint of the authority in a user token. Raises ``BadRequest``."""
    found = _USER.fullmatch(token)
    if found is None:
        raise BadRequest(
            "token: not a user token of a fleet.",
            hint="An administrator makes one with `roost fleet token add NAME`.",
            field="token",
        )
    return found[1]


@dataclass(frozen=True, slots=True)
class JoinToken:
    """What a machine needs to join: where the gateway is, how to know it, and the secret."""

    host: str
    port: int
    fingerprint: str
    secret: str = field(repr=False)

    @classmethod
    def new(cls, host: str, port: int, fingerprint: str) -> JoinToken:
        return cls(host, port, fingerprint, secrets.token_urlsafe(32))

    @classmethod
    def parse(cls, text: str) -> JoinToken:
        try:
            data = text.removeprefix(_JOIN)
            fields = json.loads(base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)))
        except (ValueError, RecursionError):
            fields = None
        match fields:
            case [str(host), int(port), str(fingerprint), str(secret)] if text.startswith(_JOIN):
                return cls(host, port, fingerprint, secret)
        raise BadRequest(
            "token: not a join token.",
            hint="Make one on the gateway's machine with `roost fleet invite`.",
            field="token",
        )

    def __str__(self) -> str:
        fields = [self.host, self.port, self.fingerprint, self.secret]
        data = json.dumps(fields, separators=(",", ":")).encode()
        return _JOIN + base64.urlsafe_b64encode(data).decode().rstrip("=")


def session_token(secret: bytes, session: str, salt: str) -> str:
    message = f"roost fleet session token\0{session}\0{salt}"
    return hmac.new(secret, message.encode(), hashlib.sha256).hexdigest()
