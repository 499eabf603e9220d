"""Convert cookies to and from CDP's ``Network.Cookie`` and ``CookieParam``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roost.drivers.base import Cookie
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.connection import Json

LONG_AGO = 1.0


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
        cross_site_ancestor=key.get("hasCrossSiteAncestor", True),
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
        param["partitionKey"] = {
            "topLevelSite": cookie.partition_key,
            "hasCrossSiteAncestor": cookie.cross_site_ancestor,
        }
    return param


async def write_cookies(
    cdp: CdpConnection, context: Json, cookies: Sequence[Cookie]
) -> list[Cookie]:
    """Write the cookies and return those that Chromium refused. If Chromium refuses one, it writes
    none, so this function then tries each half by itself."""
    if await _set(cdp, context, cookies):
        return []
    if len(cookies) == 1:
        return list(cookies)
    half = len(cookies) // 2
    first = await write_cookies(cdp, context, cookies[:half])
    return first + await write_cookies(cdp, context, cookies[half:])


async def delete_cookies(cdp: CdpConnection, context: Json, cookies: Sequence[Cookie]) -> None:
    """Delete cookies by writing expired ones: CDP's delete command cannot name a jar."""
    over = [replace(cookie, value="", expires=LONG_AGO) for cookie in cookies]
    await write_cookies(cdp, context, over)


async def _set(cdp: CdpConnection, context: Json, cookies: Sequence[Cookie]) -> bool:
    params = {**context, "cookies": [cookie_to(cookie) for cookie in cookies]}
    try:
        await cdp.call("Storage.setCookies", params)
    except CdpError:
        return False
    return True
