"""What operations on cookies, storage and profiles answer."""

from __future__ import annotations

from datetime import datetime

from roost.api.views import View


class CookieView(View):
    """``value`` only where that very cookie was asked for."""

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
    """The cookies that were listed, got, set or deleted."""

    session: str
    cookies: list[CookieView]


class StorageStateView(View):
    session: str
    path: str
    cookies: int
    origins: int
    refused: int | None = None
    """Loading: how many of them the browser would not take."""


class ProfileView(View):
    """A profile as anybody may see it: what it is for, never what is in it."""

    name: str
    source: str
    imported_at: datetime
    cookies: int
    sites: int
    origins: int
    any_agent: bool | None = None
    """True if every agent may clone it, not only those that were started with it."""
    left_out: list[str] | None = None
    """Importing: how many of what could not be had, and why."""


class ProfilesView(View):
    profiles: list[ProfileView]
