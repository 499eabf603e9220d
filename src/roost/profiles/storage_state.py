"""Read and write Playwright's storage state: cookies, localStorage and IndexedDB as JSON. No I/O.

https://playwright.dev/docs/api/class-browsercontext#browser-context-storage-state
"""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from roost.drivers.base import Cookie, JarContents, OriginStorage
from roost.errors import BadRequest

SAME_SITES = ("Strict", "Lax", "None")


class _Item(BaseModel):
    name: str
    value: str


class _Index(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class _Store(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str
    records: list[dict[str, Any]] = Field(default_factory=list)
    indexes: list[_Index] = Field(default_factory=list)


class _Database(BaseModel):
    name: str
    version: int = Field(ge=1)
    stores: list[_Store] = Field(default_factory=list)


class _Origin(BaseModel):
    origin: str
    local_storage: list[_Item] = Field(default_factory=list, alias="localStorage")
    databases: list[_Database] = Field(default_factory=list, alias="indexedDB")


class _Cookie(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    name: str
    value: str
    domain: str
    path: str = "/"
    expires: float = -1
    http_only: bool = Field(False, alias="httpOnly")
    secure: bool = False
    same_site: str | None = Field(None, alias="sameSite")
    partition_key: str | None = Field(None, alias="partitionKey")
    cross_site_ancestor: bool = Field(True, alias="_crHasCrossSiteAncestor")


class _State(BaseModel):
    cookies: list[_Cookie] = Field(default_factory=list)
    origins: list[_Origin] = Field(default_factory=list)


def is_storage_state(text: str) -> bool:
    """Return True if the text looks like a storage state; ``read_storage_state`` checks it."""
    return text.lstrip().startswith("{")


def read_storage_state(text: str, field: str) -> JarContents:
    """Parse a storage state. Raises ``BadRequest`` that names the first wrong place in it."""
    try:
        state = _State.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRequest(
            f"{field}: not a storage state: {where or 'the file'}: {first['msg']}.",
            hint="Playwright writes one with context.storage_state(path=…).",
            field=field,
        ) from None
    return JarContents(
        cookies=tuple(_cookie_from(one) for one in state.cookies),
        storage=tuple(
            OriginStorage(
                one.origin,
                tuple((item.name, item.value) for item in one.local_storage),
                json.dumps([database.model_dump() for database in one.databases])
                if one.databases
                else "",
            )
            for one in state.origins
        ),
    )


def write_storage_state(contents: JarContents) -> str:
    """Return the contents as a storage state in JSON."""
    origins = [
        {
            "origin": one.origin,
            "localStorage": [{"name": name, "value": value} for name, value in one.items],
            **({"indexedDB": json.loads(one.databases)} if one.databases else {}),
        }
        for one in contents.storage
    ]
    cookies = [_cookie_to(one) for one in contents.cookies]
    # No indentation: it makes Python's json about ten times slower.
    return json.dumps({"cookies": cookies, "origins": origins})


def _cookie_from(cookie: _Cookie) -> Cookie:
    return Cookie(
        name=cookie.name,
        value=cookie.value,
        domain=cookie.domain,
        path=cookie.path,
        expires=cookie.expires if cookie.expires >= 0 else None,
        http_only=cookie.http_only,
        secure=cookie.secure,
        same_site=cookie.same_site if cookie.same_site in SAME_SITES else None,
        partition_key=cookie.partition_key,
        cross_site_ancestor=cookie.cross_site_ancestor,
    )


def _cookie_to(cookie: Cookie) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "name": cookie.name,
        "value": cookie.value,
        "domain": cookie.domain,
        "path": cookie.path,
        "expires": -1 if cookie.expires is None else cookie.expires,
        "httpOnly": cookie.http_only,
        "secure": cookie.secure,
        # Playwright has no value for "not set"; browsers treat such a cookie as Lax.
        "sameSite": cookie.same_site or "Lax",
    }
    if cookie.partition_key is not None:
        wire["partitionKey"] = cookie.partition_key
        wire["_crHasCrossSiteAncestor"] = cookie.cross_site_ancestor
    return wire
