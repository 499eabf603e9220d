"""Base classes of Claudezilla's tools: arguments, timeout, and entry in the list of tools."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from roost.frontends.mcp.claudezilla.desk import Desk, tab_of
from roost.frontends.mcp.toolset import Image

Category = Literal["core", "inspection", "devtools", "multiagent", "loop", "config", "diagnose"]
TIMEOUT_MS = (5_000, 150_000, 300_000)
"""Smallest, default and largest timeout. Others are cut to this range, as Claudezilla does."""


class ClaudezillaTool(BaseModel):
    """Base class of all tools. A subclass's docstring is the description that an agent reads."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid"
    )
    tool: ClassVar[str]
    title: ClassVar[str]
    category: ClassVar[Category]
    read_only: ClassVar[bool] = False
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    open_world: ClassVar[bool] = True
    is_data: ClassVar[bool] = False
    """No page and no other agent could have chosen a word of the answer. So the answer is not
    marked, and is also sent as ``structuredContent``. All other answers are marked, and sent as
    text only."""
    shown: ClassVar[frozenset[str]] = frozenset()
    """Arguments to list for this tool although other tools hide them."""
    timeout: float = Field(default=TIMEOUT_MS[1], description="ms")

    def seconds(self) -> float:
        return min(max(self.timeout, TIMEOUT_MS[0]), TIMEOUT_MS[2]) / 1000

    def only_reads(self) -> bool:
        """Return whether this call, with its arguments, changes nothing."""
        return self.read_only

    @abstractmethod
    async def run(self, desk: Desk) -> dict[str, Any]:
        """Perform the call and return the answer as JSON data."""

    def images(self, answer: dict[str, Any]) -> list[Image]:
        """Remove the images from the answer and return them."""
        return []


class TabTool(ClaudezillaTool):
    """A tool that works on one tab."""

    tab_id: int | str | None = Field(default=None, description="Default: your current tab")

    @property
    def tab(self) -> str | None:
        return tab_of(self.tab_id)
