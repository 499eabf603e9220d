"""Import ``server.py`` late and in a thread, because importing the SDK takes a second."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from threading import Thread
from typing import Any

SERVER = "roost.frontends.mcp.server"
SDK = ("mcp", "mcp_types")


class LazyServer:
    """The module ``server``, imported when it is first needed."""

    def __init__(self) -> None:
        self._module: asyncio.Future[Any] | None = None

    def begin(self) -> asyncio.Future[Any]:
        """Begin to import the module, if it is not imported yet, and return its future.

        An import may fail because the process has no descriptors at the moment. The next caller
        then tries again.
        """
        if self._module is None or (self._module.done() and self._module.exception() is not None):
            loop = asyncio.get_running_loop()
            self._module = loop.create_future()
            # Do not use the loop's executor: a stopping broker would wait for the import to end.
            Thread(target=_import, args=(loop, self._module), name="mcp sdk", daemon=True).start()
        return self._module

    async def module(self) -> Any:
        return await asyncio.shield(self.begin())


def _forget_sdk() -> None:
    """Remove what a failed import loaded of the SDK.

    Python removes only the module that failed, and a package that is imported again lacks the
    submodules that were loaded before.
    """
    for name in list(sys.modules):
        if name.partition(".")[0] in SDK:
            del sys.modules[name]


def _import(loop: asyncio.AbstractEventLoop, module: asyncio.Future[Any]) -> None:
    settle: Callable[[], None]
    try:
        found = import_module(SERVER)
        gc.freeze()  # the SDK stays loaded; ``daemon.main`` says why to freeze
    except Exception as error:  # pass any error on, or the callers would wait for ever
        why = error
        _forget_sdk()
        settle = lambda: module.set_exception(why)  # noqa: E731
    else:
        settle = lambda: module.set_result(found)  # noqa: E731
    with suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(settle)
