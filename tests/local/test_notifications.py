"""Desktop notifications over a real D-Bus (``roost.local.notifications`` and
``roost.broker.desktop``)."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jeepney import MessageType, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection

from roost import ops
from roost.broker.desktop import Desktop
from roost.broker.doors.caller import Caller
from roost.local import notifications
from roost.testing.house import fake_house
from roost.testing.waits import until
from roost.vocabulary import OPERATOR, QuestionAnswer

pytestmark = pytest.mark.skipif(shutil.which("dbus-daemon") is None, reason="no dbus-daemon here")


@pytest.fixture
def bus(tmp_path: Path) -> Iterator[str]:
    """A session bus of the test's own."""
    command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
    address = f"--address=unix:path={tmp_path / 'bus'}"
    with subprocess.Popen([*command, address], stdout=subprocess.PIPE) as daemon:
        assert daemon.stdout is not None
        yield daemon.stdout.readline().decode().strip()
        daemon.terminate()


@contextmanager
def notification_server(bus: str) -> Iterator[list[tuple[Any, ...]]]:
    """A desktop's notification server. Yields what it was told to show."""
    shown: list[tuple[Any, ...]] = []
    is_ready = threading.Event()

    def serve() -> None:
        with open_dbus_connection(bus) as connection:
            name = message_bus.RequestName("org.freedesktop.Notifications")
            connection.send_and_get_reply(name, timeout=30)
            is_ready.set()
            while True:
                message = connection.receive(timeout=30)
                if message.header.message_type is not MessageType.method_call:
                    continue
                shown.append(message.body)
                connection.send(new_method_return(message, "u", (1,)))
                if message.body[3] == "end":
                    return

    thread = threading.Thread(target=serve)
    thread.start()
    assert is_ready.wait(30)
    try:
        yield shown
    finally:
        notifications.notify(bus, "end", "")
        thread.join(30)


def test_a_notification_reaches_the_desktop_as_text(bus: str) -> None:
    with notification_server(bus) as shown:
        notifications.notify(bus, "Shopper asks for you", "“<b>Solve</b> it & go”")
    program, _, _, title, body, *_ = shown[0]
    assert (program, title) == ("Roost", "Shopper asks for you")
    assert body == "“&lt;b&gt;Solve&lt;/b&gt; it &amp; go”"


def test_a_missing_bus_or_notification_server_is_an_error(bus: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="shows no notification"):
        notifications.notify(bus, "title", "body")
    with pytest.raises(OSError, match="No such file"):
        notifications.notify(f"unix:path={tmp_path / 'nothing'}", "title", "body")
    with pytest.raises(OSError, match="shows no notification"):
        notifications.notify("nonsense", "title", "body")


def test_the_bus_is_found_by_the_environment_or_the_users_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/somewhere")
    assert notifications.session_bus() == "unix:path=/somewhere"
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS")
    monkeypatch.setattr(Path, "is_socket", lambda path: True)
    found = notifications.session_bus()
    assert found is not None
    assert found.startswith("unix:path=/run/user/")
    monkeypatch.setattr(Path, "is_socket", lambda path: False)
    assert notifications.session_bus() is None


def _are(shown: list[tuple[Any, ...]], number: int) -> bool:
    return len(shown) == number


async def test_the_desktop_shows_each_question_once(bus: str, tmp_path: Path) -> None:
    with notification_server(bus) as shown:
        async with fake_house(tmp_path / "home") as house:
            Desktop(house.broker, lambda: bus)
            agent, operator = house.admit().api, Caller(house.broker, OPERATOR)
            session = (await agent.call(ops.SessionOpen())).id
            for number in (1, 2):
                asked = ops.Handoff(session=session, reason=f"Captcha {number}", wait_seconds=0)
                await agent.call(asked)
                await agent.call(asked)  # goes on waiting for the same question
                await until(partial(_are, shown, number))
                done = ops.SessionAnswer(session=session, answer=QuestionAnswer.DONE)
                await operator.call(done)
                await agent.call(asked)  # takes the answer
            assert [f"Captcha {n}" in told[4] for n, told in enumerate(shown, 1)] == [True, True]
            Desktop(house.broker, lambda: None)  # nobody is logged in: nothing happens
            await agent.call(ops.Handoff(session=session, reason="Again", wait_seconds=0))
