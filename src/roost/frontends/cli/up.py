"""``roost up`` and ``roost stop``: start and stop the broker."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from roost import __version__
from roost.errors import BadRequest, Internal
from roost.frontends.cli import orders
from roost.frontends.cli.options import Command, CommonFlags, operator_option
from roost.frontends.cli.terminal import plain
from roost.local.settings import SETTINGS, Setting, as_flags, from_environment
from roost.vocabulary import MINE, browser_kind
from roost.wire.hello import difference

if TYPE_CHECKING:
    from roost.api.views import BrowserView
    from roost.local.endpoint import Endpoint
    from roost.local.home import Home

BROWSER_SECONDS = 60.0
STOP_SECONDS = 20.0
KILL_SECONDS = 5.0


def _settings_options(command: Command) -> Command:
    """Add an option for each setting."""
    for setting in reversed(list(SETTINGS.values())):
        command = _option(setting)(command)
    return command


def _option(setting: Setting) -> Callable[[Command], Command]:
    if setting.is_switch:
        off = "/--headed" if setting.name == "headless" else ""
        return click.option(setting.flag + off, is_flag=True, default=None, help=setting.help)

    def checked(ctx: click.Context, parameter: click.Parameter, value: Any) -> Any:
        """Check the value here, so that the daemon need not start to refuse it."""
        try:
            if value not in (None, ()):
                setting.read(value)
        except ValueError as wrong:
            raise click.BadParameter(f"{wrong}.") from None
        return value

    return click.option(
        setting.flag,
        metavar=setting.value,
        multiple=setting.has_several,
        callback=checked,
        help=setting.help + (f" ({setting.default})" if setting.default else ""),
    )


@click.command()
@_settings_options
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
    settings = _given(given)
    options = as_flags(settings)
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
        ask(flags, orders.BROKER_STOP)
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


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that were given, by option, else by environment.

    The daemon starts with a clean environment, so ``ROOST_*`` variables are read here.
    """
    by_option = {name: value for name, value in options.items() if value not in (None, ())}
    return from_environment(os.environ) | by_option


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
    from roost.frontends.cli.broker_call import caller

    with caller(flags) as broker:
        broker.call(orders.BROKER_STAY)
        return broker.call(orders.BROWSER_START, timeout=BROWSER_SECONDS)


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
    endpoint: Endpoint, browser: BrowserView, settings: dict[str, Any]
) -> None:
    """Warn of settings that differ from those of the running broker, because it keeps its own."""
    if (note := difference(__version__, endpoint.version)) is not None:
        click.echo(f"warning: {plain(note)}", err=True)
    in_force = {
        "pool": str(browser.capacity),
        "browser": browser.id,
        "headless": str(browser.headless),
    }
    for name, value in settings.items():
        setting, asked = (
            SETTINGS[name],
            " ".join(value) if isinstance(value, list | tuple) else str(value),
        )
        if name not in in_force:
            _warn(f"{setting.flag} {asked} is in force only if the broker was started with it")
        elif asked not in (in_force[name], "auto") and not _is_any_own(asked, in_force[name]):
            _warn(f"{setting.flag} {asked} is not in force, the broker has {in_force[name]}")


def _is_any_own(asked: str, browser: str) -> bool:
    return asked == MINE and browser_kind(browser) != browser


def _warn(what: str) -> None:
    click.echo(f"warning: {plain(what)}. To change it: `roost stop`, then `roost up`.", err=True)
