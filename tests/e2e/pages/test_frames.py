"""Frames of the same site and of other sites (in another process), shadow roots, workers."""

from __future__ import annotations

import re

import pytest

from roost import ops
from roost.errors import StaleRef
from tests.support.agent import refused
from tests.support.house import House, lacks
from tests.support.local_web import Web

INNER = (
    "<h2>Inside</h2><script>window.log = []</script>"
    "<button onclick=\"log.push(event.isTrusted); this.textContent = 'Pressed'\">Press</button>"
    "<label>Field <input id=field></label><input id=file type=file>"
)


def ref_of(snapshot: str, what: str) -> str:
    line = next(line for line in snapshot.splitlines() if what in line)
    found = re.search(r"\[ref=(\w+)\]", line)
    assert found is not None, line
    return found.group(1)


@pytest.mark.parametrize("place", ["same site", "other site"])
async def test_frames_are_read_and_acted_in_like_the_page_itself(
    house: House, web: Web, place: str
) -> None:
    inner = web.page(INNER)
    url = inner if place == "same site" else web.there(inner)
    (house.work / "up.txt").write_text("up", encoding="utf-8")
    async with house.guest(web) as agent:
        await agent.show(
            "<h1>Outside</h1><div style='height:200px'></div>"
            f"<iframe src='{url}' style='margin-left:120px;border:7px solid' width=600 height=300>"
            "</iframe>"
        )
        snapshot = await agent.snapshot()
        assert "Outside" in snapshot
        assert "Inside" in snapshot
        ref = ref_of(snapshot, '"Press"')
        assert re.fullmatch(r"f\d+e\d+", ref)
        done = await agent.click(ref)
        assert "Pressed" in (done.snapshot or "")
        is_trusted = not lacks(house, "trusted input")
        assert await agent.run("(b) => window.log", target=ref) == [is_trusted]
        await agent.type(ref_of(snapshot, "Field"), "typed")
        assert await agent.run("(f) => f.value", target="#field") == "typed"
        await agent.fill("#field", "filled")
        assert await agent.run("(f) => f.value", target="#field") == "filled"
        await agent.call(ops.FileUpload(target="#file", paths=["up.txt"]))
        assert await agent.run("(f) => f.files[0].name", target="#file") == "up.txt"
        asked = await agent.click("#file")
        assert asked.chooser is not None
        await agent.call(ops.FileUpload(paths=["up.txt"]))
        found = await agent.call(ops.Find(text="Inside"))
        assert found.total == 1
        assert await agent.snapshot() != ""
        again = await agent.snapshot()
        assert ref_of(again, "Pressed") == ref, "refs live as long as their element"


async def test_nested_frames_of_other_sites_can_be_used(house: House, web: Web) -> None:
    deepest = web.page("<button onclick=\"this.textContent = 'Done'\">Deep</button>")
    middle = web.there(web.page(f"<p>Middle</p><iframe src='{deepest}' width=300></iframe>"))
    async with house.guest(web) as agent:
        await agent.show(f"<p>Top</p><iframe src='{middle}' width=500 height=300></iframe>")
        snapshot = ""
        while "Deep" not in snapshot:  # on a busy machine a page is shown before its frames are
            snapshot = await agent.snapshot()
        for text in ("Top", "Middle", "Deep"):
            assert text in snapshot
        await agent.click(ref_of(snapshot, "Deep"))
        assert "Done" in await agent.snapshot()


async def test_the_refs_of_a_removed_frame_are_stale(house: House, web: Web) -> None:
    inner = web.there(web.page("<button>Old</button>"))
    async with house.guest(web) as agent:
        await agent.show(f"<iframe src='{inner}'></iframe>")
        old = ref_of(await agent.snapshot(), "Old")
        await agent.run("() => document.querySelector('iframe').remove()")
        await refused(StaleRef, agent.click(old))
        await agent.run(
            f"() => {{ document.body.innerHTML = \"<iframe src='{inner}'></iframe>\" }}"
        )
        await agent.wait(selector="iframe")
        new = None
        while new is None:
            snapshot = await agent.snapshot()
            new = ref_of(snapshot, "Old") if "Old" in snapshot else None
        assert new != old
        assert new.split("e")[0] != old.split("e")[0], "frame numbers are not given again"


async def test_a_frame_that_navigates_to_another_site_stays_readable(
    house: House, web: Web
) -> None:
    there = web.there(web.page("<h2>There</h2><button>New</button>"))
    here = web.page(f"<a href='{there}'>Leave</a>")
    async with house.guest(web) as agent:
        await agent.show(f"<h1>Top</h1><iframe src='{here}' width=400></iframe>")
        await agent.click(ref_of(await agent.snapshot(), "Leave"))
        snapshot = ""
        while "There" not in snapshot:
            snapshot = await agent.snapshot()
        await agent.click(ref_of(snapshot, '"New"'))


async def test_open_shadow_roots_are_part_of_the_page(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<div id=host></div><script>
            window.log = [];
            const root = host.attachShadow({mode: "open"});
            root.innerHTML = "<button id=b>Shadow</button><input id=i>";
            root.querySelector("#b").onclick = (e) => log.push(e.isTrusted);
            </script>"""
        )
        await agent.click(ref_of(await agent.snapshot(), "Shadow"))
        await agent.click("#b")
        assert await agent.log() == [not lacks(house, "trusted input")] * 2
        await agent.type("#i", "typed")
        value = "() => host.shadowRoot.querySelector('#i').value"
        assert await agent.run(value) == "typed"


async def test_console_messages_of_workers_are_recorded_for_the_page(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<script>
            const code = "console.log('from the worker'); postMessage('up')";
            const worker = new Worker(URL.createObjectURL(new Blob([code])));
            worker.onmessage = () => document.body.append("worker is up");
            </script>"""
        )
        await agent.wait(text="worker is up")
        said = await agent.call(ops.ConsoleMessages())
        assert "from the worker" in [message.text for message in said.messages]
