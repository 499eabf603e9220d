"""Agents at work survive random kills, stops, a full disk and a lack of descriptors.

``make soak`` plays 200 kills on each browser, ``make test`` a handful on Chromium.
``ROOST_SOAK_SEED`` replays the plan of a run that failed, ``ROOST_SOAK_KILLS`` shortens it.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.soak.campaign import Campaign
from tests.soak.fault_plan import Burst, Fault, Kind, bursts
from tests.soak.home_processes import Part
from tests.soak.own_disk import own_disk
from tests.soak.witness_site import witness_site

pytestmark = [pytest.mark.browser, pytest.mark.slow]
IS_LONG = bool(os.environ.get("ROOST_SOAK"))
SEED = int(os.environ.get("ROOST_SOAK_SEED", "13"))
KILLS = int(os.environ.get("ROOST_SOAK_KILLS", "200"))
AGENTS = 5
SHOWN = 5
LONG_SECONDS = 4 * 3600
SHORT_PLAN = (
    Burst(1, (Fault(Kind.KILL, Part.RENDERER, 0.0),)),
    Burst(2, (Fault(Kind.KILL, Part.SHIM, 0.0), Fault(Kind.KILL, Part.BROWSER, 0.2))),
    Burst(3, (Fault(Kind.STOP, Part.BROKER, 0.0, 0.5), Fault(Kind.KILL, Part.BROKER, 0.3))),
)


async def _played_by_seed(folder: Path, browser: str) -> None:
    with witness_site() as site, own_disk(folder / "home") as has_own_disk:
        campaign = Campaign(folder, browser, SEED, site)
        plan = bursts(SEED, browser, has_own_disk=has_own_disk)
        async with campaign.agents(AGENTS):
            while campaign.report.kills.total() < KILLS:
                await campaign.play(next(plan))
            await campaign.finish()
            await campaign.abandon()
    _judge(campaign)


async def _played_short(folder: Path) -> None:
    with witness_site() as site:
        campaign = Campaign(folder, "chromium", SEED, site)
        async with campaign.agents(2):
            for burst in SHORT_PLAN:
                await campaign.play(burst)
                # Before the broker dies: the next broker would give the dead agent more time.
                await campaign.outlive_the_dead()
            await campaign.finish()
    assert campaign.report.kills.total() == 4
    _judge(campaign)


def _judge(campaign: Campaign) -> None:
    report = campaign.report
    report.note(f"seed {SEED}: {report.summary()}\n{report.digest()}")
    told = "\n".join(str(violation) for violation in report.violations[:SHOWN])
    assert not report.violations, (
        f"seed {SEED}: {report.summary()}\n{report.digest()}\n"
        f"The whole story is in {report.path}; the first violations:\n{told}"
    )


@pytest.mark.timeout(120)
@pytest.mark.skipif(IS_LONG, reason="the long campaign has it all")
def test_agents_survive_a_handful_of_kills(tmp_path: Path) -> None:
    asyncio.run(_played_short(tmp_path))


@pytest.mark.timeout(LONG_SECONDS)
@pytest.mark.skipif(not IS_LONG, reason="only make soak has the time")
@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_agents_survive_a_campaign_of_random_faults(tmp_path: Path, browser: str) -> None:
    asyncio.run(_played_by_seed(tmp_path, browser))
