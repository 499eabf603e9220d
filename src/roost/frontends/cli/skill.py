"""``roost skill``: print what an agent should know about this Roost, one topic at a time.

An installed ``SKILL.md`` only says when to use Roost. Agents read the rest from here, so that it
always fits the installed version.
"""

from __future__ import annotations

from importlib.resources import files

import click

START = "start"
TOPICS = (START, "batch", "sessions", "person", "develop", "errors")


@click.command()
@click.argument("topic", default=START, type=click.Choice(TOPICS), metavar="[TOPIC]")
def skill(topic: str) -> None:
    """Print what agents should know about this Roost.

    TOPIC is batch, sessions, person, develop or errors. Without it: how to work with pages.
    """
    click.echo(text_of(topic), nl=False)


def text_of(topic: str) -> str:
    """Return a topic's text."""
    found = files("roost.frontends.cli") / "skill_topics" / f"{topic}.md"
    return found.read_text(encoding="utf-8")
