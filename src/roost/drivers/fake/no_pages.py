"""The page work that the fake refuses: it has no documents, so there is nothing to click."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from roost.drivers.base import Arrival, FrameInfo, Input
from roost.errors import Unsupported
from roost.vocabulary import TabHandle


class NoPages:
    """Raises ``Unsupported`` for every page primitive (``Capabilities.page_work`` is False)."""

    async def reload(self, tab: TabHandle) -> Arrival:
        _no_pages()

    async def travel(self, tab: TabHandle, delta: int) -> Arrival:
        _no_pages()

    async def frames(self, tab: TabHandle) -> list[FrameInfo]:
        _no_pages()

    async def call_page(
        self,
        tab: TabHandle,
        frame: str | None,
        function: str,
        argument: dict[str, Any],
        *,
        owner_of: str | None = None,
        once: bool = False,
    ) -> Any:
        _no_pages()

    async def act(
        self,
        tab: TabHandle,
        inputs: Sequence[Input],
        frame: str | None,
        argument: dict[str, Any],
    ) -> dict[str, Any] | None:
        _no_pages()

    async def set_files(
        self, tab: TabHandle, frame: str | None, ref: str, paths: Sequence[str]
    ) -> None:
        _no_pages()

    async def choose_files(self, tab: TabHandle, paths: Sequence[str]) -> None:
        _no_pages()

    async def answer_dialog(self, tab: TabHandle, *, accept: bool, text: str | None) -> None:
        _no_pages()

    async def resize(self, tab: TabHandle, width: int, height: int) -> None:
        _no_pages()

    async def pdf(self, tab: TabHandle) -> bytes:
        _no_pages()

    async def body(self, tab: TabHandle, request: str) -> bytes:
        _no_pages()


def _no_pages() -> NoReturn:
    raise Unsupported(
        "The fake browser has no pages to do that in.", hint="Use a real browser: roost up."
    )
