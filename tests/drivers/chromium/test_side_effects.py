"""After input, a call waits for the tab or the download that the page asked for."""

from __future__ import annotations

import pytest

from roost.drivers.chromium import side_effects
from roost.drivers.chromium.side_effects import SideEffects
from roost.testing.waits import answer_of, started


async def test_a_tab_that_a_click_asked_for_is_waited_for_until_it_opens() -> None:
    effects = SideEffects()
    await answer_of(effects.tab())  # nothing asked for a tab
    effects.tab_wanted()
    waiting = await started(effects.tab())
    assert effects.asks_for_tab
    assert not waiting.done()
    effects.tab_came()

    await answer_of(waiting)
    assert not effects.asks_for_tab


async def test_a_download_that_begins_ends_the_wait_for_it() -> None:
    effects = SideEffects()
    effects.may_download = True
    waiting = await started(effects.download())
    assert not waiting.done()
    effects.download_began()

    await answer_of(waiting)
    assert not effects.may_download


async def test_a_tab_that_never_opens_is_not_waited_for_any_longer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(side_effects, "SOON_SECONDS", 0.01)
    effects = SideEffects()
    effects.tab_wanted()

    await answer_of(effects.tab())
    await answer_of(effects.tab())  # the next action does not wait for the same tab again
