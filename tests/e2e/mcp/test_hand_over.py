"""The person takes over a session and gives it back; its agent waits and continues."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from roost.local.home import Home
from tests.e2e.mcp.mcp_clients import SECONDS, Client, client, text_of
from tests.support.house import real_home

pytestmark = pytest.mark.slow
URL = "https://site.test/"


async def person(home: Home, verb: str, session: str) -> None:
    """Run a command as the person does in a terminal."""
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "roost", "--operator", "session", verb, session],
        env={"PATH": os.environ["PATH"], "ROOST_HOME": os.fspath(home.path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr


async def session_of(agent: Client) -> str:
    found = re.match(r"Session (\S+):", await agent.text("session_list"))
    assert found is not None
    return found[1]


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
            told, hint, details = text_of(refusal).splitlines()
            assert told == f"PAUSED: A person has taken over session {session}."
            assert json.loads(details)["retryAfterMs"] > 0
            assert "session_list" in hint
            assert await ada.code("browser_tabs", action="new") == "PAUSED"
            await bob.text("browser_navigate", url=URL + "bob")  # nobody else notices

            waiting = asyncio.create_task(ada.text("session_list", waitSeconds=20))  # noqa: TID251
            assert "paused" not in await bob.text("session_list")
            await person(home, "resume", session)
            assert "paused" not in await waiting
            await ada.text("browser_navigate", url=URL + "next")


async def test_waiting_for_the_person_ends_with_the_seconds_asked_for(tmp_path: Path) -> None:
    with real_home(tmp_path / "home") as home:
        async with client(home) as ada:
            await ada.text("browser_navigate", url=URL)
            session = await session_of(ada)
            await person(home, "pause", session)
            assert ", paused;" in await ada.text("session_list", waitSeconds=0.05)
