"""``roost cdp-url``: print where DevTools clients connect to a session."""

from __future__ import annotations

import click

from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.terminal import echo_json


@click.command("cdp-url")
@click.option("--session", metavar="ID", help="The session (default: the calling agent's own).")
@click.option("--ws", is_flag=True, help="Print the WebSocket address (ws://…) instead.")
@json_option
@operator_option
@click.pass_obj
def cdp_url(flags: CommonFlags, session: str | None, ws: bool) -> None:
    """Print the session's CDP endpoint.

    Whoever has the address has the session: treat it like a password. Playwright connects with
    `connect_over_cdp(URL)`. Clients that drop the path of an http address (agent-browser, crawl4ai)
    and Puppeteer's `browserWSEndpoint` take what `--ws` prints.
    """
    from roost.errors import Unsupported
    from roost.frontends.cli.broker_call import ask

    http = ask(flags, orders.STATUS).broker.http
    if http is None:
        raise Unsupported(
            "This broker serves no HTTP.", hint="Restart it: `roost stop`, `roost up`."
        )
    issued = ask(flags, orders.SESSION_TOKEN, session=session)
    url = f"{http}/cdp/{issued.token}"
    web_socket = url.replace("http", "ws", 1)
    if flags.json:
        echo_json({"session": issued.session, "url": url, "webSocket": web_socket})
    else:
        click.echo(web_socket if ws else url)
