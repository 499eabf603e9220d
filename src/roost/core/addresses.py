"""Decide which addresses may be opened (schemes, domain lists), and shorten addresses to keep.

Callers and top-level navigation may open http, https and about:blank. Addresses are parsed as
browsers parse them (WHATWG URL: leading controls and spaces stripped, tabs and newlines removed,
case folded), so a blocked scheme stays blocked however it is written.

An entry of a domain list is a name, an IP address, a network or one of two words:

- ``loopback``: this machine (127.0.0.0/8, ::1, 0.0.0.0/8, ::, and the names below localhost).
- ``private``: every address that is not public: ``loopback``, addresses that ``ipaddress`` does not
  call global (10.0.0.0/8, 169.254.0.0/16, 100.64.0.0/10, fc00::/7 …), multicast and site-local.

Deny beats allow. An allow list judges the host as the address names it. A deny list also judges
every IP address of the host: the filtering proxy calls ``address_denied`` for each address that a
name resolves to, and connects to no other.
"""

from __future__ import annotations

# Python loads a codec when it is first used. A broker without descriptors could not load it then.
import encodings.idna
import encodings.punycode  # noqa: F401
import re
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from urllib.parse import unquote, urlsplit

from roost.errors import BadRequest, UrlBlocked

BLANK = "about:blank"
URL_CHARS = 64 * 1024
"""The longest address a caller may open."""
ADDRESS_CHARS = 8192
"""The longest address that Roost keeps, redacts or shows. Pages can have addresses of megabytes."""
HOST_CHARS = 1024
"""A longer host is invalid. Python needs time quadratic in the host's length to fold and encode
letters outside ASCII."""
CUT = "…"
"""Ends an address that was cut. Browsers percent-encode it, so no whole address ends with it."""
LOOPBACK = "loopback"
PRIVATE = "private"
_REMOVED = re.compile(r"[\t\n\r]")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_TYPED = re.compile(
    r"(?P<host>(?P<ip>[0-9]{1,3}(?:\.[0-9]{1,3}){3}|\[[0-9a-fA-F:.]+\])"
    r"|localhost|(?:[^\W_](?:[\w-]{0,62})\.)+[^\W_][\w-]{0,62})"
    r"(?::(?P<port>[0-9]{1,5}))?(?=[/?#\\]|$)",
    re.IGNORECASE,
)
_NOT_IN_HOSTS = re.compile(r"[\x00-\x20\x7f#%/<>?@\\^|]")
_AFTER_HOST = re.compile(r"[/?#\\]")
_MADE_IN_BROWSER = re.compile(r"(data|blob):", re.IGNORECASE)
_DOMAIN = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")
_THIS_MACHINE = (IPv4Address("127.0.0.1"), IPv6Address("::1"))
_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_LAST_32_BITS = (IPv6Network("::/96"), IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""IPv6 networks whose addresses end with an IPv4 address: IPv4-compatible and NAT64."""

Address = IPv4Address | IPv6Address


def checked_url(url: str, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> str:
    """Return the address as it will be opened. Raises ``UrlBlocked`` or ``BadRequest``."""
    address = _as_browsers_read_it(url)
    scheme = _SCHEME.match(address)
    if scheme is None:
        raise BadRequest(
            f"url: {url[:80]!r} has no scheme.",
            hint="Write the whole address, for example https://example.com/ or"
            " http://localhost:8000/.",
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
        raise outside(host)
    return address


def with_scheme(url: str) -> str:
    """Return the address with a scheme if it begins with a host, as a person types it.

    A dotted name without a port gets https. Everything else gets http: names with a port, IP
    addresses and localhost, where servers rarely have certificates. Only dotted names, localhost
    and IP addresses count as hosts, so ``javascript:1`` and ``data:80/x`` keep their schemes.
    """
    address = _as_browsers_read_it(url)
    typed = _TYPED.match(address)
    if typed is None:
        return url
    is_named = not typed["ip"] and not _is_local_name(typed["host"].lower())
    scheme = "https" if is_named and typed["port"] in (None, "443") else "http"
    return f"{scheme}://{address}"


def check_not_own(url: str, port: int | None) -> None:
    """Raise ``UrlBlocked`` if the address leads to that port of this machine, where Roost listens.

    Only addresses that need no DNS are recognised. The dashboard refuses agents' browsers itself.
    """
    if port is None or _MADE_IN_BROWSER.match(url):  # a client's data: address may be very long
        return
    address = _as_browsers_read_it(with_scheme(url))
    try:
        asked = urlsplit(address.replace("\\", "/")).port
    except ValueError:
        return
    if asked != port:
        return
    if any(address_denied(one, (LOOPBACK,)) for one in known_addresses(host_of(address))):
        raise UrlBlocked(
            f"Port {port} of this machine is Roost's own.",
            hint="Use Roost's tools; its HTTP interface is not for pages.",
        )


def checked_devtools_url(url: str, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> str:
    """Return the address as a DevTools client may open it. Raises as ``checked_url`` does.

    Beside what ``checked_url`` accepts, clients open ``data:`` and ``blob:`` addresses. The browser
    fetches nothing for such a document, and the lists still hold for everything the document loads.
    """
    return url if _MADE_IN_BROWSER.match(url) else checked_url(url, allow, deny)


def outside(host: str) -> UrlBlocked:
    """Build the error for a host that the domain lists refuse."""
    return UrlBlocked(
        f"{host} is outside this session's domain lists.",
        hint="Stay within the domains this session was opened for.",
        host=host,
    )


def short_address(url: str, limit: int = ADDRESS_CHARS) -> str:
    """Return the address whole, or its first ``limit`` characters and ``CUT``.

    If the cut falls inside the host, keep only the scheme: half a host could look like another
    host, and half a password would not be recognised and redacted.
    """
    if len(url) <= limit:
        return url
    head = url[:limit]
    scheme, has_host, rest = head.partition("://")
    if has_host and not _AFTER_HOST.search(rest):
        return f"{scheme}:{CUT}"
    return head + CUT


def can_be_opened_again(url: str) -> bool:
    """Return whether a tab can be opened again at this address.

    It cannot if the address was cut, or names a blob: a blob ends with the page that made it.
    """
    return not url.endswith(CUT) and not url.startswith("blob:")


def host_of(address: str) -> str:
    """Return the host of an http address as browsers look it up, or "" if it has no valid host.

    Decodes percent signs, folds letters and dots of other alphabets, lowers the case and removes a
    trailing dot. Writes IP addresses in canonical form (``0x7f.1`` and ``[::ffff:7f00:1]`` are
    127.0.0.1).
    """
    address = address.replace("\\", "/")
    authority = _AFTER_HOST.split(address.partition("//")[2], maxsplit=1)[0]
    if len(authority) > HOST_CHARS and not authority.isascii():
        return ""  # checked before ``urlsplit`` folds the host
    try:
        parts = urlsplit(address)
        if len(parts.hostname or "") > HOST_CHARS:
            return ""
        host = unquote(parts.hostname or "")
        if "[" in parts.netloc:
            return "" if "%" in host else str(_unmapped(IPv6Address(host)))
        host = host.encode("idna").decode("ascii").lower().removesuffix(".")
        return "" if _NOT_IN_HOSTS.search(host) else _canonical(host)
    except ValueError:
        return ""


def origin_of(url: str) -> str | None:
    """Return the origin of an address, or None for about:blank and for text that is not an address.

    A document that was made in the browser (``data:``) has no origin of its own. Its origin is
    ``null``.
    """
    address = url.removeprefix("blob:")
    scheme = _SCHEME.match(address)
    name = "" if scheme is None else scheme.group(1).lower()
    if name not in ("http", "https"):
        return None if name in ("", "about") else "null"
    host = host_of(address)
    try:
        port = urlsplit(address.replace("\\", "/")).port
    except ValueError:
        return "null"
    shown = f"[{host}]" if ":" in host else host
    is_usual = port in (None, 443 if name == "https" else 80)
    return f"{name}://{shown}" if is_usual else f"{name}://{shown}:{port}"


def host_allowed(host: str, allow: tuple[str, ...], deny: tuple[str, ...]) -> bool:
    """Return whether the lists allow the host (as ``host_of`` returns it).

    Deny beats allow. An empty allow list allows everything that is not denied.
    """
    if any(_covers(entry, host) for entry in deny):
        return False
    if any(address_denied(address, deny) for address in known_addresses(host)):
        return False
    return not allow or any(_covers(entry, host) for entry in allow)


def address_denied(address: str, deny: tuple[str, ...]) -> bool:
    """Return whether a deny list covers any address that a connection to this one reaches."""
    forms = _reached(ip_address(address.partition("%")[0]))
    return any(_holds(entry, form) for entry in deny for form in forms)


def known_addresses(host: str) -> tuple[str, ...]:
    """Return the IP addresses of a host that needs no DNS.

    The host is an IP address or a name of this machine. Browsers resolve every name below localhost
    to this machine.
    """
    if _is_local_name(host):
        return tuple(map(str, _THIS_MACHINE))
    return () if _ip(host) is None else (host,)


def checked_domain(domain: str) -> str:
    """Return an entry of a domain list in canonical form, or raise ``BadRequest``.

    Accepts ``example.com`` (with its subdomains), ``*.example.com``, an IP address, a network
    (``10.0.0.0/8``), ``loopback`` and ``private``.
    """
    name = domain.strip().lower()
    try:
        if len(name) > HOST_CHARS or "%" in name:
            raise ValueError(name)
        if "/" in name:
            return str(_unmapped_network(ip_network(name, strict=False)))
        if ":" in name:
            is_bracketed = name.startswith("[") and name.endswith("]")
            return str(_unmapped(IPv6Address(name[1:-1] if is_bracketed else name)))
        name = name.encode("idna").decode("ascii").removesuffix(".")
        if _DOMAIN.fullmatch(name) and len(name) <= 255:
            return _canonical(name)
    except ValueError:
        pass
    raise BadRequest(
        f"{domain[:80]!r} is not an entry of a domain list.",
        hint="Write a domain like example.com (subdomains included) or *.example.com, an IP"
        " address, a network like 10.0.0.0/8, or one of the words loopback and private.",
        field="allow/deny",
    )


def _covers(entry: str, host: str) -> bool:
    """Return whether an entry covers the host as written.

    Compares whole labels: example.com does not cover evilexample.com.
    """
    address = _ip(host)
    if address is not None:
        return _holds(entry, address)
    if entry in (LOOPBACK, PRIVATE):
        return _is_local_name(host)
    if entry.startswith("*."):
        return host.endswith(entry[1:])
    if _network(entry) is not None:
        return False
    return host == entry or host.endswith("." + entry)


def _holds(entry: str, address: Address) -> bool:
    """Return whether an entry covers that IP address."""
    if entry == LOOPBACK:
        return _is_loopback(address)
    if entry == PRIVATE:
        return _is_loopback(address) or not _is_public(address)
    network = _network(entry)
    return network is not None and address in network


def _is_loopback(address: Address) -> bool:
    return address.is_loopback or address.is_unspecified or address in _THIS_NETWORK


def _is_public(address: Address) -> bool:
    is_site_local = isinstance(address, IPv6Address) and address.is_site_local
    return address.is_global and not address.is_multicast and not is_site_local


def _is_local_name(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _reached(address: Address) -> tuple[Address, ...]:
    """Return the address and all others that a connection to it may reach.

    These are the IPv4 address inside an IPv6 address, and this machine for the unspecified address.
    """
    found: list[Address] = [address]
    if isinstance(address, IPv6Address):
        inside = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
        if any(address in network for network in _LAST_32_BITS):
            inside.append(IPv4Address(int(address) & 0xFFFFFFFF))
        found += [one for one in inside if one is not None]
    if any(one.is_unspecified for one in found):
        found += _THIS_MACHINE
    return tuple(found)


def _unmapped(address: IPv6Address) -> Address:
    return address.ipv4_mapped or address


def _unmapped_network(network: IPv4Network | IPv6Network) -> IPv4Network | IPv6Network:
    mapped = network.network_address
    if isinstance(mapped, IPv6Address) and mapped.ipv4_mapped and network.prefixlen >= 96:
        return IPv4Network((mapped.ipv4_mapped, network.prefixlen - 96))
    return network


def _canonical(host: str) -> str:
    """Return an IPv4 address as four decimal numbers, and any other host unchanged.

    Browsers read a host whose last label is a number as an IPv4 address. Raises ``ValueError`` if
    it is not a valid one.
    """
    *front, last = labels = host.split(".")
    if not _NUMBER.fullmatch(last):
        return host
    if len(labels) > 4 or not all(map(_NUMBER.fullmatch, front)):
        raise ValueError(host)
    *leading, rest = map(_number, labels)
    if any(number > 255 for number in leading) or rest >= 256 ** (5 - len(labels)):
        raise ValueError(host)
    value = sum(number << (24 - 8 * place) for place, number in enumerate(leading))
    return str(IPv4Address(value + rest))


def _number(label: str) -> int:
    """Read a number as C and browsers do: 0x1f is hexadecimal, 017 is octal."""
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8 if len(label) > 1 and label.startswith("0") else 10)


def _ip(host: str) -> Address | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


@lru_cache(1024)
def _network(entry: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(entry)
    except ValueError:
        return None


def _as_browsers_read_it(url: str) -> str:
    if len(url) > URL_CHARS:
        raise BadRequest(f"url: longer than {URL_CHARS} characters.", field="url")
    return _REMOVED.sub("", url.strip("".join(map(chr, range(33)))))
