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
    agent.find("textbox")
    agent.type("textbox", CODE, after="Code Cell Content", snapshot="none")
    agent.press("Shift+Enter", snapshot="none")
    agent.find("sum 10")
    agent.press("Control+s", snapshot="none")
    agent.find("File name")
    agent.type('textbox "File name"', "sums.ipynb", submit=True, snapshot="none")
    agent.call("browser_wait_for", text="Saving completed", snapshot="none")


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
