"""A Secret Service on a socket of its own: a keyring that tests lock, hang and break."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from jeepney import HeaderFields, MessageType, new_error, new_method_return
from jeepney.low_level import Message, Parser

DEFAULT = "/org/freedesktop/secrets/collection/login"


class FakeKeyring:
    """Speaks the part of D-Bus and of the Secret Service that Roost uses, without a bus."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.items: dict[str, tuple[dict[str, str], bytes]] = {}
        self.is_locked = False
        self.may_answer = threading.Event()
        """Clear this to make the keyring hang."""
        self.may_answer.set()
        self.prompts: list[str] = []
        """Calls that would have asked the person."""
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()

    def serve(self) -> None:
        while True:
            try:
                peer, _ = self._listening.accept()
            except OSError:
                return
            with peer, suppress(OSError):
                self._converse(peer)

    def close(self) -> None:
        """Answer who still waits, and end ``serve``."""
        self.may_answer.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _converse(self, peer: socket.socket) -> None:
        said = b""
        while b"BEGIN\r\n" not in said:
            if not (data := peer.recv(4096)):
                return
            said += data
            if b"AUTH" in data:
                peer.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")
        parser, serial = Parser(), 0
        data = said.partition(b"BEGIN\r\n")[2] or peer.recv(4096)
        while data:
            parser.add_data(data)
            while (message := parser.get_next_message()) is not None:
                if message.header.message_type != MessageType.method_call:
                    continue
                self.may_answer.wait()
                serial += 1
                peer.sendall(self._answer(message).serialise(serial=serial))
            data = peer.recv(4096)

    def _answer(self, asked: Message) -> Message:
        fields = asked.header.fields
        method, path = fields[HeaderFields.member], fields[HeaderFields.path]
        body: tuple[Any, ...] = asked.body
        if method == "Hello":
            return new_method_return(asked, "s", (":1.1",))
        if method == "OpenSession":
            return new_method_return(asked, "vo", (("s", ""), "/session/1"))
        if method == "SearchItems":
            found = [one for one, (of, _) in self.items.items() if body[0].items() <= of.items()]
            here = ([], found) if self.is_locked else (found, [])
            return new_method_return(asked, "aoao", here)
        if method == "GetSecret":
            secret = ("/session/1", b"", self.items[path][1], "text/plain")
            return new_method_return(asked, "(oayays)", (secret,))
        if method == "ReadAlias":
            return new_method_return(asked, "o", (DEFAULT,))
        if method == "Get":
            return new_method_return(asked, "v", (("b", self.is_locked),))
        if method == "CreateItem":
            about, secret, _ = body
            item = f"{DEFAULT}/{len(self.items) + 1}"
            attributes = about["org.freedesktop.Secret.Item.Attributes"][1]
            self.items[item] = (attributes, bytes(secret[2]))
            return new_method_return(asked, "oo", (item, "/"))
        self.prompts.append(method)
        return new_error(asked, "org.freedesktop.DBus.Error.UnknownMethod")


@contextmanager
def fake_keyring(path: Path) -> Iterator[FakeKeyring]:
    keyring = FakeKeyring(path)
    thread = threading.Thread(target=keyring.serve, name="fake keyring")
    thread.start()
    try:
        yield keyring
    finally:
        keyring.close()
        thread.join(10)
        assert not thread.is_alive()
