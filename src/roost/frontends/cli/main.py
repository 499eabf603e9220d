"""The ``roost`` command itself: its verbs, and how it reports errors.

Exit codes: 0 done, 1 refused or failed, 2 used wrongly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, MutableMapping, Sequence
from importlib import import_module

import click

from roost import __version__
from roost.errors import Internal, RoostError
from roost.frontends.cli.options import CommonFlags, operator_option

DONE, FAILED, INTERRUPTED = 0, 1, 130


GROUPS = {
    "Set-up": (
        "install", "up", "stop", "doctor", "browser", "profile", "secret", "auth", "policy",
        "fleet", "mcp", "hook", "demo",
    ),
    "Watching": ("status", "dashboard", "log", "session", "cdp-url"),
}  # fmt: skip
"""The commands as `roost --help` lists them, before the page verbs. Others count as set-up."""
PLACES = {
    "up": "up.up",
    "stop": "up.stop",
    "mcp": "mcp.mcp",
    "status": "status.status",
    "dashboard": "dashboard.dashboard",
    "doctor": "doctor.doctor",
    "log": "log.log",
    "session": "session.session",
    "cdp-url": "cdp.cdp_url",
    "profile": "profile.profile",
    "secret": "secret.secret",
    "auth": "secret.logins",
    "policy": "policy.policy",
    "browser": "browser.browser",
    "install": "install.command.install",
    "hook": "hook.hook",
    "demo": "demo.demo",
    "skill": "skill.skill",
    "fleet": "fleet.fleet",
}
"""Module and name of each command, below this package."""


class LazyCommands(MutableMapping[str, click.Command]):
    """The commands by name. A command's module is imported when the command is asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            module, _, attribute = PLACES[name].rpartition(".")
            found = getattr(import_module(f"roost.frontends.cli.{module}"), attribute)
            assert isinstance(found, click.Command)
            self._loaded[name] = found
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in PLACES

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


@click.group(
    commands=LazyCommands(),
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
)
@click.version_option(__version__, prog_name="roost", message="%(prog)s %(version)s")
@operator_option
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Many agents, one browser. Without a command: what is here, and what to do next.

    Everything of one Roost lies in ROOST_HOME (default ~/.local/state/roost).
    """
    if ctx.invoked_subcommand is None:
        from roost.frontends.cli.welcome import welcome

        welcome(ctx.ensure_object(CommonFlags))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal may lack a title's character
            stream.reconfigure(errors="backslashreplace")
    flags = CommonFlags()
    try:
        code = cli.main(arguments, prog_name="roost", standalone_mode=False, obj=flags)
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed the pipe; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except RoostError as error:
        tell(error, flags)
    except Exception as error:  # report a bug like any other error
        if sys.flags.dev_mode:
            raise
        hint = "This is a bug in Roost. `python -X dev -m roost …` shows where."
        tell(Internal(f"{type(error).__name__}: {error}", hint=hint), flags)
    return FAILED


def tell(error: RoostError, flags: CommonFlags) -> None:
    """Print an error in the format that all commands use."""
    from roost.frontends.cli.hints import spell
    from roost.frontends.cli.terminal import echo_json, plain
    from roost.wire.marks import marked

    error = error.spelled(spell)
    if flags.json:
        echo_json(error.to_wire())
        return
    click.echo(plain(error), err=True)
    click.echo(f"hint: {plain(error.hint)}", err=True)
    if error.page_said is not None:
        click.echo(marked(map(plain, error.page_said.splitlines())), err=True)
