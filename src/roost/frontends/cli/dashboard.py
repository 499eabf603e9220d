"""``roost dashboard``: open the page on which a person watches the agents.

The page needs a code to log in. The code must not stand on a command line, which every process of
the machine can read. So it is written to a file that only this user can read, and the file sends
the browser on.
"""

from __future__ import annotations

import click

from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.terminal import echo_json

_FORWARD = """<!doctype html><meta charset="utf-8"><title>Roost</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}#code={code}">
"""


@click.command()
@click.option("--no-open", is_flag=True, help="Only print the file that opens the dashboard.")
@json_option
@operator_option
@click.pass_obj
def dashboard(flags: CommonFlags, no_open: bool) -> None:
    """Watch all agents live in your web browser."""
    import webbrowser

    from roost.frontends.cli.broker_call import ask
    from roost.local.home import Home, write_secret

    login = ask(flags, orders.DASHBOARD_OPEN, start=True)
    file = Home.find().dashboard
    write_secret(file, _FORWARD.format(address=login.address, code=login.code).encode())
    is_open = not no_open and not flags.json and webbrowser.open(file.as_uri())
    if flags.json:
        echo_json({"address": login.address, "file": str(file)})
    elif is_open:
        click.echo(f"The dashboard opens in your web browser: {login.address}")
    else:
        click.echo(f"Open this file in your web browser within a minute: {file}")
