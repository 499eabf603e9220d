"""What the house uses (``roost.broker.work.house_work``, ``roost.drivers.chromium.usage``)."""

from __future__ import annotations

from pathlib import Path

from roost import ops
from roost.broker.work.house_work import UsageMemory, house
from roost.drivers.base import TabUsage
from roost.drivers.fake import FakeDriver
from roost.errors import TabGone
from roost.testing.house import fake_house
from roost.vocabulary import OPERATOR, TabHandle


async def test_sessions_show_what_their_pages_use_since_the_last_look(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as made:
        used = {"seconds": 1.0}

        class Telling(type(made.driver)):  # type: ignore[misc]
            async def usage(self, tab: TabHandle) -> TabUsage:
                if used["seconds"] > 2:
                    raise TabGone("It closed meanwhile.")
                return TabUsage(1000, used["seconds"])

        made.driver.__class__ = Telling
        assert isinstance(made.driver, FakeDriver)
        await made.admit().api.call(ops.Navigate(url="https://site.test/"))
        (session,) = made.broker.state.sessions
        memory = UsageMemory()
        (first,) = (await house(made.broker, memory)).sessions
        assert (first.session, first.memory_bytes, first.processor) == (session, 1000, None)
        used["seconds"] = 1.5
        memory.read_at -= 100  # a second look much later
        (second,) = (await house(made.broker, memory)).sessions
        assert second.processor is not None
        assert 0 < second.processor <= 0.005
        used["seconds"] = 3
        assert (await house(made.broker, memory)).sessions == []


async def test_a_browser_that_cannot_tell_has_no_figures_for_sessions(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as made:
        await made.admit().api.call(ops.Navigate(url="https://site.test/"))
        assert (await house(made.broker, UsageMemory())).sessions == []
        assert made.broker.seen_at.get(OPERATOR) is None
