"""JupyterLab: write a notebook cell, run it, rename the notebook and save it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.tasks.agent import Agent
from bench.tasks.applications import Application, free_port, from_pypi, running

PACKAGES = ("jupyterlab==4.6.6",)
CODE = "total = 0\nfor n in range(5):\n    total += n\nprint('sum', total)"
CELL = "Code Cell Content"
READY = "Python 3 (ipykernel) | Idle"
"""Shown once the kernel runs. Until then, JupyterLab draws the notebook's cells anew."""


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    programs, port = from_pypi("jupyterlab", *PACKAGES), free_port()
    address = f"http://127.0.0.1:{port}"
    root = folder / "notebooks"
    root.mkdir()
    options = {
        "--ServerApp.root_dir": root,
        "--ServerApp.port": port,
        "--IdentityProvider.token": "",
        "--LabApp.news_url": "None",
    }
    command = [programs / "jupyter-lab", "--no-browser", "--allow-root"]
    command += [f"{name}={value}" for name, value in options.items()]
    home = {"HOME": str(folder), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    with running(command, folder, answers=f"{address}/api", environment=home):
        yield Application(address, root)


def by_roost(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    if not agent.has_read('heading "Notebook"'):
        agent.wait_for("Notebook")
    new = {"after": 'heading "Notebook"', "snapshot": "none"}
    agent.click('button "Python 3 (ipykernel)', **new)
    agent.call("browser_wait_for", text=READY, snapshot="none")
    agent.find("textbox")
    agent.type("textbox", CODE, after=CELL, snapshot="none")
    agent.press("Shift+Enter", snapshot="none")
    agent.call("browser_wait_for", text="sum 10", snapshot="none")
    agent.press("Control+s", snapshot="none")
    agent.find("File name")
    agent.type('textbox "File name"', "sums.ipynb", submit=True, snapshot="none")
    agent.call("browser_wait_for", text="Saving completed", snapshot="none")


def by_batches(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    if not agent.has_read('heading "Notebook"'):
        agent.wait_for("Notebook")
    new = agent.ref('button "Python 3 (ipykernel)', after='heading "Notebook"')
    agent.batch(
        {"tool": "click", "target": new},
        {"tool": "wait_for", "text": READY},
        {"tool": "find", "text": "textbox"},
        snapshot="none",
    )
    agent.batch(
        {"tool": "type", "target": agent.ref("textbox", after=CELL), "text": CODE},
        {"tool": "press_key", "key": "Shift+Enter"},
        {"tool": "wait_for", "text": "sum 10"},
        {"tool": "press_key", "key": "Control+s"},
        {"tool": "find", "text": "File name"},
        snapshot="none",
    )
    name = agent.ref('textbox "File name"')
    agent.batch(
        {"tool": "type", "target": name, "text": "sums.ipynb", "submit": True},
        {"tool": "wait_for", "text": "Saving completed"},
        snapshot="none",
    )


def by_playwright(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.look()
    if not agent.has_read("Python 3 (ipykernel)"):
        agent.wait_for("Python 3 (ipykernel)")
        agent.find("Python 3 (ipykernel)")
    agent.click("button [", after='heading "Notebook"')
    agent.find("textbox")
    agent.type("textbox", CODE)
    agent.press("Shift+Enter")
    agent.find("sum 10")
    agent.press("Control+s")
    agent.find("File name")
    agent.type('textbox "File name"', "sums.ipynb", submit=True)
    agent.find("Saving")


def check(app: Application, agent: Agent) -> None:
    notebook = json.loads((app.folder / "sums.ipynb").read_text(encoding="utf-8"))
    cell = notebook["cells"][0]
    assert "".join(cell["source"]) == CODE
    assert "".join(cell["outputs"][0]["text"]).strip() == "sum 10"
