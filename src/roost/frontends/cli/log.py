"""``roost log``: print the audit trail, one line per entry."""

from __future__ import annotations

import json
import os
import re
import select
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click

from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.terminal import plain, show_lines

LOOK_AGAIN_SECONDS = 0.2
Entry = dict[str, Any]
_SHOWN_APART = ("v", "at", "kind", "agent", "op", "outcome", "session")


@click.command()
@click.option("-f", "--follow", is_flag=True, help="Keep printing new entries until interrupted.")
@click.option("-n", "--lines", type=click.IntRange(0), metavar="N", help="Only the last N entries.")
@click.option("--session", metavar="ID", help="Only entries about this session.")
@click.option(
    "--since",
    metavar="WHEN",
    help="Only entries since then: 2026-11-18T09:00, 2026-11-18, or how long ago: 30m, 2h, 7d.",
)
@json_option
@operator_option
@click.pass_obj
def log(
    flags: CommonFlags, follow: bool, lines: int | None, session: str | None, since: str | None
) -> None:
    """Show the audit trail. Below an agent: that agent's own lines.

    With --json it is JSON Lines, one object per line (docs/reference/audit.md).
    """
    from roost.local.home import Home

    begin = None if since is None else _moment(since, datetime.now(UTC))

    audit = Home.find().audit
    is_ours = _view(flags)

    def wanted(entry: Entry) -> bool:
        is_late = begin is None or datetime.fromisoformat(entry["at"]) >= begin
        return is_late and is_ours(entry) and session in (None, entry.get("session"))

    trail = Trail(audit)
    entries: Iterable[Entry] = filter(wanted, trail.entries())
    if lines is not None:
        entries = deque(entries, maxlen=lines)
    _show(flags, entries)
    while follow:
        select.select([], [], [], LOOK_AGAIN_SECONDS)  # no portable way to wait for lines
        _show(flags, filter(wanted, trail.entries()))


def _moment(text: str, now: datetime) -> datetime:
    """Return the time that ``--since`` means. A time without a zone is local time."""
    ago = re.fullmatch(r"(\d{1,6})([smhd])", text)
    if ago is not None:
        unit = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}[ago[2]]
        return now - timedelta(**{unit: int(ago[1])})
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        raise click.BadParameter(
            f"{text[:40]!r} is neither a time like 2026-11-18T09:00 nor a duration like 2h.",
            param_hint="--since",
        ) from None


def _show(flags: CommonFlags, entries: Iterable[Entry]) -> None:
    if flags.json:
        for entry in entries:
            click.echo(json.dumps(entry))
    else:
        show_lines(flags, map(as_line, entries))


class Trail:
    """The audit file and the rotated one before it. Each reading continues where the last ended."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inode: int | None = None
        self._offset = 0

    def entries(self) -> Iterator[Entry]:
        """Yield the entries written since the last call; on the first call, all entries."""
        before = Path(f"{self._path}.1")
        if self._inode is None:
            yield from _entries(_read(before, 0)[1])
        inode, data = _read(self._path, self._offset)
        if self._inode is not None and inode not in (None, self._inode):  # the file was rotated
            rotated, rest = _read(before, self._offset)
            yield from _entries(rest if rotated == self._inode else b"")
            inode, data = _read(self._path, 0)
            self._offset = 0
        if inode is not None:
            self._inode = inode
            whole = data[: data.rfind(b"\n") + 1]  # the last line may be incomplete
            self._offset += len(whole)
            yield from _entries(whole)


def as_line(entry: Entry) -> str:
    """Return ``when who session what outcome details``. Only a call's end has an outcome."""
    when = datetime.fromisoformat(entry["at"]).astimezone()
    what = entry.get("op", entry["kind"])
    details = [f"{key}={value}" for key, value in entry.items() if key not in _SHOWN_APART]
    parts = (
        f"{when:%Y-%m-%d %H:%M:%S}",
        f"{entry.get('agent', '-'):<12}",
        f"{entry.get('session', '-'):<8}",
        f"{what:<18}",
        f"{entry.get('outcome', ''):<8}",
        " ".join(details),
    )
    return plain("  ".join(parts).rstrip())


def _view(flags: CommonFlags) -> Callable[[Entry], bool]:
    """Return a filter of the entries that the caller may see.

    While no broker runs, no caller counts as an agent, so all entries are shown.
    """
    from roost.frontends.cli.broker_call import caller
    from roost.local.broker_start import running_broker
    from roost.local.home import Home
    from roost.vocabulary import shown

    if running_broker(Home.find()) is None:
        return lambda entry: True
    with caller(flags) as broker:
        if not broker.is_agents:
            return lambda entry: True
        agent = shown(broker.agent)
        sessions = {row.id for row in broker.call(orders.SESSION_LIST).sessions}
    return lambda entry: (
        entry["agent"] == agent if "agent" in entry else entry.get("session") in sessions
    )


def _entries(data: bytes) -> Iterator[Entry]:
    for line in data.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # a full disk cut it off, or it is not ours
        if isinstance(entry, dict) and "at" in entry and "kind" in entry:
            yield entry


def _read(path: Path, offset: int) -> tuple[int | None, bytes]:
    """Return the file's inode and its content after ``offset``; no content if there is no file."""
    try:
        with open(path, "rb") as file:
            file.seek(offset)
            return os.fstat(file.fileno()).st_ino, file.read()
    except FileNotFoundError:
        return None, b""
