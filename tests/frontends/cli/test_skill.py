"""``roost skill`` prints what agents should know, and all of it exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from roost.api.operations import OPERATIONS, Audience
from roost.errors import BY_CODE
from roost.frontends.cli.install.skill import text
from roost.frontends.cli.skill import TOPICS, skill, text_of

LATER = {"browser_handoff", "browser_reload", "browser_resize", "browser_storage_state"}
"""Tools that the texts name for agents that have them."""


def test_without_a_topic_it_says_how_to_work_with_pages() -> None:
    done = CliRunner().invoke(skill, [])
    assert done.exit_code == 0
    assert done.output == text_of("start")


@pytest.mark.parametrize("topic", TOPICS)
def test_each_topic_is_short_and_names_only_what_there_is(topic: str) -> None:
    done = CliRunner().invoke(skill, [topic])
    assert done.exit_code == 0
    assert len(done.output) < 4000
    for tool in re.findall(r"`((?:browser|session|tab_space)_\w+)", done.output):
        assert OPERATIONS[tool].audience is Audience.CORE or tool in LATER, tool
    for code in re.findall(r"`([A-Z]+_[A-Z_]+)`", done.output):
        assert code in BY_CODE, code
    for other in re.findall(r"`roost skill (\w+)`", done.output):
        assert other in TOPICS


def test_an_unknown_topic_is_refused_with_the_ones_there_are() -> None:
    done = CliRunner().invoke(skill, ["bach"])
    assert done.exit_code == 2
    assert "batch" in done.output


def test_the_skill_is_small_and_sends_agents_to_every_topic() -> None:
    assert len(text().encode()) <= 4096
    assert re.match(r"---\nname: roost\ndescription: .{50,1024}\n---\n", text())
    for topic in TOPICS[1:]:
        assert f"roost skill {topic}" in text()


def test_the_plugin_has_the_same_skill() -> None:
    plugin = Path(__file__).parents[3] / "plugin/skills/roost/SKILL.md"
    assert plugin.read_text(encoding="utf-8") == text()
