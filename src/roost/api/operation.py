"""What every operation is: a frozen set of arguments with what front ends need to know about it."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from roost.api import views

R = TypeVar("R", bound=views.View, covariant=True)


class Audience(StrEnum):
    """Who may be shown the operation."""

    CORE = "core"
    """A tool every agent sees."""
    ALL = "all"
    """A tool shown when all are asked for."""
    INNER = "inner"
    """For front ends and the command line; an agent may call it, it is no tool."""
    OPERATOR = "operator"
    """The person's alone."""


class Answers(Generic[R]):
    """Marks what an operation answers, so that ``await api.call(op)`` is typed."""


class Operation(BaseModel):
    """Base of all rows."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, frozen=True, extra="forbid"
    )
    op: ClassVar[str]
    title: ClassVar[str]
    reply: ClassVar[type[views.View]]
    audience: ClassVar[Audience] = Audience.CORE
    read_only: ClassVar[bool] = False
    """Changes nothing, so it may be repeated after a broker restart."""
    destructive: ClassVar[bool] = False
    audited: ClassVar[tuple[str, ...]] = ()
    """Arguments that stand in the audit trail. Typed text and scripts never do."""

    def only_reads(self) -> bool:
        """As ``read_only``, of this very call."""
        return self.read_only

    def waits(self) -> float:
        """Seconds this call asks to wait: its deadline comes that much later."""
        return 0.0

    def to_wire(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


class SessionOperation(Operation):
    """Works in one session."""

    session: str | None = Field(
        default=None, max_length=64, description="Session; default: your own"
    )


class PageOperation(SessionOperation):
    """Works on one tab."""

    tab: str | None = Field(
        default=None, max_length=32, description="Tab; default: your current one"
    )
