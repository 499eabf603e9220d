"""The folder that a Chromium makes for its singleton socket, and leaves behind.

The socket's path must be short, so Chromium puts it into a new folder of the system's temporary
folder and links to it from the profile.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_SOCKET = "SingletonSocket"
_COOKIE = "SingletonCookie"


def socket_folder(profile: Path) -> Path | None:
    """The folder that a Chromium made for its socket, outside its profile, as the profile names it.

    Chromium leaves that folder behind, also when it ends in order.
    """
    try:
        target = Path(os.readlink(profile / _SOCKET))
    except OSError:
        return None
    return target.parent if target.is_absolute() and target.name == _SOCKET else None


def remove_socket_folder(folder: Path) -> None:
    """Remove such a folder, once its Chromium has ended: the two files that Chromium puts there,
    and the folder if it is empty then."""
    with suppress(OSError):
        if folder.lstat().st_uid != os.getuid() or folder.is_symlink():
            return
        for name in (_SOCKET, _COOKIE):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
