"""An agent does nine tasks on real applications, and the applications have the results.

The applications come from PyPI, npm and Debian, into folders below ``.venv/applications``. A task
whose application cannot be installed fails and says why.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from bench.mcp_client import roost_command, server
from bench.site import browser_home
from bench.tasks.agent import Agent
from bench.tasks.catalogue import TASKS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get("ROOST_SOAK"), reason="only make soak has the time"),
]
logger = logging.getLogger(__name__)
TASK_SECONDS = 1500
THINKING_SECONDS = 0.5
"""A model is slower. Editors store what was typed a moment later."""


@pytest.mark.timeout(TASK_SECONDS)
@pytest.mark.parametrize("way", ["calls", "batches"])
@pytest.mark.parametrize("browser", ["chromium", "firefox"])
@pytest.mark.parametrize("name", TASKS)
def test_an_agent_does_a_task_in_a_real_application(
    tmp_path: Path, name: str, browser: str, way: str
) -> None:
    task = TASKS[name]
    script = task.by_roost if way == "calls" else task.by_batches
    with (
        task.application(tmp_path) as application,
        browser_home(browser) as home,
        server(roost_command(), cwd=application.folder, ROOST_HOME=str(home.path)) as client,
    ):
        client.initialize()
        agent = Agent(client, THINKING_SECONDS)
        script(agent, application)
        task.check(application, agent)
        logger.info("%s, %s, %s: %d calls, %d bytes", name, browser, way, agent.calls, agent.bytes)
