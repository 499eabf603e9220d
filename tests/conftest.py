"""Async tests without a plugin: each runs in a loop of its own, is bounded, and leaks nothing."""

from __future__ import annotations

import asyncio
import inspect
import re
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

# A busy machine is no failure: nobody asserts how long something took (docs/testing.md).
settings.register_profile("roost", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("roost")

pytest.register_assert_rewrite("roost.testing")

pytest_plugins = ["tests.support.second_try"]

ASYNC_TEST_SECONDS = 40.0
BROWSER_TEST_SECONDS = 55.0
"""Of which a browser's start, on a machine with other things to do, may take half. A test that is
marked with a longer timeout of its own may take most of that, on such a machine."""
OF_ITS_OWN = 0.8

TESTS = Path(__file__).parent
LONGEST_FIRST = [
    "e2e/pages/test_cross_talk.py",
    "e2e/extension/test_in_any_order.py",
    "drivers/extension/firefox/test_driver.py",
    "e2e/jars/test_leftovers.py",
    "e2e/cdp/test_parity_browser.py",
    "drivers/firefox/test_firefox.py",
    "frontends/cli/test_cli.py",
    "drivers/extension/test_chromium.py",
    "e2e/cdp/test_puppeteer_parity.py",
    "e2e/cdp/test_sharing.py",
    "e2e/test_faults.py",
    "drivers/chromium/test_chromium.py",
    "e2e/cdp/test_parity_pages.py",
]
"""Files that take longest, or whose house (see ``Together``) takes longest. They start first: if a
worker started one of them last, the other workers would wait for it."""


def pytest_configure() -> None:
    """In the background of a script, programs are started with Ctrl-C ignored, and would pass that
    on to all that is started and interrupted here."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files, then those with browsers, then what takes no time."""
    patient = {
        item.path
        for item in items
        if item.get_closest_marker("browser") or item.get_closest_marker("slow")
    }
    rank = {TESTS / name: place for place, name in enumerate(LONGEST_FIRST)}
    last = len(rank)
    items.sort(key=lambda item: rank.get(item.path, last + (item.path not in patient)))


class Together(LoadFileScheduling):  # type: ignore[misc]
    """Gives a worker one file at a time, or all tests that share a house, so that no other worker
    starts that house again."""

    def _split_scope(self, nodeid: str) -> str:
        folder = nodeid.rpartition("/")[0]
        if folder in ("tests/e2e/pages", "tests/e2e/jars"):
            if found := re.search(r"\[(chromium|firefox)\b", nodeid):
                return f"{folder} in {found[1]}"
        elif folder == "tests/e2e/extension":
            return "own firefox" if "own_firefox" in nodeid else "own chromium"
        return str(super()._split_scope(nodeid))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return Together(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def houses() -> Iterator[Callable[..., Any]]:
    """Two of each kind for all files: one that nobody hurts, and one that is there to be hurt.
    A parameter of pytest's would be ended with every file."""
    from tests.support.pages_house import House, house_of

    with ExitStack() as open_ones:

        @cache
        def of(browser: str, *, is_hurt: bool = False) -> House:
            house = open_ones.enter_context(house_of(browser))
            house.start()
            return house

        yield of


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    is_browser = pyfuncitem.get_closest_marker("browser") is not None
    own = pyfuncitem.get_closest_marker("timeout")
    seconds = BROWSER_TEST_SECONDS if is_browser else ASYNC_TEST_SECONDS
    if own is not None:
        seconds = max(seconds, own.args[0] * OF_ITS_OWN)
    asyncio.run(_bounded(pyfuncitem.obj(**arguments), seconds))
    _wait_for_imports(seconds)
    return True


def _wait_for_imports(seconds: float) -> None:
    """Python 3.11's ``ast`` takes two threads that build trees at once for an error of its own."""
    for thread in threading.enumerate():
        if thread.name == "mcp sdk":
            thread.join(seconds)


async def _bounded(test: Awaitable[None], seconds: float) -> None:
    """Run the test. What it leaves running, or lets fail unseen, fails it."""
    unseen: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: unseen.append(context))
    async with asyncio.timeout(seconds):
        await test
        # Transports and cancelled tasks need a turn or two to finish.
        for _ in range(10):
            over = loop.create_future()
            loop.call_soon(over.set_result, None)
            await over
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"still running: {left}"
    assert not unseen, f"failed unseen: {unseen}"
