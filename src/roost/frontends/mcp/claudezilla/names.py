"""Claudezilla's tools as a ``Toolset``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from roost.api.broker import BrokerApi
from roost.api.operations import explained, nearest
from roost.errors import BadRequest, RoostError
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
from roost.frontends.mcp.toolset import Reply, Tool
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
_CALLED_HERE: Final = {
    "session_list": "firefox_diagnose",
    "browser_tabs": "firefox_get_tabs",
    "browser_snapshot": "firefox_get_accessibility_snapshot",
    "browser_find": "firefox_get_content",
    "tab_space_request": "firefox_request_tab_space",
    "tab_space_status{waitSeconds}": "firefox_get_slot_requests",
    "tab_space_grant": "firefox_grant_tab_space",
    "loop_stop": "firefox_stop_loop",
}
"""Roost's names of tools in hints, and what those tools are called here."""


class FirefoxNames:
    """The tools called ``names``, for one agent."""

    def __init__(self, names: Sequence[str]) -> None:
        self._rows = {name: _BY_NAME[name] for name in names}
        self._categories = {name: row.category for name, row in self._rows.items()}
        self._wishes = Wishes()
        self.tools: Sequence[Tool] = [_tool(row) for row in self._rows.values()]

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        try:
            return self._asked(name, arguments).only_reads()
        except BadRequest:
            return True  # it was refused before the restart, and is refused again

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        asked = self._asked(name, arguments)
        desk = Desk(api, self._categories, self._wishes, asked.seconds())
        try:
            answer = await asked.run(desk)
        except RoostError as error:
            raise error.retold(hint=_in_these_names(error.hint)) from None
        images = asked.images(answer)
        text = sendable(json.dumps(answer, ensure_ascii=False, default=str))
        notes = [f"Note: {note}" for note in desk.notes]
        if asked.is_data:
            return Reply("\n".join([text, *notes]), images, json.loads(text))
        return Reply("\n".join([marked([text]), *notes]), images)

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


def _in_these_names(hint: str) -> str:
    for name, called_here in _CALLED_HERE.items():
        hint = hint.replace(name, called_here)
    return hint


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
