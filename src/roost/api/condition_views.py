"""Views of the operations on a session's conditions."""

from __future__ import annotations

from roost.api.views import View


class RouteView(View):
    """One route rule. ``does``: what becomes of a request that it matches, in words."""

    id: str
    url: str
    method: str | None = None
    kinds: list[str] | None = None
    does: str


class HeadersView(View):
    """Names of headers that are added to the requests to an origin (``*``: to all)."""

    origin: str
    names: list[str]


class CredentialsView(View):
    """The user name that the session answers an origin's login with. Passwords are not shown."""

    origin: str
    username: str


class PageGrantView(View):
    """Permissions that an origin has (``*``: all origins)."""

    origin: str
    names: list[str]


class EmulationView(View):
    """The device that pages find. What is missing is the browser's own."""

    device: str | None = None
    width: int | None = None
    height: int | None = None
    scale: float | None = None
    mobile: bool | None = None
    touch: bool | None = None
    user_agent: str | None = None
    latitude: float | None = None
    longitude: float | None = None
    locale: str | None = None
    timezone: str | None = None
    color_scheme: str | None = None
    reduced_motion: str | None = None
    contrast: str | None = None
    media: str | None = None


class ConditionsView(View):
    """All conditions of a session, or of one tab. Passwords and values of headers are left out."""

    session: str
    tab: str | None = None
    added: str | None = None
    """The id of the rule, or the name of the script, that the call added."""
    routes: list[RouteView] = []
    """Route rules, oldest first. The newest that matches a request applies."""
    headers: list[HeadersView] = []
    credentials: list[CredentialsView] = []
    offline: bool = False
    throttle: str | None = None
    emulation: EmulationView | None = None
    permissions: list[PageGrantView] = []
    scripts: list[str] = []
