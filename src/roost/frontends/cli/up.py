"""``roost up`` and ``roost stop``: start and stop the broker."""

from __future__ import annotations

import os
import shlex
import signal
from typing import TYPE_CHECKING, Any

import click

from roost import __version__
from roost.errors import BadRequest, Internal
from roost.frontends.cli.options import CommonFlags, operator_option
from roost.frontends.cli.terminal import plain
from roost.vocabulary import MINE, Reads
from roost.wire.hello import difference

if TYPE_CHECKING:
    from roost.api.views import BrowserView
    from roost.local.endpoint import Endpoint
    from roost.local.home import Home

READS = [reads.value for reads in Reads]
BROWSERS = ("auto", "chromium", "firefox", MINE, f"{MINE}-chromium", f"{MINE}-firefox", "fake")
BROWSER_SECONDS = 60.0
STOP_SECONDS = 20.0
KILL_SECONDS = 5.0


@click.command()
@click.option("--browser", metavar="NAME", help="auto (first found), chromium, firefox, mine.")
@click.option("--headless/--headed", default=None, help="Default: headless without a display.")
@click.option("--browser-path", metavar="P", help="Path of the browser's program.")
@click.option("--browser-arg", metavar="A", multiple=True, help="Extra flag for the browser.")
@click.option("--viewport", metavar="WxH", help="Size of new tabs in pixels.")
@click.option("--proxy", metavar="URL", help="Send the browser's traffic through this proxy.")
@click.option("--ignore-tls-errors", is_flag=True, default=None, help="Accept bad certificates.")
@click.option(
    "--keep-seconds",
    type=float,
    metavar="N",
    help="Keep browsers this long without a broker (600).",
)
@click.option(
    "--port", type=click.IntRange(1, 65535), metavar="N", help="Port for HTTP on 127.0.0.1."
)
@click.option("--pool", type=click.IntRange(0), metavar="N", help="Tabs per browser; 0: no limit.")
@click.option("--clones", type=click.IntRange(0), metavar="N", help="Most cloned jars at a time.")
@click.option(
    "--request-wait",
    type=click.FloatRange(0, 30),
    metavar="SECONDS",
    help="Let an action wait this long for the requests it began (default 1.5; 0: not at all).",
)
@click.option("--reads", type=click.Choice(READS), help="Which agents may read a tab.")
@click.option("--foreground", is_flag=True, help="Run the broker in this terminal.")
@operator_option
@click.pass_obj
def up(flags: CommonFlags, /, foreground: bool, **given: Any) -> None:
    """Start the broker and the browser, if they do not run yet.

    Each setting can also be given as ROOST_<NAME> or in $ROOST_HOME/config.toml.
    """
    from roost.local.broker_start import ensure_broker, running_broker
    from roost.local.home import Home, home_note

    if (note := home_note()) is not None:
        click.echo(f"warning: {plain(note)}", err=True)
    if given["browser"] not in (None, *BROWSERS):
        raise BadRequest(
            f"browser: there is no browser {given['browser']!r}.",
            hint=f"Give one of: {', '.join(BROWSERS)}.",
            field="browser",
        )
    settings = _given(given)
    options = [f"--{name}={value}" for name, values in settings.items() for value in values]
    home = Home.find()
    running = running_broker(home)
    if foreground:
        _become_broker(home, running, options)
    endpoint = ensure_broker(home, options=options)
    started = _start_browser(flags)
    state = "is up" if running is None else "already runs"
    click.echo(f"roost {endpoint.version} {state}, pid {endpoint.process.pid}.")
    _show_addresses(home, endpoint, started)
    if running is not None:
        _warn_of_differences(endpoint, started, settings)


@click.command()
@operator_option
@click.pass_obj
def stop(flags: CommonFlags) -> None:
    """Stop the broker and its browsers, and wait until they are gone."""
    from roost.api import operations as ops
    from roost.frontends.cli.broker_call import ask
    from roost.local.broker_start import running_broker
    from roost.local.home import Home
    from roost.local.processes import end_tree, is_alive, wait_until_gone

    home = Home.find()
    endpoint = running_broker(home)
    if endpoint is None:
        click.echo(f"No broker runs for {home.path}.")
        return
    process = endpoint.process
    try:
        ask(flags, ops.BrokerStop)
    except BadRequest as error:
        if error.details.get("field") != "versions":
            raise
        if is_alive(process):  # it runs, but does not speak our wire version
            os.kill(process.pid, signal.SIGTERM)
    if wait_until_gone(process, STOP_SECONDS):
        click.echo(f"Stopped, pid {process.pid} is gone.")
    elif end_tree(process, KILL_SECONDS):
        click.echo(f"pid {process.pid} did not end within {STOP_SECONDS:g} s and was killed.")
    else:
        raise Internal(f"pid {process.pid} does not end.", hint=f"kill -9 {process.pid}")


def _given(options: dict[str, Any]) -> dict[str, list[str]]:
    """Return the settings that were given, as the daemon's flags: by option, else by environment.

    The daemon starts with a clean environment, so ``ROOST_*`` variables are read here.
    """
    found = {}
    for name, value in options.items():
        variable = os.environ.get(f"ROOST_{name.upper()}")
        if value not in (None, ()):
            values = list(value) if isinstance(value, tuple) else [str(value)]
        elif variable is not None:
            values = shlex.split(variable) if isinstance(value, tuple) else [variable]
        else:
            continue
        found[name.replace("_", "-")] = values
    return found


def _become_broker(home: Home, running: Endpoint | None, options: list[str]) -> None:
    """Replace this process by the daemon, which then has the terminal's signals and output."""
    from roost.local.broker_start import broker_command

    if running is not None:
        raise BadRequest(
            f"A broker already runs for {home.path}, pid {running.process.pid}.",
            hint="Stop it with `roost stop`, or leave out --foreground.",
        )
    os.environ["ROOST_HOME"] = str(home.path)
    command = [*broker_command(), *options]
    os.execv(command[0], command)


def _start_browser(flags: CommonFlags) -> BrowserView:
    """Make the broker stay, even if an agent started it, and have its browser ready."""
    import asyncio

    from roost.api import operations as ops
    from roost.frontends.cli.broker_call import bounded, caller

    async def start() -> BrowserView:
        async with caller(flags) as client:
            await client.call(ops.BrokerStay())
            call = client.call(ops.BrowserStart(), timeout=BROWSER_SECONDS)
            return await bounded(call, BROWSER_SECONDS)

    return asyncio.run(start())


def _show_addresses(home: Home, endpoint: Endpoint, browser: BrowserView) -> None:
    mode = "headless" if browser.headless else "headed"
    click.echo(f"  home     {home.path}")
    click.echo(f"  socket   {endpoint.socket}")
    click.echo(f"  http     {endpoint.http or 'not served by this broker'}")
    click.echo(f"  browser  {browser.id} {browser.version or ''}, {mode}, {_room(browser)}")


def _room(browser: BrowserView) -> str:
    limit = browser.capacity or "any number of"
    return f"{browser.tabs} of {limit} tabs"


def _warn_of_differences(
    endpoint: Endpoint, browser: BrowserView, settings: dict[str, list[str]]
) -> None:
    """Warn of settings that differ from those of the running broker, because it keeps its own."""
    if (note := difference(__version__, endpoint.version)) is not None:
        click.echo(f"warning: {plain(note)}", err=True)
    in_force = {
        "pool": str(browser.capacity),
        "browser": browser.id,
        "headless": str(browser.headless),
    }
    for name, values in settings.items():
        asked = " ".join(values)
        if name not in in_force:
            _warn(f"--{name} {asked} is in force only if the broker was started with it")
        elif asked not in (in_force[name], "auto") and not _is_any_own(asked, in_force[name]):
            _warn(f"--{name} {asked} is not in force, the broker has {in_force[name]}")


def _is_any_own(asked: str, browser: str) -> bool:
    return asked == MINE and browser.startswith(MINE)


def _warn(what: str) -> None:
    click.echo(f"warning: {plain(what)}. To change it: `roost stop`, then `roost up`.", err=True)
