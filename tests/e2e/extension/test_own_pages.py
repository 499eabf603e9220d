"""Page features in the person's own Chromium: dialogs, files, frames of other sites, the
console."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from roost import ops
from tests.e2e.extension.own_house import OwnHouse

pytestmark = pytest.mark.timeout(120)


async def test_the_pages_console_is_recorded(own: OwnHouse) -> None:
    """The original showed only its own messages."""
    async with own.agent("Ann") as agent:
        await agent.show("<button onclick=\"console.warn('pressed')\">B</button>")
        await agent.click("button")
        said = await agent.call(ops.ConsoleMessages())
        assert ["pressed"] == [message.text for message in said.messages]


async def test_dialogs_can_be_answered_and_files_uploaded(own: OwnHouse) -> None:
    async with own.agent("Bob") as agent:
        await agent.show(
            "<button onclick=\"out.textContent = confirm('Sure?')\">Ask</button><p id=out></p>"
            "<input type=file id=f>"
        )
        shown = await agent.click("button")
        assert shown.dialog is not None
        await agent.answer(True)
        assert await agent.run("() => out.textContent") == "true"
        file = agent.house.work / "given.txt"
        file.write_text("given")
        await agent.call(ops.FileUpload(paths=[str(file)], target="#f"))
        assert await agent.run("() => f.files[0].text()") == "given"
    assert await own.active() == own.pages[0]


async def test_a_download_is_reported_with_its_path(own: OwnHouse) -> None:
    async with own.agent("Red") as agent:
        await agent.show(
            "<a id=d download=d.txt>D</a>"
            "<script>d.href = URL.createObjectURL(new Blob(['x']))</script>"
        )
        done = await agent.click("#d")
        assert done.downloads is not None
        (path,) = done.downloads
        assert _taken(path) == "x"


def _taken(path: str) -> str:
    text = Path(path).read_text(encoding="utf-8")
    Path(path).unlink()
    return text


async def test_frames_of_other_sites_can_be_read_and_used(own: OwnHouse) -> None:
    inside = own.web.page("<button onclick=\"this.textContent = 'Done'\">Inside</button>")
    elsewhere = inside.replace("127.0.0.1", "localhost")
    async with own.agent("Blue") as agent:
        await agent.show(f"<h1>Outside</h1><iframe src='{elsewhere}'></iframe>")
        snapshot = await agent.snapshot()
        (ref,) = re.findall(r'button "Inside" \[ref=(\w+)', snapshot)
        await agent.click(ref)
        assert "Done" in await agent.snapshot()
