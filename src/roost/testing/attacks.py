"""A table of attacks on the isolation, generated from the operation table.

A new operation is therefore attacked without further work. Each row is an operation that names
something of a victim (a tab, a session, a page, an id that only looks like one). Its twin is the
same operation with a name that nobody has. A caller that may not see the thing must get the same
answer to both, word for word except for the name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from roost.api import operations as ops
from roost.api.operations import OPERATIONS, Audience, Operation
from roost.errors import RoostError, SessionGone, TabGone, Unauthorized
from roost.testing.samples import sample

CANARY = "canary"
"""Text in everything that belongs to the victim. It must never be in an answer to another
caller."""
NO_TAB, NO_SESSION, NO_PAGE = "t9999", "no-such-session", "no-such-page"
_VARIANTS: dict[type[Operation], list[dict[str, Any]]] = {
    ops.Tabs: [{"action": "select"}, {"action": "close"}],
}
"""Arguments for operations that do several things to a tab."""


@dataclass(frozen=True, slots=True)
class Victim:
    """The ids of a victim that an attacker may have seen or guessed."""

    session: str
    tab: str
    page: str
    handle: str
    agent: str


@dataclass(frozen=True, slots=True)
class Attack:
    """One call that the attacker makes, and the refusal it must get.

    ``twin``: arguments of the same call with a name that nobody has.
    """

    kind: str
    op: str
    arguments: Mapping[str, Any]
    refusal: type[RoostError]
    twin: Mapping[str, Any] | None = None
    named: tuple[str, str] = ("", "")
    """The name in the attack, and the name in its twin."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to an attacker. ``wire`` is the reply or the error, as it left Roost."""

    ok: bool
    wire: Mapping[str, Any] = field(default_factory=dict)


class Attacker(Protocol):
    """A caller that came in through some front end and has a session of its own.

    ``attempt`` makes a call and returns the answer, also if it is an error.
    """

    async def attempt(self, op: str, arguments: Mapping[str, Any]) -> Answer: ...


def attacks(victim: Victim) -> Iterator[Attack]:
    """Yield every attack on that victim."""
    for operation in OPERATIONS.values():
        fields = operation.model_fields
        if operation.audience is Audience.OPERATOR:
            yield Attack("operator only", operation.op, _arguments(operation), Unauthorized)
            continue
        if "tab" in fields:
            yield from _on_tab(operation, victim)
        if "session" in fields and operation is not ops.SessionOpen:
            yield from _in_session(operation, victim)
    first, second = ({"name": name} for name in (victim.page, NO_PAGE))
    names = (victim.page, NO_PAGE)
    yield Attack("foreign page", ops.PageClose.op, first, TabGone, second, names)


def _on_tab(operation: type[Operation], victim: Victim) -> Iterator[Attack]:
    for variant in _VARIANTS.get(operation, [{}]):
        for guess in (victim.tab, victim.handle, victim.page, f" {victim.tab}", "*", ""):
            kind = "foreign tab" if guess == victim.tab else "guessed tab"
            first, second = (_arguments(operation, **variant, tab=name) for name in (guess, NO_TAB))
            yield Attack(kind, operation.op, first, TabGone, second, (guess, NO_TAB))


def _in_session(operation: type[Operation], victim: Victim) -> Iterator[Attack]:
    guesses = (victim.session, victim.agent[:12], victim.page, victim.session.upper())
    for variant in _VARIANTS.get(operation, [{}]):
        for guess in guesses:
            kind = "foreign session" if guess == victim.session else "guessed session"
            first, second = (
                _arguments(operation, **variant, session=name) for name in (guess, NO_SESSION)
            )
            yield Attack(kind, operation.op, first, SessionGone, second, (guess, NO_SESSION))
    if "tab" in operation.model_fields:  # right tab, right session, wrong caller
        for variant in _VARIANTS.get(operation, [{}]):
            first = _arguments(operation, **variant, session=victim.session, tab=victim.tab)
            second = _arguments(operation, **variant, session=NO_SESSION, tab=victim.tab)
            names = (victim.session, NO_SESSION)
            yield Attack("foreign both", operation.op, first, SessionGone, second, names)


def _arguments(operation: type[Operation], **given: Any) -> dict[str, Any]:
    return sample(operation.op, **given).to_wire()


async def check_attack(attacker: Attacker, attack: Attack) -> None:
    """Assert that the attack is refused with the right error and reveals nothing."""
    answer = await attacker.attempt(attack.op, attack.arguments)
    assert not answer.ok, f"{attack} was answered {answer.wire}"
    assert answer.wire["code"] == attack.refusal.code, f"{attack}: {answer.wire}"
    check_silence(answer.wire, *attack.named)
    if attack.twin is not None:
        twin = await attacker.attempt(attack.op, attack.twin)
        name, absent = attack.named
        assert _blind(answer.wire, name) == _blind(twin.wire, absent), attack


def check_silence(wire: Mapping[str, Any], *known: str) -> None:
    """Assert that the answer holds nothing of the victim except what the attacker itself named."""
    text = json.dumps(wire)
    for name in known:
        text = text.replace(name, "") if name else text
    assert CANARY not in text, wire


def _blind(wire: Mapping[str, Any], name: str) -> str:
    text = json.dumps(wire, sort_keys=True)
    return text.replace(name, "") if name else text
