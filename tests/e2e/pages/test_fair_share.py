"""The pool of a real browser: no session keeps all slots while another session waits."""

from __future__ import annotations

import pytest

from roost import ops
from roost.errors import PoolFull
from tests.support.agent import refused
from tests.support.house import house_of
from tests.support.local_web import Web


@pytest.mark.slow
async def test_one_agent_with_all_tabs_gives_way_to_another(web: Web) -> None:
    page = web.page("<input id=i>")
    with house_of("chromium", pool=4) as house:
        async with house.agent(web) as hoarder, house.agent(web) as other:
            opened = [
                (await hoarder.call(ops.Tabs(action="new", url=page))).opened for _ in range(4)
            ]
            error = await refused(PoolFull, other.call(ops.Tabs(action="new", url=page)))
            assert error.details["fairShare"] == 2
            assert error.details["shareEnforcedAfterMs"] == 10_000
            await other.call(ops.TabSpaceRequest())
            status = await other.call(ops.TabSpaceStatus(wait_seconds=25))
            assert status.you_have_reservation
            assert (await other.call(ops.Tabs(action="new", url=page))).opened
            shown = {tab.tab: tab.state for tab in (await hoarder.tabs()).tabs}
            assert [tab for tab, state in shown.items() if state == "parked"] == opened[:1]
            # Used again, the parked tab is there again, in place of another of the same agent.
            back = await hoarder.call(ops.Evaluate(function="() => location.href", tab=opened[0]))
            assert (back.tab, back.value) == (opened[0], page)
