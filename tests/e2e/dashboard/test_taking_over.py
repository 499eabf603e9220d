"""The person takes a session over on the dashboard, acts in its page, and gives it back."""

from __future__ import annotations

import pytest
from playwright.async_api import Locator, Page, expect

from roost import ops
from roost.errors import Paused
from roost.testing.waits import started
from tests.e2e.dashboard.conftest import dashboard
from tests.e2e.dashboard.test_wall import tile
from tests.support.agent import Agent, refused
from tests.support.house import House
from tests.support.local_web import Web

LOGIN = """
<style>input, button { display: block; font-size: 24px; margin: 20px }</style>
<form onsubmit="event.preventDefault(); location.hash = 'inside'">
<input id=who placeholder=Name><input id=word type=password><button>Log in</button></form>
<script>
  window.log = [];
  for (const kind of ["mousedown", "click", "keydown", "input", "wheel"])
    addEventListener(kind, event => log.push([event.type, event.isTrusted]), true);
</script>"""


async def take(page: Page, name: str) -> Locator:
    """Take the session over and return the live picture."""
    await tile(page, name).locator(".look").click()
    picture = page.locator("#large-picture canvas")
    await expect(picture).to_have_class("picture drawn")
    await page.get_by_role("button", name="Take over").click()
    await expect(page.locator("#large-controls")).to_be_visible()
    return picture


async def press(agent: Agent, picture: Locator, selector: str) -> None:
    """Click in the picture where the page shows that element."""
    find = f"() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();"
    x, y = "(box.x + box.width / 2) / innerWidth", "(box.y + box.height / 2) / innerHeight"
    async with agent.house.operator() as person:
        tab = (await person.call(ops.SessionShow(session=agent.session))).tabs[0].tab
        at = await person.call(ops.Evaluate(function=f"{find} return [{x}, {y}] }}", tab=tab))
    box = await picture.bounding_box()
    assert box is not None
    right, down = at.value
    await picture.click(position={"x": box["width"] * right, "y": box["height"] * down})


async def test_the_person_logs_in_with_mouse_and_keyboard_and_gives_back(
    house: House, web: Web
) -> None:
    async with dashboard(house) as page, house.agent(web, name="Clerk") as agent:
        await agent.show(LOGIN)
        picture = await take(page, "Clerk")
        await refused(Paused, agent.call(ops.Snapshot()))
        await press(agent, picture, "#who")
        await page.keyboard.type("Ödön")
        await page.keyboard.press("Tab")
        await page.keyboard.type("secret word")
        await page.keyboard.press("Enter")
        await expect(tile(page, "Clerk").locator(".address")).to_contain_text("#inside")
        await page.get_by_label("A note for the agent", exact=True).fill("You are logged in.")
        await page.get_by_role("button", name="Give back to the agent").click()
        await expect(page.locator("#large-controls")).to_be_hidden()
        answer = await agent.call(ops.Evaluate(function="() => [who.value, word.value, log]"))
        who, word, log = answer.value
        assert (who, word) == ("Ödön", "secret word")
        assert log
        assert all(is_trusted for _, is_trusted in log)
        assert answer.notes == ["The person gave the session back: You are logged in."]
        assert "secret word" not in house.home.audit.read_text(encoding="utf-8")


async def test_wheel_address_and_history_work_in_a_session_that_was_taken(
    house: House, web: Web
) -> None:
    async with dashboard(house) as page, house.agent(web, name="Tourist") as agent:
        await agent.show("<div style='height: 5000px'>Tall</div>", title="First")
        picture = await take(page, "Tourist")
        await picture.hover()
        await page.mouse.wheel(0, 400)
        second = web.page("<p>Second page", title="Second")
        await page.get_by_label("Address").fill(second)
        await page.get_by_label("Address").press("Enter")
        await expect(tile(page, "Tourist").locator(".title")).to_have_text("Second")
        await page.get_by_role("button", name="Back", exact=True).click()
        await expect(tile(page, "Tourist").locator(".title")).to_have_text("First")
        await page.get_by_role("button", name="Give back to the agent").click()
        await expect(page.locator("#large-controls")).to_be_hidden()
        assert await agent.run("() => location.href") != second


async def test_the_person_answers_a_dialog(house: House, web: Web) -> None:
    async with dashboard(house) as page, house.agent(web, name="Asker") as agent:
        await agent.show("<button onclick=\"location.hash = prompt('Your name?')\">Ask</button>")
        picture = await take(page, "Asker")
        await press(agent, picture, "button")
        await expect(page.locator("#large-dialog-text")).to_have_text("Your name?")
        await page.get_by_label("Answer to the page").fill("Grace")
        await page.get_by_role("button", name="OK", exact=True).click()
        await expect(tile(page, "Asker").locator(".address")).to_contain_text("#Grace")


async def test_only_one_dashboard_has_a_session(house: House, web: Web) -> None:
    async with house.agent(web, name="Wanted") as agent:
        await agent.show("<p>Hello")
        async with dashboard(house) as first, dashboard(house) as second:
            await take(first, "Wanted")
            await tile(second, "Wanted").locator(".look").click()
            await second.get_by_role("button", name="Take over").click()
            await expect(second.locator("#message")).to_contain_text("Another dashboard")
            await expect(second.locator("#large-controls")).to_be_hidden()


@pytest.mark.parametrize(("button", "answer"), [("Done", "done"), ("Cannot", "cannot")])
async def test_an_agent_asks_the_person_and_reads_the_answer(
    house: House, web: Web, button: str, answer: str
) -> None:
    async with dashboard(house) as page, house.agent(web, name="Stuck") as agent:
        await agent.show("<p>Captcha")
        reason = "Solve the <b>captcha</b>"
        waiting = await started(agent.call(ops.Handoff(reason=reason)))
        question = page.locator("#inbox li", has_text="Stuck")
        await expect(question).to_contain_text(reason)
        await expect(tile(page, "Stuck").locator(".state")).to_have_text("Asks for you")
        await question.get_by_role("textbox").fill("Look again.")
        await question.get_by_role("button", name=button).click()
        view = await waiting
        assert (view.answer, view.note) == (answer, "Look again.")
        await expect(question).to_have_count(0)


async def test_a_question_survives_the_broker(hurt_house: House, web: Web) -> None:
    async with dashboard(hurt_house) as page, hurt_house.agent(web, name="Patient") as agent:
        await agent.show("<p>Captcha")
        view = await agent.call(ops.Handoff(reason="Solve it", wait_seconds=0))
        assert view.answer == "waiting"
        question = page.locator("#inbox li", has_text="Patient")
        await expect(question).to_be_visible()
        hurt_house.kill_broker()
        waiting = await started(agent.call(ops.Handoff(reason="Solve it")))
        await expect(page.locator("#message")).to_be_hidden(timeout=30_000)
        await expect(question).to_be_visible()
        await question.get_by_role("button", name="Done").click()
        assert (await waiting).answer == "done"
