"""Write the pages of docs/reference that are derived from the code: ``make docs``.

``--check`` writes nothing and fails if a page is out of date. tests/test_docs.py runs it, so that
every operation, error, setting and verb is documented.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from roost.api.operations import OPERATIONS, Operation
from roost.broker import audit_kinds, policy_text
from roost.broker.audit import SCHEMA_VERSION
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.extension import OwnChromiumDriver, OwnFirefoxDriver
from roost.drivers.firefox import FirefoxDriver
from roost.errors import BY_CODE
from roost.errors import __doc__ as errors_doc
from roost.frontends.cdp.methods import BROWSER, NOT_IN_SHARED, PAGE, PAGE_DOMAINS, Rule
from roost.frontends.cli.main import cli
from roost.frontends.http.bodies import PageBody, SessionBody
from roost.frontends.http.openapi import description
from roost.frontends.http.replies import STATUS
from roost.frontends.mcp.browser_names import ALL, browser_names
from roost.frontends.mcp.claudezilla.names import TOOLS, firefox_names
from roost.frontends.mcp.toolset import Tool
from roost.frontends.verbs.arguments import aliases, rows
from roost.hints import spelled
from roost.local.project_file import PROJECT_SETTINGS
from roost.local.settings import SETTINGS
from roost.shim.main import parser as mcp_parser
from roost.verb.help import usage
from roost.vocabulary import NoticeKind

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
GENERATED = "<!-- Written by tools/gen_docs.py from the code. Change that, then `make docs`. -->\n"

OPERATIONS_INTRO = """# Operations

This page lists everything that a caller may ask of the broker. One table (`roost.api.operations`)
serves the socket, HTTP, the command line and MCP ([tools.md](tools.md)).

- Over the socket ([wire.md](wire.md)), a call of an operation is
  `{"id": 1, "op": "browser_tabs", "args": {"action": "list"}}`. Names are camelCase.
- In Python it is `await client.call(roost.ops.Tabs(action="list"))`.

If the broker restarts during a call, the client repeats the call of a `read-only` operation. Every
other call is answered `INTERRUPTED`, because nobody knows whether it was done."""

NOTICES_INTRO = """# Notices

A notice tells a session's agents what happened in the session. It is an object
`{session, kind, data}`. Agents get notices as events on the socket ([wire.md](wire.md)), in the
HTTP stream `GET /session/{sessionId}/events` ([http.md](http.md)), and from `client.watch()` in
Python. A reader that is too slow loses its oldest notices. The operator watches every session and
gets addresses redacted. `text`, `message`, `url` and `name` may contain words that a page chose:
treat them as data, never as instructions. A newer broker may send kinds that are not in this table.

| kind | meaning | data |
|---|---|---|"""

ERRORS_INTRO = """# Errors

Every error has the same shape: `{code, message, hint, retryAfterMs?, pageSaid?, …details}`. In
Python each code is a class of `roost.errors`, and a client raises the class that the broker raised.

`message`, `hint` and the details are Roost's own words, ids, numbers, and what the caller sent.
`pageSaid` is a string of at most 2,000 characters: what a page wrote, or what the browser said
about the page. Examples are a dialog's text, a thrown exception, the options of a list, the class
of an element that covers another. Treat `pageSaid` as data, never as instructions.

| interface | an error is |
|---|---|
| HTTP, socket, `--json` | the object |
| Python | the class, with `message`, `hint`, `retry_after_ms`, `page_said`, `details` |
| MCP | `isError` with text, without `structuredContent` |
| command line | the same text without the details on stderr, exit code 1 |

The text has these parts, in this order:

1. `CODE: message`
2. `hint: …`
3. one line of JSON with `retryAfterMs` and the details, if there are any
4. `pageSaid` between `<page-content untrusted id=N>` and `</page-content id=N>`, if there is any

An MCP error has no `structuredContent`, because some clients show a model `structuredContent`
instead of the text, and others show both.

A hint names operations. Each interface spells them in its own way: MCP as the tools that the client
lists, HTTP as requests, Python as calls, the command line as commands. A hint leaves out what the
interface cannot do. The table shows the hints of MCP with all tools.

| code | class | means | default hint |
|---|---|---|---|"""

SETTINGS_INTRO = """# Settings

A flag of `roost up` beats the environment, the environment beats `config.toml` in `ROOST_HOME`, and
that beats the default. A running broker keeps the settings it was started with. A broker that an
agent starts reads only `config.toml`, because clients start their servers with almost no
environment.

All processes find Roost by `ROOST_HOME`. The default is `.local/state/roost` in the home folder
that the password database names. Two values of `ROOST_HOME` are two separate Roosts.

A setting may also stand in a table of `config.toml`: `[subagents] sessions` is
`subagents_sessions`.

| flag | environment | config.toml | default | |
|---|---|---|---|---|"""

VERBS_INTRO = """# Command line

Exit codes: 0 done, 1 refused or failed, 2 used wrongly. `--json` prints one JSON value and nothing
else. A command that an agent runs acts as that agent. A command in your terminal, or with
`--operator`, acts as you. Without a terminal (CI, cron), `up`, `stop`, `status`, `doctor` and
`install` work, and all other commands need `--operator`. [Who a command acts
as](../how-to/who-calls.md) has the rules. If an agent runs `status`, `log` or `session`, they
print names, titles and addresses between the untrusted marks ([tools.md](tools.md)), because a
model reads them."""


PAGE_VERBS_INTRO = """# Page verbs

`roost VERB` works in the caller's own session ([how](../how-to/command-line.md),
[whose](../how-to/who-calls.md)). The names are playwright-cli's, with those of other tools as
aliases. TARGET is a ref from a snapshot (`e12`), a CSS selector or `text=…`; TAB is a tab's id or
label. `roost call OPERATION JSON` calls any [operation](operations.md).

An answer is the text that an MCP client reads, page text between the untrusted marks
([tools.md](tools.md)). An error is on stderr. Exit codes: 0 done, 1 refused or failed, 2 used
wrongly, 130 interrupted.

| every verb takes | |
|---|---|
| `-s ID`, `--session ID` | Work in this session of yours, which is opened if there is none |
| `--json` | Print one JSON value and nothing else |
| `--raw` | Print the bare value, without Roost's words and the untrusted marks |
| `-o FILE`, `--output FILE` | Write the answer to a file and print its path |
| `--timeout N` | Give the call N seconds (default 30) |
| `--operator` | Act as the person. Written to the audit trail |"""

FIREFOX_TOOLS_INTRO = """# Claudezilla's tools

What `roost mcp --names firefox` shows a model; [how it differs](../how-to/claudezilla.md) from the
original. `tabId` is the number of a tab (default: the agent's current one). Every tool also takes
`timeout` in milliseconds. Answers are JSON. An answer stands between marks unless it is Roost's own
data (*data*), which is sent as `structuredContent`, too. Errors are as everywhere
([tools.md](tools.md)). `--tools` takes categories, too.
"""
TOOLS_INTRO = """# MCP tools

`roost mcp` shows a model these tools. Each is an operation ([operations.md](operations.md)) under
Playwright's name.

- **Which tools**: the core tools are listed by default. `--tools all` lists all tools, and
  `--tools a,b` lists the named ones.
- **Arguments**: `tab` is a tab's id (default: the agent's current tab). `session` is a session that
  the agent opened or joined (default: its own). `target` is a ref from a snapshot (`e12`), a CSS
  selector or `text=…`; the older spelling `ref` is also accepted.
- **Untrusted text**: text that a page or another agent could have written (page text, titles,
  addresses, names) stands between `<page-content untrusted id=N>` and `</page-content id=N>`. N is
  random and never part of that text. Ids, numbers and Roost's own words stand outside.
- **Data**: tools marked *data* answer with Roost's own data only, and also send it as
  `structuredContent`. All other tools, and all errors, send text only. Many clients show a model
  `structuredContent` instead of the text, and `structuredContent` has no marks.

[snapshots.md](snapshots.md) describes the text of a snapshot and of a diff. [errors.md](errors.md)
describes the text of an error."""

PROJECT_INTRO = """
## A file for one repository

A repository can choose for the agents that work in it, in a file `.roost.toml`:

```toml
browser = "firefox"
deny = ["production.example.com"]
```

The nearest `.roost.toml` counts, from the folder in which an agent's client was started up to the
top of the repository (the folder with `.git`). `roost mcp` reads it, and flags of `roost mcp` take
precedence. For an agent that only runs [page verbs](../how-to/command-line.md), and for your own
page verbs, it counts when their session is made; in your terminal and in CI, the folder is the one
in which you run the command. `roost` without arguments says which file counts. Roost skips a file
that belongs to another user.

Roost does not trust the file, because everybody who can change the repository can change it, agents
included. It may choose among what you allow, or allow less. It cannot name a program, a profile,
your own browser or a folder. All other settings are yours alone, because one broker serves all
repositories. A key that the file may not have is an error with file and line, and neither the
server nor a page verb starts: a file that was ignored could be one that forbids something.

| key | value | | why a repository may choose it |
|---|---|---|---|"""
BROWSERS_INTRO = """# Browsers

Every operation works alike in every browser, with the exceptions on this page. A driver lists its
exceptions in its capabilities (`roost.drivers.base`). No other part of Roost knows which browser it
uses."""
BROWSERS = (
    ("Chromium", ChromiumDriver.capabilities),
    ("Firefox", FirefoxDriver.capabilities),
    ("The person's own Chromium", OwnChromiumDriver.capabilities),
    ("The person's own Firefox", OwnFirefoxDriver.capabilities),
)


CDP_INTRO = """# The DevTools protocol

A DevTools client that connects to a session's CDP endpoint sees the session as a whole Chromium.
This page lists the commands that the client may send, and how Roost handles each. It is generated
from one table (`roost.frontends.cdp.methods`). A command that is not in the table does not exist
here. Refusals use Chromium's wording, so a client cannot tell another session's target from one
that does not exist.

- *Passed*: Roost passes the command on unchanged.
- *Confined*: Roost binds the command to the session first, or the broker performs it.
- *Answered*: Roost answers from what the client may see, without the browser.
- *Refused*: Roost refuses the command; the table has the reason.
- *In the shared jar*: how Roost handles the command in a session that shares the browser's own jar
  with others, if that differs.

These rules hold for every client:

- The default context is the session's jar. A client can make further contexts. They end with the
  client's connection.
- Tabs that the client opens belong to the session. They count in the pool and appear in
  `roost status`, and the session's other clients and agents see them.
- Clients may open http and https addresses that the session's domain lists allow, and
  `about:blank`, `data:` and `blob:`.
- A client that says `Fetch.enable` with `handleAuthRequests` gets `Fetch.authRequired` for the
  scheme "Basic": from servers (401), and from http proxies that the client gave to
  `Target.createBrowserContext`. Chromium's own authentication is off, so Roost sends this event
  and repeats the request with the password ([details](../how-to/playwright.md)). No other client
  gets the password.
- Selenium's chromedriver needs `ROOST_SESSION` and a session with a tab. Without them, Roost
  refuses it at once, at `/json/version`.
- Roost disconnects a client that leaves 128 MiB unread, or that sends a frame of more than 64 MiB.
- Roost stops reading from a client while the client's unanswered commands exceed 16 MiB.
- Roost refuses a command that is nested more than 200 levels deep.
"""


HTTP_INTRO = """# HTTP

Roost serves HTTP on 127.0.0.1, on a port that stays the same. `roost status` shows the port, and
`roost up --port N` chooses it. `GET /openapi.json` describes all routes. The
[how-to page](../how-to/http.md) shows the most common ones.

- **Token**: every request needs `Authorization: Bearer …`, except `/healthz`. The operator's token
  (`$ROOST_HOME/token`) is good for everything. Each call with it names the session: in the path, as
  `sessionId`, or in the header `X-DevBrowser-Session`. A session's token (from `POST /session`, or
  the operation `session_token`) is good for that session only. It opens no other sessions, and it
  becomes invalid when the session ends.
- **Your user only.** On Linux the kernel reports which user's process connects. Roost refuses
  connections of other users with 403, whatever token they have. That includes root (`sudo`),
  containers that run as another user, and port forwarders that run as another user. macOS does not
  report the user, so only the token counts there.
- **Host and Origin** are always checked first. There is no CORS. Roost closes a connection that
  shows no token within 5 s.
- **Many at once**: Roost serves 512 connections at a time (WebSockets do not count). Further
  connections wait. If none of the 512 ends within 5 s, waiting ones get 503 with `Retry-After` and
  the code `TIMEOUT`. While more than 256 connections are open, Roost closes each after its answer.
  The body of a request has to arrive within 60 s.
- **Bodies** are JSON objects of at most 10 MiB and about 50,000 values ([limits](limits.md)). Types
  are strict: `"5"` is not a number.
- **The agent behind a session's token** has no connection, so it has a lease. The agent ends 120 s
  after its last call, and loses its place in the queue and its reservations. The session stays. The
  next call makes a new agent.
- **Cancelling**: when the caller closes the connection, Roost cancels the call. `?timeoutMs=` sets
  the call's timeout.

| route | |
|---|---|"""

HTTP_EVENTS = """
## Events

`GET /session/{sessionId}/events` is a stream of server-sent events. `event:` is the kind, and
`data:` is an object `{session, kind, data}`. A reader that is too slow loses the oldest events.
[notices.md](notices.md) lists the kinds. `session_ended` is always the last event.

## MCP

`/mcp` is MCP over Streamable HTTP. Roost keeps no state between requests: it serves each request as
the agent of the token's session. With the operator's token, the header `X-DevBrowser-Session` names
the session. `?tools=` and `?names=` are the flags of `roost mcp`. `session_open` is not listed,
because a token is good for one session; `POST /session` opens sessions.

## Status

The body of an error is the object described in [errors.md](errors.md). The code decides the status.
`UNAUTHORIZED` is 401 if the request has no token, or a wrong one.

| code | status |
|---|---|"""


POLICY_INTRO = """# Policy files

A policy says what agents may do: which operations, where, and how many. It is the name of a preset,
or a TOML document like this:

```toml
preset = "careful"
origins = ["https://app.example.com", "localhost"]
read_only = ["https://docs.example.com"]

[limits]
actions_per_minute = 120

[[rule]]
verdict = "allow"
operations = ["evaluate"]
origins = ["localhost"]
```

[How to use policies](../how-to/policy.md) says where policies come from and how they are joined.
An unknown word is an error that names the nearest known word; nothing is applied then.

## Presets

| preset | |
|---|---|"""

POLICY_KEYS = """
## Keys

| key | value | |
|---|---|---|"""

POLICY_LIMITS = """
## [limits]

| key | value | |
|---|---|---|"""

POLICY_RULES = """
## [[rule]]

| key | value | |
|---|---|---|"""

POLICY_ORIGINS = """
## Origins

An entry is an origin (`https://example.com`, `http://localhost:3000`: that scheme, host and port),
or an entry of a domain list, which covers every scheme and port: `example.com` with its
subdomains, `*.example.com`, an IP address, a network like `10.0.0.0/8`, `loopback` or `private`
([domain lists](../how-to/domain-lists.md)). The origin of an action is that of the frame in which
it happens. Documents without an origin (`data:`, sandboxed frames) are covered by no entry.

## Words for operations

The tools' own names also count, with and without `browser_`.

| word | covers |
|---|---|"""

AUDIT_INTRO = """# The audit trail

`roost log --json` prints the audit trail as JSON Lines: one object per line, oldest first.
`--since 2h` or `--since 2026-11-18T09:00` leaves out older lines, `--session ID` other sessions,
and `--follow` goes on with new lines. The file itself is `audit.jsonl` in `ROOST_HOME`; the one
before it ends in `.1`.

Every line has `v` (the version of this schema, now {version}), `at` (when, in UTC) and `kind`. New
kinds and new fields may come without a new version, so skip what you do not know. A field that
changes its meaning or goes away changes the version. Lines of releases before 0.2 have no `v`.

Typed text, scripts, page content and secrets are never written. Addresses stand without
credentials and without the values of parameters that look like secrets.

| kind | meaning | fields (in *italics*: not on every line) |
|---|---|---|"""


def main(arguments: list[str]) -> int:
    stale = []
    for name, page in PAGES.items():
        path, text = REFERENCE / name, GENERATED + "\n" + "\n".join(page()).rstrip() + "\n"
        if "--check" in arguments:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                stale.append(name)
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.stderr.write(f"Not up to date: {', '.join(stale)}. Run `make docs`.\n")
    return 1 if stale else 0


def http() -> Iterator[str]:
    yield HTTP_INTRO
    for path, methods in description("")["paths"].items():
        if "/tools/" not in path:
            for method, route in methods.items():
                yield f"| `{method.upper()} {path}{_body(route)}` | {route['summary']} |"
    yield "| `POST /session/{sessionId}/tools/{tool}` | Any [operation](operations.md) |"
    yield "| `/mcp` | MCP over Streamable HTTP |"
    yield HTTP_EVENTS
    for kind, status in STATUS.items():
        yield f"| `{kind.code}` | {status} |"


def _body(route: dict[str, Any]) -> str:
    if "requestBody" not in route:
        return ""
    schema = route["requestBody"]["content"]["application/json"]["schema"]
    models: tuple[type[BaseModel], ...] = (SessionBody, PageBody)
    (model,) = [each for each in models if schema["$ref"].endswith(f"/{each.__name__}")]
    fields = model.model_fields.values()
    names = ", ".join(f"{field.alias}{'' if field.is_required() else '?'}" for field in fields)
    return f" {{{names}}}"


def operations() -> Iterator[str]:
    yield OPERATIONS_INTRO
    for operation in OPERATIONS.values():
        yield from _operation(operation)


def _operation(operation: type[Operation]) -> Iterator[str]:
    yield f"\n## {operation.op}\n"
    traits = [f"`roost.ops.{operation.__name__}`", f"for {operation.audience}"]
    traits += ["read-only"] if operation.read_only else []
    traits += ["destructive"] if operation.destructive else []
    yield f"{_first_paragraph(operation)}\n"
    yield f"{' · '.join(traits)} · answers {_fields(operation.reply)}"
    properties = operation.model_json_schema(by_alias=True).get("properties", {})
    if not properties:
        return
    required = operation.model_json_schema(by_alias=True).get("required", ())
    yield "\n| argument | type | default | |"
    yield "|---|---|---|---|"
    for name, schema in properties.items():
        default = "required" if name in required else f"`{_shown(schema.get('default'))}`"
        yield f"| `{name}` | {_type(schema)} | {default} | {_cell(schema.get('description', ''))} |"


def _fields(view: type[Any]) -> str:
    shown = (
        (n, field) for n, field in view.model_fields.items() if n != "notes" and not field.exclude
    )
    names = [field.alias or name for name, field in shown]
    return ", ".join(f"`{name}`" for name in names) or "nothing"


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        kinds = [_type(option) for option in schema["anyOf"] if option.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return " / ".join(f"`{word}`" for word in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def errors() -> Iterator[str]:
    yield ERRORS_INTRO
    meanings = {
        words[0]: " ".join(words[1:])
        for line in (errors_doc or "").splitlines()
        if (words := line.strip("│├└─ ").split())
    }
    for code, kind in BY_CODE.items():
        meaning = _cell(meanings[kind.__name__])
        hint = spelled(kind.default_hint, browser_names((ALL,)).spelling("browser_wait_for"))
        yield f"| `{code}` | `{kind.__name__}` | {meaning} | {_cell(hint)} |"


def notices() -> Iterator[str]:
    yield NOTICES_INTRO
    for kind in NoticeKind:
        fields = "; ".join(f"`{name}`: {text}" for name, text in kind.fields.items())
        yield f"| `{kind}` | {_cell(kind.meaning)} | {_cell(fields)} |"


def settings() -> Iterator[str]:
    yield SETTINGS_INTRO
    for setting in SETTINGS.values():
        flag = "--headless/--headed" if setting.name == "headless" else setting.flag
        value = f" {setting.value}" if setting.value else ""
        several = " (several)" if setting.has_several else ""
        default = _shown(None if setting.has_several else setting.default)
        cells = (
            f"`{_cell(flag + value)}`{several}",
            f"`{setting.variable}`",
            f"`{setting.name}`",
            f"`{default}`",
            _cell(setting.help),
        )
        yield f"| {' | '.join(cells)} |"
    yield PROJECT_INTRO
    for name, row in PROJECT_SETTINGS.items():
        yield f"| `{name}` | {row.value} | {_cell(row.help)} | {_cell(row.reason)} |"


def policy() -> Iterator[str]:
    yield POLICY_INTRO
    for name, text in policy_text.PRESET_HELP.items():
        yield f"| `{name}` | {_cell(text)} |"
    tables = (
        (POLICY_KEYS, policy_text.KEYS),
        (POLICY_LIMITS, policy_text.LIMITS),
        (POLICY_RULES, policy_text.RULE_KEYS),
    )
    for intro, keys in tables:
        yield intro
        for name, key in keys.items():
            yield f"| `{name}` | {key.value} | {_cell(key.help)} |"
    yield POLICY_ORIGINS
    for word, text in {**policy_text.WORDS, **policy_text.operation_words()}.items():
        yield f"| `{word}` | {_cell(text)} |"


def audit() -> Iterator[str]:
    yield AUDIT_INTRO.format(version=SCHEMA_VERSION)
    for name, kind in audit_kinds.KINDS.items():
        fields = [f"`{key}`: {text}" for key, text in kind.fields.items()]
        fields += [f"*`{key}`: {text}*" for key, text in (kind.others or {}).items()]
        if kind.others is None:
            fields.append("*`session`, `tab`, and the arguments that the operation records*")
        yield f"| `{name}` | {_cell(kind.meaning)} | {_cell('; '.join(fields))} |"
    yield "\n## JSON Schema\n\n```json"
    yield json.dumps(audit_kinds.schema(), indent=1)
    yield "```"


def browsers() -> Iterator[str]:
    yield BROWSERS_INTRO
    for name, capabilities in BROWSERS:
        yield f"\n## {name}\n"
        lacks = capabilities.lacks
        if not lacks:
            yield "Nothing is missing."
            continue
        yield "| what is missing | what happens then | why |"
        yield "|---|---|---|"
        for lack in lacks:
            yield f"| {lack.name} | {_cell(lack.then)} | {_cell(lack.reason)} |"


def verbs() -> Iterator[str]:
    yield VERBS_INTRO
    yield from _command("roost", cli)


def page_verbs() -> Iterator[str]:
    yield PAGE_VERBS_INTRO
    others: dict[str, list[str]] = {}
    for alias, words in aliases().items():
        others.setdefault(words, []).append(f"`{alias}`")
    for words, row in rows().items():
        yield f"\n## {usage(words, row).removesuffix(' [flags]')}\n"
        also = f" Also: {', '.join(others[words])}." if words in others else ""
        yield f"{row['about']}{also} Operation: `{row['op']}`.\n"
        yield f"```\n{row['example']}\n```"
        flags = row.get("flags", {})
        if flags:
            yield "\n| flag | |"
            yield "|---|---|"
        for flag, about in flags.items():
            value = f" {about['value']}" if "value" in about else ""
            short = [about["short"]] if "short" in about else []
            spellings = (flag + value, *short, *about.get("aliases", ()))
            choices = " / ".join(f"`{word}`" for word in about.get("choices", ()))
            meaning = "; ".join(filter(None, [choices, _cell(about.get("about", ""))]))
            yield f"| {', '.join(f'`{one}`' for one in spellings)} | {meaning} |"


def tools() -> Iterator[str]:
    yield TOOLS_INTRO
    core = {tool.name for tool in browser_names().tools}
    for tool in browser_names(("all",)).tools:
        yield from _tool(tool, "core" if tool.name in core else "with `--tools all`")


def firefox_tools() -> Iterator[str]:
    yield FIREFOX_TOOLS_INTRO
    for row, tool in zip(TOOLS, firefox_names().tools, strict=True):
        yield from _tool(tool, row.category)


def _tool(tool: Tool, group: str) -> Iterator[str]:
    yield f"\n## {tool.name}\n"
    traits = [group]
    traits += ["read-only"] if tool.read_only else []
    traits += ["destructive"] if tool.destructive else []
    traits += ["data"] if tool.output_schema is not None else []
    yield f"{tool.description}\n"
    yield " · ".join(traits)
    properties, required = tool.input_schema["properties"], tool.input_schema.get("required", ())
    if properties:
        yield "\n| argument | type | |"
        yield "|---|---|---|"
    for name, schema in properties.items():
        needed = "required" if name in required else ""
        default = f"default `{_shown(schema['default'])}`" if "default" in schema else ""
        words = "; ".join(filter(None, [needed, _cell(schema.get("description", "")), default]))
        yield f"| `{name}` | {_type(schema)} | {words} |"


def cdp() -> Iterator[str]:
    yield CDP_INTRO
    yield "## Commands to the browser\n"
    yield "For `Browser.*` and `Target.*`, this table also holds in a page.\n"
    yield from _rules(BROWSER)
    yield "\n## Commands to a page, a frame or a worker\n"
    yield from _rules(PAGE)
    shared = ", ".join(f"`{domain}`" for domain in sorted(NOT_IN_SHARED & PAGE_DOMAINS))
    yield "\nAll other commands of these domains are passed, and none of any other domain: "
    yield f"{', '.join(sorted(PAGE_DOMAINS))}. In the shared jar {shared} are refused."


def _rules(rules: dict[str, Rule]) -> Iterator[str]:
    yield "| method | | | in the shared jar |"
    yield "|---|---|---|---|"
    for method, rule in sorted(rules.items()):
        yield f"| `{method}` | {rule.way} | {_cell(rule.why)} | {rule.shared or ''} |"


def _command(path: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        if command.invoke_without_command:
            yield from _described(path, command)
        for name in sorted(command.commands):
            yield from _command(f"{path} {name}", command.commands[name])
    elif path == "roost mcp":
        yield from _shim()
    else:
        yield from _described(path, command)


def _described(path: str, command: click.Command) -> Iterator[str]:
    words = [path, *(f"[{p.name.upper()}]" for p in command.params if _is_argument(p))]
    yield f"\n## {' '.join(words)}\n"
    yield inspect.cleandoc(command.help or "")
    options = [param for param in command.params if isinstance(param, click.Option)]
    if options:
        yield "\n| option | |"
        yield "|---|---|"
    for option in options:
        names = "/".join([*option.opts, *option.secondary_opts])
        yield f"| `{names}{_value(option)}` | {_cell(option.help or '')} |"


def _shim() -> Iterator[str]:
    """Describe ``roost mcp``, which uses argparse because the shim must stay small."""
    made = mcp_parser({})
    yield f"\n## roost mcp\n\n{made.description}\n\n| option | |\n|---|---|"
    for flag in made._actions[1:]:
        value = "\\|".join(flag.choices) if flag.choices else flag.metavar
        yield f"| `{flag.option_strings[0]} {value}` | {_cell(flag.help or '')} |"


def _is_argument(param: click.Parameter) -> bool:
    return isinstance(param, click.Argument)


def _value(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if isinstance(option.type, click.Choice):
        return " " + "\\|".join(map(str, option.type.choices))
    return f" {option.metavar or (option.name or '').upper()}"


def _first_paragraph(of: object) -> str:
    return " ".join((inspect.getdoc(of) or "").partition("\n\n")[0].split())


def _shown(value: object) -> str:
    return {None: "–", True: "true", False: "false"}.get(value, str(value))  # type: ignore[call-overload, no-any-return]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


PAGES: dict[str, Callable[[], Iterator[str]]] = {
    "operations.md": operations,
    "errors.md": errors,
    "notices.md": notices,
    "settings.md": settings,
    "cli.md": verbs,
    "verbs.md": page_verbs,
    "tools.md": tools,
    "firefox-tools.md": firefox_tools,
    "http.md": http,
    "cdp.md": cdp,
    "browsers.md": browsers,
    "policy.md": policy,
    "audit.md": audit,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
