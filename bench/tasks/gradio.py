"""Gradio: text, slider, two lists and a file, then read the answer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.tasks.agent import Agent
from bench.tasks.applications import Application, free_port, from_pypi, running

PACKAGES = ("gradio==6.31.0",)
PROGRAM = """
import json, pathlib, sys
import gradio as gr

def order(name, guests, mood, extras, plan):
    words = pathlib.Path(plan).read_text().split() if plan else []
    said = {"name": name, "guests": guests, "mood": mood, "extras": extras, "words": len(words)}
    pathlib.Path("order.json").write_text(json.dumps(said))
    return f"{name} expects {guests} guests, {len(words)} words of plan"

gr.Interface(
    order,
    [gr.Textbox(label="Name"), gr.Slider(1, 20, value=4, step=1, label="Guests"),
     gr.Dropdown(["calm", "merry", "wild"], value="calm", label="Mood"),
     gr.CheckboxGroup(["music", "cake", "fireworks"], label="Extras"), gr.File(label="Plan")],
    gr.Textbox(label="Answer"), title="Party", flagging_mode="never",
).launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
"""
PLAN = "cake first then dancing"


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    programs, port = from_pypi("gradio", *PACKAGES), free_port()
    address = f"http://127.0.0.1:{port}"
    (folder / "party.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "plan.txt").write_text(PLAN, encoding="utf-8")
    offline = {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
    command = [programs / "python", "party.py", str(port)]
    with running(command, folder, answers=address, environment={**os.environ, **offline}):
        yield Application(address, folder)


def by_roost(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    if not agent.has_read('button "Submit"'):
        agent.wait_for("Submit")
    agent.call(
        "browser_fill_form",
        fields=[
            {"target": agent.ref('textbox "Name"'), "value": "Ann"},
            {"target": agent.ref("slider"), "value": 9},
            {"target": agent.ref('combobox "Mood"'), "value": "merry"},
            {"target": agent.ref('checkbox "music"'), "value": True},
            {"target": agent.ref('checkbox "cake"'), "value": True},
        ],
    )
    upload = agent.ref('button "Click to upload')
    agent.call("browser_file_upload", target=upload, paths=["plan.txt"])
    agent.click('button "Submit"')
    if not agent.has_read("Ann expects 9 guests"):
        agent.wait_for("Ann expects 9 guests")


def by_batches(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    if not agent.has_read('button "Submit"'):
        agent.wait_for("Submit")
    fields = [
        {"target": agent.ref('textbox "Name"'), "value": "Ann"},
        {"target": agent.ref("slider"), "value": 9},
        {"target": agent.ref('combobox "Mood"'), "value": "merry"},
        {"target": agent.ref('checkbox "music"'), "value": True},
        {"target": agent.ref('checkbox "cake"'), "value": True},
    ]
    upload = agent.ref('button "Click to upload')
    agent.batch(
        {"tool": "fill_form", "fields": fields},
        {"tool": "file_upload", "target": upload, "paths": ["plan.txt"]},
        {"tool": "click", "target": agent.ref('button "Submit"')},
        {"tool": "wait_for", "text": "Ann expects 9 guests"},
        snapshot="none",
    )


def by_playwright(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.look()
    fields = [
        ("Name", 'textbox "Name"', "textbox", "Ann"),
        ("Guests", "slider", "slider", "9"),
        ("music", 'checkbox "music"', "checkbox", "true"),
        ("cake", 'checkbox "cake"', "checkbox", "true"),
    ]
    agent.call(
        "browser_fill_form",
        fields=[
            {"target": agent.ref(words), "name": name, "type": kind, "value": value}
            for name, words, kind, value in fields
        ],
    )
    agent.click('combobox "Mood"')
    agent.find("merry")
    agent.click('option "merry"')
    agent.click('button "Click to upload')
    agent.call("browser_file_upload", paths=[str(app.folder / "plan.txt")])
    agent.click('button "Submit"')
    agent.find("expects")
    assert agent.has_read("Ann expects 9 guests")


def check(app: Application, agent: Agent) -> None:
    said = json.loads((app.folder / "order.json").read_text(encoding="utf-8"))
    assert said == {
        "name": "Ann",
        "guests": 9,
        "mood": "merry",
        "extras": ["music", "cake"],
        "words": len(PLAN.split()),
    }
