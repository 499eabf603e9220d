"""Limits on one set of logins, a little above what browsers keep.

Chromium keeps at most 3,300 cookies and Firefox 3,000; both give an origin about 5 MB. More than
these limits is a mistake or an attack, and reading it would delay all other callers.
"""

from __future__ import annotations

from roost.drivers.base import JarContents
from roost.errors import TooLarge
from roost.vocabulary import MIB

FILE_BYTES = 16 * MIB
"""The largest file of logins that is read."""
COOKIES = 5000
ORIGINS = 1000
ITEMS = 20_000
"""Maximum number of localStorage entries of all origins together."""


def check_size(contents: JarContents, field: str) -> None:
    """Raise ``TooLarge``, which names the limit, if the logins exceed one."""
    items = sum(len(one.items) for one in contents.storage)
    for count, limit, what in (
        (len(contents.cookies), COOKIES, "cookies"),
        (len(contents.storage), ORIGINS, "origins"),
        (items, ITEMS, "entries of localStorage"),
    ):
        if count > limit:
            raise TooLarge(
                f"{field}: {count} {what} are more than the {limit} allowed.",
                hint="Take only the sites you need.",
                field=field,
                limit=limit,
            )


def file_too_large(name: str, field: str) -> TooLarge:
    return TooLarge(
        f"{field}: {name} is larger than {FILE_BYTES // MIB} MiB.",
        hint="Take only the sites you need.",
        field=field,
        limitBytes=FILE_BYTES,
    )
