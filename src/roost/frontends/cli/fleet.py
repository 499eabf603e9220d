"""``roost fleet``: the commands for a fleet of machines.

Commands about the whole fleet run on the gateway's machine, whose folder has the administrator's
token. `join` and `leave` run on the machine that they concern. The work is done by
``python -m roost.fleet do``: front ends know nothing of the fleet's room.
"""

from __future__ import annotations

from typing import Any

import click

from roost.frontends.cli.options import CommonFlags, json_option
from roost.frontends.cli.table import Table
from roost.frontends.cli.terminal import cell, echo_json, plain, show


@click.group()
def fleet() -> None:
    """Share the browsers of several machines at one address."""


@fleet.command()
@click.option(
    "--address",
    metavar="HOST[:PORT]",
    help="Address of this machine for clients and other machines (127.0.0.1:8877).",
)
@click.option(
    "--ray", metavar="HOST:PORT", help="Use the Ray cluster with its head there; start none."
)
@click.option("--no-ray", is_flag=True, help="Use no Ray: machines are started by hand only.")
@click.option("--redis", metavar="HOST:PORT", help="Let Ray's head keep its state in this Redis.")
@json_option
@click.pass_obj
def up(
    flags: CommonFlags, address: str | None, ray: str | None, no_ray: bool, redis: str | None
) -> None:
    """Start the gateway on this machine, and print how machines and users get in.

    With Roost's extra `fleet` installed, this starts Ray as well, which starts and watches the
    node on each machine and asks for more machines when sessions wait.
    """
    reply = _do("up", address=address, ray=ray, without_ray=no_ray, redis=redis)
    if flags.json:
        echo_json(reply)
        return
    click.echo(
        f"The gateway {'already runs' if reply['wasRunning'] else 'is up'}: {reply['address']}"
    )
    if reply["ray"]:
        click.echo(f"Ray {reply['rayVersion']} watches the machines: {reply['ray']}")
    if reply["isLoopback"]:
        click.echo("Only this machine can reach it. For others: roost fleet up --address HOST")
    click.echo("On each machine that is to run browsers (also here, if it is), within an hour:")
    click.echo(f"  roost fleet join {reply['joinToken']}")
    click.echo("For each user: roost fleet token add NAME")


@fleet.command()
@json_option
@click.pass_obj
def invite(flags: CommonFlags) -> None:
    """Make a join token, which lets one machine join within an hour."""
    reply = _do("invite")
    if flags.json:
        echo_json(reply)
    else:
        click.echo(reply["token"])


@fleet.command()
@click.argument("token")
@click.option(
    "--address",
    metavar="HOST[:PORT]",
    help="Address of this machine for the gateway. Default: the one that reaches it, port 8879.",
)
@json_option
@click.pass_obj
def join(flags: CommonFlags, token: str, address: str | None) -> None:
    """Let this machine run browsers for a fleet. TOKEN `-` reads the token from stdin."""
    import sys

    given = sys.stdin.readline().strip() if token == "-" else token
    reply = _do("join", token=given, address=address)
    if flags.json:
        echo_json(reply)
    else:
        click.echo(f"This machine is node {reply['name']} of the fleet at {reply['gateway']}.")


@fleet.command()
@json_option
@click.pass_obj
def status(flags: CommonFlags) -> None:
    """Show the machines of the fleet, and how full they are."""
    reply = _do("status")
    if flags.json:
        echo_json(reply)
        return
    summary = (
        f"gateway {reply['address']}, {len(reply['sessions'])} sessions, "
        f"{reply['waiting']} waiting, {len(reply['users'])} users"
    )
    rows = Table("node", "state", "sessions", "tabs", "memory free", "load", "address")
    for node in reply["nodes"]:
        memory = None if node["memoryFree"] is None else f"{node['memoryFree']:.0%}"
        rows.add_row(
            cell(node["name"]),
            cell(node["state"]),
            cell(node["sessions"]),
            cell(f"{node['tabs']}/{node['slots']}"),
            cell(memory),
            cell(node["load"]),
            cell(node["address"]),
        )
    show(flags, plain(summary), rows)
    for node in reply["nodes"]:
        if node["problem"]:
            click.echo(f"{plain(node['name'])}: {plain(node['problem'])}")


@fleet.command()
@click.argument("node")
@click.option("--undo", is_flag=True, help="Let the machine take sessions again.")
@json_option
@click.pass_obj
def drain(flags: CommonFlags, node: str, undo: bool) -> None:
    """Move the sessions of a machine to others, and place no more there."""
    reply = _do("drain", node=node, undo=undo)
    if flags.json:
        echo_json(reply)
    elif undo:
        click.echo(f"Node {plain(reply['node'])} takes sessions again.")
    else:
        click.echo(
            f"Node {plain(reply['node'])} takes no more sessions; {reply['sessionsLeft']} are"
            " moved. `roost fleet status` shows when none is left."
        )


@fleet.command()
@click.argument("node")
@json_option
@click.pass_obj
def remove(flags: CommonFlags, node: str) -> None:
    """Forget a machine that is lost for good. Its certificate is no longer accepted."""
    reply = _do("remove", node=node)
    if flags.json:
        echo_json(reply)
    else:
        click.echo(f"Node {plain(reply['node'])} is removed.")


@fleet.command()
@click.option("--force", is_flag=True, help="Leave at once; sessions come back from their copies.")
@json_option
@click.pass_obj
def leave(flags: CommonFlags, force: bool) -> None:
    """Take this machine out of its fleet. Its sessions move to others first."""
    reply = _do("leave", force=force)
    if flags.json:
        echo_json(reply)
    else:
        click.echo(f"This machine ({reply['left']}) has left the fleet. Its broker still runs.")


@fleet.command()
@json_option
@click.pass_obj
def stop(flags: CommonFlags) -> None:
    """Stop the gateway. Machines stop answering; sessions wait until it is up again."""
    reply = _do("stop")
    if flags.json:
        echo_json(reply)
    else:
        click.echo("The gateway is stopped." if reply["stopped"] else "No gateway runs here.")


@fleet.group()
def token() -> None:
    """The tokens of users. A token opens sessions and sees its user's sessions only."""


@token.command()
@click.argument("name")
@json_option
@click.pass_obj
def add(flags: CommonFlags, name: str) -> None:
    """Make a user's token and print it once. Only its digest is stored."""
    reply = _do("users/add", name=name)
    if flags.json:
        echo_json(reply)
        return
    click.echo(reply["token"])
    click.echo(f"Give it to {plain(name)} with the address {reply['address']}.", err=True)


@token.command("list")
@json_option
@click.pass_obj
def list_(flags: CommonFlags) -> None:
    """List the users."""
    users = _do("users")["users"]
    if flags.json:
        echo_json({"users": users})
        return
    rows = Table("user", "sessions")
    for user in users:
        rows.add_row(cell(user["name"]), cell(user["sessions"]))
    show(flags, rows)


@token.command()
@click.argument("name")
@json_option
@click.pass_obj
def revoke(flags: CommonFlags, name: str) -> None:
    """Make a user's token invalid, and end the user's sessions."""
    reply = _do("users/revoke", name=name)
    if flags.json:
        echo_json(reply)
    else:
        click.echo(f"{plain(name)} is gone, with {reply['sessionsEnded']} sessions.")


def _do(order: str, **arguments: Any) -> dict[str, Any]:
    """Have an order performed, and return the answer or raise the error."""
    import json
    import subprocess
    import sys

    from roost.errors import Internal, RoostError

    done = subprocess.run(
        [sys.executable, "-P", "-m", "roost.fleet", "do"],
        input=json.dumps({"order": order, "arguments": arguments}),
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    try:
        reply = json.loads(done.stdout)
    except ValueError:
        raise Internal("The fleet's command failed.") from None
    if done.returncode:
        raise RoostError.from_wire(reply)
    assert isinstance(reply, dict)
    return reply
