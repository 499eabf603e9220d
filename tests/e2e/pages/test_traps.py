"""Pages that try to keep their tab: the tab can always navigate and close, and others notice
nothing."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from roost import ops
from roost.errors import DialogOpen, TabCrashed, TabGone, Timeout
from tests.support.agent import WAIT_SECONDS, Agent, refused
from tests.support.house import House, children_of
from tests.support.local_web import Answer, Request, Web

SPIN = "for (;;);"
TRAPS = {
    "spins": f"setInterval(() => {{ {SPIN} }})",
    "spins and leaves": f"setTimeout(() => {{ location = NEVER; {SPIN} }})",
    "waits for the network": "setTimeout(() => { r = new XMLHttpRequest(); r.open('GET', NEVER, 0);"
    " r.send() })",
    "alerts": "setTimeout(() => { for (;;) alert('Again') })",
    "alerts at intervals": "setInterval(() => confirm('Again'))",
    "spins when asked": f"onbeforeunload = () => {{ {SPIN} }}",
    "spins when left": f"onpagehide = onunload = () => {{ {SPIN} }}",
}
HOLDS_AT_ONCE = ("spins", "spins and leaves", "alerts")
LOOKS = 50


async def _until_it_holds(agent: Agent, tab: str) -> None:
    for _ in range(LOOKS):
        try:
            await agent.call(ops.Evaluate(function="() => 1", tab=tab), timeout=0.5)
        except (Timeout, DialogOpen):
            return
    raise AssertionError("the page still answers")


async def _caught_in(agent: Agent, web: Web, trap: str) -> str:
    """Open a tab whose page blocks it, and return the tab's id."""
    never = web.serve(Answer(b"late", held=threading.Event()))
    tab = await agent.open(web.page("<p>Trap<input>"))
    await agent.call(ops.Click(target="input", tab=tab, snapshot="none"))
    script = TRAPS[trap].replace("NEVER", f"'{never}'")
    with suppress(DialogOpen, Timeout):  # it may hold its tab before that is answered
        await agent.call(ops.Evaluate(function=f"() => {{ {script} }}", tab=tab), timeout=2)
    if trap in HOLDS_AT_ONCE:
        await _until_it_holds(agent, tab)
    return tab


@pytest.mark.timeout(120)
async def test_a_tab_can_leave_a_page_that_blocks_its_thread(house: House, web: Web) -> None:
    free = web.page("<p>Free", title="Free")

    async def leave(trap: str) -> tuple[str, str]:
        """Use a session of its own, because Firefox has one process for all pages of a site in a
        jar."""
        async with house.agent(web) as agent:
            tab = await _caught_in(agent, web, trap)
            left = await agent.call(ops.Navigate(url=free, tab=tab), timeout=60)
            assert "Free" in await agent.snapshot(tab=tab)
            return left.url, left.title

    async with house.agent(web) as other:
        await other.show("Other")
        left = await asyncio.gather(*map(leave, TRAPS), return_exceptions=True)
        assert dict(zip(TRAPS, left, strict=True)) == dict.fromkeys(TRAPS, (free, "Free"))
        assert await other.run("() => document.body.textContent") == "Other"


ALERTS = "for (;;) alert('Again')"
ALERTS_WHEN_LEFT = {
    "when left": f"onpagehide = () => {{ {ALERTS} }}",
    "when asked and when left": f"onbeforeunload = onpagehide = () => {{ {ALERTS} }}",
}


@pytest.mark.parametrize("trap", ALERTS_WHEN_LEFT.values(), ids=ALERTS_WHEN_LEFT)
async def test_a_tab_can_leave_a_page_that_alerts_endlessly_on_unload(
    house: House, web: Web, trap: str
) -> None:
    free = web.page("<p>Free", title="Free")
    async with house.agent(web) as agent:
        await agent.show(f"<p>Trap<script>{trap}</script>")
        left = await agent.go(free)
        assert (left.url, left.title) == (free, "Free")
        assert "Free" in await agent.snapshot()


HOLDS_LATE = {
    "spins": SPIN,
    "asks": "for (;;) confirm('Again')",
    "waits for the network": "r.open('GET', NEVER, false); r.send()",
}


@pytest.mark.parametrize("hold", HOLDS_LATE.values(), ids=HOLDS_LATE)
async def test_a_tab_can_leave_a_page_that_blocks_its_thread_during_navigation(
    house: House, web: Web, hold: str
) -> None:
    """Nothing shows beforehand that the page will do this."""
    is_left, is_held = threading.Event(), threading.Event()

    def tell(request: Request) -> Answer:
        if is_left.is_set():
            is_held.set()
        return Answer(b"hold" if is_left.is_set() else b"")

    def free(request: Request) -> Answer:
        is_left.set()
        is_held.wait(WAIT_SECONDS)
        return Answer(b"<title>Free</title><p>Free")

    never = web.serve(Answer(b"late", held=threading.Event()))
    script = (
        f"setInterval(() => {{ const r = new XMLHttpRequest(); r.open('GET', '{web.serve(tell)}', "
        f"false); r.send(); if (r.responseText) {{ {hold.replace('NEVER', repr(never))} }} }}, 20)"
    )
    async with house.agent(web) as agent:
        await agent.show(f"<p>Trap<script>{script}</script>")
        left = await agent.go(web.serve(free))
        assert left.title == "Free"
        assert is_held.is_set()
        assert "Free" in await agent.snapshot()


async def test_a_tab_whose_page_blocks_its_thread_can_be_closed(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        for trap in ("spins", "alerts"):
            tab = await _caught_in(agent, web, trap)
            await agent.call(ops.Close(tab=tab))
            other = await agent.open(web.page("<p>Other"))
            assert "Other" in await agent.snapshot(tab=other)
            await refused(TabGone, agent.call(ops.Snapshot(tab=tab)))


async def test_a_tab_can_leave_a_page_that_crashes_while_loading(
    own_house: House, web: Web
) -> None:
    browser = await own_house.browser_pid()

    def crash(request: Request) -> Answer:
        for pid in _page_processes(browser):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return Answer(b"", held=threading.Event())

    script = web.serve(crash)
    async with own_house.agent(web) as agent:
        crashing = web.there(web.page(f"<p>Crashes<script src='{script}'></script>"))
        await refused(TabCrashed, agent.go(crashing))
        free = web.page("<p>Free", title="Free")
        try:
            left = await agent.go(free)
        except TabCrashed:
            # The kill also hit the process of the page before. If the new page's process was
            # reported first, the report about the other one arrives during this navigation.
            left = await agent.go(free)
        assert left.title == "Free"
        assert "Free" in await agent.snapshot()


def _page_processes(browser: int) -> list[int]:
    found = []
    for pid in children_of(browser):
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"--type=renderer" in command or command.endswith(b"tab\0"):
                found.append(pid)
    return found


async def test_a_huge_title_is_cut(house: House, web: Web) -> None:
    async with house.agent(web) as agent:
        shown = await agent.show("<p>Page<script>document.title = 'T'.repeat(20e6)</script>")
        assert shown.title == "T" * len(shown.title)
        assert len(shown.title) <= 1000
        assert "Page" in await agent.snapshot()
        content = await agent.call(ops.GetContent())
        assert len(content.title) <= 1000
        assert (await agent.show("<p>Next", title="Next")).title == "Next"


async def test_a_new_tab_whose_page_never_loads_is_closed_again(house: House, web: Web) -> None:
    never = web.serve(Answer(b"late", held=threading.Event()))
    async with house.agent(web) as agent:
        first = await agent.show("<p>First")
        await refused(Timeout, agent.call(ops.Tabs(action="new", url=never), timeout=2))
        (row,) = (await agent.tabs()).tabs
        assert (row.tab, row.current) == (first.tab, True)
        assert "First" in await agent.snapshot()


async def test_endlessly_nested_frames_are_read_in_part(house: House, web: Web) -> None:
    nest = """() => { let inside = document;
        for (let deep = 0; inside && deep < 40; deep++) {
          const frame = inside.createElement("iframe");
          inside.body.append(`Level ${deep}`, frame);
          inside = frame.contentDocument;
        } }"""
    async with house.agent(web) as agent:
        await agent.show("<p>Frames")
        await agent.run(nest)
        read = await agent.call(ops.Snapshot())
        assert read.truncated
        assert "Level 0" in read.snapshot
        assert "Level 5" in read.snapshot
        assert "Level 30" not in read.snapshot


async def test_a_dialog_of_the_old_page_is_dismissed_and_one_of_the_new_page_reported(
    house: House, web: Web
) -> None:
    asks = web.page("<p>Next<script>onload = () => setTimeout(() => confirm('Next?'))</script>")
    async with house.agent(web) as agent:
        await agent.show("<button onclick=\"document.title = confirm('Sure?')\">Ask</button>")
        assert (await agent.click("button")).dialog is not None
        with suppress(DialogOpen):
            await agent.go(asks)
        error = await refused(DialogOpen, agent.wait(text="never there"))
        assert error.page_said == "Next?"
        await agent.answer(True)
        assert "Next" in await agent.snapshot()
