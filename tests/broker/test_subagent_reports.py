"""What hooks reported, and to whom a command belongs."""

from __future__ import annotations

from roost.broker.subagent_reports import COMMANDS, TOOL_USES, SubagentReports
from roost.vocabulary import AgentId


def test_a_command_belongs_to_the_only_sub_agent_that_runs_one_or_by_its_text() -> None:
    reports, agent = SubagentReports(), AgentId("a")
    reports.began(agent, "u1", "one", "", "roost open 'http://a.test/'")
    assert reports.running(agent, ["anything"]) == {"one"}
    reports.began(agent, "u2", "two", "", "roost snapshot")
    shell = r"""/bin/bash -c eval 'roost open '\''http://a.test/'\''' < /dev/null"""
    assert reports.running(agent, [shell]) == {"one"}
    assert reports.running(agent, ["make"]) == {"one", "two"}
    reports.began(agent, "u3", "", "", "roost snapshot")
    assert reports.running(agent, ["sh -c roost snapshot"]) == {"two", ""}
    reports.ended(agent, "u3")
    assert reports.running(agent, ["sh -c roost snapshot"]) == {"two"}
    reports.stopped(agent, "two")
    assert reports.running(agent, ["sh -c roost snapshot"]) == {"one"}


def test_what_is_remembered_of_reports_is_bounded() -> None:
    reports, agent = SubagentReports(), AgentId("a")
    for number in range(1000):
        reports.began(agent, f"u{number}", f"s{number}", "kind", "roost open")
    kept = reports._agents[agent]
    assert len(kept.tool_uses) == len(kept.kinds) == TOOL_USES
    assert len(kept.commands) == COMMANDS
