"""``roost secret`` and ``roost auth``: secrets and logins that agents use and never see."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.table import Table
from roost.frontends.cli.terminal import cell, echo_json, plain, show

if TYPE_CHECKING:
    from roost.api.secret_views import SecretView

TEST_SECONDS = 60.0
VALUE_CHARS = 16_000


@click.group()
def secret() -> None:
    """Secrets that agents have filled in and never see: add, list, test, remove."""


@secret.command("add")
@click.argument("name")
@click.option(
    "--origin", "origins", multiple=True, required=True,
    help="Where it may be filled in, such as github.com or https://*.example.com. May be repeated.",
)  # fmt: skip
@click.option(
    "--embedded-in", "around", multiple=True, help="Origin that may embed the page in a frame."
)
@click.option(
    "--from", "source",
    help="Who holds the value: op:REFERENCE, bw:ITEM, pass:NAME, keyring:ATTRIBUTE=VALUE,… or"
    ' command:"COMMAND". Default: Roost asks for it and keeps it.',
)  # fmt: skip
@click.option("--totp", is_flag=True, help="The value is the seed of one-time codes.")
@json_option
@operator_option
@click.pass_obj
def add_secret(
    flags: CommonFlags,
    name: str,
    origins: tuple[str, ...],
    around: tuple[str, ...],
    source: str | None,
    totp: bool,
) -> None:
    """Store secret NAME, bound to the origins where it may be filled in.

    The value comes from a prompt, or from standard input if that is not a terminal. It never stands
    on the command line."""
    value = None if source else _asked("Seed" if totp else "Value")
    _add(
        flags, name=name, origins=list(origins), around=list(around), value=value, source=source,
        totp=totp,
    )  # fmt: skip


@secret.command("list")
@json_option
@operator_option
@click.pass_obj
def list_secrets(flags: CommonFlags) -> None:
    """List secrets, without their values."""
    _list(flags, lambda _: True)


@secret.command("remove")
@click.argument("name")
@json_option
@operator_option
@click.pass_obj
def remove_secret(flags: CommonFlags, name: str) -> None:
    """Forget secret NAME."""
    _remove(flags, name)


@secret.command("test")
@click.argument("name")
@json_option
@operator_option
@click.pass_context
def test_secret(ctx: click.Context, name: str) -> None:
    """Check that the value of secret NAME can be read, without showing it."""
    from roost.frontends.cli.broker_call import ask

    flags = ctx.ensure_object(CommonFlags)
    view = ask(flags, orders.SECRET_TEST, start=True, timeout=TEST_SECONDS, name=name)
    if flags.json:
        echo_json(view.to_wire())
    elif view.ok:
        click.echo(f"{plain(name)}: ok, {view.chars} characters.")
    else:
        click.echo(f"{plain(name)}: {plain(view.problem or '')}.")
        if view.said:
            click.echo(f"it said: {plain(view.said)}")
    ctx.exit(0 if view.ok else 1)


@click.group("auth")
def logins() -> None:
    """Whole logins that agents use and never see: add, login, list, remove."""


@logins.command("add")
@click.argument("name")
@click.option("--url", required=True, help="Address of the login page.")
@click.option("--username", required=True, help="Name or e-mail address to log in as.")
@click.option("--origin", "origins", multiple=True, help="Further origin of the login. Repeatable.")
@click.option("--from", "source", help="Who holds the password; see `roost secret add --help`.")
@click.option("--totp", is_flag=True, help="Also ask for the seed of the login's one-time codes.")
@json_option
@operator_option
@click.pass_obj
def add_login(
    flags: CommonFlags,
    name: str,
    url: str,
    username: str,
    origins: tuple[str, ...],
    source: str | None,
    totp: bool,
) -> None:
    """Store login NAME: where it is, who logs in, and the password.

    The password comes from a prompt, or from standard input if that is not a terminal. With --totp,
    the seed is the second line."""
    value = None if source else _asked("Password")
    seed = _asked("Seed of the one-time codes") if totp else None
    _add(
        flags, name=name, origins=[*origins, _origin(url)], value=value, source=source, login=url,
        username=username, totpValue=seed,
    )  # fmt: skip


@logins.command("login")
@click.argument("name")
@click.option("-s", "--session", help="Session to log in with; default: your own.")
@json_option
@operator_option
@click.pass_obj
def login(flags: CommonFlags, name: str, session: str | None) -> None:
    """Log in with login NAME: open its page, fill it in, submit it."""
    from roost.frontends.cli.broker_call import ask

    where = {} if session is None else {"session": session}
    view = ask(flags, orders.LOGIN, start=True, timeout=120.0, name=name, snapshot="none", **where)
    if flags.json:
        echo_json(view.to_wire())
    else:
        click.echo(f"{plain(view.did)} The page is now {plain(view.url or '')}")


@logins.command("list")
@json_option
@operator_option
@click.pass_obj
def list_logins(flags: CommonFlags) -> None:
    """List logins, without their passwords."""
    _list(flags, lambda one: one.login is not None)


@logins.command("remove")
@click.argument("name")
@json_option
@operator_option
@click.pass_obj
def remove_login(flags: CommonFlags, name: str) -> None:
    """Forget login NAME."""
    _remove(flags, name)


def _asked(what: str) -> str:
    """Read a value from a prompt that shows nothing, or a line from standard input."""
    if sys.stdin.isatty():
        return str(click.prompt(what, hide_input=True, err=True))
    value = sys.stdin.readline(VALUE_CHARS + 1).removesuffix("\n")
    if not value:
        raise click.UsageError(f"Standard input has no {what.lower()}.")
    return value


def _origin(url: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _add(flags: CommonFlags, **arguments: Any) -> None:
    from roost.frontends.cli.broker_call import ask

    given = {name: value for name, value in arguments.items() if value is not None}
    view = ask(flags, orders.SECRET_ADD, start=True, **given)
    if flags.json:
        echo_json(view.to_wire()["secrets"])
        return
    name = str(arguments["name"])
    origins = next(one.origins for one in view.secrets if one.name == name)
    click.echo(f"{plain(name)} is stored, for {plain(', '.join(origins))}.")


def _remove(flags: CommonFlags, name: str) -> None:
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.SECRET_REMOVE, start=True, name=name)
    if flags.json:
        echo_json(view.to_wire()["secrets"])
    else:
        click.echo(f"{plain(name)} is gone.")


def _list(flags: CommonFlags, is_wanted: Callable[[SecretView], bool]) -> None:
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.SECRET_LIST, start=True)
    wanted = [one for one in view.secrets if is_wanted(one)]
    if flags.json:
        echo_json([one.to_wire() for one in wanted])
    elif not wanted:
        click.echo("None.")
    else:
        show(flags, _table(wanted))


def _table(secrets: Sequence[SecretView]) -> Table:
    shown = Table("NAME", "KIND", "ORIGINS", "LOGIN", "HELD BY")
    for one in secrets:
        kind = "one-time code" if one.totp else "login" if one.login else "secret"
        held = (one.source or "Roost").partition(":")[0]
        texts = (one.name, kind, ", ".join(one.origins), one.username or "", held)
        shown.add_row(*map(cell, texts))
    return shown
