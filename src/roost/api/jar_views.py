"""Views of operations on cookies, storage and profiles."""

from __future__ import annotations

from datetime import datetime

from roost.api.views import View


class CookieView(View):
    """One cookie. ``value`` is only given if the caller asked for this cookie."""

    name: str
    domain: str
    path: str
    expires: float | None = None
    http_only: bool = False
    secure: bool = False
    same_site: str | None = None
    partition_key: str | None = None
    value: str | None = None


class CookiesView(View):
    """The cookies that the call listed, returned, set or deleted."""

    session: str
    cookies: list[CookieView]


class StoredItemView(View):
    """One stored item. ``value`` is only given if the caller asked for this item."""

    key: str
    value: str | None = None
    size: int | None = None


class StoredDatabaseView(View):
    """One IndexedDB database: its object stores, and how many records each has."""

    name: str
    stores: dict[str, int]


class StorageView(View):
    """What an origin has stored. ``total`` counts items, records or databases that are not shown,
    too; after clearing, those that were removed."""

    tab: str
    origin: str
    kind: str
    action: str
    items: list[StoredItemView]
    databases: list[StoredDatabaseView] | None = None
    total: int


class StorageStateView(View):
    """The storage state file that was saved or loaded, and how much it holds."""

    session: str
    path: str
    cookies: int
    origins: int
    refused: int | None = None
    """When loading: how many entries the browser refused."""


class ProfileView(View):
    """A profile as every caller may see it: what it is for, never its content."""

    name: str
    source: str
    imported_at: datetime
    cookies: int
    sites: int
    origins: int
    any_agent: bool | None = None
    """True if every agent may clone the profile, not only those that were started with it."""
    left_out: list[str] | None = None
    """When importing: how many entries could not be read, of which kind, and why."""


class ProfilesView(View):
    """The profiles that the caller may clone."""

    profiles: list[ProfileView]
