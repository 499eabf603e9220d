from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roost.api import operations as ops
from roost.api.door import Admission
from roost.broker.doors import commands, door
from roost.errors import BadRequest, SessionGone, TabGone, Unauthorized, Unsupported
from roost.local.home import user_folder
from roost.local.lineage import Lineage
from roost.local.processes import Peer
from roost.testing.house import FakeHouse, fake_house
from roost.testing.scene import blind
from roost.testing.waits import error_of, until
from roost.vocabulary import (
    GRACE_SECONDS,
    NOBODY,
    OPERATOR,
    RESUMABLE_SECONDS,
    Lifetime,
    SessionId,
)
from roost.wire.hello import ClientKind, Hello
from tests.support.process_trees import Tree
from tests.support.real_processes import child

URL = "https://site.test/"
WAIT = "import sys; sys.stdin.read()"
WAIT_BELOW = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAIT!r}])"


def me() -> Peer:
    return Peer(os.getuid(), os.getpid())


def unsaid(house: FakeHouse) -> Hello:
    """A command without ``--operator``."""
    return replace(house.hello(ClientKind.CLI), operator=False)


def resuming(house: FakeHouse, admission: Admission) -> Hello:
    return replace(house.hello(), resume=admission.welcome.secret)


def files_below(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


async def navigated(admission: Admission) -> str:
    return (await admission.api.call(ops.Navigate(url=URL))).tab


# --- who may come in ---------------------------------------------------------------------------


async def test_another_user_is_refused_whatever_it_knows(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        stranger = Peer(os.getuid() + 1, os.getpid())
        for kind in (ClientKind.PYTHON, ClientKind.CLI, ClientKind.MCP):
            with pytest.raises(Unauthorized):
                house.door.admit(house.hello(kind), stranger, on_end=lambda: None)
        assert not house.state.agents


@pytest.mark.parametrize("token", ["guess", "☃", "0" * 64])
async def test_a_wrong_token_is_refused(token: str, tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        hello = replace(house.hello(), token=token)
        with pytest.raises(Unauthorized) as refusal:
            house.door.admit(hello, me(), on_end=lambda: None)
        assert token not in str(refusal.value.to_wire())


async def test_a_removed_token_file_is_written_again(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        own, hello = house.home.operator_token(), house.hello()
        house.home.token.unlink()
        house.door.sweep()
        assert house.home.operator_token() == own, "the sweep puts it back"
        house.home.token.unlink()
        with pytest.raises(Unauthorized):
            house.admit(replace(house.hello(), token="guess"))
        assert house.home.token.stat().st_mode & 0o777 == 0o600
        moved = house.home.path.rename(tmp_path.with_name("moved"))
        try:
            with pytest.raises(Unauthorized):
                house.admit(replace(hello, token="guess"))
            assert not house.home.path.exists(), "a folder that is gone is not made again"
        finally:
            moved.rename(house.home.path)


async def test_a_token_that_the_person_replaced_is_used_from_then_on(tmp_path: Path) -> None:
    """After the file is removed, the first process that needs the token makes a new one."""
    async with fake_house(tmp_path) as house:
        old = house.hello()
        house.home.token.unlink()
        assert house.home.operator_token() != old.token
        house.admit()
        assert house.door.visit(house.home.operator_token()).session is None
        with pytest.raises(Unauthorized):
            house.admit(old)


@pytest.mark.parametrize("wrong", ["open to others", "a link", "no token"])
async def test_a_token_file_that_others_can_write_is_ignored(wrong: str, tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        hello, fake = house.hello(), "f" * 64
        house.home.token.unlink()
        target = tmp_path / "target" if wrong == "a link" else house.home.token
        target.write_text(fake if wrong != "no token" else "short")
        target.chmod(0o666 if wrong == "open to others" else 0o600)
        if wrong == "a link":
            house.home.token.symlink_to(target)
        with pytest.raises(Unauthorized):
            house.admit(replace(hello, token=fake))
        house.admit(hello)


async def test_a_client_of_another_wire_version_is_told_what_to_update(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        with pytest.raises(BadRequest) as refusal:
            house.door.admit(replace(house.hello(), versions=(99,)), me(), on_end=lambda: None)
        assert "broker" in refusal.value.hint


async def test_a_browser_that_is_not_here_is_refused_before_anything_is_made(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        with pytest.raises(Unsupported):
            house.admit(replace(house.hello(), browser="lynx"))
        assert not house.state.sessions


# --- who one is --------------------------------------------------------------------------------


async def test_an_identity_is_minted_here_and_bound_to_the_process(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        ada, bob = house.admit(), house.admit()
        assert re.fullmatch(rf"agent_[0-9a-f]{{32}}_{os.getpid()}", ada.agent)
        assert ada.agent != bob.agent
        assert ada.welcome.session != bob.welcome.session


async def test_the_resume_secret_is_not_stored(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        secret = (house.admit().welcome.secret or "").partition(".")[2]
        assert len(secret) == 64
        for file in files_below(tmp_path):
            assert secret.encode() not in file.read_bytes(), file


async def test_an_agent_comes_back_to_its_session_and_tabs(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        first = house.admit()
        tab = await navigated(first)
        house.door.leave(first, goodbye=False)
        house.clock.advance(GRACE_SECONDS - 0.001)
        again = house.admit(resuming(house, first))
        house.clock.advance(GRACE_SECONDS)

        assert (again.agent, again.welcome.session) == (first.agent, first.welcome.session)
        assert (await again.api.call(ops.Evaluate(function="() => 1"))).tab == tab


async def test_resuming_too_late_is_refused_like_an_unknown_secret(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        first, other = house.admit(), house.admit()
        await navigated(first)
        house.door.leave(first, goodbye=False)
        house.clock.advance(GRACE_SECONDS)

        refusals = []
        for resume in (
            first.welcome.secret,
            "agent_0.0",
            "nonsense",
            f"{other.agent}.{'0' * 64}",
        ):
            with pytest.raises(Unauthorized) as refusal:
                house.admit(replace(house.hello(), resume=resume))
            refusals.append(blind(refusal.value))
        assert all(refusal == refusals[0] for refusal in refusals)
        assert list(house.state.agents) == [other.agent]
        await until(lambda: not house.browser.pages)


async def test_a_new_connection_replaces_the_half_open_one_of_the_same_agent(
    tmp_path: Path,
) -> None:
    """The end of the old connection is noticed only after the new one is admitted, and must end
    nothing."""
    async with fake_house(tmp_path) as house:
        closed: list[str] = []
        old = house.door.admit(house.hello(), me(), on_end=lambda: closed.append("old"))
        new = house.door.admit(resuming(house, old), me(), on_end=lambda: closed.append("new"))
        assert closed == ["old"]

        house.door.leave(old, goodbye=False)
        house.clock.advance(GRACE_SECONDS)

        assert house.state.agents[new.agent].connected
        await navigated(new)
        house.door.leave(new, goodbye=True)
        assert not house.state.agents


async def test_coming_back_many_times_leaves_one_connection(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        closed: list[int] = []
        admission = house.admit()
        for number in range(5):
            hello = resuming(house, admission)
            admission = house.door.admit(hello, me(), on_end=lambda n=number: closed.append(n))  # type: ignore[misc]
        assert closed == [0, 1, 2, 3]
        house.clock.advance(0)
        house.door.leave(admission, goodbye=False)
        house.clock.advance(GRACE_SECONDS)
        assert closed == [0, 1, 2, 3]
        assert not house.state.agents


async def test_an_agent_that_ends_otherwise_loses_its_connection(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        closed: list[str] = []
        with child(WAIT) as pid:
            house.door.admit(
                house.hello(), Peer(os.getuid(), pid), on_end=lambda: closed.append("it")
            )
            house.door.sweep()
            assert closed == []  # it lives
        house.door.sweep()
        assert closed == ["it"]
        house.clock.advance(GRACE_SECONDS)
        assert not house.state.agents


async def test_an_agent_without_a_visible_pid_does_not_count_as_dead(tmp_path: Path) -> None:
    """In another pid namespace the kernel reports pid 0, although the agent is connected."""
    async with fake_house(tmp_path) as house:
        unseen = house.admit(pid=0)
        house.door.sweep()
        house.clock.advance(GRACE_SECONDS)
        assert house.state.agents[unseen.agent].connected


async def test_a_resumable_session_waits_a_day_without_its_tabs(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        hello = replace(house.hello(), session=SessionId("claude-1"), resumable=True)
        first = house.admit(hello)
        await navigated(first)
        session = house.state.sessions[SessionId("claude-1")]
        assert session.lifetime is Lifetime.RESUMABLE
        house.door.leave(first, goodbye=True)
        assert not house.state.tabs
        house.clock.advance(RESUMABLE_SECONDS - 1)

        again = house.admit(hello)
        assert again.agent != first.agent
        view = await again.api.call(ops.SessionShow())
        assert (view.id, view.color, view.tabs) == ("claude-1", session.color, [])
        house.door.leave(again, goodbye=True)
        house.clock.advance(RESUMABLE_SECONDS)
        assert not house.state.sessions


async def test_an_agent_started_in_the_root_or_home_folder_has_no_files_there(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path) as house:
        for cwd in ("/", str(user_folder())):
            hello = replace(house.hello(), cwd=cwd, files=("/given",))
            assert house.state.agents[house.admit(hello).agent].folders == ("/given",)


# --- who acts ----------------------------------------------------------------------------------


def in_a(tree: Tree, name: str, *, terminal: bool) -> Lineage:
    return Lineage(tree.above(name), "roost", terminal)


TERMINAL = Tree("systemd\n  tmux: server\n    bash\n      roost:command")
EDITOR = Tree("systemd\n  code\n    bash\n      roost:command")
SERVICE = Tree("systemd\n  cron\n    sh\n      roost:command")


def audited(house: FakeHouse, kind: str) -> list[dict[str, Any]]:
    entries = [json.loads(line) for line in house.home.audit.read_text().splitlines()]
    return [entry for entry in entries if entry["kind"] == kind]


async def test_a_command_in_a_terminal_is_the_operator_and_audited_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "lineage", lambda pid: in_a(TERMINAL, "command", terminal=True))
    async with fake_house(tmp_path) as house:
        command = house.admit(unsaid(house))
        assert command.agent == OPERATOR
        assert command.welcome.secret is None
        assert not house.state.agents
        (entry,) = audited(house, "acts as operator")
        assert (entry["pid"], entry["why"]) == (os.getpid(), "terminal")
        assert entry["line"] == "roost < bash < tmux: server < systemd"


async def test_a_command_in_an_editor_is_refused_and_told_what_to_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "lineage", lambda pid: in_a(EDITOR, "command", terminal=True))
    async with fake_house(tmp_path) as house:
        command = house.admit(unsaid(house))
        assert command.agent == NOBODY
        await command.api.call(ops.Ping())
        for operation in (ops.Status(), ops.SessionList(), ops.SessionToken(session="s1")):
            refused = await error_of(Unauthorized, command.api.call(operation))
            assert "--operator" in refused.hint
        assert not audited(house, "acts as operator")
        said = house.admit(house.hello(ClientKind.CLI))
        assert said.agent == OPERATOR
        (entry,) = audited(house, "acts as operator")
        assert entry["why"] == "--operator"


async def test_a_service_may_stop_the_broker_but_not_list_sessions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "lineage", lambda pid: in_a(SERVICE, "command", terminal=False))
    async with fake_house(tmp_path) as house:
        command = house.admit(unsaid(house))
        await error_of(Unauthorized, command.api.call(ops.SessionList()))
        assert (await command.api.call(ops.Status())).broker.pid
        (entry,) = audited(house, "acts as operator")
        assert entry["why"] == "neither client nor terminal"


async def test_a_command_beside_a_shim_is_that_shims_agent(tmp_path: Path) -> None:
    """MCP clients run the shim and the command as siblings below the client."""
    async with fake_house(tmp_path) as house:
        with child() as shim, child(WAIT_BELOW) as command:
            agent = house.admit(house.hello(ClientKind.MCP), pid=shim)
            other = house.admit(house.hello(ClientKind.PYTHON), pid=0)
            tab = await navigated(agent)
            await navigated(other)
            beside = house.admit(unsaid(house), pid=command)
            assert beside.agent == agent.agent
            seen = (await beside.api.call(ops.SessionList())).sessions
            assert [row.tabs[0].tab for row in seen] == [tab]
            await error_of(SessionGone, beside.api.call(ops.SessionPause(session="s2")))
            await error_of(Unauthorized, beside.api.call(ops.ProfileRemove(name="work")))
        assert not audited(house, "acts as operator")


CLIENT = Tree(
    "systemd\n  tmux: server\n    bash\n      codex @client\n        sh\n          x:command"
)


async def test_a_session_is_given_out_below_a_client_that_the_person_gave_it_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = in_a(CLIENT, "command", terminal=True)
    monkeypatch.setattr(commands, "lineage", lambda pid: line)
    started: dict[int, str] = {}
    monkeypatch.setattr(door, "started_with", lambda pid, name: started.get(pid))
    async with fake_house(tmp_path) as house:
        house.door.visit(house.home.operator_token())
        for name in ("shop", "mail"):
            await house.door.visit(house.home.operator_token()).api.call(
                ops.SessionOpen(session=name, named=True)
            )
        shop, mail = (house.state.sessions[SessionId(name)] for name in ("shop", "mail"))
        assert not house.door._is_given(shop, 0, line)
        person = house.admit(house.hello(ClientKind.CLI))  # says --operator in that client
        await person.api.call(ops.SessionToken(session="shop"))
        assert house.door._is_given(shop, 0, line)
        assert not house.door._is_given(mail, 0, line)
        started[CLIENT["@client"].process.pid] = "mail"
        assert house.door._is_given(mail, 0, line), "the client itself was started for it"
        await person.api.call(ops.SessionDispose(session="shop"))
        house.door.sweep()
        assert not house.door._commands.given


@pytest.mark.parametrize("code", [WAIT, WAIT_BELOW])
async def test_a_command_below_an_agents_process_acts_as_that_agent(
    code: str, tmp_path: Path
) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        tab = await navigated(agent)
        with child(code) as pid:
            command = house.admit(unsaid(house), pid=pid)
            assert command.agent == agent.agent
            assert command.welcome.session == agent.welcome.session
            seen = (await command.api.call(ops.SessionList())).sessions
            assert [row.tabs[0].tab for row in seen] == [tab]
            await error_of(Unauthorized, command.api.call(ops.BrokerStop()))
            house.door.leave(command, goodbye=True)
        assert house.state.agents[agent.agent].connected


async def test_the_operator_flag_below_an_agent_is_granted_and_audited(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        with child(WAIT) as pid:
            assert house.admit(house.hello(ClientKind.CLI), pid=pid).agent == OPERATOR
        (entry,) = audited(house, "acts as operator")
        assert (entry["pid"], entry["below"]) == (pid, agent.agent[:12])
        assert WAIT not in entry["line"], "arguments may hold secrets"


async def test_a_process_that_only_has_an_agents_pid_is_not_that_agent(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        row = house.state.agents[house.admit().agent]
        house.state.put(replace(row, process_started="another time"))
        with child(WAIT) as pid:
            assert house.admit(unsaid(house), pid=pid).agent == NOBODY


async def test_calls_of_an_ended_agent_are_refused(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        await navigated(agent)
        house.door.leave(agent, goodbye=True)
        await error_of(SessionGone, agent.api.call(ops.Navigate(url=URL)))
        await error_of(SessionGone, agent.api.call(ops.Tabs(action="new")))
        await error_of(SessionGone, agent.api.call(ops.SessionOpen(session="x")))


async def test_a_session_that_an_agents_command_opens_belongs_to_that_agent(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit()
        with child(WAIT) as pid:
            command = house.admit(unsaid(house), pid=pid)
            tab = await navigated(command)
        assert (await agent.api.call(ops.Evaluate(function="() => 1"))).tab == tab
        other = house.admit(replace(house.hello(), name="other"))
        await error_of(TabGone, other.api.call(ops.Close(tab=tab)))


# --- hooks -------------------------------------------------------------------------------------


async def test_a_hook_may_end_a_turn_and_nothing_else(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        agent = house.admit(house.hello(ClientKind.MCP))
        await agent.api.call(ops.LoopStart(prompt="go on"))
        hook = house.admit(house.hello(ClientKind.HOOK))
        assert (await hook.api.call(ops.LoopTurn())).iteration == 1
        refused: list[ops.Operation] = [
            ops.Status(),
            ops.SessionList(),
            ops.LoopStop(),
            ops.Navigate(url=URL),
            ops.LoopTurn(session=agent.welcome.session),
            ops.BrokerStop(),
        ]
        for operation in refused:
            await error_of(Unauthorized, hook.api.call(operation))  # type: ignore[arg-type]
        with pytest.raises(Unauthorized):
            hook.api.watch()
        assert hook.welcome.secret is None
        house.door.leave(hook, goodbye=True)
        assert house.state.agents[agent.agent].connected


async def test_a_hook_finds_shims_only_and_only_connected_ones(tmp_path: Path) -> None:
    async with fake_house(tmp_path) as house:
        house.admit(house.hello(ClientKind.PYTHON))
        with pytest.raises(SessionGone):
            house.admit(house.hello(ClientKind.HOOK))
        shim = house.admit(house.hello(ClientKind.MCP))
        assert house.admit(house.hello(ClientKind.HOOK)).agent == shim.agent
        house.door.leave(shim, goodbye=False)
        with pytest.raises(SessionGone):
            house.admit(house.hello(ClientKind.HOOK))
        house.admit(replace(resuming(house, shim), kind=ClientKind.MCP))
        assert house.admit(house.hello(ClientKind.HOOK)).agent == shim.agent


async def test_notes_for_an_agent_are_not_given_to_its_hook(
    tmp_path: Path,
) -> None:
    async with fake_house(tmp_path, pool=6) as house:
        agent, waiting = house.admit(house.hello(ClientKind.MCP)), house.admit()
        for _ in range(6):
            await agent.api.call(ops.Tabs(action="new"))
        await waiting.api.call(ops.TabSpaceRequest())
        hook = house.admit(house.hello(ClientKind.HOOK))
        assert (await hook.api.call(ops.LoopTurn())).notes is None
        assert (await agent.api.call(ops.LoopStatus())).notes


async def test_a_hook_that_guesses_a_session_id_gets_no_agent(tmp_path: Path) -> None:
    """The hook's answer contains the loop's prompt, and its input can end the loop."""
    async with fake_house(tmp_path) as house:
        named = replace(house.hello(ClientKind.MCP), session=SessionId("work"))
        own = replace(house.hello(ClientKind.MCP), session=SessionId("uuid"), resumable=True)
        house.admit(named)
        mine = house.admit(own)
        hook = house.hello(ClientKind.HOOK)
        for guess in (SessionId("work"), SessionId("nothing"), None):
            with pytest.raises(SessionGone):
                house.admit(replace(hook, session=guess), pid=0)
        found = house.admit(replace(hook, session=SessionId("uuid")), pid=0)
        assert found.agent == mine.agent
