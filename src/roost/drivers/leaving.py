"""What all drivers say of a page that is left, or about to be."""

from __future__ import annotations

from roost.errors import Interrupted, Timeout


def left_meanwhile() -> Interrupted:
    """For what must never be done twice: nobody can tell whether it was done once."""
    return Interrupted(
        "The page was left before it had answered; nobody knows whether this was done.",
        hint="Look where the tab is now, with browser_snapshot.",
    )


def still_leaving(url: str) -> Timeout:
    """For a page that cannot be asked anything until its next document has come."""
    return Timeout(
        f"The tab is on its way to {url[:200]}, and that server has not answered yet.",
        hint="Wait for it with browser_wait_for, or go elsewhere with browser_navigate.",
        retry_after_ms=2000,
    )
