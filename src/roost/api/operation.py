"""Base classes of operations: frozen arguments, and what front ends need to know about them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from roost.api import views

__all__ = [
    "Answers", "Audience", "Operation", "PageOperation", "SessionOperation",
    "ShowingOperation",
]  # fmt: skip

R = TypeVar("R", bound=views.View, covariant=True)


class Audience(StrEnum):
    """The callers that see the operation as a tool, or may call it."""

    CORE = "core"
    """A tool that every agent sees."""
    ALL = "all"
    """A tool that only agents started with ``--tools all``, or with its name, see."""
    INNER = "inner"
    """Not a tool: front ends and the command line use it. An agent may call it."""
    OPERATOR = "operator"
    """Only the operator may call it."""


class Answers(Generic[R]):
    """Declares the view that an operation answers, so that ``await api.call(op)`` is typed."""


class Operation(BaseModel):
    """Base of all operations. Fields are arguments; class variables describe the operation.

    op: name on the wire.
    title: short title for people.
    reply: class of the view that the operation answers, taken from ``Answers[…]``.
    audience: who sees the operation.
    destructive: it may lose something that cannot be brought back.
    idempotent: calling it again with the same arguments changes nothing more.
    open_world: it reaches web pages, not only Roost's own records.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid"
    )
    op: ClassVar[str]
    title: ClassVar[str]
    reply: ClassVar[type[views.View]]
    audience: ClassVar[Audience] = Audience.CORE
    read_only: ClassVar[bool] = False
    """The operation changes nothing, so a client may repeat it after a broker restart."""
    destructive: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    open_world: ClassVar[bool] = False
    model_defaults: ClassVar[Mapping[str, Any]] = {}
    """Arguments that front ends for models (MCP, the command line) give when the caller does not.
    HTTP and Python callers get the defaults of the fields."""
    audited: ClassVar[tuple[str, ...]] = ()
    """Names of the arguments that the audit trail records. Never typed text or scripts."""

    conduct: ClassVar[tuple[str, ...]] = ()
    """The groups of a policy that the operation belongs to (``core.policy.Group``), and further
    words that cover it. Empty: no policy judges it."""
    deed: ClassVar[str] = ""
    """What the operation does in a page, as in "You may not …". Default: its title."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.read_only and cls.conduct == ("act",):
            cls.conduct = ("read",)
        for base in getattr(cls, "__orig_bases__", ()):
            if get_origin(base) is Answers:
                (cls.reply,) = get_args(base)

    @classmethod
    def policy_word(cls) -> str:
        """Return the operation's own word in a policy."""
        return cls.op.removeprefix("browser_")

    def only_reads(self) -> bool:
        """Return whether this particular call changes nothing (see ``read_only``)."""
        return self.read_only

    def waits(self) -> float:
        """Return how many seconds this call asks to wait. Its deadline moves by as much."""
        return 0.0

    def to_wire(self) -> dict[str, Any]:
        """Return the arguments as JSON data, in camelCase, without those that are None."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class SessionOperation(Operation):
    """Base of operations that work in one session."""

    session: str | None = Field(
        default=None, max_length=64, description="Session; default: your own"
    )


class PageOperation(SessionOperation):
    """Base of operations that work on one tab."""

    open_world = True
    conduct: ClassVar[tuple[str, ...]] = ("act",)
    tab: str | None = Field(
        default=None, max_length=32, description="Tab; default: your current one"
    )


class ShowingOperation(SessionOperation):
    """Base of operations that may answer with the page they lead to: a diff, which is a short
    snapshot of a page that the caller has not read yet, or a whole snapshot."""

    snapshot: Literal["none", "diff", "full"] = Field(
        default="none", description="What to show of the page afterwards"
    )
    model_defaults = {"snapshot": "diff"}
