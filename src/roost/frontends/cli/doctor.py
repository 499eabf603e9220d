"""``roost doctor``: check that everything is in order, and print the command that fixes it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import click

from roost import __version__
from roost.errors import RoostError
from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.terminal import echo_json, plain
from roost.vocabulary import MIB, own_browser
from roost.wire.hello import difference

if TYPE_CHECKING:
    from roost.local.home import Home

PYTHON = (3, 11)
DISK_LOW_BYTES, DISK_FULL_BYTES = 500 * MIB, 20 * MIB


class Verdict(StrEnum):
    OK = "ok"
    WARNING = "warning"
    """It works, but not as well as it could."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, and how to fix it."""

    name: str
    verdict: Verdict
    detail: str
    fix: str | None = None


@click.command()
@json_option
@operator_option
@click.pass_context
def doctor(ctx: click.Context) -> None:
    """Check the installation and say how to mend it. Exit code 1 if something is broken."""
    from roost.local.home import Home

    home = Home.find()
    flags = ctx.ensure_object(CommonFlags)
    findings = [finding for check in CHECKS for finding in check(home, flags)]
    healthy = all(finding.verdict is not Verdict.FAILED for finding in findings)
    if flags.json:
        echo_json({"ok": healthy, "checks": [asdict(finding) for finding in findings]})
    else:
        for finding in findings:
            _show(finding)
    ctx.exit(0 if healthy else 1)


def _show(finding: Finding) -> None:
    mark, color = {
        Verdict.OK: ("✓", "green"),
        Verdict.WARNING: ("!", "yellow"),
        Verdict.FAILED: ("✗", "red"),
    }[finding.verdict]
    click.echo(f"{click.style(mark, fg=color)} {finding.name:<9} {plain(finding.detail)}")
    if finding.fix is not None:
        click.echo(f"  {'':<9} fix: {plain(finding.fix)}")


# --- the checks: each works whatever the others found ---------------------------------------


def _python(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < PYTHON:
        wanted = ".".join(map(str, PYTHON))
        fix = f"Install Python {wanted} or newer, and Roost with it."
        yield Finding("python", Verdict.FAILED, f"{version} is too old.", fix)
    else:
        yield Finding("python", Verdict.OK, f"{version}, roost {__version__}, {sys.executable}")


def _home(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    from roost.local.home import home_note

    if not home.path.exists():
        yield Finding("home", Verdict.OK, f"{home.path} is made at the first start.")
    else:
        try:
            home.create()
        except RoostError as error:
            yield Finding("home", Verdict.FAILED, error.message, error.hint)
        else:
            yield Finding("home", Verdict.OK, str(home.path))
    if (note := home_note()) is not None:
        yield Finding("home", Verdict.WARNING, note, f"export ROOST_HOME={home.path}")


def _socket(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    from roost.local.home import socket_path

    try:
        path = socket_path(home)
    except RoostError as error:
        yield Finding("socket", Verdict.FAILED, error.message, error.hint)
    except OSError as error:
        yield Finding("socket", Verdict.FAILED, f"No folder for it: {error}.", "Set ROOST_HOME.")
    else:
        yield Finding("socket", Verdict.OK, str(path))


def _token(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    if not home.token.exists():
        yield Finding("token", Verdict.OK, "is made at the first start.")
        return
    try:
        home.operator_token()
    except RoostError as error:
        yield Finding("token", Verdict.FAILED, error.message, error.hint)
    else:
        yield Finding("token", Verdict.OK, "is there, for you alone.")


def _key(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    """Check that the key of stored logins and secrets can be read."""
    import json

    from roost.local.home import read_secret

    try:
        record = json.loads(read_secret(home.key) or b"null")
        place = None if record is None else str(record["place"])
    except (RoostError, ValueError, LookupError, TypeError):
        place = "unreadable"
    problem = _key_problem(home, flags)
    if problem is None and place == "unreadable":
        problem = f"{home.key} cannot be read"
    if problem is not None:
        detail = f"is missing: {problem}. Stored logins and secrets stay as they are."
        fix = f"Unlock your keyring. If the key is lost for good: roost stop; rm {home.key}"
        yield Finding("key", Verdict.WARNING, detail, fix)
    elif place is None:
        yield Finding("key", Verdict.OK, "is made at the first start.")
    elif place == "file":
        yield Finding("key", Verdict.OK, f"in {home.key}, for you alone.")
    else:
        yield Finding("key", Verdict.OK, "in the system's keyring.")


def _key_problem(home: Home, flags: CommonFlags) -> str | None:
    """Return what the running broker says about a missing key."""
    from roost.frontends.cli.broker_call import ask
    from roost.local.broker_start import running_broker

    if running_broker(home) is None:
        return None
    with suppress(RoostError):  # ``_broker`` reports a broker that does not answer
        return ask(flags, orders.STATUS, timeout=5).broker.key_problem
    return None


def _journal(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    import sqlite3

    broken = home.journal.with_suffix(".broken")
    if broken.exists():
        detail = f"An earlier journal could not be read and was put aside as {broken}."
        yield Finding("journal", Verdict.WARNING, detail, f"rm {broken}")
    if not home.journal.exists():
        yield Finding("journal", Verdict.OK, "is made at the first start.")
        return
    try:
        db = sqlite3.connect(f"file:{home.journal}?mode=ro", uri=True)
        try:
            (rows,) = db.execute("SELECT count(*) FROM rows").fetchone()
            (sound,) = db.execute("PRAGMA quick_check(1)").fetchone()
        finally:
            db.close()
    except sqlite3.Error as error:
        fix = f"roost stop; mv {home.journal} {broken}: Roost then starts with an empty house."
        yield Finding("journal", Verdict.FAILED, f"{error}.", fix)
        return
    verdict = Verdict.OK if sound == "ok" else Verdict.FAILED
    yield Finding("journal", verdict, f"{rows} rows, {sound}.")


def _broker(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    from roost.local.broker_start import running_broker
    from roost.local.endpoint import read_endpoint
    from roost.local.processes import is_alive

    endpoint = running_broker(home)
    if endpoint is not None:
        yield from _answers(flags, endpoint.version)
        return
    stale = read_endpoint(home)
    if stale is not None and is_alive(stale.process):
        detail = f"pid {stale.process.pid} runs but does not listen at {stale.socket}."
        yield Finding("broker", Verdict.FAILED, detail, f"kill {stale.process.pid}; roost up")
    elif stale is not None:
        detail = f"does not run; endpoint.json is a dead broker's (pid {stale.process.pid})."
        yield Finding(
            "broker", Verdict.WARNING, detail, "roost up  (it removes what the dead broker left)"
        )
    else:
        yield from _lock(home)


def _answers(flags: CommonFlags, version: str) -> Iterator[Finding]:
    from roost.frontends.cli.broker_call import ask

    try:
        ask(flags, orders.PING, timeout=5)
    except RoostError as error:
        yield Finding("broker", Verdict.FAILED, str(error), error.hint)
        return
    note = difference(__version__, version)
    if note is None:
        yield Finding("broker", Verdict.OK, f"answers, version {version}.")
    else:
        detail, _, fix = note.partition(". ")
        yield Finding("broker", Verdict.WARNING, f"answers. {detail}.", fix)


def _lock(home: Home) -> Iterator[Finding]:
    """Check that no process holds the broker's lock while no broker is known.

    Such a process would keep every broker from starting.
    """
    from roost.local.lock import Lock

    if not home.broker_lock.exists() or not os.access(home.broker_lock, os.W_OK):
        yield Finding("broker", Verdict.OK, "does not run; the first agent starts it.")
        return
    starting, running = Lock(home.start_lock), Lock(home.broker_lock)
    try:
        # Take both locks, so that a start under way is not mistaken for a stuck one.
        if starting.try_acquire() and not running.try_acquire():
            detail = f"{home.broker_lock} is held by a process that is not a known broker."
            yield Finding("broker", Verdict.FAILED, detail, f"fuser -v {home.broker_lock}")
        else:
            yield Finding("broker", Verdict.OK, "does not run; the first agent starts it.")
    finally:
        running.release()
        starting.release()


def _browsers(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    from roost.local.browsers import NAMES, find_browser

    found = []
    for kind in NAMES:
        with suppress(RoostError):
            found.append(find_browser(kind))
    if found:
        yield Finding("browser", Verdict.OK, ", ".join(found))
        return
    fix = "Run `roost browser install chromium`, or `… firefox`."
    yield Finding("browser", Verdict.WARNING, "there is neither Chromium nor Firefox.", fix)


def _extension(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    """Check the extension only if it is installed: not everybody wants it."""
    from roost.frontends.cli.install import extension

    for kind in extension.KINDS:
        if not extension.folder(home, kind).exists():
            continue
        fix = f"roost install extension --browser {kind}"
        launcher = extension.launcher(home)
        places = extension.places(kind)
        manifests = [one.browser for one in places if extension.is_ours(home, one.manifest)]
        if not os.access(launcher, os.X_OK):
            detail = f"{launcher} cannot be run."
        elif launcher.read_text(encoding="utf-8") != extension.launcher_text(home):
            detail = f"{launcher} starts another Python or another Roost than this one."
        elif not manifests:
            detail = f"no {kind} here knows the native host."
        elif not extension.is_current(home, kind):
            detail = f"{extension.folder(home, kind)} is of another version than this Roost."
            fix += ", then reload it in the browser"
        else:
            yield _link(home, kind, ", ".join(manifests))
            continue
        yield Finding("extension", Verdict.FAILED, detail, fix)


def _link(home: Home, kind: str, browsers: str) -> Finding:
    from roost.local.hosts import running_hosts

    if running_hosts(home, own_browser(kind)):
        return Finding("extension", Verdict.OK, f"in {browsers}; its native host runs.")
    detail = f"in {browsers}; its native host does not run."
    fix = f"Start your browser, and look whether its extension is switched on ({kind})."
    return Finding("extension", Verdict.WARNING, detail, fix)


def _display(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    names = ("WAYLAND_DISPLAY", "DISPLAY")
    display = next((os.environ[name] for name in names if os.environ.get(name)), None)
    if display is None and sys.platform != "darwin":
        yield Finding("display", Verdict.OK, "none, so browsers run headless.")
    else:
        yield Finding("display", Verdict.OK, display or "the screen")


def _disk(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    folder = next(path for path in (home.path, *home.path.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    detail = f"{free // MIB} MiB free at {folder}."
    if free >= DISK_LOW_BYTES:
        yield Finding("disk", Verdict.OK, detail)
    else:
        verdict = Verdict.FAILED if free < DISK_FULL_BYTES else Verdict.WARNING
        yield Finding("disk", verdict, detail, "Make room, or set ROOST_HOME to another disk.")


def _skill(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    """Check that installed copies of the skill are those of this Roost."""
    from roost.frontends.cli.install import skill

    for choice, file in skill.stale():
        fix = f"roost install skill --{choice}"
        yield Finding("skill", Verdict.WARNING, f"{file} is not of this Roost.", fix)


def _plugin(home: Home, flags: CommonFlags) -> Iterator[Finding]:
    """Check that the installed plugin for Claude Code has the hooks of this Roost. Without them,
    sub-agents share one session."""
    from roost.frontends.cli.install import claude_plugin

    if claude_plugin.is_stale(home):
        detail = f"The plugin for Claude Code in {claude_plugin.folder(home)} is not of this Roost."
        yield Finding("plugin", Verdict.WARNING, detail, "roost install claude --plugin")


CHECKS: tuple[Callable[[Home, CommonFlags], Iterator[Finding]], ...] = (
    _python,
    _home,
    _socket,
    _token,
    _key,
    _journal,
    _broker,
    _browsers,
    _extension,
    _skill,
    _plugin,
    _display,
    _disk,
)
