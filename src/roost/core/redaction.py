"""Remove secrets from addresses, for every view but their owner's."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

REDACTED = "[REDACTED]"

# Matches these words anywhere in a key. "auth" matches in "authorization" and "authorise" but not
# in "author"; "key" matches as a whole word only.
_SECRET_KEY = re.compile(
    r"password|passwd|pwd|token|api_?key|secret|auth(?!or(?!i[sz]))|credential|session|sid|sig|jwt|code"
    r"|(?<![a-z])key(?![a-z])",
    re.IGNORECASE,
)
# A key must follow a separator, and the possessive "++" prevents backtracking. Otherwise a query
# without "=" is tried from every character: 4,000 characters took half a second.
_PAIR = re.compile(r"(?<![^&;=?#])([^&;=?#]++)=([^&;#]*)")
_USERINFO = re.compile(r"(?<=//)[^/?#]*@")


def is_secret_key(key: str) -> bool:
    """Return whether a key's name suggests that its value is a secret."""
    return _SECRET_KEY.search(unquote_plus(key)) is not None


def redacted_url(url: str) -> str:
    """Return the address without passwords and secret-looking query and fragment values."""
    cut = min((i for i in (url.find("?"), url.find("#")) if i >= 0), default=len(url))
    base = _USERINFO.sub(f"{REDACTED}@", url[:cut])
    return base + _PAIR.sub(_redact_pair, url[cut:])


def _redact_pair(pair: re.Match[str]) -> str:
    key, value = pair.groups()
    return f"{key}={REDACTED if value and is_secret_key(key) else value}"
