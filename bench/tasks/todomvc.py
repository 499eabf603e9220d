"""TodoMVC: add three items, rename one, finish one, delete one, look at the active ones."""

from __future__ import annotations

import functools
import http.server
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.site import serving
from bench.tasks.agent import Agent
from bench.tasks.applications import Application, from_npm

PACKAGES = ("todomvc@0.1.1",)
EXAMPLE = "examples/react"
STORAGE = "() => localStorage.getItem('react-todos')"


class _Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    modules = from_npm("todomvc", *PACKAGES)
    with serving(functools.partial(_Files, directory=str(modules / "todomvc"))) as address:
        yield Application(f"{address}/{EXAMPLE}/", folder)


def by_roost(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.type('textbox "What needs to be done?"', "buy milk", submit=True)
    milk = agent.ref("checkbox", after="listitem")
    agent.type('textbox "What needs to be done?"', "bake bread", submit=True)
    agent.type('textbox "What needs to be done?"', "make tea", submit=True)
    agent.call("browser_click", target=milk)
    agent.call("browser_click", target="text=bake bread", doubleClick=True)
    agent.type("textbox", "bake rolls", submit=True)
    agent.call("browser_hover", target="text=make tea")
    agent.click("button")
    agent.click('link "Active"')


def by_batches(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    new = agent.ref('textbox "What needs to be done?"')
    items = ("buy milk", "bake bread", "make tea")
    agent.batch(*({"tool": "type", "target": new, "text": item, "submit": True} for item in items))
    agent.batch(
        {"tool": "click", "target": agent.ref("checkbox", after="listitem")},
        {"tool": "click", "target": "text=bake bread", "doubleClick": True},
    )
    agent.batch(
        {"tool": "type", "target": agent.ref("textbox"), "text": "bake rolls", "submit": True},
        {"tool": "hover", "target": "text=make tea"},
    )
    agent.batch(
        {"tool": "click", "target": agent.ref("button")},
        {"tool": "click", "target": agent.ref('link "Active"')},
    )


def by_playwright(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.find("textbox")
    for words in ("buy milk", "bake bread", "make tea"):
        agent.type('textbox "What needs to be done?"', words, submit=True)
    agent.call("browser_find", regex="buy milk|bake bread|make tea")
    agent.click("checkbox", after="listitem")
    bread, tea = agent.ref("generic", saying="bake bread"), agent.ref("generic", saying="make tea")
    agent.call("browser_click", target=bread, doubleClick=True)
    agent.find("textbox")
    agent.type("textbox", "bake rolls", submit=True, after="listitem")
    agent.call("browser_hover", target=tea)
    agent.find("button")
    agent.click("button")
    agent.find("Active")
    agent.click('link "Active"')
    agent.find("bake rolls")


def check(app: Application, agent: Agent) -> None:
    kept = json.loads(agent.evaluated(STORAGE))
    assert [(item["title"], item["completed"]) for item in kept] == [
        ("buy milk", True),
        ("bake rolls", False),
    ]
