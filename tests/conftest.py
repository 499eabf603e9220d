"""Settings for all tests: their order, their time limits, and shared houses.

An async test runs in a loop of its own, without a plugin. It has a time limit, and fails if it
leaves a task running or an error unhandled.
"""

from __future__ import annotations

import asyncio
import inspect
import os
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

# Tests must pass on a busy machine, so none asserts how long something took (docs/testing.md).
settings.register_profile("roost", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("roost")

pytest.register_assert_rewrite("roost.testing")

pytest_plugins = ["tests.support.real_sites", "tests.support.second_try"]

ASYNC_TEST_SECONDS = 40.0
BROWSER_TEST_SECONDS = 55.0
"""On a busy machine, starting the browser may take half of this."""
SHARE_OF_TIMEOUT = 0.8
"""A test marked with a longer timeout gets this share of that timeout, so that it ends with an
error of its own before pytest ends it."""

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

FAST = "not browser and not slow"
"""The tests that `make test-fast` selects."""
NO_FAST_TEST = re.compile(r"(?m)^pytestmark = .*\bpytest\.mark\.(browser|slow)\b")


def pytest_configure() -> None:
    _take_interrupts()
    # No test cuts the power. Brokers in this process would wait for the disk thousands of times.
    os.fsync = lambda fd: None


def _take_interrupts() -> None:
    """Handle Ctrl-C even if pytest was started with SIGINT ignored, as scripts start background
    programs. The processes that tests start and interrupt would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import files without fast tests for a run of the fast ones. Some import packages that
    take a second."""
    if config.getoption("markexpr") != FAST or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if NO_FAST_TEST.search(text) else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the longest files first, then tests with browsers, then the fast ones."""
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
    """Return a function that starts a house for a browser, or returns the one already started.

    ``is_hurt``: the house in which tests may kill processes. Tests must not damage the other one.
    A parametrized fixture would not do, because pytest ends it with every file.
    """
    from tests.support.house import House, house_of

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
        seconds = max(seconds, own.args[0] * SHARE_OF_TIMEOUT)
    asyncio.run(_bounded(pyfuncitem.obj(**arguments), seconds))
    _wait_for_imports(seconds)
    return True


def _wait_for_imports(seconds: float) -> None:
    """Wait until the thread that imports the MCP SDK has ended.

    Python 3.11's ``ast`` raises an error if two threads build trees at the same time.
    """
    for thread in threading.enumerate():
        if thread.name == "mcp sdk":
            thread.join(seconds)


async def _bounded(test: Awaitable[None], seconds: float) -> None:
    """Run the test. Fail it if it leaves a task running or an exception unhandled."""
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
