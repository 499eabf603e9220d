"""Tools for a page's console, its requests, and scripts in it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from roost.api import operations as ops
from roost.api.page_operations import ConsoleLevel
from roost.frontends.mcp.claudezilla.desk import Desk, number_of
from roost.frontends.mcp.claudezilla.tool import TabTool

STATUSES: dict[str, Literal["pending", "ok", "failed"]] = {
    "pending": "pending",
    "completed": "ok",
    "error": "failed",
}
REQUESTS_KEPT = 500


class GetConsole(TabTool):
    """The page's console since it was opened."""

    tool = "firefox_get_console"
    title = "Read the console"
    category = "devtools"
    read_only = True
    level: ConsoleLevel | None = None
    clear: bool = False
    limit: int = Field(default=100, ge=1, le=500)

    def only_reads(self) -> bool:
        return not self.clear

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(
            ops.ConsoleMessages(tab=self.tab, level=self.level, limit=self.limit, clear=self.clear)
        )
        logs = [
            {"level": one.level, "message": one.text, "url": one.url, "line": one.line}
            for one in view.messages
        ]
        return {
            "logs": logs,
            "total": view.total,
            "filtered": len(logs),
            "captureEnabled": True,
        }


class GetNetwork(TabTool):
    """Requests the tab made since it was opened, secrets removed."""

    tool = "firefox_get_network"
    title = "List network requests"
    category = "devtools"
    read_only = True
    type: str | None = Field(default=None, max_length=64, description="script, image, fetch …")
    status: Literal["pending", "completed", "error"] | None = None
    clear: bool = False
    limit: int = Field(default=50, ge=1, le=REQUESTS_KEPT)
    include_headers: bool = False

    def only_reads(self) -> bool:
        return not self.clear

    async def run(self, desk: Desk) -> dict[str, Any]:
        view = await desk.ask(
            ops.NetworkRequests(
                tab=self.tab,
                status=None if self.status is None else STATUSES[self.status],
                limit=REQUESTS_KEPT,
                clear=self.clear,
            )
        )
        asked = [one for one in view.requests if self.type in (None, one.kind)]
        requests = [
            {
                "requestId": one.index,
                "url": one.url,
                "method": one.method,
                "type": one.kind,
                "tabId": number_of(view.tab),
                "status": "error" if one.error else "completed" if one.status else "pending",
                "statusCode": one.status,
                "duration": one.duration_ms,
                "error": one.error,
            }
            for one in asked[-self.limit :]
        ]
        return {"requests": requests, "total": view.total, "filtered": len(asked)}


class Evaluate(TabTool):
    """The value of a JavaScript expression in the page; promises are waited for."""

    tool = "firefox_evaluate"
    title = "Run JavaScript"
    category = "devtools"
    expression: str = Field(max_length=10_000)

    async def run(self, desk: Desk) -> dict[str, Any]:
        function = (
            "async () => { const value = await (\n"
            f"{self.expression}\n"
            "); return { value, type: typeof value }; }"
        )
        found = await desk.run(self.tab, function)
        return {
            "expression": self.expression,
            "result": found.get("value"),
            "type": found.get("type"),
        }
