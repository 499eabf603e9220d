"""The fake browser: jars with cookies, pages with an address, and a little JavaScript.

The browser outlives its driver, as a real browser outlives a broker. Pass the same ``FakeBrowser``
to a second ``FakeDriver``, and that driver finds the tabs of the first.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from roost.conditions import NO_CONDITIONS, Conditions
from roost.drivers.base import BLANK, SHARED_JAR, ConditionsOf, Report
from roost.drivers.events import (
    DriverEvent,
    TabClosed,
    TabNavigated,
    TabOpened,
)
from roost.errors import BadRequest, NotFound, RoostError, TabGone
from roost.vocabulary import TabHandle
from roost.wire.globs import GlobSet, parse

MAX_REDIRECTS = 20
USER_AGENT = "Fake/1"
_TITLE = re.compile(r"<title>([^<]*)</title>")


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeResponse:
    """The fake web's response to a request."""

    title: str = ""
    status: int = 200
    redirect: str | None = None
    stalls: bool = False
    """The server accepts the request and never responds."""


Web = Callable[[str], FakeResponse]
"""Returns the response for an address, or raises ``NotFound`` if no server has that address."""


def any_page(url: str) -> FakeResponse:
    """Respond to every address with a page titled by the address's host and path."""
    parts = urlsplit(url)
    return FakeResponse(title=f"{parts.hostname or ''}{parts.path}")


@dataclass(slots=True)
class FakePage:
    """One tab. ``ended`` gets the error that the tab's running calls must raise."""

    handle: TabHandle
    jar: str
    url: str = BLANK
    title: str = ""
    crashed: bool = False
    conditions: Conditions = NO_CONDITIONS
    ended: asyncio.Future[RoostError] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def end(self, error: RoostError) -> None:
        if not self.ended.done():
            self.ended.set_result(error)


class FakeBrowser:
    """The state of one browser that exists only in memory. ``web``: answers its requests."""

    def __init__(self, web: Web = any_page) -> None:
        self.web = web
        self.pages: dict[TabHandle, FakePage] = {}
        self.jars: dict[str, dict[str, dict[str, str]]] = {SHARED_JAR: {}}
        self.storage: dict[str, dict[str, dict[str, str]]] = {}
        """The localStorage: jar → origin → items."""
        self.front: TabHandle | None = None
        """The tab that the person sees, once a driver brought one to the front."""
        self.jar_conditions: dict[str, Conditions] = {}
        self.conditions_of: ConditionsOf = lambda _: NO_CONDITIONS
        self.report: Report | None = None
        self.is_running = False
        self._numbers = count(1)

    # --- actions of persons and pages, for tests and for page scripts ----------------------------

    def open_page(self, jar: str, *, opener: TabHandle | None = None, url: str = BLANK) -> FakePage:
        """Open and report a page that no driver opened: a popup, or a tab of the person."""
        page = self.new_page(jar)
        page.url = url
        self._say(TabOpened(handle=page.handle, opener=opener, jar=jar, url=url))
        page.conditions = self.conditions_of(page.handle)
        self._fill(page, url)
        return page

    def _fill(self, page: FakePage, url: str) -> None:
        with contextlib.suppress(NotFound):  # the page keeps the address, without a document
            address, answer = self._answer(page, url)
            if not answer.stalls:
                self._commit(page, address, answer.title)

    def close_page(self, handle: TabHandle) -> None:
        page = self.pages.pop(handle, None)
        if page is not None:
            page.end(TabGone("The tab was closed."))
            self._say(TabClosed(handle))

    def new_page(self, jar: str) -> FakePage:
        page = FakePage(TabHandle(f"page-{next(self._numbers)}"), jar)
        self.pages[page.handle] = page
        return page

    def new_jar(self) -> str:
        jar = f"jar-{next(self._numbers)}"
        self.jars[jar] = {}
        return jar

    async def load(self, page: FakePage, url: str) -> int | None:
        """Navigate the page to the address, follow redirects, and return the HTTP status."""
        address, answer = self._answer(page, url)
        if answer.stalls:
            await asyncio.get_running_loop().create_future()
        self._commit(page, address, answer.title)
        return None if address.startswith("about:") else answer.status

    def _answer(self, page: FakePage, url: str) -> tuple[str, FakeResponse]:
        """Follow redirects and return the final address with its response."""
        for _ in range(MAX_REDIRECTS):
            answer = FakeResponse() if url.startswith("about:") else self._respond(page, url)
            if answer.redirect is None:
                return url, answer
            url = urljoin(url, answer.redirect)
        raise NotFound(
            "The page redirects without end.", reason="too many redirects", page_said=url
        )

    def _respond(self, page: FakePage, url: str) -> FakeResponse:
        """Return what the page's conditions make of the request for a document."""
        conditions = page.conditions
        globs = GlobSet([parse(route.url) for route in conditions.routes])
        matching = [conditions.routes[number] for number in globs.matching(url)]
        rule = next((one for one in reversed(matching) if one.takes("GET", "document")), None)
        if rule is not None and rule.abort is not None:
            raise NotFound(f"{url} cannot be reached.", reason=rule.abort)
        if rule is not None and rule.status is not None:
            try:
                body = b"" if rule.body_path is None else Path(rule.body_path).read_bytes()
            except OSError:
                raise NotFound(f"{url} cannot be reached.", reason="failed") from None
            title = _TITLE.search(body.decode())
            return FakeResponse(title="" if title is None else title[1], status=rule.status)
        if conditions.offline:
            raise NotFound(f"{url} cannot be reached.", reason="offline")
        return self.web(url)

    def _commit(self, page: FakePage, url: str, title: str) -> None:
        page.url, page.title = url, title
        self._say(TabNavigated(page.handle, url, title))

    # --- JavaScript ------------------------------------------------------------------------------

    async def run(self, page: FakePage, function: str) -> Any:
        """Run ``() => expression``. Only JSON literals and ``_EXPRESSIONS`` are supported."""
        body = _ARROW.fullmatch(function.strip())
        if body is None:
            raise BadRequest(
                "function: the fake browser knows only `() => expression`.", field="function"
            )
        expression = body.group(1).strip()
        for pattern, run in _EXPRESSIONS:
            found = pattern.fullmatch(expression)
            if found is not None:
                return await run(self, page, *found.groups())
        try:
            return _literal(expression)
        except ValueError:
            raise BadRequest(
                "The function failed.",
                field="function",
                page_said=f"SyntaxError: the fake browser cannot run {expression[:80]!r}.",
            ) from None

    def cookies(self, page: FakePage) -> dict[str, str]:
        return self.jars[page.jar].setdefault(urlsplit(page.url).netloc, {})

    def stored(self, page: FakePage) -> dict[str, str]:
        return self.storage.setdefault(page.jar, {}).setdefault(page.origin, {})

    def _say(self, event: DriverEvent) -> None:
        if self.report is not None:
            self.report(event)


def _literal(expression: str) -> Any:
    """Parse a JSON value. An object needs parentheses, or JavaScript would read a block."""
    if expression.startswith("(") and expression.endswith(")"):
        expression = expression[1:-1]
    elif expression.startswith("{"):
        raise ValueError("a block")
    # NaN and the infinities have no JSON value, so browsers return null for them.
    return json.loads(expression, parse_constant=lambda _: None)


async def _title(browser: FakeBrowser, page: FakePage) -> Any:
    return page.title


async def _location(browser: FakeBrowser, page: FakePage) -> Any:
    return page.url


async def _browser_name(browser: FakeBrowser, page: FakePage) -> Any:
    return page.conditions.emulation.user_agent or USER_AGENT


async def _read_cookie(browser: FakeBrowser, page: FakePage) -> Any:
    return "; ".join(f"{name}={value}" for name, value in browser.cookies(page).items())


async def _write_cookie(browser: FakeBrowser, page: FakePage, pair: str) -> Any:
    name, _, value = json.loads(pair).partition(";")[0].partition("=")
    browser.cookies(page)[name] = value
    return json.loads(pair)


async def _read_storage(browser: FakeBrowser, page: FakePage) -> Any:
    return [[name, value] for name, value in browser.stored(page).items()]


async def _write_storage(browser: FakeBrowser, page: FakePage, name: str, value: str) -> Any:
    browser.stored(page)[json.loads(name)] = json.loads(value)


async def _window_open(browser: FakeBrowser, page: FakePage, url: str) -> Any:
    address = urljoin(page.url, json.loads(url))
    browser.open_page(page.jar, opener=page.handle, url=address)
    return None


async def _undefined(browser: FakeBrowser, page: FakePage) -> Any:
    return None


async def _never(browser: FakeBrowser, page: FakePage) -> Any:
    await asyncio.get_running_loop().create_future()


async def _throw(browser: FakeBrowser, page: FakePage, message: str) -> Any:
    raise BadRequest(
        "The function threw an exception.",
        field="function",
        page_said=f"Error: {json.loads(message)}",
    )


_ARROW = re.compile(r"(?:async\s+)?\(\)\s*=>\s*(.*)", re.DOTALL)
_STRING = r"(\"(?:[^\"\\]|\\.)*\")"
_EXPRESSIONS: list[tuple[re.Pattern[str], Callable[..., Any]]] = [
    (re.compile(r"undefined|\{\s*\}"), _undefined),
    (re.compile(r"document\.title"), _title),
    (re.compile(r"location\.href"), _location),
    (re.compile(r"navigator\.userAgent"), _browser_name),
    (re.compile(r"document\.cookie"), _read_cookie),
    (re.compile(rf"document\.cookie = {_STRING}"), _write_cookie),
    (re.compile(r"Object\.entries\(localStorage\)"), _read_storage),
    (re.compile(rf"localStorage\.setItem\({_STRING}, {_STRING}\)"), _write_storage),
    (re.compile(rf"\{{ window\.open\({_STRING}\) \}}"), _window_open),
    (re.compile(r"new Promise\(\(\) => \{\}\)"), _never),
    (re.compile(rf"\{{ throw new Error\({_STRING}\) \}}"), _throw),
]
