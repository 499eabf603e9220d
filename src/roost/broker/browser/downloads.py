"""Downloads of sessions: each file goes to its session's own folder, under a safe name.

The browser saves an unfinished file under an id. When it is complete, Roost renames it. The server
only suggests a name: the name used must not lead out of the folder, hide the file, or overwrite
another.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path

from roost.broker.change_signal import ChangeSignal
from roost.core.approvals import Wanted
from roost.drivers.events import (
    DownloadBegan,
    DownloadEnded,
)
from roost.vocabulary import SessionId, TabId

logger = logging.getLogger(__name__)
FOLDER = "downloads"
"""Name of the folder for downloads inside the session's own folder."""
KEPT = 200
FILES_SHOWN = 1000
ALIKE = 100
"""How many files of one name get a number in order; later ones get a random number."""
NAME_BYTES = 180
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\u202a-\u202e\u2066-\u2069]')


class DownloadState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """The session's policy does not allow it. The file was removed."""


@dataclass(slots=True)
class Download:
    """One downloaded file. ``told``: a reply has already reported it to the agent."""

    name: str
    url: str
    tabs: frozenset[TabId]
    """The tab whose page began the download, and the tab that opened that tab."""
    state: DownloadState = DownloadState.RUNNING
    path: Path | None = None
    told: bool = False
    wanted: Wanted | None = None
    """What the person must approve before such a download is kept."""
    is_refused: bool = False


class Downloads:
    """The downloads of all sessions, in folders below ``files``.

    redact: removes the person's secrets from the names that servers suggest.
    """

    def __init__(self, files: Path, redact: Callable[[str], str] = str) -> None:
        self._files = files
        self._redact = redact
        self._kept: dict[SessionId, list[Download]] = {}
        self._running: dict[str, tuple[SessionId, Download]] = {}
        self._changed = ChangeSignal()

    def began(self, event: DownloadBegan, session: SessionId, tabs: frozenset[TabId]) -> Download:
        download = Download(safe_name(self._redact(event.name)), event.url, tabs)
        kept = self._kept.setdefault(session, [])
        kept.append(download)
        del kept[:-KEPT]
        self._running[event.download] = session, download
        self._changed.tell()
        return download

    def ended(self, event: DownloadEnded) -> tuple[SessionId, Download] | None:
        """Finish a download and move its file. Returns the session and the download, or None if the
        session has ended."""
        known = self._running.pop(event.download, None)
        if known is None:
            return None
        session, download = known
        download.state = DownloadState.FAILED
        if download.is_refused:
            download.state = DownloadState.REFUSED
            if event.path is not None:
                with contextlib.suppress(OSError):
                    Path(event.path).unlink()
        elif event.path is not None:
            folder = self._files / session / FOLDER
            source = Path(event.path)
            try:
                # A CDP client of the session may have chosen another folder; leave the file there.
                is_elsewhere = source.is_file() and not source.is_relative_to(folder)
                download.path = source if is_elsewhere else _moved(source, folder, download.name)
                download.state = DownloadState.DONE
            except OSError as error:
                logger.warning("a download could not be kept: %s", error)
        self._changed.tell()
        return known

    def count(self, session: SessionId) -> int:
        """Return how many files the session has downloaded or is downloading."""
        return sum(not one.is_refused for one in self.of(session))

    def tabs(self) -> frozenset[TabId]:
        """Return the tabs with a running download."""
        return frozenset(tab for _, download in self._running.values() for tab in download.tabs)

    def of(self, session: SessionId) -> list[Download]:
        return self._kept.get(session, [])

    def files(self, session: SessionId) -> list[Path]:
        """Return the complete files in the session's folder. Unfinished files are named by id."""
        folder = self._files / session / FOLDER
        running = self._running.keys()
        with contextlib.suppress(OSError):
            found = [path for path in islice(folder.iterdir(), FILES_SHOWN) if path.is_file()]
            return sorted(path for path in found if path.stem not in running)
        return []

    def unreported(self, session: SessionId, tab: TabId) -> list[Download]:
        """Return the downloads of this tab that no reply has reported yet."""
        return [one for one in self.of(session) if tab in one.tabs and not one.told]

    async def changed(self) -> None:
        """Wait until any download begins or ends."""
        await self._changed.wait()

    def forget(self, session: SessionId) -> None:
        self._kept.pop(session, None)
        for download in [d for d, (owner, _) in self._running.items() if owner == session]:
            del self._running[download]


def safe_name(wish: str) -> str:
    """Return a safe file name: no folders, no control or direction marks, not hidden, not long."""
    name = _UNSAFE.sub("_", wish.encode(errors="replace").decode()).strip().lstrip(".")
    stem, suffix = os.path.splitext(name)
    suffix = suffix.encode()[:20].decode(errors="ignore")
    stem = stem.encode()[: NAME_BYTES - len(suffix.encode())].decode(errors="ignore")
    return stem + suffix or "download"


def _moved(source: Path, folder: Path, name: str) -> Path:
    """Move the file into the folder, under that name or the next free numbered one."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stem, suffix = os.path.splitext(name)
    # After ``ALIKE`` files of one name use a random number: the search for a free number would
    # take longer with every file.
    for number in (*range(ALIKE), secrets.token_hex(4)):
        target = folder / (f"{stem} ({number}){suffix}" if number else name)
        with contextlib.suppress(FileExistsError):
            os.link(source, target, follow_symlinks=False)  # unlike rename, never overwrites
            source.unlink()
            return target
    raise FileExistsError(target)
