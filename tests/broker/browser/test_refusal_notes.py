"""Agents hear once for each host that a policy's origins keep their pages from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from roost.api import operations as ops
from roost.broker.browser.refusal_notes import HOSTS_TOLD, refusal_notes
from roost.testing.house import fake_house


async def test_the_next_reply_names_the_rule_once_for_each_host(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        policy = 'origins = ["site.test"]'
        agent = house.admit(replace(house.hello(), policy=policy))
        await agent.api.call(ops.Navigate(url="https://site.test/"))
        session = house.state.agents[agent.agent].own_session
        refused = refusal_notes(session, lambda: house.state, house.broker.watchers.note)
        for told in (1, 0):
            refused("ignore-all-rules.example")
            notes = (await agent.api.call(ops.Tabs(action="list"))).notes or []
            assert len(notes) == told
            assert not any("ignore" in note for note in notes), "a page chose the host"
        for number in range(2 * HOSTS_TOLD):
            refused(f"{number}.example")
        (note,) = (await agent.api.call(ops.Tabs(action="list"))).notes or []
        assert "`origins` of" in note


async def test_a_session_with_domain_lists_of_its_own_is_told_nothing(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(replace(house.hello(), allow=("site.test",)))
        await agent.api.call(ops.Navigate(url="https://site.test/"))
        session = house.state.agents[agent.agent].own_session
        refusal_notes(session, lambda: house.state, house.broker.watchers.note)("other.test")
        assert (await agent.api.call(ops.Tabs(action="list"))).notes is None
