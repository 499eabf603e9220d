"""Convert cookies to and from BiDi's ``network.Cookie`` and ``storage.PartialCookie``.

https://w3c.github.io/webdriver-bidi/#type-network-Cookie
"""

from __future__ import annotations

import base64

from roost.drivers.base import Cookie
from roost.drivers.connection import Json

_SAME_SITE = {"strict": "Strict", "lax": "Lax", "none": "None"}


def cookie_from(cookie: Json, site: str | None = None) -> Cookie:
    return Cookie(
        name=cookie["name"],
        value=_text(cookie["value"]),
        domain=cookie["domain"],
        path=cookie["path"],
        expires=cookie.get("expiry"),
        http_only=cookie["httpOnly"],
        secure=cookie["secure"],
        same_site=_SAME_SITE.get(cookie["sameSite"]),
        partition_key=site,
    )


def cookie_to(cookie: Cookie) -> Json:
    partial: Json = {
        "name": cookie.name,
        "value": {"type": "string", "value": cookie.value},
        "domain": cookie.domain,
        "path": cookie.path,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        "sameSite": "default" if cookie.same_site is None else cookie.same_site.lower(),
    }
    if cookie.expires is not None:
        partial["expiry"] = int(cookie.expires)
    return partial


def partition(jar: str, site: str | None = None) -> Json:
    """Return the storage partition of a jar, or of a top-level site within the jar."""
    key: Json = {"type": "storageKey", "userContext": jar}
    if site is not None:
        key["sourceOrigin"] = site
    return key


def _text(value: Json) -> str:
    if value["type"] == "string":
        return str(value["value"])
    # The bytes are no UTF-8 text, so keep each byte as one character.
    return base64.b64decode(value["value"]).decode("latin-1")
