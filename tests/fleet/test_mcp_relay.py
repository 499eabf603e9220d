"""``roost mcp --fleet``: an MCP client on another machine, with a user's token."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any

import pytest

from roost.errors import BadRequest, Unauthorized
from roost.fleet.config import fleet_folder
from roost.fleet.mcp_relay import TOKEN_FILE, TOKEN_VARIABLE, user_token
from roost.local.home import Home, write_secret
from tests.fleet.fleet_house import Fleet, bearer, fleet_of, wait_for
from tests.support.house import real_home

TOKEN = f"roost-user:ann:{'a' * 43}:{'b' * 43}"


def test_the_token_comes_from_the_environment_or_a_file_of_ours(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with pytest.raises(BadRequest, match="no user token") as caught:
        user_token(home, {})
    assert TOKEN_VARIABLE in caught.value.hint
    file = fleet_folder(home) / TOKEN_FILE
    write_secret(file, f"{TOKEN}\n".encode())
    assert user_token(home, {}) == TOKEN
    assert user_token(home, {TOKEN_VARIABLE: "other"}) == "other"
    file.chmod(0o644)
    with pytest.raises(Unauthorized, match="open to other users"):
        user_token(home, {})


async def started(fleet: Fleet, folder: Path, token: str, *options: str) -> Process:
    env = os.environ | {"ROOST_HOME": str(folder), TOKEN_VARIABLE: token}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "roost", "mcp", "--fleet", fleet.address, *options,
        stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, limit=1 << 24,
    )  # fmt: skip


async def asked(relay: Process, number: int, method: str, **params: Any) -> dict[str, Any]:
    assert relay.stdin is not None
    assert relay.stdout is not None
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    relay.stdin.write(json.dumps(message).encode() + b"\n")
    async with asyncio.timeout(35):
        while True:
            reply: dict[str, Any] = json.loads(await relay.stdout.readline())
            if reply.get("id") == number:
                return reply


@pytest.mark.slow
async def test_an_mcp_client_works_in_a_session_of_its_own_that_ends_with_it(
    tmp_path: Path,
) -> None:
    with real_home(tmp_path / "node") as node:
        async with fleet_of(tmp_path / "head", node) as fleet:
            ann = await fleet.user("ann")
            relay = await started(fleet, tmp_path / "laptop", ann)
            hello = await asked(
                relay, 1, "initialize", protocolVersion="2025-06-18", capabilities={},
                clientInfo={"name": "test", "version": "1"},
            )  # fmt: skip
            assert hello["result"]["serverInfo"]["name"] == "roost"
            tools = await asked(relay, 2, "tools/list")
            assert "browser_navigate" in {tool["name"] for tool in tools["result"]["tools"]}
            went = await asked(
                relay, 3, "tools/call", name="browser_tabs", arguments={"action": "list"}
            )
            assert not went["result"].get("isError"), went
            assert await _sessions(fleet, ann) == 1
            assert relay.stdin is not None
            relay.stdin.close()
            async with asyncio.timeout(20):
                assert await relay.wait() == 0
            await wait_for(lambda: _has_none(fleet, ann))
            wrong = await started(fleet, tmp_path / "laptop", ann.replace("ann:", "eve:"))
            refused = await asked(wrong, 1, "tools/list")
            assert refused["error"]["message"].startswith("UNAUTHORIZED")
            assert wrong.stdin is not None
            wrong.stdin.close()
            await wrong.wait()
            limited = await started(fleet, tmp_path / "laptop", ann, "--deny", "evil.example")
            _, said = await limited.communicate()
            assert limited.returncode == 1
            assert b"--deny" in said


async def _sessions(fleet: Fleet, token: str) -> int:
    found = await fleet.client.get(f"{fleet.address}/fleet/sessions", headers=bearer(token))
    return len(found.json()["sessions"])


async def _has_none(fleet: Fleet, token: str) -> bool:
    return await _sessions(fleet, token) == 0
