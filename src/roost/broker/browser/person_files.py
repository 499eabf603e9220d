"""Files that the person gives to a page through the dashboard, while they have its session.

They are kept apart from the session's own folder: the agent may name files there, and these are
the person's. They stay until the session ends, because a browser reads a chosen file only when the
page sends it.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from collections.abc import Container
from dataclasses import dataclass
from pathlib import Path

from roost.errors import BadRequest, TooLarge
from roost.vocabulary import MIB, SessionId, TabId

FILE_BYTES = 256 * MIB
FILES = 32
NAME_BYTES = 200


@dataclass(slots=True)
class IncomingFile:
    """A file of which ``left`` bytes are still to come."""

    tab: TabId
    path: Path
    left: int


class PersonFiles:
    """The folder of such files, with a folder in it for each session."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def place(self, session: SessionId, tab: TabId, name: str, size: int) -> IncomingFile:
        """Return where a file of that name goes. Pages see the name, so it is kept as far as the
        file system allows."""
        if not 0 <= size <= FILE_BYTES:
            raise TooLarge(f"A file may have {FILE_BYTES} bytes.", limitBytes=FILE_BYTES)
        plain = name.replace("\0", "").replace("\\", "/").rpartition("/")[2]
        cut = os.fsdecode(plain.encode("utf-8", "replace")[:NAME_BYTES]).strip() or "file"
        if cut in (".", ".."):
            raise BadRequest("name: this is not a name of a file.", field="name")
        return IncomingFile(tab, self._folder / session / secrets.token_hex(8) / cut, size)

    async def write(self, file: IncomingFile, data: bytes) -> None:
        """Append the bytes. Raises ``BadRequest`` if they are more than were announced."""
        if len(data) > file.left:
            raise BadRequest("The file has more bytes than were announced.", field="bytes")
        file.left -= len(data)
        await asyncio.to_thread(_append, file.path, data)

    def forget(self, session: SessionId) -> None:
        shutil.rmtree(self._folder / session, ignore_errors=True)

    def forget_others(self, sessions: Container[SessionId]) -> None:
        """Remove the files of sessions that have ended."""
        for folder in list(self._folder.iterdir()) if self._folder.is_dir() else ():
            if SessionId(folder.name) not in sessions:
                shutil.rmtree(folder, ignore_errors=True)


def _append(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, 0o600), "ab") as file:
        file.write(data)
