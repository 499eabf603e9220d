"""Tokens: the operator's, kept in ROOST_HOME, and the sessions', stored nowhere.

A session's token is derived from the operator's token and the session's salt. So Roost can compute
the same token again for a caller that may have it, and the journal holds only the salt and the
token's digest. The token becomes invalid when the session ends or the operator's token is replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from functools import lru_cache

from roost.core.rows import Session
from roost.core.state import State
from roost.errors import Unauthorized
from roost.local.home import Home

SALT_BYTES = 16
DERIVED_KEPT = 256


@dataclass(frozen=True, slots=True)
class NewToken:
    """What the journal records of a session's new token."""

    salt: str
    digest: str


class Tokens:
    """Check the operator's token and issue sessions' tokens. ``repr`` never shows a token.

    home: where the token file lies. If the person replaces the token in the file, the new one
        counts and sessions' tokens become invalid. If the file is gone, it is written again.
    """

    def __init__(self, operator: str, home: Home | None = None) -> None:
        self._operator = operator.encode()
        self._home = home
        self._derived = lru_cache(DERIVED_KEPT)(self._derive)

    def is_operators(self, token: str) -> bool:
        if hmac.compare_digest(token.encode(), self._operator):
            return True
        self._read_again()
        return hmac.compare_digest(token.encode(), self._operator)

    def put_back(self) -> None:
        """Write the token file again if it is gone."""
        if self._home is not None:
            with contextlib.suppress(OSError):  # the folder is gone, or the disk is full
                self._home.put_back_token(self._operator.decode())

    def _read_again(self) -> None:
        """Use the token now in the file: only this user can write it, so the person chose it."""
        self.put_back()
        if self._home is None:
            return
        with contextlib.suppress(OSError, Unauthorized):  # open to others, or no token in it
            now = self._home.kept_token()
            if now is not None and now.encode() != self._operator:
                self._operator = now.encode()
                self._derived.cache_clear()

    def session_of(self, state: State, token: str) -> Session | None:
        """Return the session that the token belongs to, or None if the token is not valid."""
        session = state.session_with(_digest(token))
        if session is None or session.token_salt is None:
            return None
        right = self._derived(session.id, session.token_salt)
        return session if hmac.compare_digest(token.encode(), right.encode()) else None

    def issue(self, session: Session) -> tuple[str, NewToken | None]:
        """Return the session's token, and for a new token what to record before it is used."""
        if session.token_salt is not None:
            token = self._derived(session.id, session.token_salt)
            if _digest(token) == session.token_digest:
                return token, None
        salt = secrets.token_hex(SALT_BYTES)
        token = self._derived(session.id, salt)
        return token, NewToken(salt, _digest(token))

    def signature(self, purpose: str, text: str) -> str:
        """Return a signature that only a holder of the operator's token can make."""
        message = f"{purpose}\0{text}"
        return hmac.new(self._operator, message.encode(), hashlib.sha256).hexdigest()

    def _derive(self, session: str, salt: str) -> str:
        return self.signature("roost session token", f"{session}\0{salt}")


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
