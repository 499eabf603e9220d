"""Operations on the session's own clipboard."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from roost.api import page_views as views
from roost.api.operation import Answers, Audience, SessionOperation
from roost.api.page_operations import ActionOperation, optional_target

__all__ = ["Clipboard", "Copy", "Paste"]

CLIPBOARD_CHARS = 500_000


class Clipboard(SessionOperation, Answers[views.ClipboardView]):
    """Read, write or clear your session's own clipboard. Copying and pasting, also by keys, use \
it; no other session sees it."""

    op = "browser_clipboard"
    title = "Read or write the clipboard"
    audience = Audience.ALL
    audited = ("action",)
    action: Literal["read", "write", "clear"] = "read"
    text: str | None = Field(default=None, max_length=CLIPBOARD_CHARS)
    html: str | None = Field(
        default=None, max_length=CLIPBOARD_CHARS, description="The same as rich text"
    )

    def only_reads(self) -> bool:
        return self.action == "read"


class Copy(ActionOperation, Answers[views.ActionView]):
    """Copy or cut the selection, or all of an element, to your session's own clipboard."""

    op = "browser_copy"
    title = "Copy"
    audience = Audience.ALL
    audited = ("target", "cut")
    target: str | None = optional_target("Select all of this first")
    cut: bool = Field(default=False, description="Cut instead")


class Paste(ActionOperation, Answers[views.ActionView]):
    """Paste from your session's own clipboard where the focus is, or instead of a field's text."""

    op = "browser_paste"
    title = "Paste"
    audience = Audience.ALL
    audited = ("target",)
    target: str | None = optional_target("Field whose text is replaced")
