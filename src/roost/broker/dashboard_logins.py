"""Logins to the dashboard: a one-time code, which the page exchanges for a token.

Only the operator is given a code. A token is signed with a key that is derived from the operator's
token, so the next broker knows it too and Roost stores it nowhere.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from roost.broker.tokens import Tokens
from roost.errors import Unauthorized

CODE_SECONDS = 60.0
CODES_OPEN = 8
TOKEN_SECONDS = 12 * 3600
_PURPOSE = "roost dashboard token"


class DashboardLogins:
    """Gives out codes and tokens, and checks them. ``now`` returns the time in seconds since
    1970."""

    def __init__(self, tokens: Tokens, now: Callable[[], float]) -> None:
        self._tokens = tokens
        self._now = now
        self._codes: dict[str, float] = {}
        """Codes that nobody has used, with the time at which each becomes invalid."""

    def code(self) -> str:
        """Return a code that is good for one login within a minute."""
        self._forget_old()
        while len(self._codes) >= CODES_OPEN:
            del self._codes[next(iter(self._codes))]
        code = secrets.token_urlsafe(24)
        self._codes[code] = self._now() + CODE_SECONDS
        return code

    def use(self, code: str) -> None:
        """Use the code up. Raises ``Unauthorized`` if it is wrong, old or used."""
        self._forget_old()
        found = [known for known in self._codes if hmac.compare_digest(known, code)]
        if not found:
            raise Unauthorized(
                "code: wrong, used already, or older than a minute.",
                hint="Run `roost dashboard` again.",
            )
        del self._codes[found[0]]

    def token(self) -> str:
        """Return a new token, good for twelve hours."""
        claim = f"{int(self._now()) + TOKEN_SECONDS}.{secrets.token_hex(8)}"
        return f"{claim}.{self._tokens.signature(_PURPOSE, claim)}"

    def check(self, token: str) -> None:
        """Raise ``Unauthorized`` unless the token is one of ours and still good."""
        claim, _, signature = token.rpartition(".")
        until = claim.partition(".")[0]
        right = self._tokens.signature(_PURPOSE, claim)
        is_ours = hmac.compare_digest(signature.encode(), right.encode())
        if not is_ours or not until.isdecimal() or int(until) < self._now():
            raise Unauthorized(
                "token: wrong, or older than twelve hours.", hint="Run `roost dashboard` again."
            )

    def _forget_old(self) -> None:
        now = self._now()
        self._codes = {code: until for code, until in self._codes.items() if until > now}
