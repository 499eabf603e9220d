"""Write ``src/roost/shim/prepared_answers.json`` from the MCP server: ``make docs``.

``--check`` writes nothing and fails if the file is out of date.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roost.frontends.mcp import server
from roost.frontends.mcp.browser_names import ALL, CORE, browser_names
from roost.frontends.mcp.claudezilla.names import TOOLS
from roost.frontends.mcp.conversation import toolset_for
from roost.shim.prepared_answers import FILE

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Versions of MCP that begin with ``initialize``, oldest first."""


def main(arguments: list[str]) -> int:
    path, text = Path(FILE), asyncio.run(prepared())
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return 0
    if "--check" in arguments:
        sys.stderr.write(f"Not up to date: {path.name}. Run `make docs`.\n")
        return 1
    path.write_text(text, encoding="utf-8")
    return 0


async def prepared() -> str:
    """Return the file's text: one line for each tool, so that changes are easy to read."""
    initialize, _ = await live_answers()
    del initialize["protocolVersion"]
    browser = {word: [t.name for t in browser_names((word,)).tools] for word in (CORE, ALL)}
    categories = sorted({row.category for row in TOOLS})
    firefox: dict[str, list[str]] = {
        one: [row.tool for row in TOOLS if row.category == one] for one in categories
    }
    firefox[ALL] = [row.tool for row in TOOLS]
    names = []
    for name, default, groups in (("browser", CORE, browser), ("firefox", ALL, firefox)):
        _, listed = await live_answers(name, (ALL,))
        tools = ",\n".join(_line(tool) for tool in listed["tools"])
        head = f'"default": {_line(default)},\n"groups": {_line(groups)}'
        names.append(f'"{name}": {{\n{head},\n"tools": [\n{tools}\n]}}')
    said = f'"initialize": {_line(initialize)},\n"protocolVersions": {_line(VERSIONS)}'
    return "\n".join(["{", f"{said},", '"names": {', ",\n".join(names), "}}", ""])


async def live_answers(
    names: str | None = None, tools: Sequence[str] = (), version: str = VERSIONS[-1]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the MCP server's own results of ``initialize`` and ``tools/list``."""
    about = {"protocolVersion": version, "capabilities": {}}
    about["clientInfo"] = {"name": "generator", "version": "1"}
    said: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    said.put_nowait({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about})
    said.put_nowait({"jsonrpc": "2.0", "method": "notifications/initialized"})
    said.put_nowait({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    results: dict[int, dict[str, Any]] = {}

    def answered(message: dict[str, Any]) -> None:
        results[message["id"]] = message["result"]
        if len(results) == 2:
            said.put_nowait(None)

    guest = server.Guest(None, toolset_for(names, tuple(tools)))  # type: ignore[arg-type]
    await server.serve_stream(lambda _: guest, said.get, answered, lambda _: None)
    return results[1], results[2]


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
