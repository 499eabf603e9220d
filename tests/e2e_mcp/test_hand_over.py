"""A person takes a session over (to log in, say) and hands it back; its agent waits and goes on."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mcp_clients import SECONDS, Client, client

from roost.local.home import Home
from roost.testing.real import real_home

pytestmark = pytest.mark.slow
URL = "https://site.test/"


async def person(home: Home, verb: str, session: str) -> None:
    """As typed into a terminal of the person's own."""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "roost", "session", verb, session],
        env={"PATH": os.environ["PATH"], "ROOST_HOME": os.fspath(home.path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr


async def session_of(agent: Client) -> str:
    return str((await agent.data("session_list"))["sessions"][0]["id"])


async def test_an_agent_is_told_that_a_person_has_its_session_and_goes_on_afterwards(
    tmp_path: Path,
) -> None:
    with real_home(tmp_path / "home") as home:
        async with client(home) as ada, client(home) as bob:
            await ada.text("browser_navigate", url=URL)
            await bob.text("browser_navigate", url=URL)
            session = await session_of(ada)
            await person(home, "pause", session)

            refusal = await ada.call("browser_navigate", url=URL + "next")
            told = refusal.structured_content
            assert told is not None
            assert (told["code"], told["session"]) == ("PAUSED", session)
            assert told["retryAfterMs"] > 0
            assert "session_list" in told["hint"]
            assert await ada.code("browser_tabs", action="new") == "PAUSED"
            await bob.text("browser_navigate", url=URL + "bob")  # nobody else notices

            waiting = asyncio.create_task(ada.data("session_list", waitSeconds=20))  # noqa: TID251
            assert (await bob.data("session_list"))["sessions"][0]["paused"] is False
            await person(home, "resume", session)
            sessions = (await waiting)["sessions"]
            assert [row["paused"] for row in sessions] == [False]
            await ada.text("browser_navigate", url=URL + "next")


async def test_waiting_for_the_person_ends_with_the_seconds_asked_for(tmp_path: Path) -> None:
    with real_home(tmp_path / "home") as home:
        async with client(home) as ada:
            await ada.text("browser_navigate", url=URL)
            session = await session_of(ada)
            await person(home, "pause", session)
            sessions = (await ada.data("session_list", waitSeconds=0.05))["sessions"]
            assert [row["paused"] for row in sessions] == [True]
