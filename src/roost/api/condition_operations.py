"""Operations on a session's conditions: route rules, network, headers, emulation, scripts."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from roost.api.condition_views import ConditionsView
from roost.api.operation import Answers, Audience, SessionOperation

__all__ = [
    "Conditions", "Emulate", "InitScript", "NetworkState", "Route", "RouteHar", "RouteList",
    "SetCredentials", "SetHeaders", "Unroute",
]  # fmt: skip

BODY_CHARS = 1_000_000
SCRIPT_CHARS = 100_000
Kind = Literal[
    "document", "stylesheet", "image", "media", "font", "script", "xhr", "fetch", "other",
]  # fmt: skip
Permission = Literal[
    "accelerometer", "ambient-light-sensor", "background-sync", "camera", "clipboard-write",
    "geolocation", "gyroscope", "local-fonts", "magnetometer", "microphone", "midi", "midi-sysex",
    "notifications", "payment-handler", "persistent-storage", "push", "screen-wake-lock",
    "storage-access",
]  # fmt: skip


class ConditionOperation(SessionOperation):
    """Base of operations that set conditions for a session or for one of its tabs."""

    audience = Audience.ALL
    idempotent = True
    conduct: ClassVar[tuple[str, ...]] = ("act",)
    tab: str | None = Field(
        default=None, max_length=32, description="Only this tab; default: all of the session"
    )


class Conditions(ConditionOperation, Answers[ConditionsView]):
    """Show the conditions that hold: routes, headers, network, emulation, permissions, scripts."""

    op = "browser_conditions"
    title = "Show the conditions"
    conduct = ()
    read_only = True


class Route(ConditionOperation, Answers[ConditionsView]):
    """Answer, abort, delay or change the requests to addresses that match a glob. The newest \
rule that matches applies."""

    op = "browser_route"
    title = "Add a route rule"
    conduct = ("act", "evaluate")  # what it brings may run as a script in any page
    idempotent = False
    audited = ("url",)
    url: str = Field(min_length=1, max_length=1000, description="Glob: **/api/*, **/*.{png,jpg}")
    method: str | None = Field(default=None, pattern="^[A-Za-z]{1,20}$")
    kinds: list[Kind] = Field(default_factory=list, max_length=10, description="Only these")
    status: int | None = Field(default=None, ge=200, le=599, description="Answer with this status")
    body: str | None = Field(default=None, max_length=BODY_CHARS, description="Answer with this")
    path: str | None = Field(default=None, max_length=1000, description="Answer with this file")
    content_type: str | None = Field(default=None, max_length=200)
    headers: list[str] = Field(
        default_factory=list, max_length=50, description="Of the answer: Name: Value"
    )
    abort: str | None = Field(
        default=None, max_length=32, description="Fail with this: failed, timedout, …"
    )
    delay_ms: int = Field(default=0, ge=0, le=60_000, description="Wait first")
    request_headers: list[str] = Field(
        default_factory=list, max_length=50, description="Added to requests that go on: Name: Value"
    )
    remove_headers: list[str] = Field(
        default_factory=list, max_length=50, description="Removed from requests that go on"
    )


class RouteHar(ConditionOperation, Answers[ConditionsView]):
    """Answer requests from a HAR file, by method and address."""

    op = "browser_route_har"
    title = "Answer from a HAR file"
    conduct = ("act", "evaluate")  # what it brings may run as a script in any page
    idempotent = False
    audited = ("url",)
    path: str = Field(max_length=1000, description="The HAR file")
    url: str = Field(default="**", min_length=1, max_length=1000, description="Glob")
    not_found: Literal["abort", "fallback"] = Field(
        default="abort", description="What becomes of other requests"
    )


class RouteList(ConditionOperation, Answers[ConditionsView]):
    """List the route rules."""

    op = "browser_route_list"
    title = "List the route rules"
    conduct = ()
    read_only = True


class Unroute(ConditionOperation, Answers[ConditionsView]):
    """Remove route rules: by id, by glob, or all."""

    op = "browser_unroute"
    title = "Remove route rules"
    audited = ("rule",)
    rule: str | None = Field(default=None, max_length=1000, description="Id (r1) or glob")


class NetworkState(ConditionOperation, Answers[ConditionsView]):
    """Take the network away, give it back, or make it slow."""

    op = "browser_network_state_set"
    title = "Set the network's state"
    audited = ("state", "throttle")
    state: Literal["online", "offline"] | None = None
    throttle: Literal["none", "slow-3g", "3g", "4g"] | None = None


class SetHeaders(ConditionOperation, Answers[ConditionsView]):
    """Add headers to all requests, or to those of one origin; replaces those set before."""

    op = "browser_set_headers"
    title = "Set extra headers"
    audited = ("origin",)
    headers: list[str] = Field(
        default_factory=list, max_length=50, description="Name: Value; none removes them"
    )
    origin: str | None = Field(default=None, max_length=300, description="Only to this origin")


class SetCredentials(ConditionOperation, Answers[ConditionsView]):
    """Give an origin's servers a name and password when they ask (HTTP authentication)."""

    op = "browser_set_credentials"
    title = "Set HTTP credentials"
    audited = ("origin",)
    origin: str = Field(max_length=300)
    username: str | None = Field(default=None, max_length=500, description="None removes them")
    password: str = Field(default="", max_length=500, repr=False)


class Emulate(ConditionOperation, Answers[ConditionsView]):
    """Emulate a device, place, language, time zone, media features and permissions."""

    op = "browser_emulate"
    title = "Emulate a device"
    audited = ("device",)
    device: str | None = Field(default=None, max_length=64, description="Like iPhone 15, Pixel 7")
    width: int | None = Field(default=None, ge=50, le=10_000)
    height: int | None = Field(default=None, ge=50, le=10_000)
    scale: float | None = Field(default=None, ge=0.1, le=10, description="Device pixel ratio")
    mobile: bool | None = None
    touch: bool | None = None
    user_agent: str | None = Field(default=None, max_length=1000)
    latitude: float | None = Field(default=None, ge=-90, le=90)
    longitude: float | None = Field(default=None, ge=-180, le=180)
    accuracy: float = Field(default=1.0, ge=0, le=1e7, description="Metres")
    locale: str | None = Field(
        default=None, pattern="^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}$", description="Like de-DE"
    )
    timezone: str | None = Field(default=None, max_length=64, description="Like Europe/Berlin")
    color_scheme: Literal["light", "dark", "no-preference"] | None = None
    reduced_motion: Literal["reduce", "no-preference"] | None = None
    contrast: Literal["more", "less", "no-preference"] | None = None
    media: Literal["screen", "print"] | None = None
    permissions: list[Permission] | None = Field(
        default=None, max_length=20, description="Granted to origin; an empty list takes all back"
    )
    origin: str | None = Field(
        default=None, max_length=300, description="That gets the permissions; default: all"
    )
    reset: bool = Field(default=False, description="Forget the emulation so far first")


class InitScript(ConditionOperation, Answers[ConditionsView]):
    """Run a script in each new document before the page's own scripts, or stop doing so."""

    op = "browser_init_script"
    title = "Add an init script"
    conduct = ("act", "evaluate")  # what it brings may run as a script in any page
    audited = ("name",)
    script: str | None = Field(default=None, max_length=SCRIPT_CHARS)
    path: str | None = Field(default=None, max_length=1000, description="File with the script")
    name: str = Field(default="script", pattern=r"^[\w.-]{1,64}$", description="To replace it by")
    remove: bool = Field(default=False, description="Remove the script of that name")
