"""Policies: which operations agents may perform where, which need an approval, and how many.

A policy is a stack of layers, and every layer can only narrow what the others allow. ``layers_for``
collects the layers of one call:

1. The person's configuration (``config.toml``), the row with scope ``CONFIG``.
2. The session's: those of the agent that made it.
3. The calling agent's: what it was started with (``.roost.toml``, ``--policy``).

``set_policy`` lets the person replace 2 and 3 while the session runs. The agents take the new
layers with them, so no agent gets rid of them with a new session.

``judge`` asks each layer and takes the strictest answer. In one layer the answer is the first of:

1. An origin outside of ``origins`` is denied. Actions on an origin in ``read_only`` are denied.
2. The first rule that covers the operation, the origin and the client program.
3. ``cdp``, which passes everything unread, is denied in every layer that restricts anything.
4. Everything else is allowed.

A session without layers costs nothing: ``layers_for`` returns an empty tuple. The operator is never
judged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from roost.core import approvals
from roost.core.addresses import host_allowed, host_of, origin_of
from roost.core.approvals import Wanted
from roost.core.effects import WriteAudit
from roost.core.events import DownloadAdmitted
from roost.core.policy_layers import PolicyLayer, PolicyRule
from roost.core.rows import Policy, Session
from roost.core.state import State
from roost.errors import PolicyDenied
from roost.vocabulary import OPERATOR, AgentId, SessionId, Verdict

CONFIG: Final = ""
"""The scope of the configuration's policy, and the key of its row."""
MINUTE: Final = 60.0
OPAQUE: Final = "null"
"""The origin of documents that have none: about:blank in a new tab, data:, sandboxed frames."""
_STRICTNESS = {Verdict.ALLOW: 0, Verdict.ASK: 1, Verdict.DENY: 2}


class Group(StrEnum):
    """Words of a policy that stand for several operations."""

    READ = "read"
    """Read a page: snapshot, screenshot, console, network …"""
    ACT = "act"
    """Act in a page: click, type, drag, evaluate, upload …"""
    NAVIGATE = "navigate"
    """Open an address, go back, forward, reload, open a tab."""
    JAR = "jar"
    """Read or change cookies and storage."""
    OTHER = "other"
    """Everything that touches no page: tabs, sessions, the queue, loops."""


EVALUATE: Final = "evaluate"
UPLOAD: Final = "upload"
DOWNLOAD: Final = "download"
LOGIN: Final = "login"
"""Click, Enter or submit in a form with a filled password field."""
CDP: Final = "cdp"
"""Attach a DevTools client."""
ANYTHING: Final = "*"


@dataclass(frozen=True, slots=True)
class Deed:
    """What an agent is about to do, as a policy sees it.

    operation: the operation's word, such as ``click``. It is also the subject of an approval.
    groups: further words that cover it.
    what: the deed in Roost's words, as in "You may not …".
    origin: the origin of the frame that it happens in, or None if it concerns no page. An address
        that is to be opened counts as its origin.
    """

    operation: str
    groups: frozenset[str]
    what: str
    origin: str | None = None

    @property
    def words(self) -> frozenset[str]:
        return self.groups | {self.operation, ANYTHING}

    @property
    def is_action(self) -> bool:
        return not self.groups.isdisjoint((Group.ACT, Group.NAVIGATE))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the policy says to a deed: the verdict, the rule behind it, and where the rule is."""

    verdict: Verdict
    rule: str = "no rule covers it"
    source: str = ""


ALLOWED = Judgement(Verdict.ALLOW)


def layers_for(state: State, agent: AgentId, session: SessionId | None) -> tuple[PolicyLayer, ...]:
    """Return the layers that judge this agent's calls in that session."""
    if agent == OPERATOR:
        return ()
    row, caller = state.sessions.get(session or SessionId("")), state.agents.get(agent)
    layers = starting_layers(state, () if row is None else row.layers)
    if caller is None:
        return layers
    return (*layers, *(one for one in caller.layers if one not in layers))


def judge(
    layers: Iterable[PolicyLayer], deed: Deed, *, program: str, allow: tuple[str, ...] = ()
) -> Judgement:
    """Return the strictest answer of the layers.

    program: the client program, as the kernel reports it.
    allow: the session's domain list. It is the list of origins for a layer that wants one and has
        none.
    """
    strictest = ALLOWED
    for layer in layers:
        found = _judged(layer, deed, program, allow)
        if _STRICTNESS[found.verdict] > _STRICTNESS[strictest.verdict]:
            strictest = found
    return strictest


def _judged(layer: PolicyLayer, deed: Deed, program: str, allow: tuple[str, ...]) -> Judgement:
    origin = deed.origin
    if origin is not None:
        listed = layer.origins if layer.origins is None else layer.origins or allow
        if listed is not None and not covers(listed, origin):
            return Judgement(Verdict.DENY, "the origin is not among `origins`", layer.source)
        if Group.ACT in deed.groups and covers(layer.read_only, origin):
            return Judgement(Verdict.DENY, "the origin is in `read_only`", layer.source)
    for number, rule in enumerate(layer.rules, 1):
        if _rule_covers(rule, deed, program):
            named = f"rule {number}, `{rule.verdict} {', '.join(rule.operations)}`"
            return Judgement(rule.verdict, named, layer.source)
    if deed.operation == CDP and not layer.is_open:
        return Judgement(Verdict.DENY, "no rule allows `cdp`", layer.source)
    return ALLOWED


def _rule_covers(rule: PolicyRule, deed: Deed, program: str) -> bool:
    if deed.words.isdisjoint(rule.operations):
        return False
    if deed.operation == CDP and CDP not in rule.operations and rule.verdict is Verdict.ALLOW:
        return False  # only a rule that names `cdp` allows it
    if rule.origins and (deed.origin is None or not covers(rule.origins, deed.origin)):
        return False
    name = program.partition(" ")[0].rpartition("/")[2]
    return not rule.clients or name in rule.clients


def covers(entries: tuple[str, ...], origin: str) -> bool:
    """Return whether a list of origins and domain list entries covers the origin.

    An entry with a scheme covers that origin alone. Other entries are those of domain lists, and
    cover every scheme and port of the host.
    """
    if origin in entries:
        return True
    names = tuple(entry for entry in entries if "://" not in entry)
    host = host_of(origin) if "://" in origin else ""
    return bool(names) and bool(host) and host_allowed(host, names, ())


def check_deed(
    state: State,
    agent: AgentId,
    session: SessionId,
    deed: Deed,
    approved: Collection[Wanted] = (),
) -> Wanted | None:
    """Let the agent do it, or raise ``PolicyDenied`` or ``ApprovalNeeded``.

    approved: what the person has approved for the same call already.
    Returns what the person approved, if the deed needed it.
    """
    found = judgement(state, agent, session, deed)
    if found.verdict is Verdict.DENY:
        raise refusal(session, deed, found)
    if found.verdict is Verdict.ALLOW:
        return None
    asked = wanted(deed)
    if asked not in approved:
        approvals.use_approval(state, agent, session, asked)
    return asked


def judgement(state: State, agent: AgentId, session: SessionId, deed: Deed) -> Judgement:
    """Return what the policy says, without the approvals of the person."""
    layers = layers_for(state, agent, session)
    row, caller = state.sessions.get(session), state.agents.get(agent)
    program = "" if caller is None else caller.program
    return judge(layers, deed, program=program, allow=() if row is None else row.allow)


def wanted(deed: Deed) -> Wanted:
    """Return what the person is asked about the deed."""
    return Wanted(deed.operation, deed.what, deed.origin or "")


def refusal(session: SessionId, deed: Deed, found: Judgement) -> PolicyDenied:
    return PolicyDenied(
        f"You may not {deed.what}: {found.rule} of {found.source}.",
        hint=f"Do without it. Only the person changes the policy ({_change(found, session)}).",
        page_said=deed.origin,
        operation=deed.operation,
        rule=found.rule,
        source=found.source,
    )


def _change(found: Judgement, session: SessionId) -> str:
    if found.source.startswith("config.toml"):
        return "in config.toml, then `roost policy reload`"
    return f"`roost policy set {session} open`"


def count_action(state: State, agent: AgentId, session: SessionId) -> None:
    """Count an action, or raise ``PolicyDenied`` if the session had its actions for this minute."""
    limits = [
        (layer.actions_per_minute, layer.source)
        for layer in layers_for(state, agent, session)
        if layer.actions_per_minute is not None
    ]
    if not limits:
        return
    most, source = min(limits)
    recent = tuple(at for at in state.deeds.get(session, ()) if at > state.now - MINUTE)
    if len(recent) >= most:
        raise PolicyDenied(
            f"This session may act {most} times a minute: `actions_per_minute` of {source}.",
            hint="Wait, then go on.",
            retry_after_ms=int((recent[0] + MINUTE - state.now) * 1000) if recent else 60_000,
            source=source,
        )
    state.put_deeds(session, (*recent, state.now))


def check_tabs(state: State, agent: AgentId, session: Session) -> None:
    """Raise ``PolicyDenied`` if the session has as many tabs as its policy allows."""
    count = state.tab_count(session.id)
    for layer in layers_for(state, agent, session.id):
        if layer.tabs is not None and count >= layer.tabs:
            raise PolicyDenied(
                f"This session may have {layer.tabs} tabs: `tabs` of {layer.source}.",
                hint="Close a tab first.",
                source=layer.source,
            )


def download_judged(state: State, session: SessionId, url: str, count: int) -> tuple[Verdict, Deed]:
    """Return whether a page at that address may download a file into the session.

    A download belongs to no call, so the strictest of the session's agents decides.

    count: number of the session's earlier downloads.
    """
    deed = download(origin_of(url) or OPAQUE)
    verdict = Verdict.ALLOW
    for agent in list(state.agents_in(session)):
        layers = layers_for(state, agent, session)
        if any(one.downloads is not None and count >= one.downloads for one in layers):
            return Verdict.DENY, deed
        found = judgement(state, agent, session, deed).verdict if layers else verdict
        if found is Verdict.ASK and approvals.is_approved(state, agent, session, wanted(deed)):
            found = Verdict.ALLOW
        verdict = max(verdict, found, key=_STRICTNESS.__getitem__)
    return verdict, deed


def download_admitted(state: State, event: DownloadAdmitted) -> None:
    """Use up an approval for one download."""
    approvals.use_up(state, event.session, wanted(download(event.origin)))


def download(origin: str) -> Deed:
    return Deed(DOWNLOAD, frozenset(), "download a file", origin)


def check_profile(layers: Iterable[PolicyLayer], profile: str | None) -> None:
    """Raise ``PolicyDenied`` for a profile that a layer does not let agents clone."""
    for layer in layers:
        if profile is not None and layer.profiles is not None and profile not in layer.profiles:
            raise PolicyDenied(
                f"You may not clone the profile {profile}: it is not among `profiles` of"
                f" {layer.source}.",
                hint="Open the session with jar fresh.",
                profile=profile,
                source=layer.source,
            )


def starting_layers(state: State, own: tuple[PolicyLayer, ...]) -> tuple[PolicyLayer, ...]:
    """Return the layers of a session that is made with its ``own`` layers."""
    config = state.policies.get(CONFIG)
    return own if config is None else (*config.layers, *own)


def hosts_to_reach(state: State, own: tuple[PolicyLayer, ...]) -> tuple[str, ...]:
    """Return the domain list of a new session whose layers list origins, for its filtering proxy.

    The proxy also stops what a page loads or redirects to. It judges hosts, not schemes and ports.
    """
    for layer in starting_layers(state, own):
        if layer.origins:
            hosts = (host_of(one) if "://" in one else one for one in layer.origins)
            return tuple(dict.fromkeys(hosts))
    return ()


def origins_source(state: State, session: SessionId) -> str | None:
    """Return the source of the policy that lists origins for the session, if one does."""
    row = state.sessions.get(session)
    layers = () if row is None else starting_layers(state, row.layers)
    return next((layer.source for layer in layers if layer.origins is not None), None)


def set_policy(state: State, scope: str, layers: tuple[PolicyLayer, ...]) -> None:
    """Record a policy for the configuration (``CONFIG``), or for a session and its agents.

    A session's policy replaces what the session and its agents were started with. It also holds for
    the sessions of their sub-agents, which could do for an agent what the agent may not do.
    """
    about = {"source": [layer.source for layer in layers]}
    if scope == CONFIG:
        row, known = Policy(layers=layers), state.policies.get(CONFIG)
        if known == row or (known is None and not layers):
            return
        state.put(row)
        state.emit(WriteAudit("policy set", about))
        return
    session = state.sessions.get(SessionId(scope))
    if session is None:
        return
    for one in [session, *_below(state, session.id)]:
        state.put(replace(one, layers=layers))
        for agent in list(state.agents_in(one.id)):
            state.put(replace(state.agents[agent], layers=layers))
        state.emit(WriteAudit("policy set", {"session": one.id, **about}))


def _below(state: State, session: SessionId) -> Iterator[Session]:
    """Yield the sessions of sub-agents below that session."""
    for row in list(state.sessions.values()):
        if row.parent == session:
            yield row
            yield from _below(state, row.id)


def forget(state: State, session: SessionId) -> None:
    """Drop the count of actions of a session that ends."""
    if session in state.deeds:
        state.put_deeds(session, ())
