"""Real Claude Code and Codex: sub-agents that are told nothing about sessions never meet.

Claude Code has the plugin in both ways that the documents name: by ``roost install``, where the
tools are the server's (``mcp__roost__…``), and from a clone as a marketplace, where the plugin
brings the server (``mcp__plugin_roost_roost__…``).
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from roost import ops
from roost.api.views import SessionView, StatusView
from tests.e2e.clients.model_server import MEET, Model, Step, Turn, scripted_model
from tests.e2e.clients.real_clients import CLAUDE, CODEX, RealClient
from tests.e2e.clients.test_real_clients import SECONDS, Desk, until_agents_are
from tests.support.house import House, house_of
from tests.support.local_web import Web, local_web

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(180)]
ROOST = f"{sys.executable} -P -m roost"
CLONE = Path(__file__).parents[3]
JAR = "() => 'the jar holds ' + document.cookie"


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with house_of("chromium") as made:
        made.start()
        yield made


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    with local_web() as served:
        yield served


def by_tools(url: str, who: str) -> list[Turn]:
    """Open the page, tell what the jar holds, set a cookie, and tell it again."""
    return [
        ("browser_navigate", {"url": url}),
        ("browser_evaluate", {"function": JAR}),
        ("browser_evaluate", {"function": f"() => document.cookie = 'who={who}'"}),
        MEET,
        ("browser_evaluate", {"function": JAR}),
    ]


def by_commands(url: str, who: str) -> list[Turn]:
    """Do the same by page verbs in a shell. The commands differ, as Roost tells them apart by that
    if both run at once."""
    jar = f"() => 'the jar holds ' + document.cookie /* {who} */"

    def shell(line: str) -> Step:
        return "Bash", {"command": f"{ROOST} {line}", "description": "Use the browser"}

    return [
        shell(f"open '{url}#{who}'"),
        shell(f'eval "{jar}"'),
        shell(f"eval \"() => document.cookie = 'who={who}'\""),
        MEET,
        shell(f'eval "{jar}"'),
    ]


def spawned(client: RealClient, *words: str) -> list[Step]:
    if client.word == "codex":
        return [("spawn_agent", {"message": word}) for word in words]
    kind = "general-purpose"
    return [
        ("Agent", {"description": word, "prompt": word, "subagent_type": kind}) for word in words
    ]


def desk_for(client: RealClient, folder: Path, house: House, model: Model) -> Desk:
    desk = Desk(client, folder, house, model)
    if client is FROM_MARKETPLACE:
        # The plugin's server and hooks are named ``roost``.
        desk.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{desk.environ['PATH']}"
        for words in (["marketplace", "add", str(CLONE)], ["install", "roost@roost"]):
            command = [str(client.path), "plugin", *words]
            subprocess.run(command, env=desk.environ, check=True, timeout=SECONDS)
    else:
        desk.install(*(["--plugin"] if client.word == "claude" else client.install))
    desk.configure(model)
    return desk


async def until(house: House, holds: Callable[[StatusView], bool]) -> StatusView:
    async with asyncio.timeout(SECONDS), house.operator() as operator:
        while True:
            found = await operator.call(ops.Status())
            if holds(found):
                return found


def families(status: StatusView) -> tuple[list[SessionView], list[SessionView]]:
    """Return the sessions of main conversations, and those of sub-agents."""
    main = [row for row in status.sessions if row.parent is None and row.kept_seconds is None]
    return main, [row for row in status.sessions if row.parent is not None]


WITH_AGENTS = replace(CLAUDE, arguments=("--allowedTools", "mcp__roost,Agent,Bash", "-p"))
FROM_MARKETPLACE = replace(
    CLAUDE, arguments=("--allowedTools", "mcp__plugin_roost_roost,Agent,Bash", "-p")
)


@pytest.mark.parametrize(
    ("client", "steps"),
    [
        (WITH_AGENTS, by_tools),
        (WITH_AGENTS, by_commands),
        (FROM_MARKETPLACE, by_tools),
        (CODEX, by_tools),
    ],
    ids=["claude", "claude by commands", "claude from a marketplace", "codex"],
)
def test_two_sub_agents_and_the_main_conversation_share_no_tabs(
    client: RealClient,
    steps: Callable[[str, str], Sequence[Turn]],
    house: House,
    web: Web,
    tmp_path: Path,
) -> None:
    url = web.page("<h1>Shop</h1>")
    set_cookie = [turn for turn in by_tools(url, "main") if turn is not MEET]
    main = [*set_cookie, spawned(client, "SUB-ONE", "SUB-TWO")]
    scripts = {word: steps(url, word) for word in ("SUB-ONE", "SUB-TWO")}
    with scripted_model(main, scripts=scripts) as model:
        model.holds.clear()
        desk = desk_for(client, tmp_path, house, model)
        with desk.started() as process:
            for word in scripts:
                other = next(one for one in scripts if one != word)
                ended = partial(has_ended, model, word, client)
                asyncio.run(until(house, ended))
                told = model.results(word)
                assert told.count("the jar holds who=main") == 1, "it began with the parent's jar"
                assert f"the jar holds who={word}" in told, told
                assert f"holds who={other}" not in told, "it met the other one"
            assert not model.unknown
            if client is FROM_MARKETPLACE:
                assert all("mcp__plugin_roost_roost__" in name for name in model.tools())
            # Claude Code reports the end of a sub-agent, Codex does not.
            tabs = 1 if client.word == "codex" else 0
            found = asyncio.run(
                until(house, lambda now: [len(r.tabs) for r in families(now)[1]] == [tabs, tabs])
            )
            (parent,), children = families(found)
            assert {row.parent for row in children} == {parent.id}
            assert len({row.color for row in (parent, *children)}) == 3
            assert all(row.name.startswith(f"{parent.name} › ") for row in children)
            assert len(parent.tabs) == 1
            assert cookie_of(house, parent.id) == "main"

            if client.word == "codex":
                process.kill()
            else:
                model.holds.set()
                process.communicate(timeout=SECONDS)
    left = asyncio.run(until_agents_are(house, 0))
    assert families(left)[1] == []
    assert [row.id for row in left.sessions if row.tabs] == []


@pytest.mark.parametrize("client", [WITH_AGENTS, CODEX], ids=["claude", "codex"])
def test_a_client_that_is_killed_while_its_sub_agents_work_leaves_nothing(
    client: RealClient, house: House, web: Web, tmp_path: Path
) -> None:
    url = web.page("<h1>Shop</h1>")
    words = ("SUB-ONE", "SUB-TWO")
    never: Step = ("browser_wait_for", {"text": "It never comes", "timeout": 25})
    scripts: dict[str, list[Turn]] = {
        word: [("browser_navigate", {"url": f"{url}#{word}"}), never] for word in words
    }
    main: list[Turn] = [("browser_navigate", {"url": url}), spawned(client, *words)]
    with scripted_model(main, scripts=scripts) as model:
        model.holds.clear()
        desk = desk_for(client, tmp_path, house, model)
        with desk.started() as process:
            found = asyncio.run(until(house, lambda now: addresses(now) >= {*words}))
            assert len(families(found)[1]) == 2
            assert len([row for row in found.sessions if row.tabs]) == 3
            process.kill()
            left = asyncio.run(until_agents_are(house, 0))
    assert families(left)[1] == []
    assert [row.id for row in left.sessions if row.tabs] == []


def addresses(status: StatusView) -> set[str]:
    """Return the fragments of the addresses that tabs of sub-agents show."""
    return {tab.url.partition("#")[2] for row in families(status)[1] for tab in row.tabs}


def has_ended(model: Model, word: str, client: RealClient, status: StatusView) -> bool:
    """Return whether the sub-agent has read the result of its last call."""
    done = sum(turn is not MEET for turn in model.scripts[word])
    said = "function_call_output" if client.word == "codex" else '"tool_result"'
    return model.results(word).count(said) >= done


def cookie_of(house: House, session: str) -> str | None:
    async def ask() -> str | None:
        async with house.operator() as operator:
            view = await operator.call(ops.Cookies(session=session, action="get", name="who"))
            return view.cookies[0].value

    return asyncio.run(ask())
