"""Streamlit: fill in a form with a slider and a list, submit it, read the result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.tasks.agent import Agent
from bench.tasks.applications import Application, free_port, from_pypi, running

PACKAGES = ("streamlit==1.67.0",)
PROGRAM = """
import json, pathlib
import streamlit as st

st.title("Expenses")
st.sidebar.radio("View", ["New expense", "Report"], key="view")
file = pathlib.Path("expenses.json")
rows = json.loads(file.read_text()) if file.exists() else []
if st.session_state.view == "New expense":
    with st.form("expense"):
        what = st.text_input("What")
        amount = st.number_input("Amount", min_value=0, value=10)
        kind = st.selectbox("Kind", ["Travel", "Food", "Books"])
        days = st.slider("Days", 1, 10, 3)
        paid = st.checkbox("Paid")
        if st.form_submit_button("Save"):
            rows.append({"what": what, "amount": amount, "kind": kind, "days": days, "paid": paid})
            file.write_text(json.dumps(rows))
            st.success(f"Saved {what}: {amount * days} in all")
else:
    st.metric("Expenses", len(rows))
    for row in rows:
        st.write(f"{row['what']}: {row['kind']}, {row['amount']} x {row['days']} days")
"""


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    programs, port = from_pypi("streamlit", *PACKAGES), free_port()
    address = f"http://127.0.0.1:{port}"
    program = folder / "expenses.py"
    program.write_text(PROGRAM, encoding="utf-8")
    options = {
        "--server.port": port,
        "--server.address": "127.0.0.1",
        "--server.headless": "true",
        "--browser.gatherUsageStats": "false",
    }
    command = [programs / "streamlit", "run", program]
    command += [f"{name}={value}" for name, value in options.items()]
    with running(command, folder, answers=f"{address}/_stcore/health"):
        yield Application(address, folder)


def by_roost(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    if not agent.has_read('checkbox "Paid"'):
        agent.wait_for("Paid")
    agent.call(
        "browser_fill_form",
        fields=[
            {"target": agent.ref('textbox "What"'), "value": "Train"},
            {"target": agent.ref('spinbutton "Amount"'), "value": 25},
            {"target": agent.ref('combobox "Kind"'), "value": "Books"},
            {"target": agent.ref("slider"), "value": 7},
            {"target": agent.ref('checkbox "Paid"'), "value": True},
        ],
    )
    agent.click('button "Save"')
    if not agent.has_read("Saved Train: 175 in all"):
        agent.wait_for("Saved Train: 175 in all")


def by_batches(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    if not agent.has_read('checkbox "Paid"'):
        agent.wait_for("Paid")
    fields = [
        {"target": agent.ref('textbox "What"'), "value": "Train"},
        {"target": agent.ref('spinbutton "Amount"'), "value": 25},
        {"target": agent.ref('combobox "Kind"'), "value": "Books"},
        {"target": agent.ref("slider"), "value": 7},
        {"target": agent.ref('checkbox "Paid"'), "value": True},
    ]
    agent.batch(
        {"tool": "fill_form", "fields": fields},
        {"tool": "click", "target": agent.ref('button "Save"')},
        {"tool": "wait_for", "text": "Saved Train: 175 in all"},
        snapshot="none",
    )


def by_playwright(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.look()
    fields = [
        ("What", "textbox", "textbox", "Train"),
        ("Amount", "spinbutton", "textbox", "25"),
        ("Days", "slider", "slider", "6"),
    ]
    agent.call(
        "browser_fill_form",
        fields=[
            {"target": agent.ref(f'{role} "{name}'), "name": name, "type": kind, "value": value}
            for name, role, kind, value in fields
        ],
    )
    agent.press("ArrowRight")  # Streamlit stores a slider's value when a key or the mouse moved it
    agent.click("paragraph", after='checkbox "Paid"')  # the check box itself is covered
    agent.click('button "Open"')
    agent.find("Books")
    agent.click('option "Books"')
    agent.find("Save")
    agent.click("button [")
    agent.find("Saved")
    assert agent.has_read("Saved Train: 175 in all")


def check(app: Application, agent: Agent) -> None:
    rows = json.loads((app.folder / "expenses.json").read_text(encoding="utf-8"))
    assert rows == [{"what": "Train", "amount": 25, "kind": "Books", "days": 7, "paid": True}]
