"""Decide what becomes of the requests of one tab that the browser paused.

The newest rule that matches a request applies, and no other. Both drivers say ``fail``, ``fulfil``
and ``go_on`` in the words of their protocol.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from roost.conditions import (
    ANY_ORIGIN,
    KINDS,
    NO_CONDITIONS,
    Conditions,
    Header,
    Route,
    credentials_for,
    headers_for,
    written_origin,
)
from roost.drivers.folder_answers import folder_answer
from roost.drivers.har_answers import recorded_answer
from roost.wire.globs import Glob, GlobSet, parse

logger = logging.getLogger(__name__)
K = TypeVar("K")
WAITING = 1000
"""Requests of one tab that may wait at a time, for a delay or a file. Others go on at once."""
PREFLIGHT = "access-control-request-method"


@dataclass(frozen=True, slots=True)
class PausedRequest(Generic[K]):
    """A request that waits. ``key``: what the browser's protocol calls it."""

    key: K
    url: str
    method: str
    kind: str
    headers: list[Header]
    """Empty if an earlier broker left the request: then the headers must not be replaced."""

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


class Interception(ABC, Generic[K]):
    """The rules of one tab, and its requests that wait."""

    def __init__(self) -> None:
        self._conditions = NO_CONDITIONS
        self._globs: tuple[Glob, ...] = ()
        self._set = GlobSet(())
        self._waiting: dict[object, asyncio.TimerHandle | asyncio.Task[None]] = {}

    def _follow(self, conditions: Conditions) -> None:
        self._globs = tuple(parse(route.url) for route in conditions.routes)
        self._set = GlobSet(self._globs)
        self._conditions = conditions

    def _rules(self) -> list[tuple[Route, Glob]]:
        return list(zip(self._conditions.routes, self._globs, strict=True))

    def ended(self) -> None:
        """Forget all requests that wait: their tab is gone."""
        for waiting in self._waiting.values():
            waiting.cancel()
        self._waiting.clear()

    def decide(self, request: PausedRequest[K]) -> None:
        """Answer the request, now or later."""
        asked = request.header(PREFLIGHT) if request.method == "OPTIONS" else None
        if asked is not None:
            self._decide_preflight(request, asked)
            return
        route = self._route_for(request)
        if route is None:
            self._pass(request)
        elif route.delay_ms and len(self._waiting) < WAITING:
            mark = object()
            loop = asyncio.get_running_loop()
            self._waiting[mark] = loop.call_later(
                route.delay_ms / 1000, self._delayed, mark, request, route
            )
        else:
            self._begin(request, route)

    def _delayed(self, mark: object, request: PausedRequest[K], route: Route) -> None:
        del self._waiting[mark]
        self._begin(request, route)

    def _begin(self, request: PausedRequest[K], route: Route) -> None:
        needs_file = route.body_path or route.har or route.folder
        if not needs_file or len(self._waiting) >= WAITING:
            self._answer(request, route, b"")
            return
        mark = object()
        reading = self._read(request, route)
        task = asyncio.get_running_loop().create_task(reading, name=f"answer by {route.id}")
        self._waiting[mark] = task
        task.add_done_callback(lambda _: self._waiting.pop(mark, None))

    async def _read(self, request: PausedRequest[K], route: Route) -> None:
        """Answer with a file's contents, which are read in a thread."""
        if route.har is not None:
            found = await asyncio.to_thread(recorded_answer, route.har, request.method, request.url)
            if found is not None:
                self.fulfil(request, *found)
            elif route.abort is None:
                self._pass(request)
            else:
                self.fail(request, route.abort)
            return
        if route.folder is not None:
            asked = request.method, request.url
            self.fulfil(request, *await asyncio.to_thread(folder_answer, route.folder, *asked))
            return
        body = b""
        if route.body_path is not None:
            try:
                body = await asyncio.to_thread(Path(route.body_path).read_bytes)
            except OSError as error:
                logger.warning("the body of rule %s is gone: %s", route.id, error)
                self.fail(request, "failed")
                return
        self._answer(request, route, body)

    def _answer(self, request: PausedRequest[K], route: Route, body: bytes) -> None:
        if route.abort is not None:
            self.fail(request, route.abort)
        elif route.status is not None:
            self.fulfil(request, route.status, _readable(route.headers, request), body)
        else:
            self._pass(request, route.request_headers, route.remove_headers)

    def _decide_preflight(self, request: PausedRequest[K], method: str) -> None:
        """Allow the cross-origin request that a rule will answer, as Playwright does."""
        route = self._route_for(request, preflight_of=method)
        if route is None or (route.status is None and route.har is None):
            self._pass(request)
            return
        allowed = [
            ("Access-Control-Allow-Origin", request.header("origin") or "*"),
            ("Access-Control-Allow-Methods", method),
            (
                "Access-Control-Allow-Headers",
                request.header("access-control-request-headers") or "*",
            ),
            ("Access-Control-Allow-Credentials", "true"),
            ("Vary", "Origin"),
        ]
        self.fulfil(request, 204, allowed, b"")

    def _route_for(
        self, request: PausedRequest[K], *, preflight_of: str | None = None
    ) -> Route | None:
        kind = request.kind if request.kind in KINDS else "other"
        for number in reversed(self._set.matching(request.url.partition("#")[0])):
            route = self._conditions.routes[number]
            if preflight_of is not None:
                if route.method in (None, preflight_of.upper()):
                    return route
            elif route.takes(request.method, kind):
                return route
        return None

    def _pass(
        self, request: PausedRequest[K], add: Sequence[Header] = (), remove: Sequence[str] = ()
    ) -> None:
        """Let the request go to the server, with the headers that are meant for this server."""
        added = [*headers_for(self._conditions, request.url), *add]
        password = self.password_for(request.url)
        if password is not None and request.header("authorization") is None:
            added.append(("Authorization", password))
        if not request.headers or not (added or remove):
            self.go_on(request, None)
            return
        gone = {name.lower() for name in remove} | {name.lower() for name, _ in added}
        kept = [one for one in request.headers if one[0].lower() not in gone]
        self.go_on(request, kept + added)

    def password_for(self, url: str) -> str | None:
        """Return the ``Authorization`` header for the server of that address, if one is known.

        The browsers' own authentication would do, but Firefox never forgets a password it has
        used, and shares it among the sessions of one jar."""
        found = credentials_for(self._conditions, url)
        return None if found is None else basic(found.username, found.password)

    def _named_origins(self) -> list[str]:
        """Return the origins that headers or passwords are limited to."""
        named = [one.origin for one in self._conditions.headers if one.origin != ANY_ORIGIN]
        return [*named, *(one.origin for one in self._conditions.credentials)]

    @abstractmethod
    def fail(self, request: PausedRequest[K], reason: str) -> None: ...

    @abstractmethod
    def fulfil(
        self, request: PausedRequest[K], status: int, headers: Sequence[Header], body: bytes
    ) -> None: ...

    @abstractmethod
    def go_on(self, request: PausedRequest[K], headers: Sequence[Header] | None) -> None:
        """Continue the request. None: with its own headers."""


def basic(username: str, password: str) -> str:
    """Return the ``Authorization`` header of the scheme "Basic"."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def _readable(headers: Sequence[Header], request: PausedRequest[K]) -> list[Header]:
    """Add headers to an answer that let a page of another origin read it, as Playwright does."""
    found = list(headers)
    origin = (request.header("origin") or "").strip()
    named = {name.lower() for name, _ in found}
    is_foreign = bool(origin) and origin.lower() != written_origin(request.url)
    if is_foreign and "access-control-allow-origin" not in named:
        found += [
            ("access-control-allow-origin", origin),
            ("access-control-allow-credentials", "true"),
            ("vary", "Origin"),
        ]
    return found
