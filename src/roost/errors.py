"""All errors that a caller can get. One flat tree: each class has its own wire code.

::

    RoostError
    ├── TabGone            the tab is not there, or not yours (the two look alike)
    ├── SessionGone        the session is not there, or not yours
    ├── Ownership          shared reads only: you may look, not touch
    ├── TabCrashed         the page's process died; reload the tab
    ├── PoolFull           no slot, and nothing of yours to evict
    ├── MutexBusy          another agent is capturing this tab
    ├── SessionLimit       no more cloned jars
    ├── JarUnavailable     this browser cannot give that jar
    ├── ProfileNotFound    no profile of that name
    ├── UrlBlocked         scheme or domain rule
    ├── StaleRef           the element behind a ref is gone
    ├── NotFound           nothing matches
    ├── NotActionable      hidden, disabled, covered by …
    ├── DialogOpen         answer the dialog first
    ├── Timeout            the call's deadline passed
    ├── BrowserLost        the browser died during the call
    ├── Interrupted        the broker restarted; outcome unknown
    ├── Paused             a person has the session
    ├── ApprovalPending    the person is being asked; repeat the call
    ├── PolicyDenied       the session's policy, or the person, does not allow it
    ├── Unsupported        this browser cannot do it
    ├── Unauthorized       no or wrong credentials
    ├── BadRequest         which field, what was expected
    ├── TooLarge           a frame above the limit
    ├── LoopActive         the session already has a loop
    ├── VaultLocked        the key of stored logins and secrets is missing
    └── Internal           our fault; the audit trail has the reference

Each error carries ``code``, a message, a hint that says what to do next, and details. ``from_wire``
reverses ``to_wire``, so a client raises the same class that the broker raised.

Message, hint and details contain Roost's own words, ids, numbers and what the caller itself sent,
because an agent trusts them as Roost's word. Text that a page could have chosen (a dialog's text, a
thrown exception, labels, classes, addresses, a protocol error that quotes the page) goes into
``page_said``, which front ends show between untrusted marks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from roost.hints import Hint, Spelling, spelled

PAGE_SAID_CHARS = 2000
"""Maximum length of a page's text in an error."""


class RoostError(Exception):
    """Base of all errors. Subclasses set ``code`` and ``default_hint``.

    message: what is wrong, in Roost's words.
    hint: what to do next, in Roost's words. A ``Hint`` names operations; front ends spell them.
    retry_after_ms: when the same call may succeed.
    page_said: text of a page, or of the browser about a page. Cut to ``PAGE_SAID_CHARS``.
    details: further fields of the wire shape; never page text.
    """

    code: ClassVar[str] = "INTERNAL"
    default_hint: ClassVar[str] = "Try again; if it persists, run `roost doctor`."

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        retry_after_ms: int | None = None,
        page_said: str | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint if hint is not None else self.default_hint
        self.retry_after_ms = retry_after_ms
        self.page_said = page_said[:PAGE_SAID_CHARS] if page_said else None
        self.details = details

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"

    def retold(self, *, message: str | None = None, hint: str | None = None) -> RoostError:
        """Return a copy of the error with another message or hint.

        Several calls may have raised the same error object, so it is never changed in place.
        """
        return type(self)(
            self.message if message is None else message,
            hint=self.hint if hint is None else hint,
            retry_after_ms=self.retry_after_ms,
            page_said=self.page_said,
            **self.details,
        )

    def redacted(self, redact: Callable[[str], str]) -> RoostError:
        """Return the error with every text in it as ``redact`` returns it."""
        details = {
            name: redact(value) if isinstance(value, str) else value
            for name, value in self.details.items()
        }
        return type(self)(
            redact(self.message),
            hint=redact(self.hint),
            retry_after_ms=self.retry_after_ms,
            page_said=None if self.page_said is None else redact(self.page_said),
            **details,
        )

    def spelled(self, spell: Spelling) -> RoostError:
        """Return the error with its hint in the words of that reader."""
        return self.retold(hint=spelled(self.hint, spell))

    def to_wire(self) -> dict[str, Any]:
        """Return the wire shape: ``{code, message, hint, retryAfterMs?, pageSaid?, …}``."""
        wire: dict[str, Any] = {"code": self.code, "message": self.message, "hint": str(self.hint)}
        if self.retry_after_ms is not None:
            wire["retryAfterMs"] = self.retry_after_ms
        if self.page_said is not None:
            wire["pageSaid"] = self.page_said
        wire.update(self.details)
        return wire

    @staticmethod
    def from_wire(wire: Mapping[str, Any]) -> RoostError:
        """Rebuild an error from the wire, as its own class.

        An unknown code becomes ``Internal``.
        """
        fields = dict(wire)
        cls = BY_CODE.get(str(fields.pop("code", "")), Internal)
        said = fields.pop("pageSaid", None)
        return cls(
            str(fields.pop("message", "The broker reported an error.")),
            hint=fields.pop("hint", None),
            retry_after_ms=fields.pop("retryAfterMs", None),
            page_said=said if isinstance(said, str) else None,
            **fields,
        )


class TabGone(RoostError):
    code = "TAB_GONE"
    default_hint = Hint(
        "List your tabs[ with {Tabs action=list}], or open a new one[ with {Tabs action=new}]."
    )


class SessionGone(RoostError):
    code = "SESSION_GONE"
    default_hint = Hint(
        "List your sessions[ with {SessionList}], or open one[ with {SessionOpen}]."
    )


class Ownership(RoostError):
    code = "OWNERSHIP"
    default_hint = "You may read this tab but not act on it; work in a tab of your own."


class TabCrashed(RoostError):
    code = "TAB_CRASHED"
    default_hint = "Navigate or reload the tab to start it again."


class PoolFull(RoostError):
    code = "POOL_FULL"
    default_hint = Hint(
        "[Queue for a slot with {TabSpaceRequest}, then wait with {TabSpaceStatus waitSeconds=60}."
        "|Dispose a session that nobody needs with {SessionDispose}, or try again later."
        "|Close a tab that nobody needs, or try again later.]"
    )


class MutexBusy(RoostError):
    code = "MUTEX_BUSY"
    default_hint = Hint("Retry after the delay[, or use {Snapshot}, which needs no turn].")


class SessionLimit(RoostError):
    code = "SESSION_LIMIT"
    default_hint = Hint(
        "Dispose a session you no longer need[ with {SessionDispose}], or open this one with jar"
        " fresh."
    )


class JarUnavailable(RoostError):
    code = "JAR_UNAVAILABLE"
    default_hint = "Open the session with another jar, or in another browser."


class ProfileNotFound(RoostError):
    code = "PROFILE_NOT_FOUND"
    default_hint = Hint(
        "[List the profiles with {ProfileList}. ]The person imports one with"
        " `roost profile import SOURCE --name NAME`."
    )


class UrlBlocked(RoostError):
    code = "URL_BLOCKED"
    default_hint = (
        "Only http, https and about:blank can be opened, within the session's domain lists."
    )


class StaleRef(RoostError):
    code = "STALE_REF"
    default_hint = Hint("Take a new snapshot[ with {Snapshot}] and use the ref from it.")


class NotFound(RoostError):
    code = "NOT_FOUND"
    default_hint = Hint(
        "[Take a snapshot with {Snapshot}, or search with {Find}, to see what is there."
        "|Take a snapshot with {Snapshot} to see what is there."
        "|See what is there, then correct the call.]"
    )


class NotActionable(RoostError):
    code = "NOT_ACTIONABLE"
    default_hint = Hint(
        "Something hides, disables or covers the element[. Look at the page with {Snapshot}]."
    )


class DialogOpen(RoostError):
    code = "DIALOG_OPEN"
    default_hint = Hint(
        "[Answer it with {HandleDialog}."
        "|None of these tools can answer it: close the tab with {Close} and open the page again."
        "|Answer it in the browser, or close the tab.]"
    )


class Timeout(RoostError):
    code = "TIMEOUT"
    default_hint = Hint(
        "Look at what the page is doing[ with {Snapshot}] before you repeat the call"
        "[, or give the call a longer timeout ({timeout})]."
    )


class BrowserLost(RoostError):
    code = "BROWSER_LOST"
    default_hint = (
        "Your tabs come back with it: a browser of Roost's own is being restarted, the person's"
        " when they start it. Try again shortly."
    )


class Interrupted(RoostError):
    code = "INTERRUPTED"
    default_hint = "The broker restarted; check the page before you repeat the action."


class Paused(RoostError):
    code = "PAUSED"
    default_hint = Hint(
        "A person has this session: wait[ with {SessionList waitSeconds=60}] until they hand it"
        " back."
    )


class ApprovalPending(RoostError):
    code = "APPROVAL_PENDING"
    default_hint = (
        "Nothing was done. Repeat the same call: it goes on waiting for the person's answer."
    )


class PolicyDenied(RoostError):
    code = "POLICY_DENIED"
    default_hint = "Do without it, or tell the person: only they can change that."


class Unsupported(RoostError):
    code = "UNSUPPORTED"
    default_hint = "This browser cannot do that."


class Unauthorized(RoostError):
    code = "UNAUTHORIZED"
    default_hint = "Connect through the roost client, or with a valid token."


class BadRequest(RoostError):
    code = "BAD_REQUEST"
    default_hint = "Correct the arguments and call again."


class TooLarge(RoostError):
    code = "TOO_LARGE"
    default_hint = "Ask for less, or send less, at a time."


class LoopActive(RoostError):
    code = "LOOP_ACTIVE"
    default_hint = Hint("Stop the running loop first[ with {LoopStop}].")


class VaultLocked(RoostError):
    code = "VAULT_LOCKED"
    default_hint = "Ask the person to unlock their keyring. `roost doctor` says what is missing."


class Internal(RoostError):
    code = "INTERNAL"


BY_CODE: dict[str, type[RoostError]] = {
    cls.code: cls
    for cls in (
        TabGone, SessionGone, Ownership, TabCrashed, PoolFull, MutexBusy, SessionLimit,
        JarUnavailable, ProfileNotFound, UrlBlocked, StaleRef, NotFound, NotActionable,
        DialogOpen, Timeout, BrowserLost, Interrupted, Paused, ApprovalPending, PolicyDenied,
        Unsupported, Unauthorized, BadRequest, TooLarge, LoopActive, VaultLocked, Internal,
    )
}  # fmt: skip
