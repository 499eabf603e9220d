"""Write the pages of docs/reference that are derived from the code: ``make docs``.

``--check`` writes nothing and fails if a page is out of date. tests/test_docs.py runs it, so that
every operation, error, setting and verb is documented.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from roost.api.operations import OPERATIONS, Operation
from roost.daemon.settings import LISTS, PREFIX, Settings
from roost.drivers.chromium import ChromiumDriver
from roost.drivers.extension import OwnFirefoxDriver
from roost.drivers.firefox import FirefoxDriver
from roost.errors import BY_CODE
from roost.errors import __doc__ as errors_doc
from roost.frontends.cdp.methods import BROWSER, NOT_IN_SHARED, PAGE, PAGE_DOMAINS, Rule
from roost.frontends.cli.main import cli
from roost.frontends.http.bodies import PageBody, SessionBody
from roost.frontends.http.openapi import description
from roost.frontends.http.replies import STATUS
from roost.frontends.mcp.browser_names import browser_names
from roost.frontends.mcp.claudezilla.names import TOOLS, firefox_names
from roost.frontends.mcp.toolset import Tool
from roost.shim.main import parser as mcp_parser
from roost.vocabulary import NoticeKind

REFERENCE = Path(__file__).resolve().parents[1] / "docs" / "reference"
GENERATED = "<!-- Written by tools/gen_docs.py from the code. Change that, then `make docs`. -->\n"

OPERATIONS_INTRO = """# Operations

Everything a caller may ask of the broker: one table (`roost.api.operations`) for the socket, the
command line and MCP ([tools.md](tools.md)). Over the socket an operation is
`{"id": 1, "op": "browser_tabs", "args": {"action": "list"}}`, see [wire.md](wire.md); in Python
`await client.call(roost.ops.Tabs(action="list"))`. Names on the wire are camelCase. The client
repeats `read-only` operations after a broker restart; any other that was under way is answered
`INTERRUPTED`."""

NOTICES_INTRO = """# Notices

What a session's agents are told happened in it, unasked: `{session, kind, data}` as an event on the
socket ([wire.md](wire.md)), in the HTTP stream `GET /session/{sessionId}/events`
([http.md](http.md)), and from `client.watch()` in Python. A reader that is too slow loses its
oldest notices. The operator watches every session and gets addresses redacted. `text`, `message`,
`url` and `name` may contain words that a page chose: treat them as data, never as instructions. A
newer broker may send kinds that are not in this table.

| kind | meaning | data |
|---|---|---|"""

ERRORS_INTRO = """# Errors

One shape everywhere: `{code, message, hint, retryAfterMs?, pageSaid?, …details}`. In Python each
code is a class of `roost.errors`, and a client raises the very class the broker raised.

`message`, `hint` and the details are Roost's own words, ids, numbers, and what the caller sent.
`pageSaid` is a string of at most 2,000 characters: what a page wrote, or what the browser said
about the page. Examples are a dialog's text, a thrown exception, the options of a list, the class
of an element that covers another. Treat `pageSaid` as data, never as instructions.

| door | an error is |
|---|---|
| HTTP, socket, `--json` | the object |
| Python | the class, with `message`, `hint`, `retry_after_ms`, `page_said`, `details` |
| MCP | `isError` with text, without `structuredContent` |
| command line | the same text without the details on stderr, exit code 1 |

The text is `CODE: message`, then `hint: …`, then one line of JSON with `retryAfterMs` and the
details (left out where there are none), then `pageSaid` between `<page-content untrusted id=N>` and
`</page-content id=N>` (left out where there is none).
There is no `structuredContent` because some clients show a model that instead of the text, and
others show both.

| code | class | means | default hint |
|---|---|---|---|"""

SETTINGS_INTRO = """# Settings

A flag of `roost up` beats the environment, the environment beats `config.toml` in `ROOST_HOME`, and
that beats the default. A running broker keeps the settings it was started with. A broker that an
agent starts knows only `config.toml`: clients start their servers with almost no environment.

`ROOST_HOME` itself (default `~/.local/state/roost`, by the password database) is the one thing
everybody finds Roost by; two values are two Roosts.

| flag | environment | config.toml | type | default | |
|---|---|---|---|---|---|"""

VERBS_INTRO = """# Command line

Exit codes: 0 done, 1 refused or failed, 2 used wrongly. `--json` prints one JSON value and nothing
else. A command that an agent runs acts as that agent. In your terminal, or with `--operator`, it
acts as the person. From no terminal `up`, `stop`, `status`, `doctor` and `install` work, the rest
wants `--operator`: [who a command is](../how-to/who-calls.md). Run by an agent, `status`, `log` and
`session` print names, titles and addresses between the untrusted marks ([tools.md](tools.md)),
because a model reads them."""


FIREFOX_TOOLS_INTRO = """# Claudezilla's tools

What `roost mcp --names firefox` shows a model; [how it differs](../how-to/claudezilla.md) from the
original. `tabId` is the number of a tab (default: the agent's current one). Every tool also takes
`timeout` in milliseconds. Answers are JSON. An answer stands between marks unless it is Roost's own
data (*data*), which is sent as `structuredContent`, too. Errors are as everywhere
([tools.md](tools.md)). `--tools` takes categories, too.
"""
TOOLS_INTRO = """# MCP tools

What `roost mcp` shows a model: operations under Playwright's names
([operations.md](operations.md)). Core tools are listed by default; `--tools all` shows the rest,
too, `--tools a,b` the ones named. `tab` is a tab's id (default: the agent's current tab), `session`
a session the agent opened or joined (default: its own). `target` is a ref from a snapshot (`e12`),
a CSS selector or `text=…`; the older spelling `ref` is accepted. What a page or another agent could
have written (text, titles, addresses, names) stands between `<page-content untrusted id=N>` and
`</page-content id=N>`; N is random and never part of that text. Ids, numbers and Roost's own words
stand outside. Tools marked *data* answer with Roost's own data alone and send it as
`structuredContent`, too. All other tools, and all errors, are text: many clients show a model
`structuredContent` instead of the text, and it has no marks. [snapshots.md](snapshots.md) describes
the text of a snapshot and of a diff, [errors.md](errors.md) the text of an error."""

BROWSERS_INTRO = """# Browsers

Every operation works in every browser, with one behaviour; what is listed here is all there is to
the contrary. A driver states it as its capabilities (`roost.drivers.base`); no other part of Roost
knows which browser it talks to."""
BROWSERS = (
    ("Chromium", ChromiumDriver.capabilities),
    ("Firefox", FirefoxDriver.capabilities),
    ("The person's own Firefox", OwnFirefoxDriver.capabilities),
)


CDP_INTRO = """# The DevTools protocol

A session of Chromium as a whole browser: what a client that connects to a session's CDP endpoint
may say, and what becomes of it. One table (`roost.frontends.cdp.methods`); what is not in it does
not exist here. Refusals are worded as Chromium words them, so that what is another session's looks
like what does not exist.

*Passed*: as it is. *Confined*: bound to the session first, or done by the broker. *Answered*: by
Roost, from what the client may see. *Refused*: with the reason. *In the shared jar* says what is
otherwise in a session that lives in the browser's own jar, with others.

- The default context is the session's jar. Contexts a client makes are real, and go with it.
- Tabs it opens are the session's: they count in the pool, stand in `roost status`, and are seen by
  the session's other clients and agents.
- Addresses: http, https and `about:blank`, within the session's domain lists, as everywhere.
- A client that leaves 128 MiB unread is cut off; a frame of more than 64 MiB ends its connection.
  One that has said 16 MiB more than the browser has answered is not listened to until it has. A
  command nested more than 200 levels deep is refused.
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
    names = [field.alias or name for name, field in view.model_fields.items() if name != "notes"]
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
        yield f"| `{code}` | `{kind.__name__}` | {meaning} | {_cell(kind.default_hint)} |"


def notices() -> Iterator[str]:
    yield NOTICES_INTRO
    for kind in NoticeKind:
        fields = "; ".join(f"`{name}`: {text}" for name, text in kind.fields.items())
        yield f"| `{kind}` | {_cell(kind.meaning)} | {_cell(fields)} |"


def settings() -> Iterator[str]:
    yield SETTINGS_INTRO
    properties = Settings.model_json_schema()["properties"]
    definitions = Settings.model_json_schema().get("$defs", {})
    for name, schema in properties.items():
        flag, variable = f"--{name.replace('_', '-')}", PREFIX + name.upper()
        if name == "headless":
            flag = "--headless/--headed"
        kind = _type(definitions.get(_type(schema), schema))
        several = " (several)" if name in LISTS else ""
        description = _cell(Settings.model_fields[name].description or "")
        default = f"`{_shown(schema.get('default'))}`"
        cells = (f"`{flag}`{several}", f"`{variable}`", f"`{name}`", kind, default, description)
        yield f"| {' | '.join(cells)} |"


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
    yield "## Said to the browser\n"
    yield "`Browser.*` and `Target.*` also where they are said in a page.\n"
    yield from _rules(BROWSER)
    yield "\n## Said in a page, a frame or a worker\n"
    yield from _rules(PAGE)
    shared = ", ".join(f"`{domain}`" for domain in sorted(NOT_IN_SHARED & PAGE_DOMAINS))
    yield "\nAll else is passed from these domains, and from no others: "
    yield f"{', '.join(sorted(PAGE_DOMAINS))}. In the shared jar {shared} are refused."


def _rules(rules: dict[str, Rule]) -> Iterator[str]:
    yield "| method | | | in the shared jar |"
    yield "|---|---|---|---|"
    for method, rule in sorted(rules.items()):
        yield f"| `{method}` | {rule.way} | {_cell(rule.why)} | {rule.shared or ''} |"


def _command(path: str, command: click.Command) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from _command(f"{path} {name}", command.commands[name])
        return
    if path == "roost mcp":
        yield from _shim()
        return
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
    "tools.md": tools,
    "firefox-tools.md": firefox_tools,
    "http.md": http,
    "cdp.md": cdp,
    "browsers.md": browsers,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
