"""Checks that run twice: on a Chromium of their own, and on a session of a shared one.

A check does something with Playwright and returns what it saw. The two results must be equal. A
difference is a failure, unless ``DECIDED`` lists it with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page

from tests.support.local_web import Web


class Place:
    """Where a check runs: a browser, with a context and a page as soon as the check uses them."""

    def __init__(self, browser: Browser, web: Web, folder: Path) -> None:
        self.browser, self.web, self.folder = browser, web, folder

    @cached_property
    def context(self) -> BrowserContext:
        context = self.browser.new_context()
        context.set_default_timeout(10_000)
        return context

    @cached_property
    def page(self) -> Page:
        return self.context.new_page()

    def show(self, body: str, **more: Any) -> str:
        """Navigate to a new document with that body, and return its address."""
        url = self.web.page(body, **more)
        self.page.goto(url)
        return url

    def leave(self) -> None:
        if "context" in self.__dict__:
            self.context.close()


Check = Callable[[Place], Any]
CHECKS: dict[str, Check] = {}
PLAIN: set[str] = set()


def check(function: Check) -> Check:
    """Register a check that runs in a context of its own."""
    name = function.__name__
    assert name not in CHECKS, name
    CHECKS[name] = function
    return function


def plain_check(function: Check) -> Check:
    """Register a check that leaves nothing behind but a document. All of these run in one page,
    because a context is a window, which costs more than most checks."""
    PLAIN.add(function.__name__)
    return check(function)


_NUMBERED = re.compile(r"(http://(?:127\.0\.0\.1|localhost):)\d+/\d+")


def comparable(value: Any) -> Any:
    """Remove what differs from run to run: ports and numbered pages."""
    if isinstance(value, str):
        return _NUMBERED.sub(r"\1PORT/N", value)
    if isinstance(value, dict):
        return {comparable(key): comparable(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(one) for one in value]
    if isinstance(value, set | frozenset):
        return sorted(map(repr, map(comparable, value)))
    return value


def failure(call: Callable[[], Any]) -> str:
    """Return the first line of the error, without what differs from run to run."""
    try:
        call()
    except Exception as error:  # whatever it is, it must be the same in both places
        line = str(error).splitlines()[0]
        return f"{type(error).__name__}: {comparable(line)}"
    return "no failure"


SESSION = "parity"


def checks_of(module: ModuleType) -> list[str]:
    return [name for name, check in CHECKS.items() if check.__module__ == module.__name__]


class Stage:
    """One of the two browsers."""

    def __init__(self, browser: Browser, web: Web, folder: Path) -> None:
        self.browser, self._web, self._folder = browser, web, folder
        self._common: Place | None = None

    def played(self, name: str) -> Any:
        """Return what the check saw here."""
        if name in PLAIN:
            # Kept only once it is over: nobody knows what a check that failed leaves behind.
            place, self._common = self._common or self._place(), None
            seen = comparable(CHECKS[name](place))
            self._common = place
            return seen
        place = self._place()
        try:
            return comparable(CHECKS[name](place))
        finally:
            place.leave()

    def _place(self) -> Place:
        return Place(self.browser, self._web, self._folder)
