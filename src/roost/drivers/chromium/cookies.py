"""Cookies between our words and CDP's ``Network.Cookie`` and ``CookieParam``."""

from __future__ import annotations

from roost.drivers.base import Cookie
from roost.drivers.chromium.connection import Json


def cookie_from(cookie: Json) -> Cookie:
    key = cookie.get("partitionKey") or {}
    return Cookie(
        name=cookie["name"],
        value=cookie["value"],
        domain=cookie["domain"],
        path=cookie["path"],
        expires=None if cookie.get("session") else cookie["expires"],
        http_only=cookie["httpOnly"],
        secure=cookie["secure"],
        same_site=cookie.get("sameSite"),
        partition_key=key.get("topLevelSite"),
    )


def cookie_to(cookie: Cookie) -> Json:
    param: Json = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
    }
    if cookie.expires is not None:
        param["expires"] = cookie.expires
    if cookie.same_site is not None:
        param["sameSite"] = cookie.same_site
    if cookie.partition_key is not None:
        key = {"topLevelSite": cookie.partition_key, "hasCrossSiteAncestor": False}
        param["partitionKey"] = key
    return param
