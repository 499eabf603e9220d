"""``roost session …``: manage sessions by hand. Each verb is one operation, with its arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.status import sessions_table
from roost.frontends.cli.terminal import echo_json, plain, show, show_lines
from roost.vocabulary import JarPolicy, NoticeKind, QuestionAnswer

if TYPE_CHECKING:
    from roost.api.views import SessionView, View
    from roost.frontends.cli.broker_call import Broker

FRONT_SECONDS = 5.0
"""How long a command waits for a browser to show a window."""


@click.group()
def session() -> None:
    """Open, show, hand over and dispose sessions."""


def _session_argument(command: Callable[..., None]) -> Callable[..., None]:
    """Take the session as an argument or as ``--session``, because people write both."""

    @click.argument("session", required=False)
    @click.option("--session", "named", metavar="ID", help="Session id, instead of SESSION.")
    @functools.wraps(command)
    def with_session(*args: Any, session: str | None, named: str | None, **options: Any) -> None:
        if session and named and session != named:
            raise click.UsageError(f"SESSION is {session}, but --session says {named}.")
        command(*args, session=session or named, **options)

    return with_session


@session.command("open")
@click.option("--session", metavar="ID", help="Id of the session (default: a new one).")
@click.option("--name", help="Name that people see.")
@click.option("--browser", help="Browser for the session's tabs.")
@click.option(
    "--jar", type=click.Choice([jar.value for jar in JarPolicy]), help="Cookies and storage."
)
@click.option("--profile", metavar="NAME", help="Profile whose logins the cloned jar gets.")
@click.option("--url", help="Open this address in the session.")
@json_option
@operator_option
@click.pass_obj
def open_(
    flags: CommonFlags,
    session: str | None,
    name: str | None,
    browser: str | None,
    jar: str | None,
    profile: str | None,
    url: str | None,
) -> None:
    """Open a session that stays until it is disposed, and print its id."""
    from roost.frontends.cli.broker_call import ask

    view = ask(
        flags,
        orders.SESSION_OPEN,
        start=True,
        session=session,
        name=name,
        browser=browser,
        jar=jar,
        profile=profile,
        url=url,
        named=True,
    )
    _print(flags, view, view.id)


@session.command("tab")
@_session_argument
@click.option("--url", help="Address to open.")
@json_option
@operator_option
@click.pass_obj
def tab(flags: CommonFlags, session: str | None, url: str | None) -> None:
    """Open a tab in SESSION and print its id."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.TABS, action="new", session=session, url=url)
    _print(flags, view, view.opened or "")


@session.command("list")
@json_option
@operator_option
@click.pass_obj
def list_(flags: CommonFlags) -> None:
    """List sessions and their tabs."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.SESSION_LIST)
    if flags.json:
        echo_json(view.to_wire()["sessions"])
    elif view.sessions:
        show(flags, sessions_table(view.sessions))
    else:
        click.echo("No sessions.")


@session.command("show")
@_session_argument
@click.option("--once", is_flag=True, help="Print the session once and exit.")
@json_option
@operator_option
@click.pass_obj
def show_(flags: CommonFlags, session: str | None, once: bool) -> None:
    """Show SESSION and its window, then what happens in it until it ends or you press Ctrl-C.

    Its most recently used tab comes to the front of your screen, unless you ask for --json.
    """
    from roost.frontends.cli.broker_call import caller

    with caller(flags) as broker:
        view = broker.call(orders.SESSION_SHOW, session=session)
        if flags.json:
            echo_json(view.to_wire())
            return
        _bring_to_front(broker, view)
        if once:
            show(flags, sessions_table([view]))
            return
        broker.watch(view.id)
        # Show it again only now, so that no event is lost between the call and the watch.
        show(flags, sessions_table([broker.call(orders.SESSION_SHOW, session=view.id)]))
        _follow(flags, broker.events())


@session.command("answer")
@_session_argument
@click.option(
    "--answer",
    type=click.Choice([answer.value for answer in QuestionAnswer]),
    default=QuestionAnswer.DONE.value,
    show_default=True,
    help="Whether you did what the agent asked for.",
)
@click.option("--note", default="", help="What the agent should know.")
@json_option
@operator_option
@click.pass_obj
def answer_(flags: CommonFlags, session: str | None, answer: str, note: str) -> None:
    """Answer what SESSION asks you, and give it back."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.SESSION_ANSWER, session=session, answer=answer, note=note)
    _print(flags, view, f"{view.id} has your answer.")


@session.command("pause")
@_session_argument
@json_option
@operator_option
@click.pass_obj
def pause(flags: CommonFlags, session: str | None) -> None:
    """Hand SESSION over to the person: its agents are answered PAUSED.

    Its most recently used tab comes to the front of your screen.
    """
    from roost.frontends.cli.broker_call import caller

    with caller(flags) as broker:
        view = broker.call(orders.SESSION_PAUSE, session=session)
        _print(flags, view, f"{view.id} is yours; `roost session resume {view.id}` hands it back.")
        _bring_to_front(broker, view)


@session.command("resume")
@_session_argument
@json_option
@operator_option
@click.pass_obj
def resume(flags: CommonFlags, session: str | None) -> None:
    """Hand SESSION back to its agents."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.SESSION_RESUME, session=session)
    _print(flags, view, f"{view.id} is handed back.")


@session.command("dispose")
@_session_argument
@json_option
@operator_option
@click.pass_obj
def dispose(flags: CommonFlags, session: str | None) -> None:
    """End SESSION: close its tabs, forget its cookies and files."""
    from roost.frontends.cli.broker_call import ask

    if session is None:
        raise click.UsageError("Name the session to dispose.")
    view = ask(flags, orders.SESSION_DISPOSE, session=session)
    _print(flags, view, f"{view.disposed} is gone, {view.tabs_closed} tabs closed.")


def _print(flags: CommonFlags, view: View, line: str) -> None:
    if flags.json:
        echo_json(view.to_wire())
    else:
        click.echo(plain(line))


def _bring_to_front(broker: Broker, view: SessionView) -> None:
    """Show the session's window to the person, or say why that is not possible."""
    from roost.errors import RoostError, Unauthorized

    if not view.tabs:
        return
    try:
        broker.call(orders.SESSION_FRONT, session=view.id, timeout=FRONT_SECONDS)
    except Unauthorized:
        pass  # an agent's command: agents do not take the person's focus
    except RoostError as error:
        hint = f" {error.hint}" if error.hint else ""
        click.echo(f"note: {plain(error.message)}{plain(hint)}", err=True)


def _follow(flags: CommonFlags, events: Iterator[dict[str, Any]]) -> None:
    """Print what happens until the session ends or the broker stops."""
    for event in events:
        show_lines(flags, [_as_line(event)])
        if event["kind"] == NoticeKind.SESSION_ENDED:
            return


def _as_line(event: dict[str, Any]) -> str:
    now = datetime.now().astimezone()
    details = " ".join(f"{key}={value}" for key, value in event["data"].items() if key != "session")
    return plain(f"{now:%H:%M:%S}  {event['kind']:<16}  {details}")
