"""Make the pages of a jar or a tab follow conditions over BiDi: device, network, headers, scripts.

BiDi takes most conditions for a whole user context, so new tabs and popups follow them from their
first request on. Route rules and headers for one origin are per tab (``interception.py``).
https://w3c.github.io/webdriver-bidi/#module-emulation
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

from roost.conditions import (
    ANY_ORIGIN,
    NO_CONDITIONS,
    Conditions,
    Emulation,
    Grant,
    Script,
    plain_headers,
)
from roost.drivers.connection import Json
from roost.drivers.firefox.connection import BidiConnection, BidiError
from roost.drivers.firefox.interception import Interception, bidi_headers
from roost.errors import BadRequest, Unsupported

Command = tuple[str, Json]
_UNSUPPORTED = ("color_scheme", "reduced_motion", "contrast", "media")
GRANTED = frozenset(
    {"geolocation", "midi", "notifications", "persistent-storage", "push", "screen-wake-lock"}
)  # fmt: skip
"""The permissions that Firefox lets BiDi grant."""


def check(conditions: Conditions) -> None:
    """Raise ``Unsupported`` for conditions that BiDi has no command for."""
    emulation = conditions.emulation
    if conditions.throttle is not None:
        raise _unsupported("throttle", "BiDi can only take the network away, not slow it down")
    if emulation.touch or emulation.mobile:
        raise _unsupported("touch", "BiDi cannot emulate a touch screen or a mobile browser")
    for name in _UNSUPPORTED:
        if getattr(emulation, name) is not None:
            shown = name.replace("_", " ")
            raise _unsupported(shown, "BiDi has no command for media features")
    for grant in conditions.grants:
        if grant.origin == ANY_ORIGIN:
            raise _unsupported("permissions", "BiDi grants permissions to one origin: name it")
        unknown = sorted(set(grant.names) - GRANTED)
        if unknown:
            raise _unsupported(f"permission {unknown[0]}", "Firefox does not let BiDi grant it")


def _unsupported(what: str, why: str) -> Unsupported:
    return Unsupported(f"{what}: {why}.", hint="Use Chromium for this.")


class JarConditions:
    """The conditions of one jar. ``viewport``: size of its pages without an emulated device."""

    def __init__(
        self,
        bidi: BidiConnection,
        jar: str,
        viewport: tuple[int, int] | None,
        known: set[str],
    ) -> None:
        self.now = NO_CONDITIONS
        self._bidi = bidi
        self._jar = jar
        self._viewport = viewport
        self._preloads = Preloads(bidi, {"userContexts": [jar]}, known)

    async def put(self, conditions: Conditions) -> None:
        before, self.now = self.now, replace(conditions, routes=())
        where = {"userContexts": [self._jar]}
        commands = [*_commands(before, self.now, where), *_grants(before, self.now, self._jar)]
        commands += _viewport(before.emulation, self.now.emulation, self._viewport, where)
        await _said(self._bidi, commands)
        if before.scripts != self.now.scripts:
            await self._preloads.put(self.now.scripts)


class TabConditions:
    """The conditions of one tab."""

    def __init__(
        self,
        bidi: BidiConnection,
        interception: Interception,
        viewport: Callable[[], tuple[int, int] | None],
        known: set[str],
    ) -> None:
        self._bidi = bidi
        self._interception = interception
        self._viewport = viewport
        self._own: Conditions | None = None
        """The conditions that were set for this tab alone. None: those of its jar."""
        self._preloads = Preloads(bidi, {"contexts": [interception.context]}, known)

    async def put(self, conditions: Conditions, of_jar: Conditions) -> None:
        """Follow these conditions. ``of_jar``: those that the tab's jar follows already."""
        made = self._interception.put(conditions)
        if made is not None:
            await made
        wanted = replace(conditions, routes=())
        if self._own is None and wanted == of_jar:
            return
        before, self._own = self._own or of_jar, wanted
        context = self._interception.context
        commands = list(_commands(before, wanted, {"contexts": [context]}))
        commands += _viewport(
            before.emulation, wanted.emulation, self._viewport(), {"context": context}
        )
        await _said(self._bidi, commands)
        own = tuple(one for one in wanted.scripts if one not in of_jar.scripts)
        await self._preloads.put(own)


class Preloads:
    """The init scripts of one jar or tab. ``known``: the ids of all init scripts in Firefox, which
    the keeper remembers for the next broker."""

    def __init__(self, bidi: BidiConnection, where: Json, known: set[str]) -> None:
        self._bidi = bidi
        self._known = known
        self._where = where
        self._made: dict[Script, str] = {}

    async def put(self, scripts: tuple[Script, ...]) -> None:
        for script in [one for one in self._made if one not in scripts]:
            gone = self._made.pop(script)
            self._known.discard(gone)
            self._bidi.tell("script.removePreloadScript", {"script": gone})
        for script in scripts:
            if script not in self._made:
                what = {"functionDeclaration": f"() => {{\n{script.text}\n}}", **self._where}
                try:
                    made = await self._bidi.call("script.addPreloadScript", what)
                except BidiError as error:
                    raise BadRequest(
                        "script: Firefox refused the script.", page_said=str(error), field="script"
                    ) from None
                self._made[script] = made["script"]
                self._known.add(made["script"])
                self._bidi.say("note", {"preloads": sorted(self._known)})


async def _said(bidi: BidiConnection, commands: list[Command]) -> None:
    asked = [bidi.call(method, params) for method, params in commands]
    for answer in await asyncio.gather(*asked, return_exceptions=True):
        if isinstance(answer, BidiError):
            raise BadRequest("The browser refused a value.", page_said=str(answer))
        if isinstance(answer, BaseException):
            raise answer


def _commands(before: Conditions, after: Conditions, where: Json) -> Iterator[Command]:
    """Yield the commands that change the old conditions into the new ones."""
    if plain_headers(before) != plain_headers(after):
        headers = bidi_headers(list(plain_headers(after).items()))
        yield "network.setExtraHeaders", {"headers": headers, **where}
    if bool(before.offline) != bool(after.offline):
        to = {"type": "offline"} if after.offline else None
        yield "emulation.setNetworkConditions", {"networkConditions": to, **where}
    old, new = before.emulation, after.emulation
    if old.user_agent != new.user_agent:
        yield "emulation.setUserAgentOverride", {"userAgent": new.user_agent, **where}
    if old.locale != new.locale:
        yield "emulation.setLocaleOverride", {"locale": new.locale, **where}
    if old.timezone != new.timezone:
        yield "emulation.setTimezoneOverride", {"timezone": new.timezone, **where}
    if old.geolocation != new.geolocation:
        place = new.geolocation
        coordinates = None
        if place is not None:
            coordinates = {
                "latitude": place.latitude,
                "longitude": place.longitude,
                "accuracy": place.accuracy,
            }
        yield "emulation.setGeolocationOverride", {"coordinates": coordinates, **where}


def _viewport(
    old: Emulation, new: Emulation, usual: tuple[int, int] | None, where: Json
) -> list[Command]:
    """Return the command that gives pages the device's size and scale, if it changed."""
    if (old.width, old.height, old.scale) == (new.width, new.height, new.scale):
        return []
    width, height = (new.width, new.height) if new.width else (usual or (None, None))
    size = None if width is None else {"width": width, "height": height}
    how = {"viewport": size, "devicePixelRatio": new.scale, **where}
    return [("browsingContext.setViewport", how)]


def _grants(before: Conditions, after: Conditions, jar: str) -> list[Command]:
    """Return the commands that grant new permissions and take old ones back."""
    had, has = _granted(before.grants), _granted(after.grants)
    changes = [(one, "prompt") for one in had - has] + [(one, "granted") for one in has - had]
    return [
        (
            "permissions.setPermission",
            {"descriptor": {"name": name}, "state": to, "origin": origin, "userContext": jar},
        )
        for (origin, name), to in sorted(changes)
    ]


def _granted(grants: tuple[Grant, ...]) -> set[tuple[str, str]]:
    return {(grant.origin, name) for grant in grants for name in grant.names}
