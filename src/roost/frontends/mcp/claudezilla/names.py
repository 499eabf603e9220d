"""Claudezilla's tools as a ``Toolset``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

from pydantic import ValidationError

from roost.api.broker import BrokerApi
from roost.api.operations import explained, nearest
from roost.errors import BadRequest
from roost.frontends.mcp.claudezilla import (
    devtools,
    page_actions,
    page_readings,
    settings,
    tab_space,
    windows,
)
from roost.frontends.mcp.claudezilla.desk import Desk, Wishes
from roost.frontends.mcp.claudezilla.tool import ClaudezillaTool
from roost.frontends.mcp.schemas import tight_schema
from roost.frontends.mcp.toolset import ABOUT_ANSWERS, Reply, Tool
from roost.hints import LONGER_TIMEOUT, Hint, Spelling, spelled
from roost.wire.marks import marked, sendable

TOOLS: Final[tuple[type[ClaudezillaTool], ...]] = (
    settings.Activate,
    windows.CreateWindow, windows.Navigate,
    page_actions.Click, page_actions.Type, page_actions.PressKey, page_actions.Scroll,
    page_readings.Screenshot, page_readings.GetPageState, windows.GetTabs, windows.CloseTab,
    page_readings.GetContent, page_readings.GetElement,
    page_readings.WaitFor, page_readings.DiffPageState,
    devtools.GetConsole, devtools.GetNetwork, devtools.Evaluate,
    page_readings.GetAccessibilitySnapshot,
    tab_space.RequestTabSpace, tab_space.GrantTabSpace, tab_space.GetSlotRequests,
    tab_space.StartLoop, tab_space.StopLoop, tab_space.LoopStatus,
    settings.SetConfig, settings.SetViewport, settings.ResizeWindow, settings.SetPrivateMode,
    page_actions.HandleConsent, windows.CloseWindow,
    settings.Diagnose,
)  # fmt: skip
_BY_NAME: Final = {row.tool: row for row in TOOLS}
_HIDDEN: Final = frozenset({"timeout", "autoWait", "waitTimeout", "windowId", "left", "top"})
"""Arguments that are accepted but not listed, because they change nothing or are obvious."""
_ALL: Final = "all"
INSTRUCTIONS: Final = Hint(
    "A browser shared by several agents: your window has tabs and cookies of its own.\n"
    "Tools take tabId (default: your current tab) and a CSS selector for the element."
)
_STEPS: Final[Mapping[str, str]] = {
    "Close": "firefox_close_tab",
    "Find": "firefox_get_content",
    "GetContent": "firefox_get_content",
    "LoopStop": "firefox_stop_loop",
    "Navigate": "firefox_navigate",
    "NetworkRequests": "firefox_get_network",
    "SessionList": "firefox_diagnose",
    "Snapshot": "firefox_get_accessibility_snapshot",
    "TabSpaceGrant": "firefox_grant_tab_space",
    "TabSpaceRequest": "firefox_request_tab_space",
    "TabSpaceStatus waitSeconds=60": "firefox_get_slot_requests",
    "Tabs action=list": "firefox_get_tabs",
    "Tabs action=new": "firefox_create_window",
    "WaitFor": "firefox_wait_for",
}
"""The tool for each step of a hint that Claudezilla has a tool for."""


class FirefoxNames:
    """The tools called ``names``, for one agent."""

    def __init__(self, names: Sequence[str]) -> None:
        self._rows = {name: _BY_NAME[name] for name in names}
        self._categories = {name: row.category for name, row in self._rows.items()}
        self._wishes = Wishes()
        self.instructions = INSTRUCTIONS.spelled(self._spell) + ABOUT_ANSWERS
        self.tools: Sequence[Tool] = [_tool(row) for row in self._rows.values()]

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        try:
            return self._asked(name, arguments).only_reads()
        except BadRequest:
            return True  # it was refused before the restart, and is refused again

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        asked = self._asked(name, arguments)
        desk = Desk(api, self._categories, self._wishes, asked.seconds())
        answer = await asked.run(desk)
        images = asked.images(answer)
        text = sendable(json.dumps(answer, ensure_ascii=False, default=str))
        notes = [f"Note: {spelled(note, self._spell)}" for note in desk.notes]
        if asked.is_data:
            return Reply("\n".join([text, *notes]), images, json.loads(text))
        return Reply("\n".join([marked([text]), *notes]), images)

    def spelling(self, name: str) -> Spelling:
        return self._spell

    def _spell(self, named: str) -> str | None:
        if named == LONGER_TIMEOUT:
            return "timeout, in milliseconds"
        tool = _STEPS.get(named)
        return tool if tool in self._rows else None

    def _asked(self, name: str, arguments: Mapping[str, Any]) -> ClaudezillaTool:
        row = self._rows.get(name)
        if row is None:
            raise BadRequest(
                f"tool: there is no tool {name[:64]!r} here.",
                hint=f"{nearest(name, self._rows)}tools/list says what there is.",
                field="tool",
            )
        given = {key: value for key, value in arguments.items() if value is not None}
        try:
            return row.model_validate(given)
        except ValidationError as error:
            raise explained(row, name, error) from None


def firefox_names(asked: tuple[str, ...] = ()) -> FirefoxNames:
    """Return the tools asked for.

    ``asked``: ``all`` (the default), categories, or names of tools. Raise ``BadRequest`` for
        others.
    """
    categories = {row.category for row in TOOLS}
    for word in asked:
        if word not in {_ALL, *categories, *_BY_NAME}:
            raise BadRequest(
                f"tools: there is no tool {word[:64]!r}.",
                hint=f"{nearest(word, _BY_NAME)}Give all, categories or names of tools.",
                field="tools",
            )
    wanted = set(asked) or {_ALL}
    return FirefoxNames([row.tool for row in TOOLS if wanted & {_ALL, row.category, row.tool}])


@cache
def _tool(row: type[ClaudezillaTool]) -> Tool:
    return Tool(
        name=row.tool,
        title=row.title,
        description=" ".join((row.__doc__ or "").split()),
        input_schema=tight_schema(row, _HIDDEN - row.shown),
        output_schema={"type": "object"} if row.is_data else None,
        read_only=row.read_only,
        destructive=row.destructive,
        idempotent=row.idempotent,
        open_world=row.open_world,
    )
