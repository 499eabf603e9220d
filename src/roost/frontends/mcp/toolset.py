"""What a set of tools is: names a model knows, each leading to operations.

Another set of names (Claudezilla's, say) is another ``Toolset``; the server, its errors, progress
and cancellation stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from roost.api.broker import BrokerApi


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool as ``tools/list`` shows it."""

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None = None
    """Only where the whole answer is Roost's own small data: clients that see one hide the text."""
    read_only: bool = False
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A picture, base64."""

    data: str
    mime_type: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers: text, perhaps a picture, perhaps the same as data. ``structured`` never
    holds page text: there are no marks in it."""

    text: str
    images: Sequence[Image] = ()
    structured: Mapping[str, Any] | None = None
    is_error: bool = field(default=False, kw_only=True)


class Toolset(Protocol):
    """A set of tools. ``call`` and ``only_reads`` take whatever a client sent as arguments."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    def only_reads(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Whether this very call changes nothing, so that it may be repeated."""

    async def call(self, api: BrokerApi, name: str, arguments: Mapping[str, Any]) -> Reply:
        """Do it. Raises a ``RoostError``: ``BadRequest`` for a name or argument it has not."""
