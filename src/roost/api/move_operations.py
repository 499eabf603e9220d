"""Operations that move a session to another machine: rows of the table in ``operations``."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from roost.api.operation import Answers, Audience, SessionOperation
from roost.api.views import View

__all__ = ["SessionPack", "SessionUnpack"]

TABS_MAX = 100
STATE_CHARS = 8_000_000


class Luggage(BaseModel):
    """What a session needs to go on in another browser.

    tabs: the addresses of its tabs, the least recently used first.
    state: its cookies and localStorage in Playwright's format, or None if it has no jar of its own.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True)
    tabs: list[str] = Field(default_factory=list, max_length=TABS_MAX)
    state: str | None = Field(default=None, max_length=STATE_CHARS, repr=False)


class LuggageView(View):
    """What the session needs to go on in another browser. It holds secrets."""

    session: str
    luggage: Luggage


class UnpackedView(View):
    """How much of the luggage the session has now. ``notes`` say what is missing."""

    session: str
    tabs: int
    cookies: int
    origins: int


class SessionPack(SessionOperation, Answers[LuggageView]):
    """Return what the session needs to go on in the browser of another machine."""

    op = "session_pack"
    title = "Pack a session"
    audience = Audience.OPERATOR
    read_only = True


class SessionUnpack(SessionOperation, Answers[UnpackedView]):
    """Give a session what it had on another machine: cookies, storage and tabs."""

    op = "session_unpack"
    title = "Unpack a session"
    audience = Audience.OPERATOR
    luggage: Luggage
