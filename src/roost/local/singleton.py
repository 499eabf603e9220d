"""Chromium's folder for its singleton socket, which Chromium leaves behind.

The socket's path must be short. So Chromium makes a new folder in the system's temporary folder,
puts the socket there, and links to it from the profile.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_SOCKET = "SingletonSocket"
_COOKIE = "SingletonCookie"


def socket_folder(profile: Path) -> Path | None:
    """Return the folder outside the profile that Chromium made for its socket, or None.

    The profile's link names it. Chromium leaves that folder behind even when it exits normally.
    """
    try:
        target = Path(os.readlink(profile / _SOCKET))
    except OSError:
        return None
    return target.parent if target.is_absolute() and target.name == _SOCKET else None


def remove_socket_folder(folder: Path) -> None:
    """Remove such a folder once its Chromium has ended.

    Removes the two files that Chromium puts there, then the folder if it is empty.
    """
    with suppress(OSError):
        if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
            return
        for name in (_SOCKET, _COOKIE):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
