"""Programs that hold secrets for the person: 1Password, Bitwarden, pass, or any command.

Roost runs the program when a secret is used, without a terminal and without input. A program that
wants a PIN from a terminal fails then; one that opens a window of its own has until the time limit.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
from collections.abc import Sequence
from typing import IO

from roost.errors import BadRequest
from roost.local.deadline import Deadline
from roost.vault.secret_service import KeyringUnavailable, SecretService

PROVIDER_SECONDS = 20.0
VALUE_BYTES = 16 * 1024
SAID_BYTES = 4 * 1024
END_SECONDS = 1.0
PROVIDERS = ("op", "bw", "pass", "keyring", "command")


class ProviderFailed(Exception):
    """The provider gave no value.

    why: the reason in Roost's words.
    said: last line of the program's errors, for the person alone. It may quote anything.
    """

    def __init__(self, why: str, said: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.said = said


def check_source(source: str) -> None:
    """Raise ``BadRequest`` if ``source`` names no provider."""
    kind, _, rest = source.partition(":")
    if kind not in PROVIDERS or not rest.strip():
        raise BadRequest(
            "source: expected op:REFERENCE, bw:ITEM, pass:NAME, keyring:ATTRIBUTE=VALUE or"
            " command:COMMAND.",
            field="source",
        )
    if kind == "keyring":
        _attributes(rest)
    elif kind == "command":
        _words(rest)


def fetch(source: str, *, timeout: float = PROVIDER_SECONDS) -> str:
    """Return the secret that the source names. Blocks; raises ``ProviderFailed``."""
    kind, _, rest = source.partition(":")
    if kind == "keyring":
        try:
            found = SecretService().find(_attributes(rest), is_ours=False)
        except KeyringUnavailable as problem:
            raise ProviderFailed(str(problem)) from None
        if found is None:
            raise ProviderFailed("the keyring has no such item")
        return _text(found)
    commands = {
        "op": ["op", "read", "--no-newline", rest],
        "bw": ["bw", "get", "password", rest, "--nointeraction"],
        "pass": ["pass", "show", rest],
    }
    value = _text(_output(commands.get(kind) or _words(rest), timeout))
    # The first line of an entry of pass is the password; the others are notes.
    return value.split("\n", 1)[0] if kind == "pass" else value


def _output(command: Sequence[str], timeout: float) -> bytes:
    """Run the command and return what it printed."""
    name = os.path.basename(command[0])[:40]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # no terminal to ask on, and one group to end
        )
    except OSError as problem:
        raise ProviderFailed(f"{name} cannot be run: {problem.strerror}") from None
    deadline = Deadline(timeout)
    try:
        value, said = _read(process, deadline, name, timeout)
        try:
            code = process.wait(max(0.0, deadline.remaining()))
        except subprocess.TimeoutExpired:
            raise _too_slow(name, timeout) from None
    finally:
        _end(process)
    if code:
        raise ProviderFailed(f"{name} ended with code {code}", _last_line(said))
    if not value.strip():
        raise ProviderFailed(f"{name} printed nothing", _last_line(said))
    return value


def _read(
    process: subprocess.Popen[bytes], deadline: Deadline, name: str, timeout: float
) -> tuple[bytes, bytes]:
    """Read both outputs to their ends, within the deadline and the limits."""
    assert process.stdout is not None
    assert process.stderr is not None
    value, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        streams: dict[IO[bytes], bytearray] = {process.stdout: value, process.stderr: said}
        for stream in streams:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(0.0, deadline.remaining()))
            if not ready:
                raise _too_slow(name, timeout)
            for key, _ in ready:
                data = os.read(key.fd, VALUE_BYTES)
                if not data:
                    selector.unregister(key.fileobj)
                streams[key.fileobj] += data  # type: ignore[index]
            if len(value) > VALUE_BYTES:
                raise ProviderFailed(f"{name} printed more than {VALUE_BYTES // 1024} KiB")
            del said[:-SAID_BYTES]
    return bytes(value), bytes(said)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the program and of the programs that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(END_SECONDS)


def _too_slow(name: str, timeout: float) -> ProviderFailed:
    return ProviderFailed(
        f"{name} gave no value within {timeout:g} s; it may be waiting for a PIN or for a window"
        " to be answered"
    )


def _text(value: bytes) -> str:
    try:
        return value.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise ProviderFailed("the value is not text") from None


def _last_line(said: bytes) -> str:
    lines = said.decode(errors="replace").splitlines()
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as wrong:
        raise BadRequest(f"source: the command cannot be read: {wrong}.", field="source") from None
    if not words:
        raise BadRequest("source: the command is empty.", field="source")
    return words


def _attributes(text: str) -> dict[str, str]:
    pairs = [one.partition("=") for one in text.split(",")]
    if not all(name.strip() and value for name, _, value in pairs):
        raise BadRequest("source: expected keyring:ATTRIBUTE=VALUE,….", field="source")
    return {name.strip(): value for name, _, value in pairs}
