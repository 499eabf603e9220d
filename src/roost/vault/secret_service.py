"""The desktop's keyring, through the Secret Service on D-Bus. It never waits for a person.

A locked keyring asks the person for a password if a program unlocks it. This module never unlocks:
it reads and writes an open keyring, and reports a locked one.
https://specifications.freedesktop.org/secret-service/latest/
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NoReturn, TypeVar

ANSWER_SECONDS = 3.0
"""A desktop that hangs must not delay a broker for longer."""
APPLICATION = "roost"
T = TypeVar("T")
_NAME = "org.freedesktop.secrets"
_PATH = "/org/freedesktop/secrets"
_SERVICE = "org.freedesktop.Secret.Service"
_COLLECTION = "org.freedesktop.Secret.Collection"
_ITEM = "org.freedesktop.Secret.Item"
_NONE = "/"
"""The object path that the Secret Service returns for "no object"."""


class KeyringUnavailable(Exception):
    """The keyring is missing, locked, or does not answer. The text says which."""


def bus_path() -> Path:
    """Return the path of this user's D-Bus. A daemon's environment often lacks the variable."""
    return Path(f"/run/user/{os.getuid()}/bus")


class SecretService:
    """The keys of Roost in the person's keyring. Every method raises ``KeyringUnavailable``.

    bus: socket of the session bus.
    """

    def __init__(self, bus: Path | None = None) -> None:
        self._bus = bus or bus_path()
        self._asking: Thread | None = None

    def find(self, attributes: Mapping[str, str], *, is_ours: bool = True) -> bytes | None:
        """Return the value of the item with these attributes, or None if there is none.

        is_ours: look among Roost's own items only.
        """
        wanted = {"application": APPLICATION, **attributes} if is_ours else dict(attributes)
        return self._in_time(lambda: self._find(wanted))

    def store(self, label: str, attributes: Mapping[str, str], value: bytes) -> None:
        """Store an item in the default keyring."""
        self._in_time(lambda: self._store(label, attributes, value))

    def _in_time(self, work: Callable[[], T]) -> T:
        """Do the work in a thread and wait ``ANSWER_SECONDS``. jeepney has no timeout for its first
        message. At most one thread is left behind by a keyring that hangs."""
        if self._asking is not None and self._asking.is_alive():
            raise KeyringUnavailable("the keyring does not answer")
        outcome: SimpleQueue[Callable[[], T]] = SimpleQueue()

        def run() -> None:
            try:
                value = work()
                outcome.put(lambda: value)
            except KeyringUnavailable as problem:
                outcome.put(_raising(problem))

        self._asking = Thread(target=run, name="keyring", daemon=True)
        self._asking.start()
        try:
            told = outcome.get(timeout=ANSWER_SECONDS)
        except Empty:
            raise KeyringUnavailable("the keyring does not answer") from None
        self._asking = None  # a thread that has answered may stay alive for a moment
        return told()

    def _find(self, wanted: Mapping[str, str]) -> bytes | None:
        with self._opened() as bus:
            found, locked = bus.ask(_PATH, _SERVICE, "SearchItems", "a{ss}", (wanted,))
            if not found:
                if locked:
                    raise KeyringUnavailable("the keyring is locked")
                return None
            (secret,) = bus.ask(found[0], _ITEM, "GetSecret", "o", (bus.session,))
            return bytes(secret[2])

    def _store(self, label: str, attributes: Mapping[str, str], value: bytes) -> None:
        with self._opened() as bus:
            (place,) = bus.ask(_PATH, _SERVICE, "ReadAlias", "s", ("default",))
            if place == _NONE:
                raise KeyringUnavailable("there is no default keyring")
            if bus.property(place, _COLLECTION, "Locked"):
                raise KeyringUnavailable("the keyring is locked")
            wanted = {"application": APPLICATION, **attributes}
            about = {f"{_ITEM}.Label": ("s", label), f"{_ITEM}.Attributes": ("a{ss}", wanted)}
            secret = (bus.session, b"", value, "application/octet-stream")
            item, prompt = bus.ask(
                place, _COLLECTION, "CreateItem", "a{sv}(oayays)b", (about, secret, True)
            )
            if item == _NONE or prompt != _NONE:
                raise KeyringUnavailable("the keyring would have to ask the person")

    @contextmanager
    def _opened(self) -> Iterator[_Bus]:
        if not self._bus.exists():
            raise KeyringUnavailable("this machine has no keyring")
        # Imported here because most homes keep their key in a file.
        from jeepney.io.blocking import open_dbus_connection
        from jeepney.wrappers import DBusErrorResponse

        try:
            with open_dbus_connection(
                f"unix:path={self._bus}", auth_timeout=ANSWER_SECONDS
            ) as connection:
                yield _Bus(connection)
        except DBusErrorResponse as error:
            raise KeyringUnavailable(f"the keyring refused: {error.name}") from None
        except (OSError, EOFError, ValueError, LookupError) as error:
            raise KeyringUnavailable(
                f"the keyring does not answer ({type(error).__name__})"
            ) from None


def _raising(problem: KeyringUnavailable) -> Callable[[], NoReturn]:
    def run() -> NoReturn:
        raise problem

    return run


class _Bus:
    """An open connection to the keyring, with a session in which it gives out values.

    The session is ``plain``: values cross a socket that only this user can open.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        _, self.session = self.ask(_PATH, _SERVICE, "OpenSession", "sv", ("plain", ("s", "")))

    def ask(
        self, path: str, interface: str, method: str, signature: str, body: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        from jeepney import DBusAddress, new_method_call
        from jeepney.wrappers import unwrap_msg

        to = DBusAddress(path, bus_name=_NAME, interface=interface)
        asked = new_method_call(to, method, signature, body)
        answer = self._connection.send_and_get_reply(asked, timeout=ANSWER_SECONDS)
        body_of: tuple[Any, ...] = unwrap_msg(answer)
        return body_of

    def property(self, path: str, interface: str, name: str) -> Any:
        (answer,) = self.ask(
            path, "org.freedesktop.DBus.Properties", "Get", "ss", (interface, name)
        )
        return answer[1]
