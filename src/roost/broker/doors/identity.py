"""Who runs this command: an agent, the person, or neither? The answer is in this file.

A *client* is the program that an agent runs in: the first process above the agent's shim that is
neither a shell nor a launcher. Claude Code runs its MCP servers and its commands side by side, so a
command finds its agent through their common client.

These rules are applied to each ancestor of the command, nearest first:

1. The ancestor is an agent's own process: the command acts as that agent.
2. The ancestor is a client with connected shims: the command acts as the shim's agent. If there are
   several, the conversation id in the command's environment selects one. Without a match, all of
   them must share one session, or the caller must name one of their sessions in each call.
3. The ancestor is a known client without a connected shim: the client's process is the agent, and
   the agent ends with it (``process_agents.py``). A conversation id in the command's environment
   says which conversation of that client the agent is.
4. The ancestor is an editor: the command is unproven, because agents also use the terminals of
   editors.

If no ancestor decides, a command is the person's (the *operator*) if it has a controlling terminal
and its ancestors reach a login or a terminal emulator. The exception: it runs below a program that
a connected shim also runs below. That program may be a client with a wrapper around its MCP
servers.

Agents also start terminal multiplexers (tmux, screen). A multiplexer server leaves its parent, so
its ancestors do not lead to the client. A command below such a server is unproven in two cases:
the server was started with variables that clients set for their agents' commands, or a connected
agent runs in the server's control group and not below the server.

A command with neither client nor terminal (CI, cron, service units) may start, stop and inspect the
broker, and use pages in sessions that it names. It may not in two cases: its parent process is gone
and a connected agent runs in its control group, or it or one of its ancestors was started with
variables that clients set for their agents' commands.

A client's own environment may name a session (``ROOST_SESSION``). That counts only if the person
started the client: nothing above it is a client, an agent or an editor, and it is not an orphan
from where an agent runs.

These rules do not stop a process of the same user that wants to act as the person, because it can
read the operator's token. They keep agents from acting as the person by accident, and the audit
trail shows every use of ``--operator``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from roost.local.lineage import Lineage, Relative
from roost.local.processes import Process
from roost.vocabulary import AgentId, SessionId

CLIENTS: Final = frozenset(
    {"claude", "claude-desktop", "codex", "gemini", "opencode", "cursor-agent", "aider", "amp"}
    | {"auggie", "cline", "copilot", "crush", "devin", "droid", "goose", "kimi", "kiro-cli", "qwen"}
)
"""Programs that run agents. Needed only while none of their shims is connected."""

EDITORS: Final = frozenset(
    {"code", "code-insiders", "codium", "vscodium", "code-server", "cursor", "windsurf", "kiro"}
    | {"devin-desktop", "Devin"}
    | {"zed", "zed-editor", "Electron", "Code", "Cursor", "Code Helper", "Cursor Helper"}
    | {"idea", "pycharm", "webstorm", "goland", "clion", "rider", "rubymine", "phpstorm"}
    | {"rustrover", "datagrip", "studio", "fleet"}
)
EDITOR_FOLDERS: Final = frozenset(
    {".vscode-server", ".vscode-server-insiders", ".cursor-server", ".windsurf-server"}
    | {".zed_server", "code-server", "jbr"}
)
"""Folders from which the remote servers of editors, and the Java of JetBrains, run."""

MULTIPLEXERS: Final = frozenset({"tmux", "screen", "SCREEN", "zellij", "dtach", "abduco"})
"""Terminals whose server leaves the process that started it."""

TERMINALS: Final = MULTIPLEXERS | frozenset(
    {"sshd", "sshd-session", "login", "getty", "agetty", "mosh-server", "dropbear", "telnetd"}
    | {"gnome-terminal-", "gnome-terminal-server", "kgx", "gnome-console", "ptyxis", "ptyxis-agent"}
    | {"konsole", "yakuake", "xterm", "uxterm", "rxvt", "urxvt", "urxvtd", "kitty", "alacritty"}
    | {"wezterm", "wezterm-gui", "foot", "footclient", "st", "ghostty", "terminator", "tilix"}
    | {"xfce4-terminal", "mate-terminal", "lxterminal", "qterminal", "guake", "terminology"}
    | {"deepin-terminal", "cool-retro-term", "sakura", "termite", "contour", "rio", "tabby"}
    | {"Terminal", "iTerm2", "iTermServer", "WarpTerminal", "warp-terminal", "hyper"}
    | {"SessionLeader"}  # the login of the Windows Subsystem for Linux
)

SHELLS: Final = frozenset(
    {"sh", "ash", "bash", "busybox", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu"}
    | {"pwsh", "tcsh", "xonsh", "zsh"}
)
LAUNCHERS: Final = SHELLS | frozenset(
    {"env", "nice", "ionice", "timeout", "nohup", "setsid", "stdbuf", "script", "time", "unbuffer"}
    | {"npx", "npx-cli.js", "npm", "npm-cli.js", "pnpm", "yarn", "bunx", "corepack"}
    | {"uv", "uvx", "pipx", "poetry", "hatch", "pdm", "rye", "mise", "direnv"}
)
"""Programs that only run another command. They are skipped in the search for a client."""

GUARDIANS: Final = frozenset(
    {"systemd", "init", "launchd", "tini", "dumb-init", "docker-init", "s6-svscan", "runit"}
    | {"catatonit"}
)
"""Programs that adopt orphaned processes."""


@dataclass(frozen=True, slots=True)
class Shim:
    """A connected agent that uses a shim, and the client that runs the shim."""

    agent: AgentId
    session: SessionId
    client: Process | None
    above: frozenset[Process] = frozenset()
    """All ancestors of the shim."""
    conversation: str = ""
    """The client's thread or conversation that calls on the shim's connection, if known."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a connected agent runs."""

    control_group: str
    above: frozenset[Process] = frozenset()
    """All ancestors of the agent's process."""


@dataclass(frozen=True, slots=True)
class ActsAs:
    """The command acts as this agent. If there are several, each call must name a session."""

    agents: tuple[AgentId, ...]


@dataclass(frozen=True, slots=True)
class OfClient:
    """The command runs below a client that has no connected shim: the client itself is the agent.

    below: the client, and all its ancestors.
    is_persons: the person started the client, not an agent.
    """

    client: Process
    below: tuple[Process, ...]
    is_persons: bool = False


@dataclass(frozen=True, slots=True)
class IsOperator:
    """The command is the person's. ``why`` is for the audit trail."""

    why: str


@dataclass(frozen=True, slots=True)
class Unproven:
    """The command is neither an agent's nor, for certain, the person's."""

    because: str
    may_keep_house: bool = False
    """The command may call the operations in ``HOUSE_KEEPING``."""
    below: tuple[Process, ...] = ()
    """The editor that the command runs below, and all ancestors of that program."""


Verdict = ActsAs | OfClient | IsOperator | Unproven


def client_of(above: Sequence[Relative]) -> Relative | None:
    """Return the client of the shim that has these ancestors, nearest first. None if a person runs
    the shim by hand in a terminal."""
    found = next((one for one in above if not _only_passes_on(one)), None)
    if found is None or found.names & TERMINALS or _is_guardian(found):
        return None
    return found


def caller_of(
    command: Lineage,
    agents: Mapping[Process, AgentId],
    shims: Sequence[Shim],
    *,
    conversation: str | None = None,
    places: Collection[Place] = (),
) -> Verdict:
    """Decide who runs the command, by the rules in this module's docstring.

    agents: agents by their own process.
    shims: the connected agents that use a shim.
    conversation: the conversation id in the command's environment.
    places: where the connected agents run.
    """
    for number, one in enumerate(command.above):
        if one.process in agents:
            return ActsAs((agents[one.process],))
        beside = [shim for shim in shims if shim.client == one.process]
        if beside:
            return ActsAs(_chosen(beside, conversation))
        below = tuple(relative.process for relative in command.above[number:])
        if one.names & CLIENTS:
            client = Lineage(
                command.above[number + 1 :], one.program, True, one.control_group, one.variables
            )
            return OfClient(one.process, below, _is_persons(client, agents, shims, places))
        if one.names & EDITORS or one.folders & EDITOR_FOLDERS:
            because = f"It runs in {one.program}, where agents also run commands."
            return Unproven(because, below=below)
    if not command.program:
        return Unproven("Its process cannot be seen from here.")
    if command.has_terminal and _reaches_a_terminal(command):
        shared = _shared_with(shims, command.above)
        if shared is not None:
            return Unproven(f"It runs below {shared.program}, and so does an agent.")
        server = _left_parent(command.above)
        if server is not None and _may_be_an_agents(server, places):
            return Unproven(f"It runs in {server.program}, which an agent may have started.")
        return IsOperator("terminal")
    if _is_orphan(command) and any(one.control_group == command.control_group for one in places):
        return Unproven("Its parent process has gone, and it comes from where an agent runs.")
    if _has_client_variables(command):
        return Unproven("It was started with the variables of an agent's command.")
    return Unproven("It was run from no terminal.", may_keep_house=True)


def _is_persons(
    client: Lineage,
    agents: Mapping[Process, AgentId],
    shims: Sequence[Shim],
    places: Collection[Place],
) -> bool:
    """Return whether the person started the client with that lineage, and not an agent."""
    found = caller_of(client, agents, shims, places=places)
    return isinstance(found, IsOperator) or (isinstance(found, Unproven) and found.may_keep_house)


def _has_client_variables(command: Lineage) -> bool:
    """Return whether the command, or a process above it, was started as an agent's command is."""
    above = [one for one in command.above if not _is_guardian(one)]
    return bool(command.variables) or any(one.variables for one in above)


def _shared_with(shims: Sequence[Shim], above: Sequence[Relative]) -> Relative | None:
    """Return the nearest ancestor, below the terminal, that is also an ancestor of a shim."""
    for one in above:
        if one.names & TERMINALS or _is_guardian(one):
            return None
        if not _only_passes_on(one) and any(one.process in shim.above for shim in shims):
            return one
    return None


def _left_parent(above: Sequence[Relative]) -> Relative | None:
    """The server of a terminal multiplexer above the command whose own parent has gone."""
    for number, one in enumerate(above):
        parents = above[number + 1 : number + 2]
        if one.names & MULTIPLEXERS and all(map(_is_guardian, parents)):
            return one
    return None


def _may_be_an_agents(server: Relative, places: Collection[Place]) -> bool:
    """Return True if an agent may have started that server. An agent below the server does not
    count: the person may have started it there, and it is in the same control group."""
    if server.variables:
        return True
    return bool(server.control_group) and any(
        one.control_group == server.control_group and server.process not in one.above
        for one in places
    )


def _chosen(beside: Sequence[Shim], conversation: str | None) -> tuple[AgentId, ...]:
    own = [shim for shim in beside if conversation in (shim.session, shim.conversation)]
    if not own and conversation and len(beside) > 1:
        # A shim gets its thread with its first call. The command's thread is the only unknown one.
        unknown = [shim for shim in beside if not shim.conversation]
        own = unknown if len(unknown) == 1 else []
    own = own or list(beside)
    if len({shim.session for shim in own}) == 1:
        return (own[0].agent,)
    return tuple(shim.agent for shim in own)


def _only_passes_on(one: Relative) -> bool:
    return bool(one.names & LAUNCHERS) and not one.names & CLIENTS


def _is_guardian(one: Relative) -> bool:
    return bool(one.names & GUARDIANS) or (one.process.pid == 1 and not one.names & CLIENTS)


def _reaches_a_terminal(command: Lineage) -> bool:
    if any(one.names & TERMINALS for one in command.above):
        return True
    # The terminal is outside this pid namespace: `docker exec -it`, `docker run -it … bash`.
    return command.is_whole and (not command.above or bool(command.above[-1].names & SHELLS))


def _is_orphan(command: Lineage) -> bool:
    first = next((one for one in command.above if not _only_passes_on(one)), None)
    return first is not None and _is_guardian(first)
