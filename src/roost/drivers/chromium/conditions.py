"""Make the pages of one tab follow conditions over CDP: device, network, headers, scripts.

Most commands must be said in each protocol session of the tab: the page's own, and those of frames
and workers in other processes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from enum import StrEnum

from roost.conditions import (
    ANY_ORIGIN,
    NO_CONDITIONS,
    SCRIPTS,
    THROTTLES,
    Conditions,
    Emulation,
    Grant,
    plain_headers,
)
from roost.drivers.chromium.connection import CdpConnection, CdpError
from roost.drivers.chromium.dialogs import Dialogs
from roost.drivers.chromium.interception import Interception
from roost.drivers.chromium.scripts import WORLD
from roost.drivers.connection import Json
from roost.errors import BadRequest

Command = tuple[str, Json]
IN_EFFECT = "already in effect"
"""Part of Chromium's refusal to override the timezone or locale of a process twice. Another page of
the same session, with the same conditions, has done so."""
_PERMISSIONS = {
    "camera": "videoCapture",
    "microphone": "audioCapture",
    "clipboard-write": "clipboardSanitizedWrite",
    "background-sync": "backgroundSync",
    "accelerometer": "sensors",
    "gyroscope": "sensors",
    "magnetometer": "sensors",
    "ambient-light-sensor": "sensors",
    "midi-sysex": "midiSysex",
    "payment-handler": "paymentHandler",
    "storage-access": "storageAccess",
    "local-fonts": "localFonts",
    "persistent-storage": "durableStorage",
    "push": "notifications",
    "screen-wake-lock": "wakeLockScreen",
}


class Where(StrEnum):
    """The kind of a protocol session."""

    PAGE = "page"
    FRAME = "frame"
    WORKER = "worker"


class TabConditions:
    """The conditions of one tab.

    session: the page's own protocol session.
    guard: script of Roost's own world that runs first in each document, see ``clipboard.py``.
    """

    def __init__(
        self,
        cdp: CdpConnection,
        session: str,
        interception: Interception,
        dialogs: Dialogs,
        guard: str | None = None,
    ) -> None:
        self._guard = guard
        self._cdp = cdp
        self._session = session
        self._interception = interception
        self._dialogs = dialogs
        self._sessions: dict[str, Where] = {}
        self._now = NO_CONDITIONS

    def begin(self, conditions: Conditions) -> None:
        """Set the conditions of a tab before its first session is watched."""
        self._now = conditions
        self._interception.put(conditions)
        self._dialogs.put_device(conditions.emulation)

    def expect(self, session: str, target: str) -> None:
        """Add a child session of an earlier broker. ``target``: the type of its target."""
        is_frame = target in ("iframe", "webview")
        self._sessions[session] = Where.FRAME if is_frame else Where.WORKER

    def take_over(self, conditions: Conditions) -> None:
        """Follow these conditions in the sessions of an earlier broker."""
        self.begin(conditions)
        for session, where in {self._session: Where.PAGE, **self._sessions}.items():
            self.watch(session, where, is_taken_over=True)

    def watch(self, session: str, where: Where, *, is_taken_over: bool = False) -> None:
        """Make a new protocol session of the tab follow the conditions."""
        self._sessions[session] = where
        self._interception.watch(session, is_taken_over=is_taken_over)
        if is_taken_over:
            # An earlier broker may have added scripts. Chromium numbers them from 1.
            self._remove_scripts(session, range(1, SCRIPTS * 2 + 2))
        if self._guard is not None and where is not Where.WORKER:
            script = {"source": self._guard, "worldName": WORLD, "runImmediately": True}
            self._cdp.tell("Page.addScriptToEvaluateOnNewDocument", script, session)
        for method, params in _commands(NO_CONDITIONS, self._now, where):
            self._cdp.tell(method, params, session)

    def forget(self, session: str) -> None:
        self._sessions.pop(session, None)
        self._interception.forget(session)

    async def put(self, conditions: Conditions) -> None:
        """Change the conditions. Raises ``BadRequest`` for a value that Chromium refuses."""
        before, self._now = self._now, conditions
        paused = self._interception.put(conditions, self._session)
        asked = [] if paused is None else [paused]
        if before.emulation != conditions.emulation:
            self._dialogs.put_device(conditions.emulation)
            asked.append(self._dialogs.say_device())
        for session, where in self._sessions.items():
            if before.scripts != conditions.scripts and where is not Where.WORKER:
                first = 1 if self._guard is None else 2
                self._remove_scripts(session, range(first, first + len(before.scripts)))
            for method, params in _commands(before, conditions, where):
                if session == self._session:
                    asked.append(self._cdp.call(method, params, session))
                else:
                    self._cdp.tell(method, params, session)
        for answer in await asyncio.gather(*asked, return_exceptions=True):
            if isinstance(answer, CdpError):
                if IN_EFFECT not in str(answer):
                    raise BadRequest("The browser refused a value.", page_said=str(answer))
            elif isinstance(answer, BaseException):
                raise answer

    def _remove_scripts(self, session: str, numbers: range) -> None:
        for number in numbers:
            name = {"identifier": str(number)}
            self._cdp.tell("Page.removeScriptToEvaluateOnNewDocument", name, session)

    def renew(self) -> None:
        """Override timezone and locale again: the tab that had done so for this tab's process may
        be gone."""
        for session, where in self._sessions.items():
            for method, params in _process_commands(Emulation(), self._now.emulation, where):
                self._cdp.tell(method, params, session)


def _commands(before: Conditions, after: Conditions, where: Where) -> Iterator[Command]:
    """Yield the commands that change the old conditions into the new ones, in a session of that
    kind."""
    if where is Where.WORKER and before == NO_CONDITIONS != after:
        yield "Network.enable", {}
    if plain_headers(before) != plain_headers(after):
        yield "Network.setExtraHTTPHeaders", {"headers": plain_headers(after)}
    if (before.offline, before.throttle) != (after.offline, after.throttle):
        yield "Network.emulateNetworkConditions", _network(after)
    old, new = before.emulation, after.emulation
    if (old.user_agent, old.locale) != (new.user_agent, new.locale):
        yield "Emulation.setUserAgentOverride", _user_agent(new)
    yield from _process_commands(old, new, where)
    if where is Where.WORKER:
        return
    if _media(old) != _media(new):
        yield "Emulation.setEmulatedMedia", _media(new)
    if before.scripts != after.scripts:
        for script in after.scripts:
            yield "Page.addScriptToEvaluateOnNewDocument", {"source": script.text}
    if where is Where.FRAME:
        return
    if old.geolocation != new.geolocation:
        to = new.geolocation
        if to is None:
            yield "Emulation.clearGeolocationOverride", {}
        else:
            place = {"latitude": to.latitude, "longitude": to.longitude, "accuracy": to.accuracy}
            yield "Emulation.setGeolocationOverride", place
    if bool(old.touch) != bool(new.touch):
        touch = {"enabled": True, "maxTouchPoints": 5} if new.touch else {"enabled": False}
        yield "Emulation.setTouchEmulationEnabled", touch


def _process_commands(old: Emulation, new: Emulation, where: Where) -> Iterator[Command]:
    """Yield the commands about what Chromium overrides for a whole process of this session."""
    if where is Where.WORKER:
        return
    if old.timezone != new.timezone:
        if old.timezone:
            yield "Emulation.setTimezoneOverride", {"timezoneId": ""}
        if new.timezone:
            yield "Emulation.setTimezoneOverride", {"timezoneId": new.timezone}
    if old.locale != new.locale:
        if old.locale:
            yield "Emulation.setLocaleOverride", {}
        if new.locale:
            yield "Emulation.setLocaleOverride", {"locale": new.locale}


def _network(conditions: Conditions) -> Json:
    slow = THROTTLES.get(conditions.throttle or "")
    return {
        "offline": bool(conditions.offline),
        "latency": 0 if slow is None else slow.latency,
        "downloadThroughput": -1 if slow is None else slow.download,
        "uploadThroughput": -1 if slow is None else slow.upload,
    }


def _media(emulation: Emulation) -> Json:
    features = {
        "prefers-color-scheme": emulation.color_scheme,
        "prefers-reduced-motion": emulation.reduced_motion,
        "prefers-contrast": emulation.contrast,
    }
    chosen = [{"name": name, "value": to or ""} for name, to in features.items()]
    return {"media": emulation.media or "", "features": chosen}


def _user_agent(emulation: Emulation) -> Json:
    said: Json = {"userAgent": emulation.user_agent or ""}
    if emulation.locale:
        said["acceptLanguage"] = emulation.locale
    if emulation.user_agent:
        said["userAgentMetadata"] = _metadata(emulation.user_agent, bool(emulation.mobile))
    return said


def _metadata(user_agent: str, mobile: bool) -> Json:
    """Return what ``navigator.userAgentData`` says, to agree with the user agent."""
    found: Json = {
        "mobile": mobile, "model": "", "architecture": "x86", "platform": "Windows",
        "platformVersion": "",
    }  # fmt: skip
    if match := re.search(r"Android (\d+(?:\.\d+)?(?:\.\d+)?)(?:; ([^)]{1,80}))?", user_agent):
        found |= {"platform": "Android", "platformVersion": match[1], "architecture": "arm"}
        found["model"] = (match[2] or "").partition(" Build")[0]
    elif match := re.search(r"iPhone OS (\d+(?:_\d+)?)", user_agent):
        found |= {"platform": "iOS", "platformVersion": match[1], "architecture": "arm"}
    elif match := re.search(r"iPad; CPU OS (\d+(?:_\d+)?)", user_agent):
        found |= {"platform": "iOS", "platformVersion": match[1], "architecture": "arm"}
    elif match := re.search(r"Mac OS X (\d+(?:_\d+)?(?:_\d+)?)", user_agent):
        found |= {"platform": "macOS", "platformVersion": match[1]}
    elif match := re.search(r"Windows\D+(\d+(?:\.\d+)?(?:\.\d+)?)", user_agent):
        found["platformVersion"] = match[1]
    elif "linux" in user_agent.lower():
        found["platform"] = "Linux"
    return found


class Grants:
    """The permissions granted in each jar."""

    def __init__(self) -> None:
        self._now: dict[str, tuple[Grant, ...]] = {}

    async def put(self, cdp: CdpConnection, jar: str, grants: tuple[Grant, ...]) -> None:
        """Grant these permissions in a jar, and take back those from before."""
        before = self._now.get(jar, ())
        if before == grants:
            return
        self._now[jar] = grants
        context = {"browserContextId": jar}
        if before:
            await cdp.call("Browser.resetPermissions", context)
        for grant in grants:
            names = sorted({_PERMISSIONS.get(name, name) for name in grant.names})
            origin = {} if grant.origin == ANY_ORIGIN else {"origin": grant.origin}
            asked = {"permissions": names, **origin, **context}
            try:
                await cdp.call("Browser.grantPermissions", asked)
            except CdpError as error:
                raise BadRequest(
                    "permissions: Chromium refused one.", field="permissions", page_said=str(error)
                ) from None
