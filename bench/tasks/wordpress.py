"""WordPress: log in, write a post with a heading and a list in the block editor, publish it."""

from __future__ import annotations

import os
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.tasks.agent import Agent
from bench.tasks.applications import Application, free_port, from_debian, running
from roost.local.deadline import Deadline

PACKAGES = (
    *("wordpress", "wordpress-theme-twentytwentythree", "libjs-underscore", "libjs-prototype"),
    *("libjs-scriptaculous", "libjs-cropper", "php-getid3", "php8.2-cli", "php8.2-common"),
    *("php8.2-mysql", "php8.2-xml", "php8.2-mbstring", "php8.2-opcache", "mariadb-server-core"),
    *("mariadb-client-core", "libmariadb3", "liburing2", "libaio1"),
)
MODULES = "mysqlnd mysqli dom tokenizer xml ctype fileinfo iconv mbstring simplexml xmlreader"
PERSON = "ann", "rooster-42-owls"
CONFIG = """<?php
define('DB_NAME', 'wordpress'); define('DB_USER', 'root'); define('DB_PASSWORD', '');
define('DB_HOST', 'localhost:%(socket)s'); define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', ''); define('WP_HTTP_BLOCK_EXTERNAL', true); define('DISABLE_WP_CRON', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""


@contextmanager
def application(folder: Path) -> Iterator[Application]:
    root, port = from_debian("wordpress", *PACKAGES), free_port()
    address = f"http://127.0.0.1:{port}"
    site = folder / "site"
    # Copied with what its links lead to: the packages share files with others.
    shutil.copytree(
        root / "usr/share/wordpress", site, ignore_dangling_symlinks=True, dirs_exist_ok=True
    )
    themes = root / "var/lib/wordpress/wp-content/themes"
    shutil.copytree(themes, site / "wp-content/themes", dirs_exist_ok=True)
    (site / "wp-config.php").write_text(CONFIG % {"socket": _socket(folder)}, encoding="utf-8")
    with _database(root, folder), _php(root, site, port, address):
        _set_up(address)
        yield Application(address, folder)


def _socket(folder: Path) -> Path:
    return folder / "db.sock"


@contextmanager
def _database(root: Path, folder: Path) -> Iterator[None]:
    data = folder / "database"
    libraries = {**os.environ, "LD_LIBRARY_PATH": str(root / "usr/lib/x86_64-linux-gnu")}
    common = ["--no-defaults", f"--datadir={data}"]
    if os.getuid() == 0:
        common.append("--user=root")
    subprocess.run(
        [root / "usr/bin/mariadb-install-db", *common, f"--basedir={root / 'usr'}"],
        env=libraries,
        check=True,
        capture_output=True,
        timeout=120,
    )
    server = [
        *(root / "usr/sbin/mariadbd", *common, f"--socket={_socket(folder)}"),
        *("--skip-networking", "--skip-grant-tables", f"--lc-messages-dir={root}/usr/share/mysql"),
    ]
    with running(server, folder, answers=None, environment=libraries):
        deadline = Deadline(60)
        while not _socket(folder).exists() and not deadline.has_passed():
            deadline.pause()
        _asked(root, folder, "CREATE DATABASE wordpress")
        yield


@contextmanager
def _php(root: Path, site: Path, port: int, address: str) -> Iterator[None]:
    extensions = next((root / "usr/lib/php").glob("2*"))
    options = [f"-dextension_dir={extensions}"]
    options += [f"-dextension={extensions / name}.so" for name in MODULES.split()]
    command = [root / "usr/bin/php8.2", "-n", *options, "-S", f"127.0.0.1:{port}", "-t", site]
    environment = {**os.environ, "PHP_CLI_SERVER_WORKERS": "4"}
    with running(command, site, answers=f"{address}/readme.html", environment=environment):
        yield


def _set_up(address: str) -> None:
    """Fill in WordPress's own first page, which makes the tables and the user."""
    name, password = PERSON
    form = {"weblog_title": "Owls", "user_name": name, "admin_email": "ann@example.com"}
    form |= {"admin_password": password, "admin_password2": password, "pw_weak": "on"}
    data = urllib.parse.urlencode({**form, "language": ""}).encode()
    with urllib.request.urlopen(f"{address}/wp-admin/install.php?step=2", data, 120) as answer:
        assert "Success!" in answer.read().decode(), "WordPress was not set up"


def _asked(root: Path, folder: Path, sql: str) -> str:
    done = subprocess.run(
        [root / "usr/bin/mariadb", "--no-defaults", f"--socket={_socket(folder)}", "-N", "-e", sql],
        env={**os.environ, "LD_LIBRARY_PATH": str(root / "usr/lib/x86_64-linux-gnu")},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done.stdout


def by_roost(agent: Agent, app: Application) -> None:
    name, password = PERSON
    agent.open(f"{app.address}/wp-admin/post-new.php")
    agent.call(
        "browser_fill_form",
        fields=[
            {"target": agent.ref('textbox "Username'), "value": name},
            {"target": agent.ref('textbox "Password'), "value": password},
        ],
        snapshot="none",
    )
    agent.click('button "Log In"')
    agent.click('button "Close dialog"')
    agent.type('textbox "Add title"', "Owls at night", snapshot="none")
    agent.press("Enter", snapshot="none")
    agent.find("Empty block")
    agent.type('document "Empty block', "## What they eat", slowly=True)
    agent.press("Enter")
    agent.type('document "Empty block', "- mice", slowly=True)
    agent.click('button "Publish"')
    agent.click('button "Publish"', after='region "Editor publish"')
    if not agent.has_read("is now live"):
        agent.wait_for("is now live")


def by_batches(agent: Agent, app: Application) -> None:
    name, password = PERSON
    agent.open(f"{app.address}/wp-admin/post-new.php")
    fields = [
        {"target": agent.ref('textbox "Username'), "value": name},
        {"target": agent.ref('textbox "Password'), "value": password},
    ]
    agent.batch(
        {"tool": "fill_form", "fields": fields},
        {"tool": "click", "target": agent.ref('button "Log In"')},
    )
    agent.click('button "Close dialog"')
    title = agent.ref('textbox "Add title"')
    agent.batch(
        {"tool": "type", "target": title, "text": "Owls at night"},
        {"tool": "press_key", "key": "Enter"},
        {"tool": "find", "text": "Empty block"},
        snapshot="none",
    )
    block = agent.ref('document "Empty block')
    agent.batch(
        {"tool": "type", "target": block, "text": "## What they eat", "slowly": True},
        {"tool": "press_key", "key": "Enter"},
    )
    block = agent.ref('document "Empty block')
    agent.batch(
        {"tool": "type", "target": block, "text": "- mice", "slowly": True},
        {"tool": "click", "target": agent.ref('button "Publish"')},
    )
    publish = agent.ref('button "Publish"', after='region "Editor publish"')
    agent.batch(
        {"tool": "click", "target": publish},
        {"tool": "wait_for", "text": "is now live"},
        snapshot="none",
    )


def by_playwright(agent: Agent, app: Application) -> None:
    name, password = PERSON
    agent.open(f"{app.address}/wp-admin/post-new.php")
    agent.look()
    agent.call(
        "browser_fill_form",
        fields=[
            {
                "target": agent.ref(f'textbox "{label}'),
                "name": label,
                "type": "textbox",
                "value": value,
            }
            for label, value in (("Username", name), ("Password", password))
        ],
    )
    agent.click('button "Log In"')
    agent.look()
    agent.click('button "Close dialog"')
    agent.look()
    agent.type('textbox "Add title"', "Owls at night")
    agent.press("Enter")
    agent.find("Empty block")
    agent.type('document "Empty block', "## What they eat", slowly=True)
    agent.press("Enter")
    agent.find("Empty block")
    agent.type('document "Empty block', "- mice", slowly=True)
    agent.click('button "Publish"')
    agent.find("Publish")
    agent.click('button "Publish"', after='region "Editor publish"')
    agent.find("live")
    assert agent.has_read("is now live")


def check(app: Application, agent: Agent) -> None:
    root = from_debian("wordpress", *PACKAGES)
    sql = "SELECT post_title, post_content FROM wordpress.wp_posts WHERE post_status = 'publish' "
    post = _asked(root, app.folder, sql + "AND post_title = 'Owls at night'")
    assert "<h2>What they eat</h2>" in post, post
    assert "<li>mice</li>" in post, post
