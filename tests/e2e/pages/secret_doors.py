"""Everything that each door of a Roost tells of one session, as bytes to be searched."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import websockets

from roost import ops
from tests.e2e.mcp.mcp_clients import client as mcp_client
from tests.support.agent import WAIT_SECONDS
from tests.support.house import House

READING: dict[str, dict[str, Any]] = {
    "browser_snapshot": {},
    "browser_find": {"text": "Password"},
    "browser_get_content": {"format": "html"},
    "browser_tabs": {"action": "list"},
    "browser_console_messages": {},
    "browser_network_requests": {},
    "browser_take_screenshot": {"annotate": True},
    "browser_downloads": {},
    "browser_cookies": {"action": "get", "name": "draft"},
    "session_list": {},
}
VERBS = (
    ("snapshot",), ("content", "--format", "html"), ("console",), ("requests",), ("tab", "list"),
    ("cookies", "get", "draft"), ("downloads",), ("get", "title"), ("get", "url"),
)  # fmt: skip


async def over_all_doors(house: House, session: str) -> dict[str, bytes]:
    """Return what MCP, HTTP, verbs, the dashboard and the list of DevTools targets say."""
    return {
        "MCP": await _over_mcp(house, session),
        "HTTP": await _over_http(house, session),
        "verbs": await asyncio.to_thread(_by_verbs, house, session),
        "dashboard": await _on_dashboard(house, session),
    }


async def _over_mcp(house: House, session: str) -> bytes:
    said = []
    async with mcp_client(house.home, "--session", session, "--tools", "all") as agent:
        for tool, arguments in READING.items():
            said.append((await agent.call(tool, **arguments)).model_dump_json())
    return "\n".join(said).encode()


async def _over_http(house: House, session: str) -> bytes:
    """Return the answers to the session's token: operations, and the targets for DevTools."""
    async with house.operator() as operator:
        token = (await operator.call(ops.SessionToken(session=session))).token
        address = (await operator.call(ops.Status())).broker.http
    said = b""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=address or "", timeout=WAIT_SECONDS) as client:
        for tool, arguments in READING.items():
            path = f"/session/{session}/tools/{tool}"
            said += (await client.post(path, json=arguments, headers=headers)).content
        said += (await client.get(f"/session/{session}/tabs", headers=headers)).content
        said += (await client.get(f"/cdp/{token}/json/list")).content
    return said


def _by_verbs(house: House, session: str) -> bytes:
    said = ""
    for words in VERBS:
        done = house.command("-s", session, *words, operator=False)
        said += done.stdout + done.stderr
    return said.encode()


async def _on_dashboard(house: House, session: str) -> bytes:
    """Return the wall, the feed, and what the dashboard shows of the session's tabs."""
    async with house.operator() as operator:
        opened = await operator.call(ops.DashboardOpen())
        tabs = (await operator.call(ops.SessionShow(session=session))).tabs
    address = opened.address.replace("http://", "ws://").rstrip("/").removesuffix("/dashboard")
    asked: list[dict[str, Any]] = [{"feed": {"session": session}}, {"house": True}]
    for tab in tabs:
        about = {"session": session, "tab": tab.tab}
        for op in ("browser_console_messages", "browser_network_requests"):
            asked.append({"op": op, "arguments": about})
    said = b""
    async with asyncio.timeout(WAIT_SECONDS):
        async with websockets.connect(f"{address}/dashboard/live", max_size=None) as socket:
            await socket.send(json.dumps({"code": opened.code}))
            for number, message in enumerate(asked):
                await socket.send(json.dumps({"id": number, **message}))
            answered: set[int] = set()
            has_wall = False
            while len(answered) < len(asked) or not has_wall:
                data = await socket.recv()
                said += data if isinstance(data, bytes) else data.encode()
                heard = json.loads(data)
                has_wall = has_wall or "wall" in heard
                answered |= {heard["id"]} if "id" in heard else set()
    return said
