"""The ``roost`` command itself: its verbs, and how it reports errors.

Exit codes: 0 done, 1 refused or failed, 2 used wrongly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from roost import __version__
from roost.errors import Internal, RoostError
from roost.frontends.cli.browser import browser
from roost.frontends.cli.cdp import cdp_url
from roost.frontends.cli.dashboard import dashboard
from roost.frontends.cli.demo import demo
from roost.frontends.cli.doctor import doctor
from roost.frontends.cli.fleet import fleet
from roost.frontends.cli.hints import spell
from roost.frontends.cli.hook import hook
from roost.frontends.cli.install.command import install
from roost.frontends.cli.log import log
from roost.frontends.cli.mcp import mcp
from roost.frontends.cli.options import CommonFlags, operator_option
from roost.frontends.cli.profile import profile
from roost.frontends.cli.session import session
from roost.frontends.cli.skill import skill
from roost.frontends.cli.status import status
from roost.frontends.cli.terminal import echo_json, plain
from roost.frontends.cli.up import stop, up
from roost.wire.marks import marked

DONE, FAILED, INTERRUPTED = 0, 1, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
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


GROUPS = {
    "Set-up": (
        "install", "up", "stop", "doctor", "browser", "profile", "fleet", "mcp", "hook", "demo",
    ),
    "Watching": ("status", "dashboard", "log", "session", "cdp-url"),
}  # fmt: skip
"""The commands as `roost --help` lists them, before the page verbs. Others count as set-up."""

for command in (
    up, stop, mcp, status, dashboard, doctor, log, session, cdp_url, profile, browser, install,
    hook, demo, skill, fleet,
):  # fmt: skip
    cli.add_command(command)


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
    error = error.spelled(spell)
    if flags.json:
        echo_json(error.to_wire())
        return
    click.echo(plain(error), err=True)
    click.echo(f"hint: {plain(error.hint)}", err=True)
    if error.page_said is not None:
        click.echo(marked(map(plain, error.page_said.splitlines())), err=True)
