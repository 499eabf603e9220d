"""Read Netscape's cookies.txt, as curl, wget and browser extensions write it. No I/O."""

from __future__ import annotations

from roost.drivers.base import Cookie
from roost.profiles.harvest import Harvest

HTTP_ONLY = "#HttpOnly_"
FIELDS = 7


def read_cookies_txt(text: str) -> Harvest:
    """Return the cookies in the text. Lines that are not cookies are skipped and counted."""
    harvest = Harvest()
    for line in text.splitlines():
        http_only = line.startswith(HTTP_ONLY)
        line = line.removeprefix(HTTP_ONLY)
        if not line.strip() or (line.startswith("#") and not http_only):
            continue
        cookie = _cookie(line.split("\t"), http_only=http_only)
        if cookie is None:
            harvest.left_out["lines that are no cookies"] += 1
        else:
            harvest.cookies.append(cookie)
    return harvest


def _cookie(fields: list[str], *, http_only: bool) -> Cookie | None:
    if len(fields) == FIELDS - 1:
        fields.append("")  # the value is empty and its tab was trimmed
    if len(fields) != FIELDS or not fields[0] or not fields[5]:
        return None
    domain, subdomains, path, secure, expires, name, value = fields
    try:
        until = float(expires)
    except ValueError:
        return None
    host = domain.removeprefix(".")
    return Cookie(
        name=name,
        value=value,
        domain=f".{host}" if subdomains == "TRUE" else host,
        path=path or "/",
        expires=until if until > 0 else None,
        http_only=http_only,
        secure=secure == "TRUE",
    )
