"""The person sees and sets a session's policy on the dashboard. Agents cannot."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import expect

from roost import ops
from roost.errors import PolicyDenied, Unauthorized
from tests.e2e.dashboard.conftest import dashboard
from tests.e2e.dashboard.test_wall import tile
from tests.support.agent import refused
from tests.support.house import House
from tests.support.local_web import Web

NO_SCRIPTS = """[[rule]]
verdict = "deny"
operations = ["evaluate"]
"""


async def test_the_person_sets_the_policy_of_a_session_that_runs(
    house: House, web: Web, tmp_path: Path
) -> None:
    file, wrong = tmp_path / "no-scripts.toml", tmp_path / "wrong.toml"
    file.write_text(NO_SCRIPTS, encoding="utf-8")
    wrong.write_text("origns = []", encoding="utf-8")
    async with dashboard(house) as page, house.agent(web, name="Clerk") as agent:
        await agent.show("<p>Hello")
        await tile(page, "Clerk").locator(".look").click()
        await page.get_by_role("button", name="Policy").click()
        panel = page.locator(".policy")
        await expect(panel).to_contain_text("open: everything is allowed.")
        await panel.get_by_label("Policy file", exact=True).set_input_files(file)
        await panel.get_by_role("button", name="Set policy").click()
        await expect(panel.locator("section")).to_contain_text("deny evaluate")
        await expect(panel.locator("h3")).to_have_text("the dashboard (no-scripts.toml)")
        await refused(PolicyDenied, agent.call(ops.Evaluate(function="() => 1")))
        await panel.get_by_label("Policy file", exact=True).set_input_files(wrong)
        await panel.get_by_role("button", name="Set policy").click()
        await expect(page.locator("#message")).to_contain_text("the nearest is 'origins'")
        await expect(panel.locator("section")).to_contain_text("deny evaluate")
        own = ops.PolicySet(session=agent.session, policy="open")
        await refused(Unauthorized, agent.call(own))
        await page.get_by_role("button", name="Close the large view").click()
        await expect(tile(page, "Clerk").locator(".limits")).to_have_text("Restricted")
        await page.locator(".bar nav").get_by_role("button", name="House").click()
        shown = page.get_by_role("button", name="policy of Clerk")
        await expect(shown).to_have_text("the dashboard (no-scripts.toml)")
        await shown.click()
        await panel.get_by_label("careful").check()
        await panel.get_by_role("button", name="Set policy").click()
        await expect(panel.locator("section")).to_contain_text("ask upload, download, evaluate")
        await panel.get_by_label("open").check()
        await panel.get_by_role("button", name="Set policy").click()
        await expect(panel).to_contain_text("open: everything is allowed.")
        assert await agent.run("() => 1 + 1") == 2
