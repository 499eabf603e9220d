"""Typing, filling in every kind of field, and keys."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from roost import ops
from roost.errors import BadRequest, Interrupted, NotActionable
from tests.support.agent import TRUSTED, refused
from tests.support.house import House
from tests.support.local_web import Answer, Web


async def test_text_is_typed_at_once_or_key_by_key_and_always_trusted(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(TRUSTED + "<label>Name <input id=n value=old></label>")
        done = await agent.type("#n", "Ünï ☃ new")
        assert "9 characters" in done.did
        assert await agent.run("() => document.querySelector('#n').value") == "Ünï ☃ new"
        assert ["keydown", True] not in await agent.log()
        await agent.type("#n", "!xY", slowly=True)
        assert await agent.run("() => document.querySelector('#n').value") == "!xY"
        log = await agent.log()
        assert log.count(["keydown", True]) == 3
        assert all(is_trusted for _, is_trusted in log)
        await agent.type("#n", "")
        assert await agent.run("() => document.querySelector('#n').value") == ""


async def test_submit_presses_enter_and_waits_for_the_navigation(house: House, web: Web) -> None:
    goal = web.page("<h1>Found</h1>", title="Results", path="/results")
    async with house.guest(web) as agent:
        await agent.show(f"<form action='{goal}'><input name=q></form>")
        done = await agent.type("input", "owls", submit=True)
        assert done.url == f"{goal}?q=owls"
        assert done.title == "Results"


FIELDS: list[tuple[str, Any, str, Any]] = [
    ("<input id=f value=x>", "text", "f.value", "text"),
    ("<textarea id=f>x</textarea>", "two\nlines", "f.value", "two\nlines"),
    ("<input id=f type=password>", "hunter2", "f.value", "hunter2"),
    ("<input id=f type=email>", "a@b.c", "f.value", "a@b.c"),
    ("<input id=f type=number>", 12, "f.value", "12"),
    ("<input id=f type=checkbox>", True, "f.checked", True),
    ("<input id=f type=checkbox checked>", False, "f.checked", False),
    ("<input id=f type=checkbox checked>", True, "f.checked", True),
    ("<input type=radio name=r checked><input id=f type=radio name=r>", True, "f.checked", True),
    ("<select id=f><option>A<option value=b>Bee</select>", "Bee", "f.value", "b"),
    (
        "<select id=f multiple><option>A<option>B<option>C</select>",
        ["A", "C"],
        "[...f.selectedOptions].map((o) => o.value)",
        ["A", "C"],
    ),
    ("<input id=f type=date>", "2026-11-15", "f.value", "2026-11-15"),
    ("<input id=f type=time>", "08:30", "f.value", "08:30"),
    ("<input id=f type=range min=0 max=10>", 7, "f.value", "7"),
    ("<input id=f type=color>", "#ff0000", "f.value", "#ff0000"),
    ("<div id=f contenteditable>old</div>", "rich", "f.textContent", "rich"),
    ("<div id=f role=switch aria-checked=false tabindex=0>S</div>"
     "<script>f.onclick = () => f.ariaChecked = 'true'</script>", True, "f.ariaChecked", "true"),
]  # fmt: skip


@pytest.mark.parametrize(("html", "value", "read", "expected"), FIELDS)
async def test_every_kind_of_field_can_be_filled(
    house: House, web: Web, html: str, value: Any, read: str, expected: Any
) -> None:
    async with house.guest(web) as agent:
        await agent.show(html)
        await agent.fill("#f", value)
        assert await agent.run(f"() => {{ const f = window.f; return {read} }}") == expected


async def test_one_call_fills_a_form_and_returns_all_changes(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<label>Name <input></label><label>City <select><option>-<option>Oslo</select></label>"
            "<label><input type=checkbox> Agree</label>"
        )
        await agent.snapshot()
        fields = [
            ops.FormField(target="text=Name", value="Ada", name="Name"),
            ops.FormField(target="text=City", value="Oslo"),
            ops.FormField(target="text=Agree", value=True),
        ]
        done = await agent.call(ops.FillForm(fields=fields))
        assert done.snapshot is not None
        assert "Ada" in done.snapshot, "also what changed before the last field"
        assert "[checked]" in done.snapshot


async def test_a_form_error_names_the_field_and_how_many_were_filled(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show("<input id=a><input id=b readonly>")
        fields = [
            ops.FormField(target="#a", value="1"),
            ops.FormField(target="#b", value="2", name="Second"),
        ]
        error = await refused(NotActionable, agent.call(ops.FillForm(fields=fields), timeout=1))
        assert "Second" in error.message
        assert "1 of 2" in error.hint


async def test_typed_passwords_appear_in_no_reply(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<label>Key <input type=password></label>")
        done = await agent.type("input", "hunter2")
        assert "hunter2" not in done.model_dump_json()
        assert "hunter2" not in await agent.snapshot()


async def test_select_option_takes_values_and_labels_and_its_error_names_the_missing_one(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(TRUSTED + "<select id=s><option value=1>One<option value=2>Two</select>")
        await agent.call(ops.SelectOption(target="#s", values=["Two"]))
        assert await agent.run("() => s.value") == "2"
        assert [kind for kind, _ in await agent.log() if kind == "change"] == ["change"]
        await agent.call(ops.SelectOption(target="#s", values=["1"]))
        assert await agent.run("() => s.value") == "1"
        with pytest.raises(Exception, match="Three"):
            await agent.call(ops.SelectOption(target="#s", values=["Three"]), timeout=1)


async def test_keys_and_key_combinations_have_their_usual_effect(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show("<input id=a value=abc autofocus><input id=b>")
        await agent.click("#a", snapshot="none")
        await agent.press("Control+a")
        await agent.press("x")
        assert await agent.run("() => a.value") == "x"
        await agent.press("Tab")
        assert await agent.run("() => document.activeElement.id") == "b"
        for key in ("Shift+h", "i", "ArrowLeft", "-", "End", "Backspace"):
            await agent.press(key, snapshot="none")
        assert await agent.run("() => b.value") == "H-"
        await agent.press("Shift+1", snapshot="none")
        assert await agent.run("() => b.value") == "H-!"
        error = await refused(BadRequest, agent.press("Controll+a"))
        assert error.details["field"] == "key"


async def test_enter_and_space_operate_the_focused_element(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            "<script>window.log = []</script><button id=a onclick=\"log.push('a')\">A</button>"
            "<input id=c type=checkbox>"
        )
        await agent.run("() => a.focus()")
        await agent.press("Enter")
        assert await agent.log() == ["a"]
        await agent.run("() => c.focus()")
        await agent.press("space")
        assert await agent.run("() => c.checked")


async def test_an_option_is_not_selected_again_in_the_page_that_it_opens(
    house: House, web: Web
) -> None:
    """The page still handles the change when its opener, in another process, navigates it."""
    choosing = threading.Event()

    def chosen(request: object) -> Answer:
        choosing.set()
        return Answer()

    lists = '<select id=s onchange="{on}"><option>A<option>B</select><p>{text}</p>'
    goal = web.there(web.page(lists.format(on="window.chosen = 'twice'", text="Second")))
    tell = f"const ask = new XMLHttpRequest(); ask.open('GET', '{web.serve(chosen)}', false);"
    busy = "ask.send(); const end = Date.now() + 3000; while (Date.now() < end);"
    first = web.page(lists.format(on=tell + busy, text="First"))
    heard = web.there(web.serve(Answer(b"1", held=choosing)))
    opener = web.page(
        f"<script>const other = window.open('{first}');"
        f"fetch('{heard}').then(() => other.location = '{goal}')</script>"
    )
    async with house.agent(web) as agent:
        await agent.go(web.there(opener))
        while len(tabs := (await agent.tabs()).tabs) < 2:
            pass
        popup = tabs[-1].tab
        await agent.wait(text="First", tab=popup)
        choose = ops.FillForm(fields=[ops.FormField(target="#s", value="B")], tab=popup)
        if house.browser == "chromium":
            await refused(Interrupted, agent.call(choose))
        else:
            await agent.call(choose)  # Firefox lets the old page answer first
        await agent.wait(text="Second", tab=popup)
        after = await agent.run("() => [s.value, window.chosen ?? 'once']", tab=popup)
        assert after == ["A", "once"]


async def test_typing_waits_for_a_field_across_a_navigation(house: House, web: Web) -> None:
    goal = web.page("<select id=s><option>A<option>B</select>")
    async with house.guest(web) as agent:
        await agent.show(f"<p>First</p><script>setTimeout(() => location = '{goal}', 300)</script>")
        await agent.fill("#s", "B")
        assert await agent.run("() => s.value") == "B"


@pytest.mark.parametrize(
    "field",
    [
        "<input id=f value=old>",
        "<textarea id=f>old\nold</textarea>",
        "<input id=f type=number value=123>",
        "<div id=f contenteditable>old <b>bold</b></div>",
    ],
)
async def test_typing_slowly_replaces_the_old_text(house: House, web: Web, field: str) -> None:
    async with house.guest(web) as agent:
        await agent.show(field)
        await agent.type("#f", "42", slowly=True, snapshot="none")
        text = "(f) => (f.value ?? f.textContent).trim()"
        assert await agent.run(text, target="#f") == "42"
        await agent.type("#f", "", slowly=True, snapshot="none")
        assert await agent.run(text, target="#f") == ""


COMBOBOX = """<label>Mood <input id=f role=combobox aria-autocomplete=list aria-expanded=false
  aria-controls=l></label><ul id=l role=listbox hidden></ul><input id=after><script>
  const moods = ["Happy", "Happy enough", "Sad"];
  const close = () => { l.hidden = true; f.setAttribute("aria-expanded", "false") };
  let chosen = "";
  f.addEventListener("input", () => setTimeout(() => {
    l.replaceChildren(...moods.filter((mood) => mood.startsWith(f.value)).map((mood) => {
      const option = document.createElement("li");
      option.setAttribute("role", "option");
      option.textContent = mood;
      option.onmousedown = (event) => {
        event.preventDefault(); chosen = f.value = mood; close();
      };
      return option;
    }));
    l.hidden = false; f.setAttribute("aria-expanded", "true");
  }, 50));
  f.addEventListener("blur", () => { f.value = chosen; close() });
</script>"""
"""Its list opens a moment after typing. Text that is not chosen is lost when the field is left."""


async def test_a_combobox_is_filled_when_its_option_is_chosen(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(COMBOBOX)
        done = await agent.call(
            ops.FillForm(
                fields=[
                    ops.FormField(target="#f", value="Happy"),
                    ops.FormField(target="#after", value="x"),
                ]
            )
        )
        assert done.did == "Filled 2 fields."
        assert await agent.run("() => [f.value, after.value]") == ["Happy", "x"]


async def test_a_combobox_without_that_option_is_not_reported_as_filled(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(COMBOBOX)
        done = await agent.fill("#f", "Hap")
        assert done.did.startswith("Filled 0 of 1 fields. Nothing is chosen in combobox")
        assert "Happy" not in done.did
        option = done.did.split("offers ")[1].split(",")[0]
        await agent.click(option, snapshot="none")
        assert await agent.run("() => f.value") == "Happy"


async def test_a_check_box_that_stays_unchanged_after_its_click_is_an_error(
    house: House, web: Web
) -> None:
    async with house.guest(web) as agent:
        await agent.show(
            """<input id=locked type=checkbox onclick="event.preventDefault()">
            <div id=switch role=switch aria-checked=true tabindex=0>Wifi</div>
            <input id=late type=checkbox onclick="event.preventDefault();
              setTimeout(() => { this.checked = true; this.className = 'on' }, 100)">
            <div id=list><input id=redrawn type=checkbox onclick="event.preventDefault();
              document.getElementById('list').innerHTML = '<b>Done</b>'"></div>"""
        )
        for target, value, state in (("#locked", True, "not"), ("#switch", False, "still")):
            error = await refused(NotActionable, agent.fill(target, value))
            assert error.details["reason"] == "unchanged"
            assert f"is {state} checked" in error.message
        await agent.fill("#late", True)
        assert await agent.run("() => document.querySelector('#late').checked") is True
        await agent.fill("#redrawn", True)


async def test_suggestions_of_a_search_field_are_not_chosen(house: House, web: Web) -> None:
    async with house.guest(web) as agent:
        await agent.show(f"<form role=search>{COMBOBOX}</form>")
        done = await agent.fill("#f", "Sad")
        assert "Nothing is chosen" in done.did
        assert await agent.run("() => [f.value, chosen]") == ["Sad", ""]
