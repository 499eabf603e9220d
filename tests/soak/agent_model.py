"""A model of what one agent may expect to find after what Roost told it.

The model never asks Roost. An agent tells the model what it is about to do, what the answer was,
and what it saw afterwards. The model returns what cannot be right. After an answer like INTERRUPTED
nobody knows whether the action was done, so both states are possible until the agent looks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.soak.witness_site import COOKIES, ENTRIES

KEPT_AFTER_SECONDS = 10.0
"""A browser's death may take contents that are younger than this. Roost reads them at most once a
second after actions; the rest is for a machine with other things to do."""
FORGET_SECONDS = 300.0
"""No burst and its recovery take longer, so nothing can be rolled back further than this."""
BLANK = ("", "about:blank")


@dataclass(slots=True)
class _Version:
    value: str
    told: float | None
    """When the agent was told that the value is set; None if it never was."""


class Register:
    """One cookie or stored value, which its agent sets again and again. Unset is the empty text."""

    def __init__(self) -> None:
        self._versions = [_Version("", 0.0)]
        self._floor = 0
        """The oldest version that may be there now."""
        self._is_known = True

    def asked(self, value: str) -> None:
        self._versions.append(_Version(value, None))

    def told(self, value: str, now: float) -> None:
        """Record that the agent's last request to set the value succeeded."""
        assert self._versions[-1].value == value
        self._versions[-1].told = now
        self._floor, self._is_known = len(self._versions) - 1, True
        while len(self._versions) > 1 and _is_kept(self._versions[1], now - FORGET_SECONDS):
            del self._versions[0]
            self._floor -= 1

    def rolled_back(self, at: float) -> None:
        """Record that the browser died at that time, so that recent values may be lost."""
        kept = [n for n, version in enumerate(self._versions) if _is_kept(version, at)]
        self._floor = min(self._floor, max(kept, default=0))

    def forget(self) -> None:
        """Accept any value next time."""
        self._is_known = False

    def may_be(self, value: str) -> bool:
        return not self._is_known or value in self.possible

    def saw(self, value: str, now: float) -> bool:
        """Record the value that is there. Return whether it is possible."""
        for n in range(len(self._versions) - 1, self._floor - 1, -1):
            if self._versions[n].value == value:
                del self._versions[n + 1 :]
                self._floor = n
                if self._versions[n].told is None:
                    self._versions[n].told = now
                self._is_known = True
                return True
        was_known, self._is_known = self._is_known, True
        self._versions, self._floor = [_Version(value, now)], 0
        return not was_known

    @property
    def possible(self) -> list[str]:
        return [version.value for version in self._versions[self._floor :]]


def _is_kept(version: _Version, at: float) -> bool:
    return version.told is not None and version.told <= at - KEPT_AFTER_SECONDS


@dataclass(slots=True)
class TabModel:
    """The expected state of one tab."""

    id: str
    addresses: list[str]
    """Where the tab may be; one entry when that is certain."""
    serial: int | None = None
    """Which load of the address the tab shows, if that is certain."""
    note: str | None = None
    """What stands in the form's field, if that is certain."""
    browser: bytes = b""
    """The identity of the browser in which the agent saw the tab last."""
    may_be_closed: bool = False

    @property
    def address(self) -> str | None:
        return self.addresses[0] if len(self.addresses) == 1 else None

    def is_at(self, address: str, serial: int | None, note: str | None, browser: bytes) -> None:
        self.addresses, self.serial, self.note = [address], serial, note
        self.browser = browser

    def is_uncertain(self, *addresses: str) -> None:
        self.addresses += addresses
        self.serial = self.note = None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a tab's own script reports about its document."""

    address: str
    serial: int | None
    note: str | None
    cookies: Mapping[str, str]
    storage: Mapping[str, str]
    twice: frozenset[str] = frozenset()
    """Names that more than one cookie has."""

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Seen:
        pairs = [pair.split("=", 1) for pair in value["cookie"].split("; ") if pair]
        cookies = {pair[0]: pair[-1] for pair in pairs}
        names = Counter(pair[0] for pair in pairs)
        twice = frozenset(name for name, times in names.items() if times > 1)
        return cls(value["href"], value["serial"], value["note"], cookies, value["storage"], twice)


@dataclass(slots=True)
class AgentModel:
    """Everything that Roost told the agent and that is still expected to hold."""

    tabs: dict[str, TabModel] = field(default_factory=dict)
    opening: set[str] = field(default_factory=set)
    """Addresses of tabs that may have been opened: the answer did not say."""
    cookies: dict[str, Register] = field(default_factory=lambda: {n: Register() for n in COOKIES})
    storage: dict[str, Register] = field(default_factory=lambda: {n: Register() for n in ENTRIES})

    def contents_unknown(self) -> None:
        for register in (*self.cookies.values(), *self.storage.values()):
            register.forget()

    def contents_rolled_back(self, at: float) -> None:
        for register in (*self.cookies.values(), *self.storage.values()):
            register.rolled_back(at)

    def fits(self, seen: Seen) -> bool:
        """Return whether the contents that a document sees are possible now."""
        return seen.address in BLANK or not (
            _strange(self.cookies, seen.cookies) or _strange(self.storage, seen.storage)
        )

    def listed(self, tabs: Mapping[str, str]) -> list[str]:
        """Compare with the agent's own list of tabs (id to address); adopt what is there."""
        wrong = []
        expected = [tab.id for tab in self.tabs.values() if not tab.may_be_closed]
        if expected and not tabs.keys() & set(expected):
            # The agent is in another session now: what its jar held is gone as well.
            wrong.append(f"SESSION LOST: none of the tabs {expected} is listed")
            self.tabs.clear()
            self.contents_unknown()
        for tab in list(self.tabs.values()):
            if tab.id not in tabs:
                del self.tabs[tab.id]
                if not tab.may_be_closed:
                    wrong.append(f"TAB LOST: {tab.id} at {' or '.join(tab.addresses)}")
            tab.may_be_closed = False
        for id_, address in tabs.items():
            if id_ in self.tabs:
                continue
            self.tabs[id_] = TabModel(id_, [address])
            if address in self.opening:
                self.opening.discard(address)
            elif address in BLANK and self.opening:
                self.opening.pop()
            else:
                wrong.append(f"TAB OF NOBODY: {id_} at {address!r} is listed and was never opened")
        self.opening.clear()
        return wrong

    def saw(
        self,
        tab: TabModel,
        seen: Seen,
        now: float,
        *,
        was_killed: bool,
        is_unreliable: bool = False,
    ) -> list[str]:
        """Compare with what the tab's document says; adopt what is there.

        ``was_killed``: the document's process may have been killed since the agent saw it last.
        ``is_unreliable``: the browser lost a service. Nobody knows when Roost puts its copy back,
        so contents are compared once the browser has been replaced.
        """
        wrong = []
        if seen.address not in tab.addresses and seen.address not in BLANK:
            known = " or ".join(tab.addresses)
            wrong.append(f"WRONG ADDRESS: {tab.id} is at {seen.address!r}, expected {known}")
        elif tab.serial is not None and seen.serial != tab.serial:
            if not was_killed:
                wrong.append(
                    f"PAGE RELOADED: {tab.id} at {seen.address} shows load {seen.serial} and not "
                    f"{tab.serial}, and nothing killed its process"
                )
        elif tab.serial is not None and tab.note is not None and seen.note != tab.note:
            wrong.append(
                f"FORM LOST: {tab.id} shows the same document with the note {seen.note!r} and not "
                f"{tab.note!r}"
            )
        tab.is_at(seen.address, seen.serial, seen.note, tab.browser)
        wrong += [f"COOKIE TWICE: {name}" for name in sorted(seen.twice)]
        if seen.address not in BLANK and not is_unreliable:
            wrong += _compared("COOKIE", self.cookies, seen.cookies, now)
            wrong += _compared("STORAGE", self.storage, seen.storage, now)
        return wrong


def _strange(registers: Mapping[str, Register], seen: Mapping[str, str]) -> list[str]:
    """Return the names whose values are not possible."""
    return [name for name, one in registers.items() if not one.may_be(seen.get(name, ""))]


def _compared(
    what: str, registers: Mapping[str, Register], seen: Mapping[str, str], now: float
) -> list[str]:
    wrong = [f"{what} OF NOBODY: {name}={seen[name]}" for name in seen.keys() - registers.keys()]
    for name, register in registers.items():
        possible, value = register.possible, seen.get(name, "")
        if not register.saw(value, now):
            wrong.append(f"{what} LOST: {name} is {value!r}, expected one of {possible}")
    return wrong
