"""Tools for an agent's own settings, and for diagnosis."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from roost.api import operations as ops
from roost.errors import BadRequest, Unsupported
from roost.frontends.mcp.claudezilla.desk import WINDOW, Desk
from roost.frontends.mcp.claudezilla.tool import ClaudezillaTool, TabTool

DEVICES = {
    "iphone-se": (375, 667),
    "iphone-14": (390, 844),
    "iphone-14-pro-max": (430, 932),
    "pixel-7": (412, 915),
    "galaxy-s23": (360, 780),
    "ipad-mini": (768, 1024),
    "ipad-pro-11": (834, 1194),
    "ipad-pro-12": (1024, 1366),
    "laptop": (1366, 768),
    "desktop": (1920, 1080),
}


class SetConfig(ClaudezillaTool):
    """handleConsent: answer cookie banners after every navigation."""

    tool = "firefox_set_config"
    title = "Set your configuration"
    category = "config"
    open_world = False
    is_data = True
    allowed_domains: list[str] | None = Field(default=None, max_length=100)
    handle_consent: bool | None = None

    async def run(self, desk: Desk) -> dict[str, Any]:
        if self.allowed_domains:
            domains = ",".join(self.allowed_domains)
            raise Unsupported(
                "allowedDomains: a session's domains are given when it is opened.",
                hint=f"Start the server with `roost mcp --names firefox --allow {domains[:200]}`; "
                "then they hold for redirects, popups and WebSockets, too.",
            )
        if self.handle_consent is not None:
            desk.wishes.handle_consent = self.handle_consent
        config = {"allowedDomains": [], "handleConsent": desk.wishes.handle_consent}
        return {"success": True, "config": config}


class SetViewport(TabTool):
    """Give your tab the viewport of a device, or a size. Nobody else's changes."""

    tool = "firefox_set_viewport"
    title = "Set the viewport"
    category = "config"
    open_world = False
    window_id: int | None = None
    device: str | None = Field(default=None, description=", ".join(DEVICES))
    width: int | None = None
    height: int | None = None

    async def run(self, desk: Desk) -> dict[str, Any]:
        width, height = self.width, self.height
        if self.device is not None:
            if self.device not in DEVICES:
                raise BadRequest(f"device: expected one of {', '.join(DEVICES)}.", field="device")
            width, height = DEVICES[self.device]
        if width is None or height is None:
            raise BadRequest("device: give a device, or width and height.", field="device")
        view = await desk.ask(ops.Resize(tab=self.tab, width=width, height=height))
        size = {"width": view.width, "height": view.height}
        return {
            "device": self.device or "custom",
            "viewport": size,
            "window": {"windowId": WINDOW, **size},
            "type": "mobile" if width < 768 else "tablet" if width < 1366 else "desktop",
            "availableDevices": list(DEVICES),
        }


class ResizeWindow(TabTool):
    """Give your tab a size. The window itself is the person's: it is neither moved nor resized."""

    tool = "firefox_resize_window"
    title = "Resize"
    category = "config"
    open_world = False
    window_id: int | None = None
    width: int
    height: int
    left: int | None = None
    top: int | None = None

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(ops.Resize(tab=self.tab, width=self.width, height=self.height))
        return {"windowId": WINDOW, "width": view.width, "height": view.height}


class SetPrivateMode(ClaudezillaTool):
    """Say whether your cookies are your own. They are, unless the server was started otherwise."""

    tool = "firefox_set_private_mode"
    title = "Check private mode"
    category = "config"
    open_world = False
    read_only = True
    is_data = True
    enabled: bool

    async def run(self, desk: Desk) -> dict[str, Any]:
        is_private = await desk.is_private()
        if self.enabled != is_private:
            jar = "fresh" if self.enabled else "shared"
            raise Unsupported(
                "enabled: a session's cookies are chosen when it is opened.",
                hint=f"Start the server with `roost mcp --names firefox --jar {jar}`.",
            )
        said = "are your own" if is_private else "are the browser's"
        return {"privateMode": is_private, "message": f"Your cookies {said}."}


class Activate(ClaudezillaTool):
    """List the tools of a category. All of them work from the start."""

    tool = "firefox_activate"
    title = "List tools"
    category = "core"
    open_world = False
    read_only = True
    is_data = True
    # The argument is called ``category``, but the class variable of that name is the tool's own.
    chosen: Literal[
        "core", "devtools", "inspection", "multiagent", "loop", "config", "diagnose", "all"
    ] = Field(default="core", alias="category")

    async def run(self, desk: Desk) -> dict[str, Any]:
        is_private = await desk.is_private()
        names = [name for name, of in desk.tools.items() if self.chosen in ("all", of)]
        return {
            "activated": self.chosen,
            "categories": sorted(set(desk.tools.values())),
            "tools": names,
            "count": len(names),
            "privateWindowsAvailable": is_private,
            "currentWindowMode": "private" if is_private else "normal",
        }


class Diagnose(ClaudezillaTool):
    """Check that broker, browser and session are well."""

    tool = "firefox_diagnose"
    title = "Diagnose"
    category = "diagnose"
    open_world = False
    read_only = True
    is_data = True
    wait_seconds: float = Field(
        default=0, ge=0, le=60, description="Wait while a person has your session (PAUSED)"
    )

    async def run(self, desk: Desk) -> dict[str, Any]:
        await desk.ask(ops.SessionList(wait_seconds=self.wait_seconds))
        status = await desk.ask(ops.Status())
        checks = [{"name": "broker", "ok": True, "detail": f"roost {status.broker.version}"}]
        for browser in status.browsers:
            used = f"{browser.tabs}/{browser.capacity} tabs"
            detail = f"{browser.kind} {browser.version or ''}, {used}"
            checks.append({"name": "browser", "ok": True, "detail": detail})
        paused = [session.id for session in status.sessions if session.paused]
        checks += [{"name": f"session {id}", "ok": False, "detail": "paused"} for id in paused]
        if paused:
            advice = "A person has your session: wait with firefox_diagnose{waitSeconds: 60}."
        elif not status.browsers:
            advice = "The browser starts with your first page."
        else:
            advice = "Nothing to do."
        return {
            "checks": checks,
            "summary": "partial" if paused else "healthy",
            "recommendation": advice,
        }
