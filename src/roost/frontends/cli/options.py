"""Flags that every command understands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(slots=True)
class CommonFlags:
    """The common flags of one run. ``run`` reads ``json`` when it has to print an error."""

    operator: bool = False
    json: bool = False
    is_agent: bool = False
    """The broker takes this command for an agent's, so a model reads the output."""


def operator_option(command: Command) -> Command:
    """Add ``--operator``, which may come before or after the verb."""

    def given(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            ctx.ensure_object(CommonFlags).operator = True

    return click.option(
        "--operator",
        is_flag=True,
        expose_value=False,
        callback=given,
        help="Act as the person, wherever this command runs. Written to the audit trail.",
    )(command)


def json_option(command: Command) -> Command:
    """Add ``--json``: print one JSON value on stdout and nothing else, errors included."""

    def given(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            ctx.ensure_object(CommonFlags).json = True

    return click.option(
        "--json",
        is_flag=True,
        expose_value=False,
        is_eager=True,
        callback=given,
        help="Print one JSON value and nothing else.",
    )(command)
