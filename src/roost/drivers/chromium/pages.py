"""``drivers.base.Pages`` over CDP, for a keeper's Chromium and for the extension's."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from roost.drivers.base import Arrival, FrameInfo, Input, Picture, Shot
from roost.drivers.chromium.tab import CdpTab
from roost.vocabulary import TabHandle


class CdpPages(ABC):
    """``drivers.base.Pages`` for CDP. Subclasses find the tabs."""

    @abstractmethod
    def _using(self, tab: TabHandle) -> AbstractAsyncContextManager[CdpTab]:
        """Give access to the tab while a call uses it. Raises ``TabGone`` if there is no tab."""

    @asynccontextmanager
    async def _answering(self, tab: TabHandle) -> AsyncIterator[CdpTab]:
        """Like ``_using``, but raise an error if the tab's page cannot answer."""
        async with self._using(tab) as page:
            await page.check_answers()
            yield page

    async def navigate(self, tab: TabHandle, url: str) -> Arrival:
        async with self._using(tab) as page:
            return await page.navigate(url)

    async def reload(self, tab: TabHandle) -> Arrival:
        async with self._using(tab) as page:
            return await page.reload()

    async def travel(self, tab: TabHandle, delta: int) -> Arrival:
        async with self._using(tab) as page:
            return await page.travel(delta)

    async def evaluate(
        self,
        tab: TabHandle,
        function: str,
        *,
        frame: str | None = None,
        ref: str | None = None,
    ) -> Any:
        async with self._answering(tab) as page:
            return await page.scripts.evaluate(function, frame, ref)

    async def frames(self, tab: TabHandle) -> list[FrameInfo]:
        async with self._using(tab) as page:
            return [FrameInfo(f.id, f.parent, f.url) for f in page.frames]

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
        async with self._answering(tab) as page:
            return await page.scripts.call_bundle(
                frame, function, argument, owner_of=owner_of, once=once
            )

    async def act(
        self,
        tab: TabHandle,
        inputs: Sequence[Input],
        frame: str | None,
        argument: dict[str, Any],
    ) -> dict[str, Any] | None:
        if inputs:
            async with self._answering(tab) as page:
                await page.gestures.give(inputs)
        async with self._using(tab) as page:
            return await page.settle(frame, argument)

    async def set_files(
        self, tab: TabHandle, frame: str | None, ref: str, paths: Sequence[str]
    ) -> None:
        async with self._using(tab) as page:
            await page.errands.set_files(frame, ref, paths)

    async def choose_files(self, tab: TabHandle, paths: Sequence[str]) -> None:
        async with self._using(tab) as page:
            await page.errands.choose_files(paths)

    async def answer_dialog(self, tab: TabHandle, *, accept: bool, text: str | None) -> None:
        async with self._using(tab) as page:
            await page.errands.answer_dialog(accept=accept, text=text)

    async def resize(self, tab: TabHandle, width: int, height: int) -> None:
        async with self._using(tab) as page:
            await page.resize(width, height)

    async def pdf(self, tab: TabHandle) -> bytes:
        async with self._answering(tab) as page:
            return await page.camera.pdf()

    async def body(self, tab: TabHandle, request: str) -> bytes:
        async with self._using(tab) as page:
            return await page.errands.body(request)

    async def capture(self, tab: TabHandle, shot: Shot) -> Picture:
        async with self._answering(tab) as page:
            return await page.camera.capture(shot)
