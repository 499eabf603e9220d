"""TinyMCE: write a formatted text in an editor whose document is an iframe, and save it."""

from __future__ import annotations

import functools
import http.server
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs

from bench.site import serving
from bench.tasks.agent import Agent
from bench.tasks.applications import Application, from_npm

PACKAGES = ("tinymce@8.9.2",)
PAGE = """<!doctype html><title>Letters</title><h1>A letter</h1>
<form method=post action=/letters>
<label>Subject <input name=subject></label>
<textarea name=body id=body></textarea>
<button>Send</button></form>
<script src=/tinymce/tinymce.min.js></script>
<script>tinymce.init({selector: "#body", license_key: "gpl", promotion: false, height: 400,
  plugins: "lists table link", toolbar: "bold italic | bullist numlist | table"});</script>"""


class _Letters(http.server.SimpleHTTPRequestHandler):
    """Serves the editor, and keeps what is sent as ``subject.html``."""

    def __init__(self, *args: object, letters: Path, modules: Path) -> None:
        self._letters = letters
        super().__init__(*args, directory=str(modules))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        if self.path == "/":
            self._answer(PAGE)
        else:
            super().do_GET()

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        subject, body = sent["subject"][0], sent["body"][0]
        (self._letters / f"{subject}.html").write_text(body, encoding="utf-8")
        self._answer(f"<!doctype html><title>Sent</title><h1>Sent</h1><p>{subject} is on its way.")

    def _answer(self, page: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    modules = from_npm("tinymce", *PACKAGES)
    with serving(functools.partial(_Letters, letters=folder, modules=modules)) as address:
        yield Application(address, folder)


def by_roost(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.type('textbox "Subject"', "Harvest")
    agent.type("textbox", "baskets\nladders", after="iframe")
    agent.press("Control+a")
    agent.click('button "Bold"')
    agent.click('button "Bullet list"')
    agent.click('button "Send"')
    assert agent.has_read("Harvest is on its way.")


def by_batches(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    body = agent.ref("textbox", after="iframe")
    agent.batch(
        {"tool": "type", "target": agent.ref('textbox "Subject"'), "text": "Harvest"},
        {"tool": "type", "target": body, "text": "baskets\nladders"},
        {"tool": "press_key", "key": "Control+a"},
        {"tool": "click", "target": agent.ref('button "Bold"')},
        {"tool": "click", "target": agent.ref('button "Bullet list"')},
        {"tool": "click", "target": agent.ref('button "Send"')},
    )
    assert agent.has_read("Harvest is on its way.")


def by_playwright(agent: Agent, app: Application) -> None:
    agent.open(app.address)
    agent.look()
    agent.type('textbox "Subject"', "Harvest")
    agent.type('generic "Rich Text Area"', "baskets\nladders")
    agent.press("Control+a")
    agent.click('button "Bold"')
    agent.click('button "Bullet list"')
    agent.click('button "Send"')
    agent.find("on its way")
    assert agent.has_read("Harvest is on its way.")


def check(app: Application, agent: Agent) -> None:
    body = (app.folder / "Harvest.html").read_text(encoding="utf-8")
    # In Firefox, Roost pastes several lines, and TinyMCE takes a pasted line end for a line break.
    items = body.replace("<br>", "</li>\n<li>")
    assert "<li><strong>baskets</strong></li>" in items, body
    assert "<li><strong>ladders</strong></li>" in items, body
