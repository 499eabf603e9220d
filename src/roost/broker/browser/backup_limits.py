"""How much storage of a jar is kept in its backup, and which databases stay known."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace

from roost.drivers.base import OriginStorage

logger = logging.getLogger(__name__)
STORAGE_CHARS = 10_000_000
"""Limit for the backup of one origin. Browsers themselves allow an origin less than this."""
JAR_CHARS = 6_000_000
"""Limit for the storage of all origins in one backup, which is written and read as a whole."""


def in_room(storage: Iterable[OriginStorage]) -> tuple[OriginStorage, ...]:
    """Return the origins that fit into ``JAR_CHARS``, smallest first, so that one large site does
    not displace all others."""
    found, room = [], JAR_CHARS
    for one in sorted(storage, key=_chars):
        room -= _chars(one)
        if room < 0:
            logger.warning("the storage of %s is too large to be kept", one.origin)
            break
        found.append(one)
    return tuple(found)


def with_databases(read: OriginStorage, before: OriginStorage | None) -> OriginStorage:
    """Return what was read. A page's storage has no databases, so keep those that were read or
    loaded before: a login of some days ago is better than none."""
    if read.databases or before is None or not before.databases:
        return read
    return replace(read, databases=before.databases)


def _chars(storage: OriginStorage) -> int:
    items = sum(len(name) + len(value) for name, value in storage.items)
    return items + len(storage.databases)


def is_too_large(storage: OriginStorage) -> bool:
    return _chars(storage) > STORAGE_CHARS
