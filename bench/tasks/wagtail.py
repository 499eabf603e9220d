"""Wagtail: log in, write a page with a date and formatted text, publish it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from bench.tasks.agent import Agent
from bench.tasks.applications import Application, free_port, from_pypi, running

PACKAGES = ("wagtail==8.0.1",)
MODELS = """
from django.db import models
from wagtail.admin.panels import FieldPanel
from wagtail.blocks import CharBlock
from wagtail.fields import RichTextField, StreamField
from wagtail.models import Page


class HomePage(Page):
    date = models.DateField("Post date", null=True, blank=True)
    intro = RichTextField(blank=True)
    body = StreamField([("heading", CharBlock()), ("quote", CharBlock())], blank=True)
    content_panels = [*Page.content_panels, FieldPanel("date"), FieldPanel("intro"),
                      FieldPanel("body")]
"""
LOCAL = """
WAGTAIL_AUTOSAVE_INTERVAL = 0  # a draft that is saved while the agent publishes takes the address
"""
PERSON = "Ann", "rooster-42"
INTRO = "They hunt at night."
HEADING = "Where they roost"


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    programs, port = from_pypi("wagtail", *PACKAGES), free_port()
    address = f"http://127.0.0.1:{port}"
    site = programs.parent / "site"
    if not (site / "ready").exists():
        _build(programs, site)
    shutil.copytree(site, folder, dirs_exist_ok=True)
    command = [programs / "python", "manage.py", "runserver", "--noreload", f"127.0.0.1:{port}"]
    with running(command, folder, answers=f"{address}/admin/login/", environment=_environment()):
        yield Application(address, folder)


def _build(programs: Path, site: Path) -> None:
    """Make the project with its database once, because that takes a while."""
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir()
    name, password = PERSON
    python = str(programs / "python")
    environment = {**_environment(), "DJANGO_SUPERUSER_PASSWORD": password}

    def run(*command: str) -> None:
        subprocess.run(command, cwd=site, env=environment, check=True, timeout=300)

    run(str(programs / "wagtail"), "start", "notes", ".")
    (site / "home/models.py").write_text(MODELS, encoding="utf-8")
    (site / "notes/settings/local.py").write_text(LOCAL, encoding="utf-8")
    run(python, "manage.py", "makemigrations", "-v0", "home")
    run(python, "manage.py", "migrate", "-v0")
    run(
        python,
        "manage.py",
        "createsuperuser",
        "--noinput",
        "--username",
        name,
        "--email",
        "ann@example.com",
    )
    (site / "ready").touch()


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONWARNINGS": "ignore"}


def by_roost(agent: Agent, app: Application) -> None:
    name, password = PERSON
    agent.open(f"{app.address}/admin/pages/add/home/homepage/3/")
    agent.call(
        "browser_fill_form",
        fields=[
            {"target": agent.ref('textbox "Username'), "value": name},
            {"target": agent.ref('textbox "Password'), "value": password},
        ],
        snapshot="none",
    )
    agent.click('button "Sign in"')
    if not agent.has_read('textbox "Title'):  # on a busy machine, the form comes later
        agent.look()
    agent.call(
        "browser_fill_form",
        fields=[
            {"target": agent.ref('textbox "Title'), "value": "Owls"},
            {"target": agent.ref('textbox "Post date'), "value": "2026-11-18"},
            {"target": agent.ref("textbox [", after='heading "Intro"'), "value": INTRO},
        ],
        snapshot="none",
    )
    agent.click('button "Insert a block"', after='heading "Body"')
    agent.click('option "Heading"')
    agent.type("textbox", HEADING, snapshot="none")
    agent.click('button "More actions"')
    agent.click('button "Publish"')
    if not agent.has_read("published."):
        agent.wait_for("published.")


def by_batches(agent: Agent, app: Application) -> None:
    name, password = PERSON
    agent.open(f"{app.address}/admin/pages/add/home/homepage/3/")
    login = [
        {"target": agent.ref('textbox "Username'), "value": name},
        {"target": agent.ref('textbox "Password'), "value": password},
    ]
    agent.batch(
        {"tool": "fill_form", "fields": login},
        {"tool": "click", "target": agent.ref('button "Sign in"')},
    )
    if not agent.has_read('textbox "Title'):
        agent.look()
    fields = [
        {"target": agent.ref('textbox "Title'), "value": "Owls"},
        {"target": agent.ref('textbox "Post date'), "value": "2026-11-18"},
        {"target": agent.ref("textbox [", after='heading "Intro"'), "value": INTRO},
    ]
    insert = agent.ref('button "Insert a block"', after='heading "Body"')
    agent.batch({"tool": "fill_form", "fields": fields}, {"tool": "click", "target": insert})
    agent.click('option "Heading"')
    agent.batch(
        {"tool": "type", "target": agent.ref("textbox"), "text": HEADING},
        {"tool": "click", "target": agent.ref('button "More actions"')},
    )
    agent.batch(
        {"tool": "click", "target": agent.ref('button "Publish"')},
        {"tool": "wait_for", "text": "published."},
        snapshot="none",
    )


def by_playwright(agent: Agent, app: Application) -> None:
    name, password = PERSON
    agent.open(f"{app.address}/admin/pages/add/home/homepage/3/")
    agent.look()
    agent.call(
        "browser_fill_form",
        fields=[
            _field(agent, "Username", 'textbox "Username', name),
            _field(agent, "Password", 'textbox "Password', password),
        ],
    )
    agent.click("button [", after="text: Remember me")
    agent.look()
    agent.call(
        "browser_fill_form",
        fields=[
            _field(agent, "Title", 'textbox "Title', "Owls"),
            _field(agent, "Post date", 'textbox "Post date', "2026-11-18"),
            _field(agent, "Intro", "textbox [", INTRO, after='heading "Intro"'),
        ],
    )
    agent.click('button "Insert a block"', after='heading "Body"')
    agent.find("option")
    agent.click('option "Heading"')
    agent.find("textbox")
    agent.type("textbox [active]", HEADING)
    agent.click('button "More actions"')
    agent.find("Publish")
    agent.click("button [", after="tooltip")
    agent.find("published")
    assert agent.has_read("published.")


def _field(agent: Agent, name: str, words: str, value: str, after: str = "") -> dict[str, str]:
    target = agent.ref(words, after=after)
    return {"target": target, "name": name, "type": "textbox", "value": value}


def check(app: Application, agent: Agent) -> None:
    rows = "SELECT title, live, date, intro, body FROM home_homepage JOIN wagtailcore_page "
    rows += "ON page_ptr_id = id WHERE title = 'Owls'"
    with closing(sqlite3.connect(app.folder / "db.sqlite3")) as database:
        (row,) = database.execute(rows).fetchall()
    title, live, date, intro, body = row
    assert (title, live, date) == ("Owls", 1, "2026-11-18")
    assert INTRO in intro, intro
    assert f'"type": "heading", "value": "{HEADING}"' in body, body
