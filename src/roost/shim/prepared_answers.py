"""Answers to ``initialize`` and ``tools/list`` that need no broker.

A client waits for both before it shows a tool, and a broker that has to start first takes seconds.
``prepared_answers.json`` holds what the broker of this release would answer. ``make docs`` writes
the file, and a test compares it with the broker's own answers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Final

FILE: Final = os.path.join(os.path.dirname(__file__), "prepared_answers.json")
DEFAULT_NAMES: Final = "browser"


class PreparedAnswers:
    """The answers for one choice of tools.

    names: the set of names, as ``roost mcp --names`` takes it.
    tools: the tools to list, as ``roost mcp --tools`` takes them.
    """

    def __init__(self, names: str | None = None, tools: Sequence[str] = ()) -> None:
        self._names = names or DEFAULT_NAMES
        self._tools = tools

    def to(self, method: object, params: object) -> dict[str, Any] | None:
        """Return the result of this request, or None if only the broker can answer it."""
        asked = params if isinstance(params, dict) else {}
        if method == "initialize":
            return self._initialized(asked)
        if method == "tools/list" and not asked:
            return self._listed()
        return None

    def _initialized(self, params: dict[str, Any]) -> dict[str, Any] | None:
        prepared = _load()
        # Wrong tools are refused by the broker, which says which tools there are.
        if self._wanted(prepared) is None:
            return None
        asked, known = params.get("protocolVersion"), prepared["protocolVersions"]
        if not isinstance(asked, str):
            return None
        result: dict[str, Any] = prepared["initialize"]
        return {**result, "protocolVersion": asked if asked in known else known[-1]}

    def _listed(self) -> dict[str, Any] | None:
        prepared = _load()
        wanted = self._wanted(prepared)
        if wanted is None:
            return None
        tools = prepared["names"][self._names]["tools"]
        return {"tools": [tool for tool in tools if tool["name"] in wanted]}

    def _wanted(self, prepared: dict[str, Any]) -> set[str] | None:
        """Return the names of the tools to list, or None if one of them does not exist."""
        known = prepared["names"].get(self._names)
        if known is None:
            return None
        names, wanted = {tool["name"] for tool in known["tools"]}, set[str]()
        for word in self._tools or (known["default"],):
            if word in known["groups"]:
                wanted.update(known["groups"][word])
            elif word in names:
                wanted.add(word)
            else:
                return None
        return wanted


def _load() -> dict[str, Any]:
    # Read for each answer: every agent has a shim, and would hold 100 KiB for two requests.
    with open(FILE, "rb") as file:
        prepared: dict[str, Any] = json.load(file)
    return prepared
