"""Errors that all drivers raise when a tab leaves its page or cannot open the next one."""

from __future__ import annotations

import re
from typing import Any

from roost.errors import Interrupted, NotFound, Timeout

NO_CONTENT = (204, 205)
"""HTTP statuses after which a tab keeps its old page."""
NO_PASSWORD = "The page cannot be opened: it wants a password."
_CODE = re.compile(r"(?:net::)?[A-Z][A-Z0-9_]{2,63}(?:\([A-Z0-9_]{3,64}, [A-Z0-9_]{3,64}\))?")
"""A browser's error code: ``net::ERR_NAME_NOT_RESOLVED``, ``NS_ERROR_UNKNOWN_HOST``,
``NS_ERROR_GENERATE_FAILURE(NS_ERROR_MODULE_SECURITY, SEC_ERROR_EXPIRED_CERTIFICATE)``."""


def left_meanwhile() -> Interrupted:
    """Return the error for an action that must not run twice and may have run before the page
    was left."""
    return Interrupted(
        "The page was left before it had answered; nobody knows whether this was done.",
        hint="Look where the tab is now, with browser_snapshot.",
    )


def still_leaving(url: str) -> Timeout:
    """Return the error for a page that answers nothing until its next document arrives."""
    return Timeout(
        "The tab is on its way to another page, and that server has not answered yet.",
        hint="Wait for it with browser_wait_for, or go elsewhere with browser_navigate.",
        retry_after_ms=2000,
        page_said=url,
    )


def wants_login(**details: Any) -> NotFound:
    """Return the error for a page whose server wants a password that the address lacks."""
    return NotFound(
        NO_PASSWORD,
        hint="The server wants a name and a password: write them as http://name:password@host/.",
        reason=NO_PASSWORD,
        **details,
    )


def cannot_open(why: str) -> NotFound:
    """Return the error for a failed navigation. ``why`` is the browser's reason.

    Only a bare error code goes into the message, because a longer reason can quote an address that
    a page chose.
    """
    if _CODE.fullmatch(why):
        return NotFound(f"The page cannot be opened: {why}.", reason=why)
    return NotFound("The page cannot be opened.", reason="other", page_said=why)
