"""Node-RED: drag two nodes onto the canvas, wire them, deploy the flow."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.tasks.agent import Agent
from bench.tasks.applications import Application, free_port, from_npm, running

PACKAGES = ("node-red@5.0.7",)
PORTS = """() => ['output', 'input'].flatMap(kind => {
    const box = document.querySelector('.red-ui-flow-port-' + kind).getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
})"""
WIRE = """async (page) => {
    await page.mouse.move(%s, %s); await page.mouse.down();
    await page.mouse.move(%s, %s, {steps: 5}); await page.mouse.up();
}"""
SETTINGS = """module.exports = {
    uiHost: "127.0.0.1", flowFile: "flows.json", telemetry: {enabled: false},
    editorTheme: {tours: false, projects: {enabled: false}},
};"""


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    modules, port = from_npm("node-red", *PACKAGES), free_port()
    address = f"http://127.0.0.1:{port}"
    (folder / "settings.js").write_text(SETTINGS, encoding="utf-8")
    command = ["node", modules / "node-red/red.js", "--userDir", folder, "--port", str(port)]
    with running(command, folder, answers=f"{address}/settings"):
        yield Application(address, folder)


def by_roost(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    canvas = agent.ref("generic [active]")
    inject = agent.ref("generic", saying=": inject")
    debug = agent.ref("generic", saying=": debug")
    agent.call("browser_drag", startTarget=inject, endTarget=canvas)
    output = agent.ref("generic", after="text: timestamp")
    agent.call("browser_drag", startTarget=debug, endTarget=canvas)
    entry = agent.ref("generic", after="text: debug 1")
    agent.press("Shift+ArrowDown")  # the new node, which is selected, away from the first one
    agent.call("browser_drag", startTarget=output, endTarget=entry)
    agent.click('link "Deploy"')
    if not agent.has_read("Successfully deployed"):
        agent.wait_for("Successfully deployed")


def by_batches(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    canvas = agent.ref("generic [active]")
    inject = agent.ref("generic", saying=": inject")
    debug = agent.ref("generic", saying=": debug")
    agent.batch(
        {"tool": "drag", "startTarget": inject, "endTarget": canvas},
        {"tool": "drag", "startTarget": debug, "endTarget": canvas},
        {"tool": "press_key", "key": "Shift+ArrowDown"},
    )
    output = agent.ref("generic", after="text: timestamp")
    entry = agent.ref("generic", after="text: debug 1")
    agent.batch(
        {"tool": "drag", "startTarget": output, "endTarget": entry},
        {"tool": "click", "target": agent.ref('link "Deploy"')},
        {"tool": "wait_for", "text": "Successfully deployed"},
        snapshot="none",
    )


def by_playwright(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.look()
    canvas = "#red-ui-workspace-chart"  # the snapshot does not tell it from other containers
    for name in ("inject", "debug"):
        start = agent.ref("generic", saying=f": {name}")
        agent.call("browser_drag", startTarget=start, endTarget=canvas)
    agent.press("Shift+ArrowDown")
    # The snapshot shows no ports: the agent asks where they are and moves the mouse by a script.
    ports = agent.call("browser_evaluate", function=PORTS)
    spots = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", ports.split("### ")[1])]
    agent.call("browser_run_code_unsafe", code=WIRE % tuple(spots[:4]))
    agent.click('link "Deploy"')
    agent.find("deployed")
    assert agent.has_read("Successfully deployed")


def check(app: Application, agent: Agent) -> None:
    with urllib.request.urlopen(f"{app.address}/flows", timeout=30) as answer:
        nodes = {node["type"]: node for node in json.load(answer)}
    assert nodes["inject"]["wires"] == [[nodes["debug"]["id"]]]
    assert (app.folder / "flows.json").exists()
