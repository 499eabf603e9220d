"""``roost mcp``: reads flags and environment, then relays."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from roost import __version__
from roost.errors import BadRequest
from roost.local.home import Home
from roost.local.project_place import find_project
from roost.shim.broker_connection import Connector, ShimConnection
from roost.shim.prepared_answers import PreparedAnswers
from roost.shim.pump import Pump
from roost.shim.relay import Relay
from roost.vocabulary import JarPolicy, SessionId, conversation_in, is_session_id
from roost.wire.hello import ClientKind, Hello

if TYPE_CHECKING:
    from roost.local.project_file import Project


def main(arguments: Sequence[str]) -> int:
    """Relay between the client and the broker until the client is gone."""
    options = parser(os.environ).parse_args(arguments)
    try:
        hello = hello_from(options, os.environ, _project())
    except BadRequest as error:  # the client shows it as the reason why its server did not start
        sys.stderr.write(f"{error}\nhint: {error.hint}\n")
        return 1
    if options.fleet:
        return _become_fleet_relay(options, hello)
    connector = Connector(Home.find(), hello)
    relay = Relay(PreparedAnswers(hello.names, hello.tools))

    def reach() -> ShimConnection:
        return connector.reach(relay.client_name)

    Pump(relay, reach, connector.start).run()
    return 0


def _become_fleet_relay(options: argparse.Namespace, hello: Hello) -> int:
    """Replace this process by the relay to a fleet.

    The gateway passes on no domain lists and no folders, so refuse them: an agent must not be less
    limited than the person thinks.
    """
    import json

    if hello.allow or hello.deny or hello.files:
        sys.stderr.write(
            "BAD_REQUEST: --allow, --deny and --files do not work with --fleet.\n"
            "hint: Leave them out, or use the browser of this machine.\n"
        )
        return 1
    wanted = {
        "url": options.fleet,
        "session": None if hello.resumable else hello.session,
        "name": hello.name,
        "browser": hello.browser,
        "jar": hello.jar,
        "profile": hello.profile,
        "names": hello.names,
        "tools": list(hello.tools),
    }
    words = [sys.executable, "-P", "-m", "roost.fleet.mcp_relay", json.dumps(wanted)]
    os.execv(sys.executable, words)


def parser(environ: Mapping[str, str]) -> argparse.ArgumentParser:
    """Return the parser of the flags. The broker checks their values again."""
    made = argparse.ArgumentParser(
        prog="roost mcp",
        description="MCP server on stdio for one agent. Starts the broker if there is none.",
    )
    made.add_argument(
        "--session",
        type=_session,
        default=environ.get("ROOST_SESSION") or None,
        metavar="ID",
        help="join or make this session; default: ROOST_SESSION, else one of its own",
    )
    made.add_argument(
        "--fleet",
        default=environ.get("ROOST_FLEET") or None,
        metavar="URL",
        help="use the fleet at this address; default: ROOST_FLEET, else this machine",
    )
    made.add_argument("--name", metavar="TEXT", help="what people see; default: client and folder")
    made.add_argument("--browser", metavar="NAME", help="auto (default), chromium, firefox, mine")
    made.add_argument(
        "--jar", choices=[jar.value for jar in JarPolicy], help="cookies and storage of the session"
    )
    made.add_argument("--profile", metavar="NAME", help="logins to clone, with --jar clone")
    for name, meaning in (("--allow", "only"), ("--deny", "none of")):
        what = f"{meaning} these sites, addresses or networks (also: loopback, private)"
        made.add_argument(name, type=_words, default=(), metavar="DOMAINS", help=what)
    what = "narrow what the agent may do: careful, lockdown, or a policy file"
    made.add_argument("--policy", metavar="FILE|PRESET", help=what)
    made.add_argument(
        "--files", action="append", default=[], metavar="DIR", help="folder the agent may also use"
    )
    made.add_argument("--names", metavar="SET", help="tool names: browser (default) or firefox")
    made.add_argument(
        "--tools", type=_words, default=(), metavar="TOOLS", help="core (default), all, or names"
    )
    return made


def hello_from(
    options: argparse.Namespace, environ: Mapping[str, str], project: Project | None = None
) -> Hello:
    """Return this agent's hello, without the token, which ``Connector`` adds.

    project: what the repository chooses. Flags take precedence, and lists to deny are joined.
    """
    if project is not None:
        options.browser = options.browser or project.browser
        options.jar = options.jar or project.jar
        options.allow = options.allow or project.allow
        options.deny = (*options.deny, *project.deny)
        options.tools = options.tools or project.tools
    session, resumable = options.session, False
    if session is None:  # a conversation resumes its own session, which is kept for 24 h
        session = conversation_in(environ)
        resumable = session is not None
    return Hello(
        token="",
        kind=ClientKind.MCP,
        software=__version__,
        name=options.name,
        cwd=_working_folder(),
        session=session,
        resumable=resumable,
        browser=None if options.browser == "auto" else options.browser,
        jar=None if options.jar is None else JarPolicy(options.jar),
        profile=options.profile,
        allow=options.allow,
        deny=options.deny,
        policy=None if options.policy is None else _policy(options.policy),
        project_policy=None if project is None else project.policy,
        files=tuple(os.path.abspath(folder) for folder in options.files),
        names=options.names,
        tools=options.tools,
    )


def _project() -> Project | None:
    """Return what the nearest ``.roost.toml`` chooses, if there is one."""
    path = find_project(_working_folder())
    if path is None:
        return None
    from roost.local.project_file import read_project  # most folders have no such file

    return read_project(path)


def _policy(named: str) -> str:
    from pathlib import Path  # most agents are started without a policy

    from roost.local.policy_place import policy_text

    return policy_text(named, Path(_working_folder() or "/"))


def _working_folder() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody removed the folder
        return None


def _session(text: str) -> SessionId:
    if not is_session_id(text):
        raise argparse.ArgumentTypeError(
            "a session id is at most 64 letters, digits and . _ : -, a letter or digit first"
        )
    return SessionId(text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in (part.strip() for part in text.split(",")) if word)
