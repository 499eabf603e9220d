"""``roost status``: show what runs, and who owns what."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from roost import __version__
from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.table import Cell, Table
from roost.frontends.cli.terminal import COLORS, cell, duration, echo_json, plain, show
from roost.vocabulary import SESSION_START_CHARS
from roost.wire.hello import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from roost.api.views import SessionView, StatusView


ID_CHARS = 24


@click.command()
@json_option
@operator_option
@click.pass_obj
def status(flags: CommonFlags) -> None:
    """Show what runs and who owns what. Below an agent: that agent's part of it."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.STATUS)
    if flags.json:
        echo_json(json_shape(view))
    else:
        show(flags, *_parts(view))
    if (note := difference(__version__, view.broker.version)) is not None:
        click.echo(f"warning: {plain(note)}", err=True)


def json_shape(view: StatusView) -> dict[str, Any]:
    """Return the stable shape of ``--json``, without fields that only the tables use."""
    wire = view.to_wire()
    wire.pop("notes", None)
    for agent in wire["agents"]:
        agent.pop("name", None)
        agent.pop("leased", None)
    for session in wire["sessions"]:
        session.pop("group", None)
        session.pop("keptSeconds", None)
    return wire


def sessions_table(
    sessions: list[SessionView], shown: Callable[[str], str] = lambda id: id
) -> Table:
    """Return a table of sessions in their colours, each with its tabs below it, and sub-agents'
    sessions below the session of the agent that started them.

    shown: returns a session's id as the table shows it.
    """
    made = Table("SESSION", "NAME", "COLOUR", "JAR", "LIFETIME", "BROWSER", "TABS")
    for depth, row in _families(sessions):
        style = COLORS[row.color]
        state = f"{row.lifetime}, paused" if row.paused else row.lifetime
        made.add_row(
            cell(shown(row.id), style),
            cell(f"{'  ' * (depth - 1)}└ {row.name}" if depth else row.name),
            cell(f"● {row.color}", style),
            cell(row.jar),
            cell(state),
            cell(row.browser),
            cell(len(row.tabs)),
        )
        for tab in row.tabs:
            mark = "*" if tab.current else " "
            where = f"{tab.url} ({tab.state})" if tab.state else tab.url
            made.add_row(cell(f" {mark} {tab.tab}", style), cell(where), cell(tab.title, "dim"))
    return made


def _families(sessions: list[SessionView]) -> Iterator[tuple[int, SessionView]]:
    """Yield each session after its parent, with the number of its ancestors in the list."""
    listed = {row.id for row in sessions}
    children: dict[str | None, list[SessionView]] = {}
    for row in sessions:
        children.setdefault(row.parent if row.parent in listed else None, []).append(row)

    def below(parent: str | None, depth: int) -> Iterator[tuple[int, SessionView]]:
        for row in children.get(parent, ()):
            yield depth, row
            yield from below(row.id, depth + 1)

    return below(None, 0)


def _parts(view: StatusView) -> Iterator[Table | Cell | str]:
    broker = view.broker
    http = broker.http or "no HTTP"
    up = duration(broker.uptime_seconds)
    yield cell(f"roost {broker.version}, pid {broker.pid}, up {up}, {http}", "bold")
    yield ""
    yield _browsers(view) if view.browsers else "No browser runs yet."
    yield ""
    if view.agents:
        yield _agents(view)
        yield ""
    kept = [row for row in view.sessions if row.kept_seconds is not None]
    used = [row for row in view.sessions if row.kept_seconds is None]
    # Sessions that agents work in come first, the person's own named sessions after them.
    homes = {row.session for row in view.agents}
    used.sort(key=lambda row: (row.id not in homes, not row.tabs))
    yield sessions_table(used, _short) if used else "No sessions."
    if kept:
        yield cell(_folded(kept), "dim")
    if view.requests or view.reservations:
        yield ""
        yield _queue(view)
    for note in view.notes or ():
        yield cell(f"note: {note}", "yellow")


def _browsers(view: StatusView) -> Table:
    made = Table("BROWSER", "VERSION", "PID", "MODE", "TABS")
    for row in view.browsers:
        made.add_row(
            cell(row.id),
            cell(row.version),
            cell(row.pid),
            cell("headless" if row.headless else "headed"),
            cell(f"{row.tabs}/{row.capacity or '∞'}"),
        )
    return made


def _agents(view: StatusView) -> Table:
    made = Table("AGENT", "NAME", "PID", "SESSION", "IDLE", "CONNECTED")
    for row in view.agents:
        away = cell("by lease") if row.leased else cell("lost", "yellow")
        connected = cell("yes") if row.connected else away
        idle = duration(row.idle_seconds)
        made.add_row(
            cell(row.id),
            cell(row.name),
            cell(row.pid),
            cell(_short(row.session)),
            cell(idle),
            connected,
        )
    return made


def _short(session: str) -> str:
    """Return a conversation's long id cut, for a terminal. A program reads the whole id."""
    is_long = len(session) > ID_CHARS and sys.stdout.isatty()
    return f"{session[:SESSION_START_CHARS]}…" if is_long else session


def _folded(kept: list[SessionView]) -> str:
    """Return one line about the sessions that wait for their conversation to return."""
    longest = duration(max(row.kept_seconds or 0 for row in kept))
    which = "session of a conversation" if len(kept) == 1 else "sessions of conversations"
    return (
        f"{len(kept)} {which} that ended, kept for another {longest}: `roost session list` has all."
    )


def _queue(view: StatusView) -> Table:
    """Return a table of the slot requests and the reservations."""
    made = Table("TAB SPACE", "SESSION", "AGENT", "BROWSER", "")
    for kept in view.reservations:
        left = f"for another {duration(kept.expires_in_ms / 1000)}"
        made.add_row(
            cell("reserved", "green"),
            cell(kept.session),
            cell(kept.agent),
            cell(kept.browser),
            cell(left),
        )
    for place, asked in enumerate(view.requests, 1):
        made.add_row(
            cell(f"waiting ({place})", "yellow"),
            cell(asked.session),
            cell(asked.agent),
            cell(asked.browser),
            cell(f"since {duration(asked.waiting_seconds)}"),
        )
    return made
