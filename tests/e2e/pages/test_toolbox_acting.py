# ruff: noqa: E501 - documents and scripts
"""Fingers, held keys and drops from outside of the page."""

from __future__ import annotations

from typing import Any

from roost import ops
from roost.errors import BadRequest, Unsupported
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Web

TOUCHED = """<style>body { height: 5000px; margin: 0 }</style>
<button id=b style="position:absolute;left:100px;top:100px;width:200px;height:200px">Touch me</button>
<script>
  window.log = [];
  window.moves = 0;
  addEventListener("touchmove", () => { moves += 1 });
  for (const kind of ["touchstart", "touchend", "click"])
    document.querySelector("#b").addEventListener(kind, (e) => log.push([e.type, e.isTrusted]));
</script>"""
DROPPED = """<div id=zone style="width:300px;height:200px;background:#ddd">Drop here</div>
<script>
  window.log = [];
  zone.addEventListener("dragover", (e) => e.preventDefault());
  zone.addEventListener("drop", async (e) => {
    e.preventDefault();
    const { files, types } = e.dataTransfer;
    const text = e.dataTransfer.getData("text/plain");
    const kind = e.dataTransfer.getData("application/x-own");
    const bodies = await Promise.all([...files].map((file) => file.text()));
    log.push([e.isTrusted, text, kind, [...files].map((file) => file.name), bodies]);
  });
</script>"""


async def test_a_tap_is_a_trusted_touch_and_a_click(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(TOUCHED)
        did = await agent.call(ops.Tap(target="role=button", snapshot="none"))
        assert did.did.startswith("Tapped button")
        await agent.wait(function="() => log.some(([kind]) => kind === 'click')")
        log = await agent.log()
        assert [kind for kind, _ in log] == ["touchstart", "touchend", "click"]
        assert all(is_trusted for _, is_trusted in log)
        await agent.call(ops.Tap(x=150, y=150, snapshot="none"))
        await agent.wait(function="() => log.length === 6")
        await refused(BadRequest, agent.call(ops.Tap()))
        await refused(BadRequest, agent.call(ops.Tap(x=1)))


async def test_a_swipe_up_scrolls_down(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(TOUCHED)
        await agent.call(ops.Swipe(direction="up", distance=200, snapshot="none"))
        if house.browser == "firefox":  # it gives the page the touches, and scrolls by none
            assert await agent.run("() => moves > 3")
        else:
            await agent.wait(function="() => scrollY > 50")
        await refused(BadRequest, agent.call(ops.Swipe(direction="up", target="#b", x=1, y=1)))


async def test_a_key_stays_down_until_it_is_released(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<button onclick='log.push(event.shiftKey)'>Go</button><script>window.log = []</script>"
        )
        await agent.call(ops.KeyDown(key="Shift", snapshot="none"))
        await agent.click("button", snapshot="none")
        await agent.call(ops.KeyUp(key="Shift", snapshot="none"))
        await agent.click("button", snapshot="none")
        assert await agent.log() == [True, False]


async def test_files_and_data_are_dropped(house: House, web: Web) -> None:
    (house.work / "note.txt").write_text("from a file", encoding="utf-8")

    def drop(**more: Any) -> ops.Drop:
        return ops.Drop(target="#zone", snapshot="none", **more)

    async with house.guest(web) as agent:
        await agent.show(DROPPED)
        await refused(BadRequest, agent.call(drop()))
        if house.browser == "firefox":
            await refused(Unsupported, agent.call(drop(text="words")))
            return
        await agent.call(drop(text="words", data={"application/x-own": "own"}))
        await agent.call(drop(paths=["note.txt"]))
        await agent.wait(function="() => log.length === 2")
        assert await agent.log() == [
            [True, "words", "own", [], []],
            [True, "", "", ["note.txt"], ["from a file"]],
        ]
        await refused(BadRequest, agent.call(drop(paths=["/etc/hostname"])))
