from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from roost.broker.clock import SystemClock


async def test_time_goes_on_and_never_back() -> None:
    clock = SystemClock()
    times = [clock.now() for _ in range(100)]
    assert times == sorted(times)


async def test_a_due_callback_runs_in_a_later_turn_of_the_loop() -> None:
    clock = SystemClock()
    called = asyncio.Event()
    clock.call_at(clock.now() - 10, called.set)
    assert not called.is_set()
    async with asyncio.timeout(5):
        await called.wait()


async def test_a_cancelled_timer_does_not_call_back() -> None:
    clock = SystemClock()
    called: list[str] = []
    clock.call_at(clock.now(), lambda: called.append("cancelled")).cancel()
    clock.call_at(clock.now(), lambda: called.append("kept"))
    async with asyncio.timeout(5):
        await clock.wait(0.001)
    assert called == ["kept"]


async def test_input_that_arrived_before_a_deadline_is_handled_before_it(tmp_path: Path) -> None:
    """A loop that was held up has connections waiting: they come before the timer that is due."""
    heard: list[str] = []

    class Hears(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            heard.append(data.decode())

    loop, path = asyncio.get_running_loop(), str(tmp_path / "socket")
    server = await loop.create_unix_server(Hears, path)
    passed = asyncio.Event()
    clock = SystemClock()
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(path)
        peer.send(b"hello")
        clock.call_at(clock.now(), lambda: (heard.append("deadline"), passed.set()))  # type: ignore[func-returns-value, arg-type]
        async with asyncio.timeout(5):
            await passed.wait()
    server.close()
    assert heard == ["hello", "deadline"]
