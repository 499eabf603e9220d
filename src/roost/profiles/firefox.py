"""Read a Firefox profile folder: cookies.sqlite, and localStorage below storage/default.

Only the logins of ordinary tabs are read, because containers are other identities. Firefox does not
store session cookies in that database, so they are not imported.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qsl

from roost.drivers.base import Cookie, OriginStorage
from roost.errors import BadRequest
from roost.profiles.harvest import Harvest, database
from roost.profiles.snappy import unpacked

COOKIES = "cookies.sqlite"
SAME_SITES = {0: "None", 1: "Lax", 2: "Strict"}
"""Firefox stores 256 if the site set no SameSite."""
MILLISECONDS_FROM = 10**11
"""Expiry values from here on are milliseconds, which Firefox uses since version 142. As seconds,
this value would be the year 5138."""
PARTITION = "partitionKey"
UTF8, SNAPPY = 1, 1


def is_firefox_profile(folder: Path) -> bool:
    return (folder / COOKIES).is_file()


def read_firefox(folder: Path) -> Harvest:
    """Read the cookies of a Firefox profile, and localStorage, most recently written first."""
    harvest = Harvest()
    with database(folder / COOKIES) as connection:
        for row in connection.execute(_COOKIES):
            cookie = _cookie(*row)
            if cookie is None:
                harvest.left_out["cookies of other containers"] += 1
            else:
                harvest.cookies.append(cookie)
    # In a folder's name, "^" precedes the container or the embedding site. Skip both kinds.
    stores = folder.glob("storage/default/http*/ls/data.sqlite")
    for store in sorted(stores, key=lambda store: -store.stat().st_mtime):
        if "^" not in store.parts[-3]:
            _read_storage(store, harvest)
    return harvest


_COOKIES = (
    "SELECT name, value, host, path, expiry, isHttpOnly, isSecure, sameSite, originAttributes"
    " FROM moz_cookies ORDER BY lastAccessed"
)


def _cookie(
    name: str,
    value: str,
    host: str,
    path: str,
    expiry: int,
    http_only: int,
    secure: int,
    same_site: int,
    attributes: str,
) -> Cookie | None:
    marks = dict(parse_qsl(attributes.removeprefix("^")))
    partition = marks.pop(PARTITION, None)
    if marks:
        return None
    site = None if partition is None else _site(partition)
    return Cookie(
        name=name,
        value=value,
        domain=host,
        path=path,
        expires=expiry / 1000 if expiry >= MILLISECONDS_FROM else float(expiry),
        http_only=bool(http_only),
        secure=bool(secure),
        # Older versions also wrote 0 if SameSite was not set. None requires Secure, so 0 without
        # Secure means "not set".
        same_site=None if same_site == 0 and not secure else SAME_SITES.get(same_site),
        partition_key=site,
        cross_site_ancestor=site is not None and not _is_within(host, site),
    )


def _site(partition: str) -> str:
    """Turn a partition key such as ``(https,example.com)`` or ``(https,example.com,8443)`` into a
    site such as ``https://example.com:8443``."""
    scheme, host, *rest = partition.strip("()").split(",")
    port = next((f":{one}" for one in rest if one.isdigit()), "")
    return f"{scheme}://{host}{port}"


def _is_within(host: str, site: str) -> bool:
    top = site.partition("://")[2].partition(":")[0]
    return f".{host.removeprefix('.')}".endswith(f".{top}")


def _read_storage(store: Path, harvest: Harvest) -> None:
    try:
        with database(store) as connection:
            found = connection.execute("SELECT origin FROM database").fetchone()
            if found is None:
                return
            items = tuple(_items(connection, harvest))
    except BadRequest:
        harvest.left_out["sites' storage that cannot be read"] += 1
        return
    if items:
        harvest.storage.append(OriginStorage(str(found[0]), items))


def _items(connection: sqlite3.Connection, harvest: Harvest) -> Iterator[tuple[str, str]]:
    rows = connection.execute("SELECT key, conversion_type, compression_type, value FROM data")
    for key, conversion, compression, value in rows:
        try:
            data = unpacked(value) if compression == SNAPPY else bytes(value)
            yield str(key), data.decode("utf-8" if conversion == UTF8 else "utf-16-le")
        except ValueError:
            harvest.left_out["storage items that cannot be read"] += 1
