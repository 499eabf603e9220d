"""One call's way to the broker: one deadline for all it asks, and tabs by Claudezilla's numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from roost.api import operations as ops
from roost.api.broker import BrokerApi
from roost.api.operations import Answers
from roost.api.views import View
from roost.errors import BadRequest

R = TypeVar("R", bound=View)
WINDOW = 1
"""A session is what Claudezilla calls its window, and an agent sees one."""


@dataclass(slots=True)
class Wishes:
    """What an agent has set for the calls to come."""

    handle_consent: bool = False


@dataclass(slots=True)
class Desk:
    """Made for one call; ``seconds`` are all it has."""

    api: BrokerApi
    tools: Mapping[str, str]
    """All there are, with their categories."""
    wishes: Wishes
    seconds: float
    notes: list[str] = field(default_factory=list)
    """What the broker wants the agent to know whatever it asked."""
    _ends_at: float = 0.0

    def __post_init__(self) -> None:
        self._ends_at = asyncio.get_running_loop().time() + self.seconds

    async def ask(self, operation: Answers[R]) -> R:
        left = self._ends_at - asyncio.get_running_loop().time()
        view = await self.api.call(operation, timeout=max(left, 0.001))
        self.notes += view.notes or ()
        return view

    async def run(self, tab: str | None, function: str, target: str | None = None) -> Any:
        """The value of one of our own scripts in the page."""
        return (await self.ask(ops.Evaluate(tab=tab, function=function, target=target))).value

    async def my_id(self) -> str:
        """The caller's own id, cut as ids are."""
        return (await self.ask(ops.Status())).agents[0].id

    async def is_private(self) -> bool:
        """Whether the caller's cookies are its own, and not the browser's."""
        return (await self.ask(ops.SessionShow())).jar != "shared"


def tab_of(number: int | str | None) -> str | None:
    """Our name of a tab: they are numbers here, ``t1`` elsewhere, and both are understood."""
    if number is None:
        return None
    digits = str(number).removeprefix("t")
    if not digits.isdecimal() or len(digits) > 18:
        raise BadRequest(
            "tabId: expected the number of a tab.",
            hint="firefox_get_tabs lists your tabs.",
            field="tabId",
        )
    return f"t{int(digits)}"


def number_of(tab: str | None) -> int | None:
    return None if tab is None else int(tab[1:])


def pool_of(shown: str | None) -> dict[str, int]:
    """``tabCount`` and ``maxTabs`` of ``3/12``; no limit is 0."""
    count, _, most = (shown or "0/0").partition("/")
    return {"tabCount": int(count), "maxTabs": int(most) if most.isdecimal() else 0}
