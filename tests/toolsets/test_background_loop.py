from __future__ import annotations

import asyncio
import threading

import pytest

from roost.toolsets import background_loop


async def _where() -> tuple[int, asyncio.AbstractEventLoop]:
    return threading.get_ident(), asyncio.get_running_loop()


def test_all_callers_share_one_loop_in_another_thread() -> None:
    thread, loop = background_loop.run(_where())
    assert thread != threading.get_ident()
    assert background_loop.run(_where()) == (thread, loop)


def test_the_caller_gets_the_error_of_the_work() -> None:
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        background_loop.run(fails())
