"""Checks that are run twice: on a Chromium of their own, and on a session of a shared one.

A check does something with Playwright and returns what it saw. The two answers must be equal; a
difference is a failure, or has its place in ``DECIDED`` with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from local_web import Web
from playwright.sync_api import Browser, BrowserContext, Page


@dataclass(slots=True)
class Place:
    """Where a check is played: a browser, and in it a context and a page of its own."""

    browser: Browser
    context: BrowserContext
    page: Page
    web: Web
    folder: Path

    def show(self, body: str, **more: Any) -> str:
        """Go to a new document with that body; its address."""
        url = self.web.page(body, **more)
        self.page.goto(url)
        return url


Check = Callable[[Place], Any]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    name = function.__name__
    assert name not in CHECKS, name
    CHECKS[name] = function
    return function


_NUMBERED = re.compile(r"(http://(?:127\.0\.0\.1|localhost):)\d+/\d+")


def comparable(value: Any) -> Any:
    """Without what differs from run to run: ports and numbered pages."""
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
    """The first line of what it fails with, without what differs from run to run."""
    try:
        call()
    except Exception as error:  # whatever it is, it must be the same in both places
        line = str(error).splitlines()[0]
        return f"{type(error).__name__}: {comparable(line)}"
    return "no failure"


SESSION = "parity"


def checks_of(module: ModuleType) -> list[str]:
    return [name for name, check in CHECKS.items() if check.__module__ == module.__name__]


def played(name: str, browser: Browser, web: Web, folder: Path) -> Any:
    """What the check saw in that browser."""
    context = browser.new_context()
    try:
        context.set_default_timeout(10_000)
        place = Place(browser, context, context.new_page(), web, folder)
        return comparable(CHECKS[name](place))
    finally:
        context.close()
