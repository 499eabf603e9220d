"""The names in the code use the words of docs/glossary.md, and none that it rules out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "roost"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")

OTHER_MEANINGS = {
    "client": {
        "fleet/": "the other end of a TLS connection",
        "client/": "the public Python class `roost.Client`",
        "testing/house.py": "makes a `roost.Client`",
        "broker/doors/": "the program an agent runs in, such as Claude Code",
        "frontends/cli/install/": "the program an agent runs in",
        "local/lineage.py": "the program an agent runs in",
        "shim/": "the program an agent runs in, at the other end of stdio (MCP's word)",
        "wire/hello.py": "the hello's field `client`, in the wire format",
        "frontends/cdp/": "a DevTools client",
    },
    "auth": {"frontends/cdp/commands.py": "CDP's method Fetch.continueWithAuth"},
    "command": {
        "fleet/supervisor.py": "a process's command line",
        "broker/doors/command_callers.py": "a `roost` command",
        "broker/doors/commands.py": "a `roost` command",
        "broker/doors/hooks.py": "a `roost` command",
        "broker/subagent_reports.py": "a `roost` command",
        "drivers/chromium/": "a command of CDP; the browser's command line",
        "drivers/firefox/conditions.py": "a command of BiDi",
        "drivers/firefox/launch.py": "the browser's command line",
        "drivers/keeper_process.py": "the keeper's command line",
        "frontends/cdp/commands.py": "a command of CDP",
        "frontends/cli/main.py": "a `roost` command",
        "frontends/cli/install/": "a `roost` command; the field `command` of a client's file",
        "local/": "a process's command line",
        "verb/": "a `roost` command",
    },
    "container": {
        "drivers/firefox/launch.py": "Firefox's containers, in its file containers.json",
    },
    "context": {
        "fleet/authority.py": "the settings of a TLS connection, `ssl.SSLContext`",
        "api/protocol.py": "a browser context, as a CDP client sees it",
        "broker/doors/cdp_seats.py": "a browser context, as a CDP client sees it",
        "drivers/chromium/": "a browser context or execution context of CDP",
        "drivers/firefox/": "a browsing context of WebDriver BiDi",
        "frontends/cdp/": "a browser context of CDP",
    },
    "endpoint": {
        "frontends/cdp/endpoints.py": "the address that a CDP client connects to",
        "local/": "the file endpoint.json in ROOST_HOME: where the broker listens",
    },
    "handler": {
        "testing/site.py": "a BaseHTTPRequestHandler of the standard library",
    },
    "key": {
        "fleet/authority.py": "the private key of a certificate",
        "fleet/rows.py": "the primary key of a row",
        "api/input_operations.py": "a key of the keyboard",
        "api/page_operations.py": "a key of the keyboard",
        "broker/browser/held_input.py": "a key of the keyboard",
        "broker/work/page_actions.py": "a key of the keyboard",
        "broker/work/page_input.py": "a key of the keyboard",
        "drivers/base.py": "a key of the keyboard",
        "drivers/chromium/input.py": "a key of the keyboard",
        "drivers/chromium/input_translation.py": "a key of the keyboard",
        "drivers/clipboard.py": "a key of the keyboard",
        "drivers/firefox/input.py": "a key of the keyboard",
        "frontends/cdp/clipboard.py": "a key of the keyboard",
        "frontends/cdp/commands.py": "a key of the keyboard",
        "frontends/mcp/claudezilla/page_actions.py": "a key of the keyboard",
        "page/": "a key of the keyboard",
        "toolsets/": "a key of the keyboard",
        "broker/browser/jars.py": "what identifies a cookie",
        "core/redaction.py": "a key of a query string",
        "drivers/firefox/values.py": "a key of a JavaScript object",
        "core/rows.py": "the primary key of a row",
        "profiles/chromium.py": "an encryption key",
        "frontends/cli/doctor.py": "the key that seals what Roost stores",
        "local/home.py": "the key that seals what Roost stores",
        "vault/": "the key that seals what Roost stores",
    },
    "lock": {
        "daemon/main.py": "a lock on a file",
        "frontends/cli/doctor.py": "a lock on a file",
        "local/": "a lock on a file",
    },
    "message": {
        "api/page_operations.py": "the operation browser_console_messages",
        "api/page_views.py": "a line in a page's console",
        "broker/work/page_readings.py": "the operation browser_console_messages",
        "broker/work/traffic_work.py": "a message of a WebSocket",
        "drivers/chromium/messages.py": "a message of a WebSocket",
        "drivers/events.py": "a message of a WebSocket",
        "frontends/mcp/replies.py": "a message of a WebSocket",
        "demo/site.py": "a method of BaseHTTPRequestHandler",
        "testing/site.py": "a method of BaseHTTPRequestHandler",
        "drivers/extension/firefox/messages.py": "a message to or from the extension",
        "frontends/cdp/messages.py": "a message of CDP",
        "frontends/http/connection.py": "a callback of httptools",
        "hook/transcript.py": "a message in the transcript of Claude Code",
        "host/native.py": "a native message of a browser extension",
        "link/websocket.py": "a WebSocket message",
    },
    "mutex": {
        "errors.py": "the class of the error code MUTEX_BUSY, which callers know",
    },
    "password": {
        "api/protocol.py": "the password that a proxy asks a DevTools client for",
        "broker/browser/proxy.py": "the password that a proxy asks a DevTools client for",
        "broker/doors/cdp_seats.py": "the password that a proxy asks a DevTools client for",
        "drivers/chromium/": "the password that a web site asks for, or the system's keyring",
        "drivers/firefox/": "the password that a web site asks for",
        "drivers/interception.py": "the password that a web site asks for",
        "frontends/cdp/": "the password that a web site or a proxy asks for",
        "profiles/keyring.py": "the password that a browser keeps in the system's keyring",
    },
    "server": {
        "fleet/authority.py": "the end of a TLS connection that was connected to",
        "frontends/": "listens on a socket or a port; an MCP server",
        "testing/": "a web server that test pages come from",
    },
    "tab id": {
        "frontends/mcp/replies.py": "our id of a tab, such as t1, and not the browser's",
        "testing/broker_api.py": "our id of a tab, such as t1, and not the browser's",
    },
    "target": {
        "api/page_operations.py": "the argument `target`, an element of the page (Playwright MCP)",
        "api/protocol.py": "a target of CDP",
        "broker/doors/cdp_seats.py": "a target of CDP",
        "drivers/base.py": "a target of CDP",
        "drivers/chromium/": "a target of CDP",
        "drivers/firefox/scripts.py": "the target of a script command of WebDriver BiDi",
        "frontends/cdp/": "a target of CDP",
    },
    "user": {
        "fleet/": "a holder of a user token, who may have many agents",
        "drivers/chromium/conditions.py": "the browser's user agent",
        "drivers/firefox/preferences.py": "Firefox's file user.js",
        "local/home.py": "the user account of the operating system",
    },
    "window": {
        "drivers/fake/browser.py": "the JavaScript function window.open",
        "drivers/window_labels.py": "a window on the person's screen",
        "frontends/cdp/commands.py": "a window of CDP's domain Browser",
        "frontends/mcp/claudezilla/": "the names of Claudezilla's tools",
    },
}
"""Words that the glossary rules out for one of our concepts, the files in which they name something
else, and what that is. An entry that no name needs any more fails: the table may only shrink."""

DEFINED = re.compile(r"^ *(?:class|(?:async )?def) (\w+)", re.MULTILINE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def ruled_out() -> dict[str, list[str]]:
    """Return each word of the column "Not to be called", with the words to use instead.

    A word that the glossary itself defines (page, event) is left out: it is right for one concept
    and wrong for another, and only a reader can tell which one a name means.
    """
    found: dict[str, list[str]] = {}
    own: set[str] = set()
    for line in GLOSSARY.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        terms = re.findall(r"\*\*([^*]+)\*\*", cells[0])
        if len(cells) != 3 or not terms:
            continue
        own.update(term.lower() for term in terms)
        for word in filter(None, (word.strip().lower() for word in cells[2].split(","))):
            found.setdefault(word, []).append(terms[0])
    return {word: terms for word, terms in found.items() if word not in own}


RULED_OUT = ruled_out()


def uses(name: str, word: str) -> bool:
    """Return whether a name in snake_case or CamelCase contains a word or its plural."""
    parts = parts_of(name)
    return f" {word} " in parts or f" {word}s " in parts


@cache
def parts_of(name: str) -> str:
    return f" {' '.join(part.lower() for part in WORD.findall(name))} "


@cache
def all_names() -> list[tuple[str, str]]:
    """Return ``names`` without repetitions. Not read at import, because every worker imports."""
    return sorted(set(names()))


def names() -> Iterator[tuple[str, str]]:
    """Yield the path and the name of each folder, module, class, function and method."""
    for folder in {path.parent for path in SOURCE.rglob("*.py")} - {SOURCE}:
        yield f"{folder.relative_to(SOURCE).as_posix()}/", folder.name
    for path in sorted(SOURCE.rglob("*.py")):
        where = path.relative_to(SOURCE).as_posix()
        yield where, path.stem
        for name in DEFINED.findall(path.read_text(encoding="utf-8")):
            yield where, name


@pytest.mark.parametrize("word", sorted(RULED_OUT))
def test_no_name_uses_a_word_that_the_glossary_rules_out(word: str) -> None:
    places = tuple(OTHER_MEANINGS.get(word, ()))
    strays = [
        f"{path}: {name}"
        for path, name in all_names()
        if uses(name, word) and not path.startswith(places)
    ]

    assert strays == [], f"say {' or '.join(RULED_OUT[word])}, or name the other meaning above"


def test_every_other_meaning_is_needed() -> None:
    needless = [
        f"{word} in {place}"
        for word, places in OTHER_MEANINGS.items()
        for place in places
        if word not in RULED_OUT
        or not any(path.startswith(place) and uses(name, word) for path, name in all_names())
    ]

    assert needless == [], "no name needs it: take it off the table"


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("MutexBusy", "mutex"),
        ("_tab_ids", "tab id"),
        ("CDPClient", "client"),
        ("http2_server", "server"),
        ("backends", "backend"),
    ],
)
def test_a_word_is_found_in_a_name(name: str, word: str) -> None:
    assert uses(name, word)


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("keyboard", "key"),
        ("Clock", "lock"),
        ("PageActions", "action page"),
        ("observer", "server"),
    ],
)
def test_a_part_of_a_word_is_not_the_word(name: str, word: str) -> None:
    assert not uses(name, word)


def test_the_glossary_is_read() -> None:
    assert RULED_OUT["mutex"] == ["capture"]
    assert RULED_OUT["user"] == ["agent", "operator"]
    assert not {"page", "event"} & set(RULED_OUT)
