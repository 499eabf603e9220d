"""Pages that send more than anybody can read: only their own call fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from roost import ops
from roost.core.addresses import ADDRESS_CHARS, CUT
from roost.errors import BadRequest, RoostError, TooLarge
from roost.testing.waits import started
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Web

DEEP = "let deep = []; for (let n = 0; n < {levels}; n++) deep = [deep];"
SHARED = "let shared = [1]; for (let n = 0; n < 17; n++) shared = [shared, shared];"
"""A value that is small in the page, and 400,000 values once it is written as JSON."""


@asynccontextmanager
async def undisturbed(house: House, web: Web) -> AsyncIterator[None]:
    """Run a call of another session meanwhile, and check that it is answered in the end."""
    async with house.agent(web) as neighbour:
        await neighbour.show("<p>Neighbour</p>")
        waits = await started(neighbour.call(ops.WaitFor(text="Arrived", timeout=20)))
        yield
        await neighbour.run("() => { document.body.textContent = 'Arrived' }")
        assert (await waits).tab


async def still_works(agent: Agent) -> None:
    assert await agent.run("() => 1 + 1") == 2


@pytest.mark.parametrize("levels", [520, 3000])
async def test_a_value_that_is_nested_too_deep_fails_its_own_call_alone(
    house: House, web: Web, levels: int
) -> None:
    deep = DEEP.format(levels=levels)
    async with house.guest(web) as agent, undisturbed(house, web):
        await agent.show("<p>Page</p>")
        for function in (f"() => {{ {deep} return deep }}", f"() => {{ {deep} throw deep }}"):
            with pytest.raises(RoostError):
                await agent.run(function)
            await still_works(agent)
        await agent.run(f"() => {{ {deep} console.log(deep) }}")
        await still_works(agent)


async def test_a_value_of_a_hundred_levels_is_read(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Page</p>")
        value = await agent.run(f"() => {{ {DEEP.format(levels=99)} return deep }}")
        levels = 0
        while value:
            (value,) = value
            levels += 1
        assert levels == 99


async def test_deep_values_that_a_page_returns_to_roost_do_no_harm(house: House, web: Web) -> None:
    page = f"<script>{DEEP.format(levels=700)} Object.entries = () => deep</script>Trap"
    async with house.agent(web) as agent, undisturbed(house, web):
        for _ in range(2):
            await agent.show(page)
            await agent.call(ops.StorageState(action="save"))
        await still_works(agent)


@pytest.mark.parametrize("value", ["Array(300000).fill([])", "Array(200000).fill(0)"])
async def test_a_value_of_very_many_parts_is_too_large_and_the_error_says_what_to_do(
    house: House, web: Web, value: str
) -> None:
    async with house.guest(web) as agent, undisturbed(house, web):
        await agent.show("<p>Page</p>")
        error = await refused(TooLarge, agent.run(f"() => {value}"))
        assert "part" in error.hint
        await still_works(agent)


async def test_a_value_with_shared_parts_counts_at_its_written_size(house: House, web: Web) -> None:
    async with house.guest(web) as agent, undisturbed(house, web):
        await agent.show("<p>Page</p>")
        await refused(TooLarge, agent.run(f"() => {{ {SHARED} return shared }}"))
        await refused(BadRequest, agent.run(f"() => {{ {SHARED} throw shared }}"))
        await agent.run(f"() => {{ {SHARED} console.log(shared) }}")
        await still_works(agent)


async def test_a_text_of_several_megabytes_is_too_large_only_above_its_limit(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Page</p>")
        assert len(await agent.run("() => ',['.repeat(1e6)")) == 2_000_000
        await refused(TooLarge, agent.run("() => 'a'.repeat(2e7)"))
        await still_works(agent)


async def test_a_page_with_an_address_of_megabytes_can_be_shown_and_left(
    house: House, web: Web
) -> None:
    async with house.agent(web) as agent, house.operator() as operator:
        await agent.show("<p>Page</p>")
        await agent.run("() => history.replaceState(0, '', '#' + 'a,'.repeat(4e5))")
        await still_works(agent)
        read = await agent.call(ops.Snapshot())
        assert len(read.url) == ADDRESS_CHARS + 1
        assert read.url.endswith(CUT)
        shown = (await operator.call(ops.Status())).model_dump_json()
        assert CUT in shown
        assert len(shown) < 1_000_000
        left = await agent.show("<p>Next</p>")
        assert CUT not in left.url


async def test_requests_with_long_queries_do_not_keep_the_broker_busy(
    house: House, web: Web
) -> None:
    async with house.agent(web) as agent, undisturbed(house, web):
        await agent.show("<p>Page</p>")
        await agent.run(
            "() => Promise.all(Array.from({length: 100}, () =>"
            " fetch('/q?' + 'a'.repeat(3980)).catch(() => 0)))",
        )
        logged = await agent.call(ops.NetworkRequests(filter="/q?", limit=500))
        assert logged.total >= 100


async def test_a_page_that_changes_its_address_endlessly_does_not_block_other_sessions(
    house: House, web: Web
) -> None:
    push = "for (let n = 0; n < 50; n++) history.pushState(0, '', '#' + Math.random())"
    async with house.agent(web) as agent, house.agent(web) as neighbour:
        await neighbour.show("<p>Neighbour</p>")
        await agent.show(f"<script>setInterval(() => {{ {push} }}, 1)</script>Page")
        for _ in range(5):
            await still_works(neighbour)
        await neighbour.show("<p>Next</p>")


async def test_a_function_that_throws_is_a_bad_request(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<p>Page</p>")
        await refused(BadRequest, agent.run("() => { throw new Error('no') }"))
