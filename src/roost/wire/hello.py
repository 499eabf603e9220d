"""The first exchange on a connection: identity, wire versions, options.

The client sends ``Hello``. The broker answers with ``Welcome``, or with an error and closes.
Unknown fields are ignored, so that either side may be newer. Known fields of a wrong type are
refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, TypeVar

from roost.errors import BadRequest
from roost.vocabulary import WIRE_VERSION, AgentId, JarPolicy, SessionId, is_session_id

R = TypeVar("R")
D = TypeVar("D")
Word = TypeVar("Word", bound=StrEnum)

SUPPORTED: Final = (WIRE_VERSION,)
"""The wire versions this software speaks."""

_RESTART_BROKER: Final = (
    "Restart the broker: `roost stop && roost up`. That closes the agents' pages."
)
_RESTART_CLIENT: Final = (
    "Restart your MCP client. If it then says the same, upgrade the roost package it runs."
)
_VERSION_MAX = 2**31
_LIST_MAX = 100
_SECRET_CHARS = 256
_TEXT_CHARS = 256
_DOCUMENT_CHARS = 64 * 1024
_PATH_CHARS = 4096


class ClientKind(StrEnum):
    """The kind of program that connects."""

    PYTHON = "python"
    CLI = "cli"
    VERB = "verb"
    """A page verb of the command line: one call, whose answer the broker renders as text."""
    MCP = "mcp"
    HOOK = "hook"
    LINK = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """The client's first message. Its repr hides secrets.

    versions: the wire versions that the client speaks.
    token: the operator's token from ``ROOST_HOME``.
    name: how the agent calls itself.
    browser, jar, profile, allow, deny: options of the sessions that the agent makes.
    files: further folders that the agent may read and write.
    """

    versions: tuple[int, ...] = SUPPORTED
    token: str = field(repr=False)
    kind: ClientKind = ClientKind.PYTHON
    software: str | None = None
    """The client's release, shown to people. It decides nothing."""
    name: str | None = None
    cwd: str | None = None
    """The agent's working directory, where it may read and write files."""
    session: SessionId | None = None
    """Id of the global session that an agent joins, from a flag or the environment. A hook sends
    the session of its client here, a command its client's conversation; those join nothing."""
    resumable: bool = False
    """The session id is that of the client's conversation (``CLAUDE_CODE_SESSION_ID`` …)."""
    resume: str | None = field(default=None, repr=False)
    """The secret of an earlier ``Welcome``, with which the same client comes back."""
    operator: bool = False
    """Act as the person, wherever the command runs. The audit trail records it."""
    browser: str | None = None
    jar: JarPolicy | None = None
    profile: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    policy: str | None = None
    """A preset, or the text of a policy file, that narrows what the agent may do."""
    project_policy: str | None = None
    """The same from the repository's ``.roost.toml``."""
    files: tuple[str, ...] = ()
    names: str | None = None
    """Naming of the tools for an agent that speaks MCP: ``browser`` or ``firefox``."""
    tools: tuple[str, ...] = ()
    """The tools the agent is shown: ``core``, ``all``, or tools by name."""

    def to_wire(self) -> dict[str, Any]:
        """Return the message as plain JSON data, without fields that were not given."""
        return _given(
            versions=list(self.versions),
            token=self.token,
            kind=self.kind.value,
            software=self.software,
            name=self.name,
            cwd=self.cwd,
            session=self.session,
            resumable=self.resumable or None,
            resume=self.resume,
            operator=self.operator or None,
            browser=self.browser,
            jar=self.jar.value if self.jar else None,
            profile=self.profile,
            allow=list(self.allow) or None,
            deny=list(self.deny) or None,
            policy=self.policy,
            project_policy=self.project_policy,
            files=list(self.files) or None,
            names=self.names,
            tools=list(self.tools) or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Welcome:
    """The broker's answer. ``secret`` lets this client resume after a lost connection."""

    version: int
    agent: AgentId
    software: str | None = None
    secret: str | None = field(default=None, repr=False)
    session: SessionId | None = None
    pings: bool = False
    """For MCP clients: the broker answers ``{"ping": true}`` with ``{"pong": true}``."""
    why: str | None = None
    """For commands: why the command acts as that agent."""

    def to_wire(self) -> dict[str, Any]:
        """Return the message as plain JSON data, without fields that were not given."""
        return _given(
            version=self.version,
            agent=self.agent,
            software=self.software,
            secret=self.secret,
            session=self.session,
            pings=self.pings or None,
            why=self.why,
        )


def parse_hello(value: object) -> Hello:
    """Check every field of a hello and return it. ``BadRequest`` names the first bad field."""
    fields = _Fields("hello", value)
    return Hello(
        versions=fields.required("versions", _versions),
        token=fields.required("token", _secret),
        kind=fields.get("kind", _kind, ClientKind.PYTHON),
        software=fields.get("software", _text, None),
        name=fields.get("name", _text, None),
        cwd=fields.get("cwd", _path, None),
        session=fields.get("session", _session, None),
        resumable=fields.get("resumable", _flag, False),
        resume=fields.get("resume", _secret, None),
        operator=fields.get("operator", _flag, False),
        browser=fields.get("browser", _text, None),
        jar=fields.get("jar", _jar, None),
        profile=fields.get("profile", _text, None),
        allow=fields.many("allow", _text),
        deny=fields.many("deny", _text),
        policy=fields.get("policy", _document, None),
        project_policy=fields.get("project_policy", _document, None),
        files=fields.many("files", _path),
        names=fields.get("names", _text, None),
        tools=fields.many("tools", _text),
    )


def parse_welcome(value: object) -> Welcome:
    """Check every field of a welcome and return it. ``BadRequest`` names the first bad field."""
    fields = _Fields("welcome", value)
    return Welcome(
        version=fields.required("version", _version),
        agent=AgentId(fields.required("agent", _text)),
        software=fields.get("software", _text, None),
        secret=fields.get("secret", _secret, None),
        session=fields.get("session", _session, None),
        pings=fields.get("pings", _flag, False),
        why=fields.get("why", _text, None),
    )


def agree(versions: Sequence[int], supported: Sequence[int] = SUPPORTED) -> int:
    """Return the highest wire version both sides speak.

    ``BadRequest`` says which side to update.
    """
    common = set(versions) & set(supported)
    if common:
        return max(common)
    theirs, ours = _spoken(versions), _spoken(supported)
    hint = _RESTART_BROKER if max(versions, default=0) > max(supported) else _RESTART_CLIENT
    raise BadRequest(
        f"The client speaks wire version {theirs}, the broker {ours}: they have none in common.",
        hint=hint,
        field="versions",
        client=list(versions),
        broker=list(supported),
    )


def difference(ours: str, brokers: str | None) -> str | None:
    """Return what to tell the person, and what to type, if the broker is of another release.

    Returns None if both are of the same release.
    """
    if brokers is None or brokers == ours:
        return None
    is_newer = _release(ours) > _release(brokers)
    advice = _RESTART_BROKER if is_newer else _RESTART_CLIENT
    return f"The broker is Roost {brokers}, this is Roost {ours}. {advice}"


def _release(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def _spoken(versions: Sequence[int]) -> str:
    return ", ".join(str(version) for version in sorted(versions)) or "none"


def _given(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


class _Fields:
    """Reads known fields of one message; errors name the field. ``null`` counts as not given."""

    def __init__(self, message: str, value: object) -> None:
        if not isinstance(value, Mapping):
            raise BadRequest(f"The {message} must be a JSON object.", field=message)
        self._message = message
        self._fields = value

    def required(self, key: str, read: Callable[[object], R]) -> R:
        try:
            return read(self._fields.get(key))
        except ValueError as expected:
            # Do not repeat the value: it may be a secret.
            raise BadRequest(f"{key} in {self._message} must be {expected}.", field=key) from None

    def get(self, key: str, read: Callable[[object], R], default: D) -> R | D:
        return default if self._fields.get(key) is None else self.required(key, read)

    def many(self, key: str, read: Callable[[object], R]) -> tuple[R, ...]:
        def read_all(value: object) -> tuple[R, ...]:
            if not isinstance(value, list) or len(value) > _LIST_MAX:
                raise ValueError(f"a list of at most {_LIST_MAX}")
            return tuple(read(item) for item in value)

        return self.get(key, read_all, ())


# Readers take one JSON value; their ValueError says what was expected.


def _string(value: object, longest: int) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= longest:
        raise ValueError(f"a text of 1 to {longest} characters")
    return value


def _secret(value: object) -> str:
    return _string(value, _SECRET_CHARS)


def _document(value: object) -> str:
    return _string(value, _DOCUMENT_CHARS)


def _text(value: object) -> str:
    text = _string(value, _TEXT_CHARS)
    if not text.isprintable():  # the text appears in logs and tables
        raise ValueError("printable text on one line")
    return text


def _path(value: object) -> str:
    path = _string(value, _PATH_CHARS)
    if not path.startswith("/") or "\0" in path:
        raise ValueError("an absolute path")
    return path


def _session(value: object) -> SessionId:
    if not isinstance(value, str) or not is_session_id(value):
        raise ValueError(
            "a session id: at most 64 letters, digits and . _ : -, a letter or digit first"
        )
    return SessionId(value)


def _version(value: object) -> int:
    # ``True`` is an int but not a version.
    if type(value) is not int or not 0 < value <= _VERSION_MAX:
        raise ValueError("a wire version: a whole number from 1")
    return value


def _versions(value: object) -> tuple[int, ...]:
    if not isinstance(value, list) or not 0 < len(value) <= _LIST_MAX:
        raise ValueError(f"a list of 1 to {_LIST_MAX} wire versions")
    return tuple(_version(item) for item in value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


def _one_of(words: type[Word], value: object) -> Word:
    for word in words:
        if value == word.value:
            return word
    raise ValueError("one of " + ", ".join(words))


def _kind(value: object) -> ClientKind:
    return _one_of(ClientKind, value)


def _jar(value: object) -> JarPolicy:
    return _one_of(JarPolicy, value)
