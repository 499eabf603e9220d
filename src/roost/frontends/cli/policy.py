"""``roost policy``: what agents may do, and why something was refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from roost.frontends.cli import orders
from roost.frontends.cli.options import CommonFlags, json_option, operator_option
from roost.frontends.cli.terminal import echo_json, plain

if TYPE_CHECKING:
    from roost.api.policy_views import PolicyView


@click.group()
def policy() -> None:
    """What agents may do: show, explain, set, reload, forget.

    The reference of policy files is docs/reference/policy.md.
    """


@policy.command("show")
@click.argument("session", required=False)
@json_option
@operator_option
@click.pass_obj
def show(flags: CommonFlags, session: str | None) -> None:
    """Show the policy of SESSION, or else of the configuration, and what you have approved."""
    from roost.frontends.cli.broker_call import ask

    _print(flags, ask(flags, orders.POLICY_SHOW, session=session))


@policy.command("explain")
@click.argument("session")
@click.argument("operation")
@click.argument("url", required=False)
@json_option
@operator_option
@click.pass_obj
def explain(flags: CommonFlags, session: str, operation: str, url: str | None) -> None:
    """Say whether SESSION may do OPERATION (click, evaluate, login …) at URL, and by which rule."""
    from roost.frontends.cli.broker_call import ask

    view = ask(flags, orders.POLICY_EXPLAIN, session=session, action=operation, url=url)
    if flags.json:
        echo_json(view.to_wire())
        return
    where = "" if view.origin is None else f" on {plain(view.origin)}"
    source = "" if view.source is None else f" ({plain(view.source)})"
    approved = "; you have approved it" if view.approved else ""
    rule = plain(view.rule)
    click.echo(f"{view.verdict}: {plain(view.operation)}{where}. {rule}{source}{approved}.")


@policy.command("set")
@click.argument("session")
@click.argument("policy", metavar="FILE|PRESET")
@json_option
@operator_option
@click.pass_obj
def set_(flags: CommonFlags, session: str, policy: str) -> None:
    """Give SESSION another policy while it runs: open, careful, lockdown, or a policy file.

    It replaces the policy that the session's agents were started with. The configuration's policy
    holds besides it.
    """
    from roost.frontends.cli.broker_call import ask
    from roost.local.policy_place import policy_text

    text = policy_text(policy, Path.cwd())
    source = "`roost policy set`" if text == policy else f"`roost policy set` ({policy[:100]})"
    _print(flags, ask(flags, orders.POLICY_SET, session=session, policy=text, source=source))


@policy.command("reload")
@json_option
@operator_option
@click.pass_obj
def reload(flags: CommonFlags) -> None:
    """Read the policy in config.toml again. If it is wrong, the old one stays."""
    from roost.frontends.cli.broker_call import ask

    _print(flags, ask(flags, orders.POLICY_RELOAD))


@policy.command("forget")
@click.argument("session", required=False)
@json_option
@operator_option
@click.pass_obj
def forget(flags: CommonFlags, session: str | None) -> None:
    """Withdraw what you have approved in SESSION, or else everywhere."""
    from roost.frontends.cli.broker_call import ask

    _print(flags, ask(flags, orders.POLICY_FORGET, session=session))


def _print(flags: CommonFlags, view: PolicyView) -> None:
    if flags.json:
        echo_json(view.to_wire())
        return
    if view.is_open:
        click.echo("open: everything is allowed.")
    for layer in view.to_wire()["layers"]:
        click.echo(f"{plain(layer['source'])}:")
        for line in _lines(layer):
            click.echo(f"  {plain(line)}")
    for one in view.approvals:
        whose = f"in {one.session}" if one.session else f"for {one.program}"
        where = one.origin or "every origin"
        click.echo(plain(f"approved: {one.subject} on {where}, {whose}"))


def _lines(layer: dict[str, Any]) -> list[str]:
    """Return a layer as lines like those of a policy file."""
    rules = [_rule(rule) for rule in layer.get("rules", ())]
    others = [
        f"{key} = {json.dumps(layer[key])}" for key in layer if key not in ("source", "rules")
    ]
    return [*others, *rules] or ["restricts nothing"]


def _rule(rule: dict[str, Any]) -> str:
    where = f" on {', '.join(rule['origins'])}" if rule.get("origins") else ""
    whom = f" for {', '.join(rule['clients'])}" if rule.get("clients") else ""
    return f"{rule['verdict']} {', '.join(rule['operations'])}{where}{whom}"
