"""Secrets out of addresses and forms, for every view but their owner's."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

REDACTED = "[REDACTED]"

# Words anywhere in a key; "auth" is not the start of "author" (but of "authorization", "authorise"
# it is), and "key" stands as a whole word.
_SECRET_KEY = re.compile(
    r"password|passwd|pwd|token|api_?key|secret|auth(?!or(?!i[sz]))|credential|session|sid|sig|jwt|code"
    r"|(?<![a-z])key(?![a-z])",
    re.IGNORECASE,
)
# A key begins only after a separator and never gives characters back. Without the two, a query
# without "=" was tried from every character: four thousand characters took half a second.
_PAIR = re.compile(r"(?<![^&;=?#])([^&;=?#]++)=([^&;#]*)")
_USERINFO = re.compile(r"(?<=//)[^/?#]*@")


def is_secret_key(key: str) -> bool:
    return _SECRET_KEY.search(unquote_plus(key)) is not None


def redacted_url(url: str) -> str:
    """The address with passwords and secret-looking query and fragment values taken out."""
    cut = min((i for i in (url.find("?"), url.find("#")) if i >= 0), default=len(url))
    base = _USERINFO.sub(f"{REDACTED}@", url[:cut])
    return base + _PAIR.sub(_redact_pair, url[cut:])


def redacted_form(body: str) -> str:
    """A urlencoded body with secret-looking values taken out."""
    return _PAIR.sub(_redact_pair, body)


def _redact_pair(pair: re.Match[str]) -> str:
    key, value = pair.groups()
    return f"{key}={REDACTED if value and is_secret_key(key) else value}"
