"""The session's own clipboard: copy, cut and paste work, and never with another session's text.

All sessions of a browser share one real clipboard. Each test has at least two sessions. These are
the tests of ``roost.drivers.clipboard``, ``roost.api.clipboard_operations``,
``roost.broker.work.clipboard_work`` and ``roost.broker.work.local_files``.
"""

from __future__ import annotations

import asyncio

from roost import ops
from roost.errors import BadRequest, NotFound, Unsupported, UrlBlocked
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Web

ROUNDS = 12
PAGE = """
<p id="rich">some <b>rich</b> words</p>
<input id="from"><textarea id="to"></textarea><div id="editor" contenteditable></div>
<input id="password" type="password" value="hunter2">
<button id="own">Copy</button>
<script>
  window.log = [];
  const seen = (event) => {
    const data = event.clipboardData;
    const kinds = event.type === "paste" ? ["text/plain", "text/html"] : [];
    const held = kinds.map((kind) => data.getData(kind));
    window.log.push([event.type, event.isTrusted, ...held]);
  };
  for (const kind of ["copy", "cut", "paste"]) addEventListener(kind, seen, true);
  document.getElementById("own").onclick = () => navigator.clipboard.writeText("from a button");
</script>
"""


async def value(agent: Agent, field: str) -> object:
    return await agent.run(f"() => document.getElementById('{field}').value")


async def clipboard(agent: Agent) -> tuple[str | None, str | None]:
    held = await agent.call(ops.Clipboard())
    return held.text, held.html


async def test_keys_and_operations_copy_cut_and_paste_within_one_session(
    house: House, web: Web
) -> None:
    async with house.agent(web) as agent, house.agent(web) as neighbour:
        await agent.show(PAGE)
        await neighbour.show(PAGE)
        await agent.type("#from", "typed words")
        await agent.press("Control+a")
        await agent.press("Control+c")
        assert await clipboard(agent) == ("typed words", None)
        assert await clipboard(neighbour) == (None, None)
        await agent.click("#to")
        await agent.press("Control+v")
        assert await value(agent, "to") == "typed words"
        # Rich text goes from the page to the clipboard, and back into an editor.
        await agent.call(ops.Copy(target="#rich"))
        text, html = await clipboard(agent)
        assert (text, html) == ("some rich words", "some <b>rich</b> words")
        await agent.click("#editor")
        await agent.press("Control+v")
        assert (
            await agent.run("() => editor.querySelector('b, [style*=bold]')?.textContent") == "rich"
        )
        await agent.call(ops.Copy(target="#from", cut=True))
        assert await value(agent, "from") == ""
        await agent.call(ops.Paste(target="#to"))
        assert await value(agent, "to") == "typed words"
        # Keys that are held over several calls, and the other keys for the same.
        await agent.call(ops.KeyDown(key="Control"))
        await agent.press("v")
        await agent.call(ops.KeyUp(key="Control"))
        await agent.press("Shift+Insert")
        assert await value(agent, "to") == "typed words" * 3
        assert [line[:2] for line in await agent.log()] == [
            ["copy", True], ["paste", True], ["copy", True], ["paste", True], ["cut", True],
            ["paste", True], ["paste", True], ["paste", True],
        ]  # fmt: skip
        assert ["paste", True, "some rich words", "some <b>rich</b> words"] in await agent.log()
        # The neighbour has copied nothing, so it pastes nothing.
        await neighbour.click("#to")
        await neighbour.press("Control+v")
        assert await value(neighbour, "to") == ""
        await refused(BadRequest, neighbour.call(ops.Paste()))
        await refused(BadRequest, neighbour.call(ops.Copy(target="#password")))
        await neighbour.call(ops.Clipboard(action="write", text="a\nb", html="<i>a</i>"))
        await neighbour.click("#to")
        await neighbour.press("Control+v")
        assert await value(neighbour, "to") == "a\nb"
        await neighbour.call(ops.Clipboard(action="clear"))
        assert await clipboard(neighbour) == (None, None)
        assert (await clipboard(agent))[0] == "typed words"


async def test_sessions_that_copy_and_paste_at_once_never_get_each_others_text(
    house: House, web: Web
) -> None:
    """In each round all sessions begin at the same moment."""
    async with (
        house.agent(web) as one,
        house.agent(web) as two,
        house.agent(web) as three,
    ):
        agents = {"one": one, "two": two, "three": three}
        for agent in agents.values():
            await agent.show(PAGE)
        start = asyncio.Barrier(len(agents))

        async def go_round(name: str, agent: Agent, number: int) -> None:
            await start.wait()
            words = f"{name}, round {number}"
            if number % 2:
                await agent.call(ops.Clipboard(action="write", text=words))
            else:
                await agent.type("#from", words)
                await agent.press("Control+a")
                await agent.press("Control+c" if number % 4 else "Control+x")
            assert (await clipboard(agent))[0] == words
            await agent.call(ops.Paste(target="#to"))
            assert await value(agent, "to") == words
            await agent.call(ops.Paste(target="#editor"))
            assert await agent.run("() => editor.innerText.trim()") == words

        for number in range(ROUNDS):
            async with asyncio.TaskGroup() as rounds:
                for name, agent in agents.items():
                    rounds.create_task(go_round(name, agent, number))
        for name, agent in agents.items():
            pasted = [line[2] for line in await agent.log() if line[0] == "paste"]
            assert {text.partition(",")[0] for text in pasted} == {name}


async def test_pages_neither_paste_nor_read_what_no_turn_gave_them(house: House, web: Web) -> None:
    async with house.agent(web) as agent, house.agent(web) as attacker:
        await agent.show(PAGE)
        await agent.call(ops.Clipboard(action="write", text="secret words"))
        await agent.call(ops.Copy(target="#rich"))
        await agent.click("#rich", double_click=True)  # selects a word
        await attacker.show(PAGE + "<iframe srcdoc='<textarea name=framed></textarea>'></iframe>")
        await attacker.click("#to", button="middle")
        assert await value(attacker, "to") == ""
        if house.browser == "chromium":  # Firefox asks the person, who is not there
            asked = "() => navigator.clipboard.readText().catch((error) => error.name)"
            assert await attacker.run(asked) == "NotAllowedError"
        assert await attacker.log() == []
        # A page's own button writes to the browser's clipboard, and no session gets that.
        await agent.click("#own")
        await attacker.call(ops.Clipboard(action="write", text="mine"))
        await attacker.call(ops.Paste(target="#to"))
        assert await value(attacker, "to") == "mine"
        # Frames have the guard, too, and a document that threw it away gets no paste.
        frame = "css=textarea[name=framed]"
        await attacker.call(ops.Paste(target=frame))
        assert (await attacker.call(ops.Get(what="value", target=frame))).value == "mine"
        await attacker.run(
            "() => { document.open(); document.write('<textarea id=to></textarea>');"
            " document.close(); }"
        )
        await refused(Unsupported, attacker.call(ops.Paste(target="#to")))
        assert await value(attacker, "to") == ""


async def test_a_file_opens_on_an_origin_that_only_its_session_has(house: House, web: Web) -> None:
    folder = house.work / "site"
    folder.mkdir(exist_ok=True)
    (folder / "x.html").write_text("<h1>From a file</h1><script src=x.js></script>")
    (folder / "x.js").write_text("document.title = 'ran'")
    (folder / ".env").write_text("hidden")
    async with house.agent(web) as agent, house.agent(web) as neighbour:
        opened = await agent.go("./site/x.html")
        assert (opened.status, opened.url.endswith(".localhost/x.html")) == (200, True)
        assert await agent.run("() => [document.title, isSecureContext]") == ["ran", True]
        hidden = "() => fetch('/.env').then((answer) => answer.status)"
        assert await agent.run(hidden) == 404
        assert (await agent.go("./site/x.html")).url == opened.url
        await refused(NotFound, neighbour.go(opened.url))
        await refused(BadRequest, agent.go("../outside.html"))
        await refused(UrlBlocked, agent.go(f"file://{folder}/x.html"))
