"""``roost install skill``: give agents the skill that tells them when to use Roost."""

from __future__ import annotations

import click

from roost.frontends.cli.install import skill

CHOICES = ("claude", "codex", "agents", "project")


@click.command("skill")
@click.option("--claude", "choices", flag_value="claude", multiple=True, help="Claude Code.")
@click.option("--codex", "choices", flag_value="codex", multiple=True, help="Codex.")
@click.option("--agents", "choices", flag_value="agents", multiple=True, help="~/.agents/skills.")
@click.option("--project", "choices", flag_value="project", multiple=True, help="This project.")
@click.option("--remove", is_flag=True, help="Remove it again.")
@click.option("--print", "print_only", is_flag=True, help="Only show what would be written.")
def install_skill(choices: tuple[str, ...], remove: bool, print_only: bool) -> None:
    """A skill: a short file that tells agents when to use Roost, and how to learn more."""
    if print_only:
        click.echo(skill.text(), nl=False)
        return
    if not choices:
        raise click.UsageError(f"Say for whom: {', '.join(f'--{one}' for one in CHOICES)}.")
    for choice in choices:
        if remove:
            for file in skill.remove(choice):
                click.echo(f"Removed {file}.")
        else:
            for file in skill.install(choice):
                click.echo(f"The skill is in {file}.")
