"""What Roost's replies show of hostile pages: a corpus, and the expected text of each reply.

The pages in ``hostile`` follow published attacks on agents with a browser (AgentDojo, DoomArena,
WASP, ClickFix, tab-nabbing). ``hostile/expected`` holds what a model reads after it opened the page
and did what the page wants. A change of what a model reads shows up here as a change of a file. To
accept the change, run the tests with ``ROOST_WRITE_EXPECTED=1`` and read the diff.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from roost.errors import RoostError
from roost.frontends.mcp.browser_names import browser_names
from roost.frontends.mcp.replies import refusal
from roost.frontends.mcp.server import result_of
from tests.support.agent import Agent
from tests.support.house import House
from tests.support.local_web import Web

FOLDER = Path(__file__).parent / "hostile"
EXPECTED = FOLDER / "expected"
PAGES = sorted(path.stem for path in FOLDER.glob("*.html"))
TOOLS = browser_names(("all",))
TABS = ("browser_tabs", {"action": "list"})
WANTED: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "look_alike_dialog": [("browser_click", {"target": "text=Allow always"})],
    "clipboard_trap": [("browser_click", {"target": "text=Copy"})],
    "drag_trap": [("browser_drag", {"startTarget": "#piece", "endTarget": "#goal"})],
    "tab_nabbing": [("browser_click", {"target": "text=Read more"}), TABS],
    "misleading_names": [("browser_find", {"text": "bank"})],
    "title_flood": [TABS],
    "invisible_form": [("browser_type", {"target": "[name=name]", "text": "Ada"})],
}
"""What the page wants the agent to do."""


async def reply(agent: Agent, tool: str, arguments: dict[str, Any]) -> str:
    """Return what a model reads, without what differs from run to run."""
    try:
        answer = await TOOLS.call(agent.client, tool, arguments)
    except RoostError as error:
        answer = refusal(error)
    text = "\n".join(part.text for part in result_of(answer).content if part.type == "text")
    text = re.sub(r"(page-content(?: untrusted)? id=)[0-9a-f]{6,}>", r"\1N>", text)
    text = text.replace(agent.session, "SESSION").replace(str(agent.web.port), "PORT")
    # The session's first test opens the tab. Refs and tabs are counted through all tests.
    text = text.replace("Opened tab t", "Tab t")
    text = re.sub(r"\b(f\d+)?e\d+\b", "eN", text)
    return re.sub(r"\bt\d+\b", "tN", text)


@pytest.mark.parametrize("name", PAGES)
async def test_what_a_model_reads_of_a_hostile_page(house: House, web: Web, name: str) -> None:
    body = (FOLDER / f"{name}.html").read_text(encoding="utf-8")
    url = web.serve(body.encode(), path=f"/hostile/{name}.html")
    async with house.guest(web) as agent:
        shown = [await reply(agent, "browser_navigate", {"url": url})]
        shown.append(await reply(agent, "browser_snapshot", {}))
        shown.append(await reply(agent, "browser_get_content", {"format": "markdown"}))
        for tool, arguments in WANTED.get(name, []):
            shown.append(await reply(agent, tool, arguments))
    text = "\n=====\n".join(shown) + "\n"
    check_marked(text)
    own = EXPECTED / f"{name}.{house.browser}.txt"
    both = EXPECTED / f"{name}.txt"
    path = own if own.exists() else both
    if os.environ.get("ROOST_WRITE_EXPECTED"):
        path = both if not both.exists() or both.read_text(encoding="utf-8") == text else own
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def check_marked(text: str) -> None:
    """Nothing that a page wrote stands outside of the marks, and no page closes a mark."""
    opened = text.count("<page-content untrusted id=N>")
    assert opened == text.count("</page-content id=N>")
    outside = re.sub(
        r"<page-content untrusted id=N>\n.*?\n</page-content id=N>", "", text, flags=re.DOTALL
    )
    for words in ("attacker", "SYSTEM", "approved", "Confirm transfer", "send the cookies"):
        assert words not in outside
