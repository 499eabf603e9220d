"""Which addresses may be opened: schemes and domain lists.

Callers and top-level navigation get http, https and about:blank. An address is read as browsers
read it (WHATWG URL: leading controls and spaces stripped, tabs and newlines removed, case folded),
so a blocked scheme stays blocked however it is written.
"""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from roost.errors import BadRequest, UrlBlocked

BLANK = "about:blank"
URL_CHARS = 64 * 1024
_REMOVED = re.compile(r"[\t\n\r]")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_NOT_IN_HOSTS = re.compile(r"[\x00-\x20\x7f#%/<>?@\\^|]")
_DOMAIN = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?")


def checked_url(url: str, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> str:
    """The address as it will be opened, or ``UrlBlocked``/``BadRequest``."""
    address = _as_browsers_read_it(url)
    scheme = _SCHEME.match(address)
    if scheme is None:
        raise BadRequest(
            f"url: {url[:80]!r} has no scheme.",
            hint="Write the whole address, for example https://example.com/.",
            field="url",
        )
    name = scheme.group(1).lower()
    if name == "about" and address.lower().partition("#")[0] == BLANK:
        return address
    if name not in ("http", "https"):
        raise UrlBlocked(f"{name}: addresses cannot be opened.", scheme=name)
    host = host_of(address)
    if not host:
        raise BadRequest(f"url: {url[:80]!r} names no host.", field="url")
    if not host_allowed(host, allow, deny):
        raise UrlBlocked(
            f"{host} is outside this session's domain lists.",
            hint="Stay within the domains this session was opened for.",
            host=host,
        )
    return address


def host_of(address: str) -> str:
    """The host of an http address as browsers look it up: percent signs decoded, other alphabets'
    letters and dots folded, lower case, no trailing dot. Empty if there is none."""
    try:
        host = unquote(urlsplit(address.replace("\\", "/")).hostname or "")
        host = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except ValueError:
        return ""
    return "" if _NOT_IN_HOSTS.search(host) else host


def host_allowed(host: str, allow: tuple[str, ...], deny: tuple[str, ...]) -> bool:
    """Deny wins over allow; an empty allow list allows everything that is not denied."""
    if any(_covers(domain, host) for domain in deny):
        return False
    return not allow or any(_covers(domain, host) for domain in allow)


def checked_domain(domain: str) -> str:
    """One entry of an allow or deny list: ``example.com`` (with its subdomains) or ``*.x.com``."""
    name = domain.strip().lower()
    if not _DOMAIN.fullmatch(name) or len(name) > 255:
        raise BadRequest(
            f"{domain[:80]!r} is not a domain.",
            hint="Write domains like example.com (subdomains included) or *.example.com.",
            field="allow/deny",
        )
    return name.rstrip(".")


def _covers(domain: str, host: str) -> bool:
    """Matching is on label boundaries: example.com never covers evilexample.com."""
    if domain.startswith("*."):
        return host.endswith(domain[1:])
    return host == domain or host.endswith("." + domain)


def _as_browsers_read_it(url: str) -> str:
    if len(url) > URL_CHARS:
        raise BadRequest(f"url: longer than {URL_CHARS} characters.", field="url")
    return _REMOVED.sub("", url.strip("".join(map(chr, range(33)))))
