"""One call's access to the broker: one deadline for all its operations, and tabs by number."""

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
"""Window id in all answers. A session is what Claudezilla calls a window, and an agent sees one."""


@dataclass(slots=True)
class Wishes:
    """Settings that an agent has made for its later calls."""

    handle_consent: bool = False


@dataclass(slots=True)
class Desk:
    """Gives one call its access to the broker. ``seconds``: timeout of the whole call."""

    api: BrokerApi
    tools: Mapping[str, str]
    """All tools, each with its category."""
    wishes: Wishes
    seconds: float
    notes: list[str] = field(default_factory=list)
    """Notes of the broker for the agent, collected from all answers."""
    _ends_at: float = 0.0

    def __post_init__(self) -> None:
        self._ends_at = asyncio.get_running_loop().time() + self.seconds

    async def ask(self, operation: Answers[R]) -> R:
        left = self._ends_at - asyncio.get_running_loop().time()
        view = await self.api.call(operation, timeout=max(left, 0.001))
        self.notes += view.notes or ()
        return view

    async def run(self, tab: str | None, function: str, target: str | None = None) -> Any:
        """Run one of our own scripts in the page and return its value."""
        return (await self.ask(ops.Evaluate(tab=tab, function=function, target=target))).value

    async def my_id(self) -> str:
        """Return the caller's own agent id, shortened as in all views."""
        return (await self.ask(ops.Status())).agents[0].id

    async def is_private(self) -> bool:
        """Return whether the caller's session has cookies of its own, and not the browser's."""
        return (await self.ask(ops.SessionShow())).jar != "shared"


def tab_of(number: int | str | None) -> str | None:
    """Return Roost's id of a tab. Claudezilla uses numbers, Roost ``t1``; both are accepted."""
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
    """Return ``tabCount`` and ``maxTabs`` from text like ``3/12``. No limit is 0."""
    count, _, most = (shown or "0/0").partition("/")
    return {"tabCount": int(count), "maxTabs": int(most) if most.isdecimal() else 0}
