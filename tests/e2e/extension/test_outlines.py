"""Only the person sees the outline on pages that agents work in."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from roost import ops
from roost.errors import Unsupported
from tests.e2e.extension.own_house import OwnHouse
from tests.support.agent import Agent

pytestmark = pytest.mark.timeout(180)
BODY = "<h1>Outlined</h1><button id=b onclick='document.title = event.type'>Press</button>"
SAYS = """<script>
    const isOutlined = () => document.querySelector('[data-roost-mark]') !== null;
    const look = () => document.title = isOutlined() ? 'outlined' : 'bare';
    new MutationObserver(look).observe(document.documentElement, { childList: true });
</script>"""
SHOTS = [
    ops.TakeScreenshot(type="png"),
    ops.TakeScreenshot(type="png", full_page=True),
    ops.TakeScreenshot(type="png", target="#b"),
]
OUTLINES = "() => document.querySelectorAll('[data-roost-mark]').length"
LOOK = """() => {
    const [host] = document.querySelectorAll('[data-roost-mark]');
    const { scrollWidth, scrollHeight } = document.documentElement;
    const under = document.elementFromPoint(innerWidth - 12, innerHeight - 12);
    return {
        root: host?.shadowRoot ?? null, inside: host?.innerHTML ?? '', under: under.localName,
        text: document.documentElement.innerText.trim(), size: [scrollWidth, scrollHeight],
    };
}"""
SWITCH = "(isOn) => (globalThis.browser ?? chrome).storage.local.set({ mark: isOn })"
UNGROUP = """async (title) => {
    const api = globalThis.browser ?? chrome;
    const [tab] = await api.tabs.query({ title });
    await api.tabs.ungroup(tab.id);
    return tab.id;
}"""
CLOSE = "(id) => (globalThis.browser ?? chrome).tabs.remove(id)"


async def _until_outlined(agent: Agent, count: int) -> None:
    async with asyncio.timeout(20):
        while await agent.run(OUTLINES) != count:
            pass


async def _seen_by(agent: Agent) -> dict[str, Any]:
    """Return everything that an agent and its page can see."""
    pictures = [(await agent.call(shot)).data for shot in SHOTS]
    return {
        "pictures": pictures,
        "page": await agent.run(LOOK),
        "snapshot": await agent.snapshot(),
    }


async def test_only_the_person_sees_the_outline_and_can_switch_it_off(
    mine: OwnHouse,
) -> None:
    async with mine.agent("Outlined") as agent:
        page = await agent.show(BODY, title="Outlined")
        # Chromium's bar makes pages smaller, when it comes.
        with suppress(Unsupported):
            await agent.call(ops.Resize(width=600, height=400))
        await _until_outlined(agent, 1)
        # In this order: after a picture the outline stays away for a moment.
        outlined_seen, outlined = await mine.browser.sees(page.url), await _seen_by(agent)
        await mine.person(SWITCH, False)
        try:
            await _until_outlined(agent, 0)
            assert await _seen_by(agent) == outlined
            assert await mine.browser.sees(page.url) != outlined_seen
            await agent.show(BODY, title="Not outlined")
            assert await agent.run(OUTLINES) == 0
        finally:
            await mine.person(SWITCH, True)
        await _until_outlined(agent, 1)
    await mine.settle()


async def test_a_tab_that_leaves_the_group_loses_its_outline_and_a_new_page_gets_one(
    mine: OwnHouse,
) -> None:
    async with mine.agent("Outlined") as agent:
        await agent.show(BODY, title="First")
        await _until_outlined(agent, 1)
        await agent.show(SAYS, title="Second")
        await mine.strip_when(lambda strip: any(tab["title"] == "outlined" for tab in strip))
        left = await mine.person(UNGROUP, "outlined")
        await mine.strip_when(
            lambda strip: (left, "bare") in [(t["id"], t["title"]) for t in strip]
        )
        await mine.person(CLOSE, left)
